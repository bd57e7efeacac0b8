//! Waits of Workloads that a StrictFIFO queue never tried: Kueue sets no condition for them.

use super::history::{AdmissionWait, JobSetAdmission};
use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::QueueingStrategy;
use sim_base::{JobSetId, SimTime};
use sim_engine::workload_name;
use sim_kueue::verdict::behind_message;
use std::collections::BTreeMap;

/// Reason of a Workload that waits for its turn.
pub(super) const PENDING_EVALUATION: &str = "PendingEvaluation";

/// Sets reason and message of waits without a condition during which the head of the queue waited.
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
    let head_of = |own: &JobSetAdmission, wait: &AdmissionWait| {
        let others = heads.get(queue(own)?)?.iter().filter(|(jobset, _, _)| *jobset != own.jobset);
        // A Workload that is admitted before the other one was ahead of it.
        let overlapping =
            others.filter(|(_, from, until)| *from < end(own, wait) && *until > wait.from && *until <= end(own, wait));
        let last = overlapping.max_by_key(|(jobset, from, until)| (*until, SimTime::NEVER.since(*from), *jobset));
        last.map(|head| head.0)
    };
    for own in job_sets {
        for at in 0..own.waits.len() {
            if !own.waits[at].reason.is_empty() {
                continue;
            }
            let Some(head) = head_of(own, &own.waits[at]).and_then(|head| scenario.jobsets.get(head.ix())) else {
                continue;
            };
            let (namespace, name) = (&head.jobset.namespace, &head.jobset.name);
            let text = format!("Workload {namespace}/{} of JobSet {name}", workload_name(namespace, name));
            PENDING_EVALUATION.clone_into(&mut own.waits[at].reason);
            own.waits[at].message = behind_message(&text);
        }
    }
}

fn end(own: &JobSetAdmission, wait: &AdmissionWait) -> SimTime {
    wait.until.or(own.finished).unwrap_or(SimTime::NEVER)
}
