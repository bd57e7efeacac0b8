//! Start and kind of each pod's wait for its removal: first for an unresponsive kubelet, then for the next sweep.

use crate::ctx::{ContextMark, EngineContext};
use crate::record::{TicketSubject, TicketWait};
use sim_base::PodId;

#[derive(Clone, Default)]
pub(super) struct GcWaits(Vec<GcWait>);

/// What the pod waits for, and the start of the wait.
#[derive(Copy, Clone, Default)]
enum GcWait {
    #[default]
    Nothing,
    SilentNode(ContextMark),
    Sweep(ContextMark),
}

impl GcWaits {
    pub fn reset(&mut self) {
        self.0.clear();
    }

    fn row(&mut self, pod: PodId) -> &mut GcWait {
        if self.0.len() <= pod.ix() {
            self.0.resize(pod.ix() + 1, GcWait::default());
        }
        &mut self.0[pod.ix()]
    }

    /// Resets the row for another object.
    pub fn forget(&mut self, pod: PodId) {
        if let Some(row) = self.0.get_mut(pod.ix()) {
            *row = GcWait::default();
        }
    }

    /// The pod is being deleted, or its node became silent, whichever was first.
    pub fn begin(&mut self, pod: PodId, since: ContextMark) {
        let row = self.row(pod);
        if let GcWait::Nothing = row {
            *row = GcWait::SilentNode(since);
        }
    }

    /// The kubelet of the pod is back.
    pub fn end(&mut self, pod: PodId) {
        let row = self.row(pod);
        if let GcWait::SilentNode(_) = row {
            *row = GcWait::Nothing;
        }
    }

    /// From now on, only the sweep can remove the pod.
    pub fn begin_sweep_wait(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let now = ctx.now;
        let row = self.row(pod);
        let start = match *row {
            GcWait::Sweep(_) => return,
            GcWait::SilentNode(since) => {
                ctx.add_wait(since, now.since(since.at), TicketWait::SilentNode, TicketSubject::Pod(pod))
            }
            GcWait::Nothing => ctx.mark(),
        };
        *row = GcWait::Sweep(start);
    }

    pub fn current(&self, pod: PodId) -> Option<(ContextMark, TicketWait)> {
        match *self.0.get(pod.ix())? {
            GcWait::Nothing => None,
            GcWait::SilentNode(since) => Some((since, TicketWait::SilentNode)),
            GcWait::Sweep(since) => Some((since, TicketWait::PodGc)),
        }
    }
}
