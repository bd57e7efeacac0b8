//! Every Job object that a JobSet ever had, with its last state.

use super::TimeAccounting;
use crate::{ctx::EngineContext, record::JobOutcome, store::JobEntry};
use sim_api::spec::keys::RESTART_ATTEMPT;
use sim_base::{JobId, JobSetId};

/// Number of removed Jobs that are kept; their total number is unlimited.
const MAX_REMOVED_JOBS: usize = 10_000;

#[derive(Clone, Default)]
pub struct UsageHistory {
    entries: Vec<JobOutcome>,
    /// Number of `entries` whose Job was removed.
    removed: usize,
    /// Number of entries that were dropped, oldest first.
    pub dropped: u64,
}

impl UsageHistory {
    /// Drops the oldest removed Jobs.
    fn drop_removed(&mut self) {
        let mut surplus = self.removed - MAX_REMOVED_JOBS;
        self.dropped += surplus as u64;
        self.removed = MAX_REMOVED_JOBS;
        self.entries.retain(|entry| {
            let drop = !entry.exists && surplus > 0;
            surplus -= usize::from(drop);
            !drop
        });
    }

    pub fn into_entries(self) -> Vec<JobOutcome> {
        self.entries
    }
}

/// The restart-attempt label, if a user has changed it.
fn changed_attempt_label(j: &JobEntry) -> Option<String> {
    let changed = j.changed_labels.iter().find(|(key, _)| key == RESTART_ATTEMPT);
    changed.map(|(_, text)| text.clone().unwrap_or_default())
}

impl TimeAccounting {
    pub(super) fn add_job_entry(&mut self, ctx: &EngineContext<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        let outcome = JobOutcome {
            job,
            restart_attempt: j.restart_attempt.to_string(),
            conditions: Vec::new(),
            active: 0,
            ready: 0,
            terminating: 0,
            succeeded: 0,
            failed: 0,
            exists: true,
            suspended: j.suspended,
        };
        let jobset = j.jobset;
        if let Some(js) = self.jobset_mut(jobset) {
            js.history.entries.push(outcome);
            let last = js.history.entries.len() - 1;
            self.job_mut(job).entry = last;
        }
    }

    /// Updates the newest entry of the Job.
    pub(super) fn write_history(&mut self, ctx: &EngineContext<'_>, job: JobId, exists: bool) {
        // While the Job exists, its state is in the store and is written at the end of the run.
        if exists {
            return;
        }
        self.update_entry(ctx, job, false);
    }

    /// Updates the entries of Jobs that exist at the end of the run.
    pub fn settle_history(&mut self, ctx: &EngineContext<'_>) {
        for job in (0..ctx.store.jobs.len() as u32).map(JobId) {
            if ctx.store.jobs[job.ix()].exists {
                self.update_entry(ctx, job, true);
            }
        }
    }

    fn update_entry(&mut self, ctx: &EngineContext<'_>, job: JobId, exists: bool) {
        let j = &ctx.store.jobs[job.ix()];
        let at = self.job_mut(job).entry;
        let Some(js) = self.jobset_mut(j.jobset) else {
            return;
        };
        if let Some(entry) = js.history.entries.get_mut(at).filter(|e| e.job == job) {
            if let Some(text) = changed_attempt_label(j) {
                entry.restart_attempt = text;
            }
            entry.conditions = j.status.conditions.iter().map(|c| c.outcome()).collect();
            entry.active = j.status.active;
            entry.ready = j.status.ready;
            entry.terminating = j.status.terminating;
            entry.succeeded = j.status.succeeded;
            entry.failed = j.status.failed;
            entry.suspended = j.suspended;
            entry.exists = exists;
            js.history.removed += usize::from(!exists);
            if js.history.removed > 2 * MAX_REMOVED_JOBS {
                self.drop_removed_jobs(j.jobset);
            }
        }
    }

    fn drop_removed_jobs(&mut self, jobset: JobSetId) {
        let Some(js) = self.jobset_mut(jobset) else {
            return;
        };
        let mut history = std::mem::take(&mut js.history);
        history.drop_removed();
        for (at, entry) in history.entries.iter().enumerate() {
            self.job_mut(entry.job).entry = at;
        }
        if let Some(js) = self.jobset_mut(jobset) {
            js.history = history;
        }
    }
}
