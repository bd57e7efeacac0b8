//! `--fail-if` of `run`, `compare` and `sweep`: conditions are parsed before the simulation and checked against its
//! results.

use crate::cli::failure::{Failure, bail};
use sim_analysis::experiment::fail_if::{Group, held};
use sim_base::condition::Condition;

pub fn read(texts: &[String]) -> Result<Vec<Condition>, Failure> {
    let read = |text: &String| text.parse().map_err(Failure::Invalid);
    texts.iter().map(read).collect()
}

/// Returns an error for conditions that compare with a baseline, for commands without one.
pub fn absolute(conditions: &[Condition]) -> Result<(), Failure> {
    match conditions.iter().find(|c| c.is_relative()) {
        Some(c) => {
            bail!(
                "--fail-if {:?}: a change needs something to compare with; `compare` and `bench` have it",
                c.text()
            )
        }
        None => Ok(()),
    }
}

/// Returns an error that lists the conditions that are true.
pub fn check(conditions: &[Condition], groups: &[Group]) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for condition in conditions {
        for held in held(condition, groups)? {
            let of = match held.variant.as_str() {
                "" => String::new(),
                variant => format!(" in {variant}"),
            };
            let value = held.value;
            failed.push(format!(
                "--fail-if {:?} holds{of}: it is {value}",
                condition.text()
            ));
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Gate(failed.join("\n"))),
    }
}
