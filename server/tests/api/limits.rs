use std::time::Duration;

use axum::http::Method;
use lending::demo;
use serde_json::{Value, json};

use crate::{
    browser::cookie_of,
    live_settings::LIVE,
    test_app::{Answer, Status, TestApp},
};

const AGENT: &str = "agent@mkopo.test";
const HERE: &str = "192.0.2.1";
const ELSEWHERE: &str = "192.0.2.2";

async fn login_from(app: &TestApp, address: &str, email: &str, password: &str) -> Status {
    app.from(address).login(email, password).await.status
}

/// The statuses of sign-ins as several unknown users from one address.
async fn strangers(app: &TestApp, address: &str, numbers: std::ops::Range<u32>) -> Vec<Status> {
    let mut statuses = Vec::new();
    for n in numbers {
        statuses.push(login_from(app, address, &format!("nobody-{n}@mkopo.test"), "wrong").await);
    }
    statuses
}

fn passed(statuses: &[Status]) -> usize {
    statuses.iter().filter(|status| **status != 429).count()
}

const COUNTS: &str = "SELECT count(*) FROM try_count";

// S-16, S-44
#[tokio::test]
async fn the_tenth_wrong_password_of_a_user_is_one_too_many_from_one_address() {
    let app = TestApp::start().await;
    for _ in 0..9 {
        assert_eq!(login_from(&app, HERE, AGENT, "wrong").await, 400);
    }
    app.clock.advance(Duration::from_millis(500));
    let answer = app.from(HERE).login(AGENT, "wrong").await;
    assert_eq!(answer.headers["retry-after"], "900");
    assert_eq!(answer.refusal(), "429 too_many_requests: Too many attempts. Try again in 15 minutes.");
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
    assert_eq!(login_from(&app, HERE, "supervisor@mkopo.test", demo::PASSWORD).await, 200);
}

// S-44
#[tokio::test]
async fn an_attack_from_one_address_does_not_lock_the_owner_out_elsewhere() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        for _ in 0..30 {
            login_from(&app, HERE, AGENT, "wrong").await;
        }
        assert_eq!(login_from(&app, ELSEWHERE, AGENT, demo::PASSWORD).await, 200);
        app.clock.advance(Duration::from_mins(15));
    }
}

/// Makes 60 attempts from several addresses, of which 50 are decided.
async fn attack_from_everywhere(app: &TestApp) {
    let mut statuses = Vec::new();
    for n in 0..60 {
        statuses.push(login_from(app, &format!("203.0.113.{}", n % 20), AGENT, "wrong").await);
    }
    assert_eq!(passed(&statuses), 50);
}

// S-44
#[tokio::test]
async fn the_51st_wrong_password_of_a_user_within_an_hour_is_one_too_many_from_anywhere() {
    let app = TestApp::start().await;
    attack_from_everywhere(&app).await;
    let refused = app.from(HERE).login(AGENT, demo::PASSWORD).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.headers["retry-after"], "3600");
    app.clock.advance(Duration::from_hours(1));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200);
}

/// Resets the password of the agent to `Kahawa-2026`, with the right code.
async fn reset_password(app: &TestApp) -> Status {
    app.request_reset_code(AGENT).await;
    let code = app.newest_code("+254711000003").await;
    app.reset_password(AGENT, &code, "Kahawa-2026").await.status
}

#[tokio::test]
async fn a_new_password_ends_the_lock_of_the_account() {
    let app = TestApp::start().await;
    attack_from_everywhere(&app).await;
    assert_eq!(reset_password(&app).await, 200);
    assert_eq!(login_from(&app, HERE, AGENT, "Kahawa-2026").await, 200);
}

/// Signs in as the agent, here, on a device with this cookie.
async fn login_on(app: &TestApp, cookie: &str, password: &str) -> Status {
    let device = app.from(HERE).with_header("cookie", &format!("theme=dark; {cookie}"));
    device.login(AGENT, password).await.status
}

/// The cookie of a device on which somebody signed in, as its browser sends it.
async fn device_of(app: &TestApp, email: &str) -> String {
    cookie_of(&app.from(HERE).login(email, demo::PASSWORD).await)
}

// S-44
#[tokio::test]
async fn a_device_that_signed_in_before_keeps_a_limit_of_its_own() {
    let app = TestApp::start().await;
    let device = device_of(&app, AGENT).await;
    attack_from_everywhere(&app).await;
    // Somebody else in the same office uses up the address.
    strangers(&app, HERE, 0..100).await;
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
    for _ in 0..2 {
        for _ in 0..8 {
            assert_eq!(login_on(&app, &device, "wrong").await, 400);
        }
        assert_eq!(login_on(&app, &device, demo::PASSWORD).await, 200);
    }
    for _ in 0..9 {
        assert_eq!(login_on(&app, &device, "wrong").await, 400);
    }
    assert_eq!(login_on(&app, &device, demo::PASSWORD).await, 429);
}

#[tokio::test]
async fn the_cookie_of_a_device_is_valid_for_its_account_its_password_and_180_days() {
    let app = TestApp::start().await;
    let device = device_of(&app, AGENT).await;
    let (value, signature) = device.rsplit_once('.').unwrap();
    let (rest, id) = value.rsplit_once('.').unwrap();
    let others = [
        device_of(&app, "supervisor@mkopo.test").await,
        format!("{rest}.{id}."),
        format!("{rest}.{}.{signature}", id.replace(['0', '1', '2', '3'], "4")),
        format!("mkopo_device=99999999999999.{id}.{signature}"),
        "mkopo_device=".to_owned(),
        "mkopo_device=..".to_owned(),
    ];
    attack_from_everywhere(&app).await;
    for other in &others {
        assert_eq!(login_on(&app, other, demo::PASSWORD).await, 429, "{other}");
    }
    assert_eq!(login_on(&app, &device, demo::PASSWORD).await, 200);

    app.clock.advance(Duration::from_hours(180 * 24));
    attack_from_everywhere(&app).await;
    assert_eq!(login_on(&app, &device, demo::PASSWORD).await, 429);
    app.clock.advance(Duration::from_hours(1));
    let device = device_of(&app, AGENT).await;
    assert_eq!(reset_password(&app).await, 200);
    attack_from_everywhere(&app).await;
    assert_eq!(login_on(&app, &device, "Kahawa-2026").await, 429, "the password is new");
}

#[tokio::test]
async fn a_device_on_which_the_password_is_changed_stays_one_that_signed_in_before() {
    let app = TestApp::start_with(&LIVE).await;
    let change = json!({"current_password": demo::PASSWORD, "new_password": "Kahawa-2026"});
    let changed = app.sign_in("agent").await.put("/api/v1/profile/password", change).await;
    assert_eq!(changed.status, 204);
    attack_from_everywhere(&app).await;
    assert_eq!(login_on(&app, &cookie_of(&changed), "Kahawa-2026").await, 200);
}

// S-19, S-20
#[tokio::test]
async fn the_cookie_of_a_device_is_kept_from_scripts_and_other_sites() {
    let app = TestApp::start().await;
    let cookie = app.login(AGENT, demo::PASSWORD).await.headers["set-cookie"].clone();
    let (value, scope) = cookie.to_str().unwrap().split_once("; ").unwrap();
    assert!(!value.contains("agent"), "{value}");
    assert_eq!(scope, "Path=/api/v1/auth; HttpOnly; SameSite=Strict; Max-Age=15552000");

    let app = TestApp::start_with(&["--behind-tls", "true"]).await;
    let cookie = app.login(AGENT, demo::PASSWORD).await.headers["set-cookie"].clone();
    let (value, scope) = cookie.to_str().unwrap().split_once("; ").unwrap();
    assert_eq!(scope, "Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=15552000");
    assert!(value.starts_with("__Host-mkopo_device="), "{value}");
    attack_from_everywhere(&app).await;
    assert_eq!(login_on(&app, value, demo::PASSWORD).await, 200);
}

#[tokio::test]
async fn an_attempt_after_the_time_in_retry_after_is_allowed() {
    let app = TestApp::start().await;
    for _ in 0..9 {
        login_from(&app, HERE, AGENT, "wrong").await;
        app.clock.advance(Duration::from_secs(7));
    }
    let refused = app.from(HERE).login(AGENT, demo::PASSWORD).await;
    let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert_eq!(wait, 15 * 60 - 9 * 7);
    app.clock.advance(Duration::from_secs(wait - 1));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200);
}

#[tokio::test]
async fn a_lock_by_a_clock_that_was_ahead_ends_when_the_clock_is_set_back() {
    let app = TestApp::start().await;
    app.set_console(Method::PUT, "/clock", json!({"advance": "2d"})).await;
    for _ in 0..9 {
        login_from(&app, HERE, AGENT, "wrong").await;
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
    app.set_console(Method::DELETE, "/clock", json!(null)).await;
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200);
}

#[tokio::test]
async fn a_sign_in_resets_the_users_count() {
    let app = TestApp::start().await;
    for _ in 0..3 {
        for _ in 0..8 {
            assert_eq!(login_from(&app, HERE, AGENT, "wrong").await, 400);
        }
        assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200);
    }
}

// S-30
#[tokio::test]
async fn the_hundredth_wrong_try_from_an_address_is_one_too_many_whatever_it_forwards() {
    let app = TestApp::start().await;
    for n in 0..101_u32 {
        let client = app.from(HERE).with_header("x-forwarded-for", &format!("203.0.113.{n}"));
        let status = client.login(&format!("nobody-{n}@mkopo.test"), "wrong").await.status;
        let expected = if n < 99 { 404 } else { 429 };
        assert_eq!(status, expected, "try {}", n + 1);
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
    assert_eq!(login_from(&app, ELSEWHERE, AGENT, demo::PASSWORD).await, 200);
}

#[tokio::test]
async fn a_sign_in_does_not_reset_the_addresss_count() {
    let app = TestApp::start().await;
    assert_eq!(passed(&strangers(&app, HERE, 0..98).await), 98);
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200);
    assert_eq!(passed(&strangers(&app, HERE, 98..102).await), 1);
}

// S-100
#[tokio::test]
async fn clients_behind_a_trusted_proxy_are_counted_separately() {
    let app = TestApp::start_with(&["--trusted-proxies", "192.0.2.0/24,10.0.0.1,::ffff:10.0.1.0/120"]).await;
    let from = async |forwarded_for: &str, n: u32| {
        let client = app.from(HERE).with_header("x-forwarded-for", forwarded_for);
        client.login(&format!("nobody-{n}@mkopo.test"), "wrong").await.status
    };
    for n in 0..99 {
        // Addresses that the client forged are to the left of the one that the proxy added.
        let forwarded_for = format!("10.9.9.{n}, 203.0.113.1, 10.0.1.7, 10.0.0.1");
        assert_eq!(from(&forwarded_for, n).await, 404);
    }
    assert_eq!(from("203.0.113.1", 99).await, 429);
    assert_eq!(from("203.0.113.2", 100).await, 404);
}

// S-13
#[tokio::test]
async fn concurrent_attempts_are_limited_like_sequential_ones() {
    let app = TestApp::start().await;
    let calls = (0..40).map(|n| login_from(&app, HERE, AGENT, ["wrong", "Wrong"][n % 2]));
    let statuses = futures::future::join_all(calls).await;
    assert_eq!(passed(&statuses), 9);
}

#[tokio::test]
async fn concurrent_correct_sign_ins_all_succeed() {
    let app = TestApp::start().await;
    let calls = (0..20).map(|_| login_from(&app, HERE, AGENT, demo::PASSWORD));
    let statuses = futures::future::join_all(calls).await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

#[tokio::test]
async fn counts_continue_after_a_restart_and_in_a_second_process() {
    let app = TestApp::start().await;
    for _ in 0..5 {
        login_from(&app, HERE, AGENT, "wrong").await;
    }
    let app = app.restart().await;
    let second = app.another_server(&[]).await;
    for _ in 0..4 {
        assert_eq!(login_from(&second, HERE, AGENT, "wrong").await, 400);
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
    assert_eq!(login_from(&second, HERE, AGENT, demo::PASSWORD).await, 429);
    // The next call knows of a new time, though it has no session.
    app.set_console(Method::PUT, "/clock", json!({"advance": "15m"})).await;
    assert_eq!(login_from(&second, HERE, AGENT, demo::PASSWORD).await, 200);
}

#[tokio::test]
async fn wrong_passwords_with_a_code_count_like_others() {
    let app = TestApp::start().await;
    for _ in 0..9 {
        assert_eq!(app.from(HERE).verify_code(AGENT, "wrong", "123456").await.status, 400);
    }
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 429);
}

/// The number of ten calls that passed, and the answer to the next one.
async fn ten_calls(app: &TestApp, path: &str, body: impl Fn(u32) -> Value) -> (usize, Answer) {
    let mut statuses = Vec::new();
    for n in 0..10 {
        statuses.push(app.post(path, body(n)).await.status);
    }
    (passed(&statuses), app.post(path, body(10)).await)
}

// S-54
#[tokio::test]
async fn wrong_sign_in_codes_and_wrong_reset_codes_are_limited_too() {
    let app = TestApp::start().await;
    let otp = |n: u32| json!({"email": AGENT, "password": demo::PASSWORD, "otp": format!("{n:06}")});
    let (passed, last) = ten_calls(&app, "/api/v1/auth/verify-signin-otp", otp).await;
    assert_eq!((passed, last.headers["retry-after"].to_str().unwrap()), (9, "900"));
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200, "by password alone");

    let otp = |n: u32| json!({"email": AGENT, "otp": format!("{n:06}"), "new_password": "Kahawa-2026"});
    let (passed, last) = ten_calls(&app, "/api/v1/auth/reset-password", otp).await;
    assert_eq!((passed, last.headers["retry-after"].to_str().unwrap()), (9, "900"));
}

#[tokio::test]
async fn a_right_code_over_the_limit_is_refused() {
    let app = TestApp::start().await;
    for n in 0..9 {
        app.reset_password(AGENT, &format!("{n:06}"), "Kahawa-2026").await;
    }
    assert_eq!(reset_password(&app).await, 429);
    assert_eq!(login_from(&app, HERE, AGENT, demo::PASSWORD).await, 200);
}

#[tokio::test]
async fn requests_for_codes_are_limited_by_user_and_by_address() {
    let app = TestApp::start().await;
    for path in ["/api/v1/auth/request-signin-otp", "/api/v1/auth/request-password-reset"] {
        for _ in 0..9 {
            assert_eq!(app.from(HERE).post(path, json!({"email": AGENT})).await.status, 200);
            app.clock.advance(Duration::from_secs(30));
        }
        let refused = app.from(HERE).post(path, json!({"email": AGENT})).await;
        assert_eq!(refused.status, 429);
        assert_eq!(refused.headers["retry-after"], (15 * 60 - 9 * 30).to_string().as_str());

        for n in 0..90 {
            let stranger = json!({"email": format!("nobody-{n}@mkopo.test")});
            assert_eq!(app.from(HERE).post(path, stranger).await.status, 404);
        }
        let stranger = json!({"email": "somebody@mkopo.test"});
        assert_eq!(app.from(HERE).post(path, stranger.clone()).await.status, 429);
        assert_eq!(app.from(ELSEWHERE).post(path, stranger).await.status, 404);
    }
}

// S-16, S-113
#[tokio::test]
async fn an_account_is_sent_10_codes_of_each_kind_in_an_hour_and_strangers_use_up_none_of_a_known_device() {
    let app = TestApp::start().await;
    let cookie = device_of(&app, AGENT).await;
    let paths = ["/api/v1/auth/request-signin-otp", "/api/v1/auth/request-password-reset"];
    for path in paths {
        for n in 0..10 {
            let sent = app.from(&format!("192.0.2.{n}")).post(path, json!({"email": AGENT})).await;
            assert_eq!(sent.status, 200, "{path}");
            app.clock.advance(Duration::from_mins(1));
        }
        let refused = app.from("192.0.2.99").post(path, json!({"email": AGENT})).await;
        assert_eq!(refused.failure().1, "too_many_requests");
        assert_eq!(refused.headers["retry-after"], (50 * 60).to_string().as_str(), "the window's end");

        let device = app.with_header("cookie", &cookie);
        assert_eq!(device.post(path, json!({"email": AGENT})).await.status, 200, "{path}");
        let other = json!({"email": "supervisor@mkopo.test"});
        assert_eq!(app.from("192.0.2.99").post(path, other).await.status, 200);
    }
    app.clock.advance(Duration::from_mins(50));
    assert_eq!(app.from("192.0.2.98").post(paths[0], json!({"email": AGENT})).await.status, 200);
}

#[tokio::test]
async fn expired_counts_are_deleted() {
    let app = TestApp::start().await;
    strangers(&app, HERE, 0..20).await;
    assert_eq!(app.count(COUNTS).await, 41);
    app.clock.advance(Duration::from_mins(15));
    login_from(&app, ELSEWHERE, AGENT, "wrong").await;
    assert_eq!(app.count(COUNTS).await, 23, "those of the accounts are for an hour");
    app.clock.advance(Duration::from_hours(1));
    login_from(&app, ELSEWHERE, AGENT, "wrong").await;
    assert_eq!(app.count(COUNTS).await, 3);
}

// S-90
#[tokio::test]
async fn e_mail_addresses_typed_at_sign_in_are_not_stored() {
    let app = TestApp::start().await;
    login_from(&app, HERE, "my-password@oops", "x").await;
    let mut reader = app.sandbox.database.read().await.unwrap();
    let subjects: Vec<String> =
        store::query_scalar("SELECT subject FROM try_count").fetch_all(&mut reader).await.unwrap();
    assert_eq!(subjects.len(), 3);
    assert!(subjects.iter().all(|subject| !subject.contains("oops")), "{subjects:?}");
}
