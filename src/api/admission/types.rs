//! The Go types of JobSet, Job, Pod and the spec of Kueue's Workload with the CRD's rules for each field, read once
//! from tables.
//!
//! A table line is `Go type` for a struct. The indented lines below it are its fields in Go's order: JSON name, Go
//! type, `o` (omitempty) or `oz` (also omitzero), then the rules of the CRD: `r` required, `d=` default, `enum=`,
//! `max=` items, `min=`, `maxlen=`, `minlen=`, `pattern=`, `keys=` of a keyed list, `cel`, `atomic`, and `-` for fields
//! that the CRD does not define. Rules must not be written in code; all rules for single fields are in the tables.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TABLES: [&str; 5] = [
    include_str!("types/jobset.txt"),
    include_str!("types/batch.txt"),
    include_str!("types/core.txt"),
    include_str!("types/meta.txt"),
    include_str!("types/kueue.txt"),
];
const NAMES: &str = include_str!("types/names.txt");

#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    String,
    Bool,
    /// Integer with this number of bits.
    Int(u32),
    Quantity,
    IntOrString,
    Time,
    /// Any value, kept unchanged.
    Raw,
    /// Struct, identified by its Go name.
    Struct(&'static str),
    List(Box<SchemaType>),
    Map(Box<SchemaType>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SchemaType {
    /// Name as printed by Go.
    pub name: &'static str,
    pub kind: FieldKind,
}

#[derive(Clone, Debug)]
pub struct SchemaField {
    pub name: &'static str,
    pub ty: SchemaType,
    pub pointer: bool,
    pub omit_empty: bool,
    pub omit_zero: bool,
    pub rules: SchemaRules,
}

/// Rules of the CRD for a field.
#[derive(Clone, Debug, Default)]
pub struct SchemaRules {
    pub unknown: bool,
    pub required: bool,
    pub default: Option<Value>,
    pub values: Vec<&'static str>,
    pub max_items: Option<usize>,
    pub minimum: Option<i64>,
    pub max_length: Option<usize>,
    pub min_length: Option<usize>,
    pub pattern: Option<&'static str>,
    pub keys: Vec<&'static str>,
    /// Whether server-side apply replaces the value as a whole.
    pub atomic: bool,
}

#[derive(Clone, Debug, Default)]
pub struct StructType {
    /// Go name without the package.
    pub name: &'static str,
    pub fields: Vec<SchemaField>,
}

impl StructType {
    pub fn field(&self, name: &str) -> Option<&SchemaField> {
        self.fields.iter().find(|f| f.name == name)
    }
}

pub struct TypeTables {
    structs: BTreeMap<&'static str, StructType>,
    empty: StructType,
}

impl TypeTables {
    /// Returns the struct with the given Go name, or a struct without fields if the tables do not contain it.
    pub fn struct_named(&self, name: &str) -> &StructType {
        self.structs.get(name).unwrap_or(&self.empty)
    }
}

/// Go name of the root type.
pub const JOBSET: &str = "v1alpha2.JobSet";

pub fn tables() -> &'static TypeTables {
    static PARSED: OnceLock<TypeTables> = OnceLock::new();
    PARSED.get_or_init(|| {
        let names: BTreeMap<_, _> = NAMES.lines().filter_map(|l| l.split_once(" = ")).collect();
        let mut structs: BTreeMap<&'static str, StructType> = BTreeMap::new();
        let mut last = "";
        for line in TABLES.iter().flat_map(|t| t.lines()) {
            match line.strip_prefix("  ") {
                None => {
                    last = line;
                    let name = line.rsplit('.').next().unwrap_or(line);
                    structs.entry(line).or_default().name = name;
                }
                Some(text) => {
                    let fields = &mut structs.entry(last).or_default().fields;
                    fields.extend(field(text, &names));
                }
            }
        }
        TypeTables { structs, empty: StructType::default() }
    })
}

type FieldNames = BTreeMap<&'static str, &'static str>;

fn field(text: &'static str, names: &FieldNames) -> Option<SchemaField> {
    let mut words = text.split(' ').peekable();
    let name = words.next()?;
    let go = words.next()?;
    let marks = words.next_if(|w| matches!(*w, "o" | "oz")).unwrap_or("");
    let mut rules = SchemaRules::default();
    for word in words {
        rule(word, &mut rules);
    }
    Some(SchemaField {
        name,
        pointer: go.starts_with('*'),
        ty: go_type(go.trim_start_matches('*'), names),
        omit_empty: marks.contains('o'),
        omit_zero: marks.contains('z'),
        rules,
    })
}

fn rule(word: &'static str, rules: &mut SchemaRules) {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    let number = || value.parse().ok();
    match key {
        "r" => rules.required = true,
        "-" => rules.unknown = true,
        "atomic" => rules.atomic = true,
        "d" => rules.default = serde_json::from_str(value).ok(),
        "enum" => rules.values = value.split('|').collect(),
        "max" => rules.max_items = number(),
        "min" => rules.minimum = value.parse().ok(),
        "maxlen" => rules.max_length = number(),
        "minlen" => rules.min_length = number(),
        "pattern" => rules.pattern = Some(value),
        "keys" => rules.keys = value.split(',').collect(),
        _ => {}
    }
}

fn go_type(name: &'static str, names: &FieldNames) -> SchemaType {
    let under = names.get(name).copied().unwrap_or(name);
    let kind = match under {
        "string" | "types.UID" => FieldKind::String,
        "bool" => FieldKind::Bool,
        "int32" => FieldKind::Int(32),
        "int64" | "int" => FieldKind::Int(64),
        "resource.Quantity" => FieldKind::Quantity,
        "intstr.IntOrString" => FieldKind::IntOrString,
        "v1.Time" => FieldKind::Time,
        "v1.FieldsV1" => FieldKind::Raw,
        _ => compound(under, names),
    };
    SchemaType { name, kind }
}

fn compound(under: &'static str, names: &FieldNames) -> FieldKind {
    if let Some(item) = under.strip_prefix("[]") {
        return FieldKind::List(Box::new(go_type(item, names)));
    }
    match under.strip_prefix("map[").and_then(|m| m.split_once(']')) {
        Some((_, value)) => FieldKind::Map(Box::new(go_type(value, names))),
        None => FieldKind::Struct(under),
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/api/admission/types.rs"]
mod tests;
