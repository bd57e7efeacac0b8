//! Extracts the times at which each control-plane client sent API requests, as far as a recording shows them.
//!
//! The Job controller sends Events through the same client as its other requests; the scheduler uses a separate
//! client for Events. Times are in seconds since the JobSet was created.

use crate::validate::recording::{RecordedRun, RequestRow};
use crate::validate::rows::RecordedPodRow;

/// Log entry for an observed status write of a Job.
const STATUS_WRITE: &str = "counted";
/// Maximum number of counted requests that are expanded, to bound memory.
const REQUESTS_MAX: u64 = 1_000_000;

/// Requests of one client: individually timed ones, and ones that were only counted and are spread over a period.
#[derive(Clone, Debug, Default)]
pub struct ClientRequests {
    pub times: Vec<f64>,
    pub spread_count: usize,
    /// Number of timed requests that were not observed but inferred from an increased count.
    pub inferred_count: usize,
}

impl ClientRequests {
    /// Returns the fraction of requests that were not observed individually.
    pub fn unobserved_fraction(&self) -> f64 {
        let n = (self.spread_count + self.inferred_count) as f64;
        n / (self.times.len() as f64).max(1.0)
    }

    fn add_request(&mut self, ms: Option<u64>) {
        self.times.extend(ms.map(|ms| ms as f64 / 1e3));
    }

    /// Adds `n` requests of which only the first and last time are known. `at_once` of them are placed at the first
    /// time, the others evenly.
    fn add_spread(&mut self, n: u64, (from, to): (f64, f64), at_once: u64) {
        self.spread_count += n.min(REQUESTS_MAX) as usize;
        self.times.extend((0..at_once.min(n).min(REQUESTS_MAX)).map(|_| from));
        let n = n.saturating_sub(at_once);
        let last = n.saturating_sub(1).max(1) as f64;
        let at = |i: u64| from + (to - from) * i as f64 / last;
        self.times.extend((0..n.min(REQUESTS_MAX)).map(at));
    }
}

/// Returns the requests of the Job controller: pod creations and deletions, finalizer removals, status writes and
/// Events. If `burst` is set, the first `burst` requests of a restart that were only counted are assumed to have
/// been sent at once. If it is `None`, counted requests are left out.
pub fn job_controller(recording: &RecordedRun, burst: Option<u64>) -> ClientRequests {
    let mut tokens = ClientRequests::default();
    let pods = &recording.pods.0;
    let counted = pods.iter().any(|p| p.counted_ms.is_some());
    for pod in pods {
        tokens.add_request(pod.created_ms);
        tokens.add_request(pod.counted_ms);
        if is_deleted_by_job(recording, pod) && recording.requests.is_none() {
            tokens.add_request(pod.deleting_ms);
        }
    }
    let events = recording.log.iter().filter(|e| e.kind == "Event" && e.what == "job-controller");
    for event in events {
        tokens.add_request(Some(event.at_ms));
    }
    let statuses = status_write_times(recording);
    for at in &statuses {
        tokens.add_request(Some(*at));
    }
    if !recording.log.iter().any(|e| e.what == STATUS_WRITE) {
        tokens.inferred_count = statuses.len();
    }
    let (Some(requests), Some(burst)) = (&recording.requests, burst) else {
        return tokens;
    };
    let zero = first_failure_s(recording);
    for (rows, zero) in [(&requests.start, Some(0.0)), (&requests.restart, zero)] {
        let Some(zero) = zero else { continue };
        let mut full = burst;
        let mut rows: Vec<&RequestRow> = rows.iter().collect();
        rows.sort_by(|a, b| a.7.total_cmp(&b.7));
        let first = rows.iter().map(|r| r.7).fold(f64::INFINITY, f64::min) + zero;
        let last = rows.iter().map(|r| r.8).fold(0.0, f64::max) + zero;
        let within = |ms: &&u64| (first..=last).contains(&(**ms as f64 / 1e3));
        let known = statuses.iter().filter(within).count() as u64;
        for RequestRow(client, verb, resource, _, n, _, _, from, to) in rows.iter() {
            let left = match (client.as_str(), verb.as_str(), resource.as_str()) {
                // Events queue behind each other, and most are sent after all other requests. Their times are unknown.
                ("job-controller", _, "events") | ("job-controller", "create", "pods") => 0,
                ("job-controller", "update", "jobs/status") => n.saturating_sub(known),
                ("job-controller", "patch", "pods") if counted => 0,
                ("job-controller", ..) => *n,
                _ => 0,
            };
            let at_once = full.min(left);
            full -= at_once;
            tokens.add_spread(left, (zero + from, zero + to), at_once);
        }
    }
    tokens
}

/// Returns whether the pod was deleted before its Job. Later deletions are made by the garbage collector.
fn is_deleted_by_job(recording: &RecordedRun, pod: &RecordedPodRow) -> bool {
    let job = format!("{}-{}-{}", recording.jobset_name(), pod.replicated_job, pod.job_index);
    let (Some(deleting), Some(created)) = (pod.deleting_ms, pod.created_ms) else {
        return false;
    };
    let log = recording.log.iter().filter(|e| e.kind == "Job" && e.name == job && e.at_ms >= created);
    let mut marked = log.filter(|e| e.what == "deleting" || e.what == "gone");
    marked.next().is_none_or(|e| deleting < e.at_ms)
}

/// Returns the times of Job status writes. If they were not recorded, they are inferred from the increases of
/// `active` and `ready` in the JobSet status.
fn status_write_times(recording: &RecordedRun) -> Vec<u64> {
    let writes = recording.log.iter().filter(|e| e.what == STATUS_WRITE);
    let writes: Vec<u64> = writes.map(|e| e.at_ms).collect();
    if !writes.is_empty() {
        return writes;
    }
    let mut result = Vec::new();
    let mut before: Option<[i64; 2]> = None;
    let statuses = recording.log.iter().filter(|e| e.kind == "JobSet" && e.what == "status");
    for entry in statuses {
        let Some(all) = entry.detail["replicatedJobsStatus"].as_array() else {
            continue;
        };
        let sum = |key: &str| all.iter().filter_map(|s| s[key].as_i64()).sum::<i64>();
        let now = [sum("active"), sum("ready")];
        if let Some(before) = before {
            let more: i64 = now.iter().zip(before).map(|(now, before)| (now - before).max(0)).sum();
            result.extend((0..more.clamp(0, 1_000_000)).map(|_| entry.at_ms));
        }
        before = Some(now);
    }
    result
}

/// Returns when the first pod failure was observed, in seconds. Request times of a restart are relative to it.
fn first_failure_s(recording: &RecordedRun) -> Option<f64> {
    let alone = |p: &&RecordedPodRow| match (p.finished_ms, p.deleting_ms) {
        (Some(finished), Some(deleting)) => finished < deleting,
        (Some(_), None) => true,
        _ => false,
    };
    let first = recording.pods.0.iter().filter(alone).filter_map(|p| p.finished_ms).min();
    first.map(|ms| ms as f64 / 1e3)
}

/// Returns the bindings written by the scheduler. They reveal its limit only while pods are waiting for it.
pub fn scheduler(recording: &RecordedRun) -> ClientRequests {
    let mut tokens = ClientRequests::default();
    for pod in &recording.pods.0 {
        tokens.add_request(pod.bound_ms);
    }
    tokens
}

/// Returns the median time that the later half of the pods waited to be bound, in seconds.
pub fn median_binding_wait(recording: &RecordedRun) -> Option<f64> {
    let waits = recording.pods.0.iter().filter_map(|p| {
        let wait = p.bound_ms?.checked_sub(p.created_ms?)?;
        Some((p.bound_ms?, wait))
    });
    let mut waits: Vec<(u64, u64)> = waits.collect();
    waits.sort_unstable();
    let mut later: Vec<u64> = waits[waits.len() / 2..].iter().map(|w| w.1).collect();
    later.sort_unstable();
    later.get(later.len() / 2).map(|ms| *ms as f64 / 1e3)
}

/// Returns the Job creations of the JobSet manager in the first attempt, which are sent without waiting for
/// anything. Its other requests are responses to events.
pub fn jobset_manager(recording: &RecordedRun) -> ClientRequests {
    let mut tokens = ClientRequests::default();
    let created = recording.log.iter().filter(|e| e.kind == "Job" && e.what == "created");
    for entry in created.filter(|e| e.detail.as_str().is_some_and(|d| d.ends_with("=0"))) {
        tokens.add_request(Some(entry.at_ms));
    }
    tokens
}
