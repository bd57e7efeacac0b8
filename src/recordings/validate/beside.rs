//! Compares a user's run with a recording: the inputs that differ, the first instant at which the two diverge, and
//! all differences that `validate` reports.
//!
//! The tolerances, steps and differences are those of `validate`.

use super::beside_inputs::{self, Words};
use super::compare::{Observed, compare};
use super::decisions::sequence::{compared_until_s, recorded_states, state_text};
use super::decisions::{Run, answers, bands};
use super::recording::{Kind, Recording};
use super::result::{Difference, FileResult, Milestone, Moment};
use super::steps::{self, Object, Step, What};
use super::{milestones, nodes};
use serde::Serialize;
use sim_api::spec::Scenario;
use std::collections::BTreeMap;

/// Maximum number of matching instants reported before the first one that differs.
const BEFORE: usize = 10;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Beside {
    /// Inputs that differ.
    pub inputs: Vec<Difference>,
    pub first: Option<First>,
    /// All differences that `validate` reports for the run.
    pub differences: Vec<Difference>,
    /// Relative error of the restart time up to the last scored milestone: (simulated − recorded) / recorded.
    pub restart_error: Option<f64>,
}

/// The first instant at which the run and the recording diverge.
#[derive(Debug, Serialize)]
pub struct First {
    /// Preceding instants, which agree.
    pub before: Vec<Moment>,
    pub moment: Moment,
}

/// Compares a run with a recording. `words` describes an action.
pub fn beside(
    file: &str,
    recording: &Recording,
    (scenario, words): (&Scenario, Words<'_>),
    observed: &Observed,
) -> Beside {
    let result = compare(file, recording, Ok(observed));
    Beside {
        inputs: beside_inputs::inputs(recording, scenario, words),
        first: first(timeline(recording, observed, &result)),
        restart_error: result.restart.as_ref().map(|r| r.error()),
        differences: match recording.kind {
            Kind::Times => result.milestones.iter().filter_map(late).collect(),
            _ => result.differences.unwrap_or_default(),
        },
    }
}

fn first(mut timeline: Vec<Moment>) -> Option<First> {
    let at = timeline.iter().position(|moment| moment.differs)?;
    let moment = timeline.swap_remove(at);
    timeline.truncate(at);
    let before = timeline.split_off(at.saturating_sub(BEFORE));
    Some(First { before, moment })
}

/// Returns the instants of both sides in order of time.
fn timeline(recording: &Recording, observed: &Observed, result: &FileResult) -> Vec<Moment> {
    let Observed {
        outcome,
        names,
        sink,
        ..
    } = observed;
    let run = Run {
        outcome,
        history: &sink.history,
        steps: &sink.steps,
        pods: sink.pods.rows(),
        names,
    };
    let mut all = match recording.kind {
        Kind::Times => return result.milestones.iter().map(of_milestone).collect(),
        Kind::Nodes => {
            let created_s = run.history.created_s();
            let mut all = nodes::moments(recording, run.steps, names, created_s);
            all.extend(bands::actions(recording));
            all.extend(bands::statuses(recording, &run));
            all
        }
        _ => {
            let mut all = bands::moments(recording, &run);
            bands::judge(&mut all);
            all.extend(pods(recording, &run));
            all
        }
    };
    for (i, _) in answers::differing(recording, run.history) {
        let action = format!("action {i}");
        let answered = all.iter_mut().filter(|moment| moment.what == action);
        answered.for_each(|moment| moment.differs = true);
    }
    all.extend(other_status(recording, &run));
    all.retain(|moment| moment.at_s() <= compared_until_s(recording));
    all.sort_by(|a, b| a.at_s().total_cmp(&b.at_s()));
    for moment in &mut all {
        moment.what = with_action(recording, &moment.what);
    }
    all
}

/// Returns the name of an action, followed by its type and target.
fn with_action(recording: &Recording, what: &str) -> String {
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
fn other_status(recording: &Recording, run: &Run<'_>) -> Vec<Moment> {
    let (recorded, simulated) = (recorded_states(recording), run.history.states());
    let same = recorded.iter().zip(&simulated);
    let same = same.take_while(|(r, s)| r.1 == s.1).count();
    let text = |state| format!("status {}", state_text(state));
    let r = recorded.get(same);
    let r = r.map(|(at_s, state)| Moment::new(text(state), Some(*at_s), None));
    let s = simulated.get(same);
    let s = s.map(|(at_s, state)| Moment::new(text(state), None, Some(*at_s)));
    let mut all: Vec<Moment> = r.into_iter().chain(s).collect();
    all.iter_mut().for_each(|moment| moment.differs = true);
    all
}

/// Compares which pods exist, but not their creation times. The nth pod of an index and attempt matches the nth.
fn pods(recording: &Recording, run: &Run<'_>) -> Vec<Moment> {
    let of_pods = |all: Vec<Step>, start_s: f64| -> BTreeMap<String, f64> {
        let created = all
            .into_iter()
            .filter(|s| matches!(s.object, Object::Pod { .. }) && s.what == What::Created);
        let named = created.map(|step| (step.to_string(), step.at_s - start_s));
        named.collect()
    };
    let recorded = of_pods(steps::recorded(recording), 0.0);
    let simulated = run.steps.named(recording, run.names);
    let simulated = of_pods(simulated, run.history.created_s());
    let only_simulated = simulated.keys().filter(|k| !recorded.contains_key(*k));
    let moment = |what: &String| {
        let (r, s) = (recorded.get(what).copied(), simulated.get(what).copied());
        let mut moment = Moment::new(what.clone(), r, s);
        moment.differs = r.is_none() || s.is_none();
        moment
    };
    recorded.keys().chain(only_simulated).map(moment).collect()
}

fn of_milestone(milestone: &Milestone) -> Moment {
    let (r, s) = (milestone.recorded_s, milestone.simulated_s);
    let mut moment = Moment::new(milestone.name.clone(), r, s);
    let compared = milestones::RECREATE.contains(&milestone.name.as_str())
        || milestones::IN_PLACE.contains(&milestone.name.as_str());
    let in_band = r
        .zip(s)
        .is_some_and(|(r, s)| (s - r).abs() <= bands::band(r));
    moment.differs = compared && r.is_some() && !in_band;
    moment
}

fn late(milestone: &Milestone) -> Option<Difference> {
    let moment = of_milestone(milestone);
    let (r, s) = (moment.recorded_s, moment.simulated_s);
    let path = format!("milestones: {}", moment.what);
    moment.differs.then(|| Difference::new(path, r, s))
}
