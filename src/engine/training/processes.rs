//! The processes of a training job: which of them run, and how long each waits for the others.

use super::Training;
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Waited};
use crate::store::Store;
use sim_base::*;

/// Exit code of a process that raises an error.
pub const GAVE_UP_EXIT_CODE: i32 = 1;

/// State of a pod's process.
#[derive(Copy, Clone, Default)]
pub struct Pod {
    /// The process has ended on its machine.
    down: bool,
    /// The process runs on its machine.
    up: bool,
    /// The process hangs.
    pub(super) hangs: bool,
    /// Number of the current process in this row, and the time of its start.
    pub(super) nth: u32,
    since: Time,
}

impl Pod {
    pub(super) fn is_up(&self) -> bool {
        self.up
    }
}

impl Training {
    pub(super) fn pod(&mut self, pod: PodId) -> &mut Pod {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, Pod::default());
        }
        &mut self.pods[pod.ix()]
    }

    pub(super) fn set_down(&mut self, ctx: &Ctx<'_>, pod: PodId, down: bool) {
        let was = std::mem::replace(&mut self.pod(pod).down, down);
        if was == down {
            return;
        }
        if let Some(at) = self.of(ctx.store.jobset_of(pod)) {
            let job = &mut self.jobs[at];
            let change = |n: &mut u32| *n = if down { *n + 1 } else { *n - 1 };
            change(&mut job.down);
            if let Some(slices) = &mut job.slices {
                change(&mut slices.row(ctx.store.pods.job[pod.ix()]).down);
            }
        }
    }

    /// The process of a pod ends, if there is one; a hang ends with it.
    pub(super) fn process_ends(&mut self, ctx: &Ctx<'_>, pod: PodId) {
        let row = self.pod(pod);
        row.up = false;
        let hung = std::mem::take(&mut row.hangs);
        if let Some(at) = self.of(ctx.store.jobset_of(pod)).filter(|_| hung) {
            let job = &mut self.jobs[at];
            job.hung -= 1;
            if let Some(slices) = &mut job.slices {
                slices.row(ctx.store.pods.job[pod.ix()]).hung -= 1;
            }
        }
    }

    /// Returns true if the process of the pod runs.
    pub(super) fn is_at_work(&self, ctx: &Ctx<'_>, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(Pod::is_up) && ctx.store.pods.exists(pod)
    }

    /// A process starts to wait for the processes of the other pods.
    pub(super) fn process_starts(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        let now = ctx.now;
        self.process_ends(ctx, pod);
        let row = self.pod(pod);
        (row.nth, row.since, row.up) = (row.nth + 1, now, true);
        let nth = row.nth;
        let Some(at) = self.of(ctx.store.jobset_of(pod)) else {
            return;
        };
        if let Some(slices) = &mut self.jobs[at].slices {
            slices.row(ctx.store.pods.job[pod.ix()]).fresh = true;
        }
        if let Some(timeout) = ctx.scenario.training[at].rendezvous_timeout {
            let over = Event::RendezvousOver { pod, nth };
            ctx.after(timeout, Waited::Deadline, About::Pod(pod), over);
        }
    }

    /// The rendezvous timeout of a process; has no effect if it has connected to all others since.
    pub(super) fn rendezvous_over(&mut self, ctx: &mut Ctx<'_>, pod: PodId, nth: u32) {
        if !self.has_met(ctx.store, pod, nth) {
            apiserver::note_gives_up(ctx, pod, GAVE_UP_EXIT_CODE);
        }
    }

    /// Returns true if the process has connected to all others, or was replaced.
    pub(super) fn has_met(&self, store: &Store, pod: PodId, nth: u32) -> bool {
        let row = self.pods.get(pod.ix());
        let row = row.filter(|row| row.nth == nth && !row.down && store.pods.exists(pod));
        let Some((row, at)) = row.zip(self.of(store.jobset_of(pod))) else {
            return true;
        };
        let job = &self.jobs[at];
        job.now.is_some() || job.last.is_some_and(|last| last >= row.since)
    }
}
