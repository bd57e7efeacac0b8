//! Assigns flavors and preemption targets to a head.

use super::config::{AdmissibilityError, CycleConfig};
use super::entry::Entry;
use crate::flavors::assignment::NominatedFlavors;
use crate::flavors::{Assignment, AssignmentMode, FlavorAssigner};
use crate::preemption::Target;
use crate::queue::{Head, RequeueReason};
use crate::snapshot::Snapshot;
use crate::workload::{CheckStatus, Info, LastAssignment, reasons};
use std::sync::Arc;

/// Returns the entry of a head, or `None` if the Workload already has its quota.
pub fn nominate(head: Head, snapshot: &mut Snapshot, config: &CycleConfig) -> Option<Entry> {
    let mut entry = Entry::new(head);
    let (queue, workload) = (entry.info.queue, entry.info.workload.clone());
    if !workload.needs_second_pass() && snapshot.queues[queue].workloads.contains_key(&entry.info.key) {
        return None;
    }
    let failed =
        |check: &crate::workload::CheckState| matches!(check.status, CheckStatus::Retry | CheckStatus::Rejected);
    if workload.status.checks.iter().any(failed) {
        "The workload has failed admission checks".clone_into(&mut entry.message);
        entry.reason = reasons::PENDING_EVALUATION;
    } else if !snapshot.queues[queue].is_active {
        entry.message = format!("ClusterQueue {} is inactive", snapshot.queues[queue].spec.name);
        entry.reason = reasons::SUSPENDED;
    } else if let Some(error) = (config.validate)(&entry.info, &snapshot.queues[queue].spec) {
        entry.message = error.to_string();
        entry.reason = reasons::MISCONFIGURED;
        if error == AdmissibilityError::NamespaceMismatch {
            entry.requeue = RequeueReason::NamespaceMismatch;
        }
    } else {
        let (assignment, targets) = assign(&mut entry.info, snapshot, config, None);
        entry.record(assignment, targets);
    }
    Some(entry)
}

/// Assigns flavors and determines the Workloads to preempt.
pub fn assign(
    info: &mut Info, snapshot: &mut Snapshot, config: &CycleConfig, nominated: Option<&NominatedFlavors>,
) -> (Assignment, Vec<Target>) {
    let generation = snapshot.queues[info.queue].generation;
    info.last_assignment =
        info.last_assignment.take().filter(|last| !is_outdated(last, generation, config.cycle, info));
    let assigner = FlavorAssigner {
        info,
        oracle: &config.preemptor,
        is_fair_sharing: config.preemptor.fair_sharing.is_some(),
        ignores_undeclared: config.ignores_undeclared,
        nominated,
        cycle: config.cycle,
    };
    let mut assignment = assigner.assign(snapshot);
    let mut targets = Vec::new();
    if assignment.mode() == AssignmentMode::Preempt {
        targets = config.preemptor.targets(snapshot, info, &mut assignment);
        reserve_topology(info, snapshot, &mut assignment, &targets);
    }
    (assignment, targets)
}

/// Returns whether the progress of the search no longer describes the present state.
fn is_outdated(last: &LastAssignment, generation: u64, cycle: u64, info: &Info) -> bool {
    if last.shape != info.shape {
        return true;
    }
    // Progress of this and of the preceding cycle is kept even if quota became free.
    cycle - last.cycle > 1 && generation > last.generation
}

/// Places a Workload that waits for preemptions, so that its domains are reserved: without the targets, or in empty
/// domains if there are none.
fn reserve_topology(info: &Info, snapshot: &mut Snapshot, assignment: &mut Assignment, targets: &[Target]) {
    let is_placed = info.workload.requests_topology() || snapshot.queues[info.queue].topology_only;
    if !is_placed || info.workload.has_lost_node() {
        return;
    }
    let requests = assignment.placement_requests(snapshot, info, info.queue);
    let is_empty = targets.is_empty();
    if let Some((_, placements)) = assignment.in_empty_domains.take_if(|(same, _)| is_empty && *same == requests) {
        return assignment.set_placements(snapshot, info, placements);
    }
    let infos: Vec<Arc<Info>> = targets.iter().map(|target| target.info.clone()).collect();
    let placements = snapshot.without_usage_of(&infos, |snapshot| snapshot.topology.place(&requests, info, is_empty));
    if let Ok(placements) = placements {
        assignment.set_placements(snapshot, info, placements);
    }
}
