//! Compares one recording with one run.
//!
//! This module does not run anything. Its input is an `ObservedRun` run, which tests construct by hand.

use super::decisions::admissions::AdmissionHistory;
use super::decisions::history::DecisionHistory;
use super::decisions::last_second::without_last_second;
use super::milestones::{self, IN_PLACE, RECREATE};
use super::recording::{RecordedRun, RecordingKind};
use super::result::{FileResult, MilestoneResult, RecordedDifference, RestartResult};
use super::run_steps::RunSteps;
use super::scenario::UnmodelledAction;
use super::{decisions, nodes, requests};
use serde_json::Value;
use sim_analysis::metrics;
use sim_analysis::metrics::RestartFold;
use sim_analysis::metrics::pods::PodFold;
use sim_api::spec::ScenarioSpec;
use sim_engine::record::{AdmissionNow, RecordNames, RecordSink, RunOutcome, SimulationRecord, StoredEvent};
use std::collections::BTreeMap;
use std::fmt;

/// The observations of a run that the comparison needs.
pub struct ObservedRun {
    pub outcome: RunOutcome,
    pub names: RecordNames,
    pub sink: RunObserver,
    /// The restart that the recording describes, as reported by `run`. Only for kind `times`.
    pub restart: Option<metrics::RestartMetrics>,
}

/// The sink of a run that is compared with a recording.
pub struct RunObserver {
    pub restarts: RestartFold,
    pub history: DecisionHistory,
    pub steps: RunSteps,
    pub pods: PodFold,
    pub admissions: AdmissionHistory,
    kind: RecordingKind,
}

impl RunObserver {
    pub fn new(recording: &RecordedRun, scenario: &ScenarioSpec) -> RunObserver {
        RunObserver {
            restarts: RestartFold::new(scenario).without_paths(),
            history: DecisionHistory::new(scenario),
            steps: RunSteps::default(),
            pods: PodFold::default(),
            admissions: AdmissionHistory::default(),
            kind: recording.kind,
        }
    }
}

impl RecordSink for RunObserver {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        match self.kind {
            RecordingKind::Times => self.restarts.record(record, names),
            _ => {
                self.history.record(record, names);
                self.steps.record(record, names);
                self.pods.record(record, names);
            }
        }
    }

    fn receives_events(&self) -> bool {
        self.kind.has_decisions()
    }

    fn event(&mut self, event: &StoredEvent) {
        self.history.event(event);
    }

    fn admission(&mut self, now: &AdmissionNow) {
        self.admissions.add(now);
    }

    fn receives_objects(&self) -> bool {
        self.kind.has_decisions()
    }

    fn objects(&mut self, all: &[Value]) {
        self.history.complete_other_jobs(all);
    }
}

/// Reason why there is no run to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRun {
    /// The model does not support a part of the script.
    NotSimulated(UnmodelledAction),
    /// The real control plane accepted the JobSet, but the program rejected it. This counts as a difference.
    Refused(String),
    /// The real control plane rejected the JobSet. Only the responses are compared.
    Rejected { recorded: String, simulated: String },
}

impl fmt::Display for NoRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRun::NotSimulated(unmodelled) => unmodelled.fmt(f),
            NoRun::Refused(reason) => f.write_str(reason),
            NoRun::Rejected { recorded, .. } => f.write_str(recorded),
        }
    }
}

impl std::error::Error for NoRun {}

fn is_in_place(recording: &RecordedRun) -> bool {
    let strategy = recording.milestones.as_ref().map(|m| m.strategy.as_str());
    strategy == Some("InPlaceRestart")
}

/// Compares a recording with a run, or with the reason why there is no run.
pub fn compare(file: &str, recording: &RecordedRun, run: Result<&ObservedRun, NoRun>) -> FileResult {
    let mut result = FileResult::new(file, recording.kind);
    result.about = recording.about.clone();
    match run {
        Err(NoRun::NotSimulated(UnmodelledAction(reasons))) => {
            result.not_simulated = reasons.iter().map(ToString::to_string).collect();
            // A missing value must not look like an error of zero.
            if recording.kind == RecordingKind::Times {
                result.restart = restart_result(recording, |_| None);
            }
        }
        Err(NoRun::Refused(reason)) if recording.kind == RecordingKind::Times => {
            result.about = format!("{}; refused: {reason}", result.about);
            result.restart = restart_result(recording, |_| None);
        }
        Err(NoRun::Refused(reason)) => {
            result.differences = Some(vec![RecordedDifference::new("jobSet", "accepted", reason)]);
        }
        Err(NoRun::Rejected { recorded, simulated }) => {
            let differs = recorded != simulated;
            let difference = RecordedDifference::new("jobSet", recorded, simulated);
            result.differences = Some(differs.then_some(difference).into_iter().collect());
        }
        Ok(run) if recording.kind == RecordingKind::Times => compare_times(recording, run, &mut result),
        Ok(run) => {
            let ObservedRun { outcome, names, sink, .. } = run;
            let compared = decisions::DecisionRun {
                outcome,
                history: &sink.history,
                steps: &sink.steps,
                pods: sink.pods.rows(),
                admissions: &sink.admissions,
                names,
            };
            compare_decisions(recording, &compared, &mut result);
            if let Some(cut) = without_last_second(recording) {
                // A recording may end before the last changes are observed: the better result counts.
                let mut before = FileResult::new(file, recording.kind);
                compare_decisions(&cut, &compared, &mut before);
                if before.difference_count() < result.difference_count() {
                    before.about = result.about;
                    result = before;
                }
            }
        }
    }
    result
}

fn compare_decisions(recording: &RecordedRun, run: &decisions::DecisionRun<'_>, result: &mut FileResult) {
    let (mut differences, exit_races) = decisions::compare(recording, run);
    if recording.kind == RecordingKind::Nodes {
        let (late, steps) = nodes::compare(recording, run.steps, run.names, run.history.created_s());
        differences.extend(late);
        result.milestones = steps;
    }
    result.differences = Some(differences);
    result.exit_races = exit_races;
}

fn compare_times(recording: &RecordedRun, run: &ObservedRun, result: &mut FileResult) {
    let Some(recorded) = &recording.milestones else {
        return;
    };
    let restart_of_run = run.restart.as_ref();
    let simulated = restart_of_run.map_or(BTreeMap::new(), |restart| {
        milestones::seconds(restart, is_in_place(recording), recorded.origin.as_deref())
    });
    let known: &[&str] = if is_in_place(recording) { &IN_PLACE } else { &RECREATE };
    let others = recorded.milestones_s.keys().map(String::as_str);
    let others = others.filter(|name| !known.contains(name));
    for name in known.iter().copied().chain(others) {
        let milestone = MilestoneResult {
            name: name.to_owned(),
            recorded_s: recorded.milestones_s.get(name).copied(),
            simulated_s: simulated.get(name).copied(),
        };
        if milestone.recorded_s.is_some() || milestone.simulated_s.is_some() {
            result.milestones.push(milestone);
        }
    }
    result.restart = restart_result(recording, |name| simulated.get(name).copied());
    if let Some(recorded) = &recording.requests {
        result.requests = requests::compare(recorded, &run.outcome.requests);
    }
}

/// Returns the total time of the restart, or the time of the last scored milestone.
fn restart_result(recording: &RecordedRun, simulated: impl Fn(&str) -> Option<f64>) -> Option<RestartResult> {
    let recorded = recording.milestones.as_ref()?;
    let milestone = match &recording.scored_up_to {
        Some(name) => name.as_str(),
        None => milestones::final_milestone(is_in_place(recording)),
    };
    let recorded_s = *recorded.milestones_s.get(milestone)?;
    (recorded_s > 0.0).then(|| RestartResult {
        milestone: milestone.to_owned(),
        recorded_s,
        simulated_s: simulated(milestone),
        scored: recording.scored != Some(false),
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/compare.rs"]
mod tests;
