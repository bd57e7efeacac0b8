//! The reconciler of Workloads: back-offs, time-outs, deactivation and stopped queues.

use super::KueueController;
use super::rows::StatusWrite;
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::{KueueReconciler, SimulationEvent};
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use sim_base::{Duration, JobSetId, SimTime};
use sim_kueue::control::WorkloadTimer;
use sim_kueue::workload::{ConditionType, Workload};

impl KueueController {
    /// The caches and queues receive the newest state of a Workload.
    pub(super) fn workload_observed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let (key, now) = (jobset.ix(), self.time(ctx));
        self.take_over(ctx, jobset, now);
        let row = self.row(jobset);
        let old = row.workload.clone();
        let observed = row.update_workload(&ctx.store.jobsets[key]);
        row.note_queued(now, ctx.mark());
        let is_pending_text = old.zip(observed.clone()).is_some_and(|(old, new)| differs_in_pending_text(&old, &new));
        self.driver().observe(key, observed, now);
        self.cycles.workload_observed(jobset, self.rows[key].workload_version);
        self.cycles.workload_changed(is_pending_text);
        self.begin_checks(ctx, jobset);
        self.reconcile_workload(ctx, jobset);
        self.reconcile_jobset(ctx, jobset);
        self.ungate_for_workload(ctx, jobset);
        self.queues_changed(ctx);
    }

    /// The Workload of a JobSet takes the place of the one that existed at the start.
    fn take_over(&mut self, ctx: &EngineContext<'_>, jobset: JobSetId, now: SimTime) {
        let stored = &ctx.store.jobsets[jobset.ix()];
        if let (Some(objects), Some(_)) = (&ctx.scenario.kueue, &stored.workload) {
            self.release_reserved(objects, &stored.spec, now);
        }
    }

    /// Runs one pass, unless a request is in flight or not yet in the cache.
    pub(super) fn reconcile_workload(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let row = &self.rows[jobset.ix()];
        if row.workload_write.is_some() || row.workload_version < row.written.1 {
            return;
        }
        let Some(current) = row.workload.clone() else { return };
        let based_on = row.workload_version;
        let now = self.time(ctx);
        let manager = self.manager();
        let view = manager.view(jobset.ix(), &current);
        let result = sim_kueue::control::reconcile_workload(&current, &view, &manager.configuration, now);
        self.set_timer(ctx, jobset, result.after);
        let Some(new) = result.workload.filter(|new| *new != *current) else { return };
        let row = &mut self.rows[jobset.ix()];
        row.requests += 1;
        row.workload_write = Some(StatusWrite { workload: Box::new(new), based_on });
        let request = RequestEntry::new(Call::KueueWorkloadPatch, TicketSubject::JobSet(jobset), row.requests);
        ctx.request(request, SimulationEvent::KueueAnswered { jobset, reconciler: KueueReconciler::Workloads });
    }

    fn set_timer(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, after: Option<(Duration, WorkloadTimer)>) {
        let due = after.map(|(after, _)| ctx.now + after);
        let row = &mut self.rows[jobset.ix()];
        if row.due == due {
            return;
        }
        row.due = due;
        if let Some((after, timer)) = after {
            let about = TicketSubject::JobSet(jobset);
            ctx.schedule_after(after, ticket_wait(timer), about, SimulationEvent::KueueWorkloadDue(jobset));
        }
    }

    pub(super) fn workload_answered(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let Some(write) = self.rows[jobset.ix()].workload_write.take() else { return };
        let stored = &ctx.store.jobsets[jobset.ix()];
        let answer = if stored.workload.is_none() {
            RequestAnswer::NotFound
        } else if stored.workload_version != write.based_on {
            RequestAnswer::Conflict
        } else {
            RequestAnswer::Success
        };
        ctx.record_response(Call::KueueWorkloadPatch, answer);
        if answer.is_success() {
            apiserver::set_workload(ctx, jobset, *write.workload);
        }
        self.rows[jobset.ix()].written.1 = ctx.store.jobsets[jobset.ix()].workload_version;
        self.reconcile_workload(ctx, jobset);
    }
}

/// Returns the kind of wait until a Workload is looked at again.
pub(super) fn ticket_wait(timer: WorkloadTimer) -> TicketWait {
    match timer {
        WorkloadTimer::Requeue => TicketWait::RequeueBackoff,
        WorkloadTimer::PodsReady => TicketWait::PodsReadyTimeout,
        WorkloadTimer::Execution => TicketWait::MaxExecutionTime,
    }
}

/// Returns whether two states of a pending Workload differ in its condition QuotaReserved at most.
pub(super) fn differs_in_pending_text(old: &Workload, new: &Workload) -> bool {
    let without = |workload: &Workload| {
        let mut other = workload.clone();
        other.status.remove(ConditionType::QuotaReserved);
        other
    };
    !old.has_reservation() && !new.has_reservation() && without(old) == without(new)
}
