//! Verdicts of Kueue as rows of the report.

use super::report::{
    AttemptRow, BorrowedRow, ChangeSize, JobSetVerdict, NodeFit, PlacedDomain, PodSetPlacement, RemedyRow, WorkloadRow,
};
use sim_kueue::verdict::{AdmissionVerdict, PreemptedWorkload, QueueChange, QueueState, Remedy, VerdictKind};
use sim_kueue::workload::{PodSetAdmission, Workload, WorkloadKey};

/// Maximum number of other Workloads in a list.
pub(super) const LISTED_MAX: usize = 100;

/// Returns sentences about the pod sets of which some pods get no topology domain: a part of a slice is not placed.
pub(super) fn gated_pods(workload: &Workload) -> Vec<String> {
    let sentence = |set: &PodSetAdmission| {
        let placed: u32 = set.topology.as_ref()?.domains.iter().map(|domain| domain.count).sum();
        let gated = set.count.checked_sub(placed).filter(|gated| *gated > 0)?;
        let pod_set = workload.pod_sets.iter().find(|pod_set| pod_set.name == set.name);
        let slices = pod_set.and_then(|pod_set| pod_set.topology.as_ref()?.slices.first());
        let size = slices.map_or(1, |slice| slice.size);
        let pods = if gated == 1 { "1 pod stays".to_owned() } else { format!("{gated} pods stay") };
        Some(format!(
            "the slice size {size} does not divide the {} pods of replicatedJob {}, and Kueue places whole slices only; \
             {pods} gated",
            set.count, set.name
        ))
    };
    workload.status.admission.iter().flat_map(|admission| &admission.pod_sets).filter_map(sentence).collect()
}

/// Sets the verdict on an admitted JobSet of which some pods keep their scheduling gate.
pub(super) fn report_gated(result: &mut JobSetVerdict, blocked: Vec<String>) {
    result.cause = Some("topology");
    result.nodes = Some(NodeFit { fits: false, fitting_draws: 0, draws: 1, blocked });
}

/// Copies a verdict into the row of its JobSet.
pub(super) fn describe(result: &mut JobSetVerdict, state: &QueueState, verdict: &AdmissionVerdict) {
    (result.verdict, result.cause) = match verdict.kind {
        VerdictKind::Admitted => ("Admitted", None),
        VerdictKind::ChecksPending => ("ChecksPending", Some("checks")),
        VerdictKind::Pending(cause) => ("Pending", Some(cause.as_str())),
    };
    (result.reason, result.message) = (verdict.reason.clone(), verdict.message.clone());
    result.pod_sets = placements(&verdict.workload);
    result.borrowed = verdict
        .borrowed
        .iter()
        .map(|borrowed| BorrowedRow {
            flavor: borrowed.flavor.to_string(),
            resource: borrowed.resource.to_string(),
            amount: borrowed.amount.text(&borrowed.resource),
        })
        .collect();
    result.preempted = preempted_rows(state, &verdict.preempted);
    let rows =
        |keys: &[WorkloadKey]| keys.iter().take(LISTED_MAX).filter_map(|key| workload_row(state, *key, "")).collect();
    result.admitted_first = rows(&verdict.admitted_first);
    result.ahead = rows(&verdict.ahead);
    result.attempts = verdict
        .attempts
        .iter()
        .map(|attempt| AttemptRow {
            pod_set: attempt.pod_set.clone(),
            flavor: attempt.flavor.to_string(),
            reasons: attempt.reasons.clone(),
        })
        .collect();
}

pub(super) fn placements(workload: &Workload) -> Vec<PodSetPlacement> {
    let placement = |admitted: &PodSetAdmission| PodSetPlacement {
        name: admitted.name.clone(),
        count: admitted.count,
        flavors: admitted.flavors.iter().map(|(resource, flavor)| (resource.to_string(), flavor.to_string())).collect(),
        levels: admitted.topology.as_ref().map(|t| t.levels.clone()).unwrap_or_default(),
        domains: admitted
            .topology
            .iter()
            .flat_map(|t| &t.domains)
            .map(|domain| PlacedDomain { values: domain.values.clone(), count: domain.count })
            .collect(),
    };
    workload.status.admission.iter().flat_map(|a| &a.pod_sets).map(placement).collect()
}

pub(super) fn workload_row(state: &QueueState, key: WorkloadKey, reason: &str) -> Option<WorkloadRow> {
    let workload = state.workload(key)?;
    Some(WorkloadRow {
        name: workload.name.clone(),
        namespace: workload.namespace.clone(),
        local_queue: workload.queue.clone(),
        priority: workload.priority,
        reason: reason.to_owned(),
    })
}

pub(super) fn preempted_rows(state: &QueueState, preempted: &[PreemptedWorkload]) -> Vec<WorkloadRow> {
    preempted.iter().filter_map(|target| workload_row(state, target.key, target.reason)).collect()
}

/// Returns the remedies as texts.
pub fn remedy_rows(state: &QueueState, remedies: &[Remedy]) -> Vec<RemedyRow> {
    let row = |remedy: &Remedy| RemedyRow {
        changes: remedy.changes.iter().map(ToString::to_string).collect(),
        sizes: remedy.changes.iter().map(QueueChange::size).map(|(kind, size)| ChangeSize { kind, size }).collect(),
        wait: None,
        preempted: preempted_rows(state, &remedy.preempted),
        waiting: Vec::new(),
        evicted: Vec::new(),
    };
    remedies.iter().map(row).collect()
}
