//! `--fail-if` of `run`, `compare` and `sweep`: conditions are parsed before the simulation and checked against its
//! results.

use crate::cli::failure::{CommandFailure, bail};
use sim_analysis::experiment::fail_if::{ConditionGroup, held};
use sim_analysis::experiment::is_by_cause;
use sim_base::condition::FieldCondition;

pub fn read(texts: &[String]) -> Result<Vec<FieldCondition>, CommandFailure> {
    let read = |text: &String| Ok(text.parse::<FieldCondition>()?);
    texts.iter().map(read).collect()
}

/// Returns an error for conditions that compare with a baseline, for commands without one.
pub fn absolute(conditions: &[FieldCondition]) -> Result<(), CommandFailure> {
    match conditions.iter().find(|c| c.is_relative()) {
        Some(c) => {
            bail!("--fail-if {:?}: a relative change needs a baseline; use `compare` or `bench`", c.text())
        }
        None => Ok(()),
    }
}

/// Returns an error for unknown names before anything is simulated. The causes are known only after a simulation.
pub fn check_names(conditions: &[FieldCondition], groups: &[ConditionGroup]) -> Result<(), CommandFailure> {
    let mut named = conditions.iter().filter(|condition| !is_by_cause(&condition.name));
    named.try_for_each(|condition| held(condition, groups).map(drop).map_err(|e| e.to_string().into()))
}

/// Returns an error that lists the conditions that are true.
pub fn check(conditions: &[FieldCondition], groups: &[ConditionGroup]) -> Result<(), CommandFailure> {
    let mut failed = Vec::new();
    for condition in conditions {
        for held in held(condition, groups).map_err(|e| e.to_string())? {
            let of = match held.variant.as_str() {
                "" => String::new(),
                variant => format!(" in {variant}"),
            };
            let value = held.value;
            failed.push(format!("--fail-if {:?} is true{of}: the value is {value}", condition.text()));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(CommandFailure::Gate(failed.join("\n"))) }
}
