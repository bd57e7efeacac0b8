//! Compares what was decided: final status, Jobs, pods, Events, the sequence of statuses, answers to user actions.
//!
//! One file per theme; docs/reference/recording.md has the list. Must never run anything.

pub mod answers;
pub mod bands;
mod events;
pub mod history;
mod jobs;
pub mod mask;
mod pods;
pub mod sequence;
mod status;
#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions.rs"]
mod tests;

use super::recording::{Kind, Recording};
use super::result::Difference;
use super::run_steps::RunSteps;
use history::History;
use mask::Mask;
use pods::EitherWay;
use serde_json::json;
use sim_analysis::metrics::pods::PodRow;
use sim_engine::record::*;

/// Everything of a run that is compared.
pub struct Run<'r> {
    pub outcome: &'r RunOutcome,
    pub history: &'r History,
    pub steps: &'r RunSteps,
    /// As `run` writes them into `pods.csv`.
    pub pods: &'r [PodRow],
    pub names: &'r Names,
}

/// All differences; none means that the decision is equal.
pub fn compare(recording: &Recording, run: &Run<'_>) -> Vec<Difference> {
    let mask = Mask::new(run.names);
    let nothing = JobSetOutcome::default();
    let jobset = run.outcome.jobsets.first().unwrap_or(&nothing);
    let mut differences = Vec::new();
    status::compare(recording, jobset, &mask, &mut differences);
    let either_way = EitherWay::of(recording, run);
    jobs::compare(recording, run, &mask, &either_way, &mut differences);
    pods::compare(recording, run, &mut differences);
    events::compare(recording, run, &mask, &either_way, &mut differences);
    sequence::compare(recording, run.history, &mut differences);
    answers::compare(recording, run.history, &mut differences);
    if recording.kind != Kind::Nodes {
        // Those of `nodes` hang on phases; `nodes.rs` compares them by their distances.
        bands::compare(recording, run, &mut differences);
    }
    differences
}

/// `Type=Status Reason: message`, as the recordings write conditions.
fn condition(c: &ConditionOutcome, mask: &Mask) -> String {
    let message = mask.text(&c.message);
    let status = history::condition_status(c.status);
    format!("{}={status} {}: {message}", c.kind, c.reason)
}

fn compare_lists(path: &str, recorded: &[String], simulated: &[String], out: &mut Vec<Difference>) {
    for i in 0..recorded.len().max(simulated.len()) {
        let (r, s) = (recorded.get(i), simulated.get(i));
        if r != s {
            out.push(Difference::new(format!("{path}[{i}]"), json!(r), json!(s)));
        }
    }
}

/// What one side has more often than the other, paired in the order of the texts.
fn compare_bags(
    path: &str,
    mut recorded: Vec<String>,
    mut simulated: Vec<String>,
    out: &mut Vec<Difference>,
) {
    recorded.sort();
    simulated.sort();
    let mut only_recorded = Vec::new();
    for text in recorded {
        match simulated.binary_search(&text) {
            Ok(i) => drop(simulated.remove(i)),
            Err(_) => only_recorded.push(text),
        }
    }
    for i in 0..only_recorded.len().max(simulated.len()) {
        let (r, s) = (only_recorded.get(i), simulated.get(i));
        out.push(Difference::new(path, json!(r), json!(s)));
    }
}
