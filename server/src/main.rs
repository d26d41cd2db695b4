//! The command line.

mod backup;
mod data;
mod ready;
mod seed;
mod slice;
mod user;

use std::{
    io::{IsTerminal, Write},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use mkopo::{
    Sandbox,
    clock::Clock,
    config::{Command, CommandLine, Settings},
    demo, outbox,
    randomness::Randomness,
    serve::Limits,
};
use tokio::{net::TcpListener, signal};
use tracing_subscriber::EnvFilter;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long a stop waits for answers that are under way: an answer takes 8 s at most.
const LAST_ANSWERS: Duration = Duration::from_secs(9);

#[tokio::main]
async fn main() -> ExitCode {
    let command = match CommandLine::try_parse() {
        Ok(line) => line.command,
        Err(error) => {
            let Some(sentence) = CommandLine::refused_setting(&error) else { error.exit() };
            eprintln!("mkopo: {sentence}");
            return ExitCode::FAILURE;
        }
    };
    let done = match command {
        Command::Serve(settings) => serve(settings).await,
        Command::Ready(settings) => ready::ask(&settings),
        Command::User(settings) => user::run(settings).await,
        Command::Data(settings) => data::run(settings).await,
        Command::Seed(settings) => seed::run(settings).await,
        Command::Slice(settings) => slice::run(settings).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mkopo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: Settings) -> anyhow::Result<()> {
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
        _ = writeln!(std::io::stdout(), "  Console   {}\n", sandbox.console_token.welcome(&address));
    }
    sandbox.tasks.beside(outbox::keep_delivering(sandbox.clone()));
    mkopo::serve::serve(listener, mkopo::router(sandbox.clone()), Limits::default(), asked_to_stop()).await;
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
