//! What a tree may look like, as tables. `check` walks a tree against them, `schema` prints them.
//!
//! Must hold no field of any format: those are in `shapes`.

/// The legal forms of one value.
#[derive(Copy, Clone)]
pub enum Shape {
    /// Taken as it is; nothing inside is checked.
    Any,
    Bool,
    Str,
    /// A name that reports print: one line.
    Line,
    /// A version such as `1.36`, with or without quotes.
    Version(&'static Versions),
    /// One of these names, which are known at run time, or a preset file.
    Preset(fn() -> Vec<String>),
    Int(i64, i64),
    Number(f64, f64),
    OneOf(&'static [&'static str]),
    /// `500m`, `2`, `64Gi`; a negative one is the API server's to judge.
    Quantity,
    /// The same, zero or more.
    Amount,
    /// `500ms`, `2m30s`.
    Duration,
    /// A duration, or a plain number of seconds.
    Seconds,
    /// `spec.suspend=true`.
    Assignment,
    List(&'static Shape),
    /// A list with an element at least.
    NonEmpty(&'static Shape),
    /// A list of two.
    Pair(&'static Shape),
    Map(&'static Shape),
    Object(&'static Object),
    /// The first if it is no mapping, else the second.
    Either(&'static Shape, &'static Shape),
    /// A Kubernetes object; its table is the one of its `kind`.
    Kinds(&'static Kinds),
}

/// Versions that are simulated, from one minor number to another.
pub struct Versions {
    pub major: u16,
    pub oldest: u16,
    pub newest: u16,
}

impl Versions {
    /// All of them.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let major = self.major;
        (self.oldest..=self.newest).map(move |minor| format!("{major}.{minor}"))
    }
}

pub struct Kinds {
    pub objects: &'static [&'static Object],
    /// What may stand here instead: an object without a `kind`.
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
    /// What an absent field means: a value as it would be written, or words in `otherwise`.
    pub default: &'static str,
    pub otherwise: &'static str,
    /// A value as it is written; absent: the shape shows it.
    pub example: &'static str,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Class {
    Modelled,
    /// Has no influence on a simulation by its nature.
    Inert,
    /// Would change behavior, and is not modelled: counted where it is present.
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

/// A field the model uses.
pub const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        doc,
        ..PLAIN
    }
}

/// A field without influence.
pub const fn inert(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        class: Class::Inert,
        ..PLAIN
    }
}

/// A known field that is not modelled.
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

    /// The value that stands in for an absent field.
    pub const fn default(mut self, value: &'static str) -> Field {
        self.default = value;
        self
    }

    /// What holds where the field is absent, in words.
    pub const fn otherwise(mut self, words: &'static str) -> Field {
        self.otherwise = words;
        self
    }

    pub const fn example(mut self, value: &'static str) -> Field {
        self.example = value;
        self
    }

    /// A value as it is written; empty: the table has none, and the shape does not show one.
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
    /// What a value must be, for messages.
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
