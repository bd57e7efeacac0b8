//! Interruptions of training jobs: unsaved work is lost.

use super::{CompletedWork, TrainingState};
use crate::record::{Body, LedgerCategory};
use crate::{accounting::TimeAccounting, ctx::EngineContext};
use sim_base::Duration;

impl TrainingState {
    /// Moves productive work to the category of lost work.
    pub(super) fn undo_work(
        &mut self, ctx: &EngineContext<'_>, at: usize, lost: Vec<(CompletedWork, u64)>, accounting: &mut TimeAccounting,
    ) {
        let job = &mut self.jobs[at];
        for (done, ns) in lost {
            job.trainer.ledger.mark_lost(ns);
            let whose = (job.jobset, done.participants.held());
            let (held, of) = done.held;
            let held = u128::from(ns) * u128::from(held) / u128::from(of);
            let lost = [(LedgerCategory::Lost, held as u64)];
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
