//! The running service that a command calls.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::{Context, bail};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use ureq::{
    http::Request,
    tls::{Certificate, RootCerts, TlsConfig},
};

use settings::{ConsoleListen, provider::ProviderUrl, secret_in, values};
use slices::deploy;
use worlds::sandboxes::{HEADER as SANDBOX, Name};

/// The service that a command calls.
#[derive(clap::Args, Debug)]
pub struct ServerArguments {
    /// Address of the service's console; for `mkopo slice` with a deploy token, of its portal. Defaults to the
    /// service on this machine.
    #[arg(long, global = true, env = "MKOPO_SERVER", value_parser = values::server, value_name = "URL")]
    pub server: Option<String>,

    /// The operator's console token of that service; `mkopo slice` also takes a slice's deploy token. Defaults to
    /// the console token in the data folder of the service on this machine.
    #[arg(long, global = true, env = "MKOPO_CONSOLE_TOKEN", hide_env_values = true, allow_hyphen_values = true,
          value_parser = values::existing_console_token, value_name = "TOKEN")]
    pub token: Option<SecretString>,

    /// File that contains the token. `MKOPO_CONSOLE_TOKEN` takes precedence.
    #[arg(long, global = true, env = "MKOPO_CONSOLE_TOKEN_FILE", value_name = "FILE",
          value_parser = |file: &str| secret_in(file, values::existing_console_token))]
    pub token_file: Option<SecretString>,

    /// Send the token to an address without TLS that is not on this machine.
    #[arg(long, global = true, env = "MKOPO_INSECURE", value_parser = values::switch)]
    pub insecure: bool,

    /// Data folder of the service on this machine.
    #[arg(long, global = true, env = "MKOPO_DATA_DIR", default_value = "data", value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Address and port that the service on this machine listens on.
    #[arg(long, global = true, env = "MKOPO_LISTEN", default_value = "127.0.0.1:8080", value_parser = values::listen,
          value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,

    /// Address and port of its console. Defaults to the portal's address with the next port.
    #[arg(long, global = true, env = "MKOPO_CONSOLE_LISTEN", value_parser = values::console_listen,
          value_name = "ADDRESS:PORT|off")]
    pub console_listen: Option<ConsoleListen>,
}

impl ServerArguments {
    /// The service, for calls about `sandbox`.
    pub fn open(self, sandbox: Option<&str>) -> anyhow::Result<Server> {
        let token = self.token()?;
        let is_deploy_token = token.expose_secret().starts_with(deploy::PREFIX);
        let is_on_this_machine = self.server.is_none();
        let address = match self.server {
            Some(server) => server,
            None if is_deploy_token => format!("http://{}", values::on_this_machine(self.listen)),
            None => {
                let console = ConsoleListen::address(self.console_listen, self.listen);
                let console =
                    console.context("the console of this machine's service is off (MKOPO_CONSOLE_LISTEN)")?;
                format!("http://{}", values::on_this_machine(console))
            }
        };
        if !self.insecure && !ProviderUrl::parse(&address).is_ok_and(|url| url.is_private()) {
            bail!(
                "{address} has no TLS: the token could be read on the way; give an address with https://, or add --insecure"
            );
        }
        let sandbox = sandbox.map(Name::existing).transpose()?.unwrap_or_else(Name::main);
        Ok(Server { address, token, is_deploy_token, is_on_this_machine, sandbox })
    }

    fn token(&self) -> anyhow::Result<SecretString> {
        if let Some(given) = self.token.as_ref().or(self.token_file.as_ref()) {
            return Ok(given.clone());
        }
        if self.server.is_some() {
            bail!("--server needs --token, the console token of that service");
        }
        let file = self.data_dir.join("console.token");
        let stored = std::fs::read_to_string(&file).with_context(|| {
            format!(
                "{} can't be read; set MKOPO_DATA_DIR to the service's data folder, or give --token",
                file.display()
            )
        })?;
        Ok(stored.trim_end().into())
    }
}

/// `object` without the fields that are not given, which are null.
pub fn given(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// A running service.
pub struct Server {
    address: String,
    token: SecretString,
    /// `true` if the token is a deploy token. Its calls go to the portal, and its name is the author.
    pub is_deploy_token: bool,
    is_on_this_machine: bool,
    sandbox: Name,
}

pub enum Body {
    Empty,
    Json(Value),
    Archive(Vec<u8>),
}

/// Timeout of a call, which includes uploading a build.
const TIMEOUT: Duration = Duration::from_mins(1);

impl Server {
    /// Calls the console's API, and returns the body of the answer.
    pub fn console(&self, method: &str, path: &str, body: Body) -> anyhow::Result<Value> {
        Ok(self.call(method, &format!("/console/api{path}"), &[], body)?.1)
    }

    /// Calls the service, and returns status and body of the answer. `path` must be encoded.
    pub fn call(
        &self,
        method: &str,
        path: &str,
        query: &[(&str, String)],
        body: Body,
    ) -> anyhow::Result<(u16, Value)> {
        let mut address = format!("{}{path}", self.address);
        if !query.is_empty() {
            let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
            address = format!("{address}?{query}");
        }
        let (media_type, bytes) = match body {
            Body::Empty => (None, Vec::new()),
            Body::Json(value) => (Some("application/json"), serde_json::to_vec(&value)?),
            Body::Archive(bytes) => (Some("application/octet-stream"), bytes),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(address)
            .header("authorization", format!("Bearer {}", self.token.expose_secret()))
            .header(SANDBOX, self.sandbox.as_str());
        if let Some(media_type) = media_type {
            request = request.header("content-type", media_type);
        }
        self.answer(agent(self.is_on_this_machine).run(request.body(bytes)?))
    }

    fn answer(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> anyhow::Result<(u16, Value)> {
        let address = &self.address;
        // The error of rustls for a plain-text response.
        if answer.as_ref().is_err_and(|error| error.to_string().contains("InvalidContentType")) {
            bail!("{address} does not use TLS: give its address with http:// instead of https://");
        }
        let mut answer = answer.with_context(|| {
            if self.is_on_this_machine {
                format!("no service answers on {address}; run `mkopo serve`, or give --server")
            } else {
                format!("{address} can't be reached")
            }
        })?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        if (200..300).contains(&status) {
            return Ok((status, body));
        }
        match (body["code"].as_str(), body["error"].as_str()) {
            (Some("not_found"), _) if !self.is_deploy_token => bail!(
                "{address} is not the address of a console; by default it is the portal's with the next port"
            ),
            (Some("no_console_token"), _) => {
                bail!("{address} does not accept this token; give the operator's console token as --token")
            }
            (_, Some(sentence)) => bail!("{sentence}"),
            (_, None) => bail!("{address} answered {status} and is not a Mkopo service"),
        }
    }
}

/// Encodes `text` as a segment of a path.
pub fn part(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// An HTTP client. For this machine, it uses no proxy: a proxy would connect to its own machine.
fn agent(is_on_this_machine: bool) -> ureq::Agent {
    // Private CAs are in the operating system's trust store.
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots = RootCerts::from(roots.iter().map(|root| Certificate::from_der(root).to_owned()));
    let mut config = ureq::Agent::config_builder();
    if is_on_this_machine {
        config = config.proxy(None);
    }
    // Error responses have a body that says why.
    config
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .into()
}
