//! Compares all Job objects that ever existed, as a multiset: attempt, existence, suspension, conditions and
//! counters.
//!
//! The condition Suspended is skipped, because `suspended` contains the same information. If a Job has pods with an
//! ambiguous outcome, only the number of its pods is compared.

use super::mask::VolatileMask;
use super::pods::AmbiguousPods;
use super::{DecisionRun, compare_multisets, condition_text};
use crate::validate::recording::RecordedRun;
use crate::validate::result::RecordedDifference;
use std::collections::BTreeMap;

const SUSPENDED: &str = "Suspended=";

pub fn compare(
    recording: &RecordedRun,
    run: &DecisionRun<'_>,
    mask: &VolatileMask,
    either_way: &AmbiguousPods,
    out: &mut Vec<RecordedDifference>,
) {
    let prefix = format!("{}-", recording.jobset_name());
    let loose = |name: &str, attempt: &str| {
        let own = name.strip_prefix(&prefix);
        own.is_some_and(|own| either_way.has_pod_of_job(own, attempt))
    };
    let terminating = recorded_terminating(recording);
    let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
    let mut recorded = Vec::new();
    for j in &recording.jobs {
        let object = nth.entry(&j.name).or_default();
        let known = terminating.get(&(j.name.as_str(), *object)).copied();
        *object += 1;
        let counters = RecordedCounters {
            numbers: [j.active, j.ready, j.succeeded, j.failed],
            terminating: j.terminating.or(known),
            compares_only_sum: loose(&j.name, &j.restart_attempt),
        };
        let conditions: Vec<&str> = j.conditions.iter().map(String::as_str).collect();
        let flags = (j.exists, j.suspended);
        let text = job_text((&j.name, &j.restart_attempt), flags, &counters, &conditions);
        recorded.push((text, counters.terminating.is_some()));
    }
    // The number of terminating pods is compared only if it was recorded.
    let with_terminating = recorded.iter().all(|(_, known)| *known);
    // Jobs of other JobSets in the same namespace are included.
    let all_jobs = run.outcome.jobsets.iter().flat_map(|js| &js.jobs);
    let simulated = all_jobs.map(|j| {
        let conditions: Vec<String> = j.conditions.iter().map(|c| condition_text(c, mask)).collect();
        let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
        let name = run.names.job(j.job);
        let counters = RecordedCounters {
            numbers: [j.active, j.ready, j.succeeded, j.failed],
            terminating: with_terminating.then_some(j.terminating),
            compares_only_sum: loose(name, &j.restart_attempt),
        };
        let flags = (j.exists, j.suspended);
        job_text((name, &j.restart_attempt), flags, &counters, &conditions)
    });
    let recorded = recorded.into_iter().map(|(text, _)| text);
    compare_multisets("jobs", recorded.collect(), simulated.collect(), out);
}

/// Counters of a Job's status.
struct RecordedCounters {
    /// Numbers of active, ready, succeeded and failed pods.
    numbers: [u32; 4],
    terminating: Option<u32>,
    /// Whether only the sum of the counters is compared.
    compares_only_sum: bool,
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
                let mut found = counts.filter_map(|c| c.strip_prefix("terminating="));
                let n = found.next().and_then(|n| n.parse().ok());
                if let (Some(n), Some(objects)) = (n, objects.get(entry.name.as_str())) {
                    last.insert((entry.name.as_str(), objects - 1), n);
                }
            }
            _ => {}
        }
    }
    last
}

fn job_text(
    (name, attempt): (&str, &str),
    (exists, suspended): (bool, bool),
    counters: &RecordedCounters,
    conditions: &[&str],
) -> String {
    let conditions: Vec<&str> = conditions
        .iter()
        .copied()
        .filter(|c| !c.starts_with(SUSPENDED))
        .collect();
    let mut text = format!("{name} restart-attempt={attempt}");
    text += if exists { " exists" } else { " gone" };
    if suspended {
        text += " suspended";
    }
    let [active, ready, succeeded, failed] = counters.numbers;
    if counters.compares_only_sum {
        text += &format!(" pods={}", active + succeeded + failed);
    } else {
        text += &format!(" active={active} ready={ready} succeeded={succeeded} failed={failed}");
        if let Some(n) = counters.terminating {
            text += &format!(" terminating={n}");
        }
    }
    format!("{text} [{}]", conditions.join(", "))
}
