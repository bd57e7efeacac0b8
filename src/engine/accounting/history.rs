//! Every Job object that a JobSet ever had, with its last state.

use super::Accounting;
use crate::ctx::Ctx;
use crate::record::JobOutcome;
use crate::store::Job;
use sim_api::spec::keys::RESTART_ATTEMPT;
use sim_base::*;

/// Number of removed Jobs that are kept; their total number is unlimited.
const GONE_KEPT: usize = 10_000;

#[derive(Clone, Default)]
pub struct History {
    entries: Vec<JobOutcome>,
    /// Number of `entries` whose Job was removed.
    gone: usize,
    /// Number of entries that were dropped, oldest first.
    pub dropped: u64,
}

impl History {
    /// Drops the oldest removed Jobs.
    fn shorten(&mut self) {
        let mut surplus = self.gone - GONE_KEPT;
        self.dropped += surplus as u64;
        self.gone = GONE_KEPT;
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
fn changed_attempt(j: &Job) -> Option<String> {
    let changed = j.relabelled.iter().find(|(key, _)| key == RESTART_ATTEMPT);
    changed.map(|(_, text)| text.clone().unwrap_or_default())
}

impl Accounting {
    /// Adds a new Job object.
    pub(super) fn remember(&mut self, ctx: &Ctx<'_>, job: JobId) {
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
        if let Some(js) = self.jobset(jobset) {
            js.history.entries.push(outcome);
            let last = js.history.entries.len() - 1;
            self.job(job).entry = last;
        }
    }

    /// Updates the newest entry of the Job.
    pub(super) fn write_history(&mut self, ctx: &Ctx<'_>, job: JobId, exists: bool) {
        // While the Job exists, its state is in the store and is written at the end of the run.
        if exists {
            return;
        }
        self.settle(ctx, job, false);
    }

    /// Updates the entries of Jobs that exist at the end of the run.
    pub fn settle_history(&mut self, ctx: &Ctx<'_>) {
        for job in (0..ctx.store.jobs.len() as u32).map(JobId) {
            if ctx.store.jobs[job.ix()].exists {
                self.settle(ctx, job, true);
            }
        }
    }

    fn settle(&mut self, ctx: &Ctx<'_>, job: JobId, exists: bool) {
        let j = &ctx.store.jobs[job.ix()];
        let at = self.job(job).entry;
        let Some(js) = self.jobset(j.jobset) else {
            return;
        };
        if let Some(entry) = js.history.entries.get_mut(at).filter(|e| e.job == job) {
            if let Some(text) = changed_attempt(j) {
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
            js.history.gone += usize::from(!exists);
            if js.history.gone > 2 * GONE_KEPT {
                self.shorten_history(j.jobset);
            }
        }
    }

    fn shorten_history(&mut self, jobset: JobSetId) {
        let Some(js) = self.jobset(jobset) else {
            return;
        };
        let mut history = std::mem::take(&mut js.history);
        history.shorten();
        for (at, entry) in history.entries.iter().enumerate() {
            self.job(entry.job).entry = at;
        }
        if let Some(js) = self.jobset(jobset) {
            js.history = history;
        }
    }
}
