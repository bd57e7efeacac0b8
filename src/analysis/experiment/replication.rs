//! One replication: played with every pod, and what is kept of it, whatever its level.

use super::player::Player;
use super::stop::{Limited, Limits};
use crate::metrics::summary::{Latency, Shares, cost, ledger, total_cost};
use crate::metrics::timeline::Timeline;
use crate::metrics::training::{Taken, TrainingSummary, by_cause};
use crate::metrics::{Ending, Folds, Phase, Restart, RunView};
use sim_api::spec::Level;
use sim_base::*;
use sim_engine::record::EndReason;
use std::collections::BTreeMap;

/// More restarts than this are not told apart.
pub(super) const EACH: usize = 20;

/// Plays one replication, and keeps what `Replications` needs; nothing if `limits` stopped it.
pub(super) fn replication(
    player: &mut Player,
    (seed, i): (u64, u64),
    not_modelled: &[String],
    limits: &Limits,
) -> Option<Replication> {
    let simulation = player.simulation(seed, i);
    let folds = Folds::new(simulation.scenario(), false).without_paths();
    let mut sink = (folds, Limited::by(limits));
    let outcome = simulation.run(seed, i, &mut sink);
    if outcome.end_reason == EndReason::Stopped {
        return None;
    }
    // Nothing is kept of the run, so nothing is copied as `play` does.
    let folded = sink.0.finish(&outcome, simulation.names());
    let one = RunView {
        scenario: simulation.scenario(),
        names: simulation.names(),
        outcome: &outcome,
        folded: &folded,
        seed,
        not_modelled,
    };
    Some(Replication::of(&one, i))
}

/// What is kept of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Its number.
    pub replication: u64,
    /// How much detail it has.
    pub level: Level,
    /// The hash over its records.
    pub digest: u64,
    /// When it ended, in seconds of virtual time.
    pub end_s: f64,
    /// Why it ended.
    pub end_reason: &'static str,
    /// In the order of the scenario.
    pub jobsets: Vec<ReplicatedJobSet>,
    /// Accelerator-seconds per category.
    pub ledger_s: BTreeMap<&'static str, f64>,
    /// Of installed accelerator-time, steps that count; where JobSets train.
    pub fleet_goodput: Option<f64>,
    /// What the accelerators cost, in the topology's currency.
    pub cost: f64,
    /// The same per category.
    pub cost_by_category: BTreeMap<&'static str, f64>,
    /// Of a fleet all that is told, by name; else nothing.
    pub outputs: Vec<(String, f64)>,
    /// What the run warned of.
    pub warnings: Vec<String>,
    /// Which JobSet never found nodes for all its pods, and why.
    pub never_placed: Option<String>,
}

/// Why nothing was placed, where it was so in every replication; of each why not, if it was not.
pub fn never_placed<'a>(mut of: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let why = of.next()??;
    let never = of.all(|why| why.is_some());
    never.then(|| format!("in none of the replications: {why}"))
}

/// One JobSet of a replication.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicatedJobSet {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// The median over its restarts.
    pub latency_p50_s: Option<f64>,
    /// The 95th percentile over its restarts.
    pub latency_p95_s: Option<f64>,
    /// The longest of its restarts.
    pub latency_max_s: Option<f64>,
    /// Its training job, if it has one.
    pub training: Option<TrainingSummary>,
    /// How far that was at any time.
    pub timeline: Option<Timeline>,
    /// What interruptions took of that, by their cause.
    pub taken: BTreeMap<String, Taken>,
    /// In the order of their start.
    pub each: Vec<BriefRestart>,
}

/// As much of a restart as thousands of replications keep.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefRestart {
    /// When it began.
    pub start: Time,
    /// All ready again; else when the JobSet or the run ended.
    pub end: Time,
    /// How it ended.
    pub ending: Ending,
    /// What each phase took, of the first ones that have any.
    pub(super) phases: Option<Box<[Duration; Phase::COUNT]>>,
}

impl BriefRestart {
    /// Of one without pods.
    pub fn new((start, end): (Time, Time), ending: Ending) -> BriefRestart {
        BriefRestart {
            start,
            end,
            ending,
            phases: None,
        }
    }

    /// The nth of a run.
    fn of((nth, restart): (usize, &Restart)) -> BriefRestart {
        let has_phases = nth < EACH && restart.latency().is_some() && restart.reached().len() > 1;
        let whole = BriefRestart::new((restart.start, restart.end), restart.ending);
        BriefRestart {
            phases: has_phases.then(|| Box::new(restart.phases())),
            ..whole
        }
    }

    /// From the fault to all ready; none if that was never reached.
    pub fn latency(&self) -> Option<Duration> {
        (self.ending == Ending::Ready).then(|| self.end.since(self.start))
    }
}

impl Replication {
    /// What is kept of a run.
    pub fn of(run: &RunView<'_>, replication: u64) -> Replication {
        let outcome = run.outcome;
        let jobset = |(i, o): (usize, &sim_engine::record::JobSetOutcome)| {
            let restarts = || run.restarts_of(JobSetId(i as u32));
            let latency = Latency::of(restarts().filter_map(Restart::latency));
            let training = outcome.training_of(JobSetId(i as u32));
            ReplicatedJobSet {
                terminal_state: o.terminal_state,
                restarts: o.restarts,
                restarts_count_towards_max: o.restarts_count_towards_max,
                latency_p50_s: latency.p50,
                latency_p95_s: latency.p95,
                latency_max_s: latency.max,
                training: training.map(TrainingSummary::of),
                taken: training.map_or_else(BTreeMap::new, |t| by_cause(run, t)),
                timeline: training.and_then(Timeline::of),
                each: restarts().enumerate().map(BriefRestart::of).collect(),
            }
        };
        Replication {
            replication,
            level: Level::Pods,
            digest: outcome.digest,
            end_s: outcome.end.seconds(),
            end_reason: outcome.end_reason.as_str(),
            jobsets: outcome.jobsets.iter().enumerate().map(jobset).collect(),
            ledger_s: ledger(&outcome.ledger),
            fleet_goodput: Shares::of(&outcome.ledger).and_then(|s| s.fleet),
            cost: total_cost(&outcome.ledger),
            cost_by_category: cost(&outcome.ledger),
            outputs: Vec::new(),
            warnings: run.warnings(),
            never_placed: run.never_placed(),
        }
    }
}
