//! Holds JSON against `docs/sentence.schema.json`, as far as that schema goes.

use serde_json::Value;

/// Panics where a sentence does not keep the schema.
pub fn check(sentence: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/sentence.schema.json"))
        .expect("the schema is JSON");
    keep(sentence, &schema, &schema, "sentence");
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the test does not know the type {other}"),
    }
}

fn keep(value: &Value, schema: &Value, root: &Value, at: &str) {
    for (rule, wanted) in schema.as_object().expect("a schema") {
        match (rule.as_str(), wanted) {
            ("$schema" | "title" | "$defs", _) => {}
            ("$ref", Value::String(path)) => {
                let definition =
                    path.strip_prefix('#').and_then(|path| root.pointer(path)).expect("a definition");
                keep(value, definition, root, at);
            }
            ("const", wanted) => assert_eq!(value, wanted, "{at}"),
            ("enum", Value::Array(all)) => assert!(all.contains(value), "{at}: {value}"),
            ("type", Value::String(kind)) => {
                assert!(is(value, kind), "{at}: expected {kind}, came {value}");
            }
            ("type", Value::Array(kinds)) => {
                let fits = kinds.iter().any(|kind| is(value, kind.as_str().expect("a type")));
                assert!(fits, "{at}: expected one of {kinds:?}, came {value}");
            }
            ("minimum", least) => assert!(value.as_f64() >= least.as_f64(), "{at}: {value}"),
            ("required", Value::Array(names)) => {
                names
                    .iter()
                    .for_each(|name| assert!(!value[name.as_str().unwrap()].is_null(), "{at}: no {name}"));
            }
            ("additionalProperties", Value::Bool(false)) => {
                let known = schema["properties"].as_object().expect("properties");
                value.as_object().into_iter().flatten().for_each(|(name, _)| {
                    assert!(known.contains_key(name), "{at}: {name} is not in the schema");
                });
            }
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties.iter().filter(|(name, _)| !value[name.as_str()].is_null()) {
                    keep(&value[name.as_str()], schema, root, &format!("{at}.{name}"));
                }
            }
            ("items", schema) => {
                value.as_array().into_iter().flatten().for_each(|item| keep(item, schema, root, at));
            }
            (rule, _) => panic!("the test does not know the rule {rule}"),
        }
    }
}
