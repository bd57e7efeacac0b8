//! The experiment of a scenario: its variants, or a sweep over its fields, and the number of replications.

/// Name of the unmodified scenario among the variants.
pub const BASELINE: &str = "baseline";

/// The `experiment` section of a scenario. All fields are empty if the scenario has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperimentSpec {
    pub variants: Vec<VariantSpec>,
    pub replications: Option<u64>,
    pub sweep: SweepSpec,
    /// `None`: `plan`, `sweep` and `sensitivity` choose; other commands simulate pods.
    pub level: Option<ModelLevel>,
}

/// Level of detail of the replications.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum ModelLevel {
    #[default]
    Pods,
    /// Simulates nodes, Jobs and JobSets with measured delays of restarts.
    Nodes,
}

impl ModelLevel {
    /// All levels, the most detailed one first.
    pub const ALL: [ModelLevel; 2] = [ModelLevel::Pods, ModelLevel::Nodes];

    /// Returns the name of the level in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModelLevel::Pods => "Pods",
            ModelLevel::Nodes => "Nodes",
        }
    }

    /// Returns the term for a replication at this level, for messages and reports.
    pub const fn replication_term(self) -> &'static str {
        match self {
            ModelLevel::Pods => "replication",
            ModelLevel::Nodes => "node-level replication",
        }
    }
}

/// A variant of the scenario with other field values.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantSpec {
    pub name: String,
    /// Path and value of each changed field, in the syntax of overrides.
    pub sets: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    pub path: String,
    /// Value in the syntax of the scenario file.
    pub value: String,
    /// Reason for the change; empty if the user requested it.
    pub reason: String,
}

/// Fields that a sweep varies. Empty if there is no sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepSpec {
    pub axes: Vec<SweepAxis>,
    /// Number of points of the Latin hypercube over the axes that are ranges.
    pub hypercube: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepAxis {
    /// Path of the field in the syntax of `--set`.
    pub path: String,
    pub target: SweepTarget,
    /// True for an uncertainty, such as a failure rate, which cannot be chosen: no point is best over its values.
    pub is_uncertain: bool,
}

/// Values of an axis, in the syntax of the scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepTarget {
    Values(Vec<String>),
    Range {
        low: String,
        high: String,
        /// Whether the scale is logarithmic: equal ratios are equally likely, instead of equal differences.
        log: bool,
    },
}
