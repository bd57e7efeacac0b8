//! Status updates that a kubelet writes for its pods, and their times.

use super::{Kubelets, UP, real};
use crate::apiserver;
use crate::apiserver::Ended;
use crate::ctx::Ctx;
use crate::event::{Event, StatusWrite};
use crate::record::{About, Call, Waited};
use crate::requests::{Answer, Req};
use crate::store::{NO_STATUS, Phase, RESTARTING_ALL, flag};
use sim_base::random::Purpose;
use sim_base::*;

impl Kubelets {
    /// Sends a status PATCH, which is stored at the time of the response.
    pub(super) fn write_status(&mut self, ctx: &mut Ctx<'_>, pod: PodId, what: StatusWrite) {
        let about = About::Pod(pod);
        let row = &mut self.pods[pod.ix()];
        let nth = row.status_writes;
        row.status_writes += 1;
        let local = match real(ctx) {
            None => Duration::ZERO,
            Some(k) => ctx.draw(Purpose::StatusWrite, about, nth, &k.status_write),
        };
        let req = Req::new(Call::KubeletStatus, about, nth);
        let answered = ctx.ask(ctx.mark(), req);
        let done = one_after_another(ctx.now, answered.at + local, row.status_until);
        row.status_until = done;
        let delay = done.since(answered.at);
        let written = ctx.wait(answered, delay, Waited::StatusManager, about);
        let epoch = row.epoch;
        ctx.push(written, Event::StatusWritten { pod, epoch, what });
    }

    pub(super) fn status_written(
        &mut self,
        ctx: &mut Ctx<'_>,
        pod: PodId,
        epoch: u32,
        what: StatusWrite,
    ) {
        let there = ctx.store.pods.exists(pod);
        ctx.answered(Call::KubeletStatus, Answer::found(there));
        if !self.lives(ctx.store, pod, epoch) || !self.pod_answers(ctx, pod) {
            return;
        }
        let was_succeeding = ctx.store.pods.is_succeeding(pod);
        match what {
            StatusWrite::Finished => self.report_end(ctx, pod),
            StatusWrite::NotReady | StatusWrite::RestartingAll | StatusWrite::Succeeding => {
                self.report_restarts(ctx, pod);
                // All containers have been started once: a container waiting for its restart does not make the pod
                // Pending again.
                apiserver::set_running(ctx, pod);
                let row = &self.pods[pod.ix()];
                let (code, which) = (row.exit_code, row.exit_container);
                match what {
                    StatusWrite::Succeeding => return apiserver::set_succeeding(ctx, pod),
                    StatusWrite::NotReady => apiserver::note_ended(ctx, pod, code, which),
                    _ => apiserver::note_ended(ctx, pod, code, RESTARTING_ALL),
                }
                apiserver::set_ready(ctx, pod, false);
            }
            StatusWrite::Running | StatusWrite::Ready => {
                self.report_restarts(ctx, pod);
                apiserver::note_ended(ctx, pod, 0, NO_STATUS);
                self.report_running(ctx, pod, what == StatusWrite::Ready);
            }
        }
        if was_succeeding && ctx.store.pods.exists(pod) {
            apiserver::was_succeeding(ctx, pod);
        }
    }

    fn report_running(&self, ctx: &mut Ctx<'_>, pod: PodId, ready: bool) {
        let starts = ctx.store.pods.phase[pod.ix()] == Phase::Pending;
        apiserver::set_running(ctx, pod);
        if ready && self.has(pod, UP) && !ctx.store.pods.has(pod, flag::DELETING) {
            apiserver::set_ready(ctx, pod, true);
        } else if !starts {
            apiserver::rewrite_pod_status(ctx, pod);
        }
    }

    /// Writes the current restartCount.
    pub(super) fn report_restarts(&self, ctx: &mut Ctx<'_>, pod: PodId) {
        let row = &self.pods[pod.ix()];
        apiserver::set_restarts(ctx, pod, row.restarts, row.restart_sum);
    }

    /// Writes the terminal phase, with the exit codes of the containers.
    pub(super) fn report_end(&self, ctx: &mut Ctx<'_>, pod: PodId) {
        self.report_restarts(ctx, pod);
        let row = &self.pods[pod.ix()];
        let ended = Ended {
            succeeded: row.exit_code == 0,
            exit_code: row.exit_code,
            exit_container: row.exit_container,
            at: row.ended_at.min(ctx.now),
        };
        apiserver::finish_pod(ctx, pod, Some(ended));
    }
}

/// The status manager sends the PATCHes of a pod one after another: returns the response time of a PATCH that alone
/// would be answered at `answered`, after one that is answered at `before`.
pub(super) fn one_after_another(now: Time, answered: Time, before: Time) -> Time {
    if answered > before {
        answered
    } else {
        before + answered.since(now)
    }
}
