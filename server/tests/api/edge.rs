use axum::{
    body::Body,
    http::{HeaderName, Method, Request, header},
};
use insta::assert_json_snapshot;
use serde_json::json;

use crate::test_app::{Listener, TestApp, request};

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
        answers.push(app.send(request).await.failure());
    }
    assert_json_snapshot!(answers, @r#"
    [
      [
        404,
        "not_found",
        "There is nothing at this path."
      ],
      [
        405,
        "method_not_allowed",
        "This path does not support this method."
      ],
      [
        415,
        "unsupported_media_type",
        "The body must be sent as application/json."
      ],
      [
        400,
        "malformed_json",
        "The body is not valid JSON: EOF while parsing an object at line 1 column 1."
      ],
      [
        422,
        "invalid_request",
        "The request body is invalid: missing field `email` at line 1 column 2."
      ],
      [
        422,
        "invalid_request",
        "The request body is invalid: it must be an object."
      ],
      [
        413,
        "body_too_large",
        "The body is larger than 64 KiB."
      ]
    ]
    "#);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read() {
    let app = TestApp::start().await;
    let call = r#"{"email":"nobody@mkopo.test","password":"wrong"}"#;
    let body = call.to_owned() + &" ".repeat(64 * 1024 - call.len());
    assert_eq!(body.len(), 64 * 1024);
    let (status, code, _) = app.send(login_with("application/json", body)).await.failure();
    assert_eq!((status, code.as_str()), (404, "user_not_found"));
}

// S-26, S-85
#[tokio::test]
async fn a_wrong_method_is_answered_with_the_allowed_ones() {
    let app = TestApp::start().await;
    let answer = app.call(Method::DELETE, "/api/v1/auth/login", None).await;
    assert_eq!(answer.headers[header::ALLOW], "POST");
}

#[tokio::test]
async fn a_caller_that_accepts_problem_json_gets_it() {
    let app = TestApp::start().await;
    let request = Request::get("/api/v1/auth/me")
        .header(header::ACCEPT, "application/problem+json, application/json;q=0.5")
        .body(Body::empty())
        .unwrap();
    let answer = app.send(request).await;
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/problem+json");
    assert_json_snapshot!(answer.body(), {".request_id" => "[id]"}, @r#"
    {
      "code": "no_session",
      "detail": "You are not signed in, or your session has ended.",
      "error": "You are not signed in, or your session has ended.",
      "message": "You are not signed in, or your session has ended.",
      "request_id": "[id]",
      "status": 401,
      "title": "Unauthorized",
      "type": "about:blank"
    }
    "#);
}

// S-107
#[tokio::test]
async fn the_failure_has_the_request_id_of_the_header() {
    let app = TestApp::start().await;
    let answer = app.call(Method::GET, "/api/v1/auth/me", None).await;
    assert_eq!(json!(answer.headers["x-request-id"].to_str().unwrap()), answer.body()["request_id"]);
}

// S-17, S-24, S-116
#[tokio::test]
async fn every_answer_has_security_headers() {
    const PORTAL: [(Method, &str, u16); 9] = [
        (Method::GET, "/api/v1/auth/me", 401),
        (Method::POST, "/api/v1/auth/login", 415),
        (Method::DELETE, "/api/v1/auth/login", 405),
        (Method::OPTIONS, "/api/v1/auth/login", 204),
        (Method::GET, "/api/v1/nothing", 404),
        (Method::GET, "/api/v1/openapi.json", 200),
        (Method::GET, "/docs/", 200),
        (Method::GET, "/slices.json", 200),
        (Method::GET, "/healthz", 200),
    ];
    const CONSOLE: [(Method, &str, u16); 6] = [
        (Method::GET, "/", 303),
        (Method::GET, "/console", 401),
        (Method::GET, "/console/assets/console.js", 200),
        (Method::GET, "/console/api/outbox", 401),
        (Method::GET, "/metrics", 200),
        (Method::GET, "/nothing", 404),
    ];
    let app = TestApp::start().await;
    for (listener, calls) in [(Listener::Portal, &PORTAL[..]), (Listener::Console, &CONSOLE[..])] {
        for (method, path, status) in calls {
            let call = request(method.clone(), path, None, None);
            let answer = app.send_to(listener, call).await;
            assert_eq!(answer.status, *status);
            let header = |name: HeaderName| {
                let value = answer.headers.get(&name);
                value.unwrap_or_else(|| panic!("no {name}: {}", answer.status)).to_str().unwrap()
            };
            assert_eq!(header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{}", answer.status);
            assert_eq!(header(header::REFERRER_POLICY), "same-origin", "{}", answer.status);
            let policy = header(header::CONTENT_SECURITY_POLICY);
            assert!(policy.contains("default-src"), "{policy}: {}", answer.status);
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}: {}", answer.status);
            if path.starts_with("/api/") || path.starts_with("/console/api/") {
                assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'", "{}", answer.status);
            }
        }
    }
}

/// A failure's media type to a caller with this `Accept`.
async fn media_type(app: &TestApp, accept: &str) -> String {
    let request = Request::get("/api/v1/auth/me").header(header::ACCEPT, accept).body(Body::empty()).unwrap();
    let answer = app.send(request).await;
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
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let got = agent.get("/api/v1/disbursements/pending").await;
    let head =
        app.send(request(Method::HEAD, "/api/v1/disbursements/pending", Some(&agent.token), None)).await;
    assert_eq!(head.status, 200);
    assert!(head.bytes.is_empty());
    assert_eq!(head.headers[header::ETAG], got.headers[header::ETAG]);
    assert_eq!(head.headers[header::CONTENT_LENGTH], got.sent.to_string());
}

#[tokio::test]
async fn options_lists_the_methods_of_a_path() {
    let app = TestApp::start().await;
    let answer = app.call(Method::OPTIONS, "/api/v1/auth/login", None).await;
    assert_eq!((answer.status.as_u16(), &answer.headers[header::ALLOW]), (204, &"POST".parse().unwrap()));
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
        let failed =
            Request::get("/api/v1/auth/me").header(header::ORIGIN, origin).body(Body::empty()).unwrap();
        let failed = app.send(failed).await;
        assert_eq!(
            failed.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN],
            origin,
            "a page can read the failure"
        );
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
    let plain = TestApp::start().await.call(Method::GET, "/healthz", None).await;
    assert!(!plain.headers.contains_key(&hsts));
    let behind_tls = TestApp::start_with(&["--behind-tls", "true"]).await;
    assert_eq!(
        behind_tls.call(Method::GET, "/healthz", None).await.headers[hsts],
        "max-age=31536000; includeSubDomains"
    );
}

#[tokio::test]
async fn a_body_that_never_arrives_times_out() {
    let app = TestApp::start().await;
    tokio::time::pause();
    let never = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let (status, code, _) = app.send(login_with("application/json", never)).await.failure();
    assert_eq!((status, code.as_str()), (408, "body_too_slow"));
}

// S-1, S-8, S-102, S-107
#[tokio::test]
async fn hostile_requests_are_refused_without_internal_details() {
    let app = TestApp::start().await;
    let agent = app.sign_in("agent").await;
    let deep = "[".repeat(50_000);
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
    for path in [
        "/%00",
        "/..%2f..%2fetc/passwd",
        "/slices/%00",
        "/docs/%00",
        "/docs/%ff",
        "/api/v1/%ff",
        "//",
        "/api/v1//",
    ] {
        requests.push(Request::get(path).body(Body::empty()));
    }
    for request in requests {
        let mut request = request.unwrap();
        let token = format!("Bearer {}", agent.token).parse().unwrap();
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
    assert!(allowed.contains("traceparent"), "{allowed}");
}

#[tokio::test]
async fn a_body_is_read_with_a_byte_order_mark_and_refused_when_it_is_compressed() {
    let app = TestApp::start().await;
    let body = r#"{"email":"agent@mkopo.test","password":"Mkopo-demo-1"}"#;
    let login = |body: Vec<u8>| {
        Request::post("/api/v1/auth/login")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .unwrap()
    };
    let marked = app.send(login([b"\xef\xbb\xbf", body.as_bytes()].concat())).await;
    assert_eq!(marked.status, 200);
    let mut compressed = login(vec![0x1f, 0x8b, 8, 0]);
    compressed.headers_mut().insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
    let refused = app.send(compressed).await;
    assert_eq!(refused.headers[header::ACCEPT_ENCODING], "identity");
    let (status, code, text) = refused.failure();
    assert_eq!((status, code.as_str()), (415, "unsupported_media_type"), "{text}");
    assert!(text.contains("Content-Encoding"), "{text}");
}
