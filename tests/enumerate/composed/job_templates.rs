//! Job templates: each exercises some rules of the Job controller and permits certain faults.
//!
//! Must never define the size of a JobSet; `cases.rs` does.

use super::setups::{FATAL, Faults, Setup};
use sim_api::spec::*;

pub const DELETED: Faults = Faults { codes: &[1], restarts: false, deleted: true, evicted: false, job_deleted: true };

pub const FAILING: Faults = Faults { deleted: false, job_deleted: false, ..DELETED };

const EVICTED: Faults =
    Faults { codes: &[1, FATAL], restarts: false, deleted: false, evicted: true, job_deleted: false };

const RESTARTED: Faults = Faults { codes: &[], restarts: true, ..DELETED };

/// A Job template with its name, the faults that may occur, and whether back-off delays are modelled.
pub struct Kind {
    pub name: &'static str,
    faults: Faults,
    waits: bool,
    /// Whether the template has many states.
    pub large: bool,
    job: fn(&mut JobSpec),
}

const fn kind(name: &'static str, faults: Faults, job: fn(&mut JobSpec)) -> Kind {
    Kind { name, faults, waits: false, large: false, job }
}

const fn large(kind: Kind) -> Kind {
    Kind { large: true, ..kind }
}

pub const KINDS: [Kind; 14] = [
    kind("backoffLimit 0", DELETED, |_| {}),
    kind("backoffLimit 1", DELETED, |j| j.backoff_limit = Some(1)),
    Kind { waits: true, ..large(kind("backoffLimit 1 with back-off", DELETED, |j| j.backoff_limit = Some(1))) },
    kind("podReplacementPolicy Failed", DELETED, |j| {
        j.backoff_limit = Some(1);
        j.pod_replacement_policy = Some(PodReplacementPolicy::Failed);
    }),
    kind("backoffLimitPerIndex 0", DELETED, |j| per_index(j, 0)),
    large(kind("backoffLimitPerIndex 1", DELETED, |j| per_index(j, 1))),
    Kind {
        waits: true,
        ..large(kind("backoffLimitPerIndex 1 with back-off, maxFailedIndexes 0", DELETED, |j| {
            per_index(j, 1);
            j.max_failed_indexes = Some(0);
        }))
    },
    kind("completions beyond parallelism", DELETED, |j| j.completions = j.parallelism.map(|p| p + 1)),
    kind("podFailurePolicy", EVICTED, |j| {
        j.backoff_limit = Some(1);
        pod_failure_policy(j, PodFailurePolicyAction::FailJob);
    }),
    kind("podFailurePolicy, backoffLimitPerIndex 1", EVICTED, |j| {
        per_index(j, 1);
        pod_failure_policy(j, PodFailurePolicyAction::FailIndex);
    }),
    kind("successPolicy", DELETED, |j| {
        j.backoff_limit = Some(1);
        j.success_policy =
            Some(vec![JobSuccessRule { succeeded_indexes: Some("0".to_string()), succeeded_count: None }]);
    }),
    large(kind("activeDeadlineSeconds", DELETED, |j| j.active_deadline_seconds = Some(600))),
    kind("restartPolicy OnFailure", RESTARTED, |j| on_failure(j, 0)),
    kind("restartPolicy OnFailure, backoffLimit 2", RESTARTED, |j| on_failure(j, 2)),
];

fn per_index(job: &mut JobSpec, limit: i32) {
    (job.backoff_limit, job.backoff_limit_per_index) = (None, Some(limit));
}

fn on_failure(job: &mut JobSpec, limit: i32) {
    job.backoff_limit = Some(limit);
    job.template.spec.restart_policy = RestartPolicy::OnFailure;
}

/// Adds a pod failure policy: one exit code triggers the action, and disruptions are ignored.
fn pod_failure_policy(job: &mut JobSpec, action: PodFailurePolicyAction) {
    let rule = |action, code: Option<i32>, condition: Option<&str>| PodFailurePolicyRule {
        action,
        on_exit_codes: code.map(|code| OnExitCodes { container_name: None, operator_in: true, values: vec![code] }),
        on_pod_conditions: Vec::from_iter(
            condition
                .map(|condition| PodConditionPattern { condition: condition.to_string(), status: "True".to_string() }),
        ),
    };
    let ignore = PodFailurePolicyAction::Ignore;
    job.pod_failure_policy =
        Some(vec![rule(action, Some(i32::from(FATAL)), None), rule(ignore, None, Some("DisruptionTarget"))]);
}

pub fn setup_of_kind(jobset: &str, kind: &Kind) -> Setup {
    let setup = Setup::new(jobset, kind.job);
    Setup { name: format!("{jobset}; {}", kind.name), faults: kind.faults, waits: kind.waits, ..setup }
}
