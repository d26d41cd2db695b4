//! Calls a provider as its portal does.

use std::{path::Path, time::Duration};

use anyhow::{Context, bail, ensure};
use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header, uri::PathAndQuery},
};
use http_body_util::{BodyExt, Full, Limited};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::client::Client;
use contract::{API, Operation};
use settings::provider::ProviderUrl;

/// The maximum time for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer, in bytes.
const MAX_BODY: usize = 128 * 1024 * 1024;

/// A call, relative to `/api/v1`.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    /// The path and query.
    pub path: String,
    /// The headers, without those of the session and of the body.
    pub headers: Vec<(HeaderName, String)>,
    /// The media type and the body.
    pub body: Option<(&'static str, Vec<u8>)>,
    pub token: Option<SecretString>,
}

impl Call {
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), headers: Vec::new(), body: None, token: None }
    }

    /// Creates a POST of a text as JSON.
    pub fn post(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { method: Method::POST, body: Some(("application/json", body.into())), ..Self::get(path) }
    }

    pub fn with_token(self, token: &SecretString) -> Self {
        Self { token: Some(token.clone()), ..self }
    }

    pub fn with_header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn operation(&self) -> Option<Operation> {
        Operation::of(&self.method, &format!("{API}{}", self.path))
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// Returns the body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Calls one provider.
#[derive(Clone, Debug)]
pub struct Caller {
    url: ProviderUrl,
    client: Client,
}

impl Caller {
    /// Creates a caller of the provider at `url`, which also trusts the authorities in the file `ca`.
    pub fn new(url: ProviderUrl, ca: Option<&Path>) -> anyhow::Result<Self> {
        Ok(Self { url, client: Client::new(ca)? })
    }

    /// Makes a call once.
    pub async fn call(&self, call: &Call) -> anyhow::Result<Answer> {
        let path: PathAndQuery = format!("{API}{}", call.path).parse()?;
        let uri = self.url.of_call(&path).context("the address is not valid")?;
        let mut request = Request::builder().method(&call.method).uri(uri);
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        if let Some(token) = &call.token {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        if let Some((media_type, _)) = &call.body {
            request = request.header(header::CONTENT_TYPE, *media_type);
        }
        let body = call.body.as_ref().map(|(_, body)| Bytes::from(body.clone())).unwrap_or_default();
        let answering = async {
            let answer = self.client.send(request.body(Full::new(body))?).await.map_err(|error| {
                let source = std::error::Error::source(&error).map(ToString::to_string);
                let reason = source.unwrap_or_else(|| error.to_string());
                if error.is_connect() {
                    anyhow::anyhow!("the provider can't be reached: {reason}")
                } else {
                    anyhow::anyhow!("the provider broke off before its answer: {reason}")
                }
            })?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, MAX_BODY).collect().await;
            let body =
                body.map_err(|_| anyhow::anyhow!("the answer broke off, or is larger than 128 MiB"))?;
            anyhow::Ok(Answer { status: parts.status, headers: parts.headers, body: body.to_bytes() })
        };
        tokio::time::timeout(TIMEOUT, answering)
            .await
            .context("the provider did not answer within 30 seconds")?
    }

    pub async fn sign_in(&self, email: &str, password: &SecretString) -> anyhow::Result<SecretString> {
        let answer = self.call(&Self::login(email, password)).await?;
        if answer.status != StatusCode::OK {
            let body = answer.json();
            bail!(
                "{} refused the sign-in: {} {}",
                self.url,
                answer.status.as_u16(),
                body["error"].as_str().unwrap_or_default()
            );
        }
        let token = answer.json()["user"]["token"].as_str().unwrap_or_default().to_owned();
        ensure!(!token.is_empty(), "{} signed in without a token", self.url);
        Ok(token.into())
    }

    pub fn login(email: &str, password: &SecretString) -> Call {
        let body = json!({"email": email, "password": password.expose_secret()});
        Call::post("/auth/login", body.to_string())
    }

    /// The call that signs out, without its token.
    pub fn logout() -> Call {
        Call { method: Method::POST, ..Call::get("/auth/logout") }
    }
}
