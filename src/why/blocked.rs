//! What keeps a JobSet or a pod from going on, in the words that the run itself has for it.
//!
//! Must never have an opinion of its own: sentences are those of the run's outcome and records.

use super::levers::Setting;
use crate::base::*;
use crate::metrics::RunView;
use crate::record::JobSetOutcome;

/// What blocks, and what would end that.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    /// `JobSet train`, `pod train-w-0-1`.
    pub object: String,
    /// Why it does not go on.
    pub condition: String,
    /// The smallest change that ends it, and how long what is asked about then takes; proven by a run.
    pub change: Option<(Setting, Duration)>,
}

impl Blocked {
    pub fn new(object: String, condition: String) -> Blocked {
        let change = None;
        Blocked {
            object,
            condition,
            change,
        }
    }
}

/// What blocks a JobSet at the end of its run, if something does.
pub fn jobset(run: &RunView<'_>, jobset: JobSetId) -> Option<Blocked> {
    let name = run.names.jobset(jobset);
    let outcome = run.outcome.jobsets.get(jobset.ix())?;
    let condition = match &outcome.never_placed {
        _ if outcome.terminal_state == "Failed" => failed(outcome)?,
        Some(why) => why.clone(),
        None => run.outcome.dead_end(name)?.to_owned(),
    };
    Some(Blocked::new(format!("JobSet {name}"), condition))
}

/// The condition Failed as the API shows it.
fn failed(outcome: &JobSetOutcome) -> Option<String> {
    let mut conditions = outcome.conditions.iter();
    let failed = conditions.find(|c| c.kind == "Failed" && c.status)?;
    Some(format!(
        "condition Failed is True since {} ({}): {}",
        failed.last_transition, failed.reason, failed.message
    ))
}
