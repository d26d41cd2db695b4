//! Deploying slices: what is published, live or refused, and what browsers receive.

use std::{collections::BTreeMap, path::Path, process::Output};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, header},
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use slices::archive;
use tempfile::TempDir;

use crate::{
    command_line::{self, error_line},
    test_app::{Answer, CONSOLE_TOKEN, TestApp, column},
};

/// A build, as a folder's files.
pub type Files = BTreeMap<String, Vec<u8>>;

pub fn manifest(name: &str, version: &str) -> Value {
    let container = name.replace('-', "_");
    json!({
        "id": container,
        "name": container,
        "metaData": {
            "name": container,
            "buildInfo": {"buildVersion": version, "buildName": name},
            "remoteEntry": {"name": "remoteEntry.js", "path": "", "type": "global"},
            "globalName": container,
            "publicPath": "auto",
        },
        "shared": [
            {"name": "react", "requiredVersion": "^19.0.0"},
            {"name": "mfe-kit", "requiredVersion": "^0.1.0"},
        ],
        "remotes": [],
        "exposes": [{
            "path": "./slice",
            "assets": {"js": {"sync": ["slice.js"], "async": ["screen.js"]}, "css": {"sync": [], "async": []}},
        }],
        "brings": {
            "screens": [{"path": format!("/{}", name.trim_start_matches("mfe-")), "title": "A screen"}],
            "menu": [],
            "failures": {},
        },
    })
}

/// A build whose manifest is `manifest`.
pub fn build_of(manifest: &Value) -> Files {
    let container = manifest["name"].as_str().unwrap_or_default();
    let entry = format!("var {container};");
    let files = [
        ("mf-manifest.json", manifest.to_string()),
        ("remoteEntry.js", entry),
        ("slice.js", format!("/* {} */", "slice ".repeat(500))),
        ("screen.js", "screen".to_owned()),
        ("screen.js.map", "{}".to_owned()),
    ]
    .into_iter()
    .map(|(path, content)| (path.to_owned(), content.into_bytes()))
    .collect();
    sealed(files)
}

/// The build, with the integrity of its files in its manifest, as the slice's own build writes it.
fn sealed(mut files: Files) -> Files {
    let is_loaded = |path: &str| Path::new(path).extension().is_some_and(|end| end == "js" || end == "css");
    let loaded = files.iter().filter(|(path, _)| is_loaded(path));
    let integrity: BTreeMap<String, String> =
        loaded.map(|(path, content)| (path.clone(), integrity_of(content))).collect();
    let mut manifest: Value = serde_json::from_slice(&files["mf-manifest.json"]).unwrap();
    manifest["integrity"] = json!(integrity);
    files.insert("mf-manifest.json".to_owned(), manifest.to_string().into_bytes());
    files
}

pub fn build(name: &str, version: &str) -> Files {
    build_of(&manifest(name, version))
}

/// A build with this file.
pub fn build_with(name: &str, version: &str, path: &str, content: Vec<u8>) -> Files {
    let mut files = build(name, version);
    files.insert(path.to_owned(), content);
    sealed(files)
}

/// A portal as `make` builds it, with mfe-loans 0.1.0.
pub fn portal() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "0.1.0", "0.1.0");
    folder
}

/// Replaces the portal with one whose shell has that version of mfe-kit.
fn write(folder: &Path, loans: &str, kit: &str) {
    let built = folder.join("slices/mfe-loans").join(loans);
    std::fs::create_dir_all(&built).unwrap();
    for (path, content) in build("mfe-loans", loans) {
        std::fs::write(built.join(path), content).unwrap();
    }
    let list = json!({
        "portal": {},
        "shell": {
            "version": "0.1.0",
            "kit": kit,
            "build": "a1b2c3",
            "libraries": {"react": "19.3.1"},
            "screens": [{"path": "/settings", "title": "Settings"}],
            "icons": ["money"],
        },
        "slices": {"mfe-loans": {
            "version": loans,
            "entry": format!("/slices/mfe-loans/{loans}/mf-manifest.json"),
            "integrity": integrity(&build("mfe-loans", loans)),
            "shell": "^0.1.0",
            "screens": [{"path": "/", "title": "Dashboard"}],
            "menu": [],
            "failures": {},
            "previous": null,
        }},
    });
    std::fs::write(folder.join("slices.json"), list.to_string()).unwrap();
    std::fs::write(folder.join("index.html"), "<!doctype html>").unwrap();
    let policy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'";
    std::fs::write(folder.join("csp.txt"), policy).unwrap();
}

/// The integrity of a build's manifest.
fn integrity(files: &Files) -> String {
    integrity_of(&files["mf-manifest.json"])
}

pub fn integrity_of(content: &[u8]) -> String {
    use base64::{Engine, prelude::BASE64_STANDARD};
    use sha2::{Digest, Sha384};
    format!("sha384-{}", BASE64_STANDARD.encode(Sha384::digest(content)))
}

pub async fn start(portal: &TempDir) -> TestApp {
    start_with(portal, &[]).await
}

/// Like [`start`], with more options of `mkopo serve`.
pub async fn start_with(portal: &TempDir, options: &[&str]) -> TestApp {
    TestApp::start_with(&[&["--portal-dir", portal.path().to_str().unwrap()], options].concat()).await
}

/// A service with the bundled portal, and the portal's folder.
pub async fn started() -> (TestApp, TempDir) {
    started_with(&[]).await
}

/// Like [`started`], with more options of `mkopo serve`.
pub async fn started_with(options: &[&str]) -> (TestApp, TempDir) {
    let portal = portal();
    (start_with(&portal, options).await, portal)
}

/// The encoding and the body of a file, for a browser.
async fn fetch(app: &TestApp, path: &str) -> (Option<String>, Vec<u8>) {
    let answer = app.get_with(&format!("/slices/{path}"), &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(answer.status, 200, "{path}");
    let encoding = answer.headers.get(header::CONTENT_ENCODING);
    (encoding.map(|encoding| encoding.to_str().unwrap().to_owned()), answer.bytes)
}

pub fn publication(query: &str, archive: Vec<u8>) -> Request<Body> {
    Request::post(format!("/console/api/slices{query}"))
        .header(header::AUTHORIZATION, format!("Bearer {CONSOLE_TOKEN}"))
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .body(Body::from(archive))
        .unwrap()
}

/// The request that publishes `files`.
pub fn publication_of(files: &Files) -> Request<Body> {
    publication("?by=ci", archive::write(files).unwrap())
}

pub async fn publish(app: &TestApp, files: &Files) -> Answer {
    app.send(publication_of(files)).await
}

/// Publishes `files` with other parameters than the usual ones, such as `?hold=true`.
pub async fn publish_with(app: &TestApp, files: &Files, query: &str) -> Answer {
    app.send(publication(query, archive::write(files).unwrap())).await
}

/// Publishes a build that is not live yet.
pub async fn hold(app: &TestApp, name: &str, version: &str) -> Answer {
    publish_with(app, &build(name, version), "?hold=true").await
}

pub async fn live(app: &TestApp) -> Value {
    app.get("/slices.json").await.json()["slices"].clone()
}

/// Live and previous version of mfe-loans, as the portal reads them.
pub async fn versions(app: &TestApp) -> (Value, Value) {
    let loans = live(app).await["mfe-loans"].clone();
    (loans["version"].clone(), loans["previous"]["version"].clone())
}

pub async fn activate(app: &TestApp, name: &str, version: &str) -> Answer {
    app.console(Method::POST, &format!("/slices/{name}/activate"), json!({"version": version})).await
}

pub async fn roll_back(app: &TestApp, name: &str) -> Answer {
    app.console(Method::POST, &format!("/slices/{name}/rollback?by=wanjiru"), None).await
}

#[tokio::test]
async fn a_bundled_build_is_live_until_another_is_published() {
    let (app, _portal) = started().await;
    let list = app.get("/slices.json").await;
    assert_eq!(list.headers[header::CACHE_CONTROL], "private, no-cache");
    let expected = json!({
        "portal": {
            "allow_override": true, "brand": "Mkopo", "console": "http://127.0.0.1:8081", "demo": true,
            "product": "Mkopo", "reports": true, "slice_origins": [], "time_zone": "Africa/Nairobi", "traces": true,
        },
        "shell": {
            "version": "0.1.0", "kit": "0.1.0", "build": "a1b2c3", "libraries": {"react": "19.3.1"},
            "screens": [{"path": "/settings", "title": "Settings"}], "icons": ["money"],
        },
        "slices": {"mfe-loans": {
            "version": "0.1.0", "entry": "/slices/mfe-loans/0.1.0/mf-manifest.json",
            "integrity": "sha384-tGCVKG5tx3qGLy7S+cO0Ocxeni/XO/EBEbKEj+hc90t8cr5VXp59fQlLa3NKTNmu", "shell": "^0.1.0",
            "screens": [{"path": "/", "title": "Dashboard"}], "menu": [], "failures": {}, "previous": null,
        }},
    });
    assert_eq!(list.json(), expected);
    let mut again = Request::get("/slices.json").body(Body::empty()).unwrap();
    again.headers_mut().insert(header::IF_NONE_MATCH, list.headers[header::ETAG].clone());
    assert_eq!(app.send(again).await.status, 304);
}

#[tokio::test]
async fn a_published_build_goes_live_and_the_trail_says_who_published_it() {
    let (app, _portal) = started().await;
    assert_eq!(publish(&app, &build("mfe-loans", "0.2.0")).await.status, 201);
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    assert_eq!(live(&app).await["mfe-loans"]["entry"], "/slices/mfe-loans/0.2.0/mf-manifest.json");
    assert_eq!(
        live(&app).await["mfe-loans"]["integrity"],
        integrity(&build("mfe-loans", "0.2.0")),
        "of the manifest as browsers receive it"
    );
    roll_back(&app, "mfe-loans").await;
    let overview = app.read_console("/slices").await;
    assert_eq!(overview["slices"][0], roll_back_is_refused(&app).await, "a refused call changes nothing");
    assert_eq!(
        trail(&overview),
        json!([
            ["rolled_back", "mfe-loans", "0.1.0", "0.2.0", "wanjiru"],
            ["published", "mfe-loans", "0.2.0", "0.1.0", "ci"],
        ])
    );
}

/// The trail, the newest first: what was done to which build, what was live before, and who did it.
fn trail(overview: &Value) -> Value {
    let events = overview["trail"].as_array().unwrap().iter();
    let fields = ["act", "name", "version", "live_before", "by"];
    events.map(|event| json!(fields.map(|field| &event[field]))).collect()
}

/// Rolls back without an older build, and returns the state of mfe-loans.
async fn roll_back_is_refused(app: &TestApp) -> Value {
    assert_eq!(roll_back(app, "mfe-loans").await.failure().1, "no_previous_build");
    app.read_console("/slices").await["slices"][0].clone()
}

// S-29
#[tokio::test]
async fn every_text_that_is_served_names_its_charset() {
    const TEXTS: [&str; 6] = ["js", "css", "json", "svg", "txt", "html"];
    let portal = portal();
    let assets = portal.path().join("assets");
    std::fs::create_dir_all(&assets).unwrap();
    for ending in TEXTS {
        std::fs::write(assets.join(format!("a.{ending}")), "é").unwrap();
    }
    let app = start(&portal).await;
    let mut files = build("mfe-loans", "0.2.0");
    for ending in &TEXTS[..5] {
        files.insert(format!("a.{ending}"), "é".into());
    }
    let published = publish(&app, &sealed(files)).await;
    assert!(published.status.is_success(), "{}", published.status);
    let of_portal = TEXTS.iter().map(|ending| format!("/assets/a.{ending}"));
    let of_slice = TEXTS[..5].iter().map(|ending| format!("/slices/mfe-loans/0.2.0/a.{ending}"));
    let bundled = ["/slices/mfe-loans/0.1.0/slice.js", "/slices/mfe-loans/0.1.0/mf-manifest.json"];
    let others = ["/", "/docs/", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"];
    let console = ["/console/assets/console.css", "/console/assets/console.js", "/console/assets/icon.svg"];
    let named = bundled.into_iter().chain(others).chain(console).map(str::to_owned);
    for address in of_portal.chain(of_slice).chain(named) {
        let answer = app.get(&address).await;
        assert_eq!(answer.status, 200, "{address}");
        let media_type = answer.headers[header::CONTENT_TYPE].to_str().unwrap();
        assert!(media_type.ends_with("; charset=utf-8"), "{address}: {media_type}");
    }
}

// S-35
#[tokio::test]
async fn published_files_are_compressed_and_cached_for_a_year() {
    let (app, _portal) = started().await;
    let files = build("mfe-loans", "0.2.0");
    publish(&app, &files).await;
    for (accepted, encoding) in [("br, gzip", Some("br")), ("gzip", Some("gzip")), ("br;q=0", None)] {
        let path = "/slices/mfe-loans/0.2.0/slice.js";
        let answer = app.get_with(path, &[("accept-encoding", accepted)]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.bytes, files["slice.js"]);
        let value =
            |headers: &HeaderMap, name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(value(&answer.headers, header::CONTENT_ENCODING).as_deref(), encoding);
        assert_eq!(answer.headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(answer.headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert_eq!(answer.headers[header::VARY], "accept-encoding");
        assert!(encoding.is_none() || answer.sent < answer.bytes.len());
    }
    for missing in ["/slices/mfe-loans/0.2.0/nothing.js", "/slices/mfe-loans/0.3.0/slice.js", "/slices/x"] {
        let answer = app.get(missing).await;
        assert_eq!(answer.status, 404, "{missing}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-cache");
    }
}

#[tokio::test]
async fn a_build_survives_a_restart_and_a_reset_and_is_served_by_another_server() {
    let (app, portal) = started().await;
    let folder = portal.path().to_str().unwrap().to_owned();
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    assert_eq!(app.console(Method::POST, "/data/reset", None).await.status, 204);
    let app = app.restart_with(&["--portal-dir", &folder]).await;
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    let other = app.another_server(&["--portal-dir", &folder]).await;
    assert_eq!(versions(&other).await, (json!("0.2.0"), json!("0.1.0")));
    assert_eq!(other.get("/slices/mfe-loans/0.2.0/screen.js").await.bytes, b"screen");
    roll_back(&other, "mfe-loans").await;
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
}

#[tokio::test]
async fn a_held_build_goes_live_when_it_is_activated() {
    let (app, _portal) = started().await;
    assert_eq!(hold(&app, "mfe-loans", "0.2.0").await.status, 201);
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
    assert_eq!(activate(&app, "mfe-loans", "0.2.0").await.status, 200);
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    assert_eq!(activate(&app, "mfe-loans", "0.2.0").await.status, 200, "doing it again changes nothing");
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
    let overview = app.read_console("/slices").await;
    assert_eq!(column(&overview["trail"], "act"), ["activated", "held"]);
}

#[tokio::test]
async fn a_roll_back_goes_to_what_was_live_last_and_not_to_the_next_lower_version() {
    let (app, _portal) = started().await;
    for version in ["0.2.0", "0.3.0", "0.4.0"] {
        publish(&app, &build("mfe-loans", version)).await;
    }
    activate(&app, "mfe-loans", "0.2.0").await;
    publish(&app, &build("mfe-loans", "0.5.0")).await;
    for live in ["0.2.0", "0.4.0", "0.3.0", "0.1.0"] {
        assert_eq!(roll_back(&app, "mfe-loans").await.json()["live"], live);
    }
    roll_back_is_refused(&app).await;
}

#[tokio::test]
async fn the_build_of_a_newer_portal_is_the_previous_one_where_the_one_before_is_gone() {
    let (app, portal) = started().await;
    publish(&app, &build("mfe-loans", "0.4.0")).await;
    write(portal.path(), "0.2.0", "0.1.0");
    assert_eq!(versions(&app).await, (json!("0.4.0"), json!("0.2.0")));
    write(portal.path(), "0.5.0", "0.1.0");
    assert_eq!(versions(&app).await, (json!("0.4.0"), json!(null)), "never forward");
}

#[tokio::test]
async fn a_new_slice_is_listed_once_it_is_live() {
    let (app, _portal) = started().await;
    hold(&app, "mfe-repayments", "1.0.0").await;
    assert!(live(&app).await["mfe-repayments"].is_null());
    activate(&app, "mfe-repayments", "1.0.0").await;
    assert_eq!(live(&app).await["mfe-repayments"]["version"], "1.0.0");
}

#[tokio::test]
async fn a_version_belongs_to_one_build_forever() {
    let (app, _portal) = started().await;
    let files = build("mfe-loans", "0.2.0");
    assert_eq!(publish(&app, &files).await.status, 201);
    assert_eq!(publish(&app, &build("mfe-loans", "0.3.0")).await.status, 201);
    let again = publish(&app, &files).await;
    assert_eq!(
        (again.status.as_u16(), &again.json()["live"]),
        (200, &json!("0.3.0")),
        "the newer build stays live"
    );

    let other = build_with("mfe-loans", "0.2.0", "screen.js", b"another screen".to_vec());
    assert_eq!(publish(&app, &other).await.failure().1, "build_exists");
    let mut bundled = manifest("mfe-loans", "0.1.0");
    assert_eq!(publish(&app, &build_of(&bundled)).await.status, 200, "it came with the portal");
    bundled["id"] = json!("another");
    assert_eq!(publish(&app, &build_of(&bundled)).await.failure().1, "build_exists");

    let below = publish(&app, &build("mfe-loans", "0.2.9")).await;
    assert_snapshot!(below.refusal(), @"409 build_outdated: Version 0.2.9 is lower than 0.3.0, which is live. To go back to an existing build, roll back; to publish this one, use --force (in the API, force=true).");
    assert_eq!(publish(&app, &build("mfe-loans", "0.3.0-rc.1")).await.failure().1, "build_outdated");
    assert_eq!(versions(&app).await, (json!("0.3.0"), json!("0.2.0")));
    assert_eq!(app.get("/slices/mfe-loans/0.2.0/screen.js").await.bytes, b"screen");
}

#[tokio::test]
async fn of_two_builds_of_one_version_published_at_once_one_is_stored() {
    let (app, _portal) = started().await;
    let one = build("mfe-loans", "0.2.0");
    let other = build_with("mfe-loans", "0.2.0", "screen.js", b"another screen".to_vec());
    let history = build("mfe-transactions", "1.0.0");
    let (first, second, third) =
        tokio::join!(publish(&app, &one), publish(&app, &other), publish(&app, &history));
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!((statuses, third.status.as_u16()), ([201, 409], 201));
    let stored = if first.status == 201 { &one } else { &other };
    assert_eq!(app.get("/slices/mfe-loans/0.2.0/screen.js").await.bytes, stored["screen.js"]);
}

// S-33
#[tokio::test]
async fn an_invalid_build_is_refused_with_a_reason_and_the_live_one_is_unchanged() {
    let (app, _portal) = started().await;
    let with = |change: fn(&mut Value)| {
        let mut manifest = manifest("mfe-loans", "0.2.0");
        change(&mut manifest);
        build_of(&manifest)
    };
    let without = |path: &str| {
        let mut files = build("mfe-loans", "0.2.0");
        files.remove(path);
        files
    };
    let mut page = build("mfe-loans", "0.2.0");
    page.insert("remoteEntry.js".to_owned(), b"<!doctype html>".to_vec());
    let mut garbled = build("mfe-loans", "0.2.0");
    garbled.insert("mf-manifest.json".to_owned(), b"{".to_vec());
    let mut failures = Vec::new();
    for files in [
        Files::new(),
        garbled,
        without("mf-manifest.json"),
        without("remoteEntry.js"),
        without("screen.js"),
        page,
        with(|manifest| manifest["metaData"]["publicPath"] = json!("https://cdn.example.com/loans/")),
        with(|manifest| manifest["metaData"]["remoteEntry"]["name"] = json!("https://evil.example.com/x.js")),
        with(|manifest| manifest["metaData"]["remoteEntry"]["path"] = json!("../../mfe-auth/0.1.0")),
        with(|manifest| manifest["exposes"][0]["assets"]["js"]["async"] = json!(["../screen.js"])),
        with(|manifest| manifest["exposes"][0]["path"] = json!("./button")),
        with(|manifest| manifest["remotes"] = json!([{"entry": "https://evil.example.com"}])),
        with(|manifest| manifest["metaData"]["buildInfo"]["buildName"] = json!("mfe-../../etc")),
        with(|manifest| manifest["metaData"]["buildInfo"]["buildName"] = json!("loans")),
        with(|manifest| manifest["metaData"]["buildInfo"]["buildName"] = json!("mfe-transactions")),
        with(|manifest| manifest["metaData"]["buildInfo"]["buildVersion"] = json!("../0.2.0")),
        with(|manifest| manifest["metaData"]["buildInfo"]["buildVersion"] = json!("next")),
        with(|manifest| manifest["shared"] = json!([])),
        with(|manifest| manifest["shared"][1]["requiredVersion"] = json!("workspace:*")),
        with(|manifest| manifest["shared"][1]["requiredVersion"] = json!("^0.2.0")),
        with(|manifest| manifest["shared"][0]["requiredVersion"] = json!("^18.0.0")),
        with(|manifest| manifest["shared"][0]["name"] = json!("preact")),
        with(|manifest| {
            manifest["shared"][0] = json!({"name": "mfe-kit/ui-data", "requiredVersion": "^0.2.0"});
        }),
        with(|manifest| manifest["shared"][1]["requiredVersion"] = json!("1".repeat(2 << 20))),
        with(|manifest| manifest["shared"][1]["requiredVersion"] = json!(["^0.1.0"; 100].join(" || "))),
        with(|manifest| manifest["brings"]["x".repeat(2 << 20)] = json!(1)),
        with(|manifest| manifest["brings"]["menu"] = json!([entry(&["admin", "agent", "admin"], "/loans")])),
        with(|manifest| manifest["brings"]["menu"] = json!([entry(&["admin"], "/loans/*/*")])),
    ] {
        let refused = publish(&app, &files).await;
        assert!(refused.bytes.len() < 1024, "it may be of any length, and is quoted twice");
        failures.push(refused.refusal());
    }
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
    assert_eq!(app.read_console("/slices").await["trail"], json!([]));
    assert_snapshot!(failures.join("\n"), @r#"
    422 bad_build: This is not a build of a slice: it has no mf-manifest.json.
    422 bad_build: Its mf-manifest.json can't be read: EOF while parsing an object at line 1 column 1.
    422 bad_build: This is not a build of a slice: it has no mf-manifest.json.
    422 bad_build: Its manifest names "remoteEntry.js", which is not in the build.
    422 bad_build: Its manifest names "screen.js", which is not in the build.
    422 bad_build: Its remoteEntry.js does not define mfe_loans.
    422 bad_build: Its manifest points to "https://cdn.example.com/loans/" instead of its own folder.
    422 bad_build: Its manifest names "https://evil.example.com/x.js", which is not in the build.
    422 bad_build: Its manifest names "../../mfe-auth/0.1.0/remoteEntry.js", which is not in the build.
    422 bad_build: Its manifest names "../screen.js", which is not in the build.
    422 bad_build: It does not expose ./slice.
    422 bad_build: It loads other slices, which only the shell may do.
    422 bad_build: "mfe-../../etc" is not a slice's name: that is mfe- followed by lower-case letters, digits and dashes.
    422 bad_build: "loans" is not a slice's name: that is mfe- followed by lower-case letters, digits and dashes.
    422 bad_build: Its manifest names "mfe_loans", but its package is mfe-transactions.
    422 bad_build: "../0.2.0" is not a version such as 1.4.0 or 1.4.0-rc.1.
    422 bad_build: "next" is not a version such as 1.4.0 or 1.4.0-rc.1.
    422 bad_build: It does not share mfe-kit, so no shell can load it.
    422 bad_build: The range of mfe-kit versions that it was built for is invalid: "workspace:*".
    409 wrong_shell: It was built for mfe-kit ^0.2.0; this shell has 0.1.0.
    409 wrong_shell: It was built for react ^18.0.0; this shell has 19.3.1.
    409 wrong_shell: It was built for preact ^19.0.0; this shell has none.
    409 wrong_shell: It was built for mfe-kit/ui-data ^0.2.0; this shell has 0.1.0.
    422 bad_build: The range of mfe-kit versions that it was built for is invalid: "1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111".
    422 bad_build: The range of mfe-kit versions that it was built for is invalid: "^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ^0.1.0 || ".
    422 bad_build: Its mf-manifest.json can't be read: unknown field `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.
    422 bad_build: Its menu entry "Loans" names a role twice.
    422 bad_build: Its menu entry "Loans" has "/loans/*/*" below it, which is not a path such as /loans/*.
    "#);
}

/// An entry of the menu for `roles`, with pages `below` it.
fn entry(roles: &[&str], below: &str) -> Value {
    json!({"label": "Loans", "to": "/loans", "icon": "money", "position": 1, "roles": roles, "below": below})
}

/// An archive with one entry, written by hand, because no tar program writes such entries.
fn archive_with(path: &[u8], kind: tar::EntryType, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..path.len()].copy_from_slice(path);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    let mut archive = header.as_bytes().to_vec();
    archive.resize(archive.len() + 1024, 0);
    archive
}

/// An archive with one file, whose path may be of any length.
fn archive_with_long(path: &[u8]) -> Vec<u8> {
    let mut archive =
        archive_with(b"././@LongLink", tar::EntryType::GNULongName, path.len().try_into().unwrap());
    archive.truncate(512);
    archive.extend(path);
    archive.resize(archive.len().next_multiple_of(512), 0);
    archive.extend(archive_with(b"long", tar::EntryType::Regular, 0));
    archive
}

// S-32, S-34, S-36
#[tokio::test]
async fn archives_with_unsafe_paths_or_excessive_sizes_are_refused() {
    let (app, _portal) = started().await;
    let mut failures = Vec::new();
    let file = tar::EntryType::Regular;
    for archive in [
        b"no archive".repeat(100),
        archive_with(b"../outside.js", file, 0),
        archive_with(b"/etc/passwd", file, 0),
        archive_with(b"a/../../b.js", file, 0),
        archive_with(b"a\\b.js", file, 0),
        archive_with(b".hidden", file, 0),
        archive_with(b"caf\xe9.js", file, 0),
        archive_with(b"link.js", tar::EntryType::Symlink, 0),
        archive_with(b"link.js", tar::EntryType::Link, 0),
        archive_with(b"device", tar::EntryType::Char, 0),
        archive_with(b"long.js", file, 4096),
        archive_with(b"bomb.js", file, 1 << 40),
        vec![0; 17 * 1024 * 1024],
        archive_with_long(&b"\x01".repeat(1 << 20)),
        archive_with_long(&[b"~".repeat(199), b"$".to_vec()].concat()),
    ] {
        let refused = app.send(publication("", archive)).await;
        assert!(refused.bytes.len() < 1024, "a path may be of any length, and is quoted twice");
        failures.push(refused.refusal());
    }
    assert_snapshot!(failures.join("\n"), @r#"
    422 bad_build: This is not a tar archive, or it is damaged.
    422 bad_build: "../outside.js" is not a valid path in a build.
    422 bad_build: "/etc/passwd" is not a valid path in a build.
    422 bad_build: "a/../../b.js" is not a valid path in a build.
    422 bad_build: "a\\b.js" is not a valid path in a build.
    422 bad_build: ".hidden" is not a valid path in a build.
    422 bad_build: "caf�.js" is not a valid path in a build.
    422 bad_build: "link.js" is not a regular file.
    422 bad_build: "link.js" is not a regular file.
    422 bad_build: "device" is not a regular file.
    422 bad_build: This is not a tar archive, or it is damaged.
    413 build_too_large: A build can have at most 16 MiB and 2,000 files.
    413 build_too_large: A build can have at most 16 MiB and 2,000 files.
    422 bad_build: A path in it has more than 200 bytes.
    422 bad_build: "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~" is not a valid path in a build.
    "#);
}

#[tokio::test]
async fn malformed_calls_are_refused() {
    let (app, _portal) = started().await;
    let archive = archive::write(&build("mfe-loans", "0.2.0")).unwrap();
    let mut json = publication("", archive.clone());
    json.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    assert_eq!(app.send(json).await.failure().0, 415);
    let mut nobody = publication("", archive.clone());
    nobody.headers_mut().remove(header::AUTHORIZATION);
    assert_eq!(app.send(nobody).await.failure().0, 401);
    for (query, status) in [("?hold=perhaps", 400), ("?who=me", 400), ("?by=", 422), ("?by=%0A", 422)] {
        assert_eq!(app.send(publication(query, archive.clone())).await.failure().0, status, "{query}");
    }
    for (name, version, kind) in [
        ("mfe-loans", "0.9.0", "404 build_not_found"),
        ("mfe-loans", "../0.1.0", "404 build_not_found"),
        ("mfe-nothing", "0.1.0", "404 slice_not_found"),
        ("loans", "0.1.0", "404 slice_not_found"),
        ("mfe-%2e%2e%2fx", "0.1.0", "404 slice_not_found"),
    ] {
        assert_eq!(activate(&app, name, version).await.kind(), kind, "{name} {version}");
    }
    assert_eq!(roll_back(&app, "mfe-nothing").await.failure().0, 404);
    let body = app.console(Method::POST, "/slices/mfe-loans/activate", json!({"to": 1})).await;
    assert_eq!(body.failure().0, 422);
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
}

#[tokio::test]
async fn a_build_for_an_older_shell_does_not_go_live_in_a_newer_one() {
    let (app, portal) = started().await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    roll_back(&app, "mfe-loans").await;
    write(portal.path(), "0.3.0", "0.2.0");
    let refused = activate(&app, "mfe-loans", "0.2.0").await;
    let text = "409 wrong_shell: It was built for mfe-kit ^0.1.0; this shell has 0.2.0.";
    assert_eq!(refused.refusal(), text);
    assert_eq!(versions(&app).await.0, json!("0.3.0"), "the bundled build that was live is gone");
}

// S-5, S-23
#[tokio::test]
async fn the_page_may_load_slices_only_from_the_configured_origins() {
    let policy = async |options: &[&str]| {
        let (app, _portal) = started_with(options).await;
        let list = app.get("/slices.json").await.json();
        let page = app.get("/").await;
        let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        format!("{}\n{policy}", list["portal"])
    };
    let closed = policy(&["--slice-override", "false"]).await;
    let open = policy(&[]).await;
    let origins =
        policy(&["--slice-override", "false", "--slice-origins", "https://loans.example.com"]).await;
    assert_snapshot!([closed, open, origins].join("\n\n"), @r#"
    {"allow_override":false,"brand":"Mkopo","console":"http://127.0.0.1:8081","demo":true,"product":"Mkopo","reports":true,"slice_origins":[],"time_zone":"Africa/Nairobi","traces":true}
    default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'

    {"allow_override":true,"brand":"Mkopo","console":"http://127.0.0.1:8081","demo":true,"product":"Mkopo","reports":true,"slice_origins":[],"time_zone":"Africa/Nairobi","traces":true}
    default-src 'none'; script-src 'self' http://localhost:* http://127.0.0.1:* ws://localhost:* ws://127.0.0.1:*; connect-src 'self' http://localhost:* http://127.0.0.1:* ws://localhost:* ws://127.0.0.1:*; frame-ancestors 'none'

    {"allow_override":false,"brand":"Mkopo","console":"http://127.0.0.1:8081","demo":true,"product":"Mkopo","reports":true,"slice_origins":["https://loans.example.com"],"time_zone":"Africa/Nairobi","traces":true}
    default-src 'none'; script-src 'self' https://loans.example.com; connect-src 'self' https://loans.example.com; frame-ancestors 'none'
    "#);
}

#[tokio::test]
async fn the_policy_comes_with_pages_also_when_they_have_not_changed_and_not_with_the_files_of_slices() {
    let (app, _portal) = started().await;
    let get = async |path: &str, known: Option<&HeaderValue>| {
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        if let Some(known) = known {
            request.headers_mut().insert(header::IF_MODIFIED_SINCE, known.clone());
        }
        app.send(request).await
    };
    let page = get("/", None).await;
    let policy = &page.headers[header::CONTENT_SECURITY_POLICY];
    assert!(policy.to_str().unwrap().contains("script-src 'self'"));
    // A browser takes the headers of a 304 in place of those that it has kept.
    let same = get("/", Some(&page.headers[header::LAST_MODIFIED])).await;
    assert_eq!(same.status, 304);
    assert_eq!(same.headers[header::CONTENT_SECURITY_POLICY], policy);
    let file = get("/slices/mfe-loans/0.1.0/mf-manifest.json", None).await;
    assert_eq!(file.status, 200);
    // The next portal in the folder may have other files of this version.
    assert_eq!(file.headers[header::CACHE_CONTROL], "no-cache");
    assert_eq!(
        file.headers[header::CONTENT_SECURITY_POLICY],
        "default-src 'none'; form-action 'none'; frame-ancestors 'none'"
    );
}

#[tokio::test]
async fn a_page_has_the_policy_of_its_own_portal_also_once_others_have_replaced_it() {
    let (app, portal) = started().await;
    let policy = async || {
        let page = app.get("/").await;
        page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
    };
    assert!(!policy().await.contains("'sha384-new'"));
    let file = portal.path().join("csp.txt");
    let other = std::fs::read_to_string(&file).unwrap().replace("script-src", "script-src 'sha384-new'");
    std::fs::write(file, other).unwrap();
    assert!(policy().await.contains("'sha384-new'"));
}

/// `size` bytes of text that no other `seed` gives, and that compresses about as code does.
fn code(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::with_capacity(size + 16);
    while text.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str("let word");
        text.push_str(&(state >> 52).to_string());
        text.push(';');
    }
    text.into_bytes()
}

fn with_files(name: &str, files: &[(&str, Vec<u8>)]) -> Files {
    let mut build = build(name, "1.0.0");
    build.extend(files.iter().map(|(path, content)| ((*path).to_owned(), content.clone())));
    sealed(build)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_large_builds_at_once_are_compressed_and_published_in_time() {
    let (app, _portal) = started().await;
    let shared = code(1, 1024 * 1024);
    // What is not compressed makes the builds large, and the test no slower.
    let photo = code(9, 14 * 1024 * 1024);
    let files = |name, seed| {
        with_files(
            name,
            &[("vendor.js", shared.clone()), ("two.js", code(seed, 3000)), ("photo.png", photo.clone())],
        )
    };
    let (loans, repayments) = (files("mfe-loans", 2), files("mfe-repayments", 3));
    let (first, second) = tokio::join!(publish(&app, &loans), publish(&app, &repayments));
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (201, 201));
    for (name, files) in [("mfe-loans", &loans), ("mfe-repayments", &repayments)] {
        for (path, encoding) in
            [("vendor.js", Some("br")), ("two.js", Some("br")), ("slice.js", Some("br")), ("photo.png", None)]
        {
            let (sent_as, content) = fetch(&app, &format!("{name}/1.0.0/{path}")).await;
            assert_eq!(sent_as.as_deref(), encoding, "{name} {path}");
            assert!(content == files[path], "{name} {path}");
        }
    }
}

#[tokio::test]
async fn a_version_is_compared_with_the_live_one_only() {
    let (app, _portal) = started().await;
    let publish =
        async |version: &str, query: &str| publish_with(&app, &build("mfe-loans", version), query).await;
    assert_eq!(publish("1.4.0", "").await.status, 201);
    assert_eq!(publish("2.0.0-rc.1", "?hold=true").await.status, 201);
    assert_eq!(publish("1.4.1", "").await.status, 201, "a hotfix, below the held build");
    assert_eq!(versions(&app).await, (json!("1.4.1"), json!("1.4.0")));

    assert_eq!(publish("1.3.0", "").await.failure().1, "build_outdated");
    assert_eq!(publish("1.3.0", "?force=true").await.status, 201);
    assert_eq!(versions(&app).await, (json!("1.3.0"), json!("1.4.1")));
    let other = build_with("mfe-loans", "1.3.0", "screen.js", b"another screen".to_vec());
    let other = publish_with(&app, &other, "?force=true").await;
    assert_eq!(other.failure().1, "build_exists", "a version is never replaced");
}

pub async fn remove(app: &TestApp, name: &str) -> Answer {
    app.console(Method::DELETE, &format!("/slices/{name}?by=wanjiru"), None).await
}

#[tokio::test]
async fn a_removed_slice_is_back_to_the_bundled_build_or_gone() {
    let (app, _portal) = started().await;
    assert_eq!(remove(&app, "mfe-loans").await.failure().1, "nothing_published");
    assert_eq!(remove(&app, "mfe-nothing").await.failure().1, "slice_not_found");
    let files = build("mfe-loans", "0.2.0");
    publish(&app, &files).await;
    publish(&app, &build("mfe-mistake", "1.0.0")).await;
    fetch(&app, "mfe-loans/0.2.0/slice.js").await;

    let answer = remove(&app, "mfe-loans").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["live"], "0.1.0");
    assert_eq!(versions(&app).await, (json!("0.1.0"), json!(null)));
    assert_eq!(remove(&app, "mfe-mistake").await.json()["live"], json!(null));
    assert!(live(&app).await["mfe-mistake"].is_null());
    for path in ["mfe-loans/0.2.0/slice.js", "mfe-mistake/1.0.0/slice.js"] {
        assert_eq!(app.get(&format!("/slices/{path}")).await.status, 404, "{path}");
    }
    let overview = app.read_console("/slices").await;
    assert_eq!(column(&overview["slices"], "name"), ["mfe-loans", "mfe-shell"]);
    assert_eq!(
        json!(trail(&overview).as_array().unwrap()[..2]),
        json!([
            ["removed", "mfe-mistake", null, "1.0.0", "wanjiru"],
            ["removed", "mfe-loans", "0.1.0", "0.2.0", "wanjiru"],
        ])
    );

    let other = build_with("mfe-loans", "0.2.0", "screen.js", b"another screen".to_vec());
    assert_eq!(publish(&app, &other).await.failure().1, "build_exists", "browsers may have the first");
    assert_eq!(publish(&app, &files).await.status, 201, "the same build can come back");
    assert_eq!(versions(&app).await, (json!("0.2.0"), json!("0.1.0")));
}

/// Runs `mkopo slice` on the console of `app`.
pub async fn slice_command(app: &TestApp, arguments: &[&str]) -> Output {
    command_line::command(app, &[&["slice"], arguments, &["--by", "ci"]].concat()).await
}

#[tokio::test]
async fn the_kit_is_served_with_its_gallery_and_its_name_without_version_leads_to_it() {
    let portal = portal();
    let gallery = portal.path().join("kit/gallery");
    std::fs::create_dir_all(&gallery).unwrap();
    std::fs::write(portal.path().join("kit/mfe-kit-0.1.0.tgz"), "the kit").unwrap();
    std::fs::write(gallery.join("index.html"), "<!doctype html><title>Parts").unwrap();
    std::fs::write(gallery.join("gallery.js"), "draw()").unwrap();
    let list = portal.path().join("slices.json");
    let mut listed: Value = serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    listed["shell"]["kit_package"] = json!({"address": "/kit/mfe-kit-0.1.0.tgz", "integrity": "sha512-x"});
    std::fs::write(&list, listed.to_string()).unwrap();
    let app = start(&portal).await;
    for (path, status, location, body) in [
        ("/kit/mfe-kit-0.1.0.tgz", 200, None, "the kit"),
        ("/kit/mfe-kit.tgz", 302, Some("/kit/mfe-kit-0.1.0.tgz"), ""),
        ("/kit/gallery", 308, Some("/kit/gallery/"), ""),
        ("/kit/gallery/", 200, None, "<!doctype html><title>Parts"),
        ("/kit/gallery/gallery.js", 200, None, "draw()"),
        ("/kit/mfe-kit-9.0.0.tgz", 404, None, ""),
        ("/kit/gallery/missing.js", 404, None, ""),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        let header = |name| answer.headers.get(name).map(|value| value.to_str().unwrap());
        assert_eq!(header(header::LOCATION), location, "{path}");
        if status == 200 {
            assert_eq!(answer.bytes, body.as_bytes(), "{path}");
            assert_eq!(header(header::CACHE_CONTROL), Some("no-cache"), "{path}");
            assert!(header(header::CONTENT_SECURITY_POLICY).unwrap().contains("script-src 'self'"), "{path}");
        }
    }
}

#[tokio::test]
async fn a_slice_is_removed_on_the_command_line_after_a_yes() {
    let (app, _portal) = started().await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    let asked = slice_command(&app, &["remove", "mfe-loans"]).await;
    assert_snapshot!(error_line(&asked), @"mkopo: this removes all published builds of mfe-loans; add --yes to remove them without being asked");
    assert_eq!(versions(&app).await.0, "0.2.0");
    let removed = slice_command(&app, &["remove", "mfe-loans", "--yes"]).await;
    assert_snapshot!(command_line::printed(removed), @"mfe-loans is back to 0.1.0.");
    assert_eq!(versions(&app).await.0, "0.1.0");
    let again = slice_command(&app, &["remove", "mfe-loans", "--yes"]).await;
    assert_snapshot!(error_line(&again), @"mkopo: mfe-loans has no published build; the one that is bundled with the portal can't be removed.");
}

#[tokio::test]
async fn builds_are_listed_as_json() {
    let (app, _portal) = started().await;
    publish(&app, &build("mfe-loans", "0.2.0")).await;
    let listed = slice_command(&app, &["list", "--json"]).await;
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed, app.read_console("/slices").await["slices"]);
}

#[tokio::test]
async fn the_list_names_the_console_in_demo_mode_only() {
    let shown = async |options: &[&str]| {
        let app = TestApp::start_with(options).await;
        app.get("/slices.json").await.json()["portal"]["console"].clone()
    };
    assert_eq!(shown(&["--listen", "0.0.0.0:9000"]).await, "http://127.0.0.1:9001");
    assert_eq!(shown(&["--console-listen", "127.0.0.2:7000"]).await, "http://127.0.0.2:7000");
    let public = ["--console-public-url", "https://console.example.com"];
    assert_eq!(shown(&public).await, "https://console.example.com");
    assert_eq!(shown(&["--console-listen", "off"]).await, Value::Null);
    assert_eq!(shown(&["--demo", "false"]).await, Value::Null);
}

#[tokio::test]
async fn the_shells_page_is_for_people_who_open_an_address() {
    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let (app, _portal) = started().await;
    let get = async |path: &str, accept: &str| app.get_with(path, &[("accept", accept)]).await;
    for path in ["/", "/loans/1", "/login?from=/", "/files/report.v2", "/loans/LN-1.2"] {
        assert_eq!(get(path, BROWSER).await.status, 200, "{path}");
    }
    assert_eq!(get("/", "*/*").await.status, 200);
    for (path, accept) in [
        ("/loans/1", "*/*"),
        ("/api/v2/loans", BROWSER),
        ("/api", BROWSER),
        ("/missing.js", "*/*"),
        ("/assets/missing.js", BROWSER),
        ("/slices/mfe-loans/0.1.0/missing.js", BROWSER),
        ("/kit/missing.tgz", BROWSER),
        ("/.well-known/security.txt", BROWSER),
        ("/x", "application/json"),
    ] {
        assert_eq!(get(path, accept).await.status, 404, "{path}");
    }
    let changing = get("/.well-known/change-password", BROWSER).await;
    assert_eq!(
        (changing.status.as_u16(), &changing.headers[header::LOCATION]),
        (303, &"/password-reset".parse().unwrap())
    );
}
