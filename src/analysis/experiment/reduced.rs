//! Replications of the reduced model, in the form used for all levels.

pub mod check;

use super::replication::{BriefRestart, ReplicatedJobSet, ReplicationResult};
use super::stop::StopFlag;
use crate::metrics::summary::{TimeShares, cost, ledger, total_cost};
use crate::metrics::training::{SegmentTime, TrainingSummary};
use crate::{metrics::RestartOutcome, metrics::timeline::JobTimeline};
use sim_api::spec::{ModelLevel, ScenarioSpec};
use sim_base::fnv;
use sim_engine::CannotRun;
use sim_surrogate::reduced::{MeasuredFault, NotMeasured, RecoveryKind, ReducedOutcome, ReducedSimulator, why_not};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The reason why a scenario is not simulated with the reduced model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReducible {
    /// Unsupported features of the scenario.
    Refused(Vec<String>),
    /// The scenario cannot be run.
    CannotRun(CannotRun),
    /// The measurement was stopped.
    Stopped,
}

impl fmt::Display for NotReducible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReducible::Refused(why) => {
                write!(f, "the reduced model does not support this scenario")?;
                why.iter().try_for_each(|why| write!(f, "\n  - {why}"))
            }
            NotReducible::CannotRun(why) => why.fmt(f),
            NotReducible::Stopped => f.write_str("stopped before the restarts were measured"),
        }
    }
}

impl std::error::Error for NotReducible {}

/// A measured scenario, ready for the reduced model.
#[derive(Clone)]
pub struct ReducedExperiment {
    measured: Arc<MeasuredFault>,
    scenario: Arc<ScenarioSpec>,
}

impl fmt::Debug for ReducedExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reduced({})", self.scenario.name)
    }
}

impl ReducedExperiment {
    /// Measures the effects of faults in the scenario. Fails if a feature is unsupported.
    pub fn new(scenario: &ScenarioSpec) -> Result<ReducedExperiment, NotReducible> {
        ReducedExperiment::of_until(scenario, &StopFlag::new())
    }

    /// Like [`ReducedExperiment::new`], but stops early if `stop` is raised.
    pub fn of_until(scenario: &ScenarioSpec, stop: &StopFlag) -> Result<ReducedExperiment, NotReducible> {
        let why = why_not(scenario);
        if !why.is_empty() {
            return Err(NotReducible::Refused(why));
        }
        let measured = MeasuredFault::measure(scenario, &|| stop.is_raised()).map_err(|why| match why {
            NotMeasured::CannotRun(why) => NotReducible::CannotRun(why),
            NotMeasured::Refused(why) => NotReducible::Refused(vec![why]),
            NotMeasured::Stopped => NotReducible::Stopped,
        })?;
        Ok(ReducedExperiment { measured: Arc::new(measured), scenario: Arc::new(scenario.clone()) })
    }

    /// The simulated scenario.
    pub fn scenario(&self) -> &ScenarioSpec {
        &self.scenario
    }

    /// The measurements of fault effects.
    pub fn measured(&self) -> &MeasuredFault {
        &self.measured
    }

    /// Creates a runner of replications.
    pub fn player(&self) -> ReducedSimulator<'_> {
        ReducedSimulator::new(&self.measured)
    }

    /// Converts the outcome of the reduced model to the form that all levels share.
    pub fn replication(&self, outcome: &ReducedOutcome, replication: u64) -> ReplicationResult {
        let each: Vec<BriefRestart> = outcome.recoveries.iter().map(restart).collect();
        let training = &outcome.training;
        let budget_used = outcome.counted.iter().map(|c| c.times).sum();
        let jobset = ReplicatedJobSet {
            all_restarts: outcome.restarts.max(budget_used),
            restart_budget_used: budget_used,
            terminal_state: outcome.terminal_state,
            is_suspended: false,
            has_run_time: training.work.is_some(),
            completed_s: (training.done && training.work.is_some()).then(|| training.end.seconds()),
            restarts: outcome.restarts,
            restarts_count_towards_max: outcome.restarts_count_towards_max,
            training: Some(TrainingSummary::from_outcome(training, None)),
            admission: None,
            taken: self.effect_durations(outcome),
            timeline: JobTimeline::from_training(training),
            each,
        };
        ReplicationResult {
            replication,
            level: ModelLevel::Reduced,
            digest: self.digest(outcome),
            end_s: outcome.end.seconds(),
            end_reason: outcome.end_reason.as_str(),
            jobsets: vec![jobset],
            ledger_s: ledger(&outcome.ledger),
            fleet_goodput: TimeShares::from_ledger(&outcome.ledger).and_then(|s| s.fleet),
            cost: total_cost(&outcome.ledger),
            cost_by_category: cost(&outcome.ledger),
            outputs: Vec::new(),
            warnings: [self.scenario().contradictions(), warnings(outcome)].concat(),
            never_placed: None,
        }
    }

    /// Returns the hash over the outcome of a replication.
    pub fn digest(&self, outcome: &ReducedOutcome) -> u64 {
        digest(outcome)
    }

    /// Reuses the measurements for another scenario, if everything they depend on is equal.
    pub fn reuse_for(&self, scenario: &ScenarioSpec) -> Option<ReducedExperiment> {
        self.with_until(scenario, &StopFlag::new())
    }

    /// Like [`ReducedExperiment::reuse_for`], but stops early if `stop` is raised.
    pub fn with_until(&self, scenario: &ScenarioSpec, stop: &StopFlag) -> Option<ReducedExperiment> {
        if !why_not(scenario).is_empty() {
            return None;
        }
        let again = self.measured.reapply(scenario, &|| stop.is_raised());
        Some(ReducedExperiment { measured: Arc::new(again.ok()??), scenario: Arc::new(scenario.clone()) })
    }

    /// Returns the lost work and the recovery time, in seconds, by the cause of the fault.
    fn effect_durations(&self, outcome: &ReducedOutcome) -> BTreeMap<String, SegmentTime> {
        let processes = &self.scenario.fault_processes;
        let mut all: Vec<Option<SegmentTime>> = vec![None; processes.len()];
        let mut segments = outcome.training.segments.iter();
        for recovery in &outcome.recoveries {
            let Some(taken) = all.get_mut(recovery.process as usize) else {
                continue;
            };
            let taken = taken.get_or_insert_default();
            let segment = segments.find(|s| s.end == recovery.stopped);
            taken.lost_s += segment.map_or(0.0, |s| s.lost.seconds());
            let end = recovery.end;
            taken.recovery_s += end.since(recovery.stopped.min(end)).seconds();
        }
        let mut named: BTreeMap<String, SegmentTime> = BTreeMap::new();
        for (process, taken) in processes.iter().zip(all) {
            let Some(taken) = taken else { continue };
            let sum = named.entry(process.cause.clone()).or_default();
            sum.lost_s += taken.lost_s;
            sum.recovery_s += taken.recovery_s;
        }
        named
    }
}

fn warnings(outcome: &ReducedOutcome) -> Vec<String> {
    let n = outcome.boundary_cases;
    let text =
        format!("{n} faults are close to the boundary between two outcomes; the simulation at pod level may differ");
    if n > 0 { vec![text] } else { Vec::new() }
}

fn restart(recovery: &RecoveryKind) -> BriefRestart {
    let ending = if recovery.is_over { RestartOutcome::Ready } else { RestartOutcome::Unfinished };
    BriefRestart::new((recovery.start, recovery.end), ending)
}

fn digest(outcome: &ReducedOutcome) -> u64 {
    let t = &outcome.training;
    let counters = [
        outcome.end.0,
        u64::from(outcome.restarts),
        u64::from(outcome.restarts_count_towards_max),
        t.reached.0,
        t.commits,
    ];
    let words = counters.iter().chain(&t.spent_ns).copied();
    fnv::fnv1a_words(words)
}
