//! What a scenario says of an experiment: variants of itself, and how often each is played.

/// What the scenario itself is called among its variants.
pub const BASELINE: &str = "baseline";

/// The `experiment` of a scenario; empty without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    pub variants: Vec<VariantSpec>,
    pub replications: Option<u64>,
}

/// A variant: the scenario with other values.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantSpec {
    pub name: String,
    /// Path and value, as overrides are written.
    pub sets: Vec<(String, String)>,
}

/// One field that a variant changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    pub path: String,
    /// As it would be written in a file.
    pub value: String,
    /// Empty for what was asked for; else what it belongs to.
    pub because: String,
}
