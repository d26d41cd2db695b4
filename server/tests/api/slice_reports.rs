//! Reports of pages on slices, and the data that is kept of them.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, Method, Request, header},
};
use serde_json::{Value, json};
use slices::watch;
use store::query_as;
use worlds::retention;

use crate::{
    slices::{build, publish, started},
    test_app::{Answer, TestApp, request, sent_from},
};

/// A call of a page, from a network address and the page's own origin.
pub fn of_page(address: &str, path: &str, body: &Value) -> Request<Body> {
    let mut call = request(Method::POST, path, None, body.clone());
    call.headers_mut().insert(header::HOST, HeaderValue::from_static("portal"));
    call.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("http://portal"));
    sent_from(address, call)
}

/// A report on slices.
pub fn call(address: &str, body: &Value) -> Request<Body> {
    of_page(address, "/slice-reports", body)
}

/// Sends `reports`, as the pages at `address` do.
pub async fn report(app: &TestApp, address: &str, session: Option<&str>, reports: &[Value]) -> Answer {
    app.send(call(address, &json!({"session": session, "reports": reports}))).await
}

pub fn loaded(version: &str) -> Value {
    json!({"slice": "mfe-loans", "version": version, "outcome": "loaded", "ms": 400})
}

pub fn not_loaded(version: &str) -> Value {
    json!({"slice": "mfe-loans", "version": version, "outcome": "not_loaded", "reason": "network"})
}

pub fn crashed(version: &str) -> Value {
    json!({"slice": "mfe-loans", "version": version, "outcome": "crashed"})
}

type Kept = (String, i64, String, String, i64);

/// All that is kept: version, minute, outcome, detail and times.
async fn kept(app: &TestApp) -> Vec<Kept> {
    let mut reader = app.sandbox.database.read().await.unwrap();
    query_as(
        "SELECT version, minute, outcome, detail, times FROM slice_report ORDER BY minute, outcome, detail",
    )
    .fetch_all(&mut reader)
    .await
    .unwrap()
}

#[tokio::test]
async fn reports_are_counted_by_build_and_minute_and_kept_for_7_days() {
    let (app, _portal) = started().await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    let crashed = json!({"slice": "mfe-loans", "version": "0.2.0", "outcome": "crashed", "route": "/loans"});
    let failed = json!({"slice": "mfe-loans", "version": "0.2.0", "outcome": "call_failed", "status": 503, "times": 4});
    for address in ["192.0.2.1", "192.0.2.2"] {
        let reports = [loaded("0.2.0"), not_loaded("0.2.0"), crashed.clone(), failed.clone()];
        assert_eq!(report(&app, address, None, &reports).await.status, 204);
    }
    assert!(kept(&app).await.is_empty(), "they are written together, later");
    watch::look(&app.sandbox.slices).await.unwrap();
    app.clock.advance(Duration::from_mins(1));
    report(&app, "192.0.2.1", None, &[loaded("0.2.0")]).await;
    watch::look(&app.sandbox.slices).await.unwrap();
    let minute = app.clock.now().0 - app.clock.now().0 % 60_000;
    let row = |minute, outcome: &str, detail: &str, times| {
        ("0.2.0".to_owned(), minute, outcome.to_owned(), detail.to_owned(), times)
    };
    assert_eq!(
        kept(&app).await,
        [
            row(minute - 60_000, "call_failed", "503", 8),
            row(minute - 60_000, "crashed", "/loans", 2),
            row(minute - 60_000, "loaded", "431", 2),
            row(minute - 60_000, "not_loaded", "network", 2),
            row(minute, "loaded", "431", 1),
        ]
    );
    let metrics = app.metrics().await;
    for line in [
        r#"mkopo_slice_loads_total{outcome="loaded",slice="mfe-loans",version="0.2.0"} 3"#,
        r#"mkopo_slice_loads_total{outcome="crashed",slice="mfe-loans",version="0.2.0"} 2"#,
        r#"mkopo_slice_load_duration_seconds_count{slice="mfe-loans",version="0.2.0"} 3"#,
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    app.clock.advance(Duration::from_hours(7 * 24));
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert!(kept(&app).await.is_empty());
}

/// An alert on nobody loading slices needs a series before anybody has.
#[tokio::test]
async fn the_counts_of_live_builds_begin_at_0() {
    let (app, _portal) = started().await;
    app.sandbox.server.metrics.refresh(&app.sandbox.slices).await;
    let metrics = app.metrics().await;
    let line = r#"mkopo_slice_loads_total{outcome="loaded",slice="mfe-loans",version="0.1.0"} 0"#;
    assert!(metrics.contains(line), "{metrics}");
    // Those of docs/deploy.md, with the labels that they ask for.
    let alerts = include_str!("../../../docs/deploy.md").split_once("- name: mkopo-slices").unwrap().1;
    let alerts = alerts.split_once("```").unwrap().0;
    let mut read = 0;
    for asked in alerts.split("rate(").skip(1) {
        let (series, _) = asked.split_once('[').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let label = labels.strip_suffix('}').filter(|labels| labels.contains("=\"")).unwrap_or_default();
        let has = |line: &str| {
            line.starts_with(&format!("{name}{{")) && line.contains(label) && line.ends_with(" 0")
        };
        assert!(metrics.lines().any(has), "{series} has no series at 0");
        read += 1;
    }
    assert_eq!(read, 5);
}

/// A page that a browser keeps for a year would be the portal of a year ago.
// S-28, S-84
#[tokio::test]
async fn a_folder_is_neither_a_page_nor_redirected_to() {
    let (app, portal) = started().await;
    std::fs::create_dir(portal.path().join("assets")).unwrap();
    for path in [
        "/slices",
        "/slices/",
        "/slices/mfe-loans",
        "//slices/mfe-loans",
        "/slices/mfe-loans/",
        "/assets",
        "//assets",
        "/assets/",
    ] {
        let answer = app.get(path).await;
        assert!(!answer.headers["cache-control"].to_str().unwrap().contains("max-age"), "{path}");
        assert_eq!(answer.status, 404, "{path}");
    }
}

/// Three addresses wrote 2.6 million rows a day.
#[tokio::test]
async fn reports_take_100_rows_a_minute_and_the_rest_is_counted() {
    let (app, _portal) = started().await;
    let failed = |status: u32| json!({"slice": "mfe-loans", "version": "0.1.0", "outcome": "call_failed", "status": status});
    for status in 400..600 {
        let address = format!("192.0.2.{}", status % 100);
        assert_eq!(report(&app, &address, None, &[failed(status)]).await.status, 204);
    }
    watch::look(&app.sandbox.slices).await.unwrap();
    report(&app, "192.0.2.1", None, &[loaded("0.1.0")]).await;
    watch::look(&app.sandbox.slices).await.unwrap();
    let rows = kept(&app).await;
    assert_eq!((rows.len(), rows.iter().map(|row| row.4).sum::<i64>()), (102, 201));
}

#[tokio::test]
async fn builds_and_screens_that_do_not_exist_are_ignored() {
    let (app, _portal) = started().await;
    let nowhere =
        json!({"slice": "mfe-loans", "version": "0.1.0", "outcome": "crashed", "route": "/wanjiru"});
    let nobody = json!({"slice": "mfe-nobody", "version": "0.1.0", "outcome": "loaded", "ms": 1});
    for unknown in [nowhere, nobody, loaded("0.9.0")] {
        assert_eq!(report(&app, "192.0.2.1", None, &[unknown]).await.status, 204);
    }
    report(&app, "192.0.2.1", None, &[loaded("0.1.0")]).await;
    watch::look(&app.sandbox.slices).await.unwrap();
    assert_eq!(kept(&app).await.len(), 1);
}

#[tokio::test]
async fn a_report_is_refused_if_it_is_not_a_pages_too_large_too_often_or_makes_no_sense() {
    let (app, _portal) = started().await;
    for (header, value) in [
        (header::ORIGIN, Some("https://other.example.com")),
        (header::ORIGIN, None),
        (header::HeaderName::from_static("sec-fetch-site"), Some("cross-site")),
    ] {
        let mut request = call("192.0.2.1", &json!({"reports": [loaded("0.1.0")]}));
        request.headers_mut().remove(&header);
        if let Some(value) = value {
            request.headers_mut().insert(header, value.parse().unwrap());
        }
        assert_eq!(app.send(request).await.failure().1, "cross_site");
    }
    let long: Vec<Value> = (0..20)
        .map(|_| {
            let mut report = loaded("0.1.0");
            report["route"] = json!(format!("/{}", "x".repeat(400)));
            report
        })
        .collect();
    assert_eq!(report(&app, "192.0.2.1", None, &long).await.failure().2, "The body is larger than 8 KiB.");
    for wrong in [
        json!({"reports": []}),
        json!({"reports": [{"slice": "mfe-loans", "version": "0.1.0", "outcome": "loaded"}]}),
        json!({"reports": [{"slice": "mfe-loans", "version": "x", "outcome": "crashed"}]}),
        json!({"reports": [{"slice": "mfe-loans", "version": "0.1.0", "outcome": "loaded", "ms": 1, "times": 2}]}),
        json!({"reports": [{"slice": "mfe-loans", "version": "0.1.0", "outcome": "call_failed", "status": 500, "route": "/"}]}),
        json!({"reports": [{"slice": "mfe-loans", "version": "0.1.0", "outcome": "call_failed", "status": 200}]}),
        json!({"reports": [{"slice": "mfe-loans", "version": "0.1.0", "outcome": "call_failed", "status": 65535}]}),
        json!({"reports": [loaded("0.1.0")], "email": "agent@mkopo.test"}),
    ] {
        assert_eq!(app.send(call("192.0.2.1", &wrong)).await.failure().1, "invalid_request", "{wrong}");
    }
    for _ in 0..60 {
        assert_eq!(report(&app, "192.0.2.7", None, &[loaded("0.1.0")]).await.status, 204);
    }
    let status = async |address: &str| report(&app, address, None, &[loaded("0.1.0")]).await.status;
    assert_eq!(status("192.0.2.7").await, 429);
    assert_eq!(status("192.0.2.8").await, 204);
    app.clock.advance(Duration::from_mins(1));
    assert_eq!(status("192.0.2.7").await, 204);
}
