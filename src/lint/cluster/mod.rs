//! Traps that depend on the cluster: its nodes, and the runs of the JobSets on them.

pub mod domains;
pub mod pending;
pub mod placement_trial;

use crate::lint_subject::LintSubject;
use placement_trial::{PendingCondition, PlacementTrial, TrialVerdict};
use sim_api::spec::TopologySpec;
use sim_inputs::SourceText;
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeSet;

pub struct LintCluster {
    pub nodes: ClusterBuilder,
    /// `None` if the manifests cannot be simulated.
    trial: Option<PlacementTrial>,
    /// The error because of which the manifests cannot be simulated.
    pub not_simulated: Option<String>,
}

impl LintCluster {
    /// Builds the cluster with one column for each resource that a pod requests, and runs the JobSets of `sources`.
    pub fn new(topology: &TopologySpec, subjects: &[LintSubject], sources: &[SourceText]) -> LintCluster {
        let mut names = BTreeSet::new();
        for subject in subjects {
            for rj in &subject.jobset.spec.replicated_jobs {
                names.extend(rj.template.template.spec.requests().into_keys());
            }
        }
        names.remove("pods");
        let resources: Vec<String> = std::iter::once("pods".to_owned()).chain(names).collect();
        let nodes = ClusterBuilder::build(topology, &resources);
        let trial = if sources.is_empty() { Ok(None) } else { PlacementTrial::new(sources, topology).map(Some) };
        let error = trial.as_ref().err().and_then(|errors| errors.0.first());
        let not_simulated = error.map(|error| error.message.clone());
        LintCluster { nodes, trial: trial.unwrap_or(None), not_simulated }
    }

    pub fn verdict(&self, subject: &LintSubject) -> Option<&TrialVerdict> {
        self.trial.as_ref()?.verdict(subject.jobset)
    }

    /// Returns the condition under which pods of the JobSet stay Pending although no other JobSet runs; `None` if they
    /// do not. Without a run, a check of the manifest decides alone.
    pub fn pending_condition(&self, subject: &LintSubject) -> Option<PendingCondition> {
        match self.verdict(subject) {
            Some(TrialVerdict::Pending(_, condition)) => Some(*condition),
            Some(TrialVerdict::Placed | TrialVerdict::PendingTogether(_)) => None,
            None => Some(PendingCondition::Always),
        }
    }
}
