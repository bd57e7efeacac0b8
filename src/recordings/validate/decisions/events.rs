//! Compares Kubernetes Events on the JobSet and its Jobs, and FailedScheduling Events on pods.
//!
//! Events are compared as a set, so repetitions are not counted. Events that differ between runs of the real system
//! are skipped, each with its source.

use super::exit_races::ExitRaces;
use super::mask::VolatileMask;
use super::{DecisionRun, compare_multisets};
use crate::validate::recording::{EventRow, RecordedRun};
use crate::validate::result::RecordedDifference;
use std::collections::BTreeMap;

const FAILED_SCHEDULING: &str = "FailedScheduling";

/// An Event as object, type, reason and message.
type EventTuple = (String, String, String, String);

pub fn compare(
    recording: &RecordedRun, run: &DecisionRun<'_>, mask: &VolatileMask, exit_races: &ExitRaces<'_>,
    out: &mut Vec<RecordedDifference>,
) {
    let jobset = recording.jobset_name();
    let object = format!("JobSet/{jobset}");
    let is_compared = |e: &&EventRow| {
        e.object == object
            || e.object.starts_with("Job/")
            || (e.object.starts_with("Pod/") && e.reason == FAILED_SCHEDULING)
    };
    // The recorder masked only the names of the JobSet's own pods.
    let recorded = recording.events.iter().filter(is_compared).map(|e| {
        let texts = (mask.mask_names(&e.object), mask.mask_names(&e.message));
        (texts.0, e.kind.clone(), e.reason.clone(), texts.1)
    });
    let simulated = run.history.events.iter().map(|e| {
        let kind = if e.warning { "Warning" } else { "Normal" };
        let (object, message) = (mask.mask_names(&e.object(jobset)), mask.mask_names(&e.message));
        (object, kind.to_owned(), e.reason.clone(), message)
    });
    let (recorded, simulated): (Vec<EventTuple>, Vec<EventTuple>) = (recorded.collect(), simulated.collect());
    let rules = EventRaces { exit_races, rejections: rejection_rules(recording) };
    let simulated = rules.texts(&simulated, Some(&recorded));
    compare_multisets("events", rules.texts(&recorded, None), simulated, out);
}

/// Texts by which `vpod.kb.io` rejects a follower whose leader is not bound (D-9). `*` is any text without a line
/// break.
const FOLLOWER_REJECTIONS: [&str; 4] = [
    "follower pod node selector not set",
    "follower pod node selector for topology domain not found. missing selector: *",
    "expected 1 leader pod (*), but got *. this is an expected, transient error",
    "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error",
];
const FOLLOWER_WEBHOOK: &str = "admission webhook \"vpod.kb.io\" denied the request: ";
/// Longest time in milliseconds for which a leader waits for a node without all rejections being compared.
const SHORT_LEADER_WAIT_MS: u64 = 2000;

/// Comparison of the rejections of a Job's followers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum RejectionRule {
    /// The followers were created later, so the number of rejections is a race.
    Ignored,
    /// No follower was ever created.
    Compared,
    /// The leader waited for a node, so every recorded text must be simulated. More texts are accepted.
    RecordedOnly,
}

/// Rules for Events that depend on a race and not on a decision.
struct EventRaces<'a> {
    exit_races: &'a ExitRaces<'a>,
    rejections: BTreeMap<String, RejectionRule>,
}

impl EventRaces<'_> {
    fn texts(&self, events: &[EventTuple], others: Option<&[EventTuple]>) -> Vec<String> {
        let compared = events.iter().filter(|e| !self.is_race(e, others));
        let mut texts: Vec<String> = compared
            .filter_map(|(object, kind, reason, message)| {
                let message = without_existing_jobs(reason, message)?;
                Some(format!("{object} {kind} {reason}: {message}"))
            })
            .collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// Returns whether an Event is not compared. `recorded` are the recorded Events, if the Event is simulated.
    fn is_race(&self, event: &EventTuple, recorded: Option<&[EventTuple]>) -> bool {
        let (object, _, reason, message) = event;
        match reason.as_str() {
            "FailedCreate" if is_follower_rejection(message) => {
                match self.rejections.get(object).unwrap_or(&RejectionRule::Compared) {
                    RejectionRule::Ignored => true,
                    RejectionRule::Compared => false,
                    RejectionRule::RecordedOnly => recorded.is_some_and(|all| !all.contains(event)),
                }
            }
            "SuccessfulDelete" => self.exit_races.has_pod_named(message.rsplit(' ').next().unwrap_or("")),
            _ => false,
        }
    }
}

/// Returns the message without the sentences that depend on a race between caches; `None` if nothing is left.
fn without_existing_jobs(reason: &str, message: &str) -> Option<String> {
    if reason != "JobCreationFailed" {
        return Some(message.to_owned());
    }
    let sentences: Vec<&str> = message.lines().filter(|line| !line.ends_with("already exists")).collect();
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

fn is_follower_rejection(message: &str) -> bool {
    let text = message.split_once(FOLLOWER_WEBHOOK).map(|(_, text)| text);
    text.is_some_and(|text| FOLLOWER_REJECTIONS.iter().any(|pattern| matches_pattern(text, pattern)))
}

fn matches_pattern(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns the rule for each Job, by the text of its Events' object. Jobs without pods are absent.
fn rejection_rules(recording: &RecordedRun) -> BTreeMap<String, RejectionRule> {
    let end_ms = recording.played_for_ms.unwrap_or(0);
    let mut jobs: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for pod in &recording.pods.0 {
        let job = format!("Job/{}-{}-{}", recording.jobset_name(), pod.replicated_job, pod.job_index);
        let (has_follower, leader_waited) = jobs.entry(job).or_default();
        if pod.pod_index > 0 {
            *has_follower = true;
            continue;
        }
        let waited_until_ms = pod.bound_ms.or(pod.deleting_ms).or(pod.gone_ms).unwrap_or(end_ms);
        let waited_ms = waited_until_ms.saturating_sub(pod.created_ms.unwrap_or(0));
        *leader_waited |= waited_ms > SHORT_LEADER_WAIT_MS;
    }
    let rule = |(job, (has_follower, leader_waited))| match (has_follower, leader_waited) {
        (false, _) => (job, RejectionRule::Compared),
        (true, true) => (job, RejectionRule::RecordedOnly),
        (true, false) => (job, RejectionRule::Ignored),
    };
    jobs.into_iter().map(rule).collect()
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions/events.rs"]
mod tests;
