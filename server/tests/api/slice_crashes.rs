//! Where builds crashed: what pages report of it, what is kept, and who sees it.

use std::time::{Duration, Instant};

use axum::{
    body::Body,
    http::{Method, Request, header},
};
use serde_json::{Value, json};
use store::query_as;
use tempfile::TempDir;
use worlds::retention;

use crate::{
    browser::{Browser, html, words},
    rolled_back::{last, look, people},
    slice_reports::{crashed, loaded, report},
    slices::{Files, activate, build_with, portal, publish, start, started},
    test_app::TestApp,
};

/// A file that mfe-kit built of two sources; the minifier moved the code of the one into the other.
const CODE: &str = r#""use strict";(globalThis.webpackChunkmfe_crashing||=[]).push([[544],{280(t,e,n){n.r(e),n.d(e,{default:()=>a});var r=n(326);function a(){let t=[{}].map(t=>(function({customer:t}){return t.first_name.toUpperCase()})(t));return(0,r.FD)("p",{children:["Pay out to ",t.join(", ")]})}}}]);"#;

/// Its source map, without the content of the sources.
const MAP: &str = r#"{"version":3,"file":"loans.a93dba8de8.js","mappings":"2HAGe,SAASA,IACtB,IAAMC,EAAQ,CAAC,CAAC,EAAE,CAACC,GAAG,CAAC,GAAUC,CCC5B,SAAmB,CAAEC,SAAAA,CAAQ,CAAQ,EAC1C,OAAOA,EAAUC,UAAU,CAACC,WAAW,EACzC,GDH6CC,IAE3C,MAAO,GAAAC,EAAAC,EAAA,EAACC,IAAAA,WAAE,cAAYT,EAAMU,IAAI,CAAC,QACnC","sources":["webpack://mfe-crashing/./src/payout/DisburseDialog.tsx","webpack://mfe-crashing/./src/payout/names.ts"],"names":["DisburseDialog","names","map","firstName","customer","first_name","toUpperCase","loan","react_jsx_runtime_production","FD","p","join"],"sourceRoot":""}"#;

/// The columns at which it throws, as Chrome says: in `firstName`, which is called in `map`, which is called in
/// `DisburseDialog`.
const STACK: [u32; 3] = [188, 214, 148];

/// mfe-loans, with that file.
fn with_map(version: &str, map: &[u8]) -> Files {
    let mut files = build_with("mfe-loans", version, "loans.js", CODE.into());
    files.insert("loans.js.map".to_owned(), map.to_vec());
    files
}

fn at(column: u32) -> Value {
    json!({"file": "loans.js", "line": 1, "column": column})
}

/// A crash of that version at such places.
fn crash(version: &str, places: &[Value]) -> Value {
    let mut report = crashed(version);
    report["error"] = json!("TypeError");
    report["places"] = json!(places);
    report
}

/// A service with the bundled portal, the portal's folder, and the sessions of `count` people.
async fn started_for(count: usize) -> (TestApp, TempDir, Vec<String>) {
    let (app, portal) = started().await;
    let people = people(&app, count).await;
    (app, portal, people)
}

type Kept = (String, String, String, i64, i64);

/// All that is kept: version, error, place, times and people.
async fn kept(app: &TestApp) -> Vec<Kept> {
    let mut reader = app.sandbox.database.read().await.unwrap();
    query_as(
        "SELECT version, error, place, CAST(sum(times) AS BIGINT), count(*) FROM slice_crash
         GROUP BY version, error, place ORDER BY version, error, place",
    )
    .fetch_all(&mut reader)
    .await
    .unwrap()
}

fn row(version: &str, place: &str, times: i64, people: i64) -> Kept {
    (version.to_owned(), "TypeError".to_owned(), place.to_owned(), times, people)
}

/// The count of crash data dropped for that reason.
async fn dropped(app: &TestApp, reason: &str) -> Option<u64> {
    let metrics = app.metrics().await;
    let name = format!("mkopo_slice_crash_data_dropped_total{{reason=\"{reason}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok())
}

#[tokio::test]
async fn a_crash_is_shown_at_its_place_in_the_sources_with_how_often_for_how_many_and_when_last() {
    let (app, _portal, people) = started_for(3).await;
    assert_eq!(publish(&app, &with_map("0.2.0", MAP.as_bytes())).await.status, 201);
    for token in [&people[0], &people[0], &people[1]] {
        let answer = report(&app, "192.0.2.1", Some(token), &[crash("0.2.0", &STACK.map(at))]).await;
        assert_eq!(answer.status, 204);
    }
    look(&app).await;
    app.clock.advance(Duration::from_mins(3));
    report(&app, "192.0.2.1", Some(&people[2]), &[crash("0.2.0", &[at(148)])]).await;
    look(&app).await;
    let expected =
        [row("0.2.0", "src/payout/DisburseDialog.tsx:5", 1, 1), row("0.2.0", "src/payout/names.ts:7", 3, 2)];
    assert_eq!(kept(&app).await, expected);
    let page = Browser::sign_in(&app).await.get("/console/slices").await;
    let words = words(&page);
    let shown = "Crashed in Error Place Crashes People Last seen 0.2.0 TypeError src/payout/names.ts:7 3 2";
    assert!(words.contains(shown), "{words}");
    assert!(words.contains("0.2.0 TypeError src/payout/DisburseDialog.tsx:5 1 1"), "{words}");
    assert!(html(&page).contains("<code>src/payout/names.ts:7</code>"));
}

#[tokio::test]
async fn the_crashes_of_builds_that_browsers_get_are_shown_first() {
    let (app, _portal, people) = started_for(1).await;
    for version in ["0.2.0", "0.3.0"] {
        publish(&app, &with_map(version, MAP.as_bytes())).await;
        report(&app, "192.0.2.1", Some(&people[0]), &[crash(version, &STACK.map(at))]).await;
    }
    look(&app).await;
    activate(&app, "mfe-loans", "0.2.0").await;
    let words = Browser::sign_in(&app).await.read("/console/slices").await;
    let (live, other) = ("0.2.0 TypeError src/payout/names.ts:7", "0.3.0 TypeError src/payout/names.ts:7");
    assert!(words.find(live).unwrap() < words.find(other).unwrap(), "{words}");
}

#[tokio::test]
async fn the_reason_for_taking_a_build_back_ends_with_the_place_that_most_people_saw_crash() {
    let (app, _portal, people) = started_for(5).await;
    publish(&app, &with_map("0.2.0", MAP.as_bytes())).await;
    for _ in 0..9 {
        report(&app, "192.0.2.1", Some(&people[4]), &[crash("0.2.0", &[at(148)])]).await;
    }
    for token in &people[..4] {
        report(&app, "192.0.2.2", Some(token), &[loaded("0.2.0"), crash("0.2.0", &STACK.map(at))]).await;
    }
    look(&app).await;
    let sentence = "rolled back: 5 people saw it fail, in 5 of 5 pages, none before; most often TypeError at \
                    src/payout/names.ts:7";
    assert_eq!(last(&app).await[2], sentence);
    let words = Browser::sign_in(&app).await.read("/console/slices").await;
    for shown in [sentence, "0.2.0 TypeError src/payout/names.ts:7 4 4"] {
        assert!(words.contains(shown), "what was taken back is still of interest: {shown}: {words}");
    }
}

/// The build that comes with the portal has its maps in a folder.
#[tokio::test]
async fn crashes_of_the_bundled_build_are_found_with_the_maps_in_its_folder() {
    let portal = portal();
    let folder = portal.path().join("slices/mfe-loans/0.1.0");
    std::fs::write(folder.join("loans.js"), CODE).unwrap();
    std::fs::write(folder.join("loans.js.map"), MAP).unwrap();
    let app = start(&portal).await;
    let people = people(&app, 1).await;
    let places = [json!({"file": "other.js", "line": 1, "column": 1}), at(188)];
    report(&app, "192.0.2.1", Some(&people[0]), &[crash("0.1.0", &places)]).await;
    look(&app).await;
    assert_eq!(kept(&app).await, [row("0.1.0", "src/payout/names.ts:7", 1, 1)]);
    assert_eq!(dropped(&app, "unknown_file").await, Some(1));
}

#[tokio::test]
async fn a_source_map_is_stored_and_never_served() {
    let portal = portal();
    std::fs::create_dir_all(portal.path().join("assets")).unwrap();
    for path in ["slices/mfe-loans/0.1.0/slice.js.map", "assets/shell.js.map", "assets/shell.js.map.br"] {
        std::fs::write(portal.path().join(path), MAP).unwrap();
    }
    let app = start(&portal).await;
    publish(&app, &with_map("0.2.0", MAP.as_bytes())).await;
    let stored = "SELECT count(*) FROM slice_file WHERE version = '0.2.0' AND path = 'loans.js.map'";
    assert_eq!(app.count(stored).await, 1);
    let unknown = app.get("/slices/mfe-loans/0.2.0/nothing.js.map").await;
    for path in [
        "/slices/mfe-loans/0.2.0/loans.js.map",
        "/slices/mfe-loans/0.2.0/loans.js%2Emap",
        "/slices/mfe-loans/0.2.0/loans.js.ma%70",
        "/slices/mfe-loans/0.2.0/loans.js.map?v=1",
        "/slices/mfe-loans/0.2.0/loans.js.map/",
        "/slices/mfe-loans/0.1.0/slice.js.map",
        "/slices/mfe-loans/0.1.0/slice.js%2emap",
        "/slices/mfe-loans/0.1.0/../0.1.0/slice.js.map",
        "/assets/shell.js.map",
        "/assets/shell.js.map.br",
        "/assets/%73hell.js.map",
        "//assets/shell.js.map",
    ] {
        for method in [Method::GET, Method::HEAD] {
            let request =
                Request::builder().method(&method).uri(path).header(header::ACCEPT_ENCODING, "br, gzip");
            let answer = app.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, 404, "{method} {path}");
            assert!(!String::from_utf8_lossy(&answer.bytes).contains("mappings"), "{path}");
            if method == Method::GET && path.starts_with("/slices") {
                assert_eq!(answer.headers[header::CONTENT_TYPE], unknown.headers[header::CONTENT_TYPE]);
                assert_eq!(answer.headers[header::CACHE_CONTROL], unknown.headers[header::CACHE_CONTROL]);
            }
        }
    }
    assert_eq!(app.get("/slices/mfe-loans/0.2.0/loans.js").await.bytes, CODE.as_bytes());
}

#[tokio::test]
async fn a_map_of_50_mb_is_left_out_and_the_build_is_published() {
    let (app, _portal, people) = started_for(1).await;
    let large =
        format!("{}{}", &MAP[..MAP.len() - 1], format_args!(",\"x\":\"{}\"}}", "x".repeat(50_000_000)));
    let files = with_map("0.2.0", large.as_bytes());
    assert_eq!(publish(&app, &files).await.status, 201);
    assert_eq!(dropped(&app, "map_too_large").await, Some(1));
    assert_eq!(publish(&app, &files).await.status, 200, "the same build again");
    let without: Files = files.into_iter().filter(|(path, _)| path != "loans.js.map").collect();
    assert_eq!(publish(&app, &without).await.status, 200, "it is the build without the map");

    report(&app, "192.0.2.1", Some(&people[0]), &[crash("0.2.0", &STACK.map(at))]).await;
    look(&app).await;
    let built = [row("0.2.0", "loans.js:1:188", 1, 1)];
    assert_eq!(kept(&app).await, built, "the place in the built file is left");
}

#[tokio::test]
async fn maps_do_not_count_towards_the_size_of_a_build() {
    let (app, _portal) = started().await;
    let mut files = build_with("mfe-loans", "0.2.0", "large.js", vec![b' '; 15 * 1024 * 1024]);
    for n in 0..3 {
        files.insert(format!("screen{n}.js.map"), vec![b' '; 3 * 1024 * 1024]);
    }
    assert_eq!(publish(&app, &files).await.status, 201);
    assert_eq!(dropped(&app, "map_too_large").await, Some(1), "the third is beyond 8 MiB");
    let too_large = build_with("mfe-loans", "0.3.0", "large.js", vec![b' '; 17 * 1024 * 1024]);
    assert_eq!(publish(&app, &too_large).await.failure().1, "build_too_large");
}

#[tokio::test]
async fn what_is_no_source_map_is_not_used_and_neither_publishing_nor_reporting_fails() {
    let (app, _portal, people) = started_for(1).await;
    let sources = r#""sources": ["a.ts"], "names": []"#;
    let many = format!(r#"{{"version": 3, {sources}, "mappings": "{}"}}"#, "A,".repeat(2_000_000));
    let maps = ["not JSON", &many];
    for (n, map) in maps.iter().enumerate() {
        let version = format!("0.2.{n}");
        assert_eq!(publish(&app, &with_map(&version, map.as_bytes())).await.status, 201, "{version}");
        let answer = report(&app, "192.0.2.1", Some(&people[0]), &[crash(&version, &[at(188)])]).await;
        assert_eq!(answer.status, 204, "{version}");
    }
    let began = Instant::now();
    look(&app).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let kept = kept(&app).await;
    let built: Vec<Kept> =
        (0..maps.len()).map(|n| row(&format!("0.2.{n}"), "loans.js:1:188", 1, 1)).collect();
    assert_eq!(kept, built);
    let (unreadable, large) = (dropped(&app, "map_unreadable").await, dropped(&app, "map_too_large").await);
    assert_eq!((unreadable, large), (Some(1), Some(1)));
}

#[tokio::test]
async fn nothing_is_kept_of_crashes_without_a_live_session() {
    let (app, _portal, people) = started_for(1).await;
    publish(&app, &with_map("0.2.0", MAP.as_bytes())).await;
    app.with(&people[0]).post("/api/v1/auth/logout", None).await;
    for session in [None, Some("eyJ.forged.token"), Some(people[0].as_str())] {
        assert_eq!(report(&app, "192.0.2.1", session, &[crash("0.2.0", &STACK.map(at))]).await.status, 204);
    }
    look(&app).await;
    assert!(kept(&app).await.is_empty());
    assert_eq!(dropped(&app, "no_session").await, Some(6), "the places of the first two");
}

#[tokio::test]
async fn places_of_builds_and_files_that_do_not_exist_are_ignored() {
    let (app, _portal, people) = started_for(1).await;
    publish(&app, &with_map("0.2.0", MAP.as_bytes())).await;
    let elsewhere = json!({"file": "wanjiru.js", "line": 1, "column": 1});
    let nobody = json!({
        "slice": "mfe-nobody", "version": "0.2.0", "outcome": "crashed", "error": "TypeError", "places": [at(188)],
    });
    let reports = [
        crash("0.2.0", &[elsewhere.clone(), elsewhere.clone()]),
        crash("0.2.0", &[elsewhere, at(188)]),
        crash("0.9.0", &[at(188)]),
        nobody,
        crashed("0.2.0"),
    ];
    assert_eq!(report(&app, "192.0.2.1", Some(&people[0]), &reports).await.status, 204);
    look(&app).await;
    assert_eq!(kept(&app).await, [row("0.2.0", "src/payout/names.ts:7", 1, 1)]);
    assert_eq!(dropped(&app, "unknown_file").await, Some(5));
}

#[tokio::test]
async fn of_51_places_of_a_build_50_are_kept_and_the_rest_is_counted() {
    let (app, _portal, people) = started_for(7).await;
    // Without a map, each position is a place of its own.
    publish(&app, &build_with("mfe-loans", "0.2.0", "loans.js", CODE.into())).await;
    publish(&app, &build_with("mfe-loans", "0.3.0", "loans.js", CODE.into())).await;
    let reports: Vec<Value> = (1..=51).map(|column| crash("0.2.0", &[at(column)])).collect();
    for (reports, person) in reports.chunks(10).zip(&people) {
        report(&app, "192.0.2.1", Some(person), reports).await;
        look(&app).await;
    }
    assert_eq!(kept(&app).await.len(), 50);
    assert_eq!(dropped(&app, "too_many_places").await, Some(1));
    let more = [crash("0.2.0", &[at(1)]), crash("0.2.0", &[at(99)]), crash("0.3.0", &[at(99)])];
    report(&app, "192.0.2.1", Some(&people[6]), &more).await;
    look(&app).await;
    let kept = kept(&app).await;
    assert_eq!(kept.len(), 51);
    let known = row("0.2.0", "loans.js:1:1", 2, 2);
    assert!(kept.contains(&known), "a known place goes on being counted: {kept:?}");
    assert!(kept.contains(&row("0.3.0", "loans.js:1:99", 1, 1)), "another build has its own: {kept:?}");
    assert_eq!(dropped(&app, "too_many_places").await, Some(2));
}

#[tokio::test]
async fn one_person_finds_at_most_10_places_of_a_build_so_that_others_find_theirs() {
    let (app, _portal, people) = started_for(2).await;
    publish(&app, &build_with("mfe-loans", "0.2.0", "loans.js", CODE.into())).await;
    let reports: Vec<Value> = (1..=60).map(|column| crash("0.2.0", &[at(column)])).collect();
    for reports in reports.chunks(20) {
        report(&app, "192.0.2.1", Some(&people[0]), reports).await;
        look(&app).await;
    }
    assert_eq!(kept(&app).await.len(), 10);
    assert_eq!(dropped(&app, "too_many_places").await, Some(50));
    let real = [crash("0.2.0", &[at(188)]), crash("0.2.0", &[at(1)])];
    report(&app, "192.0.2.1", Some(&people[1]), &real).await;
    // Where somebody else crashed, too, is no place of their own.
    report(&app, "192.0.2.1", Some(&people[0]), &[crash("0.2.0", &[at(1)])]).await;
    look(&app).await;
    let kept = kept(&app).await;
    assert!(kept.contains(&row("0.2.0", "loans.js:1:188", 1, 1)), "{kept:?}");
    assert!(kept.contains(&row("0.2.0", "loans.js:1:1", 3, 2)), "{kept:?}");
}

#[tokio::test]
async fn a_crash_whose_error_or_places_are_not_of_the_form_is_refused() {
    let (app, _portal) = started().await;
    let file = |file: &str| json!([{"file": file, "line": 1, "column": 1}]);
    let mut refused = Vec::new();
    for hostile in [
        "../mfe-loans/0.1.0/slice.js",
        "/etc/passwd",
        "a/../../b.js",
        "a//b.js",
        "..\\b.js",
        ".hidden.js",
        "loans.js\n",
        "<script>.js",
        "café.js",
        "loans.js?x",
        "",
    ] {
        refused.push(("places", file(hostile)));
    }
    refused.push(("places", file(&"x".repeat(201))));
    refused.push(("places", json!([])));
    refused.push(("places", json!(vec![at(1); 21])));
    refused.push(("places", json!([{"file": "loans.js", "line": 0, "column": 1}])));
    refused.push(("places", json!([{"file": "loans.js", "line": 1, "column": 0}])));
    refused.push(("places", json!([{"file": "loans.js", "line": 1, "column": 4_294_967_296_i64}])));
    refused.push(("places", json!([{"file": "loans.js", "line": 1, "column": 1, "message": "Wanjiru"}])));
    for name in ["", "typeError", "Type Error", "<b>", "Wanjiru@example.com", &"X".repeat(65)] {
        refused.push(("error", json!(name)));
    }
    for (field, value) in &refused {
        let mut crash = crash("0.1.0", &[at(1)]);
        crash[field] = value.clone();
        let answer = report(&app, "192.0.2.1", None, &[crash]).await;
        assert_eq!(answer.failure().1, "invalid_request", "{field} {value}");
    }
    for (field, value) in [("error", json!("TypeError")), ("places", json!([at(1)]))] {
        let mut other = loaded("0.1.0");
        other[field] = value;
        assert_eq!(report(&app, "192.0.2.1", None, &[other]).await.failure().1, "invalid_request", "{field}");
    }
}

#[tokio::test]
async fn the_places_of_crashes_are_kept_for_7_days_after_the_last_one() {
    let (app, _portal, people) = started_for(2).await;
    publish(&app, &with_map("0.2.0", MAP.as_bytes())).await;
    for (token, column) in people.iter().zip([188, 148]) {
        report(&app, "192.0.2.1", Some(token), &[crash("0.2.0", &[at(column)])]).await;
        look(&app).await;
        app.clock.advance(Duration::from_hours(1));
    }
    app.clock.advance(Duration::from_hours(7 * 24 - 2));
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert_eq!(kept(&app).await, [row("0.2.0", "src/payout/DisburseDialog.tsx:5", 1, 1)]);
    app.clock.advance(Duration::from_hours(1));
    retention::delete_old(&app.sandbox.slices).await.unwrap();
    assert!(kept(&app).await.is_empty());
}

/// Names from a source map are text for the page.
#[tokio::test]
async fn a_hostile_name_of_a_source_is_shown_as_text_or_not_at_all() {
    let (app, _portal, people) = started_for(1).await;
    for (version, source) in
        [("0.2.0", "./src/<script>alert(1)</script>.tsx"), ("0.3.0", "./src/\\u202egnp.tsx")]
    {
        let map = MAP.replace("./src/payout/names.ts", source);
        publish(&app, &with_map(version, map.as_bytes())).await;
        report(&app, "192.0.2.1", Some(&people[0]), &[crash(version, &STACK.map(at))]).await;
    }
    look(&app).await;
    let page = Browser::sign_in(&app).await.get("/console/slices").await;
    assert!(!html(&page).contains("<script>alert"), "it would run");
    assert!(html(&page).contains("src/&lt;script&gt;alert(1)&lt;/script&gt;.tsx:7"), "{}", html(&page));
    assert!(
        words(&page).contains("0.3.0 TypeError src/payout/DisburseDialog.tsx:5"),
        "the next call is shown"
    );
}
