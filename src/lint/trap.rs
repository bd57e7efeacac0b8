//! The description of a trap: its name, consequence and fix, and the pure function that detects it.

use super::subject::{Change, Subject};
use sim_inputs::text::node::Pos;
use sim_policy::topology::Cluster;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The problem occurs in every run.
    Error,
    /// The problem occurs only if another event happens, such as a failure.
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A position in a manifest at which a trap was detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub at: Pos,
    /// Details of this occurrence, such as the replicatedJob and the value.
    pub detail: String,
    /// Lowers the severity from error to warning, because containers that finish free capacity.
    pub eased: bool,
}

pub fn hit(at: Pos, detail: impl Into<String>) -> Hit {
    Hit {
        at,
        detail: detail.into(),
        eased: false,
    }
}

impl Hit {
    /// Marks the hit as a warning because the containers finish and free capacity.
    pub fn eased(self) -> Hit {
        let detail = format!("{}; containers end here, and make room", self.detail);
        let eased = true;
        Hit {
            detail,
            eased,
            ..self
        }
    }
}

/// Hits, each with the index of the JobSet that it belongs to.
pub type HitsOf = Vec<(usize, Hit)>;

/// Input that a check requires, with the check function.
#[derive(Copy, Clone)]
pub enum Check {
    /// Checks one JobSet.
    JobSet(fn(&Subject) -> Vec<Hit>),
    /// Checks one JobSet against a cluster (`-t`).
    Cluster(fn(&Subject, &Cluster) -> Vec<Hit>),
    /// Checks all JobSets together against a cluster. Each hit has the index of its JobSet.
    ClusterTogether(fn(&[Subject], &Cluster) -> HitsOf),
    /// Checks all JobSets together. Each hit has the index of its JobSet.
    Together(fn(&[Subject]) -> HitsOf),
    /// Checks a JobSet against the stored JobSet that it replaces (`--update`).
    Update(fn(&Change) -> Vec<Hit>),
}

impl Check {
    /// Returns a description of the required input.
    pub fn needs(&self) -> &'static str {
        match self {
            Check::JobSet(_) => "the manifest",
            Check::Cluster(_) => "a topology (-t)",
            Check::ClusterTogether(_) => "all manifests given and a topology (-t)",
            Check::Together(_) => "all manifests given",
            Check::Update(_) => "the old manifest (--update)",
        }
    }
}

pub struct Trap {
    /// Stable identifier in kebab-case.
    pub name: &'static str,
    pub severity: Severity,
    pub rules: &'static [&'static str],
    /// Short description of the problem, without a final period.
    pub title: &'static str,
    /// Effect of the problem, in full sentences.
    pub consequence: &'static str,
    pub fix: &'static str,
    pub check: Check,
}
