//! The milestones of one restart as `run` reports them, in the words of the recordings of kind `times`.
//!
//! Must never find a milestone itself: `metrics::RestartFold` does, for the waterfall as for this.

use sim_analysis::metrics::{Milestone, Restart};
use std::collections::BTreeMap;

/// Names in the order in which they are shown.
pub const RECREATE: [&str; 14] = [
    "failureTarget",
    "jobFailed",
    "restartCounted",
    "firstJobDeleting",
    "firstJobGone",
    "lastJobGone",
    "lastOldPodGone",
    "firstJobCreated",
    "lastJobCreated",
    "firstPodCreated",
    "lastPodCreated",
    "lastPodBound",
    "lastPodReady",
    "jobsReady",
];
pub const IN_PLACE: [&str; 6] = [
    "previousWritten",
    "attemptsFirst",
    "attemptsLast",
    "currentWritten",
    "firstReady",
    "lastReady",
];

/// The milestone that ends a restart: all pods ready again.
pub fn total(in_place: bool) -> &'static str {
    if in_place {
        "lastReady"
    } else {
        "lastPodReady"
    }
}

/// Seconds from the failing pod's status to each milestone that was reached. In place the pod stays: its status is seen
/// as not ready.
pub fn seconds(
    restart: &Restart,
    in_place: bool,
    origin: Option<&str>,
) -> BTreeMap<&'static str, f64> {
    let (start, names): (_, &[&'static str]) = match in_place {
        true => (Milestone::PodNotReady, &IN_PLACE),
        false => (Milestone::PodFailed, &RECREATE),
    };
    let start = match origin {
        None => Some(start),
        Some(origin) => named(origin),
    };
    let Some(start) = start.and_then(|start| restart.milestone(start)) else {
        return BTreeMap::new();
    };
    let at = |name: &&'static str| {
        let at = restart.milestone(named(name)?)?;
        Some((*name, at.seconds() - start.seconds()))
    };
    names.iter().filter_map(at).collect()
}

/// The milestone that recordings call so.
fn named(name: &str) -> Option<Milestone> {
    let name = match name {
        "lastPodReady" => "lastReady",
        name => name,
    };
    Milestone::ALL.into_iter().find(|m| m.as_str() == name)
}
