//! The result of one replication, for every level of detail, and the simulation at pod level.

use super::player::ExperimentRunner;
use super::stop::{LimitSink, ReplicationLimits};
use crate::metrics::assumed;
use crate::metrics::summary::{TimeShares, cost, ledger, total_cost};
use crate::metrics::timeline::JobTimeline;
use crate::metrics::training::{SegmentTime, TrainingSummary, by_cause};
use crate::metrics::{MetricFolds, Phase, RestartMetrics, RestartOutcome, RunView};
use sim_api::spec::ModelLevel;
use sim_base::{Duration, JobSetId, SimTime, stats};
use sim_engine::record::{EndReason, JobSetOutcome, LedgerCategory, TrainingOutcome};
use std::collections::BTreeMap;

/// Maximum number of restarts whose phases are kept.
pub(super) const EACH: usize = 20;

/// Runs one replication; `None` if `limits` stopped it.
pub(super) fn replication(
    player: &mut ExperimentRunner, (seed, i): (u64, u64), not_modelled: &[String], limits: &ReplicationLimits,
) -> Option<ReplicationResult> {
    let simulation = player.simulation(seed, i);
    let folds = MetricFolds::new(simulation.scenario(), false).without_paths();
    let mut sink = (folds, LimitSink::sink(limits));
    let outcome = simulation.run(seed, i, &mut sink);
    if outcome.end_reason == EndReason::Stopped {
        return None;
    }
    // The scenario and the names are not copied: the result contains only numbers.
    let folded = sink.0.finish(simulation.scenario(), &outcome, simulation.names());
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
#[derive(Clone, Debug, Default, PartialEq)]
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicatedJobSet {
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// Whether the JobSet is suspended at the end of the run.
    pub is_suspended: bool,
    /// Whether it is suspended then and neither Kueue nor an action of the scenario resumes it.
    pub is_left_suspended: bool,
    /// Whether the inputs limit the run time of all its pods, or the work of its training job.
    pub has_run_time: bool,
    /// Time at which the JobSet completed or its training work was done, in seconds of virtual time.
    pub completed_s: Option<f64>,
    /// The field `status.restarts`.
    pub restarts: u32,
    /// The field `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// Number of restarts of every kind: of the whole JobSet, of single Jobs, and in place.
    pub all_restarts: u32,
    /// The use of `maxRestarts` as the controller compares it with the limit.
    pub restart_budget_used: u32,
    /// Its training job, if any.
    pub training: Option<TrainingSummary>,
    /// Its admission, if Kueue manages it.
    pub admission: Option<ReplicatedAdmission>,
    /// Progress of the training job over time.
    pub timeline: Option<JobTimeline>,
    /// Loss of the training job by cause of interruption.
    pub taken: BTreeMap<String, SegmentTime>,
    /// Restarts in the order of their start.
    pub each: Vec<BriefRestart>,
}

/// The admission of a JobSet by Kueue.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct ReplicatedAdmission {
    /// Seconds from the creation until the JobSet first has quota and all its AdmissionChecks are ready; `None` if that
    /// never happens.
    pub first_wait_s: Option<f64>,
    /// Seconds without quota over the whole life of the JobSet.
    pub total_wait_s: f64,
    /// Number of evictions of the Workload.
    pub evictions: u32,
}

/// A quantile of the restart latencies of one JobSet.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum RestartQuantile {
    /// The quantile in seconds.
    Seconds(f64),
    /// The quantile is among the restarts that the end of the run interrupted, so it is unknown.
    Unfinished,
    /// There was no restart.
    NoRestart,
}

impl RestartQuantile {
    /// Returns the quantile in seconds, if it is known.
    pub fn seconds(self) -> Option<f64> {
        match self {
            RestartQuantile::Seconds(seconds) => Some(seconds),
            RestartQuantile::Unfinished | RestartQuantile::NoRestart => None,
        }
    }
}

impl ReplicatedJobSet {
    /// Returns the quantile `p` of the restart latencies. Restarts that the end of the run interrupted are censored:
    /// they are longer than all others. Restarts that the end of the JobSet interrupted do not count.
    pub fn latency_quantile(&self, p: f64) -> RestartQuantile {
        let latency = |r: &BriefRestart| match r.ending {
            RestartOutcome::Ready => Some(r.end.since(r.start).seconds()),
            RestartOutcome::Unfinished => Some(f64::INFINITY),
            RestartOutcome::JobSetEnded => None,
        };
        let sorted = stats::sorted(self.each.iter().filter_map(latency).collect());
        match stats::quantile(&sorted, p) {
            Some(seconds) if seconds.is_finite() => RestartQuantile::Seconds(seconds),
            Some(_) => RestartQuantile::Unfinished,
            None => RestartQuantile::NoRestart,
        }
    }
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
        BriefRestart { start, end, ending, phases: None }
    }

    /// Extracts the `nth` restart of a run.
    fn from_restart((nth, restart): (usize, &RestartMetrics)) -> BriefRestart {
        let has_phases = nth < EACH && restart.latency().is_some() && restart.reached_milestones().len() > 1;
        let complete = BriefRestart::new((restart.start, restart.end), restart.ending);
        BriefRestart { phases: has_phases.then(|| Box::new(restart.phases())), ..complete }
    }

    /// Time from the fault to readiness of all pods; `None` if not reached.
    pub fn latency(&self) -> Option<Duration> {
        (self.ending == RestartOutcome::Ready).then(|| self.end.since(self.start))
    }
}

/// Returns the time at which the JobSet completed or its training work was done, whichever is earlier.
fn completed(jobset: &JobSetOutcome, training: Option<&TrainingOutcome>) -> Option<SimTime> {
    let mut conditions = jobset.conditions.iter();
    let completed = conditions.find(|c| c.kind == "Completed" && c.status);
    let trained = training.filter(|t| t.done && t.work.is_some());
    let times = [completed.map(|c| c.last_transition), trained.map(|t| t.end)];
    times.into_iter().flatten().min()
}

impl ReplicationResult {
    /// Returns the time at which the last JobSet completed, in seconds; the end of the run if that is unknown.
    pub fn completed_s(&self) -> f64 {
        let last = self.jobsets.iter().filter_map(|j| j.completed_s).reduce(f64::max);
        last.unwrap_or(self.end_s)
    }

    /// Returns the productive accelerator-hours; `None` if there are none.
    pub fn productive_h(&self) -> Option<f64> {
        let productive = self.ledger_s.get(LedgerCategory::Productive.as_str())?;
        (*productive > 0.0).then(|| productive / 3600.0)
    }

    /// Extracts the result from a run.
    pub fn from_run(run: &RunView<'_>, replication: u64) -> ReplicationResult {
        let outcome = run.outcome;
        let jobset = |(i, o): (usize, &JobSetOutcome)| {
            let restarts = || run.restarts_of(JobSetId(i as u32));
            let training = outcome.training_for(JobSetId(i as u32));
            let job = run.scenario.training_for(JobSetId(i as u32));
            let totals = run.folded.counted.totals(JobSetId(i as u32));
            ReplicatedJobSet {
                all_restarts: totals.restarts,
                restart_budget_used: totals.budget_used,
                terminal_state: o.terminal_state,
                is_suspended: o.suspended_since().is_some(),
                is_left_suspended: run.who_resumes(JobSetId(i as u32)).is_some(),
                has_run_time: !o.deleted && assumed::has_run_time(run.scenario, JobSetId(i as u32)),
                completed_s: completed(o, training).map(SimTime::seconds),
                restarts: o.restarts,
                restarts_count_towards_max: o.restarts_count_towards_max,
                training: training.map(|t| TrainingSummary::from_outcome(t, job)),
                admission: run.admission_of(JobSetId(i as u32)).map(|own| ReplicatedAdmission {
                    first_wait_s: own.first_wait().map(Duration::seconds),
                    total_wait_s: own.total_wait(outcome.end).seconds(),
                    evictions: own.evictions.len() as u32,
                }),
                taken: training.map_or_else(BTreeMap::new, |t| by_cause(run, t)),
                timeline: training.and_then(JobTimeline::from_training),
                each: restarts().enumerate().map(BriefRestart::from_restart).collect(),
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
