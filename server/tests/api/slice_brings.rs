//! The additions of slices: screens, menu entries, and the integrity of everything that browsers load.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::slices::{
    Files, activate, build, build_of, live, manifest, portal, publish, remove, roll_back, start, started,
    versions,
};

/// A build of `name` with a screen at each of `paths`.
fn with_screens(name: &str, version: &str, paths: &[&str]) -> Files {
    let mut manifest = manifest(name, version);
    let screens = paths.iter().map(|path| json!({"path": path, "title": "A screen"}));
    manifest["brings"]["screens"] = screens.collect();
    build_of(&manifest)
}

#[tokio::test]
async fn the_portal_reads_what_the_live_build_brings() {
    let (app, _portal) = started().await;
    let mut next = manifest("mfe-loans", "0.2.0");
    next["brings"] = json!({
        "screens": [{"path": "/loans", "title": "Loans"}, {"path": "/welcome", "title": "Welcome", "public": true}],
        "menu": [{
            "label": "Loans", "to": "/loans", "icon": "money", "position": 20, "roles": ["admin"], "below": "/loans/*",
        }],
        "failures": {"load": "The loans can't be shown."},
    });
    assert_eq!(publish(&app, &build_of(&next)).await.status, 201);
    let loans = live(&app).await["mfe-loans"].clone();
    for part in ["screens", "menu", "failures"] {
        assert_eq!(loans[part], next["brings"][part]);
    }
    roll_back(&app, "mfe-loans").await;
    assert_eq!(live(&app).await["mfe-loans"]["screens"], json!([{"path": "/", "title": "Dashboard"}]));
}

#[tokio::test]
async fn of_two_slices_that_want_one_path_the_second_is_refused_with_both_names() {
    let (app, _portal) = started().await;
    for (path, owner) in
        [("/", "mfe-loans"), ("/settings", "mfe-shell"), ("/api/x", "the server"), ("/kit", "the server")]
    {
        let refused = publish(&app, &with_screens("mfe-repayments", "1.0.0", &["/repayments", path])).await;
        let text = format!("409 path_taken: mfe-repayments wants the path {path}, which {owner} has.");
        assert_eq!(refused.refusal(), text);
    }
    assert_eq!(live(&app).await["mfe-repayments"], Value::Null);

    publish(&app, &with_screens("mfe-repayments", "1.0.0", &["/plans/:id"])).await;
    let refused = publish(&app, &with_screens("mfe-plans", "1.0.0", &["/Plans/:plan"])).await;
    assert_eq!(refused.failure().2, "mfe-plans wants the path /Plans/:plan, which mfe-repayments has.");
    // The router prefers the exact path, whosever it is.
    for path in ["/plans/new", "/:any/:thing", "/:any/new"] {
        let refused = publish(&app, &with_screens("mfe-new", "1.0.0", &[path])).await;
        assert_eq!(refused.failure().1, "path_taken", "{path}");
    }
    // A path that its owner gave up is free.
    publish(&app, &with_screens("mfe-repayments", "1.1.0", &["/repayments"])).await;
    assert_eq!(publish(&app, &with_screens("mfe-plans", "1.0.0", &["/plans/:plan"])).await.status, 201);
    // And then the older build of its owner can not go live.
    for refused in [activate(&app, "mfe-repayments", "1.0.0").await, roll_back(&app, "mfe-repayments").await]
    {
        assert_eq!(refused.failure().2, "mfe-repayments wants the path /plans/:id, which mfe-plans has.");
    }
    assert_eq!(live(&app).await["mfe-repayments"]["version"], "1.1.0");
}

#[tokio::test]
async fn a_slice_whose_bundled_build_has_a_path_of_another_is_not_removed() {
    let (app, _portal) = started().await;
    publish(&app, &with_screens("mfe-loans", "0.2.0", &["/loans"])).await;
    assert_eq!(publish(&app, &with_screens("mfe-plans", "1.0.0", &["/"])).await.status, 201);
    let refused = remove(&app, "mfe-loans").await.refusal();
    assert_eq!(refused, "409 path_taken: mfe-loans wants the path /, which mfe-plans has.");
    assert_eq!(versions(&app).await.0, "0.2.0");
    assert_eq!(remove(&app, "mfe-plans").await.status, 200);
    assert_eq!(remove(&app, "mfe-loans").await.status, 200);
}

#[tokio::test]
async fn of_two_menu_entries_that_read_alike_the_second_is_refused() {
    let portal = portal();
    let list = portal.path().join("slices.json");
    let mut listed: Value = serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    listed["shell"]["menu"] = json!([
        {"label": "Settings", "to": "/settings", "icon": "money", "position": 90, "roles": ["admin", "agent"]},
    ]);
    std::fs::write(&list, listed.to_string()).unwrap();
    let app = start(&portal).await;
    let with_label = |name: &str, label: &str| {
        let mut manifest = manifest(name, "1.0.0");
        let to = manifest["brings"]["screens"][0]["path"].clone();
        manifest["brings"]["menu"] =
            json!([{"label": label, "to": to, "icon": "money", "position": 1, "roles": ["admin"]}]);
        build_of(&manifest)
    };
    publish(&app, &with_label("mfe-plans", "Repayment plans")).await;
    for (taken, owner) in [("repayment  Plans", "mfe-plans"), ("SETTINGS ", "mfe-shell")] {
        let refused = publish(&app, &with_label("mfe-new", taken)).await;
        let text = format!("409 label_taken: mfe-new wants the menu entry \"{taken}\", which {owner} has.");
        assert_eq!(refused.refusal(), text);
    }
    for hidden in ["Repayment\u{200b} plans", "snalp\u{202e}", "Plans\n"] {
        let refused = publish(&app, &with_label("mfe-new", hidden)).await;
        assert_eq!(refused.failure().1, "bad_build", "{hidden:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_slices_published_at_once_with_one_path_one_is_live() {
    let (app, _portal) = started().await;
    let builds = ["mfe-plans", "mfe-repayments"].map(|name| with_screens(name, "1.0.0", &["/plans"]));
    let (one, other) = tokio::join!(publish(&app, &builds[0]), publish(&app, &builds[1]));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
}

#[tokio::test]
async fn what_the_shell_cannot_draw_is_refused_with_a_reason() {
    let (app, _portal) = started().await;
    let entry =
        json!({"label": "Loans", "to": "/loans", "icon": "money", "position": 20, "roles": ["admin"]});
    let with = |change: &dyn Fn(&mut Value)| {
        let mut manifest = manifest("mfe-loans", "0.2.0");
        manifest["brings"]["menu"] = json!([entry]);
        change(&mut manifest["brings"]);
        build_of(&manifest)
    };
    let mut reasons = Vec::new();
    for files in [
        with(&|brings| brings["screens"] = json!([])),
        with(&|brings| brings["screens"][0]["path"] = json!("loans")),
        with(&|brings| brings["screens"][0]["title"] = json!("")),
        with(&|brings| {
            brings["screens"] = json!([{"path": "/l/:a", "title": "A"}, {"path": "/l/:b", "title": "B"}]);
        }),
        with(&|brings| brings["menu"][0]["icon"] = json!("unicorn")),
        with(&|brings| brings["menu"][0]["to"] = json!("/elsewhere")),
        with(&|brings| brings["menu"][0]["roles"] = json!([])),
        with(&|brings| brings["menu"][0]["roles"] = json!(["auditor"])),
        with(&|brings| brings["menu"][0]["position"] = json!(1001)),
        with(&|brings| brings["menu"][0]["below"] = json!("loans")),
        with(&|brings| brings["menu"][0]["label"] = json!("L".repeat(41))),
        with(&|brings| brings["failures"]["load"] = json!(" ")),
        with(&|brings| brings["colour"] = json!("red")),
    ] {
        reasons.push(publish(&app, &files).await.refusal());
    }
    assert_eq!(versions(&app).await.0, "0.1.0");
    assert_snapshot!(reasons.join("\n"), @r#"
    422 bad_build: It brings no screen: list its screens in slice.screens of its package.json.
    422 bad_build: The path "loans" of a screen is not one such as /loans/:id.
    422 bad_build: A title must have 1 to 100 characters that can be seen: "".
    422 bad_build: It brings two screens at /l/:b.
    422 bad_build: Its menu entry "Loans" has the icon "unicorn", which mfe-kit 0.1.0 does not have.
    422 bad_build: Its menu entry "Loans" leads to "/elsewhere", which is no screen of it.
    422 bad_build: Its menu entry "Loans" names no role, so nobody would see it.
    422 bad_build: Its mf-manifest.json can't be read: unknown variant `auditor`, expected one of `admin`, `agent`, `supervisor` at line 1 column 97.
    422 bad_build: Its menu entry "Loans" has the position 1001; the largest is 1000.
    422 bad_build: Its menu entry "Loans" has "loans" below it, which is not a path such as /loans/*.
    422 bad_build: A label must have 1 to 40 characters that can be seen: "LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL".
    422 bad_build: A sentence of a failure must have 1 to 300 characters that can be seen: " ".
    422 bad_build: Its mf-manifest.json can't be read: unknown field `colour`, expected one of `screens`, `menu`, `failures` at line 1 column 19.
    "#);
}

#[tokio::test]
async fn a_build_names_the_integrity_of_every_script_and_style() {
    let (app, _portal) = started().await;
    let mut changed = build("mfe-loans", "0.2.0");
    changed.insert("screen.js".to_owned(), b"another screen".to_vec());
    let mut added = build("mfe-loans", "0.2.0");
    added.insert("screen.css".to_owned(), b"h1 {}".to_vec());
    assert_snapshot!(publish(&app, &changed).await.refusal(), @r#"422 bad_build: Its "screen.js" is not the file whose integrity its manifest names."#);
    assert_snapshot!(publish(&app, &added).await.refusal(), @r#"422 bad_build: Its manifest does not name the integrity of "screen.css"."#);
}
