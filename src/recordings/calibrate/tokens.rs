//! When each client of the control plane asked the API server for something, as far as a recording shows it.
//!
//! The Job controller tells Events through the same client, the scheduler through one of its own. Times are seconds
//! after the JobSet was created.

use crate::validate::recording::{Recording, RequestRow};
use crate::validate::rows::PodRow;

/// A status of a Job that was seen to be written.
const COUNTED: &str = "counted";
/// More would only exhaust memory.
const REQUESTS_MAX: u64 = 1_000_000;

/// Requests of one client: those with a time of their own, and how many of them were only counted, and spread.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    pub times: Vec<f64>,
    pub spread: usize,
    /// Of those with a time, requests that nobody saw: a count that had grown stands for them.
    pub inferred: usize,
}

impl Tokens {
    /// The part of them that nobody saw by itself.
    pub fn unseen(&self) -> f64 {
        let n = (self.spread + self.inferred) as f64;
        n / (self.times.len() as f64).max(1.0)
    }

    fn put(&mut self, ms: Option<u64>) {
        self.times.extend(ms.map(|ms| ms as f64 / 1e3));
    }

    /// Requests of which only the first and the last have a time; so many of them went out at once.
    fn spread(&mut self, n: u64, (from, to): (f64, f64), at_once: u64) {
        self.spread += n.min(REQUESTS_MAX) as usize;
        self.times
            .extend((0..at_once.min(n).min(REQUESTS_MAX)).map(|_| from));
        let n = n.saturating_sub(at_once);
        let last = n.saturating_sub(1).max(1) as f64;
        let at = |i: u64| from + (to - from) * i as f64 / last;
        self.times.extend((0..n.min(REQUESTS_MAX)).map(at));
    }
}

/// The Job controller: pods created and deleted, finalizers taken, statuses written, Events told. Of requests that were
/// only counted the first `burst` of a restart are taken to have gone out at once; `None`: they are left out.
pub fn job_controller(recording: &Recording, burst: Option<u64>) -> Tokens {
    let mut tokens = Tokens::default();
    let pods = &recording.pods.0;
    let counted = pods.iter().any(|p| p.counted_ms.is_some());
    for pod in pods {
        tokens.put(pod.created_ms);
        tokens.put(pod.counted_ms);
        if deleted_by_its_job(recording, pod) && recording.requests.is_none() {
            tokens.put(pod.deleting_ms);
        }
    }
    let events = recording
        .log
        .iter()
        .filter(|e| e.kind == "Event" && e.what == "job-controller");
    for event in events {
        tokens.put(Some(event.at_ms));
    }
    let statuses = statuses(recording);
    for at in &statuses {
        tokens.put(Some(*at));
    }
    if !recording.log.iter().any(|e| e.what == COUNTED) {
        tokens.inferred = statuses.len();
    }
    let (Some(requests), Some(burst)) = (&recording.requests, burst) else {
        return tokens;
    };
    let zero = origin_s(recording);
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
                // Events wait behind each other, most of them until all else has been sent: nothing says when.
                ("job-controller", _, "events") | ("job-controller", "create", "pods") => 0,
                ("job-controller", "update", "jobs/status") => n.saturating_sub(known),
                ("job-controller", "patch", "pods") if counted => 0,
                ("job-controller", ..) => *n,
                _ => 0,
            };
            let at_once = full.min(left);
            full -= at_once;
            tokens.spread(left, (zero + from, zero + to), at_once);
        }
    }
    tokens
}

/// Before the Job itself was deleted: the garbage collector deletes later.
fn deleted_by_its_job(recording: &Recording, pod: &PodRow) -> bool {
    let job = format!(
        "{}-{}-{}",
        recording.jobset_name(),
        pod.replicated_job,
        pod.job_index
    );
    let (Some(deleting), Some(created)) = (pod.deleting_ms, pod.created_ms) else {
        return false;
    };
    let log = recording
        .log
        .iter()
        .filter(|e| e.kind == "Job" && e.name == job && e.at_ms >= created);
    let mut marked = log.filter(|e| e.what == "deleting" || e.what == "gone");
    marked.next().is_none_or(|e| deleting < e.at_ms)
}

/// Status writes of Jobs: where each is told, or as the JobSet's status counts Jobs that became active and ready.
fn statuses(recording: &Recording) -> Vec<u64> {
    let told = recording.log.iter().filter(|e| e.what == COUNTED);
    let told: Vec<u64> = told.map(|e| e.at_ms).collect();
    if !told.is_empty() {
        return told;
    }
    let mut found = Vec::new();
    let mut before: Option<[i64; 2]> = None;
    let statuses = recording
        .log
        .iter()
        .filter(|e| e.kind == "JobSet" && e.what == "status");
    for entry in statuses {
        let Some(all) = entry.detail["replicatedJobsStatus"].as_array() else {
            continue;
        };
        let sum = |key: &str| all.iter().filter_map(|s| s[key].as_i64()).sum::<i64>();
        let now = [sum("active"), sum("ready")];
        if let Some(before) = before {
            let more: i64 = now
                .iter()
                .zip(before)
                .map(|(now, before)| (now - before).max(0))
                .sum();
            found.extend((0..more.clamp(0, 1_000_000)).map(|_| entry.at_ms));
        }
        before = Some(now);
    }
    found
}

/// When the failing pod's status was seen: what requests of a restart count from.
fn origin_s(recording: &Recording) -> Option<f64> {
    let alone = |p: &&PodRow| match (p.finished_ms, p.deleting_ms) {
        (Some(finished), Some(deleting)) => finished < deleting,
        (Some(_), None) => true,
        _ => false,
    };
    let first = recording
        .pods
        .0
        .iter()
        .filter(alone)
        .filter_map(|p| p.finished_ms)
        .min();
    first.map(|ms| ms as f64 / 1e3)
}

/// The scheduler: bindings. They say something of its limit only while pods wait for it.
pub fn scheduler(recording: &Recording) -> Tokens {
    let mut tokens = Tokens::default();
    for pod in &recording.pods.0 {
        tokens.put(pod.bound_ms);
    }
    tokens
}

/// How long pods waited to be bound, s: the median of the later half.
pub fn wait_for_binding(recording: &Recording) -> Option<f64> {
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

/// The JobSet manager: the Jobs of one attempt, which it creates as soon as it may. All else it does when it is told.
pub fn jobset_manager(recording: &Recording) -> Tokens {
    let mut tokens = Tokens::default();
    let created = recording
        .log
        .iter()
        .filter(|e| e.kind == "Job" && e.what == "created");
    for entry in created.filter(|e| e.detail.as_str().is_some_and(|d| d.ends_with("=0"))) {
        tokens.put(Some(entry.at_ms));
    }
    tokens
}
