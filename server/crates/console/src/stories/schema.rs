//! The JSON schema of a story's file, for editors: the parts of the contract that describe it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use base::error::Failure;

const SCHEMAS: &str = "#/components/schemas/";

pub fn schema() -> Result<Value, Failure> {
    let all =
        &contract::json().map_err(|error| Failure::Internal(error.to_owned()))?["components"]["schemas"];
    let mut named = BTreeSet::from(["Story".to_owned()]);
    let mut schemas = Map::new();
    while let Some(name) = named.pop_first() {
        collect_references(&all[&name], &mut named);
        schemas.insert(name.clone(), all[&name].clone());
        named.retain(|name| !schemas.contains_key(name));
    }
    Ok(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("{SCHEMAS}Story"),
        "components": {"schemas": schemas},
    }))
}

/// Adds the names of the schemas that `value` refers to.
fn collect_references(value: &Value, named: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(SCHEMAS));
            named.extend(name.map(str::to_owned));
            fields.values().for_each(|value| collect_references(value, named));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, named)),
        _ => {}
    }
}
