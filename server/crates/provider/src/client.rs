//! Connections to the provider: verified by TLS, pooled for reads.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::{Context, ensure};
use axum::{
    body::Bytes,
    http::{HeaderValue, Request, Response, header},
};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, Error, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// The maximum time for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time for which an idle connection is kept. It is shorter than that of common servers, so that no
/// connection is used that the provider is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// The maximum number of idle connections kept.
const MAX_IDLE: usize = 64;

type Inner = legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A client for the calls of the contract. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Client {
    reads: Inner,
    /// Each call has a new connection. On a reused one, a call may be lost while the other side closes it,
    /// and it would be unknown whether it was received.
    writes: Inner,
}

impl Client {
    /// A client that trusts the authorities of the operating system, and those in the file `ca`.
    pub fn new(ca: Option<&Path>) -> anyhow::Result<Self> {
        let tls = tls(ca)?;
        let connector = || {
            let mut http = HttpConnector::new();
            http.set_connect_timeout(Some(CONNECT_TIMEOUT));
            http.set_nodelay(true);
            http.enforce_http(false);
            HttpsConnectorBuilder::new()
                .with_tls_config(tls.clone())
                .https_or_http()
                .enable_http1()
                .wrap_connector(http)
        };
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT);
        let reads = builder.clone().pool_max_idle_per_host(MAX_IDLE).build(connector());
        let writes = builder.pool_max_idle_per_host(0).retry_canceled_requests(false).build(connector());
        Ok(Self { reads, writes })
    }

    /// Sends a request once; a read is sent a second time if its connection broke.
    pub async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        if !request.method().is_safe() {
            // Some servers answer 411 to a POST without it (RFC 9110, 8.6).
            if request.body().size_hint().exact() == Some(0) {
                request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(0));
            }
            return self.writes.request(request).await;
        }
        let again = request.clone();
        match self.reads.request(request).await {
            Err(error) if !error.is_connect() => self.reads.request(again).await,
            answer => answer,
        }
    }
}

fn tls(ca: Option<&Path>) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // Unreadable authorities are skipped. If one of them is needed, connecting fails and says so.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = ca {
        let unreadable = || format!("MKOPO_PROVIDER_CA can't be read: {}", file.display());
        let mut count = 0;
        for certificate in CertificateDer::pem_file_iter(file).with_context(unreadable)? {
            roots.add(certificate.with_context(unreadable)?).with_context(unreadable)?;
            count += 1;
        }
        ensure!(count > 0, "MKOPO_PROVIDER_CA has no certificate: {}", file.display());
    }
    Ok(ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}
