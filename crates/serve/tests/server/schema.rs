//! Holds JSON against a schema of the OpenAPI document, as far as these schemas go.

use serde_json::Value;

/// Panics where a value does not keep a schema.
pub fn keep(value: &Value, schema: &Value, root: &Value, at: &str) {
    if let Err(why) = check(value, schema, root, at) {
        panic!("{why}");
    }
}

fn check(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return if schema == &Value::Bool(true) { Ok(()) } else { Err(format!("{at}: no schema, {schema}")) };
    };
    for (rule, wanted) in rules {
        match (rule.as_str(), wanted) {
            ("title" | "description" | "default" | "format" | "$defs", _) => {}
            ("$ref", Value::String(path)) => {
                let path = path.strip_prefix('#').ok_or("a reference elsewhere")?;
                let definition = root.pointer(path).ok_or_else(|| format!("{at}: there is no {path}"))?;
                check(value, definition, root, at)?;
            }
            ("const", wanted) if value != wanted => {
                return Err(format!("{at}: expected {wanted}, came {value}"));
            }
            ("const", _) => {}
            ("enum", Value::Array(names)) if !names.contains(value) => {
                return Err(format!("{at}: {value} is no {wanted}"));
            }
            ("enum", _) => {}
            ("type", Value::String(kind)) => is(value, kind, at)?,
            ("type", Value::Array(kinds)) => {
                let any = kinds.iter().filter_map(Value::as_str).any(|kind| is(value, kind, at).is_ok());
                any.then_some(()).ok_or_else(|| format!("{at}: expected {wanted}, came {value}"))?;
            }
            ("minimum", least) if value.as_f64() < least.as_f64() => {
                return Err(format!("{at}: {value} < {least}"));
            }
            ("maximum", most) if value.as_f64() > most.as_f64() => {
                return Err(format!("{at}: {value} > {most}"));
            }
            ("minimum" | "maximum", _) => {}
            ("minItems", count)
                if (value.as_array().map_or(0, Vec::len) as u64) < count.as_u64().unwrap_or(0) =>
            {
                return Err(format!("{at}: too few items"));
            }
            ("maxItems", count)
                if value.as_array().map_or(0, Vec::len) as u64 > count.as_u64().unwrap_or(0) =>
            {
                return Err(format!("{at}: too many items"));
            }
            ("minItems" | "maxItems", _) => {}
            ("required", Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str) {
                    value.get(name).ok_or_else(|| format!("{at}: no {name} in {value}"))?;
                }
            }
            ("additionalProperties", Value::Bool(false)) => {
                let known = schema.get("properties").and_then(Value::as_object);
                for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        return Err(format!("{at}: {name} is not in the schema"));
                    }
                }
            }
            ("additionalProperties", _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties {
                    if let Some(value) = value.get(name) {
                        check(value, schema, root, &format!("{at}.{name}"))?;
                    }
                }
            }
            ("items", schema) => {
                for item in value.as_array().into_iter().flatten() {
                    check(item, schema, root, &format!("{at}[]"))?;
                }
            }
            ("prefixItems", Value::Array(schemas)) => {
                for (item, schema) in value.as_array().into_iter().flatten().zip(schemas) {
                    check(item, schema, root, at)?;
                }
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                if !schemas.iter().any(|schema| check(value, schema, root, at).is_ok()) {
                    return Err(format!("{at}: {value} is none of {wanted}"));
                }
            }
            ("allOf", Value::Array(schemas)) => {
                for schema in schemas {
                    check(value, schema, root, at)?;
                }
            }
            (rule, _) => return Err(format!("{at}: the test does not know the rule {rule}")),
        }
    }
    Ok(())
}

fn is(value: &Value, kind: &str, at: &str) -> Result<(), String> {
    let is = match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => return Err(format!("{at}: the test does not know the type {other}")),
    };
    if is { Ok(()) } else { Err(format!("{at}: expected {kind}, came {value}")) }
}
