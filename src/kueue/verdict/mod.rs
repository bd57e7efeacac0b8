//! Whether a Workload is admitted in a state of the queues, and the smallest changes that would admit it.
//!
//! A verdict is a trial: the scheduling cycles of the [driver](crate::driver) run on a copy of the state until the
//! queues rest. A change is reported only if the inputs with it, submitted again from the start, admit the Workload
//! ([`ChangeTrials`]).

mod case;
mod change;
pub mod forecast;
mod free_nodes;
mod pod_sets;
mod quota;
pub mod state;
pub mod trial;
mod waiting;

use crate::workload::WorkloadKey;
use case::PendingCase;
pub use case::{Additions, ChangeResult, ChangeTrials, Remedy};
pub use change::{NEW_CLASS, QueueChange};
pub use forecast::{ForecastWait, RunTimes, forecast_wait};
pub use free_nodes::NodeDomain;

pub use state::QueueState;
pub use trial::{
    AdmissionVerdict, BorrowedQuota, FlavorAttempt, PendingCause, PreemptedWorkload, VerdictKind, behind_message,
    settle, submit, try_admission,
};

/// Returns changes that would admit the Workload, each the smallest of its kind. Each kind is tried with each of
/// `additions`.
pub fn smallest_changes(
    state: &QueueState, key: WorkloadKey, additions: &[Additions], trials: &dyn ChangeTrials,
) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    for additions in additions.iter().copied() {
        let case = PendingCase { state, key, trials, additions };
        remedies.extend(waiting::resumed_queues(&case));
        remedies.extend(pod_sets::smaller(&case));
        remedies.extend(pod_sets::other_constraints(&case));
        remedies.extend(waiting::higher_priority(&case));
        remedies.extend(waiting::other_queue(&case));
        remedies.extend(waiting::other_strategy(&case));
        remedies.extend(quota::more_quota(&case));
        remedies.extend(free_nodes::more_nodes(&case, &[], &free_nodes::requested_domains(&case)));
        remedies.extend(waiting::ended_workloads(&case));
    }
    without_supersets(remedies)
}

/// Returns changes with which the pods of a Workload fit on the nodes, in a state in which it gets quota, or needs none
/// because it has no queue. `domains` are those in which more free nodes are tried.
pub fn node_changes(
    state: &QueueState, key: WorkloadKey, domains: &[NodeDomain], additions: &[Additions], trials: &dyn ChangeTrials,
) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    for additions in additions.iter().copied() {
        let case = PendingCase { state, key, trials, additions };
        if let Some(remedy) = case.remedy(&[]).filter(|remedy| !remedy.changes.is_empty()) {
            // All other kinds would contain a part of these additions.
            remedies.push(remedy);
            break;
        }
        remedies.extend(pod_sets::smaller(&case));
        remedies.extend(pod_sets::other_constraints(&case));
        remedies.extend(waiting::other_queue(&case));
        remedies.extend(free_nodes::more_nodes(&case, &[], domains));
        remedies.extend(waiting::ended_workloads(&case));
    }
    without_supersets(remedies)
}

/// Returns the fewer Jobs or pods with which each pod gets a topology domain, in a state in which the Workload gets
/// quota and a part of a slice is left.
pub fn whole_slices(state: &QueueState, key: WorkloadKey, trials: &dyn ChangeTrials) -> Vec<Remedy> {
    let case = PendingCase { state, key, trials, additions: Additions::None };
    without_supersets(pod_sets::smaller(&case))
}

/// Removes remedies that contain all changes of another one.
fn without_supersets(remedies: Vec<Remedy>) -> Vec<Remedy> {
    let contains = |all: &Remedy, part: &Remedy| part.changes.iter().all(|change| all.changes.contains(change));
    let is_needless = |(at, remedy): (usize, &Remedy)| {
        remedies.iter().enumerate().any(|(k, other)| {
            k != at && contains(remedy, other) && (other.changes.len() < remedy.changes.len() || k < at)
        })
    };
    let kept: Vec<bool> = remedies.iter().enumerate().map(|pair| !is_needless(pair)).collect();
    remedies.into_iter().zip(kept).filter_map(|(remedy, kept)| kept.then_some(remedy)).collect()
}
