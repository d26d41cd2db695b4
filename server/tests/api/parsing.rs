//! Whatever is sent, set or published: parsers never panic and never call it the server's fault, and what
//! they accept has the form that the rest of the program relies on. `make fuzz` runs many more cases.

use std::{collections::BTreeMap, net::SocketAddr};

use axum::{
    body::Body,
    extract::ConnectInfo,
    http::{HeaderName, HeaderValue, Method, Request, header},
};
use base::{
    clock::{self, UnixMillis},
    email::Email,
    error::Failure,
    phone::Msisdn,
};
use clap::{CommandFactory, Parser};
use mkopo::commands::CommandLine;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use slices::{SliceName, archive};
use store::url::DatabaseUrl;

use crate::{
    hostile::HEADERS,
    test_app::{CONSOLE_TOKEN, Listener, TestApp, request},
};

/// `PROPTEST_CASES`, or else as many as take a second or two.
pub fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn config(usual: u32) -> ProptestConfig {
    ProptestConfig { cases: cases(usual), failure_persistence: None, ..ProptestConfig::default() }
}

/// Arbitrary text, and text that is nearly what some parser expects.
pub fn text() -> impl Strategy<Value = String> {
    const PIECES: &str = r#"
        0 7 - +254 0712345678 agent @ mkopo.test ٠ é %00 % / .. // ? # = ; , q= " ' \ { } [ ] null true 1e999
        9223372036854775807 2026-11-14 T09:00:00 Z +03:00 P1D 1h30m 90s d * ^ ~ >= 1.2.3 x || postgres:// sqlite:
        http:// https:// localhost : 8080 10.0.0.0 [::1] /64 Africa/Nairobi W/
        OR 1=1 -- <script> ${jndi:ldap://x} {{7*7}} ..%2f
    "#;
    let blank = ["", " ", "\t", "\n", "\0", "\u{202e}", "Bearer "];
    let pieces: Vec<&str> = PIECES.split_whitespace().chain(blank).collect();
    let pieces = prop::sample::select(pieces);
    let built = prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat());
    prop_oneof![built, any::<String>(), "\\PC{0,300}"]
}

pub fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The files of an archive.
fn unpacked(archive: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    archive::read(archive, archive.len() as u64).map(|unpacked| unpacked.files)
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn an_accepted_e_mail_address_is_in_its_stored_form(text in text()) {
        if let Some(email) = Email::parse(&text) {
            prop_assert_eq!(Email::parse(email.as_str()), Some(email.clone()));
            prop_assert_eq!(email.as_str().matches('@').count(), 1);
            prop_assert!(email.as_str().chars().count() <= 254);
            prop_assert!(!email.as_str().contains(|c: char| c.is_control() || c.is_whitespace()));
        }
    }

    #[test]
    fn an_accepted_phone_number_is_kenyan_and_never_shown_whole(text in text(), local in "[17][0-9]{8}") {
        let formats = [format!("+254{local}"), format!("254{local}"), format!("0{local}"), local.clone()];
        for format in &formats {
            prop_assert_eq!(Msisdn::parse(format), Msisdn::parse(&formats[0]));
        }
        for phone in Msisdn::parse(&text).into_iter().chain(Msisdn::parse(&local)) {
            prop_assert_eq!(Msisdn::parse(phone.as_str()), Some(phone.clone()));
            prop_assert_eq!(Msisdn::parse(&phone.local()), Some(phone.clone()));
            prop_assert!(phone.as_str().len() == 13 && !phone.masked().contains(&phone.as_str()[6..11]));
        }
    }

    #[test]
    fn a_time_reads_as_it_is_written(text in text(), ms in -62_135_596_800_000_i64..253_370_764_800_000) {
        prop_assert_eq!(UnixMillis(ms).to_string().parse(), Ok(UnixMillis(ms)));
        if let Ok(time) = text.parse::<UnixMillis>() {
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }
    }

    #[test]
    fn any_text_is_a_duration_or_not(text in text(), seconds in 0_u32..1_000_000) {
        _ = clock::duration(&text);
        prop_assert_eq!(clock::duration(&format!("{seconds}s")).unwrap().as_secs(), u64::from(seconds));
    }

    #[test]
    fn a_database_url_never_shows_its_password(text in text(), password in "[a-z]{12}", host in "[a-z]{1,9}") {
        if let Err(refused) = text.parse::<DatabaseUrl>() {
            let advice = ["give postgres://user:password@host", "a parameter is unknown"];
            prop_assert!(advice.iter().any(|text| refused.starts_with(text)), "{}", refused);
        }
        let url = format!("postgres://mkopo:{password}@{host}/loans{text}");
        let shown = match url.parse::<DatabaseUrl>() {
            Ok(url) => format!("{url} {url:?}"),
            Err(refused) => refused,
        };
        prop_assert!(!shown.contains(&password), "{}", shown);
    }

    #[test]
    fn a_slice_has_a_name_that_is_safe_in_paths(text in text()) {
        if let Some(name) = SliceName::parse(&text) {
            prop_assert!(name.as_str().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            _ = name.version_from_request(&text);
        }
    }

    // S-34
    #[test]
    fn an_archive_is_read_as_it_was_written_and_damage_never_escapes_it(
        files in prop::collection::btree_map(
            "[a-z]{1,8}(/[a-z]{1,8}){0,2}\\.js",
            prop::collection::vec(any::<u8>(), 0..600),
            0..5,
        ),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        noise in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        let written = archive::write(&files).unwrap();
        prop_assert_eq!(unpacked(&written).unwrap(), files);
        let mut damaged = written;
        for (at, byte) in damage {
            let at = at.index(damaged.len());
            damaged[at] = byte;
        }
        for bytes in [damaged, noise] {
            for path in unpacked(&bytes).into_iter().flat_map(BTreeMap::into_keys) {
                prop_assert!(!path.starts_with('/') && path.split('/').all(|part| !part.starts_with('.')), "{}", path);
            }
        }
    }

    #[test]
    fn any_setting_is_accepted_or_refused_in_one_sentence(
        option in prop::sample::select(options()),
        value in text(),
    ) {
        let typed = ["serve".to_owned(), format!("{option}={value}")];
        let line = std::iter::once("mkopo".to_owned()).chain(typed.clone());
        if let Err(error) = CommandLine::try_parse_from(line) {
            let refused = CommandLine::setting_error(&error, &typed);
            let is_sentence = |sentence: String| sentence.starts_with(&option) && sentence.lines().count() == 1;
            prop_assert!(refused.is_some_and(is_sentence), "{}", error);
        }
    }
}

#[test]
fn a_log_filter_at_which_its_parser_would_panic_is_refused() {
    let typed = ["serve", "--log=\u{2000}\u{1e950}="].map(str::to_owned);
    let line = std::iter::once("mkopo".to_owned()).chain(typed.clone());
    let error = CommandLine::try_parse_from(line).err().unwrap();
    let sentence = CommandLine::setting_error(&error, &typed).unwrap();
    assert!(sentence.starts_with("--log") && sentence.contains("give a level such as info"), "{sentence}");
}

/// The options of `mkopo serve` that are settings.
fn options() -> Vec<String> {
    let command = CommandLine::command();
    let serve = command.find_subcommand("serve").unwrap();
    let settings = serve.get_arguments().filter(|argument| argument.get_env().is_some());
    settings.map(|argument| format!("--{}", argument.get_long().unwrap())).collect()
}

/// Runs `cases` of `strategy` against one service, which must answer each without a 5xx.
fn no_input_is_the_servers_fault<S: Strategy>(
    cases: u32,
    strategy: &S,
    requests: impl Fn(&str, S::Value) -> Vec<(Listener, Option<Request<Body>>)>,
) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (app, token) = runtime.block_on(async {
        let app = TestApp::start().await;
        let token = app.sign_in("agent").await.token().to_owned();
        (app, token)
    });
    let check = async |input| {
        for (listener, request) in requests(&token, input) {
            let Some(request) = request else { continue };
            let what = format!("{} {}", request.method(), request.uri());
            let answer = app.send_to(listener, request).await;
            prop_assert!(!answer.status.is_server_error(), "{}: {}", what, answer.status);
        }
        Ok(())
    };
    TestRunner::new(config(cases)).run(strategy, |input| runtime.block_on(check(input))).unwrap();
    runtime.block_on(app.assert_every_shilling_is_accounted_for());
}

pub fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

// S-10
#[test]
fn no_query_is_the_servers_fault() {
    const QUERIES: [&str; 16] = [
        "/api/v1/disbursements/pending?limit=",
        "/api/v1/disbursements/pending?limit=5&cursor=",
        "/api/v1/disbursement-records?limit=5&cursor=",
        "/console/api/traffic?path=",
        "/console/api/traffic?status=",
        "/console/api/traffic?since=",
        "/console/api/events?kind=",
        "/console/api/events?who=",
        "/console/api/events?address=",
        "/console/api/events?until=",
        "/console/api/events?before=",
        "/console/api/events?limit=",
        "/console/api/outbox?to=",
        "/console/api/outbox?after=",
        "/console/api/outbox?channel=",
        "/console/api/",
    ];
    no_input_is_the_servers_fault(48, &text(), |token, text| {
        QUERIES
            .iter()
            .map(|path| {
                let is_console = path.starts_with("/console");
                let token = if is_console { CONSOLE_TOKEN } else { token };
                let request = Request::get(format!("{path}{}", encoded(&text)))
                    .header(header::AUTHORIZATION, format!("Bearer {token}"))
                    .body(Body::empty());
                (if is_console { Listener::Console } else { Listener::Portal }, request.ok())
            })
            .collect()
    });
}

// S-10
#[test]
fn no_header_is_the_servers_fault() {
    const PATHS: [&str; 4] =
        ["/api/v1/disbursements/pending", "/api/v1/disbursement-records", "/console", "/slices.json"];
    let name = prop::sample::select(&HEADERS[..]);
    let strategy = (name, text(), any::<bool>());
    no_input_is_the_servers_fault(48, &strategy, |token, (name, text, is_cookie)| {
        let text = if is_cookie { format!("mkopo_device={text}; mkopo_console={text}") } else { text };
        PATHS
            .iter()
            .map(|path| {
                let mut request = request(Method::GET, path, Some(token), None);
                let peer = SocketAddr::from(([127, 0, 0, 1], 40_000));
                request.extensions_mut().insert(ConnectInfo(peer));
                let value = HeaderValue::from_bytes(text.as_bytes()).ok();
                let is_sent =
                    value.map(|value| request.headers_mut().insert(HeaderName::from_static(name), value));
                let listener =
                    if path.starts_with("/console") { Listener::Console } else { Listener::Portal };
                (listener, is_sent.map(|_| request))
            })
            .collect()
    });
}

// S-10
#[test]
fn no_body_is_the_servers_fault() {
    const CALLS: [(&str, &str, &[&str]); 11] = [
        ("POST", "/api/v1/auth/request-signin-otp", &["email"]),
        ("POST", "/api/v1/auth/reset-password", &["email", "otp", "new_password"]),
        ("POST", "/api/v1/disbursements/LN-1/disburse", &["agent_id", "amount", "phone_number"]),
        ("PUT", "/console/api/scenario", &["next", "default", "latency_ms"]),
        ("PUT", "/console/api/clock", &["now", "advance", "frozen"]),
        ("POST", "/console/api/faults", &["path", "kind", "method", "probability", "times", "ms", "status"]),
        ("POST", "/console/api/loans", &["count", "loan"]),
        ("POST", "/console/api/payouts", &["loan_id", "outcome", "created_at", "user_email"]),
        (
            "POST",
            "/console/api/staff",
            &["email", "first_name", "last_name", "phone_number", "role", "password"],
        ),
        ("PATCH", "/console/api/staff/agent@mkopo.test", &["role", "is_active"]),
        ("POST", "/console/api/data/reset", &["seed"]),
    ];
    let call = prop::sample::select(&CALLS[..]);
    let strategy = (call, prop::collection::vec(json_value(), 7), prop::option::weighted(0.2, text()));
    no_input_is_the_servers_fault(96, &strategy, |token, ((method, path, fields), values, raw)| {
        let is_console = path.starts_with("/console");
        let body: Value =
            fields.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value)).collect();
        let token = if is_console { CONSOLE_TOKEN } else { token };
        let mut sent = request(Method::from_bytes(method.as_bytes()).unwrap(), path, Some(token), Some(body));
        if let Some(raw) = raw {
            *sent.body_mut() = Body::from(raw);
        }
        vec![(if is_console { Listener::Console } else { Listener::Portal }, Some(sent))]
    });
}
