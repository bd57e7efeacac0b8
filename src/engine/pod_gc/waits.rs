//! Start and kind of each pod's wait for its removal: first for an unresponsive kubelet, then for the next sweep.

use crate::ctx::{Ctx, Mark};
use crate::record::{About, Waited};
use sim_base::*;

#[derive(Clone, Default)]
pub(super) struct Waits(Vec<Wait>);

#[derive(Copy, Clone, Default)]
struct Wait {
    /// Start of the wait; replaced when the pod starts to wait for the sweep.
    since: Option<Mark>,
    for_sweep: bool,
}

impl Waits {
    pub fn reset(&mut self) {
        self.0.clear();
    }

    fn row(&mut self, pod: PodId) -> &mut Wait {
        if self.0.len() <= pod.ix() {
            self.0.resize(pod.ix() + 1, Wait::default());
        }
        &mut self.0[pod.ix()]
    }

    /// Resets the row for another object.
    pub fn forget(&mut self, pod: PodId) {
        if let Some(row) = self.0.get_mut(pod.ix()) {
            *row = Wait::default();
        }
    }

    /// The pod is being deleted, or its node became silent, whichever was first.
    pub fn begin(&mut self, pod: PodId, since: Mark) {
        self.row(pod).since.get_or_insert(since);
    }

    /// The kubelet of the pod is back.
    pub fn end(&mut self, pod: PodId) {
        let row = self.row(pod);
        if !row.for_sweep {
            row.since = None;
        }
    }

    /// From now on, only the sweep can remove the pod.
    pub fn for_sweep(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        let now = ctx.now;
        let row = self.row(pod);
        if row.for_sweep {
            return;
        }
        row.for_sweep = true;
        row.since = Some(match row.since {
            Some(since) => {
                let silent = now.since(since.at);
                ctx.wait(since, silent, Waited::SilentNode, About::Pod(pod))
            }
            None => ctx.mark(),
        });
    }

    /// Start and kind of the wait.
    pub fn of(&self, pod: PodId) -> Option<(Mark, Waited)> {
        let row = self.0.get(pod.ix())?;
        let waited = match row.for_sweep {
            true => Waited::PodGc,
            false => Waited::SilentNode,
        };
        row.since.map(|since| (since, waited))
    }
}
