//! The manager's view of a stored Job, with its current labels.

use crate::{record::JobConditionType, store::JobEntry};
use sim_api::spec::keys::{JOB_INDEX, JOB_RESTART_ATTEMPT, REPLICATED_JOB_NAME, RESTART_ATTEMPT};
use sim_policy::{FinishedView, JobView};

pub fn job_view(j: &JobEntry) -> JobView {
    let ends = |kind| matches!(kind, JobConditionType::Complete | JobConditionType::Failed);
    let mut conditions = j.status.conditions.iter();
    let finished = conditions.find(|c| c.status && ends(c.kind));
    JobView {
        rj: j.rj,
        index: j.index,
        restart_attempt: parse_attempt(j, RESTART_ATTEMPT, j.restart_attempt),
        job_restart_attempt: parse_attempt(j, JOB_RESTART_ATTEMPT, j.job_restart_attempt),
        unusable_label: unusable_label(j),
        parallelism: Some(j.spec.parallelism()),
        completions: j.spec.completions(),
        deleting: j.is_deleting(),
        suspended: j.suspended,
        active: j.status.active,
        ready: j.status.ready,
        succeeded: j.status.succeeded,
        finished: finished.map(|c| {
            Box::new(FinishedView {
                failed: c.kind == JobConditionType::Failed,
                reason: c.reason.to_string(),
                message: c.message.clone(),
                at: c.at,
            })
        }),
    }
}

/// The number in a label, parsed like strconv.Atoi in the manager; negative numbers are older than all attempts.
fn parse_attempt(j: &JobEntry, label: &str, posted: u32) -> Option<u32> {
    match j.changed_labels.iter().find(|(key, _)| key == label) {
        None => Some(posted),
        Some((_, text)) => {
            let number: i64 = text.as_deref()?.parse().ok()?;
            Some(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
        }
    }
}

/// Returns the first label without a valid number, if any (REC-5.3).
fn unusable_label(j: &JobEntry) -> Option<&'static str> {
    let changed = |label: &str| j.changed_labels.iter().find(|(key, _)| key == label);
    let number = |text: &Option<String>| text.as_deref().is_some_and(|t| t.parse::<i64>().is_ok());
    if changed(REPLICATED_JOB_NAME).is_some_and(|(_, text)| text.is_none()) {
        return Some(REPLICATED_JOB_NAME);
    }
    if changed(JOB_INDEX).is_some_and(|(_, text)| !number(text)) {
        return Some(JOB_INDEX);
    }
    let own = changed(JOB_RESTART_ATTEMPT);
    own.is_some_and(|(_, text)| text.is_some() && !number(text)).then_some(JOB_RESTART_ATTEMPT)
}
