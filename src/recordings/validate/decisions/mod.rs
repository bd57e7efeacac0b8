//! Compares decisions: final status, Jobs, pods, Events, the sequence of status values, and responses to user
//! actions.
//!
//! Each submodule compares one of them; docs/reference/recording.md lists them. Nothing is simulated here.

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

/// The observations of a run that are compared.
pub struct Run<'r> {
    pub outcome: &'r RunOutcome,
    pub history: &'r History,
    pub steps: &'r RunSteps,
    /// Pods as `run` writes them to `pods.csv`.
    pub pods: &'r [PodRow],
    pub names: &'r Names,
}

/// Returns all differences. The decisions are equal if there are none.
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
        // Times of kind `nodes` depend on phases. `nodes.rs` compares their distances.
        bands::compare(recording, run, &mut differences);
    }
    differences
}

/// Returns a condition as `Type=Status Reason: message`, the format of recordings.
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

/// Compares multisets of texts. Texts without a match are paired in sorted order.
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
