//! The Job controller's Kubernetes Events: one sender, one at a time, through the same token bucket as everything else
//! (kubernetes.md 1.2), behind client-go's correlator (25 per object, then 1 per 300 s; from the 11th similar one on
//! they are combined, which turns creates into patches).

use super::JobController;
use crate::base::*;
use crate::engine::ctx::{Ctx, Mark};
use crate::engine::event::Event;
use crate::engine::requests::{Answer, Req};
use crate::record::{About, Call, ObjectRef, Resource, Waited};
use std::collections::VecDeque;

/// `tools/record/events_cache.go`: spam filter burst and refill.
const SPAM_BURST: u32 = 25;
const SPAM_REFILL: Duration = Duration::from_secs(300);
/// `defaultAggregateMaxEvents`.
const AGGREGATE_AFTER: u32 = 10;
/// `record.NewBroadcaster`: what does not fit is dropped.
const BROADCASTER_QUEUE: usize = 1000;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Created,
    Deleted,
    CreateFailed,
    Other,
}

struct Pending {
    job: JobId,
    incarnation: u32,
    kind: Kind,
    mark: Mark,
}

#[derive(Default)]
pub(super) struct EventRecorder {
    queue: VecDeque<Pending>,
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
    used: u32,
    creates: u32,
    deletes: u32,
    create_failures: u32,
    last_refill: Time,
}

impl EventBooks {
    /// What the correlator makes of an event: nothing, a create or a patch.
    pub fn correlate(&mut self, kind: Kind, now: Time) -> Option<Call> {
        let refilled = (now.since(self.last_refill).0 / SPAM_REFILL.0) as u32;
        if refilled > 0 {
            self.used = self.used.saturating_sub(refilled);
            self.last_refill = now;
        }
        let similar = match kind {
            Kind::Created => &mut self.creates,
            Kind::Deleted => &mut self.deletes,
            Kind::CreateFailed => &mut self.create_failures,
            Kind::Other => &mut 0,
        };
        *similar += 1;
        // Equal messages are patched from the second on, different ones from the second combined one on.
        let patch = match kind {
            Kind::CreateFailed => *similar > 1,
            _ => *similar > AGGREGATE_AFTER + 1,
        };
        if self.used >= SPAM_BURST {
            return None;
        }
        self.used += 1;
        Some(match patch {
            true => Call::JobEventPatch,
            false => Call::JobEventCreate,
        })
    }
}

impl JobController {
    pub(super) fn event_of_created_pod(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        self.queue_event(ctx, job, Kind::Created);
    }

    pub(super) fn event_of_deleted_pod(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        self.queue_event(ctx, job, Kind::Deleted);
    }

    pub(super) fn event_of_refused_pod(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        self.queue_event(ctx, job, Kind::CreateFailed);
    }

    /// An event that is a record, too.
    pub(super) fn job_event(
        &mut self,
        ctx: &mut Ctx<'_>,
        job: JobId,
        reason: &str,
        message: &str,
        warning: bool,
    ) {
        ctx.kube_event(ObjectRef::Job(job), warning, reason, message);
        self.queue_event(ctx, job, Kind::Other);
    }

    fn queue_event(&mut self, ctx: &mut Ctx<'_>, job: JobId, kind: Kind) {
        if self.recorder.queue.len() >= BROADCASTER_QUEUE {
            return;
        }
        self.recorder.queue.push_back(Pending {
            job,
            incarnation: ctx.store.jobs[job.ix()].incarnation,
            kind,
            mark: ctx.mark(),
        });
        self.send_next_event(ctx);
    }

    fn send_next_event(&mut self, ctx: &mut Ctx<'_>) {
        if self.recorder.sending.is_some() {
            return;
        }
        while let Some(pending) = self.recorder.queue.pop_front() {
            let job = pending.job;
            let row = &mut self.rows[job.ix()];
            let call = match ctx.store.jobs[job.ix()].incarnation == pending.incarnation {
                true => row.books.correlate(pending.kind, ctx.now),
                false => Some(Call::JobEventCreate),
            };
            let Some(call) = call else {
                continue;
            };
            self.recorder.sending = Some(call);
            let nth = row.events;
            row.events += 1;
            // The one sender is paced by the bucket.
            let waited = Waited::Queue(Resource::JobControllerClient);
            let before = ctx.resume(pending.mark, waited, About::Job(job));
            ctx.request(Req::new(call, About::Job(job), nth), Event::JobEventSent);
            return ctx.back_to(before);
        }
    }

    pub(super) fn event_sent(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(call) = self.recorder.sending.take() {
            ctx.answered(call, Answer::Success);
        }
        self.send_next_event(ctx);
    }
}
