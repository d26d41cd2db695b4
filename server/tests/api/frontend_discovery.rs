//! What browsers get, in the format of the Frontend Discovery schema.

use axum::http::{Method, header};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    rollouts::publish_for,
    slices::{portal, start},
    test_app::TestApp,
};

/// The rules of v1-pre (github.com/awslabs/frontend-discovery, schema/v1-pre.json), without its comments. As there,
/// the rules for builds apply to the first one only; `a_build` has them for each.
fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "type": "object",
        "required": ["schema", "microFrontends"],
        "additionalProperties": false,
        "properties": {
            "schema": {"type": "string"},
            "microFrontends": {
                "type": "object",
                "additionalProperties": {"type": "array", "uniqueItems": true, "items": [a_build()]},
            },
        },
    })
}

fn a_build() -> Value {
    json!({
        "type": "object",
        "required": ["url", "metadata"],
        "additionalProperties": false,
        "properties": {
            "url": {"type": "string"},
            "fallbackUrl": {"type": "string"},
            "metadata": {
                "type": "object",
                "required": ["integrity", "version"],
                "additionalProperties": false,
                "properties": {"integrity": {"type": "string"}, "version": {"type": "string"}},
            },
            "extras": {"type": "object"},
            "deployment": {
                "type": "object",
                "required": ["traffic", "default"],
                "properties": {
                    "traffic": {"type": "number", "minimum": 0, "maximum": 100},
                    "default": {"type": "boolean"},
                },
            },
        },
    })
}

/// The answer, which must follow the schema; and its builds of mfe-loans.
async fn discovered(app: &TestApp) -> Value {
    let answer = app.call(Method::GET, "/.well-known/frontend-discovery.json", None).await;
    assert_eq!(answer.headers[header::CACHE_CONTROL], "private, no-cache");
    let found = answer.json();
    jsonschema::validate(&schema(), &found).unwrap();
    for build in
        found["microFrontends"].as_object().unwrap().values().flat_map(|builds| builds.as_array().unwrap())
    {
        jsonschema::validate(&a_build(), build).unwrap();
    }
    found["microFrontends"]["mfe-loans"].clone()
}

#[tokio::test]
async fn other_tools_read_what_browsers_get_by_the_frontend_discovery_schema() {
    let portal = portal();
    let app = start(&portal).await;
    let deployment = |loans: &Value| {
        loans.as_array().unwrap().iter().map(|build| build["deployment"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(deployment(&discovered(&app).await), [json!({"traffic": 100, "default": true})]);
    publish_for(&app, "percent=10").await;
    let loans = discovered(&app).await;
    assert_eq!(
        deployment(&loans),
        [json!({"traffic": 90, "default": true}), json!({"traffic": 10, "default": false})]
    );
    let mut new = loans[1].clone();
    new["metadata"]["integrity"] = json!("sha384-…");
    assert_snapshot!(format!("{new:#}"), @r#"
    {
      "deployment": {
        "default": false,
        "traffic": 10
      },
      "extras": {
        "mkopo": {
          "screens": [
            {
              "path": "/loans",
              "title": "A screen"
            }
          ],
          "shell": "^0.1.0"
        },
        "moduleFederation": {
          "module": "./slice",
          "name": "mfe_loans"
        }
      },
      "fallbackUrl": "/slices/mfe-loans/0.1.0/mf-manifest.json",
      "metadata": {
        "integrity": "sha384-…",
        "version": "0.2.0"
      },
      "url": "/slices/mfe-loans/0.2.0/mf-manifest.json"
    }
    "#);
    app.console(Method::POST, "/slices/mfe-loans/promote", None).await;
    let live = discovered(&app).await;
    assert_eq!((&live[0]["metadata"]["version"], deployment(&live).len()), (&json!("0.2.0"), 1));
}
