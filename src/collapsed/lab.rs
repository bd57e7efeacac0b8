//! Where faults are tried out: the engine plays the scenario with these faults and no others.

use crate::base::random::Dist;
use crate::base::*;
use crate::engine::{CannotRun, Simulation};
use crate::faults::{Does, Fault, Faults, On, SPARE, Strike};
use crate::record::{Body, EndReason, JobSetConditionType, Names, Record, RunOutcome, Sink};
use crate::spec::{Saves, Scenario, Stop, StopWhen, TrainingJob};

/// Numbers of trial plays are counted down from here: no replication has them.
const TRIALS: u64 = u64::MAX;

/// What is tried.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The faults.
    pub strikes: Vec<Strike>,
    /// Spares take over as the scenario says; else they stay where they are.
    pub spares: bool,
    /// Nodes to which nothing may be bound any more, from just before the first fault on.
    pub closed: Vec<NodeId>,
    /// No restart counts that many: the next one that counts fails the JobSet.
    pub last: bool,
    /// Which numbers it has.
    pub nth: u64,
    /// When it ends.
    pub until: Duration,
    /// Work of the training job, if it is to end.
    pub work: Option<Duration>,
}

/// What was seen of the JobSet.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub started: Vec<Time>,
    pub interrupted: Vec<Time>,
    pub done: Option<Time>,
    /// When a restart was counted, with both counters.
    pub counted: Vec<(Time, u32, u32)>,
    pub bound: Vec<(Time, NodeId)>,
    pub failed: Option<Time>,
    pub completed: Option<Time>,
    pub restarts: u32,
    pub counts: u32,
    /// Accelerator-nanoseconds of its pods by category.
    pub held: Vec<u128>,
    pub submitted: Time,
}

impl Sink for Seen {
    fn record(&mut self, record: &Record, _: &Names) {
        let now = record.at;
        match record.body {
            Body::TrainingStarted { .. } => self.started.push(now),
            Body::TrainingInterrupted { .. } => self.interrupted.push(now),
            Body::TrainingDone { .. } => self.done = Some(now),
            Body::RestartCounted {
                restarts, counted, ..
            } => self.counted.push((now, restarts, counted)),
            Body::PodBound { node, .. } => self.bound.push((now, node)),
            Body::JobSetCondition {
                kind, status: true, ..
            } => match kind {
                JobSetConditionType::Failed => self.failed = Some(now),
                JobSetConditionType::Completed => self.completed = Some(now),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMeasured {
    /// What cannot exist or be placed.
    CannotRun(CannotRun),
    /// What measuring has found that is not modelled.
    Refused(String),
    /// Somebody did not want to wait for it.
    Stopped,
}

impl From<CannotRun> for NotMeasured {
    fn from(why: CannotRun) -> NotMeasured {
        NotMeasured::CannotRun(why)
    }
}

/// Whether measuring is to end.
pub type Stops<'a> = &'a (dyn Fn() -> bool + Sync);

/// Sees what is seen, and is asked whether the play is to end.
struct Until<'a>(Stops<'a>);

/// Events between two looks, as between those of runs: less than a millisecond.
const EVENTS_BETWEEN_LOOKS: u64 = 256;

impl Sink for Until<'_> {
    fn record(&mut self, _: &Record, _: &Names) {}

    fn looks_after(&self, _: u64) -> u64 {
        EVENTS_BETWEEN_LOOKS
    }

    fn stops(&mut self, _: u64) -> bool {
        (self.0)()
    }
}

/// Plays trials of one scenario.
pub struct Lab<'a> {
    scenario: Scenario,
    pub faults: &'a Faults,
    stops: Stops<'a>,
}

/// What trials are played of: without what no trial depends on, so that equal ones are measured once.
pub fn bare(scenario: &Scenario) -> Scenario {
    let mut bare = scenario.clone();
    (bare.name, bare.description) = (String::new(), String::new());
    bare.fault_processes.clear();
    bare.node_spares = None;
    bare.node_repair = None;
    bare.stop = Stop {
        at: Duration::ZERO,
        when: StopWhen::Time,
    };
    // How long it steps, and what it saves, changes nothing of when its pods are there.
    bare.training = vec![TrainingJob {
        jobset: 0,
        work: None,
        step: None,
        step_sd_s: 0.0,
        warm_up: None,
        saves: Saves::Always,
        save_at_notice: false,
        initialization: Dist::ZERO,
        compile: Dist::ZERO,
        rendezvous_timeout: None,
        elastic: None,
    }];
    if let Some(policy) = &mut bare.jobsets[0].jobset.spec.failure_policy {
        policy.max_restarts = i32::MAX;
    }
    bare
}

impl<'a> Lab<'a> {
    pub fn new(bare: Scenario, faults: &'a Faults, stops: Stops<'a>) -> Lab<'a> {
        Lab {
            scenario: bare,
            faults,
            stops,
        }
    }

    /// Plays it.
    pub fn play(&self, trial: &Trial) -> Result<Seen, NotMeasured> {
        let mut scenario = self.scenario.clone();
        scenario.stop.at = trial.until;
        scenario.training[0].work = trial.work;
        if let (true, Some(policy)) = (
            trial.last,
            &mut scenario.jobsets[0].jobset.spec.failure_policy,
        ) {
            policy.max_restarts = 0;
        }
        let faults = self.faults_of(trial);
        scenario.faults = faults.iter().map(|f| self.faults.scripted(f)).collect();
        let mut sink = (Seen::default(), Until(self.stops));
        let mut simulation = Simulation::new(&scenario)?;
        let outcome = simulation.run(scenario.seed, TRIALS - trial.nth, &mut sink);
        if outcome.end_reason == EndReason::Stopped {
            return Err(NotMeasured::Stopped);
        }
        let mut seen = sink.0;
        seen.tell(&outcome);
        Ok(seen)
    }

    fn faults_of(&self, trial: &Trial) -> Vec<Fault> {
        let mut faults = self
            .faults
            .struck(&trial.strikes, trial.spares, trial.until);
        let cordon = |at: Duration| {
            move |node: &NodeId| Fault {
                at,
                on: On::Node(*node),
                does: Does::Cordon,
                cause: SPARE,
            }
        };
        if !trial.spares {
            let spare = self.faults.spare_nodes();
            faults.extend(spare.iter().map(cordon(Duration::ZERO)));
        }
        if let Some(first) = trial.strikes.iter().map(|s| s.at).min() {
            let before = Duration(first.0.saturating_sub(1_000_000_000));
            faults.extend(trial.closed.iter().map(cordon(before)));
        }
        faults.sort_by_key(|fault| fault.at);
        faults
    }
}

impl Seen {
    fn tell(&mut self, outcome: &RunOutcome) {
        let jobset = &outcome.jobsets[0];
        self.restarts = jobset.restarts;
        self.counts = jobset.restarts_count_towards_max;
        self.submitted = outcome.training.first().map_or(Time::ZERO, |t| t.submitted);
        if let Some(own) = outcome.ledger.of_jobsets.first() {
            self.held = own.accelerator_ns.to_vec();
        }
    }
}
