//! `mkopo provider check`.

use std::process::Output;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{Method, response::Parts},
    middleware::{self, Next},
    response::Response,
};
use http_body_util::BodyExt;
use provider::{
    caller::Caller,
    check::{Check, Chosen, Credentials, Tried},
};
use serde_json::{Value, json};
use settings::provider::ProviderUrl;
use tower::ServiceExt;

use crate::{
    command_line::{error_line, mkopo, printed},
    provider_stub::{NOBODY, OwnProvider},
    test_app::{TestApp, serve},
};

/// Checks the provider at `url`, with a payout.
async fn check(url: &str) -> Vec<Tried> {
    let mut confirm = |_: &Chosen| Ok(true);
    Check::new(caller_of(url), "a-key".to_owned()).run(credentials(), Some(&mut confirm)).await.unwrap()
}

pub fn caller_of(url: &str) -> Caller {
    Caller::new(ProviderUrl::parse(url).unwrap(), None).unwrap()
}

pub fn credentials() -> Credentials {
    Credentials { email: "agent@mkopo.test".to_owned(), password: lending::demo::PASSWORD.into() }
}

/// Everything that was found wrong.
fn violations(tried: &[Tried]) -> Vec<String> {
    let lines = |tried: &Tried| {
        tried.violations.iter().map(|text| format!("{}: {text}", tried.what)).collect::<Vec<_>>()
    };
    tried.iter().flat_map(lines).collect()
}

#[tokio::test]
async fn our_own_provider_is_clean() {
    let provider = OwnProvider::start().await;
    provider.app.approve_loan(1000, "0712345678").await;
    let tried = check(&provider.url).await;
    assert_eq!(violations(&tried), Vec::<String>::new());
    assert!(tried.len() > 40 && tried.iter().all(|tried| tried.unknown_fields.is_empty()), "{tried:#?}");
    let payouts = tried.iter().filter(|tried| tried.call.ends_with("/disburse") && tried.status == Some(200));
    assert_eq!(payouts.count(), 2);
    provider.app.assert_every_shilling_is_accounted_for().await;
}

#[tokio::test]
async fn without_payouts_nothing_is_paid_and_no_attempt_is_used_up() {
    let provider = OwnProvider::start().await;
    let before = provider.app.sign_in("agent").await.records().await.len();
    Check::new(caller_of(&provider.url), "a-key".to_owned()).run(credentials(), None).await.unwrap();
    assert_eq!(provider.app.sign_in("agent").await.records().await.len(), before);
    let messages = provider.app.read_console("/outbox").await;
    assert_eq!(messages, json!([]), "no code was sent");
}

#[tokio::test]
async fn without_a_loan_to_pay_out_the_report_says_so_beside_everything_else() {
    let provider = OwnProvider::start().await;
    provider.app.set_console(Method::POST, "/data/reset", json!({"seed": "empty"})).await;
    let tried = check(&provider.url).await;
    assert_eq!(violations(&tried), ["Pay out a loan: there is no loan to pay out"]);
    assert!(tried.iter().any(|tried| tried.what == "Sign out"), "the rest is tried, too");
}

/// The answer, with its body changed if that is JSON.
async fn changed(answer: Response, change: impl FnOnce(&mut Parts, &mut Value)) -> Response {
    let (mut parts, body) = answer.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let Ok(mut json) = serde_json::from_slice::<Value>(&bytes) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    change(&mut parts, &mut json);
    parts.headers.remove("content-length");
    Response::from_parts(parts, Body::from(json.to_string()))
}

/// A provider that is ours, except that each answer to a GET goes through `change`.
async fn changing(change: fn(&mut Value)) -> (TestApp, String) {
    let app = TestApp::start().await;
    let [router, _] = mkopo::routers(&app.sandbox);
    let router = router.layer(middleware::from_fn(move |mut request: Request, next: Next| async move {
        request.headers_mut().remove("accept-encoding");
        let is_get = request.method() == Method::GET;
        let answer = next.run(request).await;
        if is_get { changed(answer, |_, json| change(json)).await } else { answer }
    }));
    let url = serve(router).await;
    (app, url)
}

#[tokio::test]
async fn a_missing_field_and_a_number_as_text_are_caught() {
    fn rows(json: &mut Value) -> impl Iterator<Item = &mut Value> {
        json.as_array_mut().into_iter().flatten()
    }
    let nameless = |json: &mut Value| {
        rows(json).for_each(|row| _ = row.as_object_mut().unwrap().remove("customer_last_name"));
    };
    let as_text = |json: &mut Value| {
        for amount in rows(json).filter_map(|row| row.get_mut("amount")) {
            *amount = json!(amount.to_string());
        }
    };
    for (change, text) in [
        (nameless as fn(&mut Value), "Read the pending loans: /*/customer_last_name: the field is missing"),
        (as_text, "Read the payouts: /*/amount: value is not of type \"integer\""),
    ] {
        let (_app, url) = changing(change).await;
        let found = violations(&check(&url).await);
        assert!(found.contains(&text.to_owned()), "{text} is not in {found:#?}");
    }
}

#[tokio::test]
async fn a_second_payout_for_a_loan_that_was_paid_is_caught() {
    /// Pays again whenever it is asked, and remembers it.
    type Paid = std::sync::Arc<std::sync::Mutex<Vec<Value>>>;
    async fn pays_again(State((router, paid)): State<(Router, Paid)>, request: Request) -> Response {
        let path = request.uri().path().to_owned();
        let is_payout = path.ends_with("/disburse") && request.method() == Method::POST;
        let answer = router.oneshot(request).await.unwrap();
        if !(is_payout && answer.status() == 200 || path.ends_with("/disbursement-records")) {
            return answer;
        }
        changed(answer, |parts, json| {
            let mut paid = paid.lock().unwrap();
            if is_payout {
                parts.headers.remove("idempotent-replayed");
                json["id"] = json!(format!("payout-{}", paid.len()));
                paid.push(json.clone());
            } else if let Some(rows) = json.as_array_mut() {
                rows.retain(|row| paid.iter().all(|paid| paid["loan_id"] != row["loan_id"]));
                rows.extend(paid.iter().cloned());
            }
        })
        .await
    }
    let app = TestApp::start().await;
    app.approve_loan(1000, "0712345678").await;
    let [router, _] = mkopo::routers(&app.sandbox);
    let state = (router, Paid::default());
    let url = serve(Router::new().fallback(pays_again).with_state(state)).await;
    let found = violations(&check(&url).await);
    for text in [
        "Repeat it with the same key: the repeat is not answered like the first call",
        "Repeat it with the same key: header Idempotent-Replayed: it is not true",
        "Find its record: the loan was paid 2 times: it has 2 records",
    ] {
        assert!(found.contains(&text.to_owned()), "{found:#?}");
    }
}

/// Runs `mkopo provider` on another thread, so that the provider on this one keeps running.
async fn provider(arguments: &[&str], url: &str) -> Output {
    let mut command = mkopo();
    command.arg("provider").args(arguments).args(["--url", url, "--email", "agent@mkopo.test"]);
    command.env("MKOPO_PROVIDER_PASSWORD", lending::demo::PASSWORD);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test]
async fn the_command_prints_each_call_and_fails_if_the_contract_is_broken() {
    let own = OwnProvider::start().await;
    let table = printed(provider(&["check"], &own.url).await);
    assert!(table.lines().count() > 30 && table.lines().all(|line| line.starts_with("ok ")), "{table}");

    let (_app, url) = changing(|body| {
        if let Some(user) = body.as_object_mut().filter(|user| user.contains_key("email")) {
            user.remove("email");
        }
    })
    .await;
    let broken = provider(&["check", "--json"], &url).await;
    assert_eq!(broken.status.code(), Some(1));
    let line = error_line(&broken);
    assert!(line.starts_with("mkopo: the provider breaks the contract in "), "{line}");
    let tried: Vec<Value> = serde_json::from_slice(&broken.stdout).unwrap();
    let wrong: Vec<&Value> = tried.iter().filter(|tried| tried["violations"] != json!([])).collect();
    assert!(!wrong.is_empty() && wrong.len() < tried.len(), "{tried:#?}");
}

#[tokio::test]
async fn the_command_pays_only_after_a_yes_and_says_what_it_can_not_do() {
    let own = OwnProvider::start().await;
    let before = own.app.sign_in("agent").await.records().await.len();
    let unasked = provider(&["check", "--payouts"], &own.url).await;
    let asked = "mkopo: this pays out a loan; add --yes to pay it out without being asked";
    assert_eq!(error_line(&unasked), asked);
    assert_eq!(own.app.sign_in("agent").await.records().await.len(), before);
    printed(provider(&["check", "--payouts", "--yes"], &own.url).await);
    assert_eq!(own.app.sign_in("agent").await.records().await.len(), before + 1);

    let away = error_line(&provider(&["check"], NOBODY).await);
    assert!(away.contains("can't be reached"), "{away}");
    let insecure = error_line(&provider(&["check"], "http://provider.example.com").await);
    assert!(insecure.contains("TLS"), "{insecure}");
}

#[tokio::test]
async fn the_command_records_to_a_new_file_only() {
    let own = OwnProvider::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seed.json");
    let out = file.to_str().unwrap();
    printed(provider(&["record", "--out", out], &own.url).await);
    let first = std::fs::read(&file).unwrap();
    let recording: Value = serde_json::from_slice(&first).unwrap();
    assert!(!recording["pending_loans"].as_array().unwrap().is_empty());
    let again = error_line(&provider(&["record", "--out", out], &own.url).await);
    assert!(again.contains("can't be written"), "{again}");
    assert_eq!(std::fs::read(&file).unwrap(), first);
}
