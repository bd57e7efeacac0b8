//! The notation of `jobs` in a policy case, and the resulting counters.

use super::notation::seconds;
use sim_api::spec::*;
use sim_policy::*;

pub fn jobs(line: &str, jobset: &JobSet, status: &JobSetStatus, gates: FeatureGates) -> Result<Vec<JobView>, String> {
    let bad = || format!("job: {line}");
    let (slot, words) = line.split_once(' ').ok_or_else(bad)?;
    let (name, indexes) = slot.split_once('/').ok_or_else(bad)?;
    let (first, last) = indexes.split_once('-').unwrap_or((indexes, indexes));
    let rj = jobset.spec.replicated_jobs.iter().position(|r| r.name == name);
    let rj = rj.ok_or_else(bad)?;
    let first: u32 = first.parse().map_err(|_| bad())?;
    let last: u32 = last.parse().map_err(|_| bad())?;
    let (words, message) = words.split_once("m=").unwrap_or((words, ""));
    let pods = jobset.spec.replicated_jobs[rj].template.pods();
    let own = |index: u32| {
        let list = &status.replicated_jobs.get(rj)?.job_restarts;
        list.get(index as usize).copied()
    };
    (first..=last)
        .map(|index| {
            let mut job = JobView {
                rj: rj as u32,
                index,
                restart_attempt: Some(status.restarts),
                job_restart_attempt: gates.restart_job.then(|| own(index).unwrap_or(0)),
                unusable_label: None,
                parallelism: None,
                completions: None,
                deleting: false,
                suspended: false,
                active: 0,
                ready: 0,
                succeeded: 0,
                finished: None,
            };
            words.split_whitespace().try_for_each(|w| apply(&mut job, w, pods, message).ok_or_else(bad))?;
            Ok(job)
        })
        .collect()
}

fn apply(job: &mut JobView, word: &str, pods: u32, message: &str) -> Option<()> {
    let number = |v: &str| v.parse::<u32>();
    if let Some(label) = word.strip_prefix('@') {
        job.restart_attempt = number(label).ok();
    } else if let Some(label) = word.strip_prefix('~') {
        job.job_restart_attempt = number(label).ok();
    } else {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let finished = |failed, reason: &str, message: &str| {
            let (reason, message) = (reason.to_string(), message.to_string());
            Some(Box::new(FinishedView { failed, reason, message, at: seconds(90.0) }))
        };
        match key {
            "run" => (job.active, job.ready) = (pods, pods),
            "pend" => job.active = pods,
            "ready" => (job.active, job.ready) = (pods, number(value).ok()?),
            "done" => job.succeeded = number(value).ok()?,
            "size" => (job.parallelism, job.completions) = (number(value).ok(), number(value).ok()),
            "susp" => job.suspended = true,
            "del" => job.deleting = true,
            "ok" => job.finished = finished(false, "CompletionsReached", ""),
            "fail" if value.is_empty() => {
                let message = "Job has reached the specified backoff limit";
                job.finished = finished(true, "BackoffLimitExceeded", message);
            }
            "fail" => job.finished = finished(true, value, message),
            "t" => job.finished.as_mut()?.at = seconds(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(())
}

/// Sets the counters in the stored status to their correct values, computed in a simple way.
pub fn settle(status: &mut JobSetStatus, jobs: &[JobView], jobset: &JobSet) {
    for job in jobs {
        let pods = jobset.spec.replicated_jobs[job.rj as usize].template.pods();
        let s = &mut status.replicated_jobs[job.rj as usize];
        let old = |label: Option<u32>, target: u32| label.is_some_and(|l| l < target);
        let target = s.job_restarts.get(job.index as usize).copied().unwrap_or(0);
        if old(job.restart_attempt, status.restarts) || old(job.job_restart_attempt, target) {
            continue;
        }
        match &job.finished {
            Some(f) if f.failed => s.failed += 1,
            Some(_) => s.succeeded += 1,
            None => {
                s.ready += u32::from(job.ready + job.succeeded >= pods);
                s.active += u32::from(job.active > 0);
                s.suspended += u32::from(job.suspended);
            }
        }
    }
}
