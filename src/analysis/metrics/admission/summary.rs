//! The admission of a JobSet in `summary.json`.

use super::behind::PENDING_EVALUATION;
use super::history::{AdmissionWait, HeldQuota, JobSetAdmission, QuotaReservation, WorkloadEviction, WorkloadOfRun};
use serde::Serialize;
use sim_base::{JobSetId, SimTime};

/// Admission of one JobSet by Kueue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionSummary {
    /// Name of the LocalQueue.
    pub local_queue: String,
    /// Name of the ClusterQueue; empty if quota was never reserved.
    pub cluster_queue: String,
    /// Seconds without admission.
    #[serde(rename = "wait_s")]
    pub wait: f64,
    /// Waits for quota and for AdmissionChecks.
    pub waits: Vec<WaitSummary>,
    /// Reservations of quota.
    pub reservations: Vec<ReservationSummary>,
    /// Evictions of the Workload.
    pub evictions: Vec<EvictionSummary>,
    /// Workloads that were preempted for the JobSet.
    pub preempted: Vec<PreemptionSummary>,
}

/// One wait for quota or for AdmissionChecks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitSummary {
    /// Start in seconds of virtual time.
    #[serde(rename = "from_s")]
    pub from: f64,
    /// Reservation of quota, admission, or the end of the JobSet; null if the run ended before.
    #[serde(rename = "until_s")]
    pub until: Option<f64>,
    /// Last reason of the condition QuotaReserved, `PendingEvaluation` without a condition, or `AdmissionCheck`.
    pub reason: String,
    /// Message of the condition, or the names of the AdmissionChecks.
    pub message: String,
}

/// One reservation of quota.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReservationSummary {
    /// Name of the ClusterQueue.
    pub cluster_queue: String,
    /// Reservation in seconds of virtual time.
    #[serde(rename = "from_s")]
    pub from: f64,
    /// Release of the quota; null at the end of the run.
    #[serde(rename = "until_s")]
    pub until: Option<f64>,
    /// Quota by flavor and resource.
    pub quota: Vec<QuotaSummary>,
}

/// Quota of one resource in one flavor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaSummary {
    /// Name of the flavor.
    pub flavor: String,
    /// Name of the resource.
    pub resource: String,
    /// Amount as a Kubernetes quantity.
    pub amount: String,
    /// Borrowed part of it; null if nothing is borrowed.
    pub borrowed: Option<String>,
    /// ClusterQueues with unused quota when it was borrowed.
    pub lenders: Vec<String>,
}

/// One eviction of the Workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvictionSummary {
    /// Time in seconds of virtual time.
    #[serde(rename = "t_s")]
    pub at: f64,
    /// Reason of the condition Evicted.
    pub reason: String,
    /// Message of the condition.
    pub message: String,
    /// Name of the JobSet for which the Workload was preempted; null for other reasons.
    pub preemptor: Option<String>,
    /// Existing Workload for which it was preempted.
    #[serde(rename = "preemptingWorkload", skip_serializing_if = "Option::is_none")]
    pub preempting_workload: Option<String>,
}

/// One preemption of another Workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreemptionSummary {
    /// Time in seconds of virtual time.
    #[serde(rename = "t_s")]
    pub at: f64,
    /// Name of the preempted JobSet; absent if it is an existing Workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_set: Option<String>,
    /// Namespace and name of the preempted Workload, if its job is not in the inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
}

impl AdmissionSummary {
    /// Builds the summary; `name` returns the name of a JobSet.
    pub fn new(own: &JobSetAdmission, end: SimTime, name: impl Fn(JobSetId) -> String) -> AdmissionSummary {
        let queue = own.reservations.last().map(|reservation| reservation.cluster_queue.clone());
        AdmissionSummary {
            local_queue: own.local_queue.clone(),
            cluster_queue: queue.unwrap_or_default(),
            wait: own.total_wait(end).seconds(),
            waits: own.waits.iter().map(|one| wait(one, own.finished)).collect(),
            reservations: own.reservations.iter().map(reservation).collect(),
            evictions: own.evictions.iter().map(|e| eviction(e, &name)).collect(),
            preempted: own
                .preempted
                .iter()
                .map(|(at, owner)| {
                    let (job_set, workload) = names_of(owner, &name);
                    PreemptionSummary { at: at.seconds(), job_set, workload }
                })
                .collect(),
        }
    }
}

/// `finished` is the end of the Workload, which ends an open wait.
fn wait(wait: &AdmissionWait, finished: Option<SimTime>) -> WaitSummary {
    // Kueue sets no condition before the first scheduling cycle of a Workload.
    let (reason, message) = match wait.reason.as_str() {
        "" => (PENDING_EVALUATION, "Workload is pending evaluation in the scheduling queue"),
        reason => (reason, wait.message.as_str()),
    };
    WaitSummary {
        from: wait.from.seconds(),
        until: wait.until.or(finished).map(SimTime::seconds),
        reason: reason.to_owned(),
        message: message.to_owned(),
    }
}

fn reservation(reservation: &QuotaReservation) -> ReservationSummary {
    let quota = |held: &HeldQuota| QuotaSummary {
        flavor: held.flavor.clone(),
        resource: held.resource.clone(),
        amount: held.amount.clone(),
        borrowed: Some(held.borrowed.clone()).filter(|borrowed| !borrowed.is_empty()),
        lenders: held.lenders.clone(),
    };
    ReservationSummary {
        cluster_queue: reservation.cluster_queue.clone(),
        from: reservation.from.seconds(),
        until: reservation.until.map(SimTime::seconds),
        quota: reservation.quota.iter().map(quota).collect(),
    }
}

/// Returns the name of the JobSet, or of the existing Workload.
fn names_of(owner: &WorkloadOfRun, name: impl Fn(JobSetId) -> String) -> (Option<String>, Option<String>) {
    match owner {
        WorkloadOfRun::JobSet(jobset) => (Some(name(*jobset)), None),
        WorkloadOfRun::Existing(workload) => (None, Some(workload.clone())),
    }
}

fn eviction(eviction: &WorkloadEviction, name: impl Fn(JobSetId) -> String) -> EvictionSummary {
    let preemptor = eviction.preemptor.as_ref().map(|owner| names_of(owner, name));
    let (preemptor, preempting_workload) = preemptor.unwrap_or_default();
    EvictionSummary {
        at: eviction.at.seconds(),
        reason: eviction.reason.clone(),
        message: eviction.message.clone(),
        preemptor,
        preempting_workload,
    }
}
