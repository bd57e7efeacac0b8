//! Types for the tables that describe file formats. `check` validates trees against the tables; `schema` prints
//! them.
//!
//! The fields of the formats must not be defined here; they are in `shapes`.

/// The type of a value.
#[derive(Copy, Clone)]
pub enum Shape {
    /// Any value, without checks of its contents.
    Any,
    Bool,
    Str,
    /// A string without line breaks, for names that are printed in reports.
    Line,
    /// A version such as `1.36`, with or without quotes.
    Version(&'static Versions),
    /// The name of a preset, from a list computed at run time, or a preset file.
    Preset(fn() -> Vec<String>),
    Int(i64, i64),
    Number(f64, f64),
    OneOf(&'static [&'static str]),
    /// A Kubernetes quantity such as `500m`, `2` or `64Gi`. Negative values are left to the API server to refuse.
    Quantity,
    /// A Kubernetes quantity that is zero or positive.
    Amount,
    /// A duration such as `500ms` or `2m30s`.
    Duration,
    /// A duration, or a plain number of seconds.
    Seconds,
    /// An assignment such as `spec.suspend=true`.
    Assignment,
    List(&'static Shape),
    /// A list with at least one element.
    NonEmpty(&'static Shape),
    /// A list with exactly two elements.
    Pair(&'static Shape),
    Map(&'static Shape),
    Object(&'static Object),
    /// Either of two types: the second one for mappings, the first one for all other values.
    Either(&'static Shape, &'static Shape),
    /// A Kubernetes object. Its `kind` selects the table.
    Kinds(&'static Kinds),
}

/// A range of supported versions with the same major number.
pub struct Versions {
    pub major: u16,
    pub oldest: u16,
    pub newest: u16,
}

impl Versions {
    /// Returns all versions in the range.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let major = self.major;
        (self.oldest..=self.newest).map(move |minor| format!("{major}.{minor}"))
    }
}

pub struct Kinds {
    pub objects: &'static [&'static Object],
    /// Alternative type for an object without a `kind`.
    pub file: Option<&'static Object>,
}

impl Kinds {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.objects.iter().map(|o| o.kind)
    }
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
    /// Default of the field as it would be written in a file. Other defaults are described in `otherwise`.
    pub default: &'static str,
    pub otherwise: &'static str,
    /// Example as written in a file. Empty if the type suggests one.
    pub example: &'static str,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Modelled,
    /// The field never affects a simulation.
    Inert,
    /// The field would affect behavior but is not modelled. Its occurrences are counted.
    NotModelled,
}

const PLAIN: Field = Field {
    name: "",
    shape: Shape::Any,
    class: Class::Modelled,
    required: false,
    doc: "",
    default: "",
    otherwise: "",
    example: "",
};

/// Creates a field that the model uses.
pub const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        doc,
        ..PLAIN
    }
}

/// Creates a field that never affects a simulation.
pub const fn inert(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        class: Class::Inert,
        ..PLAIN
    }
}

/// Creates a known field that is not modelled.
pub const fn not_modelled(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        class: Class::NotModelled,
        ..PLAIN
    }
}

impl Field {
    pub const fn required(mut self) -> Field {
        self.required = true;
        self
    }

    /// Sets the default, as it would be written in a file.
    pub const fn default(mut self, value: &'static str) -> Field {
        self.default = value;
        self
    }

    /// Sets the description of the default, if it cannot be written as a value.
    pub const fn otherwise(mut self, words: &'static str) -> Field {
        self.otherwise = words;
        self
    }

    pub const fn example(mut self, value: &'static str) -> Field {
        self.example = value;
        self
    }

    /// Returns an example value as written in a file; empty if there is none.
    pub fn written_example(&self) -> &'static str {
        match (self.example, &self.shape) {
            ("", Shape::Bool) if self.default == "true" => "false",
            ("", Shape::Bool) => "true",
            ("", Shape::OneOf(legal)) => legal.first().copied().unwrap_or(""),
            (example, _) => example,
        }
    }
}

pub const STR_LIST: Shape = Shape::List(&Shape::Str);
pub const STR_MAP: Shape = Shape::Map(&Shape::Str);
pub const INT32: Shape = Shape::Int(i32::MIN as i64, i32::MAX as i64);
pub const COUNT: Shape = Shape::Int(0, i32::MAX as i64);

impl Shape {
    /// Returns a noun phrase for the legal values, for messages.
    pub fn noun(&self) -> String {
        match self {
            Shape::Any => "a value".to_owned(),
            Shape::Bool => "true or false".to_owned(),
            Shape::Str | Shape::Line => "a string".to_owned(),
            Shape::Version(of) => format!("a version such as \"{}.{}\"", of.major, of.newest),
            Shape::Preset(names) => format!("one of {}, or a preset file", names().join(", ")),
            Shape::Assignment => "path=value".to_owned(),
            Shape::Int(low, high) => format!("an integer from {low} to {high}"),
            Shape::Number(low, high) => format!("a number from {low} to {high}"),
            Shape::OneOf(legal) => format!("one of {}", legal.join(", ")),
            Shape::Quantity | Shape::Amount => "a quantity such as 500m, 2 or 64Gi".to_owned(),
            Shape::Duration => "a duration such as 500ms or 2m30s".to_owned(),
            Shape::Seconds => "a duration such as 500ms, or a number of seconds".to_owned(),
            Shape::Pair(item) => format!("a list of two, each {}", item.noun()),
            Shape::List(item) | Shape::NonEmpty(item) => match item {
                Shape::Object(_) | Shape::Any => "a list".to_owned(),
                item => format!("a list whose elements are {}", item.noun()),
            },
            Shape::Map(_) | Shape::Object(_) | Shape::Kinds(_) => "a mapping".to_owned(),
            Shape::Either(first, _) => format!("{} or a mapping", first.noun()),
        }
    }
}
