//! `mkopo ready`: checks that the service on this machine answers and can reach its database.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, ensure};

use settings::values;

/// The arguments of `mkopo ready`.
#[derive(clap::Args, Debug)]
pub struct ReadySettings {
    /// Address and port that the service listens on.
    #[arg(long, env = "MKOPO_LISTEN", default_value = "127.0.0.1:8080", value_parser = values::listen,
          value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
}

/// Timeout of the request: longer than the service waits for its database.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Requests `/readyz`, and fails unless the service is ready.
pub fn run(settings: &ReadySettings) -> anyhow::Result<()> {
    let address = values::on_this_machine(settings.listen);
    // A proxy from the environment would connect to its own machine, not to this one.
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let answer = agent.get(format!("http://{address}/readyz")).call();
    let mut answer = answer.with_context(|| format!("no answer on {address}"))?;
    let body = answer.body_mut().read_to_string().unwrap_or_default();
    ensure!(
        answer.status() == 200,
        "not ready: {}",
        if body.is_empty() { answer.status().to_string() } else { body }
    );
    println!("ready");
    Ok(())
}
