//! Deploying the shell: it is published like a slice, and slices are checked against the one that is live.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt};

use axum::http::{Method, header};
use base::clock::Clock;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    browser::html,
    deploying::publication,
    sandboxes::publish_in,
    slices::{
        Files, activate, build, build_of, hold, integrity_of, live, manifest, publish, publish_with,
        roll_back, slice_command, started, versions,
    },
    test_app::{Answer, NOON, TestApp},
};

/// A build of the shell with that version of mfe-kit, whose code is `code`.
fn shell(version: &str, kit: &str, code: &str) -> Files {
    let asset = format!("assets/shell.{version}.js");
    let page = format!(
        "<!doctype html><title>{version}</title><script defer src=\"/{asset}\" integrity=\"{}\"></script>",
        integrity_of(code.as_bytes())
    );
    let description = json!({
        "version": version,
        "kit": kit,
        "build": "a1b2c3",
        "libraries": {"react": "19.3.1"},
        "screens": [{"path": "/settings", "title": "Settings"}],
        "icons": ["money"],
    });
    let files = [
        ("shell.json", description.to_string()),
        ("index.html", page),
        ("csp.txt", "default-src 'none'; script-src 'self'; frame-ancestors 'none'".to_owned()),
        (asset.as_str(), code.to_owned()),
        ("kit/index.html", format!("<!doctype html><title>The kits of {version}</title>")),
    ];
    files.into_iter().map(|(path, content)| (path.to_owned(), content.into_bytes())).collect()
}

/// The build of the shell `files`, with this field of its description.
fn described(mut files: Files, field: &str, value: Value) -> Files {
    let mut description: Value = serde_json::from_slice(&files["shell.json"]).unwrap();
    description[field] = value;
    files.insert("shell.json".to_owned(), description.to_string().into_bytes());
    files
}

/// The answer that a browser gets at `path`.
async fn opened(app: &TestApp, path: &str) -> Answer {
    app.get_with(path, &[("accept", "text/html")]).await
}

/// The version of the page that browsers get; nothing for the page that is bundled in tests.
async fn page(app: &TestApp) -> String {
    title(&opened(app, "/pending-loans").await)
}

fn title(page: &Answer) -> String {
    assert_eq!(page.status, 200);
    let page = html(page);
    page.split("<title>").nth(1).and_then(|rest| rest.split('<').next()).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_build_is_received_where_the_data_folder_is_not_there_yet() {
    let elsewhere = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", elsewhere.path().join("mkopo.db").display());
    let app = TestApp::start_at(&database, Clock::held_at(NOON)).await;
    std::fs::remove_dir_all(app.data_dir()).unwrap();
    assert_eq!(publish(&app, &shell("0.1.0", "0.1.0", "draw()")).await.status, 201);
}

#[tokio::test]
async fn a_portal_begins_with_the_shell_that_is_published_and_slices_follow() {
    let app = TestApp::start().await;
    let waiting = opened(&app, "/login").await;
    assert_eq!(waiting.status, 503);
    assert_eq!(waiting.headers[header::RETRY_AFTER], "10");
    assert!(html(&waiting).contains("Mkopo is being deployed"), "{}", html(&waiting));
    assert_eq!(publish(&app, &build("mfe-loans", "0.1.0")).await.failure().1, "no_portal");
    assert_eq!(live(&app).await, json!({}));

    let published = publish(&app, &shell("0.1.0", "0.1.0", "draw()")).await;
    assert_eq!(published.status, 201);
    assert_eq!(published.json()["live"], "0.1.0");
    assert_eq!(publish(&app, &build("mfe-loans", "0.1.0")).await.status, 201);
    let list = app.get("/slices.json").await.json();
    assert_eq!(list["shell"]["version"], "0.1.0");
    assert_eq!(list["slices"]["mfe-loans"]["version"], "0.1.0");
    assert!(list["slices"].get("mfe-shell").is_none(), "the page loads slices, and not itself");

    let page = opened(&app, "/login").await;
    let header = |name| page.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header(header::CONTENT_TYPE), "text/html; charset=utf-8");
    assert_eq!(header(header::CACHE_CONTROL), "no-cache");
    assert!(header(header::CONTENT_SECURITY_POLICY).contains("script-src 'self' http://localhost:*"));
    let code = app.get("/assets/shell.0.1.0.js").await;
    assert_eq!(html(&code), "draw()");
    assert_eq!(code.headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    let kits = opened(&app, "/kit/").await;
    assert!(
        html(&kits).contains("The kits of 0.1.0")
            && kits.headers.contains_key(header::CONTENT_SECURITY_POLICY)
    );
    for missing in
        ["/assets/missing.js", "/assets/", "/kit/missing.tgz", "/favicon.ico", "/api/v1/missing", "/slices/"]
    {
        assert_eq!(app.get(missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn a_shell_is_replaced_held_and_rolled_back_alone_and_open_pages_keep_their_code() {
    let (app, _portal) = started().await;
    publish(&app, &shell("0.2.0", "0.1.0", "second()")).await;
    assert_eq!(page(&app).await, "0.2.0", "in place of the one that is bundled");
    let held = publish_with(&app, &shell("0.3.0", "0.1.0", "third()"), "?by=ci&hold=true").await;
    assert_eq!(held.json()["live"], "0.2.0");
    assert_eq!(page(&app).await, "0.2.0");
    assert_eq!(activate(&app, "mfe-shell", "0.3.0").await.status, 200);
    assert_eq!(page(&app).await, "0.3.0");
    let before = app.get("/assets/shell.0.2.0.js").await;
    assert_eq!(html(&before), "second()", "an open page may still need it");
    assert_eq!(roll_back(&app, "mfe-shell").await.json()["live"], "0.2.0");
    assert_eq!(page(&app).await, "0.2.0");
    assert_eq!(roll_back(&app, "mfe-shell").await.json()["live"], "0.1.0");
    assert_eq!(html(&opened(&app, "/").await), "<!doctype html>", "the bundled one");
    assert_eq!(versions(&app).await.0, "0.1.0");
}

#[tokio::test]
async fn a_kit_is_served_at_the_address_of_its_version_whichever_shell_is_live() {
    let (bundled, _portal) = started().await;
    for app in [bundled, TestApp::start().await] {
        for (version, kit) in [("0.2.0", "0.1.1"), ("0.3.0", "0.1.2")] {
            let mut files = shell(version, kit, "draw()");
            for name in [format!("mfe-kit-{kit}.tgz"), "mkopo-test.tgz".to_owned(), format!("{version}.js")] {
                files.insert(format!("kit/{name}"), format!("of {version}").into_bytes());
            }
            assert_eq!(publish(&app, &files).await.status, 201);
        }
        for (live, other) in [("0.3.0", "0.2.0"), ("0.2.0", "0.3.0")] {
            assert_eq!(page(&app).await, live);
            let of_live = format!("of {live}");
            for (path, content) in [
                ("/kit/mfe-kit-0.1.1.tgz", "of 0.2.0"),
                ("/kit/mfe-kit-0.1.2.tgz", "of 0.3.0"),
                ("/kit/mkopo-test.tgz", of_live.as_str()),
            ] {
                let package = app.get(path).await;
                assert_eq!((package.status.as_u16(), html(&package)), (200, content), "{path}");
            }
            assert!(html(&opened(&app, "/kit/").await).contains(&format!("The kits of {live}")));
            assert_eq!(app.get(&format!("/kit/{other}.js")).await.status, 404, "it is no package");
            roll_back(&app, "mfe-shell").await;
        }
    }
}

#[tokio::test]
async fn slices_and_the_shell_are_checked_against_each_other() {
    let app = TestApp::start().await;
    publish(&app, &shell("0.1.0", "0.1.0", "first()")).await;
    publish(&app, &shell("0.2.0", "0.1.5", "second()")).await;
    let mut needs_newer = manifest("mfe-loans", "0.2.0");
    needs_newer["shared"][1]["requiredVersion"] = json!("^0.1.5");
    assert_eq!(publish(&app, &build_of(&needs_newer)).await.status, 201);
    assert_snapshot!(roll_back(&app, "mfe-shell").await.refusal(), @"409 shell_needed: mfe-loans 0.2.0, which is live, was built for mfe-kit ^0.1.5; mfe-shell 0.1.0 has 0.1.0. Replace the slice first.");
    let breaking = shell("0.3.0", "0.2.0", "third()");
    assert_eq!(publish(&app, &breaking).await.failure().1, "shell_needed");
    assert_eq!(page(&app).await, "0.2.0");
    assert_eq!(publish_with(&app, &breaking, "?by=ci&force=true").await.status, 201);
    assert_eq!(publish(&app, &build("mfe-auth", "0.1.0")).await.failure().1, "wrong_shell");
    let taking = json!([{"path": "/loans", "title": "Loans"}]);
    let files = described(shell("0.4.0", "0.1.5", "fourth()"), "screens", taking);
    assert_eq!(publish(&app, &files).await.failure().1, "path_taken");
}

#[tokio::test]
async fn a_shell_has_each_library_that_live_slices_share_or_is_refused() {
    let (app, _portal) = started().await;
    let with = |libraries: Value| described(shell("0.2.0", "0.1.0", "draw()"), "libraries", libraries);
    let newer = with(json!({"react": "20.0.0"}));
    assert_snapshot!(publish(&app, &newer).await.refusal(), @"409 shell_needed: mfe-loans 0.1.0, which is live, was built for react ^19.0.0; mfe-shell 0.2.0 has 20.0.0. Replace the slice first.");
    let lacking = publish(&app, &with(json!({"react-router": "7.18.5"}))).await;
    assert_snapshot!(lacking.refusal(), @"409 shell_needed: mfe-loans 0.1.0, which is live, was built for react ^19.0.0; mfe-shell 0.2.0 has none. Replace the slice first.");

    assert_eq!(publish(&app, &build("mfe-auth", "0.1.0")).await.status, 201);
    assert_eq!(hold(&app, "mfe-auth", "0.2.0").await.status, 201);
    let text = "409 shell_needed: mfe-auth 0.1.0, which is live, was built for react ^19.0.0; mfe-shell 0.2.0 has \
                20.0.0. Replace the slice first.";
    let sandbox = app.make_sandbox(json!({"name": "friday"})).await;
    assert_eq!(publish_in(&sandbox, &newer).await.refusal(), text);
    assert_eq!(publish_with(&app, &newer, "?by=ci&hold=true").await.status, 201);
    assert_eq!(activate(&app, "mfe-shell", "0.2.0").await.refusal(), text);
    let of_sandbox = json!({"version": "0.2.0"});
    let activated = sandbox.console(Method::POST, "/slices/mfe-shell/activate", of_sandbox).await;
    assert_eq!(activated.refusal(), text);

    let forced = json!({"version": "0.2.0", "force": true});
    let activated = app.console(Method::POST, "/slices/mfe-shell/activate", forced).await;
    assert_eq!(activated.json()["live"], "0.2.0");
    let text = "409 wrong_shell: It was built for react ^19.0.0; this shell has 20.0.0.";
    assert_eq!(activate(&app, "mfe-auth", "0.2.0").await.refusal(), text);
    assert_eq!(publish(&app, &build("mfe-auth", "0.3.0")).await.refusal(), text);
}

#[tokio::test]
async fn a_shell_that_was_held_goes_live_by_force_before_the_slices_for_it_and_back() {
    let (app, _portal) = started().await;
    publish_with(&app, &shell("0.2.0", "0.2.0", "second()"), "?by=ci&hold=true").await;
    assert_eq!(activate(&app, "mfe-shell", "0.2.0").await.failure().1, "shell_needed");
    let forced = async |version: &str| {
        let done = slice_command(&app, &["activate", "mfe-shell", version, "--force"]).await;
        String::from_utf8(done.stdout).unwrap()
    };
    assert_eq!(forced("0.2.0").await, "mfe-shell 0.2.0 is live.\n");
    let mut follows = manifest("mfe-loans", "0.2.0");
    follows["shared"][1]["requiredVersion"] = json!("^0.2.0");
    assert_eq!(publish(&app, &build_of(&follows)).await.status, 201);

    assert_eq!(roll_back(&app, "mfe-shell").await.failure().1, "shell_needed");
    assert_eq!(roll_back(&app, "mfe-loans").await.failure().1, "wrong_shell");
    assert_eq!(forced("0.1.0").await, "mfe-shell 0.1.0 is live.\n");
    assert_eq!(roll_back(&app, "mfe-loans").await.json()["live"], "0.1.0");
}

#[tokio::test]
async fn a_build_of_the_shell_that_browsers_could_not_run_is_refused_with_the_reason() {
    let (app, _portal) = started().await;
    let changed = |path: &str, content: &str| {
        let mut files = shell("0.2.0", "0.1.0", "draw()");
        files.insert(path.to_owned(), content.as_bytes().to_vec());
        files
    };
    let without = |path: &str| {
        let files = shell("0.2.0", "0.1.0", "draw()");
        files.into_iter().filter(|(name, _)| name != path).collect::<BTreeMap<_, _>>()
    };
    let asset = "assets/shell.0.2.0.js";
    for (files, reason) in [
        (without("index.html"), "The build of the shell has no index.html."),
        (without("csp.txt"), "The build of the shell has no csp.txt."),
        (without(asset), "The build of the shell has no assets/shell.0.2.0.js."),
        (
            changed(asset, "steal()"),
            "Its \"assets/shell.0.2.0.js\" is not the file whose integrity its page names.",
        ),
        (
            changed("index.html", "<script src=\"/assets/x.js\">"),
            "Its page does not name the integrity of \"assets/x.js\".",
        ),
        (
            changed("csp.txt", "script-src *"),
            "Its csp.txt is not a policy that begins with \"default-src 'none';\".",
        ),
    ] {
        assert_eq!(publish(&app, &files).await.refusal(), format!("422 bad_build: {reason}"));
    }
    let unreadable = publish(&app, &changed("shell.json", "{}")).await.failure().2;
    assert!(unreadable.starts_with("Its shell.json can't be read: missing field `version`"), "{unreadable}");
    let mut posing = manifest("mfe-shell", "0.2.0");
    posing["name"] = json!("mfe_shell");
    let posing = publish(&app, &build_of(&posing)).await.failure().2;
    assert_eq!(posing, "mfe-shell is the name of the shell, which has no mf-manifest.json.");
    assert_eq!(html(&opened(&app, "/").await), "<!doctype html>");
}

#[tokio::test]
async fn the_shell_has_one_build_for_everybody_and_can_not_be_removed() {
    let (app, _portal) = started().await;
    let files = shell("0.2.0", "0.1.0", "draw()");
    assert_eq!(publish_with(&app, &files, "?by=ci&percent=10").await.failure().1, "shell_not_rolled_out");
    publish_with(&app, &files, "?by=ci&hold=true").await;
    let body = json!({"version": "0.2.0", "percent": 10});
    let rolled_out = app.console(Method::POST, "/slices/mfe-shell/rollout", body).await;
    assert_eq!(rolled_out.failure().1, "shell_not_rolled_out");
    assert_eq!(app.console(Method::DELETE, "/slices/mfe-shell", None).await.failure().1, "shell_stays");
}

#[tokio::test]
async fn a_shell_that_is_published_in_a_sandbox_is_served_there_only() {
    let (app, _portal) = started().await;
    let main = page(&app).await;
    let sandbox = app.make_sandbox(json!({"name": "friday"})).await;
    assert_eq!(publish_in(&sandbox, &shell("0.2.0", "0.1.0", "elsewhere()")).await.status, 201);
    assert_eq!(title(&sandbox.get("/").await), "0.2.0");
    let code = sandbox.get("/assets/shell.0.2.0.js").await;
    assert_eq!(html(&code), "elsewhere()");
    assert_eq!(page(&app).await, main);
    assert_eq!(app.get("/assets/shell.0.2.0.js").await.status, 404, "nor from a cache");
}

/// The token that was handed to the container of `slice`.
fn handed(folder: &TempDir, slice: &str) -> String {
    std::fs::read_to_string(folder.path().join(slice).join("token")).unwrap()
}

#[tokio::test]
async fn each_container_is_handed_the_deploy_token_of_its_slice() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["mfe-shell", "mfe-loans", "lost+found"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let app = TestApp::start().await;
    let hand_out = async || slices::deploy::hand_out(&app.sandbox.slices, folder.path()).await.unwrap();
    hand_out().await;
    assert!(!folder.path().join("lost+found/token").exists());
    let deploy = async |token: &str, files: &Files| app.send(publication(token, files)).await;
    let (of_shell, of_loans) = (handed(&folder, "mfe-shell"), handed(&folder, "mfe-loans"));
    assert_eq!(deploy(&of_shell, &shell("0.1.0", "0.1.0", "draw()")).await.status, 201);
    assert_eq!(deploy(&of_loans, &build("mfe-loans", "0.1.0")).await.status, 201);
    assert_eq!(deploy(&of_loans, &shell("0.2.0", "0.1.0", "draw()")).await.failure().1, "wrong_slice");

    hand_out().await;
    assert_eq!(handed(&folder, "mfe-loans"), of_loans, "a restart changes nothing");
    app.console(Method::DELETE, "/deploy-tokens/mfe-loans/container", None).await;
    hand_out().await;
    let revoked = deploy(&handed(&folder, "mfe-loans"), &build("mfe-loans", "0.2.0")).await;
    assert_eq!(revoked.failure().1, "no_deploy_token");
    std::fs::remove_file(folder.path().join("mfe-loans/token")).unwrap();
    std::fs::remove_file(folder.path().join("mfe-shell/token")).unwrap();
    hand_out().await;
    assert_eq!(deploy(&handed(&folder, "mfe-loans"), &build("mfe-loans", "0.2.0")).await.status, 201);
    let replaced = deploy(&of_shell, &shell("0.3.0", "0.1.0", "draw()")).await;
    assert_eq!(replaced.failure().1, "no_deploy_token");
    let mode = std::fs::metadata(folder.path().join("mfe-loans/token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o440);
}
