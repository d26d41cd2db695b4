//! `mkopo serve`: runs the service until it is stopped.

use std::{io::Write, net::SocketAddr, time::Duration};

use anyhow::Context;
use futures::FutureExt;
use tokio::net::TcpListener;

use super::{backup::begin_from, folder_lock, shutdown::shutdown_signal};
use crate::{
    http::connections::{self, Limits},
    log, router,
};
use base::{clock::Clock, randomness::Randomness};
use lending::{demo, outbox};
use settings::{ConsoleListen, Settings};
use worlds::sandboxes::{Sandbox, open_files};

/// Timeout of a shutdown for running payouts: a payout is answered within 8 s.
const PAYOUTS_TIMEOUT: Duration = Duration::from_secs(9);

pub async fn run(mut settings: Settings) -> anyhow::Result<()> {
    let log = log::init(&settings)?;
    super::warn_of_unknown_variables();
    open_files::allow_more();
    let portal = listen(settings.listen, "MKOPO_LISTEN").await?;
    let console = match settings.console_listen() {
        Some(address) => Some(listen(address, "MKOPO_CONSOLE_LISTEN").await?),
        None => None,
    };
    settings.listen = portal.local_addr()?;
    if let Some(console) = &console {
        settings.console_listen = Some(ConsoleListen::On(console.local_addr()?));
    }
    settings.check()?;
    let lock = folder_lock::lock(&settings.store, "stop it first, or set MKOPO_DATA_DIR to another folder")?;
    if let Some(file) = &settings.from {
        begin_from(&settings.store, file).await?;
    }
    let database = settings.store.open().await?;
    database.check_durability(settings.demo).await?;
    let sandbox = Sandbox::on(database, settings, Clock::system(), Randomness::from_os()).await?;
    if let Some(folder) = &sandbox.settings.deploy_tokens_dir {
        slices::deploy::hand_out(&sandbox.slices, folder).await.context("MKOPO_DEPLOY_TOKENS_DIR")?;
    }
    let stop = shutdown_signal().shared();
    announce(&sandbox);
    sandbox.tasks.spawn_background(outbox::keep_delivering(sandbox.outbox.clone()));
    let limits = Limits {
        connections: open_files::connections(Limits::default().connections),
        per_address: sandbox.settings.connections_per_address,
        trusted_proxies: sandbox.settings.trusted_proxies.clone(),
        ..Limits::default()
    };
    let serve = |listener, router| connections::serve(listener, router, limits.clone(), stop.clone());
    let [portal_router, console_router] = router::routers(&sandbox);
    tokio::join!(
        serve(portal, portal_router),
        async {
            if let Some(console) = console {
                serve(console, console_router).await;
            }
        },
        async {
            stop.clone().await;
            sandbox.server.stopping.cancel();
        }
    );
    sandbox.close(PAYOUTS_TIMEOUT).await;
    drop(lock);
    traces::end();
    tracing::info!("stopped");
    drop(log);
    Ok(())
}

async fn listen(address: SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("can't listen on {address}; set {setting} to a free address and port"))
}

/// Logs and prints the addresses of the service.
fn announce(sandbox: &Sandbox) {
    let settings = &sandbox.settings;
    let console = settings.console_listen().map(tracing::field::display);
    tracing::info!(address = %settings.listen, console, "listening");
    let mut lines = String::new();
    if settings.demo && !settings.listen.ip().is_loopback() {
        tracing::warn!(address = %settings.listen, "demo mode is reachable from other machines");
        lines.push_str(
            "  Warning: others on the network can sign in with the demo accounts and their known password.\n  \
             Demo mode is for this machine: listen on 127.0.0.1, or set MKOPO_DEMO=false.\n\n",
        );
    }
    if settings.demo {
        lines.push_str(&demo::welcome(&settings.portal_address()));
        lines.push('\n');
    }
    // A configured token is known already, and must not appear in a terminal.
    let console = settings.console_address().map(|address| match settings.given_console_token() {
        None => sandbox.console_token.sign_in_url(&address),
        Some(_) => format!("{address}/console"),
    });
    if let Some(console) = console.filter(|_| settings.demo || settings.given_console_token().is_none()) {
        lines.extend(["  Console   ", console.as_str(), "\n\n"]);
    }
    // Standard output may be closed.
    _ = std::io::stdout().write_all(lines.as_bytes());
}
