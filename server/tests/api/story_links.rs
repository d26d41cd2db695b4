//! Links to stories: addresses at which guests get a sandbox of their own.

use std::time::Duration;

use axum::http::{Method, header};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, html},
    command_line::{self, mkopo},
    sandboxes::tend,
    test_app::{Answer, TestApp, request, wait_until, with_headers},
};

/// A link for guests.
struct Link<'a> {
    app: &'a TestApp,
    id: String,
    path: String,
}

impl<'a> Link<'a> {
    async fn make(app: &'a TestApp, new: Value) -> Self {
        let made = app.console(Method::POST, "/story-links", new).await;
        assert_eq!(made.status, 201);
        let made = made.json();
        let url = made["url"].as_str().unwrap();
        let path = url.strip_prefix("http://127.0.0.1:8080").unwrap().to_owned();
        Self { app, id: made["id"].as_str().unwrap().to_owned(), path }
    }

    async fn page(&self) -> Answer {
        self.app.get(&self.path).await
    }

    async fn press(&self) -> Answer {
        self.app.call(Method::POST, &self.path, None).await
    }

    /// Opens it, and enters the sandbox.
    async fn guest(&self) -> TestApp {
        let opened = self.press().await;
        assert_eq!(opened.status, 303);
        enter(self.app, opened.headers[header::LOCATION].to_str().unwrap()).await
    }
}

/// Enters a sandbox at the address that a guest got.
async fn enter(app: &TestApp, url: &str) -> TestApp {
    let (origin, code) = url.split_once("/enter#").unwrap();
    let host = origin.strip_prefix("http://").unwrap();
    let sandbox = app.given(host.split('.').next().unwrap(), "");
    let entered = enter_by_code(&sandbox, code).await;
    sandbox.with(entered.json()["user"]["token"].as_str().unwrap())
}

async fn enter_by_code(sandbox: &TestApp, code: &str) -> Answer {
    let call = request(Method::POST, "/story/enter", None, json!({"code": code}));
    let host = format!("{}.localhost:8080", sandbox.name);
    sandbox.send(with_headers(call, &[("host", &host), ("origin", &format!("http://{host}"))])).await
}

async fn role(guest: &TestApp) -> Value {
    guest.get("/api/v1/auth/me").await.json()["role"].clone()
}

async fn story_of(guest: &TestApp) -> Value {
    guest.get("/story/told").await.json()
}

/// The loan of the story that waits.
async fn loan(guest: &TestApp, loan_id: &str) -> Option<Value> {
    guest.pending().await.into_iter().find(|loan| loan["loan_id"] == loan_id)
}

async fn pay(guest: &TestApp, loan_id: &str) -> u16 {
    let loan = loan(guest, loan_id).await.unwrap();
    guest.as_time_passes_there(guest.disburse(&loan)).await.status.as_u16()
}

/// The number of sandboxes, besides `main`.
async fn count(app: &TestApp) -> usize {
    app.read_console("/sandboxes").await.as_array().unwrap().len() - 1
}

#[tokio::test]
async fn who_opens_a_link_gets_a_sandbox_of_their_own_and_is_signed_in_there() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "refused"})).await;
    // A chat program that shows what is behind an address opens it, too.
    for _ in 0..3 {
        let page = link.page().await;
        assert_eq!(page.status, 200);
        assert!(html(&page).contains("A refusal and its reason"), "{}", html(&page));
        assert_eq!(page.headers["x-robots-tag"], "noindex");
    }
    assert_eq!(count(&app).await, 0);

    let guest = link.guest().await;
    assert_eq!((role(&guest).await, count(&app).await), (json!("agent"), 1));
    let told = story_of(&guest).await;
    assert_eq!(told["story"]["steps"][0]["state"], "next");
    assert_eq!(
        (&told["may_keep"], &told["may_go_on"], &told["invitations"]),
        (&json!(true), &json!(false), &json!([]))
    );
    assert_eq!(pay(&guest, "LN-OTIENO").await, 422);
    wait_until("two steps are done", async || story_of(&guest).await["story"]["steps"][2]["state"] == "next")
        .await;
    // A guest has no password: this address is the way back.
    let own = told["own_url"].as_str().unwrap();
    assert_eq!(role(&enter(&app, own).await).await, "agent");
    let list = guest.get("/slices.json").await.json();
    assert_eq!(list["portal"]["story"], true);

    // Nothing of it is anywhere else.
    let agent = app.sign_in("agent").await;
    assert!(agent.pending().await.iter().all(|loan| loan["loan_id"] != "LN-OTIENO"));
    assert_eq!(agent.get("/story/told").await.failure().1, "no_story");
    let of_main = app.get("/slices.json").await.json();
    assert_eq!(of_main["portal"]["story"], Value::Null);
    assert_eq!(guest.get("/console/api/clock").await.status, 401);
}

#[tokio::test]
async fn a_link_that_makes_no_sandbox_says_why() {
    let app = TestApp::start().await;
    let used_up = Link::make(&app, json!({"story": "refused"})).await;
    used_up.guest().await;
    let over = Link::make(&app, json!({"story": "refused", "works_for": "1h"})).await;
    let revoked = Link::make(&app, json!({"story": "refused", "worlds": 5})).await;
    let guest = revoked.guest().await;
    let unknown = Link { app: &app, id: String::new(), path: "/open/0123456789abcdef".to_owned() };
    let path = format!("/story-links/{}", revoked.id);
    assert_eq!(app.console(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(app.console(Method::DELETE, &path, None).await.failure().1, "link_not_found");
    app.clock.advance(Duration::from_mins(61));
    let unreadable = Link { app: &app, id: String::new(), path: "/open/%ff".to_owned() };
    for (link, status, sentence) in [
        (&used_up, 410, "This link is used up"),
        (&over, 410, "This link is over"),
        (&revoked, 410, "This link was revoked"),
        (&unknown, 404, "This link is not known"),
        (&unreadable, 404, "This link is not known"),
    ] {
        for answer in [link.page().await, link.press().await] {
            assert_eq!(answer.status.as_u16(), status, "{sentence}");
            assert!(html(&answer).contains(sentence), "{}", html(&answer));
        }
    }
    // What it has made stays.
    assert_eq!(story_of(&guest).await["story"]["name"], "refused");
}

#[tokio::test]
async fn a_link_makes_as_many_sandboxes_as_it_says_however_many_open_it_at_once() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "first-payout", "worlds": 3})).await;
    let pressed = join_all((0..40).map(|_| link.press())).await;
    let opened = pressed.iter().filter(|answer| answer.status == 303).count();
    assert_eq!((opened, count(&app).await), (3, 3));
    let listed = app.read_console("/story-links").await;
    assert_eq!(listed[0]["made"], 3);
}

#[tokio::test]
async fn a_double_click_opens_one_sandbox() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "first-payout"})).await;
    let page = link.page().await;
    let action = html(&page).split("action=\"").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("{}{action}", link.path);
    let click = || app.post(&path, None);
    let (first, second) = tokio::join!(click(), click());
    assert_eq!(first.status, 303);
    assert_eq!(first.headers[header::LOCATION], second.headers[header::LOCATION]);
    assert_eq!(count(&app).await, 1);
    app.clock.advance(Duration::from_mins(1));
    assert_eq!(click().await.status, 410);
}

/// Anybody can send any text there, and as much as an address has room for.
#[tokio::test]
async fn what_is_no_page_of_a_link_is_not_remembered() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "first-payout", "worlds": 2})).await;
    let path = format!("{}?{}", link.path, "x".repeat(1000));
    for sandboxes in [1, 2] {
        assert_eq!(app.post(&path, None).await.status, 303);
        assert_eq!(count(&app).await, sandboxes);
    }
}

#[tokio::test]
async fn a_full_server_takes_nothing_off_a_link() {
    let app = TestApp::start_with(&["--sandboxes", "1"]).await;
    let link = Link::make(&app, json!({"story": "first-payout", "worlds": 5})).await;
    link.guest().await;
    let refused = link.press().await;
    assert_eq!(refused.status, 503);
    assert!(html(&refused).contains("All places are taken"));
    assert_eq!(app.read_console("/story-links").await[0]["made"], 1);
}

#[tokio::test]
async fn a_link_to_a_story_that_can_not_begin_is_not_made_or_says_so_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("held.yaml");
    let app = TestApp::start_with(&["--stories", folder.path().to_str().unwrap()]).await;
    std::fs::write(&file, "title: Held\nsteps: [{ say: Look. }]\n").unwrap();
    let link = Link::make(&app, json!({"story": "held"})).await;
    std::fs::write(&file, "title: Held\nslices: { mfe-loans: 9.9.9 }\nsteps: [{ say: Look. }]\n").unwrap();
    let refused = link.press().await;
    assert_eq!(refused.status, 422);
    assert!(html(&refused).contains("This story can't begin"), "{}", html(&refused));
    assert_eq!(app.read_console("/story-links").await[0]["made"], 0);
    assert_eq!(count(&app).await, 0);

    let another = app.console(Method::POST, "/story-links", json!({"story": "held"})).await;
    assert_eq!(another.refusal(), "422 invalid_request: There is no build 9.9.9 of mfe-loans.");
}

#[tokio::test]
async fn a_story_without_a_seed_can_be_entered_outside_demo_mode_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain.yaml"), "title: Plain\nsteps: [{ say: Look. }]\n").unwrap();
    let stories = folder.path().to_str().unwrap();
    let app = TestApp::start_with(&["--demo", "false", "--sandboxes", "5", "--stories", stories]).await;
    assert_eq!(role(&Link::make(&app, json!({"story": "plain"})).await.guest().await).await, "agent");
}

#[tokio::test]
async fn two_people_in_one_sandbox_see_what_the_other_does() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "first-payout", "roles": ["agent", "supervisor"]})).await;
    let agent = link.guest().await;
    let invitations = story_of(&agent).await["invitations"].clone();
    assert_eq!(invitations[0]["role"], "supervisor");
    let supervisor = enter(&app, invitations[0]["url"].as_str().unwrap()).await;
    assert_eq!(role(&supervisor).await, "supervisor");
    assert_eq!(pay(&agent, "LN-WANJIRU").await, 200);
    assert_eq!(loan(&supervisor, "LN-WANJIRU").await, None);
    assert_eq!(count(&app).await, 1);
    assert_eq!(story_of(&supervisor).await["invitations"][0]["role"], "agent");

    // The code of one sandbox opens no other, and no other role.
    let (_, code) = invitations[0]["url"].as_str().unwrap().split_once('#').unwrap();
    let other = Link::make(&app, json!({"story": "first-payout"})).await.guest().await;
    for wrong in [code.to_owned(), code.replace("supervisor", "admin"), "agent.".to_owned(), "x".repeat(90)] {
        assert_eq!(enter_by_code(&other, &wrong).await.failure().1, "no_entry", "{wrong}");
    }
    let untold = app.make_sandbox(json!({"name": "untold"})).await;
    assert_eq!(enter_by_code(&untold, code).await.failure().1, "no_story");
}

#[tokio::test]
async fn a_sandbox_of_a_link_goes_after_its_time_though_it_is_used_and_can_be_kept_once() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "first-payout", "worlds": 2, "lives_for": "1h"})).await;
    let (short, kept) = (link.guest().await, link.guest().await);
    for _ in 0..5 {
        app.clock.advance(Duration::from_mins(10));
        tend(&app).await;
        assert_eq!(story_of(&short).await["story"]["name"], "first-payout");
    }
    let told = kept.post("/story/keep", None).await.json();
    assert_eq!((&told["may_keep"], &told["ends_at"]), (&json!(false), &json!("2026-11-21T09:50:00.000Z")));
    app.clock.advance(Duration::from_mins(11));
    assert_eq!(short.get("/story/told").await.failure().1, "sandbox_not_found");
    tend(&app).await;
    assert_eq!(count(&app).await, 1);

    // Once more changes nothing.
    let again = kept.post("/story/keep", None).await.json();
    assert_eq!(again["ends_at"], "2026-11-21T09:50:00.000Z");
    // It is kept over a restart of the server, too, and goes without a call.
    let app = app.restart().await;
    let kept = app.given(&kept.name, "").with(kept.token());
    assert_eq!(count(&app).await, 1);
    app.clock.advance(Duration::from_hours(24 * 7));
    tend(&app).await;
    assert_eq!(count(&app).await, 0);
    assert_eq!(kept.get("/story/told").await.failure().1, "sandbox_not_found");
}

#[tokio::test]
async fn a_week_of_guests_leaves_nothing() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "refused", "worlds": 100, "works_for": "7d"})).await;
    for day in 0..7 {
        for guest in join_all((0..4).map(|_| link.guest())).await {
            assert_eq!(pay(&guest, "LN-OTIENO").await, 422, "day {day}");
        }
        app.clock.advance(Duration::from_hours(24));
        tend(&app).await;
        assert_eq!(count(&app).await, 0, "day {day}");
    }
    let folder = app.data_dir().join("sandboxes");
    wait_until("the data is deleted", async || std::fs::read_dir(&folder).unwrap().next().is_none()).await;
}

#[tokio::test]
async fn a_story_begins_again_for_everybody_in_its_sandbox() {
    let app = TestApp::start().await;
    let guest = Link::make(&app, json!({"story": "refused"})).await.guest().await;
    assert_eq!(pay(&guest, "LN-OTIENO").await, 422);
    let again = guest.post("/story/again", None).await;
    assert_eq!(again.status, 200);
    assert_eq!(guest.get("/story/told").await.status, 401);
    let guest = guest.with(again.json()["user"]["token"].as_str().unwrap());
    assert_eq!(
        story_of(&guest).await["story"]["steps"][0]["found"],
        json!(["Loan LN-OTIENO has no record."])
    );
    assert_eq!(pay(&guest, "LN-OTIENO").await, 422);
}

#[tokio::test]
async fn of_guests_who_begin_a_story_again_at_once_one_does_and_all_are_let_in() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "refused", "roles": ["agent", "supervisor"]})).await;
    let agent = link.guest().await;
    let url = story_of(&agent).await["invitations"][0]["url"].as_str().unwrap().to_owned();
    let supervisor = enter(&app, &url).await;
    assert_eq!(pay(&agent, "LN-OTIENO").await, 422);
    let guests = [&agent, &supervisor, &agent, &supervisor];
    let begun = join_all(guests.map(|guest| guest.post("/story/again", None))).await;
    for answer in begun {
        let guest = agent.with(answer.json()["user"]["token"].as_str().unwrap());
        assert_eq!(story_of(&guest).await["story"]["steps"][0]["state"], "next");
        assert!(loan(&guest, "LN-OTIENO").await.is_some());
    }
}

#[tokio::test]
async fn what_a_guest_takes_along_begins_a_demo() {
    let app = TestApp::start_on_file().await;
    let new = json!({"story": "lost-answer", "roles": ["agent", "supervisor"]});
    let guest = Link::make(&app, new).await.guest().await;
    let invited = story_of(&guest).await["invitations"][0]["url"].as_str().unwrap().to_owned();
    enter(&app, &invited).await;
    let of_supervisor = Some(json!({"email": "supervisor@mkopo.test"}));
    let code = guest.call(Method::POST, "/api/v1/auth/request-password-reset", of_supervisor).await;
    assert_eq!(code.status, 200);
    assert_eq!(pay(&guest, "LN-AMINA").await, 202);
    story_of(&guest).await;
    let taken = guest.get("/story/file").await;
    assert_eq!(taken.headers[header::CONTENT_DISPOSITION], "attachment; filename*=UTF-8''lost-answer.mkopo");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lost-answer.mkopo");
    std::fs::write(&file, &taken.bytes).unwrap();
    // Nothing of it is of the people who were there: not even in pages that are free.
    assert!(!taken.bytes.windows(9).any(|part| part == b"127.0.0.1"));
    let there = TestApp::start_at(&format!("sqlite:{}", file.display()), app.clock.clone()).await;
    assert_eq!(there.sign_in("agent").await.get("/api/v1/auth/me").await.status, 200);
    let told = there.read_console("/story").await;
    assert_eq!((&told["name"], &told["steps"][0]["state"]), (&json!("lost-answer"), &json!("done")));
    // Whoever was signed in there is not signed in here.
    assert_eq!(there.with(guest.token()).get("/story/told").await.status, 401);
    let messages = there.read_console("/outbox?to=%2B254711000002").await;
    assert!(messages[0]["body"].as_str().unwrap().starts_with("•••••• is your Mkopo password reset code"));
    assert_eq!(messages[0]["code"], Value::Null);

    let wrong = folder.path().join("wrong.mkopo");
    std::fs::write(&wrong, "no sandbox").unwrap();
    let output = mkopo()
        .args(["demo", "--listen", "127.0.0.1:0", "--from", wrong.to_str().unwrap()])
        .args(["--data-dir", folder.path().join("other").to_str().unwrap()])
        .output()
        .unwrap();
    assert!(command_line::error_line(&output).contains("wrong.mkopo is not a sandbox of Mkopo"));
}

#[tokio::test]
async fn openings_are_limited_and_pages_of_other_sites_can_not_open_a_link() {
    let app = TestApp::start().await;
    let link = Link::make(&app, json!({"story": "refused"})).await;
    let from_elsewhere = request(Method::POST, &link.path, None, None);
    let from_elsewhere = with_headers(from_elsewhere, &[("sec-fetch-site", "cross-site")]);
    assert_eq!(app.send(from_elsewhere).await.status, 403);
    let unknown = Link { app: &app, id: String::new(), path: "/open/guessed".to_owned() };
    let mut limited = 0;
    for _ in 0..305 {
        limited += usize::from(unknown.press().await.status == 429);
    }
    assert_eq!(limited, 6);
}

#[tokio::test]
async fn a_server_without_sandboxes_says_so_on_the_page_of_a_link_and_does_not_use_it_up() {
    let app = TestApp::start().await;
    let mut link = Link::make(&app, json!({"story": "refused"})).await;
    let other = app.another_server(&["--sandboxes", "0"]).await;
    link.app = &other;
    for answer in [link.page().await, link.press().await] {
        assert_eq!(answer.status, 421);
        assert!(html(&answer).contains("This server opens no links"));
    }
    let unknown = Link { app: &other, id: String::new(), path: "/open/0123456789abcdef".to_owned() };
    assert_eq!(unknown.page().await.status, 404);
    link.app = &app;
    assert_eq!(link.press().await.status, 303);
}

#[tokio::test]
async fn a_link_that_makes_no_sense_is_refused_with_the_field() {
    let app = TestApp::start().await;
    for (new, field) in [
        (json!({"story": "no-such"}), "story"),
        (json!({"story": "refused", "roles": []}), "roles"),
        (json!({"story": "refused", "roles": ["agent", "agent"]}), "roles"),
        (json!({"story": "refused", "worlds": 0}), "worlds"),
        (json!({"story": "refused", "worlds": 1001}), "worlds"),
        (json!({"story": "refused", "lives_for": "8d"}), "lives_for"),
        (json!({"story": "refused", "lives_for": "soon"}), "lives_for"),
        (json!({"story": "refused", "works_for": "1s"}), "works_for"),
    ] {
        let refused = app.console(Method::POST, "/story-links", new.clone()).await;
        assert_eq!((refused.status.as_u16(), &refused.body()["field"]), (422, &json!(field)), "{new}");
    }
    for number in 0..200 {
        Link::make(&app, json!({"story": "refused", "worlds": 1 + number % 3})).await;
    }
    let refused = app.console(Method::POST, "/story-links", json!({"story": "refused"})).await;
    assert_eq!(refused.failure().1, "too_many_links");
}

#[tokio::test]
async fn the_command_makes_lists_and_revokes_links() {
    let app = TestApp::start().await;
    let run = async |arguments: &[&str]| command_line::printed(command_line::command(&app, arguments).await);
    let printed = run(&["story", "link", "refused", "--worlds", "2", "--role", "supervisor"]).await;
    let path = printed.trim().strip_prefix("http://127.0.0.1:8080").unwrap().to_owned();
    let link = Link { app: &app, id: String::new(), path };
    assert_eq!(role(&link.guest().await).await, "supervisor");
    let listed = run(&["story", "links"]).await;
    let id = listed.split('\t').next().unwrap();
    assert!(listed.contains("\trefused\t1 of 2\t") && listed.ends_with("\topen\n"), "{listed}");
    let unknown = command_line::command(&app, &["story", "revoke", "a b/c"]).await;
    assert_eq!(command_line::error_line(&unknown), "mkopo: There is no such link.");
    run(&["story", "revoke", id]).await;
    assert!(run(&["story", "links"]).await.ends_with("\trevoked\n"));
    assert_eq!(link.press().await.status, 410);
}

#[tokio::test]
async fn the_page_of_sandboxes_makes_and_revokes_links() {
    let (app, browser) = Browser::start().await;
    let fields = [("story", "refused"), ("roles", "supervisor agent"), ("worlds", "2"), ("lives_for", "30m")];
    let made = browser.send("/console/sandboxes", "link", &fields).await;
    assert_eq!(made.status, 200);
    let (_, url) = html(&made).split_once("id=\"link\">http://127.0.0.1:8080").unwrap();
    let link = Link { app: &app, id: String::new(), path: url.split('<').next().unwrap().to_owned() };
    assert_eq!(role(&link.guest().await).await, "supervisor");
    let page = browser.read("/console/sandboxes").await;
    assert!(page.contains("supervisor, agent 1 of 2 30 min"), "{page}");
    let wrong =
        browser.send("/console/sandboxes", "link", &[("story", "refused"), ("lives_for", "8d")]).await;
    assert_eq!(wrong.status, 422);
    let links = app.read_console("/story-links").await;
    let id = ("id", links[0]["id"].as_str().unwrap());
    assert!(page.contains(&format!("refused Works {} ", &id.1[..13])), "{page}");
    assert!(browser.done("/console/sandboxes", "revoke", &[id]).await.contains("The link is revoked."));
    assert_eq!(link.press().await.status, 410);
}
