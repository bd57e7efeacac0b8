//! Cycles whose changes are stored at once: the queues settle, and only retries advance the clock.

use super::{CycleSummary, Ports, run_cycle};
use crate::control::REQUEUE_DELAY;
use crate::quota::NodeId;
use sim_api::spec::kueue::KueueObjects;
use sim_base::Duration;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Maximum number of rests until the queues settle. Each return of Workloads to their queues ends one.
pub const RESTS_MAX: usize = 64;

/// An adapter that stores each change at once.
pub trait InstantPorts: Ports {
    /// Advances the clock.
    fn advance(&mut self, delay: Duration);
    /// Prepares the first cycle after a rest.
    fn cycles_begin(&mut self);
    /// Runs the other controllers after a cycle. Breaks if further cycles only repeat themselves or are not needed.
    fn cycle_ended(&mut self, summary: CycleSummary) -> ControlFlow<()>;
    /// Runs the other controllers when the cycles have ended.
    fn rested(&mut self) -> Rest;
}

/// State of an adapter when the cycles have ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The adapter needs no further cycles.
    Done,
    /// The queues have settled unless a retry is requested.
    Unchanged,
    /// Other controllers changed Workloads.
    Changed,
}

/// Returns the number of cycles that a Workload takes at most to try its flavors: the head of a StrictFIFO queue tries
/// the flavors of each pod set in turn.
pub fn attempts_per_workload(objects: &KueueObjects, pod_sets: usize) -> usize {
    let groups = objects.cluster_queues.iter().flat_map(|queue| &queue.resource_groups);
    let flavors = groups.map(|group| group.flavors.len()).max().unwrap_or(0);
    2 + 2 * flavors * pod_sets.max(1)
}

/// Runs cycles and retries until nothing changes. Returns false if the queues do not settle in [`RESTS_MAX`] rests.
pub fn settle(ports: &mut impl InstantPorts) -> bool {
    for _ in 0..RESTS_MAX {
        run_cycles(ports);
        let rest = ports.rested();
        if rest == Rest::Done {
            return true;
        }
        let roots = ports.driver().manager.take_wakes();
        if rest == Rest::Unchanged && roots.is_empty() {
            return true;
        }
        retry(ports, roots);
    }
    false
}

/// Runs cycles until no queue has a head or the adapter ends them.
pub fn run_cycles(ports: &mut impl InstantPorts) {
    ports.cycles_begin();
    while ports.driver().manager.has_heads() {
        let summary = run_cycle(ports);
        if ports.cycle_ended(summary).is_break() {
            return;
        }
    }
}

/// Tries the Workloads of the trees that request it again, after a delay. Returns false if there are none.
pub fn retry_requested(ports: &mut impl InstantPorts) -> bool {
    let roots = ports.driver().manager.take_wakes();
    let is_requested = !roots.is_empty();
    if is_requested {
        retry(ports, roots);
    }
    is_requested
}

fn retry(ports: &mut impl InstantPorts, roots: BTreeSet<NodeId>) {
    ports.advance(REQUEUE_DELAY);
    let now = ports.now();
    roots.into_iter().for_each(|root| ports.driver().manager.wake(root, now));
}
