//! Replications that keep only their restarts, counted towards the limit or not, with their causes.

use super::experiment_input::ExperimentSubject;
use super::nodes::{NodesExperiment, NotAtNodes};
use super::parallel::{NoRuns, in_parallel_with};
use super::player::ExperimentRunner;
use super::stop::{LimitSink, ReplicationLimits, StopFlag};
use crate::metrics::training::cause_name;
use crate::metrics::{CountedFold, CountedUse, RestartFold, RestartMetrics};
use sim_api::spec::{
    DISRUPTION_TARGET, FailurePolicyAction, FailurePolicyRule, FleetSpec, POD_FAILURE_POLICY, PodFailurePolicyAction,
    PodFailurePolicyRule, ReplicatedJob, ScenarioSpec,
};
use sim_base::random::MixtureDistribution;
use sim_base::time::MAX_INPUT_DURATION;
use sim_base::{Duration, JobId, JobSetId, SimTime, row_or_default};
use sim_engine::record::{Body, EndReason, JobConditionType, RecordNames, RecordSink, SimulationRecord};
use sim_surrogate::fleet::{FleetEnd, FleetSimulation};
use sim_surrogate::nodes::{CountedRestart, NodesOutcome};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Restarts that were decided at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedAt {
    /// Virtual time in seconds.
    pub at_s: f64,
    /// Number of restarts.
    pub times: u32,
    /// The cause: a random fault by its name, any other cause by its kind.
    pub cause: Arc<str>,
    /// True if the failed Job has the reason PodFailurePolicy. Not known without pods.
    pub is_pod_failure_policy: bool,
}

/// The counted restarts of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedRun {
    /// Number of the replication.
    pub replication: u64,
    /// End in seconds of virtual time.
    pub end_s: f64,
    /// True if the job completed its work.
    pub completed: bool,
    /// The reason of an early end without completed work.
    pub ended_otherwise: Option<&'static str>,
    /// The reason why it never found nodes for all pods, if so.
    pub never_placed: Option<String>,
    /// Counted restarts in order of time.
    pub used: Vec<UsedAt>,
    /// Restarts that do not count towards the limit, in order of time.
    pub uncounted: Vec<UsedAt>,
    /// Hash over its records.
    pub digest: u64,
}

/// Runs replications of a subject and counts the restarts of one of its JobSets.
pub fn count_restarts(
    (subject, jobset): (&ExperimentSubject, usize), (seed, which): (u64, Range<u64>),
    (threads, limits): (usize, &ReplicationLimits), done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<CountedRun>, NoRuns> {
    let (from, n) = (which.start, which.end.saturating_sub(which.start));
    let finished = AtomicU64::new(0);
    let tell = || done(finished.fetch_add(1, Ordering::Relaxed) + 1);
    match subject {
        ExperimentSubject::Fleet(fleet) => {
            let make = || Ok(FleetSimulation::new(fleet).noting_restarts());
            let causes = causes(fleet);
            in_parallel_with(make, (n, threads), &limits.flag, |simulation, i| {
                let run = of_fleet(simulation, &causes, (seed, from + i), limits)?;
                tell();
                Some(run)
            })
        }
        ExperimentSubject::Nodes(nodes) => {
            let make = || Ok(nodes.player());
            in_parallel_with(make, (n, threads), &limits.flag, |player, i| {
                let numbers = MixtureDistribution::single(from + i);
                let outcome = player.run_until(seed, numbers, &|n| limits.is_reached(n))?;
                tell();
                Some(of_nodes(nodes, jobset, &outcome, from + i))
            })
        }
        ExperimentSubject::Pods { scenario, .. } => {
            let make = || ExperimentRunner::new(scenario);
            in_parallel_with(make, (n, threads), &limits.flag, |player, i| {
                let jobset = JobSetId(jobset as u32);
                let run = of_pods(player, jobset, (seed, from + i), limits)?;
                tell();
                Some(run)
            })
        }
    }
}

fn causes(fleet: &FleetSpec) -> Vec<Arc<str>> {
    let of = |f: &sim_api::spec::FaultProcess| Arc::from(f.cause.as_str());
    fleet.faults.iter().map(of).collect()
}

fn of_fleet(
    simulation: &mut FleetSimulation<'_>, causes: &[Arc<str>], (seed, i): (u64, u64), limits: &ReplicationLimits,
) -> Option<CountedRun> {
    let outcome = simulation.run_until((seed, i), &|events| limits.is_reached(events))?;
    let used = |(at, process): &(u64, u32)| UsedAt {
        at_s: SimTime(*at).seconds(),
        times: 1,
        cause: causes[*process as usize].clone(),
        is_pod_failure_policy: false,
    };
    Some(CountedRun {
        replication: i,
        end_s: outcome.end.seconds(),
        completed: outcome.why == FleetEnd::Completed,
        ended_otherwise: match outcome.why {
            FleetEnd::Completed | FleetEnd::TimeLimit => None,
            other => Some(other.as_str()),
        },
        never_placed: None,
        used: outcome.interruptions.iter().map(used).collect(),
        uncounted: Vec::new(),
        digest: outcome.digest,
    })
}

/// The reason why a JobSet's run ended early without completed work.
fn ended_otherwise(state: &'static str, reason: EndReason) -> Option<&'static str> {
    match (state, reason) {
        ("Completed", _) => None,
        ("", EndReason::Stuck) => Some("Stuck"),
        ("", _) => None,
        (other, _) => Some(other),
    }
}

fn of_nodes(nodes: &NodesExperiment, jobset: usize, outcome: &NodesOutcome, i: u64) -> CountedRun {
    let used = |counted: &CountedRestart, times: u32| {
        (times > 0).then(|| UsedAt {
            at_s: counted.at.seconds(),
            times,
            cause: Arc::from(nodes.cause_name(counted.cause)),
            is_pod_failure_policy: counted.is_pod_failure_policy,
        })
    };
    let own = &outcome.jobsets[jobset];
    CountedRun {
        replication: i,
        end_s: outcome.end.seconds(),
        completed: own.terminal_state == "Completed",
        ended_otherwise: ended_otherwise(own.terminal_state, outcome.end_reason),
        never_placed: None,
        used: own.counted.iter().filter_map(|c| used(c, c.times)).collect(),
        uncounted: own.counted.iter().filter_map(|c| used(c, c.uncounted)).collect(),
        digest: nodes.digest(outcome),
    }
}

fn of_pods(
    player: &mut ExperimentRunner, jobset: JobSetId, (seed, i): (u64, u64), limits: &ReplicationLimits,
) -> Option<CountedRun> {
    let simulation = player.simulation(seed, i);
    let restarts = RestartFold::new(simulation.scenario()).without_paths();
    let folds = ((restarts, CountedFold::default()), ReasonFold::default());
    let mut sink = (folds, LimitSink::sink(limits));
    let outcome = simulation.run(seed, i, &mut sink);
    if outcome.end_reason == EndReason::Stopped {
        return None;
    }
    let ((restarts, counted), reasons) = sink.0;
    let restarts = restarts.finish(&outcome, simulation.names());
    let own = |r: &&RestartMetrics| r.jobset == jobset;
    let used = |u: &CountedUse, is_pod_failure_policy: bool| {
        let mut all = restarts.iter().filter(own);
        let restart = all.find(|r| r.start <= u.at && u.at <= r.end);
        let cause = restart.map(|r| cause_name(simulation.scenario(), &r.cause));
        let cause = Arc::from(cause.as_deref().unwrap_or("other"));
        UsedAt { at_s: u.at.seconds(), times: u.times, cause, is_pod_failure_policy }
    };
    let is_ruled = |u: &CountedUse| reasons.pod_failure_policy.contains(&(u.jobset, u.at));
    let counted = counted.finish();
    let counted = counted.iter().filter(|u| u.jobset == jobset).map(|u| used(u, is_ruled(u)));
    let uncounted = reasons.uncounted.iter().filter(|u| u.jobset == jobset).map(|u| used(u, is_ruled(u)));
    let ended = outcome.jobsets.get(jobset.ix());
    let state = ended.map_or("", |o| o.terminal_state);
    Some(CountedRun {
        replication: i,
        end_s: outcome.end.seconds(),
        completed: state == "Completed",
        ended_otherwise: ended_otherwise(state, outcome.end_reason),
        never_placed: ended.and_then(|o| o.never_placed_reason.clone()),
        used: counted.collect(),
        uncounted: uncounted.collect(),
        digest: outcome.digest,
    })
}

/// Records restarts that do not count towards `maxRestarts`, and the instants of restarts after a Job failed with the
/// reason PodFailurePolicy.
#[derive(Default)]
struct ReasonFold {
    /// By Job: whether its last failure has the reason PodFailurePolicy.
    failed: Vec<bool>,
    /// By JobSet, and by Job for restarts of single Jobs: restarts that do not count so far.
    ignored: BTreeMap<(JobSetId, Option<JobId>), u32>,
    uncounted: Vec<CountedUse>,
    pod_failure_policy: Vec<(JobSetId, SimTime)>,
}

impl RecordSink for ReasonFold {
    #[inline]
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let (jobset, own, job, ignored) = match record.body {
            Body::JobCondition { job, kind: JobConditionType::Failed, reason, .. } => {
                *row_or_default(&mut self.failed, job.ix()) = names.text(reason) == POD_FAILURE_POLICY;
                return;
            }
            Body::RestartCounted { jobset, restarts, counted, failed_job } => {
                (jobset, None, failed_job, restarts.saturating_sub(counted))
            }
            Body::JobRestartCounted { jobset, job, restarts, counted } => {
                (jobset, Some(job), job, restarts.saturating_sub(counted))
            }
            _ => return,
        };
        if self.failed.get(job.ix()).copied().unwrap_or(false) {
            self.pod_failure_policy.push((jobset, record.at));
        }
        let before = self.ignored.insert((jobset, own), ignored).unwrap_or(0);
        if ignored > before {
            self.uncounted.push(CountedUse { jobset, at: record.at, times: ignored - before });
        }
    }
}

/// Reason why the restart limit of a JobSet cannot be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartLimitError {
    /// The run would have no end time.
    NoEndTime,
    /// Level `nodes` does not support the scenario without the limit.
    NotAtNodes(NotAtNodes),
    /// The JobSet has no limit, because it never restarts.
    NoFailurePolicy {
        /// Name of the JobSet.
        jobset: String,
    },
}

impl fmt::Display for RestartLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestartLimitError::NoEndTime => f.write_str("the inputs have no end time: set one with --horizon"),
            RestartLimitError::NotAtNodes(why) => write!(f, "without a restart limit, {why}"),
            RestartLimitError::NoFailurePolicy { jobset } => write!(
                f,
                "JobSet {jobset} has no failurePolicy: it fails at the first failure, regardless of maxRestarts"
            ),
        }
    }
}

impl std::error::Error for RestartLimitError {}

/// Removes the restart limit of a JobSet and extends the run to the horizon. Returns the previous limit and the end
/// time. Fails if the run would have no end time, or if the JobSet has no `failurePolicy`.
pub fn without_limit(
    subject: &mut ExperimentSubject, jobset: usize, until: Option<Duration>,
) -> Result<(Option<u32>, Duration), RestartLimitError> {
    match subject {
        ExperimentSubject::Fleet(fleet) => {
            fleet.stop_at = until.unwrap_or(fleet.stop_at);
            if fleet.stop_at == MAX_INPUT_DURATION {
                return Err(RestartLimitError::NoEndTime);
            }
            Ok((fleet.job.max_restarts.take(), fleet.stop_at))
        }
        ExperimentSubject::Pods { scenario, .. } => lift(scenario, jobset, until),
        ExperimentSubject::Nodes(nodes) => {
            let mut scenario = nodes.scenario().clone();
            let lifted = lift(&mut scenario, jobset, until)?;
            *nodes = again(nodes, &scenario).map_err(RestartLimitError::NotAtNodes)?;
            Ok(lifted)
        }
    }
}

/// The same experiment with another scenario, whose restarts are not measured again where the delays are the same.
fn again(nodes: &NodesExperiment, scenario: &ScenarioSpec) -> Result<NodesExperiment, NotAtNodes> {
    NodesExperiment::of_until(scenario, std::slice::from_ref(nodes), &StopFlag::new())
}

fn lift(
    scenario: &mut ScenarioSpec, jobset: usize, until: Option<Duration>,
) -> Result<(Option<u32>, Duration), RestartLimitError> {
    scenario.stop.at = until.unwrap_or(scenario.stop.at);
    let submitted = &mut scenario.jobsets[jobset].jobset;
    let Some(policy) = submitted.spec.failure_policy.as_mut() else {
        return Err(RestartLimitError::NoFailurePolicy { jobset: submitted.name.clone() });
    };
    let limit = u32::try_from(policy.max_restarts).unwrap_or(0);
    policy.max_restarts = i32::MAX;
    Ok((Some(limit), scenario.stop.at))
}

/// Adds failure policy rules, before the existing ones, so that restarts caused by disruptions do not count towards
/// the limit. Returns the description of these restarts. `None` if no pod failure policy of the JobSet distinguishes
/// disruptions from failures.
pub fn with_maintenance_rule(subject: &mut ExperimentSubject, jobset: usize) -> Option<&'static str> {
    match subject {
        ExperimentSubject::Fleet(_) => None,
        ExperimentSubject::Nodes(nodes) => {
            let mut scenario = nodes.scenario().clone();
            let rule = maintenance_rule(&mut scenario, jobset)?;
            *nodes = again(nodes, &scenario).ok()?;
            Some(rule)
        }
        ExperimentSubject::Pods { scenario, .. } => maintenance_rule(scenario, jobset),
    }
}

fn maintenance_rule(scenario: &mut ScenarioSpec, jobset: usize) -> Option<&'static str> {
    let spec = &mut scenario.jobsets[jobset].jobset.spec;
    let of_disruption = |r: &PodFailurePolicyRule| {
        let mut conditions = r.on_pod_conditions.iter();
        r.action == PodFailurePolicyAction::FailJob && conditions.any(|c| c.condition == DISRUPTION_TARGET)
    };
    let tells = |rj: &ReplicatedJob| {
        let rules = rj.template.pod_failure_policy.iter().flatten();
        rules.into_iter().any(of_disruption)
    };
    if !spec.replicated_jobs.iter().any(tells) {
        return None;
    }
    let policy = spec.failure_policy.as_mut()?;
    // Keeps the action of the existing rule for Jobs with that reason; without a rule it is a restart of the JobSet
    // (FP-5).
    let of_reason = |rule: &&FailurePolicyRule| {
        let reasons = &rule.on_job_failure_reasons;
        reasons.is_empty() || reasons.iter().any(|reason| reason == POD_FAILURE_POLICY)
    };
    let otherwise = FailurePolicyRule {
        name: String::new(),
        action: FailurePolicyAction::RestartJobSet,
        on_job_failure_reasons: Vec::new(),
        on_job_failure_message_patterns: Vec::new(),
        target_replicated_jobs: Vec::new(),
    };
    let now = policy.rules.iter().filter(of_reason).chain([&otherwise]);
    let uncounted = now.enumerate().map(|(nth, rule)| FailurePolicyRule {
        name: format!("disruptions-{nth}"),
        action: rule.action.uncounted(),
        on_job_failure_reasons: vec![POD_FAILURE_POLICY.to_owned()],
        ..rule.clone()
    });
    let uncounted: Vec<FailurePolicyRule> = uncounted.collect();
    policy.rules.splice(0..0, uncounted);
    Some("restarts whose Job failed with reason PodFailurePolicy")
}
