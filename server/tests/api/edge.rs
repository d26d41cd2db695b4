use axum::{
    body::Body,
    http::{HeaderName, Method, Request, header},
};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    contract,
    live_settings::LIVE,
    slices::started_with,
    test_app::{CONSOLE_TOKEN, Listener, TestApp, request},
};

fn login_with(content_type: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post("/api/v1/auth/login").header(header::CONTENT_TYPE, content_type).body(body.into()).unwrap()
}

// S-10
#[tokio::test]
async fn every_kind_of_bad_request_has_its_own_failure() {
    let app = TestApp::start().await;
    let mut answers = Vec::new();
    for request in [
        Request::get("/api/v1/nothing").body(Body::empty()).unwrap(),
        Request::put("/api/v1/auth/login").body(Body::empty()).unwrap(),
        login_with("text/plain", "{}"),
        login_with("application/json", "{"),
        login_with("application/json", "{}"),
        login_with("application/json", r#"["agent@mkopo.test", "Mkopo-demo-1"]"#),
        login_with("application/json", "x".repeat(64 * 1024 + 1)),
    ] {
        answers.push(app.send(request).await.refusal());
    }
    assert_snapshot!(answers.join("\n"), @"
    404 not_found: There is nothing at this path.
    405 method_not_allowed: This path does not support this method.
    415 unsupported_media_type: The body must be sent as application/json.
    400 malformed_json: The body is not valid JSON: EOF while parsing an object at line 1 column 1.
    422 invalid_request: The request body is invalid: missing field `email` at line 1 column 2.
    422 invalid_request: The request body is invalid: invalid type: sequence, expected an object at line 1 column 0.
    413 body_too_large: The body is larger than 64 KiB.
    ");
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read() {
    const LIMIT: usize = 64 * 1024;
    let app = TestApp::start().await;
    let call = r#"{"email":"agent@mkopo.test","password":"Mkopo-demo-1"}"#;
    let body_of = |size: usize| call.to_owned() + &" ".repeat(size - call.len());
    let read = app.send(login_with("application/json", body_of(LIMIT))).await;
    assert_eq!((read.status.as_u16(), &read.json()["user"]["email"]), (200, &json!("agent@mkopo.test")));
    let refused = app.send(login_with("application/json", body_of(LIMIT + 1))).await;
    assert_eq!(refused.kind(), "413 body_too_large");
}

// S-26, S-85
#[tokio::test]
async fn a_wrong_method_and_options_are_answered_with_the_allowed_ones() {
    let app = TestApp::start().await;
    for (method, status) in [(Method::DELETE, 405), (Method::OPTIONS, 204)] {
        let answer = app.call(method, "/api/v1/auth/login", None).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers[header::ALLOW]),
            (status, &"POST".parse().unwrap())
        );
    }
}

#[tokio::test]
async fn a_caller_that_accepts_problem_json_gets_it() {
    let app = TestApp::start().await;
    let accepted = "application/problem+json, application/json;q=0.5";
    let answer = app.get_with("/api/v1/auth/me", &[("accept", accepted)]).await;
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json");
    let (body, text) = (answer.body(), "You are not signed in, or your session has ended.");
    let expected = json!({
        "type": "about:blank", "title": "Unauthorized", "status": 401, "detail": text, "code": "no_session",
        "error": text, "message": text, "request_id": body["request_id"],
    });
    assert_eq!(body, expected);
}

// S-107
#[tokio::test]
async fn the_failure_has_the_request_id_of_the_header() {
    let app = TestApp::start().await;
    let answer = app.get("/api/v1/auth/me").await;
    assert_eq!(json!(answer.headers["x-request-id"].to_str().unwrap()), answer.body()["request_id"]);
}

/// A request of each operation of the contract, whose parameters are all `x`, and whether it needs a session.
fn requests_of_all_operations(token: Option<&str>) -> impl Iterator<Item = (Listener, Request<Body>, bool)> {
    contract::operations().into_iter().map(move |(path, method)| {
        let is_of_console = path.starts_with("/console") || path == "/metrics";
        let listener = if is_of_console { Listener::Console } else { Listener::Portal };
        let needs_session = contract::needs_session(path, &method);
        let segments = path.split('/').map(|segment| if segment.starts_with('{') { "x" } else { segment });
        let path = segments.collect::<Vec<_>>().join("/");
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        (listener, request(method, &path, token, None), needs_session)
    })
}

// S-17, S-24, S-55, S-67, S-111, S-116
#[tokio::test]
async fn every_answer_has_security_headers_and_every_call_except_sign_in_needs_a_session() {
    let (app, _portal) = started_with(&LIVE).await;
    let mut without_session = 0;
    // The console's operator may do everything; the stream of a person who is signed in never ends.
    for token in [None, Some("no-session"), Some(CONSOLE_TOKEN)] {
        for (listener, call, needs_session) in requests_of_all_operations(token) {
            // Each call of a test looks at the headers of its answer.
            let answer = app.send_to(listener, call).await;
            assert!(!answer.status.is_server_error(), "{}", answer.status);
            assert_ne!(answer.status, 405, "{} is not served", answer.status);
            if needs_session {
                assert_eq!(answer.kind(), "401 no_session", "{}", answer.status);
                without_session += 1;
            }
        }
    }
    assert!(without_session >= 3 * 15, "{without_session}");
}

// S-17, S-24, S-116
#[tokio::test]
async fn answers_to_what_is_no_operation_have_security_headers() {
    const PAGE: (HeaderName, &str) = (header::ACCEPT, "text/html");
    const SANDBOX: (HeaderName, &str) = (HeaderName::from_static("mkopo-sandbox"), "none");
    const ZIPPED: (HeaderName, &str) = (header::CONTENT_ENCODING, "gzip");
    const JSON: (HeaderName, &str) = (header::CONTENT_TYPE, "application/json");
    let (app, _portal) = started_with(&LIVE).await;
    let too_large = "x".repeat(64 * 1024 + 1);
    let too_long = format!("/{}", "x".repeat(1024));
    let link = format!("/console/outbox?token={CONSOLE_TOKEN}");
    let calls = [
        // The portal: its page and its files, redirects, and what it refuses.
        (Listener::Portal, Method::GET, "/", &[PAGE][..], "", 200),
        (Listener::Portal, Method::GET, "/loans/1", &[PAGE], "", 200),
        (Listener::Portal, Method::HEAD, "/", &[PAGE], "", 200),
        (Listener::Portal, Method::GET, "/missing.js", &[], "", 404),
        (Listener::Portal, Method::GET, "/slices/mfe-loans/0.1.0/slice.js", &[], "", 200),
        (Listener::Portal, Method::GET, "/slices/mfe-loans/0.1.0/missing.js", &[], "", 404),
        (Listener::Portal, Method::GET, "/assets/missing.js", &[], "", 404),
        (Listener::Portal, Method::GET, "/docs/swagger-ui.css", &[], "", 200),
        (Listener::Portal, Method::GET, "/docs/missing", &[], "", 404),
        (Listener::Portal, Method::GET, "/kit/gallery", &[], "", 308),
        (Listener::Portal, Method::GET, "/.well-known/change-password", &[], "", 303),
        (Listener::Portal, Method::GET, "/api/v1/nothing", &[], "", 404),
        (Listener::Portal, Method::GET, "/console", &[PAGE], "", 404),
        (Listener::Portal, Method::GET, too_long.as_str(), &[], "", 414),
        (Listener::Portal, Method::GET, "/api/v1/auth/me", &[SANDBOX], "", 404),
        (Listener::Portal, Method::GET, "/", &[SANDBOX, PAGE], "", 404),
        (Listener::Portal, Method::DELETE, "/api/v1/auth/login", &[], "", 405),
        (Listener::Portal, Method::OPTIONS, "/api/v1/auth/login", &[], "", 204),
        (Listener::Portal, Method::POST, "/", &[], "", 405),
        (Listener::Portal, Method::POST, "/api/v1/auth/login", &[JSON], "{", 400),
        (Listener::Portal, Method::POST, "/api/v1/auth/login", &[JSON], "{}", 422),
        (Listener::Portal, Method::POST, "/api/v1/auth/login", &[JSON], too_large.as_str(), 413),
        (Listener::Portal, Method::POST, "/api/v1/auth/login", &[], "{}", 415),
        (Listener::Portal, Method::POST, "/api/v1/auth/login", &[JSON, ZIPPED], "{}", 415),
        (Listener::Portal, Method::POST, "/deploy/slices", &[], "", 401),
        (Listener::Portal, Method::GET, "/deploy/slices", &[], "", 405),
        (Listener::Portal, Method::GET, "/deploy/nothing", &[], "", 404),
        // The console: its pages and their files, redirects, and what it refuses.
        (Listener::Console, Method::GET, "/", &[], "", 303),
        (Listener::Console, Method::GET, "/console/", &[], "", 401),
        (Listener::Console, Method::GET, "/console/assets/console.js", &[], "", 200),
        (Listener::Console, Method::GET, "/console/assets/missing.js", &[], "", 401),
        (Listener::Console, Method::GET, link.as_str(), &[PAGE], "", 200),
        (Listener::Console, Method::GET, "/console/sign-in", &[PAGE], "", 405),
        (Listener::Console, Method::POST, "/console/sign-in", &[], "", 401),
        (Listener::Console, Method::GET, "/console/nothing", &[PAGE], "", 401),
        (Listener::Console, Method::GET, "/console/api/nothing", &[], "", 401),
        (Listener::Console, Method::DELETE, "/console/api/outbox", &[], "", 401),
        (Listener::Console, Method::GET, "/nothing", &[], "", 404),
    ];
    for (listener, method, uri, headers, body, status) in calls {
        let mut call = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            call = call.header(name, *value);
        }
        let answer = app.send_to(listener, call.body(Body::from(body.to_owned())).unwrap()).await;
        // Each call of a test looks at the headers of its answer.
        assert_eq!(answer.status, status);
    }
}

/// A failure's media type to a caller with this `Accept`.
async fn media_type(app: &TestApp, accept: &str) -> String {
    let answer = app.get_with("/api/v1/auth/me", &[("accept", accept)]).await;
    answer.headers[header::CONTENT_TYPE].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn problem_json_is_sent_when_it_is_preferred_at_least_as_much_as_json() {
    let app = TestApp::start().await;
    for accept in [
        "application/problem+json",
        "Application/Problem+JSON;q=0.8, application/json;q=0.7",
        "application/json, application/problem+json",
        "text/html, application/problem+json;q=0.1, */*;q=0.1",
    ] {
        assert_eq!(media_type(&app, accept).await, "application/problem+json", "{accept}");
    }
    for accept in [
        "*/*",
        "application/*",
        "application/json",
        "application/json, application/problem+json;q=0.9",
        "application/problem+json;q=0",
        "application/problem+json;q=2",
        "x-application/problem+json",
        "",
    ] {
        assert_eq!(media_type(&app, accept).await, "application/json", "{accept}");
    }
}

#[tokio::test]
async fn head_answers_like_get_without_the_body() {
    let (_, agent) = TestApp::start_for("agent").await;
    let got = agent.get("/api/v1/disbursements/pending").await;
    let head = agent.call(Method::HEAD, "/api/v1/disbursements/pending", None).await;
    assert_eq!(head.status, 200);
    assert!(head.bytes.is_empty());
    assert_eq!(head.headers[header::ETAG], got.headers[header::ETAG]);
    assert_eq!(head.headers[header::CONTENT_LENGTH], got.sent.to_string());
}

fn preflight(path: &str, origin: &str) -> Request<Body> {
    Request::options(path)
        .header(header::ORIGIN, origin)
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
        .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization,content-type,idempotency-key")
        .body(Body::empty())
        .unwrap()
}

// S-22, S-116
#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let app = TestApp::start().await;
    let answer = app.send(preflight("/api/v1/auth/login", "https://portal.example.com")).await;
    assert!(!answer.headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
}

// S-22
#[tokio::test]
async fn pages_of_an_allowed_origin_are_accepted() {
    let allowed = "https://portal.example.com,http://localhost:3000";
    let app = TestApp::start_with(&["--allowed-origins", allowed]).await;
    for origin in allowed.split(',') {
        let answer = app.send(preflight("/api/v1/disbursements/LN-1/disburse", origin)).await;
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], origin);
        let allowed = answer.headers[header::ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
        assert!(allowed.contains("idempotency-key") && allowed.contains("authorization"), "{allowed}");
        let failed = app.get_with("/api/v1/auth/me", &[("origin", origin)]).await;
        let allowed = &failed.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN];
        assert_eq!(allowed, origin, "a page can read the failure");
        let exposed = failed.headers[header::ACCESS_CONTROL_EXPOSE_HEADERS].to_str().unwrap();
        assert!(exposed.contains("x-request-id"), "{exposed}");
    }
    for origin in ["https://evil.example.com", "https://portal.example.com.evil.com", "null"] {
        let answer = app.send(preflight("/api/v1/auth/login", origin)).await;
        assert!(!answer.headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN), "{origin}");
    }
}

#[test]
fn an_invalid_origin_is_refused() {
    use clap::Parser;
    for wrong in
        ["*", "portal.example.com", "https://portal.example.com/path", "ftp://x", "https://x?y", "https://"]
    {
        let line = ["mkopo", "serve", "--allowed-origins", wrong];
        let error = mkopo::commands::CommandLine::try_parse_from(line).unwrap_err().to_string();
        assert!(error.contains("--allowed-origins"), "{error}");
    }
}

// S-21, S-76
#[tokio::test]
async fn hsts_is_sent_only_behind_tls() {
    let hsts = header::STRICT_TRANSPORT_SECURITY;
    let plain = TestApp::start().await.get("/healthz").await;
    assert!(!plain.headers.contains_key(&hsts));
    let behind_tls = TestApp::start_with(&["--behind-tls", "true"]).await;
    let secure = behind_tls.get("/healthz").await;
    assert_eq!(secure.headers[hsts], "max-age=31536000; includeSubDomains");
}

#[tokio::test]
async fn a_body_that_never_arrives_times_out() {
    let app = TestApp::start().await;
    tokio::time::pause();
    let never = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    assert_eq!(app.send(login_with("application/json", never)).await.kind(), "408 body_too_slow");
}

// S-1, S-8, S-102, S-107
#[tokio::test]
async fn hostile_requests_are_refused_without_internal_details() {
    let (app, agent) = TestApp::start_for("agent").await;
    let deep = "[".repeat(50_000);
    let deep_in_a_field = format!(r#"{{"x":{deep}"#);
    let mut requests = Vec::new();
    for path in [
        "/api/v1/disbursements/%00/disburse",
        "/api/v1/disbursements/%ff%fe/disburse",
        "/api/v1/disbursements/%2e%2e%2f%2e%2e%2fetc%2fpasswd/disburse",
        "/api/v1/disbursements/'%20OR%201=1--/disburse",
        "/api/v1/disbursements/%F0%9F%92%B8/disburse",
        "/api/v1/disbursements/%/disburse",
    ] {
        let body = r#"{"agent_id":1,"amount":1,"phone_number":"0700000000"}"#;
        requests.push(
            Request::post(path).header(header::CONTENT_TYPE, "application/json").body(Body::from(body)),
        );
    }
    for body in [
        deep.as_bytes(),
        deep_in_a_field.as_bytes(),
        b"\xff\xfe",
        b"{\"email\":\"\\u0000\",\"password\":\"\\u0000\"}",
        b"{\"email\":\"\\ud800\",\"password\":\"x\"}",
        b"{\"email\":\"a@b\",\"email\":\"c@d\",\"password\":\"x\"}",
        b"{\"email\":1e999,\"password\":99999999999999999999999999}",
        b"null",
        b"",
    ] {
        requests.push(Ok(login_with("application/json", body.to_vec())));
    }
    let paths = "/%00 /..%2f..%2fetc/passwd /slices/%00 /docs/%00 /docs/%ff /api/v1/%ff // /api/v1//";
    requests.extend(paths.split(' ').map(|path| Request::get(path).body(Body::empty())));
    for request in requests {
        let mut request = request.unwrap();
        let token = format!("Bearer {}", agent.token()).parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, token);
        let call = format!("{} {}", request.method(), request.uri());
        let answer = app.send(request).await;
        assert!(answer.status.is_client_error(), "{call}: {}", answer.status);
        let text = String::from_utf8(answer.bytes).unwrap();
        for leak in ["SELECT", "sqlx", "sqlite", "src/", ".rs", "panicked", "/work", "/root"] {
            assert!(!text.contains(leak), "{call}: {text}");
        }
    }
}

/// Values of which a field with this schema may have one.
fn values_of(schema: &Value) -> Vec<Value> {
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("integer" | "number") => vec![json!(1)],
        Some("boolean") => vec![json!(true)],
        Some("array") => vec![json!([])],
        _ => schema["enum"].as_array().cloned().unwrap_or_else(|| {
            ["a@b.test", "2026-11-14T09:00:00Z", "1.0.0", "mfe-loans"].map(Value::from).to_vec()
        }),
    }
}

// S-102
#[tokio::test]
async fn no_call_accepts_a_field_twice_or_an_array_for_an_object() {
    let (app, _portal) = started_with(&LIVE).await;
    let admin = app.sign_in("admin").await;
    let mut checked = 0;
    // Pages alone make the other calls that have a body.
    let is_of_api = |path: &str| path.starts_with("/api/") || path.starts_with("/console/api/");
    for (path, method) in contract::operations().into_iter().filter(|(path, _)| is_of_api(path)) {
        let token = if path.starts_with("/console") { CONSOLE_TOKEN } else { admin.token() };
        let address = path.replace(['{', '}'], "");
        let method: Method = method.to_uppercase().parse().unwrap();
        for (name, schema) in contract::fields_of_body(path, &method) {
            let (bodies, reason) = if schema["properties"].is_object() {
                (vec![format!(r#"{{"{name}":[]}}"#)], "expected an object")
            } else {
                let twice = |value| format!(r#"{{"{name}":{value},"{name}":{value}}}"#);
                (values_of(schema).iter().map(twice).collect(), "duplicate field")
            };
            let mut answers = Vec::new();
            for body in bodies {
                let mut request = request(method.clone(), &address, Some(token), Some(json!({})));
                *request.body_mut() = Body::from(body);
                answers.push(app.send(request).await.refusal());
            }
            let is_refused =
                |answer: &String| answer.starts_with("422 invalid_request: ") && answer.contains(reason);
            assert!(answers.iter().any(is_refused), "{method} {path} {name}: {answers:#?}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

#[tokio::test]
async fn what_is_refused_before_it_is_routed_can_be_read_by_an_allowed_origin_too() {
    let origin = "https://portal.example.com";
    let app = TestApp::start_with(&["--allowed-origins", origin, "--sandboxes", "2"]).await;
    let large = Request::post("/api/v1/auth/login").body(Body::from(vec![b' '; 70_000])).unwrap();
    let no_sandbox =
        Request::get("/api/v1/auth/me").header("mkopo-sandbox", "none").body(Body::empty()).unwrap();
    let unknown = Request::get("/api/v1/unknown").body(Body::empty()).unwrap();
    for (mut request, status) in [(large, 413), (no_sandbox, 404), (unknown, 404)] {
        request.headers_mut().insert(header::ORIGIN, origin.parse().unwrap());
        let answer = app.send(request).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], origin, "{}", answer.status);
        let exposed = answer.headers[header::ACCESS_CONTROL_EXPOSE_HEADERS].to_str().unwrap();
        assert!(exposed.contains("date") && exposed.contains("x-request-id"), "{exposed}");
    }
    let preflight = app.send(preflight("/api/v1/auth/login", origin)).await;
    let allowed = preflight.headers[header::ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
    assert!(allowed.contains("traceparent") && allowed.contains("last-event-id"), "{allowed}");
}

#[tokio::test]
async fn a_body_is_read_with_a_byte_order_mark_or_a_backslash_and_refused_when_it_is_compressed() {
    let app = TestApp::start().await;
    let body = r#"{"email":"agent@mkopo.test","password":"Mkopo-demo-1"}"#;
    // An escaped backslash before `u0000` is no NUL.
    let with_backslash = body.replace('{', r#"{"x":"\\u0000","#);
    for read in [format!("\u{feff}{body}"), with_backslash] {
        assert_eq!(app.send(login_with("application/json", read)).await.status, 200);
    }
    let mut compressed = login_with("application/json", vec![0x1f, 0x8b, 8, 0]);
    compressed.headers_mut().insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
    let refused = app.send(compressed).await;
    assert_eq!(refused.headers[header::ACCEPT_ENCODING], "identity");
    assert_eq!(refused.kind(), "415 unsupported_media_type");
    assert!(refused.failure().2.contains("Content-Encoding"), "{}", refused.status);
}
