//! The ready pods of each child Job: in an elastic training job some Jobs make steps while others are missing.

use super::{ReadyPodGroup, TimeAccounting};
use crate::{ctx::EngineContext, record::LedgerCategory};
use sim_base::{JobId, JobSetId};
use sim_reliability::training::AvailableSlices;

/// The ready pods of a Job.
#[derive(Copy, Clone, Default)]
pub struct HeldSlices {
    pub ready: u32,
    /// Number of these on unusable nodes.
    pub unhealthy: u32,
    pub accelerators: u64,
    pub rate: u64,
    /// True if it takes part in the steps of its JobSet.
    pub is_productive: bool,
}

impl TimeAccounting {
    /// `slices_of` is the replicatedJob whose Jobs are slices; `up` returns true for Jobs with all processes running.
    pub fn available_slices(
        &self, ctx: &EngineContext<'_>, (jobset, slices_of): (JobSetId, u32), up: impl Fn(JobId) -> bool,
    ) -> AvailableSlices {
        let row = &ctx.store.jobsets[jobset.ix()];
        let replicated = &row.spec.spec.replicated_jobs;
        let wants = |rj: usize| match replicated[rj].template.pods() {
            0 => 0,
            _ => replicated[rj].replicas,
        };
        let is_slice = |rj: usize| rj == slices_of as usize;
        let of = (0..replicated.len()).filter(|rj| is_slice(*rj)).map(wants);
        let others = (0..replicated.len()).filter(|rj| !is_slice(*rj)).map(wants);
        let (mut of, mut missing) = (of.sum::<u32>(), others.sum::<u32>());
        let (mut slices, mut jobs) = (Vec::new(), Vec::new());
        for job in ctx.store.jobs_of(jobset) {
            let stored = &ctx.store.jobs[job.ix()];
            let Some(own) = self.jobs.get(job.ix()).filter(|_| stored.exists) else {
                continue;
            };
            let is_slice = is_slice(stored.rj as usize);
            let HeldSlices { ready, unhealthy: sick, .. } = own.ready_pods;
            let complete = own.required == 0 || (ready >= own.required && sick == 0 && up(job));
            match (own.required, complete, is_slice) {
                // It has ended, and no process waits for it.
                (0, _, true) => of = of.saturating_sub(1),
                (_, true, true) => slices.push(job),
                (_, true, false) => {
                    missing = missing.saturating_sub(1);
                    jobs.extend((ready > 0).then_some(job));
                }
                _ => {}
            }
        }
        let ended = row.status.terminal_state.is_some();
        let n = slices.len() as u32;
        slices.sort_unstable();
        jobs.sort_unstable();
        slices.append(&mut jobs);
        AvailableSlices { jobs: slices, slices: n, total: of.max(n), others_ready: missing == 0 && !ended }
    }

    pub fn pod_group_in(&self, jobs: &[JobId]) -> ReadyPodGroup {
        let mut jobset_pods = ReadyPodGroup::default();
        for held in jobs.iter().map(|job| &self.jobs[job.ix()].ready_pods) {
            jobset_pods.pods += held.ready;
            jobset_pods.accelerators += held.accelerators;
            jobset_pods.rate += held.rate;
        }
        jobset_pods
    }

    /// Sets whether the ready accelerators of these Jobs are productive; all others of the JobSet are not.
    pub fn set_productive_jobs(&mut self, ctx: &EngineContext<'_>, jobset: JobSetId, jobs: &[JobId], runs: bool) {
        let (waiting, productive) = (LedgerCategory::Waiting, LedgerCategory::Productive);
        let (from, to) = if runs { (waiting, productive) } else { (productive, waiting) };
        for job in jobs {
            let held = &mut self.job_mut(*job).ready_pods;
            assert_ne!(held.is_productive, runs, "a Job takes part, or does not");
            held.is_productive = runs;
            let held = (held.accelerators, held.rate);
            self.ledger.transfer(ctx.now, jobset, held, from, to);
        }
        if let Some(js) = self.jobset_mut(jobset) {
            js.is_productive = runs;
        }
    }
}
