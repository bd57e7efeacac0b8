//! Types for the tables that describe file formats. `check` validates trees against the tables; `schema` prints them.
//!
//! The fields of the formats must not be defined here; they are in `definitions`.

#[derive(Copy, Clone)]
pub enum FieldType {
    /// Any value, without checks of its contents.
    Any,
    Bool,
    Str,
    /// A string without line breaks, for names that are printed in reports.
    Line,
    /// A version such as `1.36`, with or without quotes.
    Version(&'static SchemaVersions),
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
    List(&'static FieldType),
    /// A list with at least one element.
    NonEmpty(&'static FieldType),
    /// A list with exactly two elements.
    Pair(&'static FieldType),
    Map(&'static FieldType),
    Object(&'static ObjectSchema),
    /// Either of two types: the second one for mappings, the first one for all other values.
    Either(&'static FieldType, &'static FieldType),
    /// A Kubernetes object. Its `kind` selects the table.
    Kinds(&'static FieldKinds),
}

/// A range of supported versions with the same major number.
pub struct SchemaVersions {
    pub major: u16,
    pub oldest: u16,
    pub newest: u16,
}

impl SchemaVersions {
    pub fn names(&self) -> impl Iterator<Item = String> {
        let major = self.major;
        (self.oldest..=self.newest).map(move |minor| format!("{major}.{minor}"))
    }
}

pub struct FieldKinds {
    pub objects: &'static [&'static ObjectSchema],
    /// Alternative type for an object without a `kind`.
    pub file: Option<&'static ObjectSchema>,
    /// Accepted kinds of Kueue, whose tables depend on the version.
    pub of_kueue: &'static [&'static str],
}

impl FieldKinds {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.objects.iter().map(|o| o.kind).chain(self.of_kueue.iter().copied())
    }
}

pub struct ObjectSchema {
    pub kind: &'static str,
    pub fields: &'static [FieldSchema],
}

#[derive(Copy, Clone)]
pub struct FieldSchema {
    pub name: &'static str,
    pub shape: FieldType,
    pub class: FieldClass,
    pub required: bool,
    pub doc: &'static str,
    /// Default of the field as it would be written in a file. Other defaults are described in `otherwise`.
    pub default: &'static str,
    pub otherwise: &'static str,
    /// Example as written in a file. Empty if the type suggests one.
    pub example: &'static str,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FieldClass {
    Modelled,
    /// The field never affects a simulation.
    Inert,
    /// The field would affect behavior but is not modelled. Its occurrences are counted.
    NotModelled,
}

const PLAIN: FieldSchema = FieldSchema {
    name: "",
    shape: FieldType::Any,
    class: FieldClass::Modelled,
    required: false,
    doc: "",
    default: "",
    otherwise: "",
    example: "",
};

/// Creates a field that the model uses.
pub const fn field(name: &'static str, shape: FieldType) -> FieldSchema {
    FieldSchema { name, shape, ..PLAIN }
}

/// Creates a field that never affects a simulation.
pub const fn inert(name: &'static str, shape: FieldType) -> FieldSchema {
    FieldSchema { name, shape, class: FieldClass::Inert, ..PLAIN }
}

/// Creates a known field that is not modelled.
pub const fn not_modelled(name: &'static str, shape: FieldType) -> FieldSchema {
    FieldSchema { name, shape, class: FieldClass::NotModelled, ..PLAIN }
}

impl FieldSchema {
    pub const fn doc(mut self, text: &'static str) -> FieldSchema {
        self.doc = text;
        self
    }

    pub const fn required(mut self) -> FieldSchema {
        self.required = true;
        self
    }

    /// Sets the default, as it would be written in a file.
    pub const fn default(mut self, value: &'static str) -> FieldSchema {
        self.default = value;
        self
    }

    /// Sets the description of the default, if it cannot be written as a value.
    pub const fn otherwise(mut self, words: &'static str) -> FieldSchema {
        self.otherwise = words;
        self
    }

    pub const fn example(mut self, value: &'static str) -> FieldSchema {
        self.example = value;
        self
    }

    /// Returns an example value as written in a file; empty if there is none.
    pub fn written_example(&self) -> &'static str {
        match (self.example, &self.shape) {
            ("", FieldType::Bool) if self.default == "true" => "false",
            ("", FieldType::Bool) => "true",
            ("", FieldType::OneOf(legal)) => legal.first().copied().unwrap_or(""),
            (example, _) => example,
        }
    }
}

pub const STR_LIST: FieldType = FieldType::List(&FieldType::Str);
pub const STR_MAP: FieldType = FieldType::Map(&FieldType::Str);
pub const INT32: FieldType = FieldType::Int(i32::MIN as i64, i32::MAX as i64);
pub const COUNT: FieldType = FieldType::Int(0, i32::MAX as i64);

impl FieldType {
    /// Returns a noun phrase for the legal values, for messages.
    pub fn noun(&self) -> String {
        match self {
            FieldType::Any => "a value".to_owned(),
            FieldType::Bool => "true or false".to_owned(),
            FieldType::Str | FieldType::Line => "a string".to_owned(),
            FieldType::Version(of) => format!("a version such as \"{}.{}\"", of.major, of.newest),
            FieldType::Preset(names) => format!("one of {}, or a preset file", names().join(", ")),
            FieldType::Assignment => "path=value".to_owned(),
            FieldType::Int(low, high) => format!("an integer from {low} to {high}"),
            FieldType::Number(low, high) => format!("a number from {low} to {high}"),
            FieldType::OneOf(legal) => format!("one of {}", legal.join(", ")),
            FieldType::Quantity | FieldType::Amount => "a quantity such as 500m, 2 or 64Gi".to_owned(),
            FieldType::Duration => "a duration such as 500ms or 2m30s".to_owned(),
            FieldType::Seconds => "a duration such as 500ms, or a number of seconds".to_owned(),
            FieldType::Pair(item) => format!("a list of two elements, each {}", item.noun()),
            FieldType::List(item) | FieldType::NonEmpty(item) => match item {
                FieldType::Object(_) | FieldType::Any => "a list".to_owned(),
                item => format!("a list whose elements are {}", item.noun()),
            },
            FieldType::Map(_) | FieldType::Object(_) | FieldType::Kinds(_) => "a mapping".to_owned(),
            FieldType::Either(first, _) => format!("{} or a mapping", first.noun()),
        }
    }
}
