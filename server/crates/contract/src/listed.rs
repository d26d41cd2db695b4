//! Comparison of lists that are kept by hand with the contract. Only for tests: it panics where the contract lacks
//! what is asked for.
#![expect(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test fails by it")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fields;

/// Where a schema of the contract is.
fn pointer(schema: &str) -> String {
    format!("/components/schemas/{schema}")
}

fn at(pointer: &str) -> &'static Value {
    fields::at(pointer).unwrap_or_else(|| panic!("the contract has no {pointer}"))
}

/// The fields of schemas of the contract, at any depth.
pub fn fields_of(schemas: &[&str]) -> BTreeSet<&'static str> {
    let (mut found, mut seen) = (BTreeMap::new(), BTreeSet::new());
    for schema in schemas {
        fields::collect(at(&pointer(schema)), &mut found, &mut seen);
    }
    found.into_keys().collect()
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
