//! Generates the JSON Schema (draft 2020-12) of the jobset-sim file formats from the tables that the checker uses.
//!
//! The schema must refuse everything that the checker refuses and JSON Schema can express.

use super::definitions::common::PARAMETERS;
use super::definitions::kueue;
use super::definitions::together::{FieldConstraint, together};
use super::field_type::{FieldSchema, FieldType, ObjectSchema, SchemaVersions};
use crate::SourceText;
use crate::text::yaml;
use serde_json::{Map, Value, json};

/// Returns the schema of a format, such as `Scenario`, `Topology`, `Timing` or `JobSet`.
pub fn json_schema(kind: &str) -> Option<Value> {
    let root = super::definitions::root(kind)?;
    let has_parameters = root.fields.iter().any(|f| f.name == PARAMETERS.name);
    let mut defs = SchemaDefinitions { of: Map::new(), names: Vec::new(), has_parameters };
    if has_parameters {
        defs.of.insert(PARAMETER.to_owned(), parameter());
    }
    let mut schema = object_schema(root, &mut defs);
    let Value::Object(fields) = &mut schema else {
        return None;
    };
    fields.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    fields.insert("title".to_owned(), json!(kind));
    fields.insert("$defs".to_owned(), Value::Object(defs.of));
    Some(schema)
}

/// The definitions collected so far, and whether `${name}` may replace a value.
struct SchemaDefinitions {
    of: Map<String, Value>,
    /// Tables with a definition, and their names in the schema.
    names: Vec<(&'static ObjectSchema, String)>,
    has_parameters: bool,
}

impl SchemaDefinitions {
    /// Returns the name of the definition of a table, and whether it is new. Tables of the same kind are numbered, such
    /// as those of two versions.
    fn name(&mut self, object: &'static ObjectSchema) -> (String, bool) {
        if let Some((_, name)) = self.names.iter().find(|(known, _)| std::ptr::eq(*known, object)) {
            return (name.clone(), false);
        }
        let same = self.names.iter().filter(|(known, _)| known.kind == object.kind).count();
        let name = if same == 0 { object.kind.to_owned() } else { format!("{}-{}", object.kind, same + 1) };
        self.names.push((object, name.clone()));
        (name, true)
    }
}

/// Name of the definition of a `${name}` reference.
const PARAMETER: &str = "Parameter";

fn parameter() -> Value {
    json!({
        "type": "string",
        "pattern": r"\$\{[^{}]+\}",
        "description": "A reference `${name}`, which is replaced by the value of that name under `parameters`.",
    })
}

fn object_schema(object: &ObjectSchema, defs: &mut SchemaDefinitions) -> Value {
    let mut properties = Map::new();
    for field in object.fields {
        properties.insert(field.name.to_owned(), field_schema(field, defs));
    }
    let required = object.fields.iter().filter(|f| f.required);
    let required: Vec<&str> = required.map(|f| f.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let rules: Vec<Value> = together(object.kind).iter().map(rule).collect();
    if !rules.is_empty() {
        schema["allOf"] = json!(rules);
    }
    schema
}

/// Converts a rule between fields.
fn rule(rule: &FieldConstraint) -> Value {
    let each = |of: &[&str]| -> Vec<Value> { of.iter().map(|f| json!({"required": [f]})).collect() };
    match rule {
        FieldConstraint::One { of, .. } => json!({"oneOf": each(of)}),
        FieldConstraint::Some { of, .. } => json!({"anyOf": each(of)}),
        FieldConstraint::NotBoth(first, second) => json!({"not": {"required": [first, second]}}),
        FieldConstraint::OneSet(sets) => {
            let set = |set: &&[&str]| {
                let others = sets.iter().flat_map(|s| *s).filter(|f| !set.contains(f));
                let others: Vec<&str> = others.copied().collect();
                json!({"required": set, "not": {"anyOf": each(&others)}})
            };
            json!({"oneOf": sets.iter().map(set).collect::<Vec<_>>()})
        }
        FieldConstraint::Needs(this, other, _) => json!({"dependentRequired": {*this: [other]}}),
        FieldConstraint::Replaces(this, others, _) => {
            json!({"dependentSchemas": {*this: {"not": {"anyOf": each(others)}}}})
        }
    }
}

fn field_schema(field: &FieldSchema, defs: &mut SchemaDefinitions) -> Value {
    let mut schema = shape_schema(&field.shape, defs);
    for (key, text) in [("default", field.default), ("examples", field.example)] {
        let Some(value) = written(text) else { continue };
        schema[key] = if key == "examples" { json!([value]) } else { value };
    }
    if !field.doc.is_empty() {
        schema["description"] = json!(field.doc);
    }
    schema
}

/// Parses a value as written in the tables. Returns `None` if the text is empty.
pub(crate) fn written(text: &str) -> Option<Value> {
    let source = SourceText { file: String::new(), text: text.to_owned() };
    Some(yaml::parse(&source).ok()?.first()?.to_json())
}

/// Converts a field type. In a format with `parameters`, a `${name}` reference may replace any scalar.
fn shape_schema(shape: &FieldType, defs: &mut SchemaDefinitions) -> Value {
    let schema = own_schema(shape, defs);
    let is_value = match shape {
        FieldType::Bool | FieldType::Int(..) | FieldType::Number(..) | FieldType::OneOf(_) => true,
        FieldType::Quantity | FieldType::Amount | FieldType::Duration | FieldType::Seconds => true,
        FieldType::Version(_) | FieldType::Preset(_) | FieldType::Assignment => true,
        // Free-form values, strings and containers need no alternative for references.
        _ => false,
    };
    if is_value && defs.has_parameters {
        json!({"anyOf": [schema, {"$ref": format!("#/$defs/{PARAMETER}")}]})
    } else {
        schema
    }
}

fn own_schema(shape: &FieldType, defs: &mut SchemaDefinitions) -> Value {
    match shape {
        FieldType::Any => json!({}),
        FieldType::Bool => json!({"type": "boolean"}),
        FieldType::Str => json!({"type": "string"}),
        FieldType::Line => json!({"type": "string", "pattern": "^[^\\n]*$"}),
        FieldType::Version(of) => version(of),
        FieldType::Preset(names) => {
            json!({"anyOf": [{"enum": names()}, {"type": "string", "pattern": "\\.ya?ml$"}]})
        }
        FieldType::Int(low, high) => json!({"type": "integer", "minimum": low, "maximum": high}),
        FieldType::Number(low, high) => json!({"type": "number", "minimum": low, "maximum": high}),
        FieldType::OneOf(legal) => json!({"enum": legal}),
        FieldType::Quantity => quantity(true),
        FieldType::Amount => quantity(false),
        FieldType::Duration => json!({"anyOf": [duration(), {"const": 0}]}),
        FieldType::Seconds => {
            json!({"anyOf": [duration(), {"type": "number", "minimum": 0, "maximum": 1e9}]})
        }
        FieldType::Assignment => json!({"type": "string", "pattern": "^[^=]+="}),
        FieldType::List(item) => json!({"type": "array", "items": shape_schema(item, defs)}),
        FieldType::NonEmpty(item) => {
            json!({"type": "array", "items": shape_schema(item, defs), "minItems": 1})
        }
        FieldType::Pair(item) => {
            let items = shape_schema(item, defs);
            json!({"type": "array", "items": items, "minItems": 2, "maxItems": 2})
        }
        FieldType::Map(value) => {
            json!({"type": "object", "additionalProperties": shape_schema(value, defs)})
        }
        FieldType::Either(first, second) => {
            json!({"anyOf": [shape_schema(first, defs), shape_schema(second, defs)]})
        }
        FieldType::Kinds(kinds) => {
            let mut legal = Vec::new();
            for object in kinds.objects {
                let kind = json!({"properties": {"kind": {"const": object.kind}}, "required": ["kind"]});
                legal.push(json!({"allOf": [reference(object, defs), kind]}));
            }
            let of_kueue = kueue::tables().filter(|(_, object)| kinds.of_kueue.contains(&object.kind));
            for (version, object) in of_kueue {
                let own = json!({"apiVersion": {"const": version}, "kind": {"const": object.kind}});
                let kind = json!({"properties": own, "required": ["apiVersion", "kind"]});
                legal.push(json!({"allOf": [reference(object, defs), kind]}));
            }
            legal.extend(kinds.file.map(|object| reference(object, defs)));
            json!({"anyOf": legal})
        }
        FieldType::Object(object) => reference(object, defs),
    }
}

fn reference(object: &'static ObjectSchema, defs: &mut SchemaDefinitions) -> Value {
    let (name, is_new) = defs.name(object);
    if is_new {
        defs.of.insert(name.clone(), Value::Null);
        let schema = object_schema(object, defs);
        defs.of.insert(name.clone(), schema);
    }
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Returns the schema of a Kubernetes quantity. Numbers may be written without quotes.
fn quantity(negative: bool) -> Value {
    let sign = if negative { "[+-]?" } else { "[+]?" };
    let pattern = format!("^{sign}[0-9.]+([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$");
    let least = if negative { f64::MIN } else { 0.0 };
    json!({"type": ["string", "number"], "pattern": pattern, "minimum": least})
}

fn duration() -> Value {
    let pattern = r"^(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h|d))+)$";
    json!({"type": "string", "pattern": pattern})
}

/// Returns the schema of a version. A version without quotes is a number, so `1.30` and `1.3` are indistinguishable.
fn version(of: &SchemaVersions) -> Value {
    let numbers: Vec<f64> = of.names().filter_map(|name| name.parse().ok()).collect();
    let minors: Vec<String> = (of.oldest..=of.newest).map(|m| m.to_string()).collect();
    let pattern = format!(r"^v*{}\.({})(\..*)?$", of.major, minors.join("|"));
    json!({"anyOf": [{"type": "string", "pattern": pattern}, {"enum": numbers}]})
}
