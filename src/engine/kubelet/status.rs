//! Status updates that a kubelet writes for its pods, and their times.

use super::{KubeletState, UP, real_kubelet};
use crate::event::{SimulationEvent, StatusWrite};
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::{ContainersState, PodPhase, StoredContainersState, flag};
use crate::{apiserver, apiserver::TerminatedPod, ctx::EngineContext};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId, SimTime};

impl KubeletState {
    /// Sends a status PATCH, which is stored at the time of the response.
    pub(super) fn write_status(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, what: StatusWrite) {
        let about = TicketSubject::Pod(pod);
        let row = &mut self.pods[pod.ix()];
        let nth = row.status_writes;
        row.status_writes += 1;
        let local = match real_kubelet(ctx) {
            None => Duration::ZERO,
            Some(k) => ctx.draw(StreamPurpose::StatusWrite, about, nth, &k.status_write),
        };
        let req = RequestEntry::new(Call::KubeletStatus, about, nth);
        let answered = ctx.request_at_mark(ctx.mark(), req);
        let done = serialize_completion(ctx.now, answered.at + local, row.status_until);
        row.status_until = done;
        let delay = done.since(answered.at);
        let written = ctx.add_wait(answered, delay, TicketWait::StatusManager, about);
        let epoch = row.epoch;
        ctx.schedule(written, SimulationEvent::StatusWritten { pod, epoch, what });
    }

    pub(super) fn status_written(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32, what: StatusWrite) {
        let there = ctx.store.pods.exists(pod);
        ctx.record_response(Call::KubeletStatus, RequestAnswer::from_existence(there));
        if !self.is_current_lifetime(ctx.store, pod, epoch) || !self.is_node_responsive(ctx, pod) {
            return;
        }
        let was_succeeding = ctx.store.pods.is_succeeding(pod);
        match what {
            StatusWrite::Finished => self.report_end(ctx, pod),
            StatusWrite::Refused => apiserver::finish_pod(ctx, pod, None),
            StatusWrite::NotReady | StatusWrite::RestartingAll | StatusWrite::Succeeding => {
                self.report_restarts(ctx, pod);
                // All containers have been started once: a container waiting for its restart does not make the pod
                // Pending again.
                if self.exited_init(ctx.store, pod).is_none() {
                    apiserver::set_running(ctx, pod);
                }
                let row = &self.pods[pod.ix()];
                let (code, exited) = (row.exit_code, row.exited.exited());
                match what {
                    StatusWrite::Succeeding => return apiserver::set_succeeding(ctx, pod),
                    StatusWrite::NotReady => {
                        apiserver::store_container_end(ctx, pod, code, ContainersState::Exited(exited))
                    }
                    _ => apiserver::store_container_end(ctx, pod, code, ContainersState::Removed),
                }
                apiserver::set_ready(ctx, pod, false);
            }
            StatusWrite::InitRunning => {
                self.report_restarts(ctx, pod);
                apiserver::store_container_end(ctx, pod, 0, ContainersState::NoStatus);
            }
            StatusWrite::Running | StatusWrite::Ready => {
                self.report_restarts(ctx, pod);
                apiserver::store_container_end(ctx, pod, 0, ContainersState::NoStatus);
                self.report_running(ctx, pod, what == StatusWrite::Ready);
            }
        }
        if was_succeeding && ctx.store.pods.exists(pod) {
            apiserver::notify_not_ready_again(ctx, pod);
        }
    }

    fn report_running(&self, ctx: &mut EngineContext<'_>, pod: PodId, ready: bool) {
        let starts = ctx.store.pods.phase[pod.ix()] == PodPhase::Pending;
        apiserver::set_running(ctx, pod);
        let down = self.is_sidecar_down(pod);
        if ready && !down && self.has(pod, UP) && !ctx.store.pods.has(pod, flag::DELETING) {
            apiserver::set_ready(ctx, pod, true);
        } else if down && ctx.store.pods.has(pod, flag::READY) {
            apiserver::set_ready(ctx, pod, false);
        } else if !starts {
            apiserver::rewrite_pod_status(ctx, pod);
        }
    }

    /// Writes the current restartCount.
    pub(super) fn report_restarts(&self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let row = &self.pods[pod.ix()];
        let most = row.restarts.max(self.most_init_restarts(pod));
        apiserver::set_restarts(ctx, pod, most, row.restart_sum);
    }

    /// Writes the terminal phase, with the exit codes of the containers.
    pub(super) fn report_end(&self, ctx: &mut EngineContext<'_>, pod: PodId) {
        self.report_restarts(ctx, pod);
        if self.pods[pod.ix()].exited == StoredContainersState::NO_STATUS {
            return apiserver::finish_pod(ctx, pod, None);
        }
        let row = &self.pods[pod.ix()];
        let ended = TerminatedPod {
            succeeded: row.exit_code == 0,
            exit_code: row.exit_code,
            exited: row.exited.exited(),
            at: row.ended_at.min(ctx.now),
        };
        apiserver::finish_pod(ctx, pod, Some(ended));
    }
}

/// The status manager sends the PATCHes of a pod one after another: returns the response time of a PATCH that alone
/// would be answered at `answered`, after one that is answered at `before`.
pub(super) fn serialize_completion(now: SimTime, answered: SimTime, before: SimTime) -> SimTime {
    if answered > before { answered } else { before + answered.since(now) }
}
