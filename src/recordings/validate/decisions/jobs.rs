//! Compares all Job objects that ever existed, as a multiset: attempt, existence, suspension, conditions and
//! counters. Jobs that belong to no JobSet are included.
//!
//! The condition Suspended is skipped, because `suspended` contains the same information. If a pod of a Job may have
//! ended either way, only the number of its pods is compared.

use super::exit_races::ExitRaces;
use super::mask::VolatileMask;
use super::{DecisionRun, compare_multisets, condition_text};
use crate::validate::recording::{JobRow, RecordedRun};
use crate::validate::result::RecordedDifference;
use std::collections::BTreeMap;

const SUSPENDED: &str = "Suspended=";

pub fn compare(
    recording: &RecordedRun, run: &DecisionRun<'_>, mask: &VolatileMask, exit_races: &ExitRaces<'_>,
    out: &mut Vec<RecordedDifference>,
) {
    let terminating = recorded_terminating(recording);
    let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
    let mut recorded = Vec::new();
    for job in &recording.jobs {
        let object = nth.entry(&job.name).or_default();
        let known = terminating.get(&(job.name.as_str(), *object)).copied();
        let row = JobRow { terminating: job.terminating.or(known), ..job.clone() };
        recorded.push((row, exit_races.has_pod_of_recorded_job(&job.name, *object)));
        *object += 1;
    }
    // The number of terminating pods is compared only if it was recorded.
    let with_terminating = recorded.iter().all(|(row, _)| row.terminating.is_some());
    // Jobs of other JobSets in the same namespace are included.
    let of_jobsets = run.outcome.jobsets.iter().flat_map(|js| &js.jobs);
    let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
    let mut simulated: Vec<(JobRow, bool)> = of_jobsets
        .map(|j| {
            let name = run.names.job(j.job);
            let object = nth.entry(name).or_default();
            let has_exit_race = exit_races.has_pod_of_simulated_job(name, *object);
            *object += 1;
            let row = JobRow {
                name: name.to_owned(),
                restart_attempt: j.restart_attempt.clone(),
                conditions: j.conditions.iter().map(|c| condition_text(c, mask)).collect(),
                suspended: j.suspended,
                exists: j.exists,
                active: j.active,
                ready: j.ready,
                succeeded: j.succeeded,
                failed: j.failed,
                terminating: Some(j.terminating),
            };
            (row, has_exit_race)
        })
        .collect();
    simulated.extend(run.history.other_jobs().map(|row| (mask_row(row, mask), false)));
    for (row, _) in simulated.iter_mut().filter(|_| !with_terminating) {
        row.terminating = None;
    }
    if mask.has_ties {
        let sums = |rows: Vec<(JobRow, bool)>| sums_over_jobs(rows, mask);
        return compare_multisets("jobs", sums(recorded), sums(simulated), out);
    }
    let texts = |rows: Vec<(JobRow, bool)>| rows.iter().map(|(row, only_sum)| job_text(row, *only_sum)).collect();
    compare_multisets("jobs", texts(recorded), texts(simulated), out);
}

/// Describes the Jobs of each replicatedJob and attempt together: their conditions, and the sums of their counters.
fn sums_over_jobs(rows: Vec<(JobRow, bool)>, mask: &VolatileMask) -> Vec<String> {
    let mut sums: BTreeMap<(String, String, bool), JobRow> = BTreeMap::new();
    for (row, _) in rows {
        let key = (mask.mask_names(&row.name), row.restart_attempt.clone(), row.exists);
        let name = key.0.clone();
        let no_pods = JobRow { active: 0, ready: 0, succeeded: 0, failed: 0, terminating: Some(0), ..row.clone() };
        let sum = sums.entry(key).or_insert(JobRow { name, conditions: Vec::new(), ..no_pods });
        sum.active += row.active;
        sum.ready += row.ready;
        sum.succeeded += row.succeeded;
        sum.failed += row.failed;
        sum.terminating = sum.terminating.zip(row.terminating).map(|(a, b)| a + b);
        sum.conditions.extend(row.conditions.iter().map(|c| mask.mask_names(c)));
        sum.conditions.sort();
        sum.conditions.dedup();
    }
    sums.values().map(|row| job_text(row, false)).collect()
}

fn mask_row(row: &JobRow, mask: &VolatileMask) -> JobRow {
    JobRow { conditions: row.conditions.iter().map(|c| mask.mask_names(c)).collect(), ..row.clone() }
}

/// Returns the last logged number of terminating pods for each Job object, by name and index among the objects of
/// that name.
fn recorded_terminating(recording: &RecordedRun) -> BTreeMap<(&str, usize), u32> {
    let mut objects: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last = BTreeMap::new();
    for entry in recording.log.iter().filter(|e| e.kind == "Job") {
        match entry.what.as_str() {
            "created" => *objects.entry(&entry.name).or_default() += 1,
            "counts" => {
                let counts = entry.detail.as_str().unwrap_or("").split(' ');
                let mut result = counts.filter_map(|c| c.strip_prefix("terminating="));
                let n = result.next().and_then(|n| n.parse().ok());
                if let (Some(n), Some(objects)) = (n, objects.get(entry.name.as_str())) {
                    last.insert((entry.name.as_str(), objects - 1), n);
                }
            }
            _ => {}
        }
    }
    last
}

/// Describes a Job. `only_sum` replaces the single counters by the number of pods.
fn job_text(job: &JobRow, only_sum: bool) -> String {
    let conditions: Vec<&str> = job.conditions.iter().map(String::as_str).collect();
    let conditions: Vec<&str> = conditions.into_iter().filter(|c| !c.starts_with(SUSPENDED)).collect();
    let mut text = format!("{} restart-attempt={}", job.name, job.restart_attempt);
    text += if job.exists { " exists" } else { " gone" };
    if job.suspended {
        text += " suspended";
    }
    if only_sum {
        let pods = job.active + job.terminating.unwrap_or(0) + job.succeeded + job.failed;
        text += &format!(" pods={pods}");
    } else {
        let (active, ready) = (job.active, job.ready);
        text += &format!(" active={active} ready={ready} succeeded={} failed={}", job.succeeded, job.failed);
        if let Some(n) = job.terminating {
            text += &format!(" terminating={n}");
        }
    }
    format!("{text} [{}]", conditions.join(", "))
}
