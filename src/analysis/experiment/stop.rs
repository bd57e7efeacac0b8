//! Stopping runs: by whoever watches, from another thread, after so many events.

use sim_engine::record::{Names, Record, Sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops runs from anywhere: clones of it raise the same flag.
///
/// It is looked at every few hundred events, which take less than a millisecond. Where exactly a run stops depends on
/// when the flag is raised; what was recorded until then does not.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Runs with this flag end soon, and later ones before their first event.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Runs may go on again.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The flag is looked at before the first event and then every so many.
const EVENTS_BETWEEN_LOOKS: u64 = 256;

/// When a run is to end early.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Raised: now.
    pub flag: StopFlag,
    /// After this many events.
    pub events_max: u64,
}

impl Limits {
    /// Without any.
    pub fn none() -> Limits {
        Limits {
            flag: StopFlag::new(),
            events_max: u64::MAX,
        }
    }

    /// Whether the run is to end when `events` have been handled.
    pub fn reached(&self, events: u64) -> bool {
        events >= self.events_max
            || (events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && self.flag.is_raised())
    }
}

/// Sees nothing, and stops when it is time.
pub struct Limited<'l>(&'l Limits);

impl<'l> Limited<'l> {
    /// For one run.
    pub fn by(limits: &'l Limits) -> Limited<'l> {
        Limited(limits)
    }
}

impl Sink for Limited<'_> {
    fn record(&mut self, _: &Record, _: &Names) {}

    fn looks_after(&self, events: u64) -> u64 {
        let left = self.0.events_max.saturating_sub(events).max(1);
        left.min(EVENTS_BETWEEN_LOOKS - events % EVENTS_BETWEEN_LOOKS)
    }

    fn stops(&mut self, events: u64) -> bool {
        self.0.reached(events)
    }
}
