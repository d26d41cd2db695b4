//! The differences of requests and answers from the contract.

use std::{
    collections::BTreeMap,
    io::Read,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use jsonschema::{Validator, error::ValidationErrorKind};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    bounded,
    description::{Operation, json as contract, resolved, validator},
    shape::{field_name, shape},
};

/// The maximum number of distinct differences of a request or an answer.
const MAX_FOUND: usize = 100;
/// The maximum number of bytes of a body.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// The maximum length of a place, in characters.
const MAX_PLACE: usize = 200;

/// The kind of a difference, displayed by its name in the console's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// A field or a header is missing.
    Missing,
    /// A value has another type.
    Type,
    /// A value has the right type, but is not allowed.
    Value,
    /// The contract does not have this status.
    Status,
    /// The body has another media type, or there must be no body.
    MediaType,
    /// The body is not valid JSON, although its media type is JSON.
    Unreadable,
    /// A field or parameter is not in the contract, which is not a violation.
    Unknown,
}

serde_plain::derive_display_from_serialize!(DifferenceKind);

impl DifferenceKind {
    /// Returns whether the difference violates the contract.
    pub fn is_violation(self) -> bool {
        self != Self::Unknown
    }
}

/// A side of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The portal's request.
    Request,
    /// The provider's answer.
    Answer,
}

/// A difference, with the number of times that it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// The place: a header, a parameter, the status, or a path in the body with `*` for list elements.
    pub place: String,
    /// A description of the difference, without any value of the body.
    pub text: String,
    /// The shape of the value around the place, where it was first found.
    pub example: Value,
    pub count: u64,
}

/// The differences of a request or an answer.
#[derive(Debug)]
pub struct Differences {
    /// Those that were found, each once.
    pub found: Vec<Difference>,
    /// `true` if everything was checked. The limits are 100 different differences, 32 MiB, 20,000 values of each row,
    /// and the time that is given for a list.
    pub is_whole: bool,
}

impl Differences {
    fn none() -> Self {
        Self { found: Vec::new(), is_whole: true }
    }

    /// Adds a difference, or counts it if it was found before.
    fn add(&mut self, kind: DifferenceKind, place: impl Into<String>, text: impl Into<String>) {
        self.add_with(kind, place.into(), || (text.into(), Value::Null));
    }

    /// Like [`Differences::add`], with an example.
    fn add_with(
        &mut self,
        kind: DifferenceKind,
        mut place: String,
        describe: impl FnOnce() -> (String, Value),
    ) {
        if let Some((end, _)) = place.char_indices().nth(MAX_PLACE) {
            place.replace_range(end.., "…");
        }
        if let Some(known) = self.found.iter_mut().find(|known| known.kind == kind && known.place == place) {
            known.count += 1;
        } else if self.found.len() < MAX_FOUND {
            let (text, example) = describe();
            self.found.push(Difference { kind, place, text, example, count: 1 });
        } else {
            self.is_whole = false;
        }
    }
}

/// Returns the differences of a request; `query` is the part after the `?`.
pub fn of_request(operation: &Operation, query: &str, headers: &HeaderMap, body: &[u8]) -> Differences {
    let mut found = Differences::none();
    differing_parameters(operation, query, &mut found);
    let Some((rules, pointer)) = resolved(format!("{}/requestBody", operation.pointer())) else {
        return found;
    };
    if body.is_empty() {
        if rules["required"] == true {
            found.add(DifferenceKind::Missing, "body", "there is no body");
        }
        return found;
    }
    differing_body(rules, &pointer, headers, body, Duration::MAX, &mut found);
    found
}

/// Returns the differences of an answer; `body` is `None` for the answer to a HEAD. The check of a list ends after the
/// `longest` time.
pub fn of_answer(
    operation: &Operation,
    status: StatusCode,
    headers: &HeaderMap,
    body: Option<impl Read>,
    longest: Duration,
) -> Differences {
    let mut found = Differences::none();
    let Some((rules, pointer)) = resolved(format!("{}/responses/{}", operation.pointer(), status.as_str()))
    else {
        let text = format!("the operation has no answer with status {}", status.as_str());
        found.add(DifferenceKind::Status, format!("status {}", status.as_str()), text);
        return found;
    };
    for name in rules["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
        let Some((rules, _)) = resolved(format!("{pointer}/headers/{name}")) else { continue };
        differing_header(name, rules, headers, &mut found);
    }
    if rules["content"].is_object() {
        match body {
            Some(body) => differing_body(rules, &pointer, headers, body, longest, &mut found),
            None => _ = differing_media_type(rules, headers, &mut found),
        }
    } else if body.is_some_and(|mut body| body.read(&mut [0]).is_ok_and(|length| length > 0)) {
        found.add(DifferenceKind::MediaType, "body", "there must be no body");
    }
    found
}

fn differing_header(name: &str, rules: &Value, headers: &HeaderMap, found: &mut Differences) {
    let place = format!("header {name}");
    let value = name.parse().ok().and_then(|name: HeaderName| headers.get(name));
    let Some(value) = value.map(|value| json!(String::from_utf8_lossy(value.as_bytes()))) else {
        if rules["required"] == true {
            found.add(DifferenceKind::Missing, place, "the header is missing");
        }
        return;
    };
    if !jsonschema::is_valid(&rules["schema"], &value) {
        let text = "the header's value is none of those that the contract allows";
        found.add_with(DifferenceKind::Value, place, || (text.to_owned(), shape(&value)));
    }
}

fn differing_parameters(operation: &Operation, query: &str, found: &mut Differences) {
    let pointer = operation.pointer();
    let count = contract().ok().and_then(|all| all.pointer(&format!("{pointer}/parameters"))?.as_array());
    let parameters: Vec<&Value> = (0..count.map_or(0, Vec::len))
        .filter_map(|at| Some(resolved(format!("{pointer}/parameters/{at}"))?.0))
        .filter(|rules| rules["in"] == "query")
        .collect();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let Some(rules) = parameters.iter().find(|rules| rules["name"] == *name) else {
            found.add(DifferenceKind::Unknown, format!("query {name}"), "the contract does not have it");
            continue;
        };
        let is_number = rules["schema"]["type"] == "integer";
        let value = if is_number {
            value.parse::<i64>().map_or(json!(value), |number| json!(number))
        } else {
            json!(value)
        };
        if !jsonschema::is_valid(&rules["schema"], &value) {
            let text = "the value is none of those that the contract allows";
            found.add_with(DifferenceKind::Value, format!("query {name}"), || {
                (text.to_owned(), shape(&value))
            });
        }
    }
}

/// Returns the body's media type if it is JSON and in the contract. Adds a difference if it is not in the
/// contract.
fn differing_media_type(rules: &Value, headers: &HeaderMap, found: &mut Differences) -> Option<String> {
    let content = rules["content"].as_object()?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    if !content.contains_key(&essence) {
        let text =
            format!("{} is not in the contract", if essence.is_empty() { "no media type" } else { &essence });
        found.add(DifferenceKind::MediaType, "header Content-Type", text);
        return None;
    }
    essence.ends_with("json").then_some(essence)
}

fn differing_body(
    rules: &'static Value,
    pointer: &str,
    headers: &HeaderMap,
    body: impl Read,
    longest: Duration,
    found: &mut Differences,
) {
    let Some(essence) = differing_media_type(rules, headers, found) else { return };
    let pointer = format!("{pointer}/content/{}/schema", essence.replace('/', "~1"));
    let Some((schema, own_pointer)) = resolved(pointer.clone()) else { return };
    let items = validator(&format!("{own_pointer}/items"));
    let started = Instant::now();
    let mut of_element = |element: &Value| {
        if let Some(rules) = &items {
            differing_values(rules, element, "/*", found);
            unknown_fields(&schema["items"], element, "/*", found);
        }
        let goes_on = found.is_whole && started.elapsed() < longest;
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut body = body.take(MAX_BYTES);
    let read = bounded::read(&mut body, items.is_some().then_some(&mut of_element));
    match read {
        Ok(body) => {
            let Some(rules) = validator(&pointer) else { return };
            differing_values(&rules, &body, "", found);
            unknown_fields(schema, &body, "", found);
        }
        Err(error) if error.is_data() || error.is_io() || body.limit() == 0 => found.is_whole = false,
        Err(_) => found.add(DifferenceKind::Unreadable, "body", "the body is not valid JSON"),
    }
}

/// Adds the differences of `value` from its schema; `at` is its place.
fn differing_values(validator: &Validator, value: &Value, at: &str, found: &mut Differences) {
    for error in validator.iter_errors(value) {
        let inner = error.instance_path().as_str();
        let surroundings = || {
            let above = inner.rsplit_once('/').and_then(|(above, _)| value.pointer(above));
            shape(above.unwrap_or(value))
        };
        match error.kind() {
            // Unknown fields are found by name below.
            ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. } => {}
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let place = format!("{at}{}", general(&format!("{inner}/{name}")));
                let describe = || ("the field is missing".to_owned(), shape(error.instance()));
                found.add_with(DifferenceKind::Missing, place, describe);
            }
            kind => {
                let is_type = matches!(kind, ValidationErrorKind::Type { .. });
                let place = format!("{at}{}", general(inner));
                let place = if place.is_empty() { "body".to_owned() } else { place };
                let describe = || (error.masked().to_string(), surroundings());
                found.add_with(
                    if is_type { DifferenceKind::Type } else { DifferenceKind::Value },
                    place,
                    describe,
                );
            }
        }
    }
}

/// Replaces the indices of list elements in `pointer` by `*`, and names that may be data by their shape.
fn general(pointer: &str) -> String {
    let parts = pointer.split('/').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { "*".to_owned() } else { field_name(part) }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The fields of the body that the contract does not have.
fn unknown_fields(schema: &'static Value, body: &Value, at: &str, found: &mut Differences) {
    match body {
        Value::Array(items) => {
            if let Some(schema) = item_schema(schema) {
                for item in items {
                    unknown_fields(schema, item, &format!("{at}/*"), found);
                }
            }
        }
        Value::Object(fields) => {
            let (mut known, mut is_open) = (BTreeMap::new(), false);
            known_fields(schema, &mut known, &mut is_open);
            for (name, value) in fields {
                match known.get(name.as_str()) {
                    Some(schema) => unknown_fields(schema, value, &format!("{at}/{name}"), found),
                    None if is_open || known.is_empty() => {}
                    None => {
                        let place = format!("{at}/{}", field_name(name));
                        let text = "the contract does not have this field";
                        found.add_with(DifferenceKind::Unknown, place, || (text.to_owned(), shape(value)));
                    }
                }
            }
        }
        _ => {}
    }
}

/// The schemas that `schema` refers to or combines.
fn parts(schema: &'static Value) -> impl Iterator<Item = &'static Value> {
    let reference = schema["$ref"].as_str().and_then(|at| contract().ok()?.pointer(at.strip_prefix('#')?));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|name| schema[name].as_array());
    reference.into_iter().chain(lists.flatten())
}

fn known_fields(
    schema: &'static Value,
    known: &mut BTreeMap<&'static str, &'static Value>,
    is_open: &mut bool,
) {
    known.extend(
        schema["properties"].as_object().into_iter().flatten().map(|(name, rules)| (name.as_str(), rules)),
    );
    *is_open |= schema["additionalProperties"].is_object();
    parts(schema).for_each(|part| known_fields(part, known, is_open));
}

fn item_schema(schema: &'static Value) -> Option<&'static Value> {
    let items = &schema["items"];
    if items.is_object() { Some(items) } else { parts(schema).find_map(item_schema) }
}
