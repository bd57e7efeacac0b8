//! Where faults are tried out: the engine plays the scenario with these faults and no others.

use super::choices::OFF;
use super::forks::{Begin, Fork, Forks};
use crate::base::random::Dist;
use crate::base::*;
use crate::engine::{CannotRun, Halted, Simulation};
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
    /// It may end as soon as both counters are that high: nobody asks for what comes then.
    pub enough: Option<(u32, u32)>,
}

/// What was seen of the JobSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// Is asked whether the play is to end, and sees whether it may.
struct Until<'a> {
    stops: Stops<'a>,
    enough: Option<(u32, u32)>,
    has_enough: bool,
}

/// Events between two looks, as between those of runs: less than a millisecond.
const EVENTS_BETWEEN_LOOKS: u64 = 256;

impl<'a> Until<'a> {
    fn of(trial: &Trial, stops: Stops<'a>) -> Until<'a> {
        Until {
            stops,
            enough: trial.enough,
            has_enough: false,
        }
    }
}

impl Sink for Until<'_> {
    fn record(&mut self, record: &Record, _: &Names) {
        if let Body::RestartCounted {
            restarts, counted, ..
        } = record.body
        {
            self.has_enough |= self.enough == Some((restarts, counted));
        }
    }

    fn looks_after(&self, _: u64) -> u64 {
        EVENTS_BETWEEN_LOOKS
    }

    fn stops(&mut self, _: u64) -> bool {
        self.has_enough || (self.stops)()
    }
}

/// Plays trials of one scenario.
pub struct Lab<'a> {
    scenario: Scenario,
    pub faults: &'a Faults,
    stops: Stops<'a>,
    forks: Forks,
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
            forks: Forks::default(),
        }
    }

    /// Plays it, from where it parts from those before.
    pub fn play(&self, trial: &Trial) -> Result<Seen, NotMeasured> {
        let faults = self.faults_of(trial);
        let begin = (trial.nth, trial.last, trial.work);
        let mut fork = match self.forks.shared(begin, &faults, trial.until) {
            Some(shared) => Fork::clone(&shared),
            None => self.begin(begin)?,
        };
        for parts in self.parts(trial, &faults) {
            if parts > fork.at {
                self.expect(&mut fork, faults.iter().filter(|f| f.at < parts));
                let until = Until::of(trial, self.stops);
                let mut sink = (std::mem::take(&mut fork.seen), until);
                let goes_on = fork.halted.run_to(Time::ZERO + parts, &mut sink);
                if sink.1.has_enough {
                    return Ok(sink.0.so_far());
                }
                if !goes_on {
                    // It is stopped, or goes round in circles: that has an end with the whole script alone.
                    fork = self.begin(begin)?;
                    break;
                }
                fork.seen = sink.0;
                fork.at = parts;
                self.forks.keep(fork.clone());
            }
        }
        self.expect(&mut fork, &faults);
        let mut sink = (fork.seen, Until::of(trial, self.stops));
        let outcome = fork.halted.finish(trial.until, &mut sink);
        if sink.1.has_enough {
            return Ok(sink.0.so_far());
        }
        if outcome.end_reason == EndReason::Stopped {
            return Err(NotMeasured::Stopped);
        }
        let mut seen = sink.0;
        seen.tell(&outcome);
        Ok(seen)
    }

    /// Before anything has happened.
    fn begin(&self, begin: Begin) -> Result<Fork, NotMeasured> {
        let mut scenario = self.scenario.clone();
        let (nth, last, work) = begin;
        scenario.stop.at = Duration(u64::MAX / 2);
        scenario.training[0].work = work;
        let policy = &mut scenario.jobsets[0].jobset.spec.failure_policy;
        if let (true, Some(policy)) = (last, policy) {
            policy.max_restarts = 0;
        }
        let numbers = (scenario.seed, TRIALS - nth);
        let mut seen = Seen::default();
        Ok(Fork {
            begin,
            faults: Vec::new(),
            at: Duration::ZERO,
            halted: Halted::start(Simulation::new(&scenario)?, numbers, &mut seen),
            seen,
        })
    }

    /// Makes these faults those of the play, if they are not yet.
    fn expect<'f>(&self, fork: &mut Fork, faults: impl IntoIterator<Item = &'f Fault>) {
        let faults: Vec<Fault> = faults.into_iter().copied().collect();
        let more = self.faults.node_by_node(&faults[fork.faults.len()..]);
        let more = more.iter().map(|fault| self.faults.scripted(fault));
        fork.halted.expect(more, &mut fork.seen);
        fork.faults = faults;
    }

    /// Where other plays part from it: when something fails, and when the last of that is back.
    fn parts(&self, trial: &Trial, faults: &[Fault]) -> Vec<Duration> {
        let fails = trial.strikes.iter().skip(1).map(|strike| strike.at);
        let back = trial.strikes.last().and_then(|strike| strike.end);
        let first = faults
            .iter()
            .map(|fault| fault.at)
            .find(|at| *at > Duration::ZERO);
        let mut parts: Vec<Duration> = first.into_iter().chain(fails).chain(back).collect();
        parts.retain(|at| *at < trial.until);
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// A trial of another cluster, with faults of the same nodes, if they fail together here, too.
    pub fn of_these(&self, trial: &Trial, nodes: &[Vec<NodeId>]) -> Option<Trial> {
        let mut trial = trial.clone();
        for (strike, nodes) in trial.strikes.iter_mut().zip(nodes) {
            let process = strike.process;
            let is_it = |entity: &usize| self.faults.nodes_of(process, *entity) == *nodes;
            if !nodes.is_empty() {
                strike.entity = (0..self.faults.entities(process)).find(is_it)?;
            }
        }
        Some(trial)
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
    /// Of a play that has not come to its end: its counters are those that were told last.
    fn so_far(mut self) -> Seen {
        if let Some((_, restarts, counts)) = self.counted.last() {
            (self.restarts, self.counts) = (*restarts, *counts);
        }
        self
    }

    /// When pods were bound later than that.
    pub fn bound_after(&self, at: Time) -> Vec<Time> {
        let times = self.bound.iter().map(|(t, _)| *t);
        times.filter(|t| *t > at).collect()
    }

    /// How far the times of another play are off at most, if it is the same otherwise and none is off by more than is
    /// let pass.
    pub fn off(&self, other: &Seen) -> Option<u64> {
        let counters = |seen: &Seen| (seen.restarts, seen.counts);
        let events = |seen: &Seen| {
            let counted = seen.counted.iter().map(|(at, ..)| *at);
            let ends = [seen.done, seen.failed, seen.completed];
            let bound = seen.bound.iter().map(|(at, _)| *at);
            let single = seen.started.iter().chain(&seen.interrupted).copied();
            let all: Vec<Time> = single.chain(counted).chain(bound).collect();
            (all, ends.map(|end| end.unwrap_or(Time::ZERO)))
        };
        let nodes = |seen: &Seen| {
            let mut nodes: Vec<NodeId> = seen.bound.iter().map(|(_, node)| *node).collect();
            nodes.sort_unstable();
            nodes
        };
        let numbers = |seen: &Seen| {
            [
                seen.started.len(),
                seen.interrupted.len(),
                seen.counted.len(),
            ]
        };
        let same = counters(self) == counters(other)
            && numbers(self) == numbers(other)
            && nodes(self) == nodes(other);
        let ((a, a_ends), (b, b_ends)) = (events(self), events(other));
        let both = a.iter().chain(&a_ends).zip(b.iter().chain(&b_ends));
        let off = both.map(|(a, b)| a.0.abs_diff(b.0)).max().unwrap_or(0);
        let ends = self.started.last().zip(self.interrupted.first());
        let took = ends.map_or(0, |(ready, stopped)| ready.since(*stopped).0);
        (same && off as f64 <= took as f64 * OFF).then_some(off)
    }

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
