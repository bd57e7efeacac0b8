//! The description of a trap: its name, consequence and fix, and the pure function that detects it.

use super::cluster::LintCluster;
use super::cluster::placement_trial::PendingCondition;
use super::lint_subject::{LintSubject, TextChange};
use serde::Deserialize;
use sim_inputs::text::node::SourcePosition;
use std::ops::Deref;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrapSeverity {
    /// The problem occurs in every run.
    Error,
    /// The problem occurs only if another event happens, such as a failure.
    Warning,
}

impl TrapSeverity {
    pub fn as_str(self) -> &'static str {
        match self {
            TrapSeverity::Error => "error",
            TrapSeverity::Warning => "warning",
        }
    }
}

/// A position in a manifest at which a trap was detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapHit {
    pub at: SourcePosition,
    /// Details of this occurrence, such as the replicatedJob and the value.
    pub detail: String,
    /// Lowers the severity from error to warning, because the problem depends on a further condition.
    pub eased: bool,
}

pub fn hit(at: SourcePosition, detail: impl Into<String>) -> TrapHit {
    TrapHit { at, detail: detail.into(), eased: false }
}

impl TrapHit {
    /// Lowers the severity if the pods stay Pending only under a condition.
    pub fn under(self, condition: PendingCondition) -> TrapHit {
        let detail = match condition {
            PendingCondition::Always => return self,
            PendingCondition::WithoutFinish => format!("{}; containers finish and free capacity", self.detail),
            PendingCondition::AfterDependency => {
                format!("{}; this applies after the replicatedJobs of its dependsOn are complete", self.detail)
            }
            PendingCondition::AfterResume => format!("{}; this applies after a resume of the JobSet", self.detail),
        };
        TrapHit { detail, eased: true, ..self }
    }
}

/// Hits, each with the index of the JobSet that it belongs to.
pub type JobSetHits = Vec<(usize, TrapHit)>;

/// Input that a check requires, with the check function.
#[derive(Copy, Clone)]
pub enum TrapCheck {
    JobSet(fn(&LintSubject) -> Vec<TrapHit>),
    /// Checks one JobSet against a cluster (`-t`).
    Cluster(fn(&LintSubject, &LintCluster) -> Vec<TrapHit>),
    /// Checks all JobSets together against a cluster. Each hit has the index of its JobSet.
    ClusterTogether(fn(&[LintSubject], &LintCluster) -> JobSetHits),
    /// Checks all JobSets together. Each hit has the index of its JobSet.
    Together(fn(&[LintSubject]) -> JobSetHits),
    /// Checks a JobSet against the stored JobSet that it replaces (`--update`).
    Update(fn(&TextChange) -> Vec<TrapHit>),
}

impl TrapCheck {
    /// Returns a description of the required input.
    pub fn needs(&self) -> &'static str {
        match self {
            TrapCheck::JobSet(_) => "the manifest",
            TrapCheck::Cluster(_) => "a topology (-t)",
            TrapCheck::ClusterTogether(_) => "all manifests and a topology (-t)",
            TrapCheck::Together(_) => "all manifests",
            TrapCheck::Update(_) => "the old manifest (--update)",
        }
    }
}

/// The description of a trap in `traps.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrapDescription {
    /// Stable identifier in kebab-case.
    pub name: String,
    pub severity: TrapSeverity,
    pub rules: Vec<String>,
    /// Short description of the problem, without a final period.
    pub title: String,
    /// Effect of the problem, in full sentences.
    pub consequence: String,
    pub fix: String,
}

pub struct LintTrap {
    pub description: TrapDescription,
    pub check: TrapCheck,
}

impl Deref for LintTrap {
    type Target = TrapDescription;

    fn deref(&self) -> &TrapDescription {
        &self.description
    }
}
