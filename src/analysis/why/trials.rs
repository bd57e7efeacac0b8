//! Simulates the inputs with changed values, and measures the duration of the subject.

use super::facts::JobSetEnding;
use super::levers::LeverSetting;
use super::no_answer::TrialError;
use super::same_restart::{ExplainedRestart, FoundRestart, RestartOfRun, RestartOrigin, breaks_pods, origins};
use super::{OverrideSetter, ScenarioLoader};
use crate::experiment::parallel::in_parallel_with;
use crate::experiment::{NoRuns, StopFlag};
use crate::metrics::restarts::restart::CauseKind;
use crate::metrics::{RestartBlocker, RestartFold, RestartMetrics, RestartOutcome, RunView};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::SimulationInput;
use sim_engine::record::{Body, DiscardSink, RecordNames, RecordSink, SimulationRecord};
use sim_reliability::faults;
use std::sync::Arc;

/// The quantity that is measured in each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialTarget {
    /// Duration of the explained restart, from the fault until all pods are ready.
    Restart(Arc<ExplainedRestart>),
    /// Time from the creation of a JobSet until all its pods are ready.
    Start { jobset: JobSetId },
    /// Whether a JobSet neither fails nor is blocked or suspended at the end, and the duration of its last restart, or
    /// of its start without a restart.
    Survival { jobset: JobSetId },
}

impl TrialTarget {
    pub fn jobset(&self) -> JobSetId {
        match self {
            TrialTarget::Restart(restart) => restart.jobset,
            TrialTarget::Start { jobset } | TrialTarget::Survival { jobset } => *jobset,
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
    /// The explained restart did not occur: its JobSet stayed ready, although the fault took place, or had completed.
    Removed,
    /// The subject did not occur, which proves nothing.
    Absent,
}

impl MeasuredTrial {
    /// Returns the duration of a subject that was completed or removed.
    pub fn takes(self) -> Option<Duration> {
        match self {
            MeasuredTrial::Took(takes) => Some(takes),
            MeasuredTrial::Removed => Some(Duration::ZERO),
            MeasuredTrial::NeverEnded | MeasuredTrial::Absent => None,
        }
    }
}

/// A setting with its result, or the reason why it could not be simulated.
pub struct TriedChange<'s> {
    pub setting: &'s LeverSetting,
    pub result: Result<MeasuredTrial, TrialError>,
}

/// Simulates all settings on a number of threads (0: one per core). Results are in the order of the settings.
pub fn simulate_all<'s>(
    load: &ScenarioLoader<'_>, settings: &'s [LeverSetting], (target, seed): (&TrialTarget, Option<u64>),
    threads: usize,
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
    load: &ScenarioLoader<'_>, settings: &[&[OverrideSetter]], (target, seed): (&TrialTarget, Option<u64>),
    (draws, threads): (u64, usize),
) -> Result<Vec<Vec<MeasuredTrial>>, NoRuns> {
    let one = |(): &mut (), i: u64| {
        Some(simulate_in_draws(load, settings[i as usize], (target, seed), draws).unwrap_or_default())
    };
    in_parallel_with(|| Ok(()), (settings.len() as u64, threads), &StopFlag::new(), one)
}

/// Simulates each setting to the end of the run. A setting that cannot be simulated has no endings.
pub fn simulate_endings(
    load: &ScenarioLoader<'_>, settings: &[&[OverrideSetter]], seed: Option<u64>, threads: usize,
) -> Result<Vec<Vec<JobSetEnding>>, NoRuns> {
    let one = |(): &mut (), i: u64| Some(endings_of(load, settings[i as usize], seed).unwrap_or_default());
    in_parallel_with(|| Ok(()), (settings.len() as u64, threads), &StopFlag::new(), one)
}

fn endings_of(
    load: &ScenarioLoader<'_>, sets: &[OverrideSetter], seed: Option<u64>,
) -> Result<Vec<JobSetEnding>, TrialError> {
    let loaded = load(sets).map_err(|reason| TrialError::InvalidInput { reason })?;
    let seed = seed.unwrap_or(loaded.scenario.seed);
    let mut simulation = SimulationInput::new(&faults::draw_faults(&loaded.scenario, seed, 0))?;
    let outcome = simulation.run(seed, 0, &mut DiscardSink);
    Ok(JobSetEnding::of_run(&outcome, simulation.names()))
}

/// Simulates the inputs with these overrides.
pub fn simulate_one(
    load: &ScenarioLoader<'_>, sets: &[OverrideSetter], (target, seed): (&TrialTarget, Option<u64>),
) -> Result<MeasuredTrial, TrialError> {
    let loaded = load(sets).map_err(|reason| TrialError::InvalidInput { reason })?;
    let seed = seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario)?;
    Ok(measure(&mut simulation, target, (seed, 0)))
}

fn simulate_in_draws(
    load: &ScenarioLoader<'_>, sets: &[OverrideSetter], (target, seed): (&TrialTarget, Option<u64>), draws: u64,
) -> Result<Vec<MeasuredTrial>, TrialError> {
    let loaded = load(sets).map_err(|reason| TrialError::InvalidInput { reason })?;
    let seed = seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario)?;
    Ok((1..=draws).map(|draw| measure(&mut simulation, target, (seed, draw))).collect())
}

/// Runs a scenario and measures the subject.
pub(super) fn measure(
    simulation: &mut SimulationInput, target: &TrialTarget, (seed, draw): (u64, u64),
) -> MeasuredTrial {
    let mut sink = SoughtChange {
        fold: RestartFold::new(simulation.scenario()).without_paths(),
        witness: RestartBlocker::default(),
        target,
        origins: origins(simulation.scenario()),
        was_ready: false,
        occurred: Vec::new(),
        seen: 0,
        found: false,
    };
    let outcome = simulation.run(seed, draw, &mut sink);
    let SoughtChange { fold, witness, origins, was_ready, occurred, .. } = sink;
    let restarts = fold.finish(&outcome, simulation.names());
    let jobset = target.jobset();
    let mut own = restarts.iter().filter(|r| r.jobset == jobset);
    let state = outcome.jobsets.get(jobset.ix());
    match target {
        TrialTarget::Restart(explained) => {
            let own: Vec<RestartOfRun> =
                own.map(|restart| RestartOfRun::new(restart, &origins, simulation.names())).collect();
            let is_over = || {
                let completed = state?.conditions.iter().find(|c| c.kind == "Completed" && c.status)?;
                Some(completed.last_transition <= explained.explained().start)
            };
            // A fault that finds no target in the changed run delays nothing there.
            let is_without_target = |index: u32| {
                let number = simulation.scenario().fault_number(index);
                let words = [format!("fault {number}: no "), format!("fault {number}: pod ")];
                outcome.warnings.iter().any(|warning| words.iter().any(|word| warning.starts_with(word)))
            };
            let known = |index: &u32| origins.get(*index as usize).filter(|_| !is_without_target(*index));
            let occurred: Vec<&RestartOrigin> = occurred.iter().filter_map(known).collect();
            let lacks_fault = |until: SimTime| {
                let mut later = explained.later_faults.iter();
                later.any(|(origin, at)| *at < until && !occurred.contains(&origin))
            };
            // Without the fault of the restart, nothing is learned about it.
            let own_origin = &explained.explained().origin;
            let is_event = matches!(own_origin, RestartOrigin::Event { .. });
            let fault_occurred = is_event || occurred.contains(&own_origin);
            let is_lost = || {
                let endings = JobSetEnding::of_run(&outcome, simulation.names());
                endings.get(jobset.ix()).is_some_and(|ending| ending.is_lost())
            };
            match explained.find(&own) {
                FoundRestart::Same(restart) if lacks_fault(restart.end) => MeasuredTrial::Absent,
                FoundRestart::Same(restart) => length_from(restart.start, std::iter::once(restart)),
                FoundRestart::Instead(others) if !others.is_empty() => {
                    let end = others.iter().map(|restart| restart.end).max();
                    if !fault_occurred || end.is_some_and(lacks_fault) {
                        MeasuredTrial::Absent
                    } else {
                        length_from(explained.explained().start, others.into_iter())
                    }
                }
                FoundRestart::Instead(_) if is_over() == Some(true) => MeasuredTrial::Removed,
                FoundRestart::Instead(_) if !was_ready || !fault_occurred => MeasuredTrial::Absent,
                FoundRestart::Instead(_) if lacks_fault(explained.explained().end) => MeasuredTrial::Absent,
                FoundRestart::Instead(_) if is_lost() && !explained.is_lost_later => MeasuredTrial::NeverEnded,
                FoundRestart::Instead(_) => MeasuredTrial::Removed,
            }
        }
        TrialTarget::Start { .. } => match witness.start(jobset).duration() {
            Some(takes) => MeasuredTrial::Took(takes),
            None => MeasuredTrial::NeverEnded,
        },
        TrialTarget::Survival { .. } => {
            let name = simulation.names().jobset(jobset);
            match state.map(|o| o.terminal_state) {
                Some("Failed") => MeasuredTrial::NeverEnded,
                _ if outcome.blocked_reason(name).is_some() => MeasuredTrial::NeverEnded,
                _ if state.is_some_and(|o| o.suspended_since().is_some()) => MeasuredTrial::NeverEnded,
                _ => match (own.next_back(), witness.start(jobset).duration()) {
                    (Some(last), _) if last.ending == RestartOutcome::Ready => MeasuredTrial::Took(last.total()),
                    (Some(_), _) => MeasuredTrial::NeverEnded,
                    (None, Some(takes)) => MeasuredTrial::Took(takes),
                    (None, None) => MeasuredTrial::Absent,
                },
            }
        }
    }
}

/// Returns the sum of the durations of restarts from a time on.
fn length_from<'r>(from: SimTime, restarts: impl Iterator<Item = &'r RestartOfRun>) -> MeasuredTrial {
    let mut sum = Duration::ZERO;
    for restart in restarts {
        if restart.ending != RestartOutcome::Ready {
            return MeasuredTrial::NeverEnded;
        }
        sum = sum + restart.end.since(restart.start.max(from));
    }
    MeasuredTrial::Took(sum)
}

/// Number of events between two checks for the end of the subject. Frequent checks cost time.
const BETWEEN_LOOKS: u64 = 256;

/// Sink that detects restarts and stops the run when the subject has ended.
struct SoughtChange<'t> {
    fold: RestartFold,
    witness: RestartBlocker,
    target: &'t TrialTarget,
    /// Origin of each fault of the scenario.
    origins: Vec<RestartOrigin>,
    /// Whether the JobSet was ready when the explained restart began.
    was_ready: bool,
    /// Indices of the faults that occurred.
    occurred: Vec<u32>,
    /// Number of ended restarts that were compared with the explained one.
    seen: usize,
    found: bool,
}

impl SoughtChange<'_> {
    /// Handles what decides about a restart that does not occur.
    fn note_absence(&mut self, explained: &ExplainedRestart, record: &SimulationRecord) {
        let own = explained.explained();
        match record.body {
            // A restart begins at the earliest when every pod is ready.
            Body::AllReady { jobset, ready }
                if jobset == explained.jobset && (record.at < own.start || ready && record.at == own.start) =>
            {
                self.was_ready = ready;
            }
            Body::Fault { index, .. } => self.occurred.push(index),
            _ => {}
        }
    }
}

impl RecordSink for SoughtChange<'_> {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.fold.record(record, names);
        if let TrialTarget::Restart(explained) = self.target {
            self.note_absence(explained, record);
        }
        let Body::AllReady { ready: true, .. } = record.body else {
            if matches!(record.body, Body::JobSetCreated { .. }) {
                self.witness.record(record, names);
            }
            return;
        };
        self.witness.record(record, names);
        self.found = match self.target {
            TrialTarget::Restart(explained) => {
                let mut is_found = self.found;
                for restart in self.fold.ended(explained.jobset).skip(self.seen) {
                    self.seen += 1;
                    is_found |= explained.is_certainly(&RestartOfRun::new(restart, &self.origins, names));
                }
                is_found
            }
            TrialTarget::Start { jobset } => self.witness.start(*jobset).ready.is_some(),
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

/// Returns the explained restart with the others of its JobSet in the run of a scenario with drawn faults. `fired`
/// contains the faults that occurred.
pub(super) fn explained_restart(
    run: &RunView<'_>, all: &[RestartMetrics], at: usize, fired: &[(u32, SimTime)],
) -> TrialTarget {
    let (scenario, names) = (run.scenario, run.names);
    let (restart, origins) = (&all[at], origins(scenario));
    let jobset = restart.jobset;
    let is_own = |index: u32| restart.cause.kind == CauseKind::Fault { index };
    let within = |(index, at): &&(u32, SimTime)| restart.start <= *at && *at < restart.end && !is_own(*index);
    let harms = |index: u32| scenario.faults.get(index as usize).is_some_and(|fault| breaks_pods(&fault.action));
    let origin = |(index, at): &(u32, SimTime)| Some((origins.get(*index as usize)?.clone(), *at));
    let later = fired.iter().filter(within).filter(|(index, _)| harms(*index)).filter_map(origin);
    let endings = JobSetEnding::of_run(run.outcome, names);
    let is_lost = endings.get(jobset.ix()).is_some_and(|ending| ending.is_lost());
    let own = all.iter().enumerate().filter(|(_, restart)| restart.jobset == jobset);
    let (indices, own): (Vec<usize>, Vec<RestartOfRun>) =
        own.map(|(index, restart)| (index, RestartOfRun::new(restart, &origins, names))).unzip();
    TrialTarget::Restart(Arc::new(ExplainedRestart {
        jobset,
        all: own,
        at: indices.iter().position(|index| *index == at).unwrap_or(0),
        later_faults: later.collect(),
        is_lost_later: is_lost && restart.ending == RestartOutcome::Ready,
    }))
}
