//! Interruptions of training jobs: unsaved work is lost.

use super::TrainingState;
use crate::accounting::{ReadyPodGroup, TimeAccounting};
use crate::ctx::EngineContext;
use crate::record::{Body, LedgerCategory};
use sim_base::Duration;
use sim_reliability::training::CompletedWork;

impl TrainingState {
    /// Moves productive work to the category of lost work.
    pub(super) fn undo_work(
        &mut self, ctx: &EngineContext<'_>, at: usize, lost: Vec<(CompletedWork<ReadyPodGroup>, u64)>,
        accounting: &mut TimeAccounting,
    ) {
        let job = &mut self.jobs[at];
        for (done, ns) in lost {
            job.trainer.ledger.mark_lost(ns);
            let whose = (job.jobset, done.participants.held());
            let lost = [(LedgerCategory::Lost, done.held_time(ns))];
            accounting.ledger.reclassify(ctx.now, whose, &lost);
        }
    }

    pub(super) fn interrupt(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        if let Some(reached) = self.end_segment(ctx, at, true, accounting) {
            let lost = self.jobs[at].trainer.saved_progress.discard_live();
            self.undo_work(ctx, at, lost, accounting);
            self.emit_interrupted(ctx, at, reached);
        }
    }

    pub(super) fn emit_interrupted(&self, ctx: &mut EngineContext<'_>, at: usize, reached: u64) {
        let job = &self.jobs[at];
        ctx.emit(Body::TrainingInterrupted {
            jobset: job.jobset,
            reached: Duration(reached),
            kept: Duration(job.trainer.saved_progress.newest().0),
        });
    }
}
