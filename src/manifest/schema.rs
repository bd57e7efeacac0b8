//! JSON Schema (draft 2020-12) of our own file formats, made from the tables the checker uses.

use super::shape::{Field, Object, Shape};
use serde_json::{Map, Value, json};

/// The schema of `Scenario`, `Topology` or `JobSet`.
pub fn json_schema(kind: &str) -> Option<Value> {
    let root = super::shapes::root(kind)?;
    let mut defs = Map::new();
    let mut schema = object_schema(root, &mut defs);
    let Value::Object(fields) = &mut schema else {
        return None;
    };
    fields.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    fields.insert("title".to_owned(), json!(kind));
    fields.insert("$defs".to_owned(), Value::Object(defs));
    Some(schema)
}

fn object_schema(object: &Object, defs: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for field in object.fields {
        properties.insert(field.name.to_owned(), field_schema(field, defs));
    }
    let required: Vec<&str> = object
        .fields
        .iter()
        .filter(|f| f.required)
        .map(|f| f.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn field_schema(field: &Field, defs: &mut Map<String, Value>) -> Value {
    let mut schema = shape_schema(&field.shape, defs);
    if !field.doc.is_empty() {
        schema["description"] = json!(field.doc);
    }
    schema
}

fn shape_schema(shape: &Shape, defs: &mut Map<String, Value>) -> Value {
    let duration = "^([0-9.]+(ns|us|µs|ms|s|m|h|d))+$|^0$";
    match shape {
        Shape::Any => json!({}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Str => json!({"type": "string"}),
        Shape::Version => json!({"type": ["string", "number"]}),
        Shape::Int(low, high) => json!({"type": "integer", "minimum": low, "maximum": high}),
        Shape::Number(low, high) => json!({"type": "number", "minimum": low, "maximum": high}),
        Shape::OneOf(legal) => json!({"enum": legal}),
        Shape::Quantity | Shape::Amount => json!({"type": ["string", "number"]}),
        Shape::Duration => json!({"type": ["string", "integer"], "pattern": duration}),
        Shape::Seconds => json!({"type": ["string", "number"], "pattern": duration}),
        Shape::List(item) => json!({"type": "array", "items": shape_schema(item, defs)}),
        Shape::Map(value) => {
            json!({"type": "object", "additionalProperties": shape_schema(value, defs)})
        }
        Shape::Either(first, second) => {
            json!({"anyOf": [shape_schema(first, defs), shape_schema(second, defs)]})
        }
        Shape::Kinds(kinds) => {
            let mut legal = Vec::new();
            for object in kinds.objects.iter().copied().chain(kinds.file) {
                legal.push(shape_schema(&Shape::Object(object), defs));
            }
            json!({"anyOf": legal})
        }
        Shape::Object(object) => {
            if !defs.contains_key(object.kind) {
                defs.insert(object.kind.to_owned(), Value::Null);
                let schema = object_schema(object, defs);
                defs.insert(object.kind.to_owned(), schema);
            }
            json!({"$ref": format!("#/$defs/{}", object.kind)})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_schema_whose_references_resolve() {
        for kind in ["Scenario", "Topology", "JobSet"] {
            let schema = json_schema(kind).unwrap();
            assert_eq!(schema["title"], kind);
            let text = schema.to_string();
            for part in text.split("\"#/$defs/").skip(1) {
                let name = part.split('"').next().unwrap();
                assert!(schema["$defs"][name].is_object(), "{kind}: {name}");
            }
        }
        assert!(json_schema("Pod").is_none());
    }

    #[test]
    fn fields_carry_their_ranges_and_words() {
        let schema = json_schema("Topology").unwrap();
        let pool = &schema["$defs"]["Pool"];
        assert_eq!(pool["properties"]["count"]["minimum"], 0);
        assert!(pool["properties"]["islandKind"]["enum"].is_array());
        assert!(pool["properties"]["name"]["description"].is_string());
    }
}
