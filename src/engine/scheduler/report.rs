//! What the scheduler writes about a pod that it does not place: the Event FailedScheduling, the condition
//! PodScheduled, `nominatedNodeName` (kubernetes.md 2.1). It must never decide anything.

use super::SchedulerState;
use crate::record::{Body, Call, StoredEvent, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_base::PodId;

impl SchedulerState {
    /// Reports that no node fits the pod. Returns whether the message is new.
    pub(super) fn mark_unschedulable(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, message: &str) -> bool {
        let reason = ctx.intern(message);
        let version = ctx.store.pods.resource_version[pod.ix()];
        apiserver::set_pod_unschedulable(ctx, pod, reason);
        let report = self.queues.mark_unschedulable(pod, reason, version, ctx.mark());
        if report.is_written {
            ctx.emit(Body::PodUnschedulable { pod, reason });
        }
        if report.is_new_event {
            store_event(ctx, pod, message.to_owned());
        }
        report.is_new_message
    }

    /// A pod that is marked for deletion leaves the queue (`skipPodSchedule`).
    pub(super) fn skip_deleting(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let namespace = ctx.store.namespace_of(ctx.store.pods.job[pod.ix()]);
        let message = format!("skip schedule deleting pod: {namespace}/{}", pod_name(ctx, pod));
        store_event(ctx, pod, message);
    }

    /// Patches the conditions of pods, one after another. The scheduler waits for each response, because
    /// `handleSchedulingFailure` sends the request itself (gate SchedulerAsyncAPICalls off, its default).
    pub(super) fn patch_conditions(&mut self, ctx: &mut EngineContext<'_>, pods: &[PodId]) {
        let mut mark = ctx.mark();
        for pod in pods {
            mark = ctx.request_at_mark(mark, RequestEntry::new(Call::SchedulerPodPatch, TicketSubject::Pod(*pod), 0));
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            ctx.schedule(mark, SimulationEvent::ConditionPatched { pod: *pod, incarnation });
        }
        self.patches += pods.len();
    }

    pub(super) fn condition_patched(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        self.patches -= 1;
        let is_there = ctx.store.pods.is_current(pod, incarnation);
        ctx.record_response(Call::SchedulerPodPatch, RequestAnswer::from_existence(is_there));
        if is_there {
            apiserver::pod_condition_patched(ctx, pod);
        }
        self.next_cycle(ctx);
    }
}

fn pod_name(ctx: &EngineContext<'_>, pod: PodId) -> String {
    let p = &ctx.store.pods;
    ctx.store.names.pod(p.job[pod.ix()], p.index[pod.ix()], pod, p.incarnation[pod.ix()])
}

fn store_event(ctx: &mut EngineContext<'_>, pod: PodId, message: String) {
    if ctx.receives_events() {
        let object = format!("Pod/{}", pod_name(ctx, pod));
        let reason = "FailedScheduling".to_owned();
        ctx.emit_stored_event(StoredEvent { object, warning: true, reason, message });
    }
}
