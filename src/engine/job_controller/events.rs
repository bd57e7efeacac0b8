//! The Job controller's Kubernetes Events: sent one at a time through the client's token bucket (kubernetes.md 1.2),
//! after client-go's event correlator (25 per object, then 1 per 300 s; from the 10th similar Event on they are
//! aggregated, which turns creates into patches).

use super::JobController;
use crate::ctx::{ContextMark, EngineContext};
use crate::event::SimulationEvent;
use crate::record::{Call, LedgerResource, ObjectRef, StoredEvent, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use sim_base::{Duration, JobId, PodId, SimTime, TextId};
use std::collections::VecDeque;

/// `tools/record/events_cache.go`: burst and refill rate of the spam filter.
const SPAM_BURST: u32 = 25;
const SPAM_REFILL: Duration = Duration::from_secs(300);
/// `defaultAggregateMaxEvents`: aggregation starts with the tenth similar Event.
const AGGREGATE_FROM: u32 = 10;
/// `record.NewBroadcaster`: Events beyond this queue length are dropped.
const BROADCASTER_QUEUE: usize = 1000;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum JobEventKind {
    Created,
    Deleted,
    CreateFailed,
    Other,
}

#[derive(Copy, Clone)]
enum EmittedReason {
    Created(PodId, u32),
    Deleted(PodId, u32),
    /// The API server's message.
    CreateFailed(TextId),
    Other {
        warning: bool,
        reason: TextId,
        message: TextId,
    },
}

impl EmittedReason {
    fn kind(self) -> JobEventKind {
        match self {
            EmittedReason::Created(..) => JobEventKind::Created,
            EmittedReason::Deleted(..) => JobEventKind::Deleted,
            EmittedReason::CreateFailed(_) => JobEventKind::CreateFailed,
            EmittedReason::Other { .. } => JobEventKind::Other,
        }
    }
}

#[derive(Clone)]
struct PendingPodEvents {
    job: JobId,
    incarnation: u32,
    content: EmittedReason,
    /// Index of the pod concerned.
    index: u32,
    mark: ContextMark,
}

#[derive(Clone, Default)]
pub(super) struct EventRecorder {
    queue: VecDeque<PendingPodEvents>,
    sending: Option<Call>,
}

impl EventRecorder {
    pub fn reset(&mut self) {
        self.queue.clear();
        self.sending = None;
    }
}

/// client-go's event correlator for one object: spam filter and aggregation.
#[derive(Copy, Clone, Default)]
pub(super) struct EventBooks {
    tokens_used: u32,
    creates: u32,
    deletes: u32,
    create_failures: u32,
    last_refill: SimTime,
}

impl EventBooks {
    /// Returns the request that the correlator sends for an Event, if any: a create or a patch, and whether it is
    /// aggregated.
    pub fn correlate(&mut self, kind: JobEventKind, now: SimTime) -> Option<(Call, bool)> {
        let refilled = (now.since(self.last_refill).0 / SPAM_REFILL.0) as u32;
        if refilled > 0 {
            self.tokens_used = self.tokens_used.saturating_sub(refilled);
            self.last_refill = now;
        }
        let similar = match kind {
            JobEventKind::Created => &mut self.creates,
            JobEventKind::Deleted => &mut self.deletes,
            JobEventKind::CreateFailed => &mut self.create_failures,
            JobEventKind::Other => &mut 0,
        };
        *similar += 1;
        // Equal messages become patches from the second one on, different messages from the second aggregated one on.
        let (patch, combined) = match kind {
            JobEventKind::CreateFailed => (*similar > 1, false),
            _ => (*similar > AGGREGATE_FROM, *similar >= AGGREGATE_FROM),
        };
        if self.tokens_used >= SPAM_BURST {
            return None;
        }
        self.tokens_used += 1;
        let call = if patch { Call::JobEventPatch } else { Call::JobEventCreate };
        Some((call, combined))
    }
}

impl JobController {
    pub(super) fn queue_created_event(&mut self, ctx: &mut EngineContext<'_>, job: JobId, pod: PodId) {
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        let index = ctx.store.pods.index[pod.ix()];
        self.queue_event(ctx, job, EmittedReason::Created(pod, incarnation), index);
    }

    /// The Event about a deleted pod, whose object may already be removed.
    pub(super) fn queue_deleted_event(
        &mut self, ctx: &mut EngineContext<'_>, job: JobId, (pod, incarnation, index): (PodId, u32, u32),
    ) {
        self.queue_event(ctx, job, EmittedReason::Deleted(pod, incarnation), index);
    }

    pub(super) fn queue_rejected_event(&mut self, ctx: &mut EngineContext<'_>, job: JobId, words: TextId) {
        self.queue_event(ctx, job, EmittedReason::CreateFailed(words), 0);
    }

    /// An Event that is also written as a record.
    pub(super) fn emit_job_event(
        &mut self, ctx: &mut EngineContext<'_>, job: JobId, reason: &str, message: &str, warning: bool,
    ) {
        ctx.emit_kube_event(ObjectRef::Job(job), warning, reason, message);
        let (reason, message) = (ctx.intern(reason), ctx.intern(message));
        let said = EmittedReason::Other { warning, reason, message };
        self.queue_event(ctx, job, said, 0);
    }

    fn queue_event(&mut self, ctx: &mut EngineContext<'_>, job: JobId, said: EmittedReason, index: u32) {
        if self.recorder.queue.len() >= BROADCASTER_QUEUE {
            return;
        }
        self.recorder.queue.push_back(PendingPodEvents {
            job,
            incarnation: ctx.store.jobs[job.ix()].incarnation,
            content: said,
            index,
            mark: ctx.mark(),
        });
        self.send_next_event(ctx);
    }

    fn send_next_event(&mut self, ctx: &mut EngineContext<'_>) {
        if self.recorder.sending.is_some() {
            return;
        }
        while let Some(pending) = self.recorder.queue.pop_front() {
            let job = pending.job;
            let row = &mut self.rows[job.ix()];
            let call = if ctx.store.jobs[job.ix()].incarnation == pending.incarnation {
                row.event_correlator.correlate(pending.content.kind(), ctx.now)
            } else {
                Some((Call::JobEventCreate, false))
            };
            let Some((call, combined)) = call else {
                continue;
            };
            notify_sink(ctx, &pending, combined);
            self.recorder.sending = Some(call);
            let nth = row.events;
            row.events += 1;
            // The single sender is paced by the token bucket.
            let waited = TicketWait::Queue(LedgerResource::JobControllerClient);
            let before = ctx.resume(pending.mark, waited, TicketSubject::Job(job));
            ctx.request(RequestEntry::new(call, TicketSubject::Job(job), nth), SimulationEvent::JobEventSent);
            return ctx.restore_mark(before);
        }
    }

    pub(super) fn event_sent(&mut self, ctx: &mut EngineContext<'_>) {
        if let Some(call) = self.recorder.sending.take() {
            ctx.record_response(call, RequestAnswer::Success);
        }
        self.send_next_event(ctx);
    }
}

/// Passes the Event as received by the API server to a sink that requests Events.
fn notify_sink(ctx: &mut EngineContext<'_>, pending: &PendingPodEvents, combined: bool) {
    if !ctx.receives_events() {
        return;
    }
    let names = &ctx.store.names;
    let pod = |pod, incarnation| names.pod(pending.job, pending.index, pod, incarnation);
    let (warning, reason, message) = match pending.content {
        EmittedReason::Created(id, nth) => (false, "SuccessfulCreate", format!("Created pod: {}", pod(id, nth))),
        EmittedReason::Deleted(id, nth) => (false, "SuccessfulDelete", format!("Deleted pod: {}", pod(id, nth))),
        EmittedReason::CreateFailed(words) => (true, "FailedCreate", names.text(words).to_owned()),
        EmittedReason::Other { warning, reason, message } => {
            (warning, names.text(reason), names.text(message).to_owned())
        }
    };
    let reason = reason.to_owned();
    let message = if combined { format!("(combined from similar events): {message}") } else { message };
    let object = format!("Job/{}", names.job(pending.job));
    ctx.emit_stored_event(StoredEvent { object, warning, reason, message });
}
