//! Replications at level `nodes`, in the form used for all levels.

use super::replication::{BriefRestart, ReplicatedJobSet, ReplicationResult};
use super::stop::StopFlag;
use crate::metrics::summary::{TimeShares, cost, ledger, total_cost};
use crate::metrics::training::{SegmentTime, TrainingSummary};
use crate::{metrics::RestartOutcome, metrics::timeline::JobTimeline};
use sim_api::spec::{ModelLevel, ScenarioSpec};
use sim_base::fnv;
use sim_engine::CannotRun;
use sim_reliability::faults::SCRIPT;
use sim_surrogate::nodes::{
    JobSetProfile, JobSetResult, NodesModel, NodesOutcome, NodesSimulator, NotMeasured, Recovery, RecoveryEnd, measure,
    profile_key, why_not, why_not_placed,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The reason why a scenario is not simulated at level `nodes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAtNodes {
    /// Unsupported features of the scenario.
    Refused(Vec<String>),
    /// The scenario cannot be run.
    CannotRun(CannotRun),
    /// The delays of restarts could not be measured, for this reason.
    NotMeasured(String),
    /// The measurement was stopped.
    Stopped,
}

impl fmt::Display for NotAtNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAtNodes::Refused(why) => {
                write!(f, "level nodes does not support this scenario")?;
                match why.as_slice() {
                    [only] => write!(f, ": {only}"),
                    all => all.iter().try_for_each(|why| write!(f, "\n  - {why}")),
                }
            }
            NotAtNodes::CannotRun(why) => why.fmt(f),
            NotAtNodes::NotMeasured(why) => f.write_str(why),
            NotAtNodes::Stopped => f.write_str("stopped before the restarts were measured"),
        }
    }
}

impl std::error::Error for NotAtNodes {}

impl From<NotMeasured> for NotAtNodes {
    fn from(why: NotMeasured) -> NotAtNodes {
        match why {
            NotMeasured::CannotRun(why) => NotAtNodes::CannotRun(why),
            NotMeasured::Stopped => NotAtNodes::Stopped,
            NotMeasured::NeverReady(_) => NotAtNodes::NotMeasured(why.to_string()),
        }
    }
}

/// Returns all reasons why level `nodes` does not support a scenario; empty if it does.
pub fn why_not_at_nodes(scenario: &ScenarioSpec) -> Vec<String> {
    let why = why_not(scenario);
    if !why.is_empty() {
        return why;
    }
    let unmeasured = scenario.jobsets.iter().map(|_| Arc::new(JobSetProfile::default())).collect();
    why_not_placed(&NodesModel::new(Arc::new(scenario.clone()), unmeasured)).into_iter().collect()
}

/// A scenario prepared for level `nodes`, with the measured delays of its restarts.
#[derive(Clone)]
pub struct NodesExperiment {
    model: Arc<NodesModel>,
    /// What each measured profile depends on.
    profiles: Vec<(String, Arc<JobSetProfile>)>,
}

impl fmt::Debug for NodesExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nodes({})", self.scenario().name)
    }
}

impl NodesExperiment {
    /// Measures the delays of restarts. Fails if a feature is unsupported.
    pub fn new(scenario: &ScenarioSpec) -> Result<NodesExperiment, NotAtNodes> {
        NodesExperiment::of_until(scenario, &[], &StopFlag::new())
    }

    /// Like [`NodesExperiment::new`], but stops early if `stop` is raised. Profiles of `known` experiments are reused
    /// where everything that they depend on is equal.
    pub fn of_until(
        scenario: &ScenarioSpec, known: &[NodesExperiment], stop: &StopFlag,
    ) -> Result<NodesExperiment, NotAtNodes> {
        let why = why_not_at_nodes(scenario);
        if !why.is_empty() {
            return Err(NotAtNodes::Refused(why));
        }
        let mut profiles: Vec<(String, Arc<JobSetProfile>)> = Vec::new();
        for jobset in 0..scenario.jobsets.len() {
            let key = profile_key(scenario, jobset);
            let all = known.iter().rev().flat_map(|known| &known.profiles).chain(&profiles);
            let again = all.into_iter().find(|(other, _)| *other == key).map(|(_, profile)| Arc::clone(profile));
            let profile = match again {
                Some(profile) => profile,
                None => Arc::new(measure(scenario, jobset, &|| stop.is_raised())?),
            };
            profiles.push((key, profile));
        }
        let own = profiles.iter().map(|(_, profile)| Arc::clone(profile)).collect();
        let model = NodesModel::new(Arc::new(scenario.clone()), own);
        Ok(NodesExperiment { model: Arc::new(model), profiles })
    }

    /// The simulated scenario.
    pub fn scenario(&self) -> &ScenarioSpec {
        &self.model.scenario
    }

    /// The measured delays of each JobSet.
    pub fn profiles(&self) -> impl Iterator<Item = &JobSetProfile> {
        self.profiles.iter().map(|(_, profile)| &**profile)
    }

    /// Creates a simulator of replications.
    pub fn player(&self) -> NodesSimulator<'_> {
        NodesSimulator::new(&self.model)
    }

    /// Converts an outcome to the form that all levels share.
    pub fn replication(&self, outcome: &NodesOutcome, replication: u64) -> ReplicationResult {
        ReplicationResult {
            replication,
            level: ModelLevel::Nodes,
            digest: digest(outcome),
            end_s: outcome.end.seconds(),
            end_reason: outcome.end_reason.as_str(),
            jobsets: outcome.jobsets.iter().enumerate().map(|(at, jobset)| self.jobset(at, jobset)).collect(),
            ledger_s: ledger(&outcome.ledger),
            fleet_goodput: TimeShares::from_ledger(&outcome.ledger).and_then(|s| s.fleet),
            cost: total_cost(&outcome.ledger),
            cost_by_category: cost(&outcome.ledger),
            outputs: Vec::new(),
            warnings: [&outcome.warnings[..], &self.scenario().contradictions()].concat(),
            never_placed: None,
        }
    }

    fn jobset(&self, at: usize, outcome: &JobSetResult) -> ReplicatedJobSet {
        let training = &outcome.training;
        let job = self.scenario().training.iter().find(|job| job.jobset == at);
        ReplicatedJobSet {
            all_restarts: (outcome.restarts + outcome.job_restarts).max(outcome.budget_used),
            restart_budget_used: outcome.budget_used,
            terminal_state: outcome.terminal_state,
            is_suspended: false,
            is_left_suspended: false,
            has_run_time: training.work.is_some(),
            completed_s: (training.done && training.work.is_some()).then(|| training.end.seconds()),
            restarts: outcome.restarts,
            restarts_count_towards_max: outcome.restarts_count_towards_max,
            training: Some(TrainingSummary::from_outcome(training, job)),
            admission: None,
            taken: self.time_by_cause(outcome),
            timeline: JobTimeline::from_training(training),
            each: outcome.recoveries.iter().filter_map(restart).collect(),
        }
    }

    /// Returns the hash over the outcome of a replication.
    pub fn digest(&self, outcome: &NodesOutcome) -> u64 {
        digest(outcome)
    }

    /// Returns the name of a cause, as at level `pods`.
    pub fn cause_name(&self, cause: u32) -> &str {
        match cause {
            SCRIPT => "script",
            _ => self.scenario().fault_processes.get(cause as usize).map_or("spare", |process| process.cause.as_str()),
        }
    }

    /// Returns the lost work and the recovery time, in seconds, by the cause of the fault.
    fn time_by_cause(&self, outcome: &JobSetResult) -> BTreeMap<String, SegmentTime> {
        let mut named: BTreeMap<String, SegmentTime> = BTreeMap::new();
        let mut segments = outcome.training.segments.iter();
        for recovery in &outcome.recoveries {
            // As at level `pods`, a time without losses is no restart, and has no cause.
            let cause = match recovery.ending {
                RecoveryEnd::Interruption => "other",
                _ => self.cause_name(recovery.cause),
            };
            let sum = named.entry(cause.to_owned()).or_default();
            let segment = segments.find(|segment| segment.end == recovery.stopped);
            sum.lost_s += segment.map_or(0.0, |segment| segment.lost.seconds());
            sum.recovery_s += recovery.end.since(recovery.stopped.min(recovery.end)).seconds();
        }
        named
    }
}

/// Returns the restart, if it was one.
fn restart(recovery: &Recovery) -> Option<BriefRestart> {
    let ending = match recovery.ending {
        RecoveryEnd::Ready => RestartOutcome::Ready,
        RecoveryEnd::JobSetEnded => RestartOutcome::JobSetEnded,
        RecoveryEnd::Unfinished => RestartOutcome::Unfinished,
        RecoveryEnd::Interruption | RecoveryEnd::Fatal => return None,
    };
    Some(BriefRestart::new((recovery.fault_at.min(recovery.stopped), recovery.end), ending))
}

fn digest(outcome: &NodesOutcome) -> u64 {
    let of_jobset = |jobset: &JobSetResult| {
        let training = &jobset.training;
        let counters = [
            u64::from(jobset.restarts),
            u64::from(jobset.restarts_count_towards_max),
            training.reached.0,
            training.commits,
        ];
        counters.into_iter().chain(training.spent_ns)
    };
    fnv::fnv1a_words(std::iter::once(outcome.end.0).chain(outcome.jobsets.iter().flat_map(of_jobset)))
}
