//! The condition that blocks a JobSet or a pod.
//!
//! The sentences are those of the run's outcome and records; this module adds no interpretation.

use super::levers::LeverSetting;
use crate::metrics::RunView;
use sim_base::{Duration, JobSetId};
use sim_engine::record::JobSetOutcome;

/// The condition that blocks an object, and a change that resolves it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedJobSet {
    /// Kind and name of the object, such as `JobSet train` or `pod train-w-0-1`.
    pub object: String,
    pub condition: String,
    /// The smallest change that resolves the condition, and the duration that is explained with this change.
    /// Confirmed by a run.
    pub change: Option<(LeverSetting, Duration)>,
}

impl BlockedJobSet {
    pub fn new(object: String, condition: String) -> BlockedJobSet {
        let change = None;
        BlockedJobSet { object, condition, change }
    }
}

/// Returns the condition that blocks a JobSet at the end of its run, if there is one.
pub fn jobset(run: &RunView<'_>, jobset: JobSetId) -> Option<BlockedJobSet> {
    let name = run.names.jobset(jobset);
    let outcome = run.outcome.jobsets.get(jobset.ix())?;
    let condition = match &outcome.never_placed_reason {
        _ if outcome.terminal_state == "Failed" => condition(outcome, "Failed")?,
        Some(why) => why.clone(),
        None => match run.outcome.pending_reason(name) {
            Some(why) => why.to_owned(),
            None => {
                let (is, who) = (condition(outcome, "Suspended")?, run.who_resumes(jobset));
                who.map_or_else(|| is.clone(), |who| format!("{is}; {who}"))
            }
        },
    };
    Some(BlockedJobSet::new(format!("JobSet {name}"), condition))
}

/// Returns why the API server rejected a JobSet.
pub fn refused(run: &RunView<'_>, jobset: JobSetId) -> Option<BlockedJobSet> {
    let name = run.names.jobset(jobset);
    let why = run.outcome.refusal_reason(name)?.to_owned();
    Some(BlockedJobSet::new(format!("JobSet {name}"), why))
}

/// Describes a condition whose status is True, with its reason and message in the API.
fn condition(outcome: &JobSetOutcome, kind: &str) -> Option<String> {
    let mut conditions = outcome.conditions.iter();
    let matching = conditions.find(|c| c.kind == kind && c.status)?;
    Some(format!(
        "condition {kind} is True since {} ({}): {}",
        matching.last_transition, matching.reason, matching.message
    ))
}
