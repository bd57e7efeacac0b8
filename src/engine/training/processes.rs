//! The processes of a training job: which of them run, and how long each waits for the others.

use super::TrainingState;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ObjectStore, PodPhase};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_base::{JobSetId, PodId, SimTime};
use sim_reliability::training::ERROR_EXIT_CODE;

/// State of a pod's process.
#[derive(Copy, Clone, Default)]
pub struct TrainingPod {
    /// The process has ended on its machine.
    down: bool,
    /// The process runs on its machine.
    up: bool,
    /// The process hangs.
    pub(super) hung: bool,
    /// Number of the current process in this row, and the time of its start.
    pub(super) nth: u32,
    started: SimTime,
}

impl TrainingPod {
    pub(super) fn is_up(&self) -> bool {
        self.up
    }
}

impl TrainingState {
    pub(super) fn pod_mut(&mut self, pod: PodId) -> &mut TrainingPod {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, TrainingPod::default());
        }
        &mut self.pods[pod.ix()]
    }

    pub(super) fn set_down(&mut self, ctx: &EngineContext<'_>, pod: PodId, down: bool) {
        let was = std::mem::replace(&mut self.pod_mut(pod).down, down);
        if was == down {
            return;
        }
        if let Some(at) = self.job_index(ctx.store.jobset_of(pod)) {
            let job = &mut self.jobs[at];
            let change = |n: &mut u32| *n = if down { *n + 1 } else { *n - 1 };
            change(&mut job.down);
            if let Some(slices) = &mut job.slices {
                change(&mut slices.row(ctx.store.pods.job[pod.ix()]).down);
            }
        }
    }

    /// The process of a pod ends, if there is one; a hang ends with it.
    pub(super) fn end_process(&mut self, ctx: &EngineContext<'_>, pod: PodId) {
        let row = self.pod_mut(pod);
        row.up = false;
        let hung = std::mem::take(&mut row.hung);
        if let Some(at) = self.job_index(ctx.store.jobset_of(pod)).filter(|_| hung) {
            let job = &mut self.jobs[at];
            job.hung -= 1;
            if let Some(slices) = &mut job.slices {
                slices.row(ctx.store.pods.job[pod.ix()]).hung -= 1;
            }
        }
    }

    /// Returns true if a pod that took part has succeeded before the work was done, and its Job creates no other pod in
    /// its place: the others cannot continue without it.
    pub(super) fn is_missed(&self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        let store = &**ctx.store;
        let Some(job) = self.job_index(store.jobset_of(pod)).map(|at| &self.jobs[at]) else { return false };
        let spec = store.job_spec(store.pods.job[pod.ix()]);
        let has_next = spec.completions().is_some_and(|completions| completions > spec.parallelism());
        let row = self.pods.get(pod.ix());
        let took_part = row.zip(job.last_ready).is_some_and(|(row, last)| row.nth > 0 && last >= row.started);
        let succeeded = store.pods.phase[pod.ix()] == PodPhase::Succeeded;
        succeeded && took_part && !has_next && job.completed_at.is_none() && job.slices.is_none()
    }

    /// The first pod that the training of a JobSet misses since it succeeded, if any.
    pub fn missed_pod(&self, store: &ObjectStore, jobset: JobSetId) -> Option<PodId> {
        let job = &self.jobs[self.job_index(jobset)?];
        let mut pods = store.jobs_of(jobset).flat_map(|job| store.jobs[job.ix()].pods.iter());
        let is_missed = |pod: &PodId| {
            let is_down = self.pods.get(pod.ix()).is_some_and(|row| row.down);
            is_down && store.pods.phase[pod.ix()] == PodPhase::Succeeded
        };
        pods.find(is_missed).filter(|_| job.down > 0 && job.completed_at.is_none())
    }

    /// Returns true if the process of the pod runs.
    pub(super) fn is_process_running(&self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(TrainingPod::is_up) && ctx.store.pods.exists(pod)
    }

    /// A process starts to wait for the processes of the other pods.
    pub(super) fn start_process(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let now = ctx.now;
        self.end_process(ctx, pod);
        let row = self.pod_mut(pod);
        (row.nth, row.started, row.up) = (row.nth + 1, now, true);
        let nth = row.nth;
        let Some(at) = self.job_index(ctx.store.jobset_of(pod)) else {
            return;
        };
        if let Some(slices) = &mut self.jobs[at].slices {
            slices.row(ctx.store.pods.job[pod.ix()]).fresh = true;
        }
        if let Some(timeout) = ctx.scenario.training[at].rendezvous_timeout {
            let over = SimulationEvent::RendezvousTimedOut { pod, nth };
            ctx.schedule_after(timeout, TicketWait::RendezvousTimeout, TicketSubject::Pod(pod), over);
        }
    }

    /// The rendezvous timeout of a process; has no effect if it has connected to all others since.
    pub(super) fn rendezvous_timed_out(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, nth: u32) {
        if !self.has_connected(ctx.store, pod, nth) {
            apiserver::note_process_exit(ctx, pod, ERROR_EXIT_CODE);
        }
    }

    /// Returns true if the process has connected to all others, or was replaced.
    pub(super) fn has_connected(&self, store: &ObjectStore, pod: PodId, nth: u32) -> bool {
        let row = self.pods.get(pod.ix());
        let row = row.filter(|row| row.nth == nth && !row.down && store.pods.exists(pod));
        let Some((row, at)) = row.zip(self.job_index(store.jobset_of(pod))) else {
            return true;
        };
        let job = &self.jobs[at];
        job.segment.is_some() || job.last_ready.is_some_and(|last| last >= row.started)
    }
}
