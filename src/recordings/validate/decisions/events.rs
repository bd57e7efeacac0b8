//! Compares Kubernetes Events on the JobSet and its Jobs, and FailedScheduling Events on pods.
//!
//! Events are compared as a set, so repetitions are not counted. Events that differ between runs of the real system
//! are skipped, each with its source.

use super::mask::VolatileMask;
use super::pods::AmbiguousPods;
use super::{DecisionRun, compare_multisets};
use crate::validate::recording::{EventRow, RecordedRun};
use crate::validate::result::RecordedDifference;

const FAILED_SCHEDULING: &str = "FailedScheduling";

/// An Event as object, type, reason and message.
type EventTuple = (String, String, String, String);

pub fn compare(
    recording: &RecordedRun,
    run: &DecisionRun<'_>,
    mask: &VolatileMask,
    either_way: &AmbiguousPods,
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
    let rules = EventRaces {
        jobset,
        ambiguous: either_way,
    };
    compare_multisets("events", rules.texts(&recorded), rules.texts(&simulated), out);
}

/// Rules for Events that depend on a race and not on a decision.
struct EventRaces<'a> {
    jobset: &'a str,
    ambiguous: &'a AmbiguousPods,
}

impl EventRaces<'_> {
    fn texts(&self, events: &[EventTuple]) -> Vec<String> {
        let decided = events.iter().filter(|e| !self.is_race(e, events));
        let mut texts: Vec<String> = decided
            .map(|(object, kind, reason, message)| format!("{object} {kind} {reason}: {message}"))
            .collect();
        texts.sort();
        texts.dedup();
        texts
    }

    fn is_race(&self, (object, _, reason, message): &EventTuple, events: &[EventTuple]) -> bool {
        match reason.as_str() {
            // Depends on a race between caches.
            "JobCreationFailed" => message.contains("already exists"),
            // D-9: emitted zero to two times before the leader is observed on its node, which varies between runs.
            // If the followers are never created, the Events are compared.
            "FailedCreate" => {
                message.contains("follower pod node selector not set")
                    && events.iter().any(|(other, _, reason, message)| {
                        other == object && reason == "SuccessfulCreate" && is_follower(message)
                    })
            }
            // The pod's outcome is ambiguous: it ended before its deletion or because of it.
            "SuccessfulDelete" => {
                let pod = message.rsplit(' ').next().unwrap_or("");
                let place = pod.strip_suffix("-<rand>").unwrap_or(pod);
                let own = place.strip_prefix(self.jobset).unwrap_or("");
                self.ambiguous.contains(own.trim_start_matches('-'))
            }
            _ => false,
        }
    }
}

/// Returns whether a message `Created pod: js-w-0-1-<rand>` has an index other than 0.
fn is_follower(message: &str) -> bool {
    let place = message.strip_suffix("-<rand>").unwrap_or(message);
    let index = place.rsplit('-').next().unwrap_or("");
    index.parse::<u32>().is_ok_and(|index| index > 0)
}
