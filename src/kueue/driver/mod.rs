//! The driver of Kueue's queues: scheduling cycles, the changes of Workloads that they request, and retries.
//!
//! This is the only module that calls `Manager::decide` and `Manager::conclude`. Its environment is an adapter with
//! ports. An adapter that stores each change at once settles the queues with [`settle`] ([`InstantPorts`]): `admit`,
//! `why`, forecasts and `validate`. An adapter whose requests take time also sets timers ([`TimedPorts`]): the engine
//! and the performance tests.

mod settle;
mod timed;

pub use settle::{InstantPorts, RESTS_MAX, Rest, attempts_per_workload, retry_requested, run_cycles, settle};
pub use timed::{Pace, TimedPorts, Timer, answered, cycle_due, retry_due, schedule_cycle, schedule_retries};

use crate::control::{Manager, Patch, PatchKind};
use crate::workload::{Workload, WorkloadKey};
use sim_base::SimTime;
use std::collections::BTreeSet;
use std::sync::Arc;
use timed::Scheduler;

/// The queues and the cache, and the state of the scheduler around them.
#[derive(Clone)]
pub struct Driver {
    pub manager: Manager,
    scheduler: Scheduler,
    /// The current or last cycle.
    summary: CycleSummary,
    /// Number of cycles so far.
    cycles: u64,
    /// Workloads whose admission the cache of Workloads does not contain yet.
    assumed: BTreeSet<WorkloadKey>,
    /// Workloads whose preemption is not observed yet.
    preempted: BTreeSet<WorkloadKey>,
}

/// The result of sending a change.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The Workload is already in the requested state.
    Unneeded,
    /// Not sent, because an earlier change of the Workload is not stored yet.
    Withheld,
    /// Stored at once.
    Stored,
    /// In flight. The scheduler waits for the response, except for that of an admission.
    Pending,
}

/// The environment of a driver.
pub trait Ports {
    fn driver(&mut self) -> &mut Driver;
    /// Returns the time on the clock of the Workloads.
    fn now(&self) -> SimTime;
    /// Sends a change that a cycle requests.
    fn send(&mut self, patch: Patch) -> Sent;
}

/// The effects of one cycle.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct CycleSummary {
    /// Whether any change was stored or is in flight.
    pub has_sent: bool,
    pub has_admitted: bool,
    /// Whether any change is more than that of the condition of a pending Workload.
    pub changes_usage: bool,
}

impl Driver {
    pub fn new(manager: Manager, pace: Pace) -> Driver {
        Driver {
            manager,
            scheduler: Scheduler::new(pace),
            summary: CycleSummary::default(),
            cycles: 0,
            assumed: BTreeSet::new(),
            preempted: BTreeSet::new(),
        }
    }

    /// Returns the number of cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Returns whether the scheduler counts an admission that the cache does not contain yet.
    pub fn is_assumed(&self, key: WorkloadKey) -> bool {
        self.assumed.contains(&key)
    }

    /// Stores a change at once.
    pub fn store(&mut self, patch: &Patch, now: SimTime) -> Sent {
        let old = self.manager.workload(patch.key);
        let Some(new) = old.and_then(|old| patch.apply(old, now)) else { return Sent::Unneeded };
        self.manager.workload_changed(patch.key, Arc::new(new), now);
        Sent::Stored
    }

    /// Follows an observed state of a Workload; `None` if it is deleted. A state older than an admission that the
    /// scheduler already counts is ignored.
    pub fn observe(&mut self, key: WorkloadKey, new: Option<Arc<Workload>>, now: SimTime) {
        if new.as_ref().is_none_or(|new| new.is_evicted() || !new.has_reservation()) {
            self.preempted.remove(&key);
        }
        if self.is_assumed(key) && new.as_ref().is_some_and(|new| !new.has_reservation()) {
            return;
        }
        self.restore(key, new, now);
    }

    /// Follows an admission that the API server did not store; `newest` is the state in the cache.
    pub fn admission_failed(&mut self, key: WorkloadKey, newest: Option<Arc<Workload>>, now: SimTime) {
        self.restore(key, newest, now);
        self.manager.admission_failed(key);
    }

    fn restore(&mut self, key: WorkloadKey, newest: Option<Arc<Workload>>, now: SimTime) {
        self.assumed.remove(&key);
        match newest {
            Some(newest) => self.manager.workload_changed(key, newest, now),
            None => self.manager.workload_deleted(key, now),
        }
    }

    fn count_cycle(&mut self) {
        self.cycles += 1;
        self.summary = CycleSummary::default();
    }
}

/// Runs one cycle at one instant. Returns the requested changes: preemptions, then those of the entries in their order.
pub fn take_patches(manager: &mut Manager, now: SimTime) -> Vec<Patch> {
    let result = manager.decide(now);
    let mut patches: Vec<Patch> = result.preemptions.into_iter().map(Patch::from).collect();
    patches.extend(result.entries.into_iter().filter_map(|entry| manager.conclude(entry, now)));
    patches
}

/// Runs one cycle at one instant and sends the requested changes.
pub fn run_cycle(ports: &mut impl Ports) -> CycleSummary {
    let now = ports.now();
    let driver = ports.driver();
    driver.count_cycle();
    for patch in take_patches(&mut driver.manager, now) {
        send(ports, patch);
    }
    ports.driver().summary
}

fn send(ports: &mut impl Ports, patch: Patch) {
    let (key, is_admission) = (patch.key, matches!(patch.kind, PatchKind::Admit { .. }));
    let changes_usage = ports.driver().manager.workload(key).is_some_and(|old| patch.changes_usage(old));
    let sent = ports.send(patch);
    let driver = ports.driver();
    if sent == Sent::Pending && is_admission {
        driver.assumed.insert(key);
    } else if sent == Sent::Pending {
        driver.scheduler.unanswered += 1;
    }
    let is_sent = matches!(sent, Sent::Stored | Sent::Pending);
    driver.summary.has_sent |= is_sent;
    driver.summary.has_admitted |= is_sent && is_admission;
    driver.summary.changes_usage |= changes_usage && sent != Sent::Unneeded;
}
