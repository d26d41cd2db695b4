//! The whole service on a fresh database, called without a network.

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use clap::Parser;
use http_body_util::BodyExt;
use mkopo::{
    Sandbox,
    clock::{Clock, UnixMillis},
    config::{Command, CommandLine, Settings},
    demo,
    randomness::Randomness,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::contract;

/// Saturday, 14 November 2026, noon in Nairobi.
pub const NOON: UnixMillis = UnixMillis(1_794_646_800_000);

/// A service with the demo data, its clock held at [`NOON`].
pub struct TestApp {
    pub sandbox: Sandbox,
    pub clock: Clock,
    router: Router,
    data_dir: TempDir,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Like [`TestApp::start`], with further options of `mkopo serve`.
    pub async fn start_with(options: &[&str]) -> Self {
        Self::open(tempfile::tempdir().unwrap(), Clock::held_at(NOON), options).await
    }

    /// Stops and starts again on the same data.
    pub async fn restart(self) -> Self {
        self.sandbox.database.close().await;
        let Self { clock, data_dir, .. } = self;
        Self::open(data_dir, clock, &[]).await
    }

    async fn open(data_dir: TempDir, clock: Clock, options: &[&str]) -> Self {
        let settings = settings(data_dir.path().to_str().unwrap(), options);
        let sandbox = Sandbox::open(settings, clock.clone(), Randomness::seeded(7)).await.unwrap();
        let router = mkopo::router(sandbox.clone());
        Self { sandbox, clock, router, data_dir }
    }

    /// Calls `method path`, with `body` as JSON when there is one.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        self.send(request(method, path, None, body)).await
    }

    /// Sends any request; its answer must be in the contract.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().to_string());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        contract::check(&method, &path, parts.status, &parts.headers, &body);
        Answer { status: parts.status, headers: parts.headers, bytes: body.to_vec() }
    }

    /// Signs in by password, as one of the demo accounts: `admin`, `supervisor` or `agent`.
    pub async fn sign_in(&self, who: &str) -> Staff<'_> {
        let credentials = json!({"email": format!("{who}@mkopo.test"), "password": demo::PASSWORD});
        let answer = self.call(Method::POST, "/api/v1/auth/login", Some(credentials)).await;
        assert_eq!(answer.status, StatusCode::OK);
        Staff { app: self, token: answer.json()["user"]["token"].as_str().unwrap().to_owned() }
    }
}

/// The settings of a test: demo mode, in that data folder.
pub fn settings(data_dir: &str, options: &[&str]) -> Settings {
    let line = ["mkopo", "serve", "--demo", "true", "--data-dir", data_dir];
    let Command::Serve(settings) = CommandLine::parse_from(line.iter().chain(options)).command;
    settings
}

/// Someone signed in.
pub struct Staff<'a> {
    app: &'a TestApp,
    pub token: String,
}

impl Staff<'_> {
    pub async fn get(&self, path: &str) -> Answer {
        self.app.send(request(Method::GET, path, Some(&self.token), None)).await
    }

    pub async fn post(&self, path: &str, body: Option<Value>) -> Answer {
        self.app.send(request(Method::POST, path, Some(&self.token), body)).await
    }

    /// The pending list.
    pub async fn pending(&self) -> Vec<Value> {
        let answer = self.get("/api/v1/disbursements/pending").await;
        answer.json().as_array().unwrap().clone()
    }

    /// All records.
    pub async fn records(&self) -> Vec<Value> {
        let answer = self.get("/api/v1/disbursement-records").await;
        answer.json().as_array().unwrap().clone()
    }

    /// Pays a loan of the pending list out, as the portal does.
    pub async fn disburse(&self, loan: &Value) -> Answer {
        let path = format!("/api/v1/disbursements/{}/disburse", loan["loan_id"].as_str().unwrap());
        self.post(&path, Some(disbursement_of(loan))).await
    }
}

/// What the portal sends to pay `loan` out.
pub fn disbursement_of(loan: &Value) -> Value {
    json!({
        "agent_id": 1,
        "amount": loan["total_loan_amount"],
        "phone_number": loan["customer_phone_number"],
    })
}

/// A request as the portal makes it.
pub fn request(method: Method, path: &str, token: Option<&str>, body: Option<Value>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    match body {
        Some(body) => request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(serde_json::to_vec(&body).unwrap())),
        None => request.body(Body::empty()),
    }
    .unwrap()
}

/// What came back.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// The failure's status, code and text.
    pub fn failure(&self) -> (u16, String, String) {
        let body = self.json();
        assert_eq!(body["error"], body["message"]);
        let text = |field: &str| body[field].as_str().unwrap().to_owned();
        (self.status.as_u16(), text("code"), text("error"))
    }
}
