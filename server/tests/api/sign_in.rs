use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use insta::assert_snapshot;
use serde_json::{Value, json};
use sha2::{Sha384, Sha512};

use crate::{
    test_app::{NOON, TestApp},
    test_store,
};

const AGENT: &str = "agent@mkopo.test";

#[tokio::test]
async fn the_right_password_opens_a_session() {
    let app = TestApp::start().await;
    let answer = app.login(" Agent@Mkopo.test", "Mkopo-demo-1").await;
    assert_eq!(answer.status, 200);
    let signed_in = answer.json();
    let expected = json!({"user": {
        "id": signed_in["user"]["id"], "username": "Wanjiru", "name": "Wanjiru Maina", "email": "agent@mkopo.test",
        "role": "agent", "token": signed_in["user"]["token"],
    }});
    assert_eq!(signed_in, expected);
}

#[tokio::test]
async fn the_domain_of_an_address_may_be_in_unicode_or_in_ascii() {
    let app = TestApp::start().await;
    app.open_account("grace@bücher.example").await;
    for email in ["grace@xn--bcher-kva.example", "grace@bücher.example", "Grace@BÜCHER.Example"] {
        let answer = app.login(email, "Mkopo-demo-1").await;
        assert_eq!(answer.status, 200, "{email}");
        assert_eq!(answer.json()["user"]["email"], "grace@xn--bcher-kva.example", "{email}");
    }
}

#[tokio::test]
async fn wrong_credentials_have_distinct_failures_and_never_401() {
    let app = TestApp::start().await;
    let mut answers = Vec::new();
    for (email, password) in [
        ("nobody@mkopo.test", "Mkopo-demo-1"),
        (AGENT, "wrong"),
        ("inactive@mkopo.test", "Mkopo-demo-1"),
        ("inactive@mkopo.test", "wrong"),
    ] {
        answers.push(app.login(email, password).await.refusal());
    }
    assert_snapshot!(answers.join("\n"), @"
    404 user_not_found: user not found
    400 invalid_password: invalid password
    403 account_inactive: account is inactive
    400 invalid_password: invalid password
    ");
}

#[tokio::test]
async fn the_token_names_the_user() {
    let (_, supervisor) = TestApp::start_for("supervisor").await;
    let me = supervisor.get("/api/v1/auth/me").await.json();
    let expected = json!({
        "id": me["id"], "username": "Peter", "name": "Peter Njoroge", "email": "supervisor@mkopo.test",
        "phone_number": "+254711000002", "role": "supervisor", "created_at": "2025-10-10T09:00:00.000Z",
    });
    assert_eq!(me, expected);
}

// S-88, S-91, S-92
#[tokio::test]
async fn nothing_of_a_session_is_cached() {
    let (app, agent) = TestApp::start_for("agent").await;
    let pending = "/api/v1/disbursements/pending";
    let etag = agent.get(pending).await.headers["etag"].to_str().unwrap().to_owned();
    let loan = agent.pending().await[0].clone();
    let answers = [
        agent.get(pending).await,
        agent.get_with(pending, &[("if-none-match", &etag)]).await,
        agent.get("/api/v1/disbursements/pending?limit=2").await,
        agent.get("/api/v1/disbursement-records").await,
        agent.get("/api/v1/auth/me").await,
        agent.disburse(&loan).await,
        app.with("no-token").get(pending).await,
        app.login(AGENT, "wrong").await,
        app.request_code(AGENT).await,
        app.request_reset_code(AGENT).await,
        agent.post("/api/v1/auth/logout", None).await,
    ];
    assert_eq!(answers[1].status, 304);
    for answer in &answers {
        assert_eq!(answer.headers["cache-control"], "no-store", "{}", answer.status);
    }
    assert_eq!(answers.last().unwrap().headers["clear-site-data"], "\"cache\"");
}

// S-60
#[tokio::test]
async fn a_signed_out_token_is_invalid_immediately() {
    let (app, agent) = TestApp::start_for("agent").await;
    let other = app.sign_in("agent").await;
    assert_eq!(agent.post("/api/v1/auth/logout", None).await.status, 204);
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
    assert_eq!(other.get("/api/v1/auth/me").await.status, 200, "another session of the same user");
}

// S-59, S-71
#[tokio::test]
async fn a_session_lasts_as_long_as_configured() {
    let (app, agent) = TestApp::start_for_with("agent", &["--session-minutes", "30"]).await;
    app.clock.advance(Duration::from_mins(29));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 200);
    app.clock.advance(Duration::from_mins(1));
    assert_eq!(agent.get("/api/v1/auth/me").await.status, 401);
}

#[tokio::test]
async fn a_session_survives_a_restart() {
    let app = TestApp::start().await;
    let token = app.sign_in("agent").await.token().to_owned();
    let app = app.restart().await;
    assert_eq!(app.with(&token).get("/api/v1/auth/me").await.status, 200);
}

// S-70
#[tokio::test]
async fn a_token_of_another_service_is_refused() {
    let app = TestApp::start().await;
    let token = app.sign_in("agent").await.token().to_owned();
    let elsewhere = TestApp::start().await;
    for token in [token.as_str(), "", "x", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."] {
        assert_eq!(elsewhere.with(token).get("/api/v1/auth/me").await.status, 401, "{token}");
    }
}

#[tokio::test]
async fn sessions_go_on_where_the_file_of_the_generated_secret_is_given() {
    if test_store::is_postgres() {
        return; // No secret is generated there.
    }
    let mut app = TestApp::start().await;
    let generated = app.data_dir().join("jwt.secret");
    let given = app.data_dir().join("given.secret");
    let secret = std::fs::read(&generated).unwrap();
    assert!(secret.len() == 64 && secret.iter().all(u8::is_ascii_hexdigit), "{secret:?}");
    // Earlier versions generated any bytes.
    for secret in [secret, vec![0xff; 32]] {
        std::fs::write(&generated, secret).unwrap();
        app = app.restart().await;
        let token = app.sign_in("agent").await.token().to_owned();
        std::fs::rename(&generated, &given).unwrap();
        app = app.restart_with(&["--jwt-secret-file", given.to_str().unwrap()]).await;
        assert_eq!(app.with(&token).get("/api/v1/auth/me").await.status, 200);
    }
}

/// The claims of a valid token.
fn claims(session_id: &str, staff_id: &str) -> Value {
    let now = NOON.0 / 1000;
    json!({
        "iss": "mkopo", "aud": "mkopo-portal", "sub": staff_id, "jti": session_id,
        "iat": now, "exp": now + 3600,
    })
}

// S-56, S-72, S-111
#[tokio::test]
async fn a_correctly_signed_token_with_wrong_claims_is_refused() {
    use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};

    let secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let app = TestApp::start_with(&["--jwt-secret", secret]).await;
    app.sign_in("agent").await;
    let mut reader = app.sandbox.database.read().await.unwrap();
    let (session_id, staff_id): (String, String) =
        store::query_as("SELECT session_id, staff_id FROM session").fetch_one(&mut reader).await.unwrap();
    let right = claims(&session_id, &staff_id);
    let sign = |claims: &Value, secret: &str| {
        encode(&Header::new(Algorithm::HS256), claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
    };
    let status = async |token: &str| app.with(token).get("/api/v1/auth/me").await.status;
    let good = sign(&right, secret);
    assert_eq!(status(&good).await, 200, "the other tokens each differ from this one");

    let expired = NOON.0 / 1000 - 61;
    for (claim, value) in [
        ("iss", None),
        ("iss", Some(json!("other"))),
        ("aud", None),
        ("aud", Some(json!("other"))),
        ("exp", None),
        ("exp", Some(json!(expired))),
        ("exp", Some(json!("never"))),
        ("jti", None),
        ("jti", Some(json!("other"))),
        ("jti", Some(json!(""))),
        ("sub", None),
        ("sub", Some(json!("other"))),
    ] {
        let mut claims = right.clone();
        match &value {
            Some(value) => claims[claim] = value.clone(),
            None => _ = claims.as_object_mut().unwrap().remove(claim),
        }
        let token = sign(&claims, secret);
        assert_eq!(status(&token).await, 401, "{claim}: {value:?}");
    }
    let hs384 = |signed: &str| {
        let mac = Hmac::<Sha384>::new_from_slice(secret.as_bytes()).unwrap();
        mac.chain_update(signed).finalize().into_bytes().to_vec()
    };
    let hs512 = |signed: &str| {
        let mac = Hmac::<Sha512>::new_from_slice(secret.as_bytes()).unwrap();
        mac.chain_update(signed).finalize().into_bytes().to_vec()
    };
    let payload = BASE64.encode(right.to_string());
    for (algorithm, mac) in [("HS384", &hs384 as &dyn Fn(&str) -> Vec<u8>), ("HS512", &hs512)] {
        let head = BASE64.encode(json!({"alg": algorithm, "typ": "JWT"}).to_string());
        let signed = format!("{head}.{payload}");
        let token = format!("{signed}.{}", BASE64.encode(mac(&signed)));
        assert_eq!(status(&token).await, 401, "{algorithm}");
    }
    let other_secret = sign(&right, &secret.replace('0', "9"));
    let (head, signature) = good.rsplit_once('.').unwrap();
    let (_, payload) = head.split_once('.').unwrap();
    // {"alg":"none","typ":"JWT"}
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.");
    for token in
        [other_secret, unsigned, head.to_owned(), format!("{head}."), format!("x.{payload}.{signature}")]
    {
        assert_eq!(status(&token).await, 401, "{token}");
    }
}

// S-60
#[tokio::test]
async fn a_session_that_ends_in_one_process_is_invalid_immediately_in_another() {
    let here = TestApp::start().await;
    let there = here.another_server(&[]).await;
    for _ in 0..3 {
        let token = here.sign_in("agent").await.token().to_owned();
        assert_eq!(there.with(&token).get("/api/v1/auth/me").await.status, 200);
        assert_eq!(here.with(&token).post("/api/v1/auth/logout", None).await.status, 204);
        assert_eq!(there.with(&token).get("/api/v1/auth/me").await.status, 401);
    }
}

// S-69
#[tokio::test]
async fn a_change_of_the_sessions_user_takes_effect_immediately() {
    let here = TestApp::start().await;
    let there = here.another_server(&[]).await;
    let token = here.sign_in("agent").await.token().to_owned();
    assert_eq!(there.with(&token).get("/api/v1/auth/me").await.json()["role"], "agent");
    here.write("UPDATE staff SET role = 'supervisor' WHERE email = 'agent@mkopo.test'").await.unwrap();
    assert_eq!(there.with(&token).get("/api/v1/auth/me").await.json()["role"], "supervisor");
    here.write("UPDATE staff SET is_active = FALSE WHERE email = 'agent@mkopo.test'").await.unwrap();
    assert_eq!(there.with(&token).get("/api/v1/auth/me").await.status, 401);
}
