//! What keeps a JobSet or a pod from going on, in the words that the run itself has for it.
//!
//! Must never have an opinion of its own: sentences are those of the run's outcome and records.

use super::levers::Setting;
use crate::metrics::RunView;
use sim_base::*;
use sim_engine::record::JobSetOutcome;

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
        _ if outcome.terminal_state == "Failed" => condition(outcome, "Failed")?,
        Some(why) => why.clone(),
        None => match run.outcome.open_end(name) {
            Some(why) => why.to_owned(),
            None => {
                let (is, who) = (condition(outcome, "Suspended")?, run.who_resumes(jobset));
                who.map_or_else(|| is.clone(), |who| format!("{is}; {who}"))
            }
        },
    };
    Some(Blocked::new(format!("JobSet {name}"), condition))
}

/// A condition that is true, as the API shows it.
fn condition(outcome: &JobSetOutcome, kind: &str) -> Option<String> {
    let mut conditions = outcome.conditions.iter();
    let found = conditions.find(|c| c.kind == kind && c.status)?;
    Some(format!(
        "condition {kind} is True since {} ({}): {}",
        found.last_transition, found.reason, found.message
    ))
}
