//! Removes the last second of a recording, in which nothing is compared.

use super::sequence::compared_until_s;
use crate::validate::recording::{JobRow, RecordedRun, RecordedStatus};
use crate::validate::rows::{LogEntry, RecordedPodRow};

/// Returns the recording as it was one second before its end; `None` if nothing happened in the last second.
pub fn without_last_second(recording: &RecordedRun) -> Option<RecordedRun> {
    let until_s = compared_until_s(recording);
    let is_late = |ms: u64| ms as f64 / 1e3 > until_s;
    let late_pod = |p: &RecordedPodRow| {
        let times = [p.created_ms, p.finished_ms, p.deleting_ms, p.gone_ms];
        times.into_iter().flatten().any(is_late)
    };
    if !recording.log.iter().any(|e| is_late(e.at_ms)) && !recording.pods.0.iter().any(late_pod) {
        return None;
    }
    let mut cut = recording.clone();
    let (log, late) = cut.log.into_iter().partition(|e| !is_late(e.at_ms));
    cut.log = log;
    restore_status(&mut cut, &late);
    cut.jobs = jobs_before(&recording.jobs, &cut.log, &late);
    let pods = &mut cut.pods.0;
    pods.retain(|p| !p.created_ms.is_some_and(is_late));
    for pod in pods {
        if pod.finished_ms.is_some_and(is_late) {
            pod.phase = "Running".to_owned();
        }
        for time in [&mut pod.bound_ms, &mut pod.finished_ms, &mut pod.deleting_ms, &mut pod.gone_ms] {
            *time = time.filter(|ms| !is_late(*ms));
        }
    }
    Some(cut)
}

fn restore_status(recording: &mut RecordedRun, late: &[LogEntry]) {
    let mut of_jobset = late.iter().filter(|e| e.kind == "JobSet");
    if of_jobset.clone().any(|e| e.what == "gone") {
        recording.deleted = false;
    }
    if of_jobset.any(|e| e.what == "status") {
        let mut statuses = recording.log.iter().filter(|e| e.kind == "JobSet" && e.what == "status");
        let last = statuses.next_back();
        let read = |e: &LogEntry| serde_json::from_value::<Option<RecordedStatus>>(e.detail.clone()).ok();
        recording.status = last.and_then(read).flatten();
    }
}

/// Returns the Jobs without the changes in the entries `late`.
fn jobs_before(jobs: &[JobRow], log: &[LogEntry], late: &[LogEntry]) -> Vec<JobRow> {
    let of_job = |name: &str, entries: &[LogEntry], what: &str| {
        let entries = entries.iter().filter(|e| e.kind == "Job" && e.name == name && e.what == what);
        entries.map(|e| e.detail.as_str().unwrap_or("").to_owned()).collect::<Vec<String>>()
    };
    let mut left = Vec::new();
    for (i, job) in jobs.iter().enumerate() {
        let before = jobs[..i].iter().filter(|j| j.name == job.name).count();
        let is_last = !jobs[i + 1..].iter().any(|j| j.name == job.name);
        if before >= of_job(&job.name, log, "created").len() && !of_job(&job.name, late, "created").is_empty() {
            continue;
        }
        let mut job = job.clone();
        if is_last {
            job.exists |= !of_job(&job.name, late, "gone").is_empty();
            let added = of_job(&job.name, late, "condition");
            job.conditions.retain(|c| !added.contains(c));
            if !of_job(&job.name, late, "counts").is_empty() {
                let known = of_job(&job.name, log, "counts");
                set_counts(&mut job, known.last().map_or("", String::as_str));
            }
        }
        left.push(job);
    }
    left
}

fn set_counts(job: &mut JobRow, counts: &str) {
    let count = |key: &str| {
        let mut counts = counts.split(' ').filter_map(|c| c.split_once('='));
        let matching = counts.find(|(name, _)| *name == key);
        matching.and_then(|(_, n)| n.parse().ok()).unwrap_or(0)
    };
    (job.active, job.ready) = (count("active"), count("ready"));
    (job.succeeded, job.failed) = (count("succeeded"), count("failed"));
    job.terminating = job.terminating.map(|_| count("terminating"));
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions/last_second.rs"]
mod tests;
