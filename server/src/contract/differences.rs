//! The differences of requests and answers from the contract.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use jsonschema::{Validator, error::ValidationErrorKind};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Operation, json as contract, resolved, shape, validator};

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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

impl Kind {
    /// Returns the name in the console's API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Type => "type",
            Self::Value => "value",
            Self::Status => "status",
            Self::MediaType => "media_type",
            Self::Unreadable => "unreadable",
            Self::Unknown => "unknown",
        }
    }

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

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kind of a difference.
    pub kind: Kind,
    /// The place: a header, a parameter, the status, or a path in the body with `*` for list elements.
    pub place: String,
    /// A description without any value of the body.
    pub text: String,
    /// The shape of the value around the place.
    pub example: Value,
}

impl Difference {
    fn new(kind: Kind, place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind, place: place.into(), text: text.into(), example: Value::Null }
    }

    fn with(self, example: &Value) -> Self {
        Self { example: shape(example), ..self }
    }
}

/// Returns the differences of a request; `query` is the part after the `?`.
pub fn of_request(operation: &Operation, query: &str, headers: &HeaderMap, body: &[u8]) -> Vec<Difference> {
    let mut found = Vec::new();
    differing_parameters(operation, query, &mut found);
    let Some((rules, pointer)) = resolved(format!("{}/requestBody", operation.pointer())) else {
        return found;
    };
    if body.is_empty() {
        if rules["required"] == true {
            found.push(Difference::new(Kind::Missing, "body", "there is no body"));
        }
        return found;
    }
    differing_body(rules, &pointer, headers, body, &mut found);
    found
}

/// Returns the differences of an answer; `body` is `None` for the answer to a HEAD.
pub fn of_answer(
    operation: &Operation,
    status: StatusCode,
    headers: &HeaderMap,
    body: Option<&[u8]>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let Some((rules, pointer)) = resolved(format!("{}/responses/{}", operation.pointer(), status.as_str()))
    else {
        let text = format!("the operation has no answer with status {}", status.as_str());
        found.push(Difference::new(Kind::Status, format!("status {}", status.as_str()), text));
        return found;
    };
    for name in rules["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
        let Some((rules, _)) = resolved(format!("{pointer}/headers/{name}")) else { continue };
        differing_header(name, rules, headers, &mut found);
    }
    if rules["content"].is_object() {
        match body {
            Some(body) => differing_body(rules, &pointer, headers, body, &mut found),
            None => _ = differing_media_type(rules, headers, &mut found),
        }
    } else if body.is_some_and(|body| !body.is_empty()) {
        found.push(Difference::new(Kind::MediaType, "body", "there must be no body"));
    }
    found
}

fn differing_header(name: &str, rules: &Value, headers: &HeaderMap, found: &mut Vec<Difference>) {
    let place = format!("header {name}");
    let value = name.parse().ok().and_then(|name: HeaderName| headers.get(name));
    let Some(value) = value.map(|value| json!(String::from_utf8_lossy(value.as_bytes()))) else {
        if rules["required"] == true {
            found.push(Difference::new(Kind::Missing, place, "the header is missing"));
        }
        return;
    };
    if !jsonschema::is_valid(&rules["schema"], &value) {
        let text = "the header's value is none of those that the contract allows";
        found.push(Difference::new(Kind::Value, place, text).with(&value));
    }
}

fn differing_parameters(operation: &Operation, query: &str, found: &mut Vec<Difference>) {
    let pointer = operation.pointer();
    let count = contract().ok().and_then(|all| all.pointer(&format!("{pointer}/parameters"))?.as_array());
    let parameters: Vec<&Value> = (0..count.map_or(0, Vec::len))
        .filter_map(|at| Some(resolved(format!("{pointer}/parameters/{at}"))?.0))
        .filter(|rules| rules["in"] == "query")
        .collect();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let Some(rules) = parameters.iter().find(|rules| rules["name"] == *name) else {
            found.push(Difference::new(
                Kind::Unknown,
                format!("query {name}"),
                "the contract does not have it",
            ));
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
            found.push(Difference::new(Kind::Value, format!("query {name}"), text).with(&value));
        }
    }
}

/// Returns the body's media type if it is JSON and in the contract. Adds a difference if it is not in the
/// contract.
fn differing_media_type(rules: &Value, headers: &HeaderMap, found: &mut Vec<Difference>) -> Option<String> {
    let content = rules["content"].as_object()?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    if !content.contains_key(&essence) {
        let text =
            format!("{} is not in the contract", if essence.is_empty() { "no media type" } else { &essence });
        found.push(Difference::new(Kind::MediaType, "header Content-Type", text));
        return None;
    }
    essence.ends_with("json").then_some(essence)
}

fn differing_body(
    rules: &'static Value,
    pointer: &str,
    headers: &HeaderMap,
    body: &[u8],
    found: &mut Vec<Difference>,
) {
    let Some(essence) = differing_media_type(rules, headers, found) else { return };
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        found.push(Difference::new(Kind::Unreadable, "body", "the body is not valid JSON"));
        return;
    };
    let pointer = format!("{pointer}/content/{}/schema", essence.replace('/', "~1"));
    let Some(validator) = validator(&pointer) else { return };
    differing_values(&validator, &body, found);
    let Some(schema) = contract().ok().and_then(|all| all.pointer(&pointer)) else { return };
    unknown_fields(schema, &body, "", found);
}

fn differing_values(validator: &Validator, body: &Value, found: &mut Vec<Difference>) {
    for error in validator.iter_errors(body) {
        let at = error.instance_path().as_str();
        let surroundings = at.rsplit_once('/').and_then(|(above, _)| body.pointer(above)).unwrap_or(body);
        let difference = match error.kind() {
            // Unknown fields are found by name below.
            ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. } => continue,
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                Difference::new(Kind::Missing, general(&format!("{at}/{name}")), "the field is missing")
                    .with(error.instance())
            }
            kind => {
                let is_type = matches!(kind, ValidationErrorKind::Type { .. });
                Difference::new(
                    if is_type { Kind::Type } else { Kind::Value },
                    general(at),
                    error.masked().to_string(),
                )
                .with(surroundings)
            }
        };
        found.push(difference);
    }
}

/// Replaces the indices of list elements in `pointer` by `*`.
fn general(pointer: &str) -> String {
    if pointer.is_empty() {
        return "body".to_owned();
    }
    let parts = pointer.split('/').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { "*" } else { part }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The fields of the body that the contract does not have.
fn unknown_fields(schema: &'static Value, body: &Value, at: &str, found: &mut Vec<Difference>) {
    match body {
        Value::Array(items) => {
            let mut schemas = Vec::new();
            item_schemas(schema, &mut schemas);
            if let Some(schema) = schemas.first() {
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
                        let place = format!("{at}/{name}");
                        found.push(
                            Difference::new(Kind::Unknown, place, "the contract does not have this field")
                                .with(value),
                        );
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

fn item_schemas(schema: &'static Value, found: &mut Vec<&'static Value>) {
    if schema["items"].is_object() {
        found.push(&schema["items"]);
    }
    parts(schema).for_each(|part| item_schemas(part, found));
}
