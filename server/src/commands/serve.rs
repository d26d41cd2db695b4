//! `mkopo serve`: answers calls until told to stop.

use std::{
    io::{IsTerminal, Write},
    time::Duration,
};

use anyhow::Context;
use tokio::{net::TcpListener, signal};
use tracing_subscriber::EnvFilter;

use crate::{
    Sandbox,
    clock::Clock,
    demo,
    http::connections::{self, Limits},
    outbox,
    randomness::Randomness,
    settings::Settings,
};

/// How long a stop waits for answers that are under way: an answer takes 8 s at most.
const LAST_ANSWERS: Duration = Duration::from_secs(9);

/// Serves what `settings` say.
pub async fn run(settings: Settings) -> anyhow::Result<()> {
    log(&settings)?;
    let listen = settings.listen;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("can't listen on {listen}; set MKOPO_LISTEN to a free address and port"))?;
    let sandbox = Sandbox::open(settings, Clock::system(), Randomness::from_os()).await?;
    let address = listener.local_addr()?;
    tracing::info!(%address, "listening");
    let address = sandbox.settings.portal_address(address);
    if sandbox.settings.demo {
        // Nobody need be there to read it.
        _ = writeln!(std::io::stdout(), "{}", demo::welcome(&address));
    }
    // One that was given is known to who gave it, and need not stand in a terminal.
    if sandbox.settings.given_console_token().is_none() {
        _ = writeln!(std::io::stdout(), "  Console   {}\n", sandbox.console_token.sign_in_url(&address));
    }
    sandbox.tasks.spawn_background(outbox::keep_delivering(sandbox.clone()));
    connections::serve(listener, crate::router(sandbox.clone()), Limits::default(), asked_to_stop()).await;
    sandbox.close(LAST_ANSWERS).await;
    tracing::info!("stopped");
    Ok(())
}

fn log(settings: &Settings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.log)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        lines.init();
    } else {
        lines.json().init();
    }
    Ok(())
}

async fn asked_to_stop() {
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
