//! Compares a user's run with a recording: the inputs that differ, the first instant at which the two diverge, and
//! all differences that `validate` reports.
//!
//! The tolerances, steps and differences are those of `validate`.

use super::compare::{ObservedRun, compare};
use super::decisions::sequence::{compared_until_s, recorded_states, state_text};
use super::decisions::time_tolerance::TimeTolerance;
use super::decisions::{DecisionRun, responses, tolerances};
use super::recording::{RecordedRun, RecordingKind};
use super::result::{ComparedMoment, FileResult, MilestoneResult, RecordedDifference};
use super::run_vs_recording_inputs::{self, ActionDescription};
use super::steps::{self, RecordedStep, StepAction, StepObject};
use super::{milestones, nodes};
use serde::Serialize;
use sim_api::spec::ScenarioSpec;
use std::collections::BTreeMap;

/// Maximum number of matching instants reported before the first one that differs.
const MOMENTS_BEFORE: usize = 10;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunVsRecording {
    pub inputs: Vec<RecordedDifference>,
    pub first: Option<FirstDifference>,
    /// All differences that `validate` reports for the run.
    pub differences: Vec<RecordedDifference>,
    /// Relative error of the restart time up to the last scored milestone: (simulated − recorded) / recorded.
    pub restart_error: Option<f64>,
}

/// The first instant at which the run and the recording diverge.
#[derive(Debug, Serialize)]
pub struct FirstDifference {
    /// Preceding instants, which agree.
    pub before: Vec<ComparedMoment>,
    pub moment: ComparedMoment,
}

/// Compares a run with a recording. `words` describes an action.
pub fn compare_run(
    file: &str, recording: &RecordedRun, (scenario, words): (&ScenarioSpec, ActionDescription<'_>),
    observed: &ObservedRun,
) -> RunVsRecording {
    let result = compare(file, recording, Ok(observed));
    RunVsRecording {
        inputs: run_vs_recording_inputs::input_differences(recording, scenario, words),
        first: first_difference(compared_timeline(recording, observed, &result)),
        restart_error: result.restart.as_ref().map(|r| r.error()),
        differences: match recording.kind {
            RecordingKind::Times => result.milestones.iter().filter_map(restart_time_difference).collect(),
            _ => result.differences.unwrap_or_default(),
        },
    }
}

fn first_difference(mut timeline: Vec<ComparedMoment>) -> Option<FirstDifference> {
    let at = timeline.iter().position(|moment| moment.differs)?;
    let moment = timeline.swap_remove(at);
    timeline.truncate(at);
    let before = timeline.split_off(at.saturating_sub(MOMENTS_BEFORE));
    Some(FirstDifference { before, moment })
}

/// Returns the instants of both sides in order of time.
fn compared_timeline(recording: &RecordedRun, observed: &ObservedRun, result: &FileResult) -> Vec<ComparedMoment> {
    let ObservedRun { outcome, names, sink, .. } = observed;
    let run = DecisionRun {
        outcome,
        history: &sink.history,
        steps: &sink.steps,
        pods: sink.pods.rows(),
        admissions: &sink.admissions,
        names,
    };
    let mut all = match recording.kind {
        RecordingKind::Times => return result.milestones.iter().map(milestone_moment).collect(),
        RecordingKind::Nodes => {
            let created_s = run.history.created_s();
            let mut all = nodes::compared_moments(recording, run.steps, names, created_s);
            all.extend(tolerances::action_moments(recording));
            all.extend(tolerances::status_moments(recording, &run));
            all
        }
        _ => {
            let mut all = tolerances::compared_moments(recording, &run);
            tolerances::mark_differences(&mut all, TimeTolerance::new(recording));
            all.extend(tolerances::action_moments(recording));
            all.extend(pod_existence(recording, &run));
            all
        }
    };
    for (i, _) in responses::differing_responses(recording, run.history) {
        let action = format!("action {i}");
        let answered = all.iter_mut().filter(|moment| moment.what == action);
        answered.for_each(|moment| moment.differs = true);
    }
    all.extend(first_status_difference(recording, &run));
    all.retain(|moment| moment.at_s() <= compared_until_s(recording));
    all.sort_by(|a, b| a.at_s().total_cmp(&b.at_s()));
    for moment in &mut all {
        moment.what = action_description(recording, &moment.what);
    }
    all
}

/// Returns the name of an action, followed by its type and target.
fn action_description(recording: &RecordedRun, what: &str) -> String {
    let number = what.strip_prefix("action ");
    let index = number.and_then(|n| n.parse::<usize>().ok());
    match index.and_then(|i| recording.script.actions.get(i)) {
        Some(action) => {
            let of = action.pod.as_deref().or(action.name.as_deref());
            format!("{what}: {} {}", action.what, of.unwrap_or_default())
        }
        None => what.to_owned(),
    }
}

/// Returns the first JobSet status that differs, from both sides.
fn first_status_difference(recording: &RecordedRun, run: &DecisionRun<'_>) -> Vec<ComparedMoment> {
    let (recorded, simulated) = (recorded_states(recording), run.history.states());
    let same = recorded.iter().zip(&simulated);
    let same = same.take_while(|(r, s)| r.1 == s.1).count();
    let text = |state| format!("status {}", state_text(state));
    let r = recorded.get(same);
    let r = r.map(|(at_s, state)| ComparedMoment::new(text(state), Some(*at_s), None));
    let s = simulated.get(same);
    let s = s.map(|(at_s, state)| ComparedMoment::new(text(state), None, Some(*at_s)));
    let mut all: Vec<ComparedMoment> = r.into_iter().chain(s).collect();
    all.iter_mut().for_each(|moment| moment.differs = true);
    all
}

/// Compares which pods exist, but not their creation times. The nth pod of an index and attempt matches the nth.
fn pod_existence(recording: &RecordedRun, run: &DecisionRun<'_>) -> Vec<ComparedMoment> {
    let of_pods = |all: Vec<RecordedStep>, start_s: f64| -> BTreeMap<String, f64> {
        let created =
            all.into_iter().filter(|s| matches!(s.object, StepObject::Pod { .. }) && s.action == StepAction::Created);
        let named = created.map(|step| (step.to_string(), step.at_s - start_s));
        named.collect()
    };
    let recorded = of_pods(steps::recorded_steps(recording), 0.0);
    let simulated = run.steps.recorded_steps(recording, run.names);
    let simulated = of_pods(simulated, run.history.created_s());
    let only_simulated = simulated.keys().filter(|k| !recorded.contains_key(*k));
    let moment = |what: &String| {
        let (r, s) = (recorded.get(what).copied(), simulated.get(what).copied());
        let mut moment = ComparedMoment::new(what.clone(), r, s);
        moment.differs = r.is_none() || s.is_none();
        moment
    };
    recorded.keys().chain(only_simulated).map(moment).collect()
}

fn milestone_moment(milestone: &MilestoneResult) -> ComparedMoment {
    let (r, s) = (milestone.recorded_s, milestone.simulated_s);
    let mut moment = ComparedMoment::new(milestone.name.clone(), r, s);
    let compared = milestones::RECREATE.contains(&milestone.name.as_str())
        || milestones::IN_PLACE.contains(&milestone.name.as_str());
    let in_band = r.zip(s).is_some_and(|(r, s)| (s - r).abs() <= TimeTolerance::PLAIN.band_s(r));
    moment.differs = compared && r.is_some() && !in_band;
    moment
}

fn restart_time_difference(milestone: &MilestoneResult) -> Option<RecordedDifference> {
    let moment = milestone_moment(milestone);
    let (r, s) = (moment.recorded_s, moment.simulated_s);
    let path = format!("milestones: {}", moment.what);
    moment.differs.then(|| RecordedDifference::new(path, r, s))
}
