//! `mkopo serve`: runs the service until it is stopped.

use std::{io::Write, time::Duration};

use anyhow::Context;
use tokio::{net::TcpListener, signal};

use crate::{
    Sandbox,
    clock::Clock,
    demo,
    http::connections::{self, Limits},
    monitoring::log,
    outbox,
    randomness::Randomness,
    settings::Settings,
    slices,
};

/// How long a shutdown waits for running payouts: a payout is answered within 8 s.
const PAYOUTS_TIMEOUT: Duration = Duration::from_secs(9);

/// Runs the command.
pub async fn run(settings: Settings) -> anyhow::Result<()> {
    let log = log::init(&settings)?;
    let listen = settings.listen;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("can't listen on {listen}; set MKOPO_LISTEN to a free address and port"))?;
    settings.check_shared()?;
    let database = settings.store.open().await?;
    database.check_durability(settings.demo).await?;
    let sandbox = Sandbox::on(database, settings, Clock::system(), Randomness::from_os()).await?;
    let address = listener.local_addr()?;
    tracing::info!(%address, "listening");
    let address = sandbox.settings.portal_address(address);
    if sandbox.settings.demo {
        // Standard output may be closed.
        _ = writeln!(std::io::stdout(), "{}", demo::welcome(&address));
    }
    // A configured token is known already, and must not appear in a terminal.
    if sandbox.settings.given_console_token().is_none() {
        _ = writeln!(std::io::stdout(), "  Console   {}\n", sandbox.console_token.sign_in_url(&address));
    }
    sandbox.tasks.spawn_background(outbox::keep_delivering(sandbox.clone()));
    sandbox.tasks.spawn_background(slices::keep_compressing(sandbox.clone()));
    let limits = Limits {
        per_address: sandbox.settings.connections_per_address,
        trusted_proxies: sandbox.settings.trusted_proxies.clone(),
        ..Limits::default()
    };
    connections::serve(listener, crate::router(sandbox.clone()), limits, shutdown_signal()).await;
    sandbox.close(PAYOUTS_TIMEOUT).await;
    tracing::info!("stopped");
    drop(log);
    Ok(())
}

async fn shutdown_signal() {
    let interrupted = signal::ctrl_c();
    #[cfg(unix)]
    {
        let terminated = signal::unix::signal(signal::unix::SignalKind::terminate());
        if let Ok(mut terminated) = terminated {
            tokio::select! { _ = interrupted => {}, _ = terminated.recv() => {} }
            return;
        }
    }
    _ = interrupted.await;
}
