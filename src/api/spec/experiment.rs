//! What a scenario says of an experiment: variants of itself, or a sweep over its fields, and how often each is played.

/// What the scenario itself is called among its variants.
pub const BASELINE: &str = "baseline";

/// The `experiment` of a scenario; empty without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    pub variants: Vec<VariantSpec>,
    pub replications: Option<u64>,
    pub sweep: SweepSpec,
    pub level: Level,
}

/// How much detail replications have.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Level {
    /// Every pod.
    #[default]
    Pods,
    /// The gang of one JobSet.
    Collapsed,
}

impl Level {
    /// All of them, the default first.
    pub const ALL: [Level; 2] = [Level::Pods, Level::Collapsed];

    /// The word in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Pods => "Pods",
            Level::Collapsed => "Collapsed",
        }
    }

    /// What a replication at this level is called where people read.
    pub const fn replication(self) -> &'static str {
        match self {
            Level::Pods => "replication",
            Level::Collapsed => "collapsed replication",
        }
    }
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

/// Which fields a sweep varies; empty without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepSpec {
    pub axes: Vec<Axis>,
    /// Points of the Latin hypercube over the axes that are ranges.
    pub hypercube: Option<u64>,
}

/// One field that a sweep varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// As `--set` takes it.
    pub path: String,
    pub over: Over,
}

/// What an axis goes over; values as they would be written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    Values(Vec<String>),
    Range {
        low: String,
        high: String,
        /// Equal ratios are equally likely, instead of equal differences.
        log: bool,
    },
}
