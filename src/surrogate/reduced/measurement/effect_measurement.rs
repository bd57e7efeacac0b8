//! Trials of single faults: the choice of the failing nodes, the observation period, and the extraction of results.

use super::curve::{CurveSample, CurveShift, NEVER};
use super::effect::FaultEffect;
use super::trial_result::{SimulatedTrial, TrialResult};
use super::trial_runner::{NotMeasured, TrialRunner, TrialSpec};
use crate::reduced::accuracy::{RUNS_PER_OUTAGE, STARTUP_MAX, TIME_AFTER_RETURN, TIME_BEFORE_FAULT};
use crate::reduced::jobset_pods::{CLOSED, JobSetPods};
use crate::{reduced::observation::ObservedState, reduced::slots::SlotTable};
use rayon::prelude::*;
use sim_api::spec::RandomAction;
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::record::LedgerCategory;
use sim_reliability::faults::ChosenFault;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// State of a measurement, shared by all trials.
pub struct TrialBench<'a> {
    pub runner: TrialRunner<'a>,
    pub effects: &'a [FaultEffect],
    pub slots: &'a Arc<SlotTable>,
    /// Time of the injected faults, before a random shift.
    pub at: Duration,
    /// Nodes that have a pod at that time. `idle` contains the nodes that have none and are not spares.
    pub busy: Vec<NodeId>,
    pub idle: Vec<NodeId>,
    pub has_room: bool,
    /// By effect: indices of the entities whose nodes all have a pod.
    in_use: Vec<Vec<usize>>,
    pub trials: AtomicU64,
}

impl<'a> TrialBench<'a> {
    /// Creates the state before the first trial.
    pub fn new(runner: TrialRunner<'a>, effects: &'a [FaultEffect], slots: &'a Arc<SlotTable>) -> TrialBench<'a> {
        TrialBench {
            runner,
            effects,
            slots,
            at: Duration::ZERO,
            busy: Vec::new(),
            idle: Vec::new(),
            has_room: false,
            in_use: Vec::new(),
            trials: AtomicU64::new(0),
        }
    }

    pub fn run_trials(&self, trial: &TrialSpec) -> Result<ObservedState, NotMeasured> {
        self.trials.fetch_add(1, Ordering::Relaxed);
        self.runner.run(trial)
    }

    /// Runs `n` trials of one kind on all cores and returns their results in order.
    pub fn run_all<T: Send>(
        &self, n: u64, play: impl Fn(u64) -> Result<T, NotMeasured> + Sync,
    ) -> Result<Vec<T>, NotMeasured> {
        (0..n).into_par_iter().map(&play).collect()
    }

    /// Runs trials without faults. They determine the duration of the start and the nodes that have pods.
    pub fn idle_states(&mut self) -> Result<Vec<ObservedState>, NotMeasured> {
        let trial = TrialSpec { spares: true, until: STARTUP_MAX, ..TrialSpec::default() };
        let trials = self.run_all(RUNS_PER_OUTAGE, |nth| self.run_trials(&TrialSpec { nth, ..trial.clone() }))?;
        if trials.iter().any(|seen| seen.started.len() != 1) {
            let why = format!("the JobSet did not become ready once, without interruption, within {STARTUP_MAX}");
            return Err(NotMeasured::Refused(why));
        }
        let latest = trials.iter().map(|seen| seen.started[0]).max();
        self.at = latest.unwrap_or(SimTime::ZERO).since(SimTime::ZERO) + TIME_BEFORE_FAULT;
        let mut busy: Vec<NodeId> = trials[0].bound.iter().map(|(_, node)| *node).collect();
        busy.sort_unstable();
        busy.dedup();
        let mut pods = JobSetPods::new(self.slots);
        let spare = self.runner.faults.spare_nodes();
        spare.iter().for_each(|node| pods.set_flag(*node, CLOSED, true));
        pods.place_pods(CurveShift::All);
        let all = (0..self.slots.of.len() as u32).map(NodeId);
        let (own, others): (Vec<NodeId>, Vec<NodeId>) = all.partition(|node| pods.uses(*node));
        if own != busy {
            let why = "the placement of the pods differs from one pod per node in round-robin order";
            return Err(NotMeasured::Refused(why.to_owned()));
        }
        self.busy = busy;
        self.idle = others.into_iter().filter(|node| !spare.contains(node)).collect();
        self.has_room = !self.idle.is_empty() || !spare.is_empty();
        self.in_use = self.effects.iter().map(|e| self.in_use_of(e)).collect();
        Ok(trials)
    }

    fn in_use_of(&self, effect: &FaultEffect) -> Vec<usize> {
        let (process, faults) = (effect.processes[0], self.runner.faults);
        let is_busy = |node: &NodeId| self.busy.binary_search(node).is_ok();
        let is_used = |entity: &usize| faults.entity_nodes(process, *entity).iter().all(is_busy);
        (0..faults.entity_count(process)).filter(is_used).collect()
    }

    /// Returns a fault of this effect on nodes that have pods; `nth` selects the entity.
    pub fn sample_fault(&self, effect: usize, nth: u64, at: Duration, outage: u64) -> ChosenFault {
        let process = self.effects[effect].processes[0];
        let all = &self.in_use[effect];
        // Spreads the choices over all entities.
        let chosen = (nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % all.len().max(1);
        let end = at.0.saturating_add(self.notice_period_ns(effect)).checked_add(outage);
        ChosenFault {
            process,
            entity: all.get(chosen).copied().unwrap_or(0),
            at,
            end: end.filter(|_| outage != NEVER).map(Duration),
        }
    }

    /// Returns the notice period, the delay between the start of a fault and its first effect, in nanoseconds.
    pub fn notice_period_ns(&self, effect: usize) -> u64 {
        let process = self.runner.faults.processes().nth(self.effects[effect].processes[0]);
        process.map_or(0, |p| match p.action {
            RandomAction::Drain => p.notice.0,
            _ => 0,
        })
    }

    /// Returns the observation period that covers all consequences of an outage of duration `outage`.
    pub fn horizon(&self, effect: usize, outage: u64) -> Duration {
        let process = self.runner.faults.processes().nth(self.effects[effect].processes[0]);
        let deleted = process.and_then(|p| p.deleted_after).map_or(0, |d| d.0);
        let notice = process.map_or(0, |p| p.notice.0);
        let outage = if outage == NEVER { 0 } else { outage };
        Duration(notice + outage.max(deleted)) + TIME_AFTER_RETURN
    }

    /// Returns the time of the fault in the `nth` trial, which differs relative to the phase of periodic activities.
    fn moment(&self, nth: u64) -> Duration {
        // Multiples of the golden ratio are spread evenly over every period that divides a minute.
        let part = u128::from(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Duration(self.at.0 + ((part * 60_000_000_000) >> 64) as u64)
    }

    pub fn trial(&self, effect: usize, (nth, outage): (u64, u64), room: bool) -> TrialSpec {
        let at = self.moment(nth);
        TrialSpec {
            faults: vec![self.sample_fault(effect, nth, at, outage)],
            spares: room,
            closed: if room { Vec::new() } else { self.idle.clone() },
            nth,
            until: at + self.horizon(effect, outage),
            ..TrialSpec::default()
        }
    }

    /// Returns the result of a trial with one fault, whose notice period ends at `at`.
    pub fn run_single_fault(&self, seen: &ObservedState, at: SimTime) -> TrialResult {
        let mut held = [0; LedgerCategory::COUNT];
        for (category, ns) in held.iter_mut().zip(&seen.held) {
            *category = *ns;
        }
        TrialResult { sample: self.sample(seen, at), mostly: self.mostly_bound(seen, at), held }
    }

    /// Returns the result of a trial in which a restart in progress waits for the nodes of a second fault at `at`.
    pub fn try_overlapping(&self, seen: &ObservedState, at: SimTime) -> TrialResult {
        let since = |t: &SimTime| t.since(at).0;
        let sample = CurveSample {
            // The JobSet is restarting already, so only its readiness is of interest.
            ready: seen.started.last().filter(|t| **t > at).map_or(NEVER, since),
            bind: seen.bound_after(at).last().map_or(0, since),
            ..CurveSample::NOTHING
        };
        TrialResult { sample, mostly: 0, held: [0; LedgerCategory::COUNT] }
    }

    /// Returns the time from the fault until almost all pods were bound again. It ignores as many pods as two faults
    /// can leave without a slot.
    pub fn mostly_bound(&self, seen: &ObservedState, at: SimTime) -> u64 {
        let entity = |e: &FaultEffect| self.runner.faults.entity_nodes(e.processes[0], 0).len();
        let lost = 2 * self.effects.iter().map(entity).max().unwrap_or(0);
        let bound = seen.bound_after(at);
        let most = self.slots.pods.saturating_sub(lost).max(1);
        bound.get(most.min(bound.len()).saturating_sub(1)).map_or(0, |t| t.since(at).0)
    }

    pub fn sample(&self, seen: &ObservedState, at: SimTime) -> CurveSample {
        let since = |t: Option<SimTime>| t.map_or(NEVER, |t| t.since(at).0);
        let interrupt = seen.interrupted.iter().copied().find(|t| *t >= at);
        let ready = seen.started.last().copied().filter(|t| Some(*t) > interrupt);
        let bound = seen.bound_after(at);
        let counted = seen.counted.first().map(|(t, ..)| *t);
        CurveSample {
            interrupt: since(interrupt),
            ready: since(ready.filter(|_| interrupt.is_some())),
            bind: bound.last().copied().or(counted).map_or(0, |t| t.since(at).0),
            counted: since(counted),
            restarts: seen.restarts,
            counts: seen.counts,
            moves: match bound.len() {
                0 if seen.restarts == 0 => CurveShift::NoPods,
                n if n >= self.slots.pods => CurveShift::All,
                _ => CurveShift::Lost,
            },
            failed: since(seen.failed),
            is_repeated: seen.interrupted.iter().filter(|t| **t >= at).count() > 1,
        }
    }

    /// Returns, per effect, the average use of the accelerators during a restart by ledger category, as shares of
    /// the restart time.
    pub fn shares(
        &self, idle_states: &[ObservedState], trials: &[Vec<SimulatedTrial>],
    ) -> Vec<[f64; LedgerCategory::COUNT]> {
        let before = &idle_states[0].held;
        let rates = &self.slots.accelerators;
        let accelerators: u64 = self.busy.iter().map(|n| rates[n.ix()]).sum();
        let of = |trials: &Vec<SimulatedTrial>| {
            let mut shares = [0.0; LedgerCategory::COUNT];
            let mut complete = 0.0;
            for trial in trials.iter().flat_map(|trials| &trials.trials) {
                let sample = trial.sample;
                if sample.ready == NEVER || sample.interrupt == NEVER {
                    continue;
                }
                complete += (sample.ready - sample.interrupt) as f64 * accelerators as f64;
                for category in [LedgerCategory::Starting, LedgerCategory::Waiting, LedgerCategory::Terminating] {
                    let then = before.get(category as usize).copied().unwrap_or(0);
                    let more = trial.held[category as usize] as f64 - then as f64;
                    shares[category as usize] += more.max(0.0);
                }
            }
            let of_all = |ns: f64| {
                if complete > 0.0 { (ns / complete).min(1.0) } else { 0.0 }
            };
            shares.map(of_all)
        };
        trials.iter().map(of).collect()
    }
}
