//! Updates what the caches of both controllers show after an event.
//!
//! Must never change stored objects.

use super::events::Event;
use super::setups::Setup;
use super::world::*;

/// Keeps the previous state in the JobSet controller's cache when an event changes objects.
pub fn keep_stale_jobset_cache(setup: &Setup, before: &State, next: &mut State, event: Event) {
    if !setup.jobset_lags {
        return;
    }
    if next.js != before.js && next.seen_js.is_none() {
        next.seen_js = Some(before.js.clone());
    }
    if next.seen_js.as_ref() == Some(&next.js) {
        next.seen_js = None;
    }
    let (old, new) = (before.jobs_now(), next.jobs_now());
    if old != new && next.seen_jobs.is_none() && event != Event::JobsSeen {
        next.seen_jobs = Some(old);
    }
    let object = |job: &Option<Job>| job.as_ref().map(|j| j.object);
    for (slot, seen) in next.seen_jobs.iter_mut().flatten().enumerate() {
        let written = object(&before.jobs[slot]) != object(&next.jobs[slot]);
        seen.iter_mut().for_each(|s| s.behind |= written);
    }
}

/// Does the same for the Job controller's caches of one Job. A change that becomes visible puts the key into the
/// work queue.
pub fn keep_stale_job_cache(setup: &Setup, before: &Option<Job>, next: &mut Option<Job>, event: Event, slot: usize) {
    let Some(job) = next else { return };
    let Some(before) = before else {
        job.desk.queued = true;
        return;
    };
    if before == job {
        return;
    }
    let own = matches!(event, Event::Goes(s, _) if s == slot);
    if let Some(sync) = &mut job.desk.sync {
        sync.behind |= !own && job.object != before.object;
    }
    if setup.job_lags {
        let own = own || matches!(event, Event::Sync(s) if s == slot);
        job.desk.wrote.0 |= own && job.object != before.object;
        job.desk.wrote.1 |= own && job.pods != before.pods;
        if job.desk.object.is_none() && event != Event::JobSeen(slot) && job.object != before.object {
            job.desk.object = Some(before.object);
        }
        if job.desk.pods.is_none() && event != Event::PodsSeen(slot) && job.pods != before.pods {
            job.desk.pods = Some(before.pods.clone());
        }
        if job.desk.object == Some(job.object) {
            job.desk.object = None;
        }
        if job.desk.pods.as_ref() == Some(&job.pods) {
            job.desk.pods = None;
        }
    }
    job.desk.wrote.0 &= job.desk.object.is_some();
    if job.desk.pods.is_none() {
        (job.desk.expects, job.desk.off, job.desk.wrote.1) = (false, 0, false);
    }
    let news = job.cached() != before.cached();
    job.desk.queued = (job.desk.queued || news) && !job.finished();
}
