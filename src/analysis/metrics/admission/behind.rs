//! Waits of Workloads that a StrictFIFO queue never tried: Kueue sets no condition for them.

use super::history::{AdmissionWait, JobSetAdmission};
use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::QueueingStrategy;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::workload_name;
use sim_kueue::verdict::behind_message;
use std::collections::BTreeMap;

/// Reason of a Workload that waits for its turn.
pub(super) const PENDING_EVALUATION: &str = "PendingEvaluation";

/// Shortest time before the first try of a Workload that is reported as a wait behind the head of its queue.
const UNTRIED_MIN: Duration = Duration::from_secs(1);

/// Sets reason and message of waits without a condition during which the head of the queue waited, and the head of
/// those whose Workload was tried later.
pub(crate) fn name_heads(job_sets: &mut [JobSetAdmission], scenario: &ScenarioSpec) {
    let Some(objects) = &scenario.kueue else { return };
    let queue = |own: &JobSetAdmission| {
        let namespace = &scenario.jobsets.get(own.jobset.ix())?.jobset.namespace;
        let mut locals = objects.local_queues.iter();
        let local = locals.find(|local| local.namespace == *namespace && local.name == own.local_queue)?;
        let queue = objects.cluster_queues.iter().find(|queue| queue.name == local.cluster_queue)?;
        (queue.queueing_strategy == QueueingStrategy::StrictFifo).then_some(queue.name.as_str())
    };
    let mut heads: BTreeMap<&str, Vec<(JobSetId, SimTime, SimTime)>> = BTreeMap::new();
    for own in job_sets.iter() {
        let Some(queue) = queue(own) else { continue };
        let tried = own.waits.iter().filter(|wait| !wait.reason.is_empty());
        heads.entry(queue).or_default().extend(tried.map(|wait| (own.jobset, wait.from, end(own, wait))));
    }
    let head_of = |own: &JobSetAdmission, from: SimTime, until: SimTime| {
        let others = heads.get(queue(own)?)?.iter().filter(|(jobset, _, _)| *jobset != own.jobset);
        // A Workload that is admitted before the other one was ahead of it.
        let overlapping = others.filter(|(_, begin, end)| *begin < until && *end > from && *end <= until);
        let last = overlapping.max_by_key(|(jobset, begin, end)| (*end, SimTime::NEVER.since(*begin), *jobset));
        let head = &scenario.jobsets.get(last?.0.ix())?.jobset;
        let (namespace, name) = (&head.namespace, &head.name);
        Some(behind_message(&format!("Workload {namespace}/{} of JobSet {name}", workload_name(namespace, name))))
    };
    for own in job_sets {
        for at in 0..own.waits.len() {
            let wait = &own.waits[at];
            let is_tried = !wait.reason.is_empty();
            let until = if is_tried { wait.tried } else { Some(end(own, wait)) };
            let Some(until) = until.filter(|until| until.since(wait.from) >= UNTRIED_MIN) else { continue };
            // The status of the head may be stored later than that of the Workload tried after it.
            let until = if is_tried { until + UNTRIED_MIN } else { until };
            let Some(message) = head_of(own, wait.from, until) else { continue };
            let wait = &mut own.waits[at];
            if is_tried {
                wait.behind = message;
            } else {
                (wait.reason, wait.message) = (PENDING_EVALUATION.to_owned(), message);
            }
        }
    }
}

fn end(own: &JobSetAdmission, wait: &AdmissionWait) -> SimTime {
    wait.until.or(own.finished).unwrap_or(SimTime::NEVER)
}
