//! TTL-after-finished controller: deletes a finished Job with foreground propagation (kubernetes.md 1.6).
//!
//! Must never read the JobSet's ttlSecondsAfterFinished, which the JobSet controller handles.

use super::apiserver;
use super::ctx::{EngineContext, StoreWatcher};
use super::event::SimulationEvent;
use super::requests::{RequestAnswer, RequestEntry};
use crate::record::{Call, JobConditionType, TicketSubject, TicketWait};
use crate::store::{ChangeKind, JobChange, JobStatus};
use sim_base::{Duration, JobId, SimTime};
use sim_policy::ttl::whole_seconds;

#[derive(Clone, Default)]
pub struct TtlController {
    /// Per Job: incarnation of the newest object with a timer.
    armed: Vec<u32>,
}

impl TtlController {
    pub fn reset(&mut self) {
        self.armed.clear();
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::JobTtlExpired { job, incarnation } => handle_expiry(ctx, job, incarnation),
            SimulationEvent::JobTtlDeletion { job, incarnation } => delete_expired(ctx, job, incarnation),
            other => unreachable!("not an event of the TTL controller: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        let ChangeKind::Job(job, JobChange::Status) = what else {
            return;
        };
        let j = &ctx.store.jobs[job.ix()];
        let (incarnation, version) = (j.incarnation, j.version);
        let Some(ttl) = j.spec.ttl_seconds_after_finished else {
            return;
        };
        let Some(finished) = finished_at(&j.status) else {
            return;
        };
        if !self.start_timer(job, incarnation) {
            return;
        }
        let about = TicketSubject::Job(job);
        let lag = ctx.watch_lag(StoreWatcher::TtlController, about, version);
        let seen = ctx.add_wait(ctx.mark(), lag, TicketWait::Watch, about);
        let left = expiry(finished, ttl).since(seen.at);
        let over = ctx.add_wait(seen, left, TicketWait::Ttl, about);
        ctx.schedule(over, SimulationEvent::JobTtlExpired { job, incarnation });
    }

    /// Returns true if this object has no timer yet.
    fn start_timer(&mut self, job: JobId, incarnation: u32) -> bool {
        if self.armed.len() <= job.ix() {
            self.armed.resize(job.ix() + 1, 0);
        }
        std::mem::replace(&mut self.armed[job.ix()], incarnation) != incarnation
    }
}

/// Expiry time. The finish time is stored in whole seconds, so it may be up to a second early (D-10).
fn expiry(finished: SimTime, ttl: u32) -> SimTime {
    whole_seconds(finished) + Duration::from_secs(u64::from(ttl))
}

fn finished_at(status: &JobStatus) -> Option<SimTime> {
    let complete = status.condition(JobConditionType::Complete);
    let ended = complete.or(status.condition(JobConditionType::Failed));
    ended.map(|c| c.at)
}

/// Sends a GET, then the DELETE with the UID as precondition.
fn handle_expiry(ctx: &mut EngineContext<'_>, job: JobId, incarnation: u32) {
    if !has_expired(ctx, job, incarnation) {
        return;
    }
    let about = TicketSubject::Job(job);
    let get = RequestEntry::new(Call::TtlJobGet, about, incarnation);
    let seen = ctx.request_at_mark(ctx.mark(), get);
    ctx.record_response_at(Call::TtlJobGet, RequestAnswer::Success, seen.at);
    let answered = ctx.request_at_mark(seen, RequestEntry::new(Call::TtlJobDelete, about, incarnation));
    ctx.schedule(answered, SimulationEvent::JobTtlDeletion { job, incarnation });
}

fn delete_expired(ctx: &mut EngineContext<'_>, job: JobId, incarnation: u32) {
    let there = has_expired(ctx, job, incarnation);
    ctx.record_response(Call::TtlJobDelete, RequestAnswer::from_existence(there));
    if there {
        apiserver::delete_job(ctx, job);
    }
}

/// Returns true if the same object is finished and not being deleted.
pub fn has_expired(ctx: &EngineContext<'_>, job: JobId, incarnation: u32) -> bool {
    let j = &ctx.store.jobs[job.ix()];
    j.exists && j.incarnation == incarnation && !j.is_deleting() && j.status.is_finished()
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/ttl_controller.rs"]
mod tests;
