//! The milestones of one restart as reported by `run`, with the names used in recordings of kind `times`.
//!
//! Milestones are determined by `metrics::RestartFold`, which also provides those of the waterfall.

use sim_analysis::metrics::{Milestone, RestartMetrics};
use std::collections::BTreeMap;

/// Milestones of a recreated JobSet, in display order.
pub const RECREATE: [&str; 14] = [
    "failureTarget", "jobFailed", "restartCounted", "firstJobDeleting", "firstJobGone", "lastJobGone",
    "lastOldPodGone", "firstJobCreated", "lastJobCreated", "firstPodCreated", "lastPodCreated", "lastPodBound",
    "lastPodReady", "jobsReady",
];
pub const IN_PLACE: [&str; 6] =
    ["previousWritten", "attemptsFirst", "attemptsLast", "currentWritten", "firstReady", "lastReady"];

/// Returns the milestone that ends a restart: all pods are ready again.
pub fn final_milestone(in_place: bool) -> &'static str {
    if in_place { "lastReady" } else { "lastPodReady" }
}

/// Returns the seconds from the status of the failing pod to each milestone that was reached. In a restart in place
/// the pod remains, and its status is observed as not ready.
pub fn seconds(restart: &RestartMetrics, in_place: bool, origin: Option<&str>) -> BTreeMap<&'static str, f64> {
    let (start, names): (_, &[&'static str]) =
        if in_place { (Milestone::PodNotReady, &IN_PLACE) } else { (Milestone::PodFailed, &RECREATE) };
    let start = match origin {
        None => Some(start),
        Some(origin) => parse_milestone(origin),
    };
    let Some(start) = start.and_then(|start| restart.milestone(start)) else {
        return BTreeMap::new();
    };
    let at = |name: &&'static str| {
        let at = restart.milestone(parse_milestone(name)?)?;
        Some((*name, at.seconds() - start.seconds()))
    };
    names.iter().filter_map(at).collect()
}

/// Returns the milestone with this name in recordings.
fn parse_milestone(name: &str) -> Option<Milestone> {
    let name = match name {
        "lastPodReady" => "lastReady",
        name => name,
    };
    Milestone::ALL.into_iter().find(|m| m.as_str() == name)
}
