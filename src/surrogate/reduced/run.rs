//! The simulation of one replication: processes its faults in order, with the measured effect of each.

use super::chance_range::range;
use super::jobset_pods::{CLOSED, JobSetPods};
use super::ledger::ReducedLedger;
use super::measurement::curve::{CurveShift, NEVER};
use super::measurement::measure::MeasuredFault;
use super::outcome::{OutcomeCounter, RecoveryKind, ReducedOutcome};
use super::trainer::ReducedTrainer;
use sim_api::spec::{LossSpec, StopWhen};
use sim_base::random::{DrawSequence, MixtureDistribution, StreamPurpose, UniformDraw};
use sim_base::{CellId, Duration, JobSetId, SimTime};
use sim_engine::record::EndReason;
use sim_engine::{MAX_TAINT_REMOVAL_DELAY, max_detection_delay};
use sim_reliability::faults::{FaultOperation, FaultScope, InjectedFault, SPARE};
use std::collections::BTreeMap;

/// Simulates replications one after another, reusing memory.
pub struct ReducedSimulator<'m> {
    model: &'m MeasuredFault,
    pub(super) draws: DrawSequence,
    pub(super) pods: JobSetPods,
    /// Times at which the machines of each cell (set of nodes that fail together) return and at which its nodes are
    /// uncordoned, while the faults are traversed backwards.
    back: Vec<[u64; 2]>,
    outage: Vec<u64>,
    bounds: bool,
}

/// A restart in progress.
pub(super) struct RestartInProgress {
    /// Process and target of the fault that caused the restart; `None` for the initial start.
    pub(super) process: u32,
    pub(super) on: Option<FaultScope>,
    /// Its measured effect; `None` for the start of the JobSet.
    pub(super) effect: Option<usize>,
    /// Time of the first fault. The following fields are the time of the fault that last restarted the attempt, and
    /// the time at which the job stopped.
    pub(super) start: SimTime,
    pub(super) since: SimTime,
    pub(super) stopped: SimTime,
    /// Time at which the pods are bound. `own_bind` is the same time without the effect of further faults.
    pub(super) bind: SimTime,
    pub(super) own_bind: SimTime,
    /// Time at which the restart is counted.
    pub(super) counted: SimTime,
    pub(super) placed: bool,
    pub(super) moves: CurveShift,
    /// Earliest time at which all pods can be ready, if slots are free when the pods are bound.
    pub(super) floor: SimTime,
    /// Earliest time at which the nodes of other faults allow all pods to be ready.
    pub(super) others: SimTime,
    /// Outage duration of the first fault's nodes.
    pub(super) outage: u64,
    pub(super) complete_at: Option<SimTime>,
    /// Number of faults that affected its pods.
    pub(super) faults: u32,
}

impl RestartInProgress {
    /// Returns true if the pods are placed, except for some that have no slot.
    pub(super) fn waits(&self) -> bool {
        self.placed && self.complete_at.is_none()
    }
}

/// A finished restart.
#[derive(Copy, Clone)]
pub(super) struct FinishedRestart {
    pub(super) over: SimTime,
    /// Effect of the fault that last restarted the attempt, followed by the time of that fault and the time at which
    /// the pods were bound.
    pub(super) effect: usize,
    pub(super) since: SimTime,
    pub(super) bind: SimTime,
}

/// State of one replication.
pub(super) struct ReplicationState<'g, 'm> {
    pub(super) model: &'m MeasuredFault,
    pub(super) draws: &'g mut DrawSequence,
    pub(super) pods: &'g mut JobSetPods,
    pub(super) trainer: ReducedTrainer<'m>,
    pub(super) accounts: ReducedLedger,
    pub(super) restart: Option<RestartInProgress>,
    pub(super) recoveries: Vec<RecoveryKind>,
    pub(super) counted: Vec<OutcomeCounter>,
    pub(super) restart_count: u32,
    pub(super) restarts: u32,
    pub(super) counts: u32,
    pub(super) boundary_cases: u32,
    /// By cell: time and process of the fault that took its machines.
    pub(super) lost: BTreeMap<CellId, (SimTime, u32)>,
    /// Time of the last failure of unused nodes, and of the last return of a machine, which removes taints later.
    pub(super) last_idle: Option<SimTime>,
    pub(super) last_return: Option<SimTime>,
    /// Time at which pods were last bound in a restart, and the effect of the fault that caused it.
    pub(super) last_bind: Option<(SimTime, usize)>,
    pub(super) last_over: Option<FinishedRestart>,
    pub(super) terminal: &'static str,
    pub(super) over: Option<SimTime>,
    pub(super) error_bound: u64,
    /// Error bound of the time at which the job last started to run.
    pub(super) start_bound: u64,
    /// Whether the error bound is computed, which doubles the computing time.
    pub(super) bounds: bool,
}

impl<'m> ReducedSimulator<'m> {
    /// Creates a runner for a measured scenario.
    pub fn new(model: &'m MeasuredFault) -> ReducedSimulator<'m> {
        ReducedSimulator {
            model,
            draws: DrawSequence::new(0, 0),
            pods: JobSetPods::new(&model.slots),
            back: Vec::new(),
            outage: Vec::new(),
            bounds: false,
        }
    }

    /// Makes outcomes include the error bound of goodput.
    pub fn with_bound(self) -> ReducedSimulator<'m> {
        ReducedSimulator { bounds: true, ..self }
    }

    /// Runs the replication with this seed and number.
    pub fn run(&mut self, seed: u64, replication: u64) -> ReducedOutcome {
        self.run_mixed(seed, MixtureDistribution::single(replication))
    }

    /// Runs the replication. Returns `None` if `stops` returns true; it is called before each fault with the number
    /// of faults so far.
    pub fn run_until(
        &mut self, (seed, replication): (u64, u64), stops: &dyn Fn(u64) -> bool,
    ) -> Option<ReducedOutcome> {
        self.run_mixture((seed, MixtureDistribution::single(replication)), stops)
    }

    /// Runs a replication that mixes the random numbers of several replications.
    pub fn run_mixed(&mut self, seed: u64, numbers: MixtureDistribution) -> ReducedOutcome {
        self.run_mixture((seed, numbers), &|_| false).expect("the run is never stopped")
    }

    fn run_mixture(
        &mut self, (seed, numbers): (u64, MixtureDistribution), stops: &dyn Fn(u64) -> bool,
    ) -> Option<ReducedOutcome> {
        let model = self.model;
        self.draws.reset_to(seed, numbers);
        let (faults, repairs_later) = model.faults.draw(&mut self.draws);
        self.compute_outages(&faults);
        self.pods.reset();
        let mut state = ReplicationState {
            model,
            draws: &mut self.draws,
            pods: &mut self.pods,
            trainer: ReducedTrainer::new(&model.scenario.training[0], model.key),
            accounts: ReducedLedger::default(),
            restart: None,
            recoveries: Vec::new(),
            counted: Vec::new(),
            restart_count: 0,
            restarts: 0,
            counts: 0,
            boundary_cases: 0,
            lost: BTreeMap::new(),
            last_idle: None,
            last_return: None,
            last_bind: None,
            last_over: None,
            terminal: "",
            over: None,
            error_bound: 0,
            start_bound: 0,
            bounds: self.bounds,
        };
        state.submit();
        let mut next = 0;
        for nth in 0.. {
            if next == faults.len() {
                break;
            }
            if stops(nth) {
                return None;
            }
            let first = &faults[next];
            let together = |f: &&InjectedFault| f.is_same_action(first);
            let n = match first.target {
                FaultScope::Cell(_) => faults[next..].iter().take_while(together).count(),
                _ => 1,
            };
            state.advance_to(SimTime::ZERO + first.at);
            if state.ends_run(SimTime::ZERO + first.at) {
                break;
            }
            state.apply_fault(&faults[next..next + n], self.outage[next]);
            next += n;
            if faults.get(next).is_none_or(|after| after.at > first.at) {
                state.fill_slots(SimTime::ZERO + first.at);
            }
        }
        Some(state.finish(repairs_later))
    }

    /// Computes the outage duration of each fault.
    fn compute_outages(&mut self, faults: &[InjectedFault]) {
        self.back.clear();
        self.back.resize(self.model.faults.cell_count(), [NEVER; 2]);
        self.outage.clear();
        self.outage.resize(faults.len(), NEVER);
        for (i, fault) in faults.iter().enumerate().rev() {
            let FaultScope::Cell(cell) = fault.target else {
                continue;
            };
            let [machine, cordon] = &mut self.back[cell.ix()];
            match fault.operation {
                FaultOperation::Return => *machine = fault.at.0,
                FaultOperation::New => (*machine, *cordon) = (fault.at.0, fault.at.0),
                FaultOperation::Uncordon => *cordon = fault.at.0,
                // A drained node returns to the cluster as a spare, which is cordoned.
                FaultOperation::Cordon if fault.cause == SPARE => *cordon = fault.at.0,
                operation => {
                    let is_closed = matches!(operation, FaultOperation::Cordon | FaultOperation::Drain);
                    let back = if is_closed { *cordon } else { *machine };
                    self.outage[i] = if back == NEVER { NEVER } else { back - fault.at.0 };
                }
            }
        }
    }
}

impl<'m> ReplicationState<'_, 'm> {
    pub(super) fn unit(&mut self, what: u32) -> f64 {
        self.draws.uniform(UniformDraw {
            purpose: StreamPurpose::ReducedRecovery,
            entity: self.model.key,
            occurrence: self.restart_count,
            substream: what,
        })
    }

    pub(super) fn pick(&mut self, what: u32, of: impl Fn(&MeasuredFault) -> &Vec<u64>) -> Option<u64> {
        let u = self.unit(what);
        let all = of(self.model);
        let at = ((u * all.len() as f64) as usize).min(all.len().saturating_sub(1));
        all.get(at).copied()
    }

    fn submit(&mut self) {
        let model = self.model;
        for node in model.faults.spare_nodes() {
            self.pods.set_flag(node, CLOSED, true);
        }
        let submitted = model.submitted;
        self.trainer.job.ledger.record_submission(submitted);
        let ready = submitted + Duration(self.pick(0, |m| &m.startup).unwrap_or(0));
        self.start_bound = range(&model.startup) * 2;
        self.error_bound += self.start_bound;
        self.restart = Some(RestartInProgress {
            process: u32::MAX,
            on: None,
            effect: None,
            start: submitted,
            since: submitted,
            stopped: submitted,
            bind: submitted + Duration(model.first_bind),
            own_bind: submitted + Duration(model.first_bind),
            counted: SimTime::NEVER,
            placed: false,
            moves: CurveShift::All,
            floor: ready,
            others: SimTime::ZERO,
            outage: NEVER,
            complete_at: None,
            faults: 0,
        });
    }

    /// Processes everything that happens until `now` without a further fault.
    pub(super) fn advance_to(&mut self, now: SimTime) {
        loop {
            if let Some(over) = self.over.filter(|over| *over <= now) {
                // After the end of the JobSet, only the time of failed nodes is recorded.
                self.accounts.unhealthy_until(over.max(SimTime::ZERO), self.pods.failed_accelerators);
                return;
            }
            if let Some(ends) = self.trainer.completion_time().filter(|ends| *ends <= now) {
                self.trainer.finish(ends);
                let ending = self.pick(1, |m| &m.ending).unwrap_or(0);
                self.error_bound += range(&self.model.ending) * 2;
                self.end(ends + Duration(ending), "Completed");
                continue;
            }
            let Some(restart) = &self.restart else { return };
            if !restart.placed && restart.bind <= now {
                self.place_restart();
                continue;
            }
            match self.ready().filter(|ready| *ready <= now) {
                Some(ready) => self.resume(ready),
                None => return,
            }
        }
    }

    /// Places the pods of the current restart.
    pub(super) fn place_restart(&mut self) {
        let Some(restart) = &mut self.restart else {
            return;
        };
        restart.placed = true;
        let bind = restart.bind;
        self.last_bind = restart.effect.map(|effect| (bind, effect));
        // Pods may be bound to nodes whose failure the control plane has not detected yet, and pass over nodes that
        // returned but still have taints.
        let is_late = self.has_tainted_node(bind) && self.pods.has_choice() && self.pods.has_room();
        self.boundary_cases += u32::from(self.has_undetected_fault(bind)) + u32::from(is_late);
        let Some(restart) = &mut self.restart else {
            return;
        };
        let by_chance = self.pods.place_pods(restart.moves);
        self.boundary_cases += u32::from(by_chance);
        if self.pods.complete() {
            restart.complete_at = Some(restart.bind);
        }
    }

    /// Returns true if unused nodes failed so recently that the control plane may not have detected it.
    pub(super) fn has_undetected_fault(&self, now: SimTime) -> bool {
        let unnoticed = max_detection_delay(&self.model.scenario.control_plane);
        self.last_idle.is_some_and(|at| now.since(at.min(now)) <= unnoticed)
    }

    /// Returns true if a node returned so recently that it may still have taints.
    fn has_tainted_node(&self, now: SimTime) -> bool {
        self.last_return.is_some_and(|at| now.since(at.min(now)) <= MAX_TAINT_REMOVAL_DELAY)
    }

    /// Returns the expected time of readiness of all pods; `None` if some have no slot.
    fn ready(&self) -> Option<SimTime> {
        let restart = self.restart.as_ref()?;
        if !restart.placed || restart.floor == SimTime::NEVER {
            return None;
        }
        let complete = restart.complete_at?;
        // Pods that were not moved are ready when the API server has heard of all their nodes again.
        Some(if complete <= restart.bind || restart.moves == CurveShift::NoPods {
            restart.floor.max(complete)
        } else {
            let late = &self.model.late;
            restart.floor.max(complete + Duration(late[late.len() / 2]))
        })
    }

    fn resume(&mut self, ready: SimTime) {
        let Some(restart) = self.restart.take() else {
            return;
        };
        self.trainer.job.ledger.set_holds_all(ready, true);
        self.trainer.begin(ready, LossSpec::Process, self.draws);
        if let Some(effect) = restart.effect {
            self.last_over = Some(FinishedRestart { over: ready, effect, since: restart.since, bind: restart.bind });
            self.recovered(&restart, ready, true);
            let duration = ready.since(restart.stopped.min(ready)).0;
            let model = self.model;
            let pods = self.pod_accelerators();
            self.accounts.restart(duration, pods, &model.shares[effect]);
            // Further faults may have determined the time of readiness.
            self.start_bound = match restart.faults {
                ..=1 => model.error_bound(&model.curves[effect]),
                _ => model.curves.iter().map(|curve| model.error_bound(curve)).max().unwrap_or(0),
            };
            if restart.complete_at.is_some_and(|at| at > restart.bind) && restart.moves != CurveShift::NoPods {
                // The delay depends on whether the awaited node had taints.
                self.start_bound += (model.late.last().copied().unwrap_or(0) + range(&model.late)) * 2;
            }
            self.error_bound += self.start_bound;
        }
    }

    fn pod_accelerators(&self) -> u64 {
        self.model.pod_accelerators
    }

    fn recovered(&mut self, restart: &RestartInProgress, end: SimTime, is_over: bool) {
        self.recoveries.push(RecoveryKind {
            process: restart.process,
            start: restart.start,
            stopped: restart.stopped,
            end,
            is_over,
        });
    }

    /// Ends the JobSet with a terminal state.
    pub(super) fn end(&mut self, at: SimTime, state: &'static str) {
        self.over = Some(at);
        self.terminal = state;
        // An end after the time limit is not observed.
        let observed = at.min(SimTime::ZERO + self.model.scenario.stop.at);
        self.trainer.job.ledger.record_end(observed);
        if let Some(restart) = self.restart.take().filter(|e| e.effect.is_some()) {
            self.recovered(&restart, observed, false);
        }
    }

    fn ends_run(&self, now: SimTime) -> bool {
        self.over.is_some_and(|over| over <= now) && self.model.scenario.stop.when != StopWhen::Time
    }

    fn finish(mut self, repairs_later: bool) -> ReducedOutcome {
        let model = self.model;
        let limit = SimTime::ZERO + model.scenario.stop.at;
        self.advance_to(limit);
        let to_its_time = model.scenario.stop.when == StopWhen::Time;
        let (end, reason) = match self.over {
            Some(over) if over <= limit && !to_its_time => (over, EndReason::AllJobSetsFinished),
            Some(_) => (limit, EndReason::TimeLimit),
            None if self.trainer.runs() || to_its_time || repairs_later => (limit, EndReason::TimeLimit),
            None if self.ready().is_some() => (limit, EndReason::TimeLimit),
            None => (limit, EndReason::Stuck),
        };
        self.accounts.unhealthy_until(end, self.pods.failed_accelerators);
        if self.over.is_some_and(|over| over > limit) {
            self.terminal = "";
        }
        let training = self.trainer.close_outcome(end, JobSetId(0));
        if let Some(restart) = self.restart.take().filter(|e| e.effect.is_some()) {
            self.recovered(&restart, end, false);
        }
        let in_place = model.scenario.jobsets[0].jobset.restarts_in_place();
        let wall = training.end.since(training.submitted).0.max(1);
        ReducedOutcome {
            end,
            end_reason: reason,
            terminal_state: self.terminal,
            restarts: self.restarts,
            // The status does not count in-place restarts.
            restarts_count_towards_max: if in_place { 0 } else { self.counts },
            ledger: self.accounts.close(end, &self.trainer.times, (&model.slots, self.pod_accelerators())),
            training,
            recoveries: self.recoveries,
            counted: self.counted,
            boundary_cases: self.boundary_cases,
            bound: (self.bounds).then(|| (self.error_bound + self.trainer.error_bound) as f64 / wall as f64),
        }
    }
}
