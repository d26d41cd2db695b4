//! Comparison of lists that are kept by hand with the contract. Only for tests: it panics where the contract lacks
//! what is asked for.
#![expect(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test fails by it")]

use std::collections::BTreeSet;

use serde_json::Value;

/// Where a schema of the contract is.
fn pointer(schema: &str) -> String {
    format!("/components/schemas/{schema}")
}

fn at(pointer: &str) -> &'static Value {
    let found = super::description::json().unwrap().pointer(pointer);
    found.unwrap_or_else(|| panic!("the contract has no {pointer}"))
}

/// The fields of schemas of the contract, at any depth.
pub fn fields_of(schemas: &[&str]) -> BTreeSet<&'static str> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for schema in schemas {
        collect(at(&pointer(schema)), &mut found, &mut seen);
    }
    found
}

/// The fields of all calls whose paths begin with `prefix`, in requests and answers.
pub fn fields_of_calls(prefix: &str) -> BTreeSet<&'static str> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (_, item) in at("/paths").as_object().unwrap().iter().filter(|(path, _)| path.starts_with(prefix)) {
        collect(item, &mut found, &mut seen);
    }
    found
}

fn collect(value: &'static Value, found: &mut BTreeSet<&'static str>, seen: &mut BTreeSet<&'static str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found, seen)),
        Value::Object(parts) => {
            for (name, part) in parts {
                match (name.as_str(), part) {
                    ("example" | "examples", _) => {}
                    ("$ref", Value::String(reference)) => {
                        if seen.insert(reference) {
                            collect(at(&reference[1..]), found, seen);
                        }
                    }
                    ("properties", Value::Object(fields)) => {
                        found.extend(fields.keys().map(String::as_str));
                        fields.values().for_each(|field| collect(field, found, seen));
                    }
                    _ => collect(part, found, seen),
                }
            }
        }
        _ => {}
    }
}

/// The words that a schema of the contract allows, or one of its fields: `FaultKind`, `NewFault/properties/method`.
pub fn words_of(schema: &str) -> BTreeSet<&'static str> {
    let words = at(&format!("{}/enum", pointer(schema)));
    words.as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

/// The parameters in the query of a GET.
pub fn query_of(path: &str) -> BTreeSet<&'static str> {
    let parameters = at(&format!("/paths/{}/get/parameters", path.replace('/', "~1"))).as_array().unwrap();
    let parameters = parameters.iter().map(|given| given["$ref"].as_str().map_or(given, |to| at(&to[1..])));
    parameters.filter(|given| given["in"] == "query").filter_map(|given| given["name"].as_str()).collect()
}

/// The first parts of all paths.
pub fn first_parts() -> BTreeSet<&'static str> {
    at("/paths").as_object().unwrap().keys().filter_map(|path| path.split('/').nth(1)).collect()
}

/// Fails unless `listed` has what the contract has. `advice` says what to do.
#[track_caller]
pub fn assert_same<'a>(
    listed: impl IntoIterator<Item = &'a str>,
    contract: &BTreeSet<&'a str>,
    advice: &str,
) {
    let listed: BTreeSet<&str> = listed.into_iter().collect();
    let missing: Vec<_> = contract.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(contract).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "only in the contract: {missing:?}; only in the list: {gone:?}. {advice}"
    );
}
