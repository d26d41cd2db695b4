//! Requests that nobody sends by mistake, as many as are asked for: no 5xx, no hang, no growth.

use std::time::{Duration, Instant};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Request},
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha12Rng, seq::IndexedRandom};
use tower::ServiceExt;

use crate::test_app::TestApp;

const METHODS: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"];

const PATHS: [&str; 21] = [
    "/",
    "/api/v1/auth/login",
    "/api/v1/auth/me",
    "/api/v1/auth/request-signin-otp",
    "/api/v1/auth/verify-signin-otp",
    "/api/v1/auth/request-password-reset",
    "/api/v1/auth/reset-password",
    "/api/v1/disbursements/pending",
    "/api/v1/disbursements/LN-1/disburse",
    "/api/v1/disbursement-records",
    "/api/v1/openapi.json",
    "/slices.json",
    "/slices/mfe-auth/1.0.0/mf-manifest.json",
    "/assets/x.js",
    "/docs/",
    "/healthz",
    "/readyz",
    "/loans/1",
    "/console",
    "/console/api/traffic",
    "/console/api/events",
];

const TEXTS: [&str; 14] = [
    "",
    "'",
    "\" OR 1=1 --",
    "<script>alert(1)</script>",
    "%00",
    "..%2f..%2fetc%2fpasswd",
    "\u{202e}٠٧١٢",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "-1",
    "9223372036854775808",
    "1e400",
    "null",
    "agent@mkopo.test",
];

/// The request headers that the server reads.
pub const HEADERS: [&str; 13] = [
    "content-length",
    "authorization",
    "content-type",
    "accept",
    "accept-encoding",
    "if-none-match",
    "idempotency-key",
    "cookie",
    "x-forwarded-for",
    "origin",
    "sec-fetch-site",
    "expect",
    "range",
];

struct Hostile(ChaCha12Rng);

impl Hostile {
    fn text(&mut self) -> String {
        let text = *TEXTS.choose(&mut self.0).unwrap_or(&"");
        let at_most = if self.0.random_bool(0.05) { 80 } else { 1 };
        text.repeat(self.0.random_range(1..=at_most))
    }

    fn json(&mut self, depth: u32) -> String {
        match self.0.random_range(0..if depth == 0 { 4 } else { 6 }) {
            0 => format!("{:?}", self.text()),
            1 => self.0.next_u64().to_string(),
            2 => "null".to_owned(),
            3 => self.text(),
            4 => format!("[{}]", vec![self.json(depth - 1); 3].join(",")),
            _ => {
                const FIELDS: [&str; 7] =
                    ["email", "password", "otp", "new_password", "amount", "phone_number", "agent_id"];
                let field = |hostile: &mut Self| {
                    let name = *FIELDS.choose(&mut hostile.0).unwrap_or(&"");
                    format!("\"{name}\":{}", hostile.json(depth - 1))
                };
                format!("{{{},{}}}", field(self), field(self))
            }
        }
    }

    fn request(&mut self) -> Request<Body> {
        let mut path = (*PATHS.choose(&mut self.0).unwrap()).to_owned();
        if self.0.random_bool(0.3) {
            let text: String = form_urlencoded::byte_serialize(self.text().as_bytes()).collect();
            path = format!(
                "{path}{}{text}",
                ["/", "?", "?limit=", "?cursor=", "//"].choose(&mut self.0).unwrap()
            );
        }
        let body = match self.0.random_range(0..5) {
            0 => String::new(),
            1 => "[".repeat(self.0.random_range(1..4000)),
            2 => self.text(),
            _ => self.json(4),
        };
        let mut request = Request::builder()
            .method(*METHODS.choose(&mut self.0).unwrap())
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(body))
            .unwrap();
        for _ in 0..self.0.random_range(0..4) {
            let name = HeaderName::from_static(HEADERS.choose(&mut self.0).unwrap());
            let value = HeaderValue::from_bytes(self.text().as_bytes()).ok();
            request.headers_mut().append(name, value.unwrap_or_else(|| HeaderValue::from_static("x")));
        }
        request
    }
}

/// The memory of this process in bytes.
fn resident() -> Option<u64> {
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// The maximum growth of memory, in bytes, once the caches are full: after the first tenth of the requests.
const MAX_GROWTH: u64 = 64 << 20;

async fn attack(requests: u64) {
    let app = TestApp::start().await;
    let listeners = mkopo::routers(&app.sandbox);
    let agent = app.sign_in("agent").await;
    let lists = async || (agent.pending().await, agent.records().await);
    let lists_before = lists().await;
    let mut hostile = Hostile(ChaCha12Rng::seed_from_u64(19));
    let (before, started, mut slowest) = (resident(), Instant::now(), Duration::ZERO);
    let mut early = None;
    for number in 0..requests {
        if number == requests / 10 {
            early = resident();
        }
        let request = hostile.request();
        let (method, path) = (request.method().clone(), request.uri().clone());
        let router = listeners[usize::from(path.path().starts_with("/console"))].clone();
        let called = Instant::now();
        let answer = tokio::time::timeout(Duration::from_secs(30), router.oneshot(request));
        let status = answer.await.unwrap().unwrap().status();
        slowest = slowest.max(called.elapsed());
        assert!(!status.is_server_error(), "{method} {path}: {status}");
    }
    assert_eq!(lists().await, lists_before);
    app.assert_every_shilling_is_accounted_for().await;
    if let (Some(before), Some(early), Some(last)) = (before, early, resident()) {
        println!(
            "{requests} hostile requests in {:.0?}, the slowest in {slowest:.0?}; resident: {} MB before, {} MB \
             after {}, {} MB after all",
            started.elapsed(),
            before >> 20,
            early >> 20,
            requests / 10,
            last >> 20,
        );
        // In a shorter run, other tests of this process grow, too.
        assert!(requests < 1_000_000 || last < early + MAX_GROWTH, "grew from {early} to {last} bytes");
    }
}

// S-8, S-113
#[tokio::test]
async fn hostile_requests_are_answered_and_change_nothing() {
    attack(3_000).await;
}

/// As many as `MKOPO_TEST_REQUESTS`, by default a million.
#[tokio::test]
#[ignore = "takes minutes"]
async fn a_million_hostile_requests_are_answered_change_nothing_and_take_no_memory() {
    let requests = std::env::var("MKOPO_TEST_REQUESTS").ok().and_then(|requests| requests.parse().ok());
    attack(requests.unwrap_or(1_000_000)).await;
}
