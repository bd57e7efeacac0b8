//! The Job controller's Kubernetes Events: one sender, one at a time, through the same token bucket as everything
//! else
//! (kubernetes.md 1.2), behind client-go's correlator (25 per object, then 1 per 300 s; from the 11th similar one on
//! they are combined, which turns creates into patches).

use super::api::{Answer, Call};
use super::event::Event;
use super::run::Run;
use crate::base::*;
use crate::record::{Body, ObjectRef};
use std::collections::VecDeque;

/// `tools/record/events_cache.go`: spam filter burst and refill.
const SPAM_BURST: u32 = 25;
const SPAM_REFILL: Duration = Duration::from_secs(300);
/// `defaultAggregateMaxEvents`.
const AGGREGATE_AFTER: u32 = 10;
/// `record.NewBroadcaster`: what does not fit is dropped.
const BROADCASTER_QUEUE: usize = 1000;

#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Created,
    Deleted,
    CreateFailed,
    Finished,
}

struct Pending {
    job: JobId,
    incarnation: u32,
    kind: Kind,
}

#[derive(Default)]
pub struct JobEventRecorder {
    queue: VecDeque<Pending>,
    sending: Option<Call>,
}

impl JobEventRecorder {
    pub fn reset(&mut self) {
        self.queue.clear();
        self.sending = None;
    }
}

impl Run<'_> {
    pub fn job_event_pod_created(&mut self, job: JobId, _pod: PodId) {
        self.queue_job_event(job, Kind::Created);
    }

    pub fn job_event_pod_deleted(&mut self, job: JobId, _pod: PodId, _incarnation: u32) {
        self.queue_job_event(job, Kind::Deleted);
    }

    /// A follower's POST was answered 403 (EXC-11).
    pub fn pod_create_refused(&mut self, job: JobId, index: u32, reason: &str) {
        let text = self.w.texts.intern(reason);
        self.emit(Body::PodCreateRejected {
            job,
            index,
            reason: text,
        });
        self.queue_job_event(job, Kind::CreateFailed);
    }

    pub fn job_event(&mut self, job: JobId, reason: &str, message: &str, warning: bool) {
        let (reason, message) = (self.w.texts.intern(reason), self.w.texts.intern(message));
        self.emit(Body::KubeEvent {
            object: ObjectRef::Job(job),
            warning,
            reason,
            message,
        });
        self.queue_job_event(job, Kind::Finished);
    }

    fn queue_job_event(&mut self, job: JobId, kind: Kind) {
        let incarnation = self.w.jobs[job.ix()].incarnation;
        let recorder = &mut self.w.job_controller.events;
        if recorder.queue.len() >= BROADCASTER_QUEUE {
            return;
        }
        recorder.queue.push_back(Pending {
            job,
            incarnation,
            kind,
        });
        self.send_next_job_event();
    }

    fn send_next_job_event(&mut self) {
        if self.w.job_controller.events.sending.is_some() {
            return;
        }
        while let Some(pending) = self.w.job_controller.events.queue.pop_front() {
            if let Some(call) = self.correlate(&pending) {
                self.w.job_controller.events.sending = Some(call);
                let answered = self.w.api.send(call, self.w.now);
                return self.at(answered, Event::JobEventSent);
            }
        }
    }

    /// What the correlator makes of an event: nothing, a create or a patch.
    fn correlate(&mut self, pending: &Pending) -> Option<Call> {
        let now = self.w.now;
        let job = &mut self.w.jobs[pending.job.ix()];
        if job.incarnation != pending.incarnation {
            return Some(Call::JobEventCreate);
        }
        let books = &mut job.sync.events;
        let refilled = (now.since(books.last_refill).0 / SPAM_REFILL.0) as u32;
        if refilled > 0 {
            books.used = books.used.saturating_sub(refilled);
            books.last_refill = now;
        }
        let similar = match pending.kind {
            Kind::Created => &mut books.creates,
            Kind::Deleted => &mut books.deletes,
            Kind::CreateFailed => &mut books.create_failures,
            Kind::Finished => &mut 0,
        };
        *similar += 1;
        // Equal messages are patched from the second on, different ones from the second combined one on.
        let patch = match pending.kind {
            Kind::CreateFailed => *similar > 1,
            _ => *similar > AGGREGATE_AFTER + 1,
        };
        if books.used >= SPAM_BURST {
            return None;
        }
        books.used += 1;
        Some(if patch {
            Call::JobEventPatch
        } else {
            Call::JobEventCreate
        })
    }

    pub fn job_event_sent(&mut self) {
        if let Some(call) = self.w.job_controller.events.sending.take() {
            self.w.api.answered(call, Answer::Success, self.w.now);
        }
        self.send_next_job_event();
    }
}
