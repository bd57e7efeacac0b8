//! Compares times: each status change of the JobSet, and the creation, deletion and removal of each Job.
//!
//! The lag of a step is its recorded minus its simulated time. A step is in time if its lag is within the band of
//! 1.5 s or 10 % of the recorded time, whichever is greater. Delays of the recording machine accumulate along a chain
//! of steps, so a later step is also in time if its lag exceeds the lag of the preceding step by at most one band and
//! is at most 4 s or 20 % of the recorded time. Actions of the user are not steps. Times in the last second are not
//! compared.

use super::DecisionRun;
use super::admissions;
use super::mask::VolatileMask;
use super::sequence::{compared_until_s, recorded_states, state_text};
use super::time_tolerance::TimeTolerance;
use crate::validate::recording::{RecordedRun, RecordingKind};
use crate::validate::result::{ComparedMoment, RecordedDifference};
use crate::validate::steps::{self, RecordedStep, StepAction, StepObject};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const MIN_TOTAL_LAG_S: f64 = 4.0;
const RELATIVE_TOTAL_LAG: f64 = 0.20;

/// Returns whether a step with this lag is in time. `lag_before_s` is the lag of the preceding step.
fn is_in_time(band_s: f64, recorded_s: f64, lag_s: f64, lag_before_s: f64) -> bool {
    let max_lag_s = MIN_TOTAL_LAG_S.max(RELATIVE_TOTAL_LAG * recorded_s);
    lag_s.abs() <= band_s || (lag_s > 0.0 && lag_s - lag_before_s <= band_s && lag_s <= max_lag_s)
}

pub fn compare(recording: &RecordedRun, run: &DecisionRun<'_>, out: &mut Vec<RecordedDifference>) {
    let mut moments = compared_moments(recording, run);
    let tolerance = TimeTolerance::new(recording);
    let lags = mark_differences(&mut moments, tolerance);
    for moment in moments.iter().filter(|m| m.differs) {
        let rounded = |s: Option<f64>| json!(s.map(|s| (s * 1e3).round() / 1e3));
        let path = format!("times: {}", moment.what);
        let (r, s) = (moment.recorded_s, moment.simulated_s);
        out.push(RecordedDifference::new(path, rounded(r), rounded(s)));
    }
    compare_counts(recording, run, tolerance, &lags, out);
}

/// Returns all instants that have a tolerance, in order of time.
pub fn compared_moments(recording: &RecordedRun, run: &DecisionRun<'_>) -> Vec<ComparedMoment> {
    let until_s = compared_until_s(recording);
    let mut moments = status_moments(recording, run);
    moments.extend(admissions::moments(recording, run));
    moments.extend(job_moments(recording, run));
    // Jobs among the objects of the cluster exist before the JobSet.
    moments.retain(|moment| (0.0..=until_s).contains(&moment.at_s()));
    moments.sort_by(|a, b| a.at_s().total_cmp(&b.at_s()));
    moments
}

/// Marks the instants that differ. Returns how much later each recorded time is than the simulated one, as (recorded
/// time, lag) in seconds.
pub fn mark_differences(moments: &mut [ComparedMoment], tolerance: TimeTolerance) -> Vec<(f64, f64)> {
    let mut lags = vec![(0.0, 0.0)];
    // A step of one JobSet may follow a step of another one, which waits for its quota.
    let mut latest: BTreeMap<Option<String>, f64> = BTreeMap::new();
    for moment in moments {
        let both = moment.recorded_s.zip(moment.simulated_s);
        let lag_before_s = latest.values().copied().reduce(f64::max).unwrap_or(0.0);
        moment.differs = !both.is_some_and(|(r, s)| is_in_time(tolerance.band_s(r), r, r - s, lag_before_s));
        if let Some((r, s)) = both {
            latest.insert(moment.other_jobset.clone(), r - s);
            let lag_s = latest.values().copied().reduce(f64::max).unwrap_or(0.0);
            lags.push((r, lag_s));
        }
    }
    lags
}

/// Returns the user actions, which happen at the same time on both sides and are not compared.
pub fn action_moments(recording: &RecordedRun) -> Vec<ComparedMoment> {
    let actions = recording.script.actions.iter().enumerate();
    let moment = |(i, action): (usize, &crate::validate::recording::ScriptAction)| {
        let at_s = Some(action.at_ms as f64 / 1e3);
        ComparedMoment::new(format!("action {i}"), at_s, at_s)
    };
    actions.map(moment).collect()
}

/// Pairs the nth status with the nth up to the first one that differs, which `sequence` reports.
pub fn status_moments(recording: &RecordedRun, run: &DecisionRun<'_>) -> Vec<ComparedMoment> {
    let (recorded, simulated) = (recorded_states(recording), run.history.states());
    let pairs = recorded.iter().zip(&simulated).take_while(|(r, s)| r.1 == s.1);
    let moment = |(r, s): (&(f64, _), &(f64, _))| {
        let what = format!("status {}", state_text(&r.1));
        ComparedMoment::new(what, Some(r.0), Some(s.0))
    };
    pairs.map(moment).collect()
}

/// Pairs the nth step of an object and kind with the nth. Where ties decide which Jobs are affected, all Jobs of a
/// replicatedJob are one object.
fn job_moments(recording: &RecordedRun, run: &DecisionRun<'_>) -> Vec<ComparedMoment> {
    let start_s = run.history.created_s();
    let mask = VolatileMask::new(run.names, recording.kind);
    let recorded = step_times(&steps::recorded_steps(recording), 0.0, &mask);
    let simulated = step_times(&run.steps.recorded_steps(recording, run.names), start_s, &mask);
    let keys: BTreeSet<&(String, StepAction)> = recorded.keys().chain(simulated.keys()).collect();
    let mut moments = Vec::new();
    for key in keys {
        let other_jobset = other_jobset(recording, run, &key.0);
        let times = |side: &BTreeMap<(String, StepAction), Vec<f64>>| side.get(key).cloned();
        let recorded = times(&recorded).unwrap_or_default();
        let simulated = times(&simulated).unwrap_or_default();
        let step = RecordedStep { object: StepObject::Job(key.0.clone()), action: key.1.clone(), at_s: 0.0 };
        for i in 0..recorded.len().max(simulated.len()) {
            let (recorded_s, simulated_s) = (recorded.get(i).copied(), simulated.get(i).copied());
            let moment = ComparedMoment::new(step.to_string(), recorded_s, simulated_s);
            moments.push(ComparedMoment { other_jobset: other_jobset.clone(), ..moment });
        }
    }
    moments
}

/// Returns the name of the JobSet of a Job if it is not the recorded one; only with Kueue, which lets one JobSet wait
/// for another.
fn other_jobset(recording: &RecordedRun, run: &DecisionRun<'_>, job: &str) -> Option<String> {
    let found = run.names.jobs.iter().find(|row| row.name == job && row.jobset.is_some())?;
    let jobset = run.names.jobset(found.jobset);
    let is_other = recording.kind == RecordingKind::KueueLive && jobset != recording.jobset_name();
    is_other.then(|| jobset.to_owned())
}

fn step_times(steps: &[RecordedStep], start_s: f64, mask: &VolatileMask) -> BTreeMap<(String, StepAction), Vec<f64>> {
    let mut times: BTreeMap<(String, StepAction), Vec<f64>> = BTreeMap::new();
    for step in steps {
        if let (StepObject::Job(name), StepAction::Created | StepAction::Deleting | StepAction::Gone) =
            (&step.object, &step.action)
        {
            let name = if mask.has_ties { mask.mask_names(name) } else { name.clone() };
            times.entry((name, step.action.clone())).or_default().push(step.at_s - start_s);
        }
    }
    times.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

/// Compares Job counts that lasted longer than both tolerances: the run must have the same counts during that time.
/// `lags` contains the delay of each recorded step relative to the run.
fn compare_counts(
    recording: &RecordedRun, run: &DecisionRun<'_>, tolerance: TimeTolerance, lags: &[(f64, f64)],
    out: &mut Vec<RecordedDifference>,
) {
    let until_s = compared_until_s(recording);
    let simulated = &run.history.counts();
    let recorded = recorded_counts(recording);
    for (i, (from_s, counts)) in recorded.iter().enumerate() {
        let to_s = recorded.get(i + 1).map_or(until_s, |(at_s, _)| *at_s);
        let lag_s = lags.iter().rev().find(|(at_s, _)| at_s <= from_s);
        let max_lag_s = MIN_TOTAL_LAG_S.max(RELATIVE_TOTAL_LAG * from_s);
        let lag_s = lag_s.map_or(0.0, |(_, lag)| lag.clamp(0.0, max_lag_s));
        let (early_s, late_s) = (from_s + tolerance.band_s(*from_s), to_s - tolerance.band_s(to_s));
        if early_s > late_s {
            continue;
        }
        let held = |shift_s: f64| {
            let mut at_once = (0..simulated.len()).filter(|k| {
                let ends_s = simulated.get(k + 1).map_or(f64::INFINITY, |(at_s, _)| *at_s);
                simulated[*k].0 <= late_s - shift_s && ends_s > early_s - shift_s
            });
            at_once.any(|k| simulated[k].1 == *counts)
        };
        if !held(0.0) && !held(lag_s) {
            let path = format!("times: counts from {from_s:.3} to {to_s:.3} s");
            let seen = simulated.iter().rev().find(|(at_s, _)| *at_s <= early_s);
            out.push(RecordedDifference::new(path, counts_text(counts), json!(seen.map(|s| counts_text(&s.1)))));
        }
    }
}

fn counts_text([ready, succeeded, failed, active, suspended]: &[u32; 5]) -> String {
    format!("ready {ready} succeeded {succeeded} failed {failed} active {active} suspended {suspended}")
}

/// Returns the sums over the replicatedJobs after each change.
fn recorded_counts(recording: &RecordedRun) -> Vec<(f64, [u32; 5])> {
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

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions/tolerances.rs"]
mod tests;
