//! The OpenAPI document, made of the operations' own types.

use std::sync::OnceLock;

use axum::body::Bytes;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::api::Operation;
use crate::api::models::ModelsAnswer;
use crate::api::training::{TrainingAnswer, TrainingQuery};
use crate::problem::{self, Problem};
use crate::routes::each_operation;

/// What is asked with GET, and the reload: path, method, summary.
const OTHERS: [(&str, &str, &str); 6] = [
    ("/healthz", "get", "Whether the server is there"),
    ("/metrics", "get", "Counters in Prometheus' text form"),
    ("/openapi.json", "get", "This document"),
    ("/v1/models", "get", "The models that are open"),
    ("/v1/models/reload", "post", "Opens the models anew, with the token"),
    ("/v1/training", "get", "What was added to the log of a training"),
];

/// The addresses of the API.
pub fn paths() -> Vec<&'static str> {
    let mut paths: Vec<&str> = OTHERS.iter().map(|(path, ..)| *path).collect();
    macro_rules! add {
        ($operation:ty) => {
            paths.push(<$operation>::PATH);
        };
    }
    each_operation!(add);
    paths
}

/// The document, as it is served.
pub fn document() -> Bytes {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::to_vec_pretty(&describe()).unwrap_or_default().into()).clone()
}

fn describe() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    macro_rules! add {
        ($operation:ty) => {
            paths.insert(<$operation>::PATH.to_owned(), json!({"post": operation::<$operation>(&mut generator)}));
        };
    }
    each_operation!(add);
    for (path, method, summary) in OTHERS {
        let answer = match path {
            "/v1/models" | "/v1/models/reload" => {
                json!({"application/json": {"schema": generator.subschema_for::<ModelsAnswer>()}})
            }
            "/v1/training" => {
                json!({"application/json": {"schema": generator.subschema_for::<TrainingAnswer>()}})
            }
            "/openapi.json" => json!({"application/json": {"schema": {"type": "object"}}}),
            _ => json!({"text/plain": {"schema": {"type": "string"}}}),
        };
        let mut described = json!({
            "summary": summary,
            "responses": {"200": {"description": "The answer", "content": answer}, "default": refusal(&mut generator)},
        });
        if path == "/v1/training" {
            described["parameters"] = json!(parameters::<TrainingQuery>());
        }
        let mut methods = Map::new();
        methods.insert(method.to_owned(), described);
        paths.insert(path.to_owned(), methods.into());
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Consonant",
            "summary": "Structured prediction in language: models that agree, and prove it",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    })
}

fn operation<O: Operation>(generator: &mut SchemaGenerator) -> Value {
    let request = generator.subschema_for::<O::Request>();
    let mut content = json!({"application/json": {"schema": generator.subschema_for::<O::Answer>()}});
    for kind in O::OTHERS {
        content[*kind] = json!({"schema": {"type": "string"}});
    }
    let mut described = json!({
        "summary": O::SUMMARY,
        "requestBody": {"required": true, "content": {"application/json": {"schema": request}}},
        "responses": {"200": {"description": "The answer", "content": content}, "default": refusal(generator)},
    });
    if !O::ABOUT.is_empty() {
        described["description"] = json!(O::ABOUT);
    }
    let parameters = parameters::<O::Query>();
    if !parameters.is_empty() {
        described["parameters"] = json!(parameters);
    }
    described
}

fn refusal(generator: &mut SchemaGenerator) -> Value {
    let mut content = Map::new();
    content.insert(problem::CONTENT_TYPE.to_owned(), json!({"schema": generator.subschema_for::<Problem>()}));
    json!({"description": "Why not: 400 no JSON, 413 too large, 422 wrong, 429 too busy, 501 no model", "content": content})
}

/// The fields of a query, one by one.
fn parameters<Q: JsonSchema>() -> Vec<Value> {
    // Standing alone, with nothing to refer to.
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<Q>();
    let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let parameter = |(name, schema): (String, Value)| json!({"name": name, "in": "query", "schema": schema});
    fields.into_iter().map(parameter).collect()
}
