//! Compares times: each status change of the JobSet, and the creation, deletion and removal of each Job.
//!
//! The tolerance of a step is 1.5 s or 10 % of the recorded time, whichever is greater. Delays of the recording
//! machine accumulate along a chain of steps. Therefore a step outside its tolerance still matches if its distance
//! from the preceding step differs by at most 1.5 s from the recording. A delay is thus reported once, where it
//! arises, as in `nodes`. Times in the last second are not compared.

use super::Run;
use super::sequence::{compared_until_s, recorded_states, state_text};
use crate::validate::recording::Recording;
use crate::validate::result::{Difference, Moment};
use crate::validate::steps::{self, Object, Step, What};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const LEAST_S: f64 = 1.5;
const SHARE: f64 = 0.10;

pub fn band(recorded_s: f64) -> f64 {
    LEAST_S.max(SHARE * recorded_s)
}

pub fn compare(recording: &Recording, run: &Run<'_>, out: &mut Vec<Difference>) {
    let mut moments = moments(recording, run);
    let lags = judge(&mut moments);
    for moment in moments.iter().filter(|m| m.differs) {
        let rounded = |s: Option<f64>| json!(s.map(|s| (s * 1e3).round() / 1e3));
        let path = format!("times: {}", moment.what);
        let (r, s) = (moment.recorded_s, moment.simulated_s);
        out.push(Difference::new(path, rounded(r), rounded(s)));
    }
    counts(recording, run, compared_until_s(recording), &lags, out);
}

/// Returns all instants that have a tolerance, in order of time.
pub fn moments(recording: &Recording, run: &Run<'_>) -> Vec<Moment> {
    let until_s = compared_until_s(recording);
    let mut moments = actions(recording);
    moments.extend(statuses(recording, run));
    moments.extend(jobs(recording, run));
    moments.retain(|moment| moment.at_s() <= until_s);
    moments.sort_by(|a, b| a.at_s().total_cmp(&b.at_s()));
    moments
}

/// Marks the instants that differ. Returns how much later each recorded time is than the simulated one, as (recorded
/// time, lag) in seconds.
pub fn judge(moments: &mut [Moment]) -> Vec<(f64, f64)> {
    let mut lags = vec![(0.0, 0.0)];
    for moment in moments {
        let both = moment.recorded_s.zip(moment.simulated_s);
        let lag_before = lags.last().map_or(0.0, |(_, lag)| *lag);
        moment.differs = !both.is_some_and(|(r, s)| {
            let lag_s = r - s;
            lag_s.abs() <= band(r) || (lag_s - lag_before).abs() <= LEAST_S
        });
        if let Some((r, s)) = both {
            lags.push((r, r - s));
        }
    }
    lags
}

/// Returns the user actions. They happen at the same time in both, so the lag starts again at 0.
pub fn actions(recording: &Recording) -> Vec<Moment> {
    let actions = recording.script.actions.iter().enumerate();
    let moment = |(i, action): (usize, &crate::validate::recording::Action)| {
        let at_s = Some(action.at_ms as f64 / 1e3);
        Moment::new(format!("action {i}"), at_s, at_s)
    };
    actions.map(moment).collect()
}

/// Pairs the nth status with the nth up to the first one that differs, which `sequence` reports.
pub fn statuses(recording: &Recording, run: &Run<'_>) -> Vec<Moment> {
    let (recorded, simulated) = (recorded_states(recording), run.history.states());
    let pairs = recorded
        .iter()
        .zip(&simulated)
        .take_while(|(r, s)| r.1 == s.1);
    let moment = |(r, s): (&(f64, _), &(f64, _))| {
        let what = format!("status {}", state_text(&r.1));
        Moment::new(what, Some(r.0), Some(s.0))
    };
    pairs.map(moment).collect()
}

/// Pairs the nth step of an object and kind with the nth.
fn jobs(recording: &Recording, run: &Run<'_>) -> Vec<Moment> {
    let start_s = run.history.created_s();
    let recorded = for_jobs(&steps::recorded(recording), 0.0);
    let simulated = for_jobs(&run.steps.named(recording, run.names), start_s);
    let keys: BTreeSet<&(String, What)> = recorded.keys().chain(simulated.keys()).collect();
    let mut moments = Vec::new();
    for key in keys {
        let times = |side: &BTreeMap<(String, What), Vec<f64>>| side.get(key).cloned();
        let recorded = times(&recorded).unwrap_or_default();
        let simulated = times(&simulated).unwrap_or_default();
        let step = Step {
            object: Object::Job(key.0.clone()),
            what: key.1.clone(),
            at_s: 0.0,
        };
        for i in 0..recorded.len().max(simulated.len()) {
            let (recorded_s, simulated_s) = (recorded.get(i).copied(), simulated.get(i).copied());
            moments.push(Moment::new(step.to_string(), recorded_s, simulated_s));
        }
    }
    moments
}

fn for_jobs(steps: &[Step], start_s: f64) -> BTreeMap<(String, What), Vec<f64>> {
    let mut times: BTreeMap<(String, What), Vec<f64>> = BTreeMap::new();
    for step in steps {
        if let (Object::Job(name), What::Created | What::Deleting | What::Gone) =
            (&step.object, &step.what)
        {
            let key = (name.clone(), step.what.clone());
            times.entry(key).or_default().push(step.at_s - start_s);
        }
    }
    times
}

/// Compares Job counts that lasted longer than both tolerances: the run must have the same counts during that time.
/// `lags` contains the delay of each recorded step relative to the run.
fn counts(
    recording: &Recording,
    run: &Run<'_>,
    until_s: f64,
    lags: &[(f64, f64)],
    out: &mut Vec<Difference>,
) {
    let simulated = &run.history.counts();
    let recorded = recorded_counts(recording);
    for (i, (from_s, counts)) in recorded.iter().enumerate() {
        let to_s = recorded.get(i + 1).map_or(until_s, |(at_s, _)| *at_s);
        let lag_s = lags.iter().rev().find(|(at_s, _)| at_s <= from_s);
        let lag_s = lag_s.map_or(0.0, |(_, lag)| *lag);
        let (early_s, late_s) = (from_s + band(*from_s), to_s - band(to_s));
        if early_s > late_s {
            continue;
        }
        let held = |shift_s: f64| {
            let mut at_once = (0..simulated.len()).filter(|k| {
                let ends_s = simulated
                    .get(k + 1)
                    .map_or(f64::INFINITY, |(at_s, _)| *at_s);
                simulated[*k].0 <= late_s - shift_s && ends_s > early_s - shift_s
            });
            at_once.any(|k| simulated[k].1 == *counts)
        };
        if !held(0.0) && !held(lag_s) {
            let path = format!("times: counts from {from_s:.3} to {to_s:.3} s");
            let seen = simulated.iter().rev().find(|(at_s, _)| *at_s <= early_s);
            out.push(Difference::new(
                path,
                text(counts),
                json!(seen.map(|s| text(&s.1))),
            ));
        }
    }
}

fn text([ready, succeeded, failed, active, suspended]: &[u32; 5]) -> String {
    format!(
        "ready {ready} succeeded {succeeded} failed {failed} active {active} suspended {suspended}"
    )
}

/// Returns the sums over the replicatedJobs after each change.
fn recorded_counts(recording: &Recording) -> Vec<(f64, [u32; 5])> {
    let mut all: Vec<(f64, [u32; 5])> = vec![(0.0, [0; 5])];
    let statuses = recording.log.iter();
    for entry in statuses.filter(|e| e.kind == "JobSet" && e.what == "status") {
        let rows = entry.detail["replicatedJobsStatus"].as_array();
        let sum = |key: &str| {
            let rows = rows.into_iter().flatten();
            rows.filter_map(|row| row[key].as_u64()).sum::<u64>() as u32
        };
        let counts = ["ready", "succeeded", "failed", "active", "suspended"].map(sum);
        if all.last().is_none_or(|(_, last)| *last != counts) {
            all.push((entry.at_ms as f64 / 1e3, counts));
        }
    }
    all
}
