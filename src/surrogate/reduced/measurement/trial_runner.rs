//! Runs trials: the engine simulates the scenario with chosen faults only.

use super::snapshots::{ForkStart, RunFork, RunForks};
use crate::reduced::observation::ObservedState;
use sim_api::spec::{CheckpointSchedule, ScenarioSpec, StopSpec, StopWhen, TrainingJob};
use sim_base::random::Distribution;
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::record::{Body, EndReason, RecordNames, RecordSink, SimulationRecord};
use sim_engine::{CannotRun, SimulationInput, SnapshotOutcome};
use sim_reliability::faults::{ChosenFault, FaultModel, FaultOperation, FaultScope, InjectedFault, SPARE};

/// Number of the first trial. The numbers of trials count down from the maximum, so they never equal those of
/// replications.
const TRIALS: u64 = u64::MAX;

/// Definition of one trial.
#[derive(Clone, Debug, Default)]
pub struct TrialSpec {
    /// The injected faults.
    pub faults: Vec<ChosenFault>,
    /// Whether spares replace lost nodes as in the scenario; otherwise they stay unused.
    pub spares: bool,
    /// Nodes that are cordoned 1 s before the first fault.
    pub closed: Vec<NodeId>,
    /// True if no restart is left: the next counted restart fails the JobSet.
    pub last: bool,
    /// Number of the trial, which selects the random numbers.
    pub nth: u64,
    /// End of the trial.
    pub until: Duration,
    /// Work of the training job; `None` means without end.
    pub work: Option<Duration>,
    /// Values of both restart counters at which the trial may end early.
    pub enough: Option<(u32, u32)>,
}

/// Reason why a measurement failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMeasured {
    /// The scenario cannot be run.
    CannotRun(CannotRun),
    /// The measurements show a behavior that the reduced model does not represent.
    Refused(String),
    /// The caller stopped the measurement.
    Stopped,
}

impl From<CannotRun> for NotMeasured {
    fn from(why: CannotRun) -> NotMeasured {
        NotMeasured::CannotRun(why)
    }
}

/// A function that returns true if the measurement is to stop.
pub type StopTimes<'a> = &'a (dyn Fn() -> bool + Sync);

/// Sink that stops a trial when its result is known.
struct TrialEnd<'a> {
    stops: StopTimes<'a>,
    enough: Option<(u32, u32)>,
    has_enough: bool,
}

/// Number of events between two checks for a stop, as in other runs; they take less than a millisecond.
const EVENTS_BETWEEN_LOOKS: u64 = 256;

impl<'a> TrialEnd<'a> {
    fn new(trial: &TrialSpec, stops: StopTimes<'a>) -> TrialEnd<'a> {
        TrialEnd { stops, enough: trial.enough, has_enough: false }
    }
}

impl RecordSink for TrialEnd<'_> {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if let Body::RestartCounted { restarts, counted, .. } = record.body {
            self.has_enough |= self.enough == Some((restarts, counted));
        }
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        EVENTS_BETWEEN_LOOKS
    }

    fn should_stop(&mut self, _: u64) -> bool {
        self.has_enough || (self.stops)()
    }
}

/// Runs trials of one scenario.
pub struct TrialRunner<'a> {
    scenario: ScenarioSpec,
    pub faults: &'a FaultModel,
    stops: StopTimes<'a>,
    forks: RunForks,
}

/// Returns the scenario without the fields that trials do not depend on, so that equal scenarios are measured only
/// once.
pub fn without_faults(scenario: &ScenarioSpec) -> ScenarioSpec {
    let mut bare = scenario.clone();
    (bare.name, bare.description) = (String::new(), String::new());
    bare.fault_processes.clear();
    bare.node_spares = None;
    bare.node_repair = None;
    bare.stop = StopSpec { at: Duration::ZERO, when: StopWhen::Time };
    // The duration of steps and checkpoints has no influence on the readiness of pods.
    bare.training = vec![TrainingJob {
        jobset: 0,
        work: None,
        step: None,
        step_sd_s: 0.0,
        warm_up: None,
        checkpoint_schedule: CheckpointSchedule::Always,
        save_at_notice: false,
        initialization: Distribution::ZERO,
        compile: Distribution::ZERO,
        rendezvous_timeout: None,
        elastic: None,
        communication: None,
    }];
    if let Some(policy) = &mut bare.jobsets[0].jobset.spec.failure_policy {
        policy.max_restarts = i32::MAX;
    }
    bare
}

impl<'a> TrialRunner<'a> {
    pub fn new(bare: ScenarioSpec, faults: &'a FaultModel, stops: StopTimes<'a>) -> TrialRunner<'a> {
        TrialRunner { scenario: bare, faults, stops, forks: RunForks::default() }
    }

    /// Runs the trial from the latest valid snapshot.
    pub fn run(&self, trial: &TrialSpec) -> Result<ObservedState, NotMeasured> {
        let faults = self.faults_of(trial);
        let begin = (trial.nth, trial.last, trial.work);
        let mut fork = match self.forks.latest_snapshot(begin, &faults, trial.until) {
            Some(shared) => RunFork::clone(&shared),
            None => self.begin(begin)?,
        };
        for parts in self.parts(trial, &faults) {
            if parts > fork.at {
                self.expect(&mut fork, faults.iter().filter(|f| f.at < parts));
                let until = TrialEnd::new(trial, self.stops);
                let mut sink = (std::mem::take(&mut fork.seen), until);
                let continues = fork.halted.run_until(SimTime::ZERO + parts, &mut sink);
                if sink.1.has_enough {
                    return Ok(sink.0.so_far());
                }
                if !continues {
                    // The run was stopped, or is in a restart loop. Its end depends on the whole script, so it
                    // starts again without snapshots.
                    fork = self.begin(begin)?;
                    break;
                }
                fork.seen = sink.0;
                fork.at = parts;
                self.forks.store_snapshot(fork.clone());
            }
        }
        self.expect(&mut fork, &faults);
        let mut sink = (fork.seen, TrialEnd::new(trial, self.stops));
        let outcome = fork.halted.finish(trial.until, &mut sink);
        if sink.1.has_enough {
            return Ok(sink.0.so_far());
        }
        if outcome.end_reason == EndReason::Stopped {
            return Err(NotMeasured::Stopped);
        }
        let mut seen = sink.0;
        seen.observe_outcome(&outcome);
        Ok(seen)
    }

    /// Returns the snapshot before the first event.
    fn begin(&self, begin: ForkStart) -> Result<RunFork, NotMeasured> {
        let mut scenario = self.scenario.clone();
        let (nth, last, work) = begin;
        scenario.stop.at = Duration(u64::MAX / 2);
        scenario.training[0].work = work;
        let policy = &mut scenario.jobsets[0].jobset.spec.failure_policy;
        if let (true, Some(policy)) = (last, policy) {
            policy.max_restarts = 0;
        }
        let numbers = (scenario.seed, TRIALS - nth);
        let mut seen = ObservedState::default();
        Ok(RunFork {
            begin,
            faults: Vec::new(),
            at: Duration::ZERO,
            halted: SnapshotOutcome::start(SimulationInput::new(&scenario)?, numbers, &mut seen),
            seen,
        })
    }

    /// Adds the faults to the script of the run, except for those that it already contains.
    fn expect<'f>(&self, fork: &mut RunFork, faults: impl IntoIterator<Item = &'f InjectedFault>) {
        let faults: Vec<InjectedFault> = faults.into_iter().copied().collect();
        let more = self.faults.expand_cells(&faults[fork.faults.len()..]);
        let more = more.iter().map(|fault| self.faults.to_scripted(fault));
        fork.halted.extend_script(more, &mut fork.seen);
        fork.faults = faults;
    }

    /// Returns the times of snapshots, at which other trials may diverge: each fault, and the return of the last nodes.
    fn parts(&self, trial: &TrialSpec, faults: &[InjectedFault]) -> Vec<Duration> {
        let fails = trial.faults.iter().skip(1).map(|strike| strike.at);
        let back = trial.faults.last().and_then(|strike| strike.end);
        let first = faults.iter().map(|fault| fault.at).find(|at| *at > Duration::ZERO);
        let mut parts: Vec<Duration> = first.into_iter().chain(fails).chain(back).collect();
        parts.retain(|at| *at < trial.until);
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// Converts the trial to another cluster, with faults of the same nodes. `None` if these nodes do not fail
    /// together there.
    pub fn on_cluster(&self, trial: &TrialSpec, nodes: &[Vec<NodeId>]) -> Option<TrialSpec> {
        let mut trial = trial.clone();
        for (strike, nodes) in trial.faults.iter_mut().zip(nodes) {
            let process = strike.process;
            let is_it = |entity: &usize| self.faults.entity_nodes(process, *entity) == *nodes;
            if !nodes.is_empty() {
                strike.entity = (0..self.faults.entity_count(process)).find(is_it)?;
            }
        }
        Some(trial)
    }

    fn faults_of(&self, trial: &TrialSpec) -> Vec<InjectedFault> {
        let mut faults = self.faults.fault_effects(&trial.faults, trial.spares, trial.until);
        let cordon = |at: Duration| {
            move |node: &NodeId| InjectedFault {
                at,
                target: FaultScope::Node(*node),
                operation: FaultOperation::Cordon,
                cause: SPARE,
            }
        };
        if !trial.spares {
            let spare = self.faults.spare_nodes();
            faults.extend(spare.iter().map(cordon(Duration::ZERO)));
        }
        if let Some(first) = trial.faults.iter().map(|s| s.at).min() {
            let before = Duration(first.0.saturating_sub(1_000_000_000));
            faults.extend(trial.closed.iter().map(cordon(before)));
        }
        faults.sort_by_key(|fault| fault.at);
        faults
    }
}
