//! The content of the contract: its operations, and the schemas of their bodies.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use axum::http::Method;
use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::Value;

/// The path that the calls of the contract are mounted at.
pub const API: &str = "/api/v1";

/// The path of the contract itself, relative to the calls that it describes.
pub const CONTRACT_PATH: &str = "/openapi.json";

/// The contract as JSON, written by `build.rs`.
const JSON: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

static CONTRACT: LazyLock<Result<Value, String>> =
    LazyLock::new(|| serde_json::from_str(JSON).map_err(|error| error.to_string()));

/// The contract. A test finds out if it can't be read.
pub fn json() -> Result<&'static Value, &'static str> {
    CONTRACT.as_ref().map_err(String::as_str)
}

/// The contract's own words, a line each: all names in it, such as those of paths and fields, the codes of failures,
/// and the words in its lists, such as the values that a field can have.
pub fn words() -> &'static str {
    static WORDS: LazyLock<String> = LazyLock::new(|| {
        let mut words = Vec::new();
        if let Ok(contract) = json() {
            add_words(contract, &mut words);
        }
        words.join("\n")
    });
    &WORDS
}

fn add_words(value: &'static Value, words: &mut Vec<&'static str>) {
    match value {
        Value::Object(parts) => {
            words.extend(parts.keys().map(String::as_str));
            words.extend(parts.get("code").and_then(Value::as_str));
            for part in parts.values() {
                add_words(part, words);
            }
        }
        Value::Array(items) => {
            words.extend(items.iter().filter_map(Value::as_str));
            for item in items {
                add_words(item, words);
            }
        }
        _ => {}
    }
}

/// An operation of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The path, with parameters in `{…}`.
    pub path: &'static str,
    /// The method, in lower case as in the contract.
    pub method: String,
}

/// Returns whether each segment of `path` is a parameter of `template`, or the same by `is_same`.
fn fits(template: &str, path: &str, is_same: impl Fn(&str, &str) -> bool) -> bool {
    template.split('/').count() == path.split('/').count()
        && template
            .split('/')
            .zip(path.split('/'))
            .all(|(expected, given)| expected.starts_with('{') || is_same(expected, given))
}

impl Operation {
    /// Returns the operation of a call. A HEAD belongs to the operation of the GET.
    pub fn of(method: &Method, path: &str) -> Option<Self> {
        let path = path.split('?').next()?;
        let method = if method == Method::HEAD { &Method::GET } else { method }.as_str().to_lowercase();
        let (template, _) = json().ok()?["paths"].as_object()?.iter().find(|(template, item)| {
            item.get(&method).is_some() && fits(template, path, |expected, actual| expected == actual)
        })?;
        Some(Self { path: template, method })
    }

    /// Returns whether an operation of `method` has a path that `pattern` fits, in which `*` stands for any segment.
    pub fn is_at(method: &str, pattern: &str) -> bool {
        let is_same = |expected: &str, given: &str| given == "*" || expected == given;
        let paths = json().ok().and_then(|contract| contract["paths"].as_object());
        let method = method.to_lowercase();
        paths.is_some_and(|paths| {
            paths
                .iter()
                .any(|(template, item)| item.get(&method).is_some() && fits(template, pattern, is_same))
        })
    }

    /// Returns `true` if live screens alone need the operation, so that a provider may not have it.
    pub fn is_for_live_screens(&self) -> bool {
        json().ok().and_then(|contract| contract.pointer(&self.pointer())?["x-live-screens"].as_bool())
            == Some(true)
    }

    /// Returns the JSON pointer to the operation in the contract.
    pub(super) fn pointer(&self) -> String {
        format!("/paths/{}/{}", self.path.replace('/', "~1"), self.method)
    }
}

/// Returns the value at `pointer` after following references, with its own pointer.
pub(super) fn resolved(pointer: String) -> Option<(&'static Value, String)> {
    let value = json().ok()?.pointer(&pointer)?;
    match value["$ref"].as_str() {
        Some(reference) => resolved(reference.strip_prefix('#')?.to_owned()),
        None => Some((value, pointer)),
    }
}

/// Returns the validator of the schema at `pointer`. Validators are kept, because compiling them is slow.
pub(super) fn validator(pointer: &str) -> Option<Arc<Validator>> {
    static COMPILED: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);
    let mut compiled = COMPILED.lock();
    let compiled = compiled.get_or_insert_default();
    if let Some(validator) = compiled.get(pointer) {
        return Some(Arc::clone(validator));
    }
    let contract = json().ok()?;
    // The schema, with the contract's components, which it may refer to.
    let mut schema = contract.pointer(pointer)?.clone();
    schema["components"] = contract["components"].clone();
    let validator = Arc::new(jsonschema::options().should_validate_formats(true).build(&schema).ok()?);
    compiled.insert(pointer.to_owned(), Arc::clone(&validator));
    Some(validator)
}
