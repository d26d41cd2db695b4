//! Checks responses against `contract/openapi.yaml`.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use axum::http::{HeaderMap, Method, StatusCode, header};
use jsonschema::Validator;
use serde_json::{Value, json};

const YAML: &str = include_str!("../../../contract/openapi.yaml");

static CONTRACT: LazyLock<Value> = LazyLock::new(|| serde_saphyr::from_str(YAML).unwrap());

/// Panics with an explanation when the contract does not allow this response to this call.
pub fn check(method: &Method, path: &str, status: StatusCode, headers: &HeaderMap, body: &[u8]) {
    assert!(headers.contains_key("x-request-id"), "{method} {path}: no X-Request-Id");
    // Every path answers OPTIONS.
    if method == Method::OPTIONS {
        return assert!(status.is_success() && body.is_empty(), "{method} {path}: {status}");
    }
    let is_head = method == Method::HEAD;
    let method = if is_head { &Method::GET } else { method };
    let call = format!("{method} {path}: {status}");
    let Some((operation, pointer)) = operation(method, path) else {
        // Calls that are not in the contract are answered with its failure body too.
        if path.starts_with("/api/") {
            assert!(
                matches!(status.as_u16(), 404 | 405 | 414),
                "{call} for a call that is not in the contract"
            );
            return matches_schema(&call, "#/components/schemas/Failure", headers, body);
        }
        return;
    };
    let listed = &operation["responses"][status.as_str()];
    assert!(!listed.is_null(), "{call} is not in the contract; it was {}", String::from_utf8_lossy(body));
    let (response, pointer) = match listed["$ref"].as_str() {
        Some(reference) => (CONTRACT.pointer(&reference[1..]).unwrap(), reference.to_owned()),
        None => (listed, format!("{pointer}/responses/{status}", status = status.as_str())),
    };
    for (name, rules) in response["headers"].as_object().into_iter().flatten() {
        let rules = rules["$ref"].as_str().map_or(rules, |at| CONTRACT.pointer(&at[1..]).unwrap());
        let value = headers.get(name.as_str()).map(|value| value.to_str().unwrap());
        if rules["required"] == true {
            assert!(value.is_some(), "{call} has no {name}");
        }
        if let Some(value) = value {
            assert!(jsonschema::is_valid(&rules["schema"], &json!(value)), "{call}: {name}: {value}");
        }
    }
    let Some(content) = response["content"].as_object() else {
        return assert!(body.is_empty(), "{call} must have no body");
    };
    let media_type = headers[header::CONTENT_TYPE].to_str().unwrap();
    let media_type = media_type.split(';').next().unwrap();
    assert!(content.contains_key(media_type), "{call}: {media_type} is not in the contract");
    if is_head || !media_type.ends_with("json") {
        return;
    }
    let schema = format!("{pointer}/content/{}/schema", media_type.replace('/', "~1"));
    matches_schema(&call, &schema, headers, body);
}

fn matches_schema(call: &str, pointer: &str, headers: &HeaderMap, body: &[u8]) {
    let media_type = headers[header::CONTENT_TYPE].to_str().unwrap();
    assert!(media_type.ends_with("json"), "{call}: {media_type}");
    let body: Value = serde_json::from_slice(body).unwrap();
    let validator = validator(pointer);
    let errors: Vec<String> =
        validator.iter_errors(&body).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{call} breaks the contract: {errors:#?}\n{body:#}");
}

/// The cached validator of the schema at `pointer`: compiling one takes longer than most tests.
fn validator(pointer: &str) -> Arc<Validator> {
    static COMPILED: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = compiled.get_or_insert_default().entry(pointer.to_owned()).or_insert_with(|| {
        // The schema, with the contract's components, which it may refer to.
        let mut schema = CONTRACT.pointer(&pointer[1..]).unwrap().clone();
        schema["components"] = CONTRACT["components"].clone();
        Arc::new(jsonschema::options().should_validate_formats(true).build(&schema).unwrap())
    });
    Arc::clone(validator)
}

fn operation(method: &Method, path: &str) -> Option<(&'static Value, String)> {
    let (template, method) = name(method, path)?;
    let pointer = format!("/paths/{}/{method}", template.replace('/', "~1"));
    Some((CONTRACT.pointer(&pointer)?, format!("#{pointer}")))
}

/// The path and the method of the operation, as the contract writes them.
pub fn name(method: &Method, path: &str) -> Option<(&'static str, String)> {
    let path = path.split('?').next()?;
    let method = method.as_str().to_lowercase();
    let (template, _) = CONTRACT["paths"].as_object()?.iter().find(|(template, item)| {
        item.get(&method).is_some()
            && template.split('/').count() == path.split('/').count()
            && template
                .split('/')
                .zip(path.split('/'))
                .all(|(expected, actual)| expected == actual || expected.starts_with('{'))
    })?;
    Some((template, method))
}

/// The path and the method of each operation.
pub fn operations() -> BTreeSet<(&'static str, String)> {
    let mut operations = BTreeSet::new();
    for (path, item) in CONTRACT["paths"].as_object().unwrap() {
        for key in item.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            operations.insert((path.as_str(), key.clone()));
        }
    }
    operations
}

/// The name of the response that the operation lists for `status`.
pub fn response(path: &str, method: &str, status: &str) -> Option<&'static str> {
    CONTRACT["paths"][path][method]["responses"][status]["$ref"].as_str()?.rsplit('/').next()
}
