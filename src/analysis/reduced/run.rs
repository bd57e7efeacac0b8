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
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::faults::{FaultOperation, FaultScope, InjectedFault, SPARE};
use sim_engine::max_detection_delay;
use sim_engine::record::EndReason;

/// Simulates replications one after another, reusing memory.
pub struct ReducedPlayer<'m> {
    model: &'m MeasuredFault,
    pub(super) draws: DrawSequence,
    pub(super) gang: JobSetPods,
    /// Time at which each cell (set of nodes that fail together) returns, while the faults are traversed backwards.
    back: Vec<u64>,
    away: Vec<u64>,
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
    pub(super) away: u64,
    pub(super) complete_at: Option<SimTime>,
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
    pub(super) gang: &'g mut JobSetPods,
    pub(super) trainer: ReducedTrainer<'m>,
    pub(super) accounts: ReducedLedger,
    pub(super) episode: Option<RestartInProgress>,
    pub(super) recoveries: Vec<RecoveryKind>,
    pub(super) counted: Vec<OutcomeCounter>,
    pub(super) episodes: u32,
    pub(super) restarts: u32,
    pub(super) counts: u32,
    pub(super) close_calls: u32,
    /// Time of the last failure of unused nodes.
    pub(super) last_idle: Option<SimTime>,
    /// Time at which pods were last bound in a restart, and the effect of the fault that caused it.
    pub(super) last_bind: Option<(SimTime, usize)>,
    pub(super) last_over: Option<FinishedRestart>,
    pub(super) terminal: &'static str,
    pub(super) over: Option<SimTime>,
    pub(super) doubt: u64,
    /// Whether the error bound is computed, which doubles the computing time.
    pub(super) bounds: bool,
}

impl<'m> ReducedPlayer<'m> {
    /// Creates a runner for a measured scenario.
    pub fn new(model: &'m MeasuredFault) -> ReducedPlayer<'m> {
        ReducedPlayer {
            model,
            draws: DrawSequence::new(0, 0),
            gang: JobSetPods::new(&model.seats),
            back: Vec::new(),
            away: Vec::new(),
            bounds: false,
        }
    }

    /// Makes outcomes include the error bound of goodput.
    pub fn with_bound(self) -> ReducedPlayer<'m> {
        ReducedPlayer { bounds: true, ..self }
    }

    /// Runs the replication with this seed and number.
    pub fn run(&mut self, seed: u64, replication: u64) -> ReducedOutcome {
        self.run_mixed(seed, MixtureDistribution::single(replication))
    }

    /// Runs the replication. Returns `None` if `stops` returns true; it is called before each fault with the number
    /// of faults so far.
    pub fn run_until(
        &mut self,
        (seed, replication): (u64, u64),
        stops: &dyn Fn(u64) -> bool,
    ) -> Option<ReducedOutcome> {
        self.run_mixture((seed, MixtureDistribution::single(replication)), stops)
    }

    /// Runs a replication that mixes the random numbers of several replications.
    pub fn run_mixed(&mut self, seed: u64, numbers: MixtureDistribution) -> ReducedOutcome {
        self.run_mixture((seed, numbers), &|_| false).expect("the run is never stopped")
    }

    fn run_mixture(
        &mut self,
        (seed, numbers): (u64, MixtureDistribution),
        stops: &dyn Fn(u64) -> bool,
    ) -> Option<ReducedOutcome> {
        let model = self.model;
        self.draws.reset_to(seed, numbers);
        let (faults, repairs_later) = model.faults.draw(&mut self.draws);
        self.times_away(&faults);
        self.gang.reset();
        let mut game = ReplicationState {
            model,
            draws: &mut self.draws,
            gang: &mut self.gang,
            trainer: ReducedTrainer::new(&model.scenario.training[0], model.key),
            accounts: ReducedLedger::default(),
            episode: None,
            recoveries: Vec::new(),
            counted: Vec::new(),
            episodes: 0,
            restarts: 0,
            counts: 0,
            close_calls: 0,
            last_idle: None,
            last_bind: None,
            last_over: None,
            terminal: "",
            over: None,
            doubt: 0,
            bounds: self.bounds,
        };
        game.submit();
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
            game.advance_to(SimTime::ZERO + first.at);
            if game.ends_run() {
                break;
            }
            game.apply_fault(&faults[next..next + n], self.away[next]);
            next += n;
            if faults.get(next).is_none_or(|after| after.at > first.at) {
                game.fill_slots(SimTime::ZERO + first.at);
            }
        }
        Some(game.finish(repairs_later))
    }

    /// Computes the outage duration of each fault.
    fn times_away(&mut self, faults: &[InjectedFault]) {
        self.back.clear();
        self.back.resize(self.model.faults.cell_count(), NEVER);
        self.away.clear();
        self.away.resize(faults.len(), NEVER);
        for (i, fault) in faults.iter().enumerate().rev() {
            let FaultScope::Cell(cell) = fault.target else {
                continue;
            };
            match fault.operation {
                FaultOperation::Return | FaultOperation::New | FaultOperation::Uncordon => {
                    self.back[cell.ix()] = fault.at.0
                }
                // A drained node returns to the cluster as a spare, which is cordoned.
                FaultOperation::Cordon if fault.cause == SPARE => self.back[cell.ix()] = fault.at.0,
                _ => {
                    let back = self.back[cell.ix()];
                    self.away[i] = if back == NEVER { NEVER } else { back - fault.at.0 };
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
            occurrence: self.episodes,
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
            self.gang.set_flag(node, CLOSED, true);
        }
        let submitted = model.submitted;
        self.trainer.books.record_submission(submitted);
        let ready = submitted + Duration(self.pick(0, |m| &m.startup).unwrap_or(0));
        self.doubt += range(&model.startup) * 2;
        self.episode = Some(RestartInProgress {
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
            away: NEVER,
            complete_at: None,
        });
    }

    /// Processes everything that happens until `now` without a further fault.
    pub(super) fn advance_to(&mut self, now: SimTime) {
        loop {
            if let Some(over) = self.over.filter(|over| *over <= now) {
                // After the end of the JobSet, only the time of failed nodes is recorded.
                self.accounts.sick_until(over.max(SimTime::ZERO), self.gang.sick);
                return;
            }
            if let Some(ends) = self.trainer.completion_time().filter(|ends| *ends <= now) {
                self.trainer.finish(ends);
                let ending = self.pick(1, |m| &m.ending).unwrap_or(0);
                self.doubt += range(&self.model.ending) * 2;
                self.end(ends + Duration(ending), "Completed");
                continue;
            }
            let Some(episode) = &self.episode else { return };
            if !episode.placed && episode.bind <= now {
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
        let Some(episode) = &mut self.episode else {
            return;
        };
        episode.placed = true;
        let bind = episode.bind;
        self.last_bind = episode.effect.map(|effect| (bind, effect));
        // Pods may be bound to nodes whose failure the control plane has not detected yet.
        self.close_calls += u32::from(self.has_undetected_fault(bind));
        let Some(episode) = &mut self.episode else {
            return;
        };
        self.gang.place_pods(episode.moves);
        if self.gang.complete() {
            episode.complete_at = Some(episode.bind);
        }
    }

    /// Returns true if unused nodes failed so recently that the control plane may not have detected it.
    pub(super) fn has_undetected_fault(&self, now: SimTime) -> bool {
        let unnoticed = max_detection_delay(&self.model.scenario.control_plane);
        self.last_idle.is_some_and(|at| now.since(at.min(now)) <= unnoticed)
    }

    /// Returns the expected time of readiness of all pods; `None` if some have no slot.
    fn ready(&self) -> Option<SimTime> {
        let episode = self.episode.as_ref()?;
        if !episode.placed || episode.floor == SimTime::NEVER {
            return None;
        }
        let complete = episode.complete_at?;
        // Pods that were not moved are ready when the API server has heard of all their nodes again.
        Some(if complete <= episode.bind || episode.moves == CurveShift::Nobody {
            episode.floor.max(complete)
        } else {
            let late = &self.model.late;
            episode.floor.max(complete + Duration(late[late.len() / 2]))
        })
    }

    fn resume(&mut self, ready: SimTime) {
        let Some(episode) = self.episode.take() else {
            return;
        };
        self.trainer.books.set_holds_all(ready, true);
        self.trainer.begin(ready, LossSpec::Process, self.draws);
        if let Some(effect) = episode.effect {
            self.last_over = Some(FinishedRestart { over: ready, effect, since: episode.since, bind: episode.bind });
            self.recovered(&episode, ready, true);
            let took = ready.since(episode.stopped.min(ready)).0;
            let model = self.model;
            let gang = self.gang_accelerators();
            self.accounts.restart(took, gang, &model.shares[effect]);
            self.doubt += model.doubt(&model.curves[effect]);
        }
    }

    fn gang_accelerators(&self) -> u64 {
        self.model.gang_accelerators
    }

    fn recovered(&mut self, episode: &RestartInProgress, end: SimTime, is_over: bool) {
        self.recoveries.push(RecoveryKind {
            process: episode.process,
            start: episode.start,
            stopped: episode.stopped,
            end,
            is_over,
        });
    }

    /// Ends the JobSet with a terminal state.
    pub(super) fn end(&mut self, at: SimTime, state: &'static str) {
        self.over = Some(at);
        self.terminal = state;
        self.trainer.books.record_end(at);
        if let Some(episode) = self.episode.take().filter(|e| e.effect.is_some()) {
            self.recovered(&episode, at, false);
        }
    }

    fn ends_run(&self) -> bool {
        self.over.is_some() && self.model.scenario.stop.when != StopWhen::Time
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
        self.accounts.sick_until(end, self.gang.sick);
        if self.over.is_some_and(|over| over > limit) {
            self.terminal = "";
        }
        let training = self.trainer.close_outcome(end, JobSetId(0));
        if let Some(episode) = self.episode.take().filter(|e| e.effect.is_some()) {
            self.recovered(&episode, end, false);
        }
        let wall = training.end.since(training.submitted).0.max(1);
        ReducedOutcome {
            end,
            end_reason: reason,
            terminal_state: self.terminal,
            restarts: self.restarts,
            restarts_count_towards_max: self.counts,
            ledger: self.accounts.close(end, &self.trainer.times, (&model.seats, self.gang_accelerators())),
            training,
            recoveries: self.recoveries,
            counted: self.counted,
            close_calls: self.close_calls,
            bound: (self.bounds).then(|| (self.doubt + self.trainer.doubt) as f64 / wall as f64),
        }
    }
}
