//! The result of one replication, for every level of detail, and the simulation at pod level.

use super::player::ExperimentRunner;
use super::stop::{LimitedRun, ReplicationLimits};
use crate::metrics::summary::{LatencySummary, TimeShares, cost, ledger, total_cost};
use crate::metrics::timeline::JobTimeline;
use crate::metrics::training::{SegmentTime, TrainingSummary, by_cause};
use crate::metrics::{MetricFolds, Phase, RestartMetrics, RestartOutcome, RunView};
use sim_api::spec::ModelLevel;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::EndReason;
use std::collections::BTreeMap;

/// Maximum number of restarts whose phases are kept.
pub(super) const EACH: usize = 20;

/// Runs one replication; `None` if `limits` stopped it.
pub(super) fn replication(
    player: &mut ExperimentRunner,
    (seed, i): (u64, u64),
    not_modelled: &[String],
    limits: &ReplicationLimits,
) -> Option<ReplicationResult> {
    let simulation = player.simulation(seed, i);
    let folds = MetricFolds::new(simulation.scenario(), false).without_paths();
    let mut sink = (folds, LimitedRun::sink(limits));
    let outcome = simulation.run(seed, i, &mut sink);
    if outcome.end_reason == EndReason::Stopped {
        return None;
    }
    // In contrast to `play`, the scenario and the names are not copied.
    let folded = sink.0.finish(&outcome, simulation.names());
    let one = RunView {
        scenario: simulation.scenario(),
        names: simulation.names(),
        outcome: &outcome,
        folded: &folded,
        seed,
        not_modelled,
    };
    Some(ReplicationResult::from_run(&one, i))
}

/// The result of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicationResult {
    /// Number of the replication.
    pub replication: u64,
    /// Level of detail.
    pub level: ModelLevel,
    /// Hash over its records.
    pub digest: u64,
    /// End in seconds of virtual time.
    pub end_s: f64,
    /// Reason why the run ended.
    pub end_reason: &'static str,
    /// JobSets in the order of the scenario.
    pub jobsets: Vec<ReplicatedJobSet>,
    /// Accelerator-seconds per category.
    pub ledger_s: BTreeMap<&'static str, f64>,
    /// Productive steps ÷ installed accelerator-time; if JobSets train.
    pub fleet_goodput: Option<f64>,
    /// Cost of the accelerators in the topology's currency.
    pub cost: f64,
    /// Cost per category.
    pub cost_by_category: BTreeMap<&'static str, f64>,
    /// Outputs of a fleet by name; otherwise empty.
    pub outputs: Vec<(String, f64)>,
    /// Warnings of the run.
    pub warnings: Vec<String>,
    /// The JobSet that never found nodes for all pods, and the reason.
    pub never_placed: Option<String>,
}

/// Returns the reason why a JobSet was never placed, if it was not placed in any replication.
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
    /// The field `status.restarts`.
    pub restarts: u32,
    /// The field `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// Median over its restarts.
    pub latency_p50_s: Option<f64>,
    /// 95th percentile over its restarts.
    pub latency_p95_s: Option<f64>,
    /// Longest of its restarts.
    pub latency_max_s: Option<f64>,
    /// Its training job, if any.
    pub training: Option<TrainingSummary>,
    /// Progress of the training job over time.
    pub timeline: Option<JobTimeline>,
    /// Loss of the training job by cause of interruption.
    pub taken: BTreeMap<String, SegmentTime>,
    /// Restarts in the order of their start.
    pub each: Vec<BriefRestart>,
}

/// The part of a restart kept for thousands of replications.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefRestart {
    /// Start of the restart.
    pub start: SimTime,
    /// Readiness of all pods; otherwise the end of the JobSet or of the run.
    pub end: SimTime,
    /// Final state of the restart.
    pub ending: RestartOutcome,
    /// Duration of each phase, for the first restarts only.
    pub(super) phases: Option<Box<[Duration; Phase::COUNT]>>,
}

impl BriefRestart {
    /// Creates a restart without phases, as in models without pods.
    pub fn new((start, end): (SimTime, SimTime), ending: RestartOutcome) -> BriefRestart {
        BriefRestart {
            start,
            end,
            ending,
            phases: None,
        }
    }

    /// Extracts the `nth` restart of a run.
    fn from_restart((nth, restart): (usize, &RestartMetrics)) -> BriefRestart {
        let has_phases =
            nth < EACH && restart.latency().is_some() && restart.reached_milestones().len() > 1;
        let whole = BriefRestart::new((restart.start, restart.end), restart.ending);
        BriefRestart {
            phases: has_phases.then(|| Box::new(restart.phases())),
            ..whole
        }
    }

    /// Time from the fault to readiness of all pods; `None` if not reached.
    pub fn latency(&self) -> Option<Duration> {
        (self.ending == RestartOutcome::Ready).then(|| self.end.since(self.start))
    }
}

impl ReplicationResult {
    /// Extracts the result from a run.
    pub fn from_run(run: &RunView<'_>, replication: u64) -> ReplicationResult {
        let outcome = run.outcome;
        let jobset = |(i, o): (usize, &sim_engine::record::JobSetOutcome)| {
            let restarts = || run.restarts_of(JobSetId(i as u32));
            let latency =
                LatencySummary::from_durations(restarts().filter_map(RestartMetrics::latency));
            let training = outcome.training_for(JobSetId(i as u32));
            ReplicatedJobSet {
                terminal_state: o.terminal_state,
                restarts: o.restarts,
                restarts_count_towards_max: o.restarts_count_towards_max,
                latency_p50_s: latency.p50,
                latency_p95_s: latency.p95,
                latency_max_s: latency.max,
                training: training.map(TrainingSummary::from_outcome),
                taken: training.map_or_else(BTreeMap::new, |t| by_cause(run, t)),
                timeline: training.and_then(JobTimeline::from_training),
                each: restarts()
                    .enumerate()
                    .map(BriefRestart::from_restart)
                    .collect(),
            }
        };
        ReplicationResult {
            replication,
            level: ModelLevel::Pods,
            digest: outcome.digest,
            end_s: outcome.end.seconds(),
            end_reason: outcome.end_reason.as_str(),
            jobsets: outcome.jobsets.iter().enumerate().map(jobset).collect(),
            ledger_s: ledger(&outcome.ledger),
            fleet_goodput: TimeShares::from_ledger(&outcome.ledger).and_then(|s| s.fleet),
            cost: total_cost(&outcome.ledger),
            cost_by_category: cost(&outcome.ledger),
            outputs: Vec::new(),
            warnings: run.warnings(),
            never_placed: run.never_placed(),
        }
    }
}
