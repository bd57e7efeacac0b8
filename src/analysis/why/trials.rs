//! Simulates the inputs with changed values, and measures the duration of the subject.

use super::levers::LeverSetting;
use super::no_answer::TrialError;
use super::{OverrideSetter, ScenarioLoader};
use crate::experiment::parallel::in_parallel_with;
use crate::experiment::{NoRuns, StopFlag};
use crate::metrics::{RestartBlocker, RestartFold, RestartOutcome};
use sim_base::{Duration, JobSetId};
use sim_engine::SimulationInput;
use sim_engine::record::{Body, RecordNames, RecordSink, SimulationRecord};
use sim_reliability::faults;

/// The quantity that is measured in each run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TrialTarget {
    /// Duration of the nth restart of a JobSet, counted from 0, from the fault until all pods are ready.
    Restart { jobset: JobSetId, nth: usize },
    /// Time from the creation of a JobSet until all its pods are ready.
    Start { jobset: JobSetId },
    /// Whether a JobSet neither fails nor is blocked or suspended at the end, and the duration of its last restart, or
    /// of its start without a restart.
    Survival { jobset: JobSetId },
}

impl TrialTarget {
    pub fn jobset(self) -> JobSetId {
        match self {
            TrialTarget::Restart { jobset, .. } | TrialTarget::Start { jobset } | TrialTarget::Survival { jobset } => {
                jobset
            }
        }
    }
}

/// Result of one run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MeasuredTrial {
    /// The subject was completed in this time.
    Took(Duration),
    /// The subject began, but was not completed.
    NeverEnded,
    /// The subject did not occur.
    Absent,
}

/// A setting with its result, or the reason why it could not be simulated.
pub struct TriedChange<'s> {
    pub setting: &'s LeverSetting,
    pub result: Result<MeasuredTrial, TrialError>,
}

/// Simulates all settings on a number of threads (0: one per core). Results are in the order of the settings.
pub fn simulate_all<'s>(
    load: &ScenarioLoader<'_>, settings: &'s [LeverSetting], (target, seed): (TrialTarget, Option<u64>), threads: usize,
) -> Result<Vec<TriedChange<'s>>, NoRuns> {
    let one = |(): &mut (), i: u64| {
        let setting = &settings[i as usize];
        let result = simulate_one(load, &setting.sets, (target, seed));
        Some(TriedChange { setting, result })
    };
    let n = settings.len() as u64;
    in_parallel_with(|| Ok(()), (n, threads), &StopFlag::new(), one)
}

/// Simulates each setting in several draws of all random numbers but those of faults. Settings that cannot be simulated
/// have no results.
pub fn simulate_draws(
    load: &ScenarioLoader<'_>, settings: &[&[OverrideSetter]], (target, seed): (TrialTarget, Option<u64>),
    (draws, threads): (u64, usize),
) -> Result<Vec<Vec<MeasuredTrial>>, NoRuns> {
    let one = |(): &mut (), i: u64| {
        Some(simulate_in_draws(load, settings[i as usize], (target, seed), draws).unwrap_or_default())
    };
    in_parallel_with(|| Ok(()), (settings.len() as u64, threads), &StopFlag::new(), one)
}

/// Simulates the inputs with these overrides.
pub fn simulate_one(
    load: &ScenarioLoader<'_>, sets: &[OverrideSetter], (target, seed): (TrialTarget, Option<u64>),
) -> Result<MeasuredTrial, TrialError> {
    let loaded = load(sets).map_err(|reason| TrialError::InvalidInput { reason })?;
    let seed = seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario)?;
    Ok(measure(&mut simulation, target, (seed, 0)))
}

fn simulate_in_draws(
    load: &ScenarioLoader<'_>, sets: &[OverrideSetter], (target, seed): (TrialTarget, Option<u64>), draws: u64,
) -> Result<Vec<MeasuredTrial>, TrialError> {
    let loaded = load(sets).map_err(|reason| TrialError::InvalidInput { reason })?;
    let seed = seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario)?;
    Ok((1..=draws).map(|draw| measure(&mut simulation, target, (seed, draw))).collect())
}

/// Runs a scenario and measures the subject.
pub(super) fn measure(
    simulation: &mut SimulationInput, target: TrialTarget, (seed, draw): (u64, u64),
) -> MeasuredTrial {
    let mut sink = SoughtChange {
        fold: RestartFold::new(simulation.scenario()).without_paths(),
        witness: RestartBlocker::default(),
        target,
        found: false,
    };
    let outcome = simulation.run(seed, draw, &mut sink);
    let SoughtChange { fold, witness, .. } = sink;
    let restarts = fold.finish(&outcome, simulation.names());
    let jobset = target.jobset();
    let mut own = restarts.iter().filter(|r| r.jobset == jobset);
    let of = |restart: Option<&crate::metrics::RestartMetrics>| match restart {
        Some(r) if r.ending == RestartOutcome::Ready => MeasuredTrial::Took(r.total()),
        Some(_) => MeasuredTrial::NeverEnded,
        None => MeasuredTrial::Absent,
    };
    match target {
        TrialTarget::Restart { nth, .. } => of(own.nth(nth)),
        TrialTarget::Start { .. } => match witness.start(jobset).duration() {
            Some(takes) => MeasuredTrial::Took(takes),
            None => MeasuredTrial::NeverEnded,
        },
        TrialTarget::Survival { .. } => {
            let state = outcome.jobsets.get(jobset.ix());
            let name = simulation.names().jobset(jobset);
            match state.map(|o| o.terminal_state) {
                Some("Failed") => MeasuredTrial::NeverEnded,
                _ if outcome.blocked_reason(name).is_some() => MeasuredTrial::NeverEnded,
                _ if state.is_some_and(|o| o.suspended_since().is_some()) => MeasuredTrial::NeverEnded,
                _ => match (own.next_back(), witness.start(jobset).duration()) {
                    (None, Some(takes)) => MeasuredTrial::Took(takes),
                    (last, _) => of(last),
                },
            }
        }
    }
}

/// Number of events between two checks for the end of the subject. Frequent checks cost time.
const BETWEEN_LOOKS: u64 = 256;

/// Sink that detects restarts and stops the run when the subject has ended.
struct SoughtChange {
    fold: RestartFold,
    witness: RestartBlocker,
    target: TrialTarget,
    found: bool,
}

impl RecordSink for SoughtChange {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.fold.record(record, names);
        let Body::AllReady { ready: true, .. } = record.body else {
            if matches!(record.body, Body::JobSetCreated { .. }) {
                self.witness.record(record, names);
            }
            return;
        };
        self.witness.record(record, names);
        self.found = match self.target {
            TrialTarget::Restart { jobset, nth } => self.fold.ended(jobset) > nth,
            TrialTarget::Start { jobset } => self.witness.start(jobset).ready.is_some(),
            TrialTarget::Survival { .. } => false,
        };
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        BETWEEN_LOOKS
    }

    fn should_stop(&mut self, _: u64) -> bool {
        self.found
    }
}
