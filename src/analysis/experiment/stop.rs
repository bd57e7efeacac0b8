//! Stopping runs: by an observer, from another thread, or after a number of events.

use sim_engine::record::{RecordNames, RecordSink, SimulationRecord};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that stops runs from anywhere; clones share it.
///
/// It is checked every few hundred events, which take less than a millisecond. The point at which a run stops depends
/// on timing; the records up to that point do not.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Creates a flag that is not raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Makes running runs end soon, and later ones before their first event.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lowers the flag, so that runs continue.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Returns true if the flag is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Number of events between two checks of the flag; the first check precedes the first event.
const EVENTS_BETWEEN_LOOKS: u64 = 256;

/// Limits after which a run ends early.
#[derive(Clone, Debug)]
pub struct ReplicationLimits {
    /// Ends the run when raised.
    pub flag: StopFlag,
    /// Ends the run after this number of events.
    pub events_max: u64,
}

impl ReplicationLimits {
    /// Returns limits that never stop the experiment.
    pub fn unlimited() -> ReplicationLimits {
        ReplicationLimits { flag: StopFlag::new(), events_max: u64::MAX }
    }

    /// Returns true if the run is to end after `events` events.
    pub fn is_reached(&self, events: u64) -> bool {
        events >= self.events_max || (events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && self.flag.is_raised())
    }
}

/// A sink that stores nothing and stops the run at its limits.
pub struct LimitSink<'l>(&'l ReplicationLimits);

impl<'l> LimitSink<'l> {
    /// Creates the sink for one run.
    pub fn sink(limits: &'l ReplicationLimits) -> LimitSink<'l> {
        LimitSink(limits)
    }
}

impl RecordSink for LimitSink<'_> {
    fn record(&mut self, _: &SimulationRecord, _: &RecordNames) {}

    fn events_until_stop_check(&self, events: u64) -> u64 {
        let left = self.0.events_max.saturating_sub(events).max(1);
        left.min(EVENTS_BETWEEN_LOOKS - events % EVENTS_BETWEEN_LOOKS)
    }

    fn should_stop(&mut self, events: u64) -> bool {
        self.0.is_reached(events)
    }
}
