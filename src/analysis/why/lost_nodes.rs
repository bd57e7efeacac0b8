//! Nodes that no pod can use while a path waits: lost or cordoned ones.

use crate::metrics::RunView;
use crate::metrics::admission::WorkloadEviction;
use crate::metrics::nodes::NodeMetrics;
use crate::metrics::pods::PodMetrics;
use crate::metrics::restarts::path::{CriticalPath, PathStep};
use sim_api::spec::keys::UNSCHEDULABLE;
use sim_base::{Duration, JobSetId, NodeId, SimTime, TextId};
use sim_engine::record::NodeReady;
use sim_kueue::workload::reasons;

/// The nodes in the middle of the longest wait of a path.
pub(super) struct LostNodes {
    /// Names of the nodes that are not ready or removed, and the time since when.
    lost: Vec<(String, SimTime)>,
    cordoned: Vec<(String, SimTime)>,
    /// Start of the path.
    start: SimTime,
}

impl LostNodes {
    /// Finds them. A path without steps is one wait from `start` to `end`.
    /// The node of `cause` is lost since its fault, which the control plane notices later.
    pub(super) fn find(
        run: &RunView<'_>, path: &CriticalPath, (start, end): (SimTime, SimTime), cause: Option<(NodeId, SimTime)>,
    ) -> LostNodes {
        let start = path.steps.first().map_or(start, |step| step.from);
        let longest = path.steps.iter().max_by_key(|step| step.duration());
        let middle = |from: SimTime, to: SimTime| from + Duration(to.since(from).0 / 2);
        let at = longest.map_or(middle(start, end), |step: &PathStep| middle(step.from, step.to));
        let (mut lost, mut cordoned) = (Vec::new(), Vec::new());
        let rows = run.folded.tables.as_ref().map_or(&[][..], |(_, nodes)| nodes.rows());
        for (row, node) in rows.iter().enumerate() {
            let name = || run.names.node(NodeId(row as u32)).to_owned();
            match lost_since(node, at) {
                Some(since) => {
                    let of_cause = cause.filter(|(own, _)| own.ix() == row && own.is_some());
                    lost.push((name(), of_cause.map_or(since, |(_, fault)| fault)));
                }
                None => cordoned.extend(cordoned_since(run, node, at).map(|since| (name(), since))),
            }
        }
        LostNodes { lost, cordoned, start }
    }

    /// Adds lost nodes to those that are known.
    pub(super) fn add_lost_to(&self, known: &mut Vec<(String, SimTime)>) {
        for (name, since) in &self.lost {
            if known.iter().all(|(other, _)| other != name) {
                known.push((name.clone(), (*since).max(self.start)));
            }
        }
    }

    /// Returns the cordoned nodes and the first time at which the path has begun and all are cordoned.
    pub(super) fn cordoned(&self) -> Option<(Vec<String>, SimTime)> {
        let last = self.cordoned.iter().map(|(_, since)| *since).max()?;
        Some((self.cordoned.iter().map(|(name, _)| name.clone()).collect(), last.max(self.start)))
    }
}

/// Returns whether Kueue evicted the Workload of a JobSet up to an instant because its pods were not ready, and the
/// scheduler had not placed all of them.
pub(super) fn lacked_by_pods(run: &RunView<'_>, jobset: JobSetId, end: SimTime) -> bool {
    let (Some(own), Some((pods, _))) = (run.admission_of(jobset), run.folded.tables.as_ref()) else { return false };
    let is_limit = |eviction: &&WorkloadEviction| eviction.reason == reasons::PODS_READY_TIMEOUT && eviction.at <= end;
    let waits_at = |at: SimTime| {
        let waits = |pod: &PodMetrics| pod.created < at && at <= pod.gone && pod.bound > at;
        pods.rows().iter().any(|pod| waits(pod) && run.names.jobset_of(pod.job) == Some(jobset))
    };
    own.evictions.iter().filter(is_limit).any(|eviction| waits_at(eviction.at))
}

/// Returns the time since which a node is not ready or has no Node object; `None` if it is ready.
fn lost_since(node: &NodeMetrics, at: SimTime) -> Option<SimTime> {
    let last = node.transitions.iter().rev().find(|(since, _)| *since <= at);
    let removed = node.removals.iter().rev().find(|removal| **removal <= at);
    match (last, removed) {
        (Some((since, ready)), _) if *ready != NodeReady::True => Some(*since),
        // A new Node object with the name of a removed one is ready.
        (Some((since, _)), Some(removal)) if since > removal => None,
        (_, Some(removal)) => Some(*removal),
        _ => None,
    }
}

/// Returns the time since which a node is cordoned.
fn cordoned_since(run: &RunView<'_>, node: &NodeMetrics, at: SimTime) -> Option<SimTime> {
    let of_cordon = |(since, key, _): &&(SimTime, TextId, bool)| *since <= at && run.names.text(*key) == UNSCHEDULABLE;
    node.taints.iter().rfind(of_cordon).filter(|(.., added)| *added).map(|(since, ..)| *since)
}
