//! Estimates when each version of an object was written, from timestamps in whole seconds and the order of all writes.
//!
//! A watch does not record arrival times. However, every write to the cluster's store has a number, the resource
//! version, and some writes contain the server's time in seconds. A write therefore lies after all earlier writes
//! and before all later ones. Events have timestamps in nanoseconds; the change that an Event describes was written
//! before the Event.

use super::facts::ObservedFacts;
use super::facts::ObservedKind;
use super::object_version::{ObjectVersion, WatchEventKind};
use super::timestamp::{ClockTime, SECOND};
use std::collections::{BTreeMap, BTreeSet};

/// Write times of the observed versions.
pub struct WriteTime {
    /// Write time by position in the input; `None` if it is unknown.
    pub at: Vec<Option<ClockTime>>,
    /// Kinds whose resource versions do not fit those of other kinds, because they are kept in another store.
    pub separately_stored: Vec<ObservedKind>,
}

/// Bounds on the time of one write.
#[derive(Copy, Clone)]
struct TimeWindow {
    version: usize,
    low: u64,
    high: u64,
    /// Newest time in the object's status, if it is new in this version. The write is not earlier.
    status_time: Option<u64>,
}

/// Maximum delay, in nanoseconds, of a write by a kubelet's status manager after the second that it states. Used if
/// there are no other bounds.
const MAX_STATUS_DELAY: u64 = SECOND + SECOND / 10;

pub fn write_times(seen: &[ObjectVersion]) -> WriteTime {
    let all = windows_from_server_times(seen);
    let mut apart = Vec::new();
    let mut rest = all.clone();
    for kind in [ObservedKind::Event, ObservedKind::Node, ObservedKind::JobSet, ObservedKind::Job] {
        let of_kind = |w: &TimeWindow| seen[w.version].kind == kind;
        let fits = conflict_count(&rest) == 0;
        if fits {
            break;
        }
        let without: Vec<TimeWindow> = rest.iter().filter(|w| !of_kind(w)).copied().collect();
        // A kind is in a separate store only if its writes are consistent among themselves.
        let own: Vec<TimeWindow> = rest.iter().filter(|w| of_kind(w)).copied().collect();
        if conflict_count(&without) < conflict_count(&rest) && conflict_count(&own) == 0 {
            apart.push(kind);
            rest = without;
        }
    }
    let mut at = vec![None; seen.len()];
    let reports = event_times(seen);
    let mut groups = vec![rest];
    for kind in &apart {
        let own = all.iter().filter(|w| seen[w.version].kind == *kind);
        groups.push(own.copied().collect());
    }
    for mut group in groups {
        tighten_windows(&mut group);
        narrow_by_client_clocks(&mut group, seen, &reports);
        spread_evenly(&group, &mut at);
    }
    WriteTime { at, separately_stored: apart }
}

/// Returns windows from the times that the server wrote, in the order of the writes.
fn windows_from_server_times(seen: &[ObjectVersion]) -> Vec<TimeWindow> {
    let mut by_rv: Vec<(u64, usize)> = Vec::new();
    for (i, sighting) in seen.iter().enumerate() {
        if let (Some(rv), true) = (sighting.resource_version, sighting.event_kind != WatchEventKind::Listed) {
            by_rv.push((rv, i));
        }
    }
    by_rv.sort_unstable();
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    let window = |(_, i): (u64, usize)| {
        let now = &seen[i];
        let earlier = before.insert(&now.uid, i).map(|i| &seen[i]);
        let (mut low, mut high) = (0, u64::MAX);
        let mut second = |time: Option<u64>, exact: bool| {
            let Some(time) = time else { return };
            low = low.max(time);
            if exact {
                high = high.min(time.saturating_add(SECOND));
            }
        };
        second(now.created, is_new(now) && earlier.is_none());
        // The write that marks an object for deletion, or shortens its deadline, happens in that second.
        let marked = earlier.is_some_and(|e| e.deleting != now.deleting);
        second(now.deleting, marked && now.event_kind == WatchEventKind::Modified);
        let wrote = earlier.is_some_and(|e| e.written < now.written);
        second(now.written, wrote && now.event_kind != WatchEventKind::Deleted);
        let since = now.facts.newest_status_time();
        let turned = since.filter(|_| earlier.is_none_or(|e| e.facts.newest_status_time() < since));
        TimeWindow { version: i, low, high, status_time: turned.filter(|_| now.event_kind != WatchEventKind::Deleted) }
    };
    by_rv.into_iter().map(window).collect()
}

/// Returns whether this is the version as created. Any later writer has added something.
fn is_new(sighting: &ObjectVersion) -> bool {
    sighting.event_kind == WatchEventKind::Added
        && match &sighting.facts {
            ObservedFacts::Job { is_new: new, .. } => *new,
            ObservedFacts::Pod(pod) => pod.conditions.is_empty() && pod.node.is_empty(),
            ObservedFacts::Event { is_repeated: merged, .. } => !merged,
            ObservedFacts::JobSet { status, .. } => status.as_object().is_none_or(|s| s.is_empty()),
            ObservedFacts::Node(_) => false,
        }
}

/// Returns the number of windows that contradict the order of the writes.
fn conflict_count(windows: &[TimeWindow]) -> usize {
    let mut low = 0;
    let against = |w: &&TimeWindow| {
        let against = w.high < low;
        low = low.max(w.low);
        against
    };
    windows.iter().filter(against).count()
}

/// Narrows all windows so that no write is before an earlier one or after a later one.
fn tighten_windows(windows: &mut [TimeWindow]) {
    let mut low = 0;
    for window in windows.iter_mut() {
        low = low.max(window.low);
        window.low = low;
    }
    let mut high = u64::MAX;
    for window in windows.iter_mut().rev() {
        high = high.min(window.high);
        // If two windows contradict each other, the order takes precedence.
        window.high = high.max(window.low);
    }
}

type TimeReports<'s> = BTreeMap<(&'static str, &'s str), BTreeSet<u64>>;

/// Returns the Event times by kind of change and object name. The change was written before the Event.
fn event_times(seen: &[ObjectVersion]) -> TimeReports<'_> {
    let mut reports = TimeReports::new();
    for sighting in seen {
        let ObservedFacts::Event {
            object,
            reason,
            message,
            first_emitted: Some(ClockTime { ns, uncertainty_ns: 0 }),
            ..
        } = &sighting.facts
        else {
            continue;
        };
        let key = match reason.as_str() {
            "Scheduled" => ("bound", object.strip_prefix("Pod/")),
            "SuccessfulCreate" => ("created", message.strip_prefix("Created pod: ")),
            "SuccessfulDelete" => ("marked", message.strip_prefix("Deleted pod: ")),
            reason if JOB_FAILED_REASONS.contains(&reason) => ("failed", object.strip_prefix("Job/")),
            reason if is_restart_reason(reason) => ("restarted", object.strip_prefix("JobSet/")),
            _ => continue,
        };
        if let (what, Some(whom)) = key {
            reports.entry((what, whom)).or_default().insert(*ns);
        }
    }
    reports
}

/// Returns whether the reason is one of the `RestartJobSet*FailurePolicyAction` reasons. The JobSet manager emits
/// these Events right after it has counted a restart.
pub fn is_restart_reason(reason: &str) -> bool {
    reason.starts_with("RestartJobSet") && reason.ends_with("FailurePolicyAction")
}

/// Reasons of the Events that the Job controller emits right after it has written the failure of a Job.
pub const JOB_FAILED_REASONS: [&str; 5] =
    ["BackoffLimitExceeded", "PodFailurePolicy", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded"];

/// Narrows the windows by the clocks of control-plane components. The bounds by the server take precedence.
fn narrow_by_client_clocks(windows: &mut [TimeWindow], seen: &[ObjectVersion], reports: &TimeReports) {
    // Changes already seen. Only the first version that shows a change bounds its time.
    let mut over: BTreeSet<(&'static str, &str, u64)> = BTreeSet::new();
    for window in windows.iter_mut() {
        let sighting = &seen[window.version];
        if let Some(turned) = window.status_time {
            window.low = turned.clamp(window.low, window.high);
            if matches!(sighting.kind, ObservedKind::Pod | ObservedKind::Node) {
                window.high = window.high.min(window.low.max(turned) + MAX_STATUS_DELAY);
            }
        }
        let happened: [(bool, &'static str, u64); 3] = match &sighting.facts {
            ObservedFacts::Event {
                first_emitted: Some(ClockTime { ns, uncertainty_ns: 0 }),
                is_repeated: false,
                ..
            } => {
                window.low = (*ns).clamp(window.low, window.high);
                continue;
            }
            ObservedFacts::Pod(pod) => [
                (is_new(sighting), "created", 0),
                (!pod.node.is_empty(), "bound", 0),
                (sighting.deleting.is_some(), "marked", 0),
            ],
            ObservedFacts::Job { conditions, .. } => {
                let failed = conditions.iter().any(|c| c.matches("Failed", "True"));
                [(failed, "failed", 0), (false, "", 0), (false, "", 0)]
            }
            ObservedFacts::JobSet { status, .. } => {
                let n = status["restarts"].as_u64().unwrap_or(0);
                [(n > 0, "restarted", n), (false, "", 0), (false, "", 0)]
            }
            _ => continue,
        };
        for (_, what, nth) in happened.into_iter().filter(|(holds, ..)| *holds) {
            let first = over.insert((what, &sighting.uid, nth));
            let after = reports.get(&(what, sighting.name.as_str()));
            let after = after.and_then(|all| all.range(window.low..).next());
            if let (true, Some(ns)) = (first, after) {
                window.high = window.high.min(*ns);
            }
        }
    }
    tighten_windows(windows);
}

/// Distributes writes with the same window evenly over that window, in their order.
fn spread_evenly(windows: &[TimeWindow], at: &mut [Option<ClockTime>]) {
    let (mut from, mut latest) = (0, 0);
    while from < windows.len() {
        let TimeWindow { low, high, .. } = windows[from];
        let same = windows[from..].iter().take_while(|w| (w.low, w.high) == (low, high));
        let n = same.count();
        for (i, window) in windows[from..from + n].iter().enumerate() {
            at[window.version] = match (low, high) {
                (0, _) => None,
                // There is no upper bound. The write is placed at its lower bound.
                (low, u64::MAX) => Some(ClockTime { ns: low, uncertainty_ns: SECOND }),
                (low, high) => {
                    // A write without a time of its own, such as the removal of an object, follows the write that
                    // released it.
                    let wide = (high - low).min(SECOND);
                    let part = wide as u128 * (2 * i as u128 + 1) / (2 * n as u128);
                    // Later writes must not get earlier times.
                    let ns = (low + part as u64).max(latest).min(high);
                    latest = ns;
                    Some(ClockTime { ns, uncertainty_ns: (ns - low).max(high - ns) })
                }
            };
        }
        from += n;
    }
}
