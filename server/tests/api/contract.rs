//! Checks responses against `contract/openapi.yaml`.

use std::{collections::BTreeSet, sync::LazyLock, time::Duration};

use ::contract::{Differences, Operation};
use axum::http::{HeaderMap, Method, StatusCode, header};
use base::{error::Failure, kes::Kes};
use console::ConsoleRefusal;
use jsonschema::Validator;
use lending::{
    auth::{AuthRefusal, Role},
    events,
    loans::{DisbursementStatus, LoanStatus},
    mobile_money,
    outbox::Channel,
    payouts::{PayoutRefusal, PayoutStatus},
    preferences::Language,
    reports::{About, Period, Unit},
};
use provider::ProviderRefusal;
use serde::de::DeserializeOwned;
use serde_json::{Value, value::to_raw_value};
use slices::SliceRefusal;
use worlds::{
    faults::{self, FaultPhase, FaultRefusal},
    sandboxes::SandboxRefusal,
};

fn all() -> &'static Value {
    ::contract::json().unwrap()
}

/// The body of a failure. Built once: that takes longer than a call.
static FAILURE: LazyLock<Validator> = LazyLock::new(|| {
    let mut failure = all()["components"]["schemas"]["Failure"].clone();
    failure["components"] = all()["components"].clone();
    jsonschema::validator_for(&failure).unwrap()
});

/// Panics with an explanation when the contract does not allow this response to this call.
pub fn check(method: &Method, path: &str, status: StatusCode, headers: &HeaderMap, body: &[u8]) {
    assert!(headers.contains_key("x-request-id"), "{method} {path}: no X-Request-Id");
    // Every path answers OPTIONS.
    if method == Method::OPTIONS {
        return assert!(status.is_success() && body.is_empty(), "{method} {path}: {status}");
    }
    let call = format!("{method} {path}: {status}");
    let Some(operation) = Operation::of(method, path) else {
        // Calls that are not in the contract are answered with its failure body too.
        if path.starts_with("/api/") {
            assert!(
                matches!(status.as_u16(), 404 | 405 | 414),
                "{call} for a call that is not in the contract"
            );
            let media_type = headers[header::CONTENT_TYPE].to_str().unwrap();
            assert!(media_type.ends_with("json"), "{call}: {media_type}");
            let body: Value = serde_json::from_slice(body).unwrap();
            assert!(FAILURE.is_valid(&body), "{call}: {body:#}");
        }
        return;
    };
    if is_for_no_sandbox(status, body) {
        // A browser gets a page.
        if let Ok(failure) = serde_json::from_slice::<Value>(body) {
            assert!(FAILURE.is_valid(&failure), "{call}: {failure:#}");
        }
        return;
    }
    if headers.contains_key(header::RETRY_AFTER) {
        let answer =
            resolved(&all()["paths"][operation.path][&operation.method]["responses"][status.as_str()]);
        assert!(
            answer["headers"]["Retry-After"].is_object(),
            "{call}: its Retry-After is not in the contract"
        );
    }
    let body = (method != Method::HEAD).then_some(body);
    let Differences { found: differences, is_whole } =
        ::contract::of_answer(&operation, status, headers, body, Duration::MAX);
    assert!(is_whole, "{call} was not checked to its end");
    let shown = String::from_utf8_lossy(body.unwrap_or_default());
    assert!(differences.is_empty(), "{call} breaks the contract: {differences:#?}\n{shown}");
}

/// Every operation may be asked of a sandbox that does not exist or is on another server, or of two.
fn is_for_no_sandbox(status: StatusCode, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    match status {
        StatusCode::NOT_FOUND => text.contains("sandbox_not_found") || text.contains("Sandbox not found"),
        StatusCode::MISDIRECTED_REQUEST => {
            text.contains("sandbox_elsewhere") || text.contains("unknown_host")
        }
        StatusCode::BAD_REQUEST => text.contains("mkopo-sandbox names another"),
        _ => false,
    }
}

/// The path and the method of the operation, as the contract writes them.
pub fn name(method: &Method, path: &str) -> Option<(&'static str, String)> {
    Operation::of(method, path).map(|operation| (operation.path, operation.method))
}

/// The path and the method of each operation.
pub fn operations() -> BTreeSet<(&'static str, String)> {
    let mut operations = BTreeSet::new();
    for (path, item) in all()["paths"].as_object().unwrap() {
        for key in item.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            operations.insert((path.as_str(), key.clone()));
        }
    }
    operations
}

/// Whether the operation has the contract's default, a session.
pub fn needs_session(path: &str, method: &str) -> bool {
    all()["paths"][path][method]["security"].is_null()
}

/// The name of the response that the operation lists for `status`.
pub fn response(path: &str, method: &str, status: &str) -> Option<&'static str> {
    all()["paths"][path][method]["responses"][status]["$ref"].as_str()?.rsplit('/').next()
}

/// The fields of an operation's JSON body, with their schemas.
pub fn fields_of_body(path: &str, method: &Method) -> Vec<(&'static str, &'static Value)> {
    let operation = &all()["paths"][path][method.as_str().to_lowercase()];
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let fields = followed(schema)["properties"].as_object().into_iter().flatten();
    fields.map(|(name, schema)| (name.as_str(), followed(schema))).collect()
}

/// The schema, or the first if it is one of several.
fn followed(schema: &'static Value) -> &'static Value {
    let schema = resolved(schema);
    schema["anyOf"].get(0).map_or(schema, followed)
}

/// The words of an enum, from what `serde` says of a word that is none of them.
pub fn words_of<T: DeserializeOwned>() -> BTreeSet<String> {
    let refused = serde_json::from_str::<T>("\"\"").err().unwrap();
    refused.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_enums_have_the_words_of_the_contract() {
    let outcomes = mobile_money::Outcome::ALL.iter().map(|outcome| outcome.name().to_owned());
    for (schema, words) in [
        ("Role", words_of::<Role>()),
        ("LoanStatus", words_of::<LoanStatus>()),
        ("PayoutStatus", words_of::<PayoutStatus>()),
        ("DisbursementStatus", words_of::<DisbursementStatus>()),
        ("Language", words_of::<Language>()),
        ("ReportPeriod", words_of::<Period>()),
        ("ReportType", words_of::<About>()),
        ("ReportUnit", words_of::<Unit>()),
        ("Channel", words_of::<Channel>()),
        ("Outcome", outcomes.collect()),
        ("FaultKind", words_of::<faults::FaultKind>()),
        ("FaultMoment", words_of::<FaultPhase>()),
        ("EventKind", words_of::<events::EventKind>()),
        ("SliceReport/properties/outcome", words_of::<slices::Outcome>()),
    ] {
        let listed =
            all().pointer(&format!("/components/schemas/{schema}/enum")).unwrap().as_array().unwrap();
        let listed: BTreeSet<String> = listed.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        let differing: Vec<_> = listed.symmetric_difference(&words).collect();
        assert!(
            differing.is_empty(),
            "{differing:?} is in only one of {schema} in contract/openapi.yaml and the enum of the server: add it \
             to the other, the contract first, then run `make generate`"
        );
    }
}

/// The failures that are in the contract, with `…` for what differs from call to call.
fn failures() -> Vec<Failure> {
    use Failure as F;
    let any = || "…".to_owned();
    let record = || to_raw_value(&()).unwrap();
    let mut failures = refusals_of_slices();
    failures.extend([
        AuthRefusal::NoSession.into(),
        ConsoleRefusal::NoConsoleToken.into(),
        AuthRefusal::UserNotFound.into(),
        AuthRefusal::InvalidPassword.into(),
        AuthRefusal::AccountInactive.into(),
        AuthRefusal::CodeRequired.into(),
        AuthRefusal::RoleNotAllowed.into(),
        AuthRefusal::FieldNotAllowed("rules").into(),
        AuthRefusal::TooManyStreams.into(),
        AuthRefusal::SessionNotFound(any().into()).into(),
        AuthRefusal::InvalidCode.into(),
        AuthRefusal::PasswordTooShort.into(),
        AuthRefusal::PasswordTooEasy.into(),
        AuthRefusal::TooManyTries { wait: Duration::from_mins(15) }.into(),
        AuthRefusal::CodeSentAlready { wait: Duration::from_secs(21) }.into(),
        AuthRefusal::SignInsWait { wait: Duration::from_secs(5) }.into(),
        PayoutRefusal::LoanNotFound(any().into()).into(),
        PayoutRefusal::AlreadyDisbursed(record()).into(),
        PayoutRefusal::InProgress(record()).into(),
        PayoutRefusal::NotApproved.into(),
        PayoutRefusal::AmountMismatch(Kes(25_000)).into(),
        PayoutRefusal::AboveMaximum(Kes(100_000)).into(),
        PayoutRefusal::PhoneMismatch.into(),
        PayoutRefusal::MobileMoneyRefused { result_code: None, text: any(), record: record() }.into(),
        PayoutRefusal::BadIdempotencyKey.into(),
        PayoutRefusal::IdempotencyKeyReused.into(),
        PayoutRefusal::IdempotencyKeyInUse.into(),
        ConsoleRefusal::ToolsOff.into(),
        ConsoleRefusal::NotWithProvider.into(),
        ConsoleRefusal::CrossSite.into(),
        ConsoleRefusal::NotInDemoMode.into(),
        FaultRefusal::FaultNotFound(any()).into(),
        ConsoleRefusal::AccountExists(any()).into(),
        ConsoleRefusal::SnapshotNotFound(any()).into(),
        ConsoleRefusal::NoStory.into(),
        ConsoleRefusal::NoEntry.into(),
        ConsoleRefusal::LinkNotFound.into(),
        ConsoleRefusal::TooManyLinks.into(),
        SandboxRefusal::SandboxNotFound(any()).into(),
        SandboxRefusal::SandboxExists(any()).into(),
        SandboxRefusal::TooManySandboxes(100).into(),
        SandboxRefusal::MainSandbox.into(),
        F::NoRoom,
        F::SumTooLarge,
        F::MalformedJson(any()),
        F::InvalidRequest(any()),
        F::InvalidField { field: any(), text: any() },
        F::BadValue(any()),
        F::UnsupportedMediaType,
        F::EncodedBody,
        F::BodyTooLarge("…"),
        F::BodyTooSlow,
        F::BadParameter(any()),
        F::UriTooLong,
        F::NotFound,
        ProviderRefusal::ProviderAway.into(),
        ProviderRefusal::ProviderBroke.into(),
        ProviderRefusal::ProviderAnswer(any()).into(),
        ProviderRefusal::ProviderSlow.into(),
        F::TookTooLong,
        F::Busy,
        F::NotCommitted,
    ]);
    failures
}

fn refusals_of_slices() -> Vec<Failure> {
    let any = || "…".to_owned();
    vec![
        SliceRefusal::BadBuild(any()).into(),
        SliceRefusal::BuildTooLarge.into(),
        SliceRefusal::TooManyUploads.into(),
        SliceRefusal::SandboxFull.into(),
        SliceRefusal::NoArchive.into(),
        SliceRefusal::BuildExists.into(),
        SliceRefusal::BuildOutdated { version: any(), live: any() }.into(),
        SliceRefusal::WrongShell { library: any(), range: any(), carried: any() }.into(),
        SliceRefusal::NoDeployToken.into(),
        SliceRefusal::DeployTokenExpired { slice: any(), name: any() }.into(),
        SliceRefusal::WrongSlice { token: any(), slice: any() }.into(),
        SliceRefusal::DeployTokenExists { slice: any(), name: any() }.into(),
        SliceRefusal::DeployTokenNotFound { slice: any(), name: any() }.into(),
        SliceRefusal::PathTaken { path: any(), name: any(), owner: any() }.into(),
        SliceRefusal::LabelTaken { label: any(), name: any(), owner: any() }.into(),
        SliceRefusal::NoPortal.into(),
        SliceRefusal::ShellNeeded {
            name: any(),
            version: any(),
            library: any(),
            range: any(),
            shell: any(),
            carried: any(),
        }
        .into(),
        SliceRefusal::ShellNotRolledOut.into(),
        SliceRefusal::ShellStays.into(),
        SliceRefusal::SliceNotFound(any()).into(),
        SliceRefusal::BuildNotFound { name: any(), version: any() }.into(),
        SliceRefusal::NothingPublished(any()).into(),
        SliceRefusal::NoPreviousBuild.into(),
        SliceRefusal::RolloutRuns { name: any(), version: any(), percent: 10 }.into(),
        SliceRefusal::NoRollout(any()).into(),
        SliceRefusal::AlreadyLive { name: any(), version: any() }.into(),
        SliceRefusal::NotInSandbox.into(),
        SliceRefusal::NotFromPortal.into(),
    ]
}

/// Returns whether `text` matches `pattern`, in which `…` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('…') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    !rest.is_empty() && (after.is_empty() || rest.char_indices().any(|(at, _)| is_like(after, &rest[at..])))
}

fn resolved(value: &'static Value) -> &'static Value {
    value["$ref"].as_str().map_or(value, |at| resolved(all().pointer(&at[1..]).unwrap()))
}

/// The status and the body of each example of a failure, with its name.
fn examples() -> impl Iterator<Item = (&'static str, &'static str, &'static Value)> {
    let responses = operations()
        .into_iter()
        .flat_map(|(path, method)| all()["paths"][path][&method]["responses"].as_object().unwrap().iter());
    responses
        .flat_map(|(status, response)| {
            let examples = resolved(response)["content"]["application/json"]["examples"].as_object();
            examples
                .into_iter()
                .flatten()
                .map(move |(name, example)| (status.as_str(), name.as_str(), &resolved(example)["value"]))
        })
        .filter(|(_, _, body)| body["code"].is_string() && body["request_id"].is_string())
}

#[test]
fn the_examples_of_failures_are_what_the_server_sends() {
    let failures: Vec<_> =
        failures().into_iter().map(|failure| (failure.status_and_code(), failure.to_string())).collect();
    let mut without_example: BTreeSet<_> = failures.iter().map(|((_, code), _)| *code).collect();
    for (status, name, body) in examples() {
        let (code, error) = (body["code"].as_str().unwrap(), body["error"].as_str().unwrap());
        assert!(
            failures.iter().any(|((sent, its_code), text)| {
                (sent.as_str(), *its_code) == (status, code) && is_like(text, error)
            }),
            "no failure has the status {status}, the code {code} and the text {error:?}: correct the example \
             {name} of contract/openapi.yaml after its `refusal.rs` (or error.rs of the crate base), or \
             add a new failure to `failures` here"
        );
        assert_eq!(body["message"], body["error"], "{name}");
        without_example.remove(code);
    }
    assert!(
        without_example.is_empty(),
        "add an example of {without_example:?} to contract/openapi.yaml, and to the responses that can have it"
    );
}
