//! Replications of the reduced model, in the form used for all levels.

use super::replication::{BriefRestart, ReplicatedJobSet, Replication};
use super::stop::StopFlag;
use crate::metrics::Ending;
use crate::metrics::summary::{Latency, Shares, cost, ledger, total_cost};
use crate::metrics::timeline::Timeline;
use crate::metrics::training::{Taken, TrainingSummary};
use crate::reduced::{CollapsedOutcome, CollapsedPlayer, Measured, NotMeasured, Recovery, why_not};
use sim_api::spec::{Level, Scenario};
use sim_base::fnv;
use sim_engine::CannotRun;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The reason why a scenario is not simulated with the reduced model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCollapsed {
    /// Unsupported features of the scenario.
    Refused(Vec<String>),
    /// The scenario cannot be run.
    CannotRun(CannotRun),
    /// The measurement was stopped.
    Stopped,
}

impl fmt::Display for NotCollapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCollapsed::Refused(why) => {
                write!(f, "the collapsed level does not model this scenario")?;
                why.iter().try_for_each(|why| write!(f, "\n  - {why}"))
            }
            NotCollapsed::CannotRun(why) => why.fmt(f),
            NotCollapsed::Stopped => f.write_str("stopped before restarts were measured"),
        }
    }
}

impl std::error::Error for NotCollapsed {}

/// A measured scenario, ready for the reduced model.
#[derive(Clone)]
pub struct Collapsed {
    measured: Arc<Measured>,
    scenario: Arc<Scenario>,
}

impl fmt::Debug for Collapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collapsed({})", self.scenario.name)
    }
}

impl Collapsed {
    /// Measures the effects of faults in the scenario. Fails if a feature is unsupported.
    pub fn of(scenario: &Scenario) -> Result<Collapsed, NotCollapsed> {
        Collapsed::of_until(scenario, &StopFlag::new())
    }

    /// Like [`Collapsed::of`], but stops early if `stop` is raised.
    pub fn of_until(scenario: &Scenario, stop: &StopFlag) -> Result<Collapsed, NotCollapsed> {
        let why = why_not(scenario);
        if !why.is_empty() {
            return Err(NotCollapsed::Refused(why));
        }
        let measured = Measured::of(scenario, &|| stop.is_raised()).map_err(|why| match why {
            NotMeasured::CannotRun(why) => NotCollapsed::CannotRun(why),
            NotMeasured::Refused(why) => NotCollapsed::Refused(vec![why]),
            NotMeasured::Stopped => NotCollapsed::Stopped,
        })?;
        Ok(Collapsed {
            measured: Arc::new(measured),
            scenario: Arc::new(scenario.clone()),
        })
    }

    /// The simulated scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The measurements.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Creates a runner of replications.
    pub fn player(&self) -> CollapsedPlayer<'_> {
        CollapsedPlayer::new(&self.measured)
    }

    /// Converts the outcome of the reduced model to the form that all levels share.
    pub fn replication(&self, outcome: &CollapsedOutcome, replication: u64) -> Replication {
        let each: Vec<BriefRestart> = outcome.recoveries.iter().map(restart).collect();
        let latency = Latency::of(each.iter().filter_map(BriefRestart::latency));
        let training = &outcome.training;
        let jobset = ReplicatedJobSet {
            terminal_state: outcome.terminal_state,
            restarts: outcome.restarts,
            restarts_count_towards_max: outcome.restarts_count_towards_max,
            latency_p50_s: latency.p50,
            latency_p95_s: latency.p95,
            latency_max_s: latency.max,
            training: Some(TrainingSummary::of(training)),
            taken: self.taken(outcome),
            timeline: Timeline::of(training),
            each,
        };
        Replication {
            replication,
            level: Level::Collapsed,
            digest: self.digest(outcome),
            end_s: outcome.end.seconds(),
            end_reason: outcome.end_reason.as_str(),
            jobsets: vec![jobset],
            ledger_s: ledger(&outcome.ledger),
            fleet_goodput: Shares::of(&outcome.ledger).and_then(|s| s.fleet),
            cost: total_cost(&outcome.ledger),
            cost_by_category: cost(&outcome.ledger),
            outputs: Vec::new(),
            warnings: warnings(outcome),
            never_placed: None,
        }
    }

    /// Returns the hash over the outcome of a replication.
    pub fn digest(&self, outcome: &CollapsedOutcome) -> u64 {
        digest(outcome)
    }

    /// Reuses the measurements for another scenario, if everything they depend on is equal.
    pub fn with(&self, scenario: &Scenario) -> Option<Collapsed> {
        self.with_until(scenario, &StopFlag::new())
    }

    /// Like `with`, but stops early if `stop` is raised.
    pub fn with_until(&self, scenario: &Scenario, stop: &StopFlag) -> Option<Collapsed> {
        if !why_not(scenario).is_empty() {
            return None;
        }
        let again = self.measured.again(scenario, &|| stop.is_raised());
        Some(Collapsed {
            measured: Arc::new(again.ok()??),
            scenario: Arc::new(scenario.clone()),
        })
    }

    /// Returns the lost work and the recovery time, in seconds, by the cause of the fault.
    fn taken(&self, outcome: &CollapsedOutcome) -> BTreeMap<String, Taken> {
        let processes = &self.scenario.fault_processes;
        let mut all: Vec<Option<Taken>> = vec![None; processes.len()];
        let mut stretches = outcome.training.stretches.iter();
        for recovery in &outcome.recoveries {
            let Some(taken) = all.get_mut(recovery.process as usize) else {
                continue;
            };
            let taken = taken.get_or_insert_default();
            let stretch = stretches.find(|s| s.until == recovery.stopped);
            taken.lost_s += stretch.map_or(0.0, |s| s.lost.seconds());
            let end = recovery.end;
            taken.recovery_s += end.since(recovery.stopped.min(end)).seconds();
        }
        let mut named: BTreeMap<String, Taken> = BTreeMap::new();
        for (process, taken) in processes.iter().zip(all) {
            let Some(taken) = taken else { continue };
            let sum = named.entry(process.cause.clone()).or_default();
            sum.lost_s += taken.lost_s;
            sum.recovery_s += taken.recovery_s;
        }
        named
    }
}

fn warnings(outcome: &CollapsedOutcome) -> Vec<String> {
    let n = outcome.close_calls;
    let text = format!(
        "{n} faults came so near to the edge between two outcomes that what they did with every pod may differ"
    );
    if n > 0 { vec![text] } else { Vec::new() }
}

fn restart(recovery: &Recovery) -> BriefRestart {
    let ending = match recovery.is_over {
        true => Ending::Ready,
        false => Ending::Unfinished,
    };
    BriefRestart::new((recovery.start, recovery.end), ending)
}

fn digest(outcome: &CollapsedOutcome) -> u64 {
    let t = &outcome.training;
    let counters = [
        outcome.end.0,
        u64::from(outcome.restarts),
        u64::from(outcome.restarts_count_towards_max),
        t.reached.0,
        t.commits,
    ];
    let words = counters.iter().chain(&t.spent_ns).copied();
    fnv::of_words(words)
}
