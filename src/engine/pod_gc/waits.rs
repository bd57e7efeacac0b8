//! Start and kind of each pod's wait for its removal: first for an unresponsive kubelet, then for the next sweep.

use crate::ctx::{ContextMark, EngineContext};
use crate::record::{TicketSubject, TicketWait};
use sim_base::PodId;

#[derive(Clone, Default)]
pub(super) struct GcWaits(Vec<GcWait>);

#[derive(Copy, Clone, Default)]
struct GcWait {
    /// Start of the wait; replaced when the pod starts to wait for the sweep.
    start: Option<ContextMark>,
    for_sweep: bool,
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
        self.row(pod).start.get_or_insert(since);
    }

    /// The kubelet of the pod is back.
    pub fn end(&mut self, pod: PodId) {
        let row = self.row(pod);
        if !row.for_sweep {
            row.start = None;
        }
    }

    /// From now on, only the sweep can remove the pod.
    pub fn begin_sweep_wait(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let now = ctx.now;
        let row = self.row(pod);
        if row.for_sweep {
            return;
        }
        row.for_sweep = true;
        row.start = Some(match row.start {
            Some(since) => {
                let silent = now.since(since.at);
                ctx.add_wait(since, silent, TicketWait::SilentNode, TicketSubject::Pod(pod))
            }
            None => ctx.mark(),
        });
    }

    pub fn current(&self, pod: PodId) -> Option<(ContextMark, TicketWait)> {
        let row = self.0.get(pod.ix())?;
        let waited = if row.for_sweep { TicketWait::PodGc } else { TicketWait::SilentNode };
        row.start.map(|since| (since, waited))
    }
}
