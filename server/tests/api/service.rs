use std::{pin::pin, time::Duration};

use axum::http::{Method, header};
use insta::assert_snapshot;
use serde_json::json;

use crate::test_app::{CONSOLE_TOKEN, TestApp, request};

#[tokio::test]
async fn a_running_service_is_healthy_and_ready() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(app.get(path).await.json(), json!({"status": "ok"}));
    }
}

// S-109
#[tokio::test]
async fn without_its_database_it_is_healthy_but_not_ready() {
    let app = TestApp::start().await;
    app.sandbox.database.close().await;
    assert_eq!(app.get("/healthz").await.status, 200);
    let answer = app.get("/readyz").await;
    assert_eq!(answer.kind(), "503 busy");
    assert_eq!(answer.headers[header::RETRY_AFTER], "1");
    app.sandbox.server.metrics.refresh(&app.sandbox.slices).await;
    assert!(app.metrics().await.contains("mkopo_database_up 0\n"));
}

/// So that a balancer sends payouts elsewhere, whatever the reason: a full disk, too, refuses every write.
#[tokio::test]
async fn a_server_whose_database_refuses_writes_is_not_ready_until_it_takes_them_again() {
    let app = TestApp::start().await;
    let ready = async || app.get("/readyz").await.status;
    let is_shown = async |line| app.metrics().await.contains(line);
    app.write("ALTER TABLE server_lease RENAME TO server_lease_away").await.unwrap();
    app.sandbox.server.lease.renew().await.unwrap_err();
    assert_eq!(ready().await, 503);
    assert!(is_shown("mkopo_database_writable 0\n").await);
    app.write("ALTER TABLE server_lease_away RENAME TO server_lease").await.unwrap();
    app.sandbox.server.lease.renew().await.unwrap();
    assert_eq!(ready().await, 200);
    assert!(is_shown("mkopo_database_writable 1\n").await);
}

#[tokio::test]
async fn a_call_that_a_shutdown_cuts_off_is_not_said_to_have_done_nothing() {
    let (app, agent) = TestApp::start_for("agent").await;
    let free = app.occupy_writer().await;
    let mut call = pin!(agent.post("/api/v1/auth/logout", None));
    app.run_until_it_waits(&mut call).await;
    let (answer, ()) = tokio::join!(call, app.sandbox.tasks.end(Duration::ZERO));
    assert_eq!(answer.kind(), "503 not_known");
    free.send(()).unwrap();
}

#[tokio::test]
async fn metrics_name_sandboxes_to_the_operator_only_and_say_their_charset() {
    let app = TestApp::start().await;
    let one = app.make_sandbox(json!({"name": "secret-plan"})).await;
    one.get("/readyz").await;
    let metrics = async |token: Option<&str>| {
        let answer = app.send(request(Method::GET, "/metrics", token, None)).await;
        assert_eq!(answer.headers[header::CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
        String::from_utf8(answer.bytes).unwrap()
    };
    for token in [None, Some("wrong"), Some(&*one.console_token)] {
        assert!(!metrics(token).await.contains("secret-plan"), "{token:?}");
    }
    assert!(metrics(Some(CONSOLE_TOKEN)).await.contains("sandbox=\"secret-plan\""));
}

#[tokio::test]
async fn calls_and_payouts_are_counted() {
    let (app, agent, loan) = TestApp::ready_to_pay().await;
    agent.disburse(&loan).await;
    agent.disburse(&loan).await;
    app.get("/api/v1/nothing/like/this").await;
    app.call(Method::from_bytes(b"BREW").unwrap(), "/healthz", None).await;
    app.sandbox.server.metrics.refresh(&app.sandbox.slices).await;
    let metrics = app.metrics().await;
    let mut counted: Vec<&str> = metrics
        .lines()
        .filter(|line| {
            !line.starts_with('#') && !line.contains("_seconds_bucket") && !line.contains("_seconds_sum")
        })
        // Of the whole process, or of what it does besides.
        .filter(|line| !["readers", "writes_waiting", "spans_dropped"].iter().any(|of| line.contains(of)))
        .collect();
    counted.sort_unstable();
    assert_snapshot!(counted.join("\n"), @r#"
    mkopo_answers_missing_total 0
    mkopo_data_copies_found_total 0
    mkopo_database_conflicts_total 0
    mkopo_database_up 1
    mkopo_database_writable 1
    mkopo_http_request_duration_seconds_count{method="GET",route="/api/v1/disbursements/pending",status="200"} 1
    mkopo_http_request_duration_seconds_count{method="GET",route="/slices.json",status="200"} 0
    mkopo_http_request_duration_seconds_count{method="GET",route="none",status="404"} 1
    mkopo_http_request_duration_seconds_count{method="POST",route="/api/v1/auth/login",status="200"} 1
    mkopo_http_request_duration_seconds_count{method="POST",route="/api/v1/disbursements/{loan_id}/disburse",status="200"} 1
    mkopo_http_request_duration_seconds_count{method="POST",route="/api/v1/disbursements/{loan_id}/disburse",status="409"} 1
    mkopo_http_request_duration_seconds_count{method="other",route="/healthz",status="405"} 1
    mkopo_log_lines_lost_total 0
    mkopo_outbox_messages{channel="sms"} 1
    mkopo_outbox_waiting 0
    mkopo_payouts_pending 2
    mkopo_payouts_settled_total{result_code="0",status="completed"} 1
    mkopo_sandbox_calls{sandbox="(others)"} 0
    mkopo_sandbox_calls{sandbox="main"} 7
    mkopo_sandboxes_open 0
    "#);
}

// S-117
#[tokio::test]
async fn the_contract_is_served_unchanged() {
    let app = TestApp::start().await;
    let served = app.get("/api/v1/openapi.json").await;
    let mut file: yaml_serde::Value =
        yaml_serde::from_str(include_str!("../../../contract/openapi.yaml")).unwrap();
    file.apply_merge().unwrap();
    assert_eq!(served.json(), serde_json::to_value(file).unwrap());
    assert!(
        !String::from_utf8_lossy(&served.bytes).contains("\"<<\""),
        "a map that is copied has a `<<` itself"
    );
    assert!(served.headers.contains_key(header::ETAG));
}

/// It has the portal's head, no script of its own, and only files that are there.
// S-89
#[tokio::test]
async fn the_reference_page_loads_nothing_from_other_hosts() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/docs").await.headers[header::LOCATION], "/docs/");
    let page = app.get("/docs/").await;
    let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(!policy.contains("unsafe-eval") && !policy.contains("http"), "{policy}");
    assert!(policy.contains("script-src 'self';"), "{policy}");
    let html = String::from_utf8(page.bytes).unwrap();
    assert!(html.contains("<strong>API reference</strong>") && !html.contains("<script>"), "{html}");
    let files: Vec<&str> = html.split("\"./").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(files.contains(&"index.css") && files.len() >= 4, "{files:?}");
    for file in files {
        let asset = app.get(&format!("/docs/{file}")).await;
        assert_eq!(asset.status, 200, "{file}");
        assert!(!asset.bytes.is_empty(), "{file}");
    }
    assert!(!html.contains("src=\"http") && !html.contains("href=\"http"), "{html}");
    let script = app.get("/docs/swagger-initializer.js").await;
    assert!(String::from_utf8(script.bytes).unwrap().contains("/api/v1/openapi.json"));
    assert_eq!(app.get("/docs/no-such-file").await.status, 404);
}

#[tokio::test]
async fn the_linked_sqlite_has_the_fix_for_lost_write_ahead_logs() {
    let app = TestApp::start_on_file().await;
    let mut reader = app.sandbox.database.read().await.unwrap();
    let version: String =
        store::query_scalar("SELECT sqlite_version()").fetch_one(&mut reader).await.unwrap();
    let parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
    assert!(
        parts.as_slice() >= [3, 51, 3].as_slice(),
        "{version} may corrupt a database when its log is reset"
    );
}
