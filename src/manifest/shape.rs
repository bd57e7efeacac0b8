//! What a tree may look like, as tables, and the one checker that walks a tree against them.
//!
//! Must never convert anything: readers run after the check and may trust types, ranges and field names.

use super::diagnostic::Report;
use super::node::{Node, Value};
use super::path::Path;
use crate::base::{Duration, quantity};
use std::collections::BTreeMap;

/// The legal forms of one value.
#[derive(Copy, Clone)]
pub enum Shape {
    /// Taken as it is; nothing inside is checked.
    Any,
    Bool,
    Str,
    /// A version such as `1.36`, with or without quotes.
    Version,
    Int(i64, i64),
    Number(f64, f64),
    OneOf(&'static [&'static str]),
    /// `500m`, `2`, `64Gi`.
    Quantity,
    /// `500ms`, `2m30s`.
    Duration,
    /// A duration, or a plain number of seconds.
    Seconds,
    List(&'static Shape),
    Map(&'static Shape),
    Object(&'static Object),
    /// The first if it is no mapping, else the second.
    Either(&'static Shape, &'static Shape),
}

pub struct Object {
    pub kind: &'static str,
    pub fields: &'static [Field],
}

#[derive(Copy, Clone)]
pub struct Field {
    pub name: &'static str,
    pub shape: Shape,
    pub class: Class,
    pub required: bool,
    pub doc: &'static str,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Modelled,
    /// Has no influence on a simulation by its nature.
    Inert,
    /// Would change behavior, and is not modelled: counted where it is present.
    NotModelled,
}

/// A field the model uses.
pub const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        class: Class::Modelled,
        required: false,
        doc,
    }
}

/// A field without influence.
pub const fn inert(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        class: Class::Inert,
        required: false,
        doc: "",
    }
}

/// A known field that is not modelled.
pub const fn not_modelled(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        class: Class::NotModelled,
        required: false,
        doc: "",
    }
}

impl Field {
    pub const fn required(mut self) -> Field {
        self.required = true;
        self
    }

    /// Used where it can be, and yet reported.
    pub const fn partly(mut self) -> Field {
        self.class = Class::NotModelled;
        self
    }
}

pub const STR_LIST: Shape = Shape::List(&Shape::Str);
pub const STR_MAP: Shape = Shape::Map(&Shape::Str);
pub const INT32: Shape = Shape::Int(i32::MIN as i64, i32::MAX as i64);
pub const COUNT: Shape = Shape::Int(0, i32::MAX as i64);

/// Errors beyond this are not looked for: the file is of another kind.
const ERRORS_MAX: usize = 200;

/// Path without indexes → how often a field that is not modelled was present.
pub type Unmodelled = BTreeMap<String, usize>;

/// Walks a tree against a shape; finds every error of it.
pub fn check(
    node: &Node,
    shape: &Shape,
    path: &Path,
    report: &mut Report,
    unmodelled: &mut Unmodelled,
) {
    if report.found.len() >= ERRORS_MAX {
        return;
    }
    match shape {
        Shape::Any => {}
        Shape::Object(object) => check_object(node, object, path, report, unmodelled),
        Shape::Either(first, second) => {
            let chosen = if matches!(node.value, Value::Map(_)) {
                second
            } else {
                first
            };
            check(node, chosen, path, report, unmodelled);
        }
        Shape::List(item) => match &node.value {
            Value::Seq(items) => {
                for (i, node) in items.iter().enumerate() {
                    check(node, item, &path.index(i), report, unmodelled);
                }
            }
            _ => wrong_type(node, shape, path, report),
        },
        Shape::Map(value) => match &node.value {
            Value::Map(entries) => {
                for (key, node) in entries {
                    check(node, value, &path.key(&key.name), report, unmodelled);
                }
            }
            _ => wrong_type(node, shape, path, report),
        },
        _ => check_scalar(node, shape, path, report),
    }
}

fn check_object(
    node: &Node,
    object: &'static Object,
    path: &Path,
    report: &mut Report,
    unmodelled: &mut Unmodelled,
) {
    let Value::Map(entries) = &node.value else {
        return wrong_type(node, &Shape::Object(object), path, report);
    };
    for (key, value) in entries {
        let path = path.key(&key.name);
        let Some(field) = object.fields.iter().find(|f| f.name == key.name) else {
            unknown_field(key, object, &path, report);
            continue;
        };
        if value.is_null() {
            continue;
        }
        if field.class == Class::NotModelled && !value.is_empty() {
            *unmodelled.entry(path.without_indexes()).or_default() += 1;
        }
        check(value, &field.shape, &path, report, unmodelled);
    }
    for field in object.fields.iter().filter(|f| f.required) {
        if node.get(field.name).is_none() {
            let message = match path.is_root() {
                true => format!("{} is required", field.name),
                false => format!("{path}.{} is required", field.name),
            };
            let error = report.error(node.at, message);
            if !field.doc.is_empty() {
                error.suggest(format!("{}: {}", field.name, field.doc));
            }
        }
    }
}

fn unknown_field(key: &super::node::Key, object: &Object, path: &Path, report: &mut Report) {
    let whole = path.to_string();
    let parent = whole.strip_suffix(&key.name).unwrap_or("");
    let parent = parent.trim_end_matches('.');
    let place = match parent {
        "" => object.kind.to_owned(),
        parent => parent.to_owned(),
    };
    let names = object.fields.iter().map(|f| f.name);
    let error = report.error(key.at, format!("unknown field {:?} in {place}", key.name));
    error.nearest(&key.name, names.clone());
    if error.suggestion.is_none() {
        let names: Vec<&str> = names.take(25).collect();
        let more = if object.fields.len() > 25 {
            ", ..."
        } else {
            ""
        };
        error.legal(format!("{}{more}", names.join(", ")));
    }
}

fn wrong_type(node: &Node, shape: &Shape, path: &Path, report: &mut Report) {
    let name = match path.is_root() {
        true => "the document".to_owned(),
        false => path.to_string(),
    };
    let message = format!("{name} must be {}, found {}", shape.noun(), node.describe());
    let error = report.error(node.at, message);
    if matches!(shape, Shape::Str) && !matches!(node.value, Value::Seq(_) | Value::Map(_)) {
        error.suggest("write it in quotes");
    }
}

fn check_scalar(node: &Node, shape: &Shape, path: &Path, report: &mut Report) {
    let problem = match (shape, &node.value) {
        (Shape::Bool, Value::Bool(_)) | (Shape::Str, Value::Str(_)) => return,
        (Shape::Version, Value::Str(_) | Value::Float(_) | Value::Int(_)) => return,
        (Shape::Int(low, high), Value::Int(i)) => {
            if (low..=high).contains(&i) {
                return;
            }
            format!("is {i}")
        }
        (Shape::Number(low, high), Value::Int(_) | Value::Float(_)) => {
            let number = node.as_f64().unwrap_or(f64::NAN);
            // False for NaN.
            if number >= *low && number <= *high {
                return;
            }
            format!("is {}", super::node::render_f64(number))
        }
        (Shape::OneOf(legal), Value::Str(found)) => {
            if !legal.contains(&found.as_str()) {
                let message = format!("{path} is {found:?}, which is not legal");
                let error = report.error(node.at, message);
                error.nearest(found, legal.iter().copied());
                error.legal(legal.join(", "));
            }
            return;
        }
        (Shape::Quantity, Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            match quantity::parse_milli(&node.scalar_text().unwrap_or_default()) {
                Ok(_) => return,
                Err(problem) => problem,
            }
        }
        (Shape::Duration, Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            match node.scalar_text().unwrap_or_default().parse::<Duration>() {
                Ok(_) => return,
                Err(problem) => problem,
            }
        }
        (Shape::Seconds, Value::Str(_)) => match seconds(node) {
            Ok(_) => return,
            Err(problem) => problem,
        },
        (Shape::Seconds, Value::Int(_) | Value::Float(_)) => match seconds(node) {
            Ok(_) => return,
            Err(problem) => problem,
        },
        _ => return wrong_type(node, shape, path, report),
    };
    match shape {
        Shape::Int(..) | Shape::Number(..) => {
            let legal = shape.noun();
            report
                .error(node.at, format!("{path} {problem}"))
                .legal(legal);
        }
        _ => {
            report.error(node.at, format!("{path}: {problem}"));
        }
    }
}

/// A duration, or a number of seconds, as seconds.
pub fn seconds(node: &Node) -> Result<f64, String> {
    const LONGEST_S: f64 = 1e9;
    match &node.value {
        Value::Str(text) => text.parse::<Duration>().map(Duration::seconds),
        Value::Int(_) | Value::Float(_) => {
            let number = node.as_f64().unwrap_or(f64::NAN);
            if (0.0..=LONGEST_S).contains(&number) {
                Ok(number)
            } else {
                Err(format!("{number} is not a number of seconds from 0 to 1e9"))
            }
        }
        _ => Err(format!("{} is not a time", node.describe())),
    }
}

impl Shape {
    /// What a value must be, for messages.
    pub fn noun(&self) -> String {
        match self {
            Shape::Any => "a value".to_owned(),
            Shape::Bool => "true or false".to_owned(),
            Shape::Str => "a string".to_owned(),
            Shape::Version => "a version such as \"1.36\"".to_owned(),
            Shape::Int(low, high) => format!("an integer from {low} to {high}"),
            Shape::Number(low, high) => format!("a number from {low} to {high}"),
            Shape::OneOf(legal) => format!("one of {}", legal.join(", ")),
            Shape::Quantity => "a quantity such as 500m, 2 or 64Gi".to_owned(),
            Shape::Duration => "a duration such as 500ms or 2m30s".to_owned(),
            Shape::Seconds => "a duration such as 500ms, or a number of seconds".to_owned(),
            Shape::List(item) => match item {
                Shape::Object(_) | Shape::Any => "a list".to_owned(),
                item => format!("a list whose elements are {}", item.noun()),
            },
            Shape::Map(_) | Shape::Object(_) => "a mapping".to_owned(),
            Shape::Either(first, _) => format!("{} or a mapping", first.noun()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::diagnostic::Source;
    use crate::manifest::yaml;

    static INNER: Object = Object {
        kind: "Inner",
        fields: &[
            field("mode", Shape::OneOf(&["Fast", "Slow"]), "").required(),
            not_modelled("affinity", Shape::Any),
            inert("image", Shape::Str),
        ],
    };
    static OUTER: Object = Object {
        kind: "Outer",
        fields: &[
            field("count", Shape::Int(0, 9), "how many"),
            field("rate", Shape::Number(0.0, 1.0), ""),
            field("memory", Shape::Quantity, ""),
            field("wait", Shape::Duration, ""),
            field("inner", Shape::List(&Shape::Object(&INNER)), ""),
            field("labels", STR_MAP, ""),
        ],
    };

    fn run(text: &str) -> (Vec<String>, Unmodelled) {
        let source = Source {
            file: "x".into(),
            text: text.into(),
        };
        let none = Source::default();
        let node = yaml::parse(&source).unwrap().pop().unwrap();
        let mut report = Report::new(&source, &none);
        let mut unmodelled = Unmodelled::new();
        let shape = Shape::Object(&OUTER);
        check(&node, &shape, &Path::ROOT, &mut report, &mut unmodelled);
        let messages = report.found.iter().map(|d| d.message.clone());
        (messages.collect(), unmodelled)
    }

    #[test]
    fn each_wrong_value_is_named_with_its_path() {
        for (text, message) in [
            ("count: 10", "count is 10"),
            (
                "count: x",
                "count must be an integer from 0 to 9, found the string \"x\"",
            ),
            ("rate: .nan", "rate is NaN"),
            ("rate: -0.5", "rate is -0.5"),
            (
                "memory: 4Q",
                "memory: \"4Q\" is not a quantity; write 500m, 2, 1.5, 64Gi or 16G",
            ),
            (
                "labels: {a: 1}",
                "labels.a must be a string, found the integer 1",
            ),
            ("inner: {}", "inner must be a list, found a mapping"),
            ("inner: [{}]", "inner[0].mode is required"),
            (
                "inner: [{mode: fast}]",
                "inner[0].mode is \"fast\", which is not legal",
            ),
            (
                "inner: [{mode: Fast, imge: x}]",
                "unknown field \"imge\" in inner[0]",
            ),
            ("cuont: 1", "unknown field \"cuont\" in Outer"),
        ] {
            assert_eq!(run(text).0, [message], "{text}");
        }
        assert!(run("wait: 5").0[0].starts_with("wait: \"5\" has no unit"));
    }

    #[test]
    fn all_errors_are_found_at_once_and_a_correct_tree_has_none() {
        assert_eq!(run("count: -1\nrate: 2\nbogus: 1\n").0.len(), 3);
        let (errors, unmodelled) = run(
            "count: 1\nrate: 0.5\nmemory: 4Gi\nwait: 1s\nlabels: null\ninner:\n- {mode: Fast, image: a, affinity: {x: 1}}\n- {mode: Slow, affinity: {}}\n",
        );
        assert_eq!(errors, [""; 0]);
        assert_eq!(
            unmodelled.into_iter().collect::<Vec<_>>(),
            [("inner[].affinity".to_owned(), 1)]
        );
    }
}
