//! Compares decisions: final status, Jobs, pods, Events, the sequence of status values, and responses to user actions.
//!
//! Each submodule compares one of them; docs/reference/recording.md lists them. Nothing is simulated here.

pub mod admissions;
mod events;
pub(crate) mod exit_races;
pub mod history;
mod jobs;
pub(crate) mod last_second;
pub mod mask;
mod pods;
pub mod responses;
pub mod sequence;
mod status;
#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions.rs"]
mod tests;
pub mod time_tolerance;
pub mod tolerances;

use super::recording::{RecordedRun, RecordingKind};
use super::result::RecordedDifference;
use super::run_steps::RunSteps;
use admissions::AdmissionHistory;
use exit_races::ExitRaces;
use history::DecisionHistory;
use mask::VolatileMask;
use serde_json::json;
use sim_analysis::metrics::pods::PodMetrics;
use sim_engine::record::{ConditionOutcome, JobSetOutcome, RecordNames, RunOutcome};

/// The observations of a run that are compared.
pub struct DecisionRun<'r> {
    pub outcome: &'r RunOutcome,
    pub history: &'r DecisionHistory,
    pub steps: &'r RunSteps,
    /// Pods as `run` writes them to `pods.csv`.
    pub pods: &'r [PodMetrics],
    pub admissions: &'r AdmissionHistory,
    pub names: &'r RecordNames,
}

/// Returns all differences, and the number of pods that may have ended either way. The decisions are equal if there
/// are no differences.
pub fn compare(recording: &RecordedRun, run: &DecisionRun<'_>) -> (Vec<RecordedDifference>, usize) {
    let mask = VolatileMask::new(run.names, recording.kind);
    let nothing = JobSetOutcome::default();
    let jobset = run.outcome.jobsets.first().unwrap_or(&nothing);
    let mut differences = Vec::new();
    status::compare(recording, jobset, &mask, &mut differences);
    let exit_races = ExitRaces::find(recording, run, &mask);
    jobs::compare(recording, run, &mask, &exit_races, &mut differences);
    pods::compare(&exit_races, mask.has_ties, &mut differences);
    events::compare(recording, run, &mask, &exit_races, &mut differences);
    sequence::compare(recording, run.history, &mut differences);
    responses::compare(recording, run.history, &mut differences);
    admissions::compare(recording, run, &mut differences);
    if recording.kind != RecordingKind::Nodes {
        // Times of kind `nodes` depend on phases. `nodes.rs` compares their distances.
        tolerances::compare(recording, run, &mut differences);
    }
    (differences, exit_races.count())
}

/// Returns a condition as `Type=Status Reason: message`, the format of recordings.
fn condition_text(c: &ConditionOutcome, mask: &VolatileMask) -> String {
    let message = mask.mask_names(&c.message);
    let status = history::condition_status(c.status);
    format!("{}={status} {}: {message}", c.kind, c.reason)
}

fn compare_lists(path: &str, recorded: &[String], simulated: &[String], out: &mut Vec<RecordedDifference>) {
    for i in 0..recorded.len().max(simulated.len()) {
        let (r, s) = (recorded.get(i), simulated.get(i));
        if r != s {
            out.push(RecordedDifference::new(format!("{path}[{i}]"), json!(r), json!(s)));
        }
    }
}

/// Compares multisets of texts. Texts without a match are paired in sorted order.
fn compare_multisets(
    path: &str, mut recorded: Vec<String>, mut simulated: Vec<String>, out: &mut Vec<RecordedDifference>,
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
        out.push(RecordedDifference::new(path, json!(r), json!(s)));
    }
}
