//! How long pods take to start and to end, from a run of the scenario: KWOK has no kubelets that would take time.

use crate::base::*;
use crate::engine::Simulation;
use crate::record::{Body, Names, Record, Sink};
use std::collections::BTreeMap;

/// Medians over all pods of the run.
pub struct Times {
    /// From the binding to Ready.
    pub start: Duration,
    /// From the deletion to the end of the object.
    pub stop: Duration,
}

#[derive(Default)]
struct Fold {
    bound: BTreeMap<PodId, Time>,
    deleting: BTreeMap<PodId, Time>,
    starts: Vec<Duration>,
    stops: Vec<Duration>,
}

impl Sink for Fold {
    fn record(&mut self, record: &Record, _: &Names) {
        let at = record.at;
        let ended = match record.body {
            Body::PodBound { pod, .. } => {
                self.bound.insert(pod, at);
                return;
            }
            Body::PodDeleting { pod, .. } => {
                self.deleting.insert(pod, at);
                return;
            }
            Body::PodReady { pod, .. } => (self.bound.remove(&pod), &mut self.starts),
            Body::PodGone { pod, .. } => (self.deleting.remove(&pod), &mut self.stops),
            _ => return,
        };
        if let (Some(from), into) = ended {
            into.push(at.since(from));
        }
    }
}

/// Plays the scenario once.
pub fn times(simulation: &mut Simulation, seed: u64) -> Times {
    let mut fold = Fold::default();
    simulation.run(seed, 0, &mut fold);
    let median = |mut all: Vec<Duration>| {
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(Duration::ZERO)
    };
    Times {
        start: median(fold.starts),
        stop: median(fold.stops),
    }
}
