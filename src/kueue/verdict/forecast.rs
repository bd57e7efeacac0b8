//! The time until a pending Workload gets quota, if other Workloads run for given times.
//!
//! Only the queues are simulated: a Workload runs from its admission to its end without starts, failures or evictions
//! for missing readiness, and nothing new is submitted. A preempted Workload starts again from the beginning.

use super::state::QueueState;
use super::trial::AdmissionTrial;
use crate::driver::{retry_requested, run_cycles};
use crate::workload::{ConditionType, WorkloadKey};
use sim_base::{Duration, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of steps of one forecast per Workload, each with an admission, an end or a retry.
const STEPS_PER_WORKLOAD: usize = 1_000;

/// Run times of Workloads.
pub trait RunTimes {
    /// Returns the total run time of a Workload for the `nth` time that it runs, given that it has run for `elapsed`.
    fn run_time(&mut self, key: WorkloadKey, nth: u32, elapsed: Duration) -> Duration;
}

/// Outcome of one forecast.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ForecastWait {
    Reserved(Duration),
    /// No quota before the limit.
    Beyond,
    /// Workloads preempted each other until the maximum number of steps.
    DidNotSettle,
}

/// Returns the time until the Workload gets quota, if it gets it before `limit`.
pub fn forecast_wait(state: &QueueState, key: WorkloadKey, limit: Duration, times: &mut dyn RunTimes) -> ForecastWait {
    let mut forecast = Forecast {
        trial: AdmissionTrial::new(state, Some(key)),
        ends: BTreeSet::new(),
        running: BTreeMap::new(),
        runs: BTreeMap::new(),
    };
    forecast.start_running(state, times);
    for _ in 0..STEPS_PER_WORKLOAD.saturating_mul(state.workloads.len() + 1) {
        run_cycles(&mut forecast.trial);
        if forecast.trial.has_quota() {
            return ForecastWait::Reserved(forecast.trial.now.since(state.now));
        }
        forecast.note_admissions(state, times);
        if !forecast.advance() || forecast.trial.now.since(state.now) > limit {
            return ForecastWait::Beyond;
        }
    }
    ForecastWait::DidNotSettle
}

struct Forecast {
    trial: AdmissionTrial,
    ends: BTreeSet<(SimTime, WorkloadKey)>,
    /// End by running Workload.
    running: BTreeMap<WorkloadKey, SimTime>,
    /// Number of times that a Workload has started.
    runs: BTreeMap<WorkloadKey, u32>,
}

impl Forecast {
    /// Draws the rest of the run times of Workloads that run already.
    fn start_running(&mut self, state: &QueueState, times: &mut dyn RunTimes) {
        for key in 0..state.workloads.len() {
            let Some(workload) = state.workload(key).filter(|w| w.has_active_reservation()) else { continue };
            let since = workload.condition(ConditionType::QuotaReserved).map_or(state.now, |c| c.since);
            let elapsed = Duration(state.now.0.saturating_sub(since.0));
            let total = times.run_time(key, 0, elapsed);
            self.run(key, state.now + Duration(total.0.saturating_sub(elapsed.0)));
        }
    }

    fn run(&mut self, key: WorkloadKey, end: SimTime) {
        *self.runs.entry(key).or_default() += 1;
        self.running.insert(key, end);
        self.ends.insert((end, key));
    }

    fn note_admissions(&mut self, state: &QueueState, times: &mut dyn RunTimes) {
        for key in 0..state.workloads.len() {
            let has_quota = self.trial.driver.manager.workload(key).is_some_and(|w| w.has_active_reservation());
            if has_quota && !self.running.contains_key(&key) {
                let nth = self.runs.get(&key).copied().unwrap_or(0);
                let total = times.run_time(key, nth, Duration::ZERO);
                self.run(key, self.trial.now + total);
            }
        }
    }

    /// Stops evicted Workloads and retries the queues, or ends the next Workload. Returns false if nothing is left.
    fn advance(&mut self) -> bool {
        self.trial.stop_evicted();
        let manager = &self.trial.driver.manager;
        let holds = |key: &WorkloadKey| manager.workload(*key).is_some_and(|w| w.has_active_reservation());
        let stopped: Vec<(WorkloadKey, SimTime)> =
            self.running.iter().filter(|(key, _)| !holds(key)).map(|(key, end)| (*key, *end)).collect();
        for (key, end) in stopped {
            self.running.remove(&key);
            self.ends.remove(&(end, key));
        }
        if retry_requested(&mut self.trial) {
            return true;
        }
        let Some((end, key)) = self.ends.first().copied() else { return false };
        // Until then, the past usage of the LocalQueues may change the order of the pending Workloads.
        if let Some(sample) = self.trial.driver.manager.next_sample().filter(|at| self.trial.now < *at && *at < end) {
            self.trial.now = sample;
            return true;
        }
        self.ends.pop_first();
        self.trial.now = self.trial.now.max(end);
        self.running.remove(&key);
        self.trial.driver.manager.workload_deleted(key, self.trial.now);
        true
    }
}
