//! The fields of calls, and which of them are secret.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::description::json;

/// The names of the fields of all calls whose paths begin with `prefix`, in requests and answers, at any depth, with
/// `true` for secret ones: their format is `password`.
pub fn fields_of_calls(prefix: &str) -> BTreeMap<&'static str, bool> {
    let (mut found, mut seen) = (BTreeMap::new(), BTreeSet::new());
    let paths = at("/paths").and_then(Value::as_object).into_iter().flatten();
    for (_, item) in paths.filter(|(path, _)| path.starts_with(prefix)) {
        collect(item, &mut found, &mut seen);
    }
    found
}

pub(super) fn at(pointer: &str) -> Option<&'static Value> {
    json().ok()?.pointer(pointer)
}

pub(super) fn collect(
    value: &'static Value,
    found: &mut BTreeMap<&'static str, bool>,
    seen: &mut BTreeSet<&'static str>,
) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found, seen)),
        Value::Object(parts) => {
            for (name, part) in parts {
                match (name.as_str(), part) {
                    ("example" | "examples", _) => {}
                    ("$ref", Value::String(reference)) => {
                        if let Some(schema) = at(&reference[1..]).filter(|_| seen.insert(reference)) {
                            collect(schema, found, seen);
                        }
                    }
                    ("properties", Value::Object(fields)) => {
                        for (name, field) in fields {
                            *found.entry(name).or_default() |= is_secret(field);
                            collect(field, found, seen);
                        }
                    }
                    _ => collect(part, found, seen),
                }
            }
        }
        _ => {}
    }
}

fn is_secret(field: &Value) -> bool {
    let schema = field["$ref"].as_str().and_then(|reference| at(&reference[1..]));
    schema.unwrap_or(field)["format"] == "password"
}
