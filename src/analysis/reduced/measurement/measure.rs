//! The measurement of a scenario with the engine, which precedes all replications of the reduced model.

use super::curve::LossCurve;
use super::effect::{FaultEffect, effects};
use super::effect_measurement::TrialBench;
use super::fault_pairs::FaultPair;
use super::reduced_cluster::fewer_spares;
use super::trial_runner::{NotMeasured, StopTimes, TrialRunner, TrialSpec, without_faults};
use crate::reduced::accuracy::{BOUNDARY_DURATION_MAX_S, BOUNDARY_SHARE_MAX};
use crate::reduced::observation::ObservedState;
use crate::reduced::slots::SlotTable;
use sim_api::spec::{ArrivalProcess, RandomFaults, ScenarioSpec};
use sim_base::random::StreamKey;
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::faults::FaultState;
use sim_engine::record::LedgerCategory;
use std::sync::{Arc, Mutex, PoisonError};

/// All data from which the reduced model simulates replications of a scenario.
#[derive(Clone)]
pub struct MeasuredFault {
    pub(crate) scenario: ScenarioSpec,
    pub(crate) faults: Arc<FaultState>,
    pub(crate) seats: Arc<SlotTable>,
    pub(crate) key: StreamKey,
    pub(crate) effects: Vec<FaultEffect>,
    pub(crate) effect_of: Vec<usize>,
    /// Times from submission until all pods are ready, without faults, in nanoseconds.
    pub(crate) startup: Vec<u64>,
    pub(crate) submitted: SimTime,
    pub(crate) first_bind: u64,
    /// Times from the end of the work to the end of the JobSet, in nanoseconds.
    pub(crate) ending: Vec<u64>,
    /// Per effect: times of a restart by outage duration, with free slots. `late` contains the delays from a slot
    /// becoming usable until all pods are ready.
    pub(crate) curves: Vec<LossCurve>,
    pub(crate) late: Vec<u64>,
    /// Per effect: times from the fault to the failure of the JobSet if no restart is left.
    pub(crate) last: Vec<Vec<u64>>,
    /// Effect of a second fault during a restart, by effect of the first and of the second fault.
    pub(crate) pairs: Vec<Vec<FaultPair>>,
    /// Times of a restart in progress that waits for the nodes of a second fault, by effect of the second fault.
    pub(crate) along: Vec<LossCurve>,
    /// Per effect: use of the accelerators during a restart by ledger category, as shares of the restart time.
    pub(crate) shares: Vec<[f64; LedgerCategory::COUNT]>,
    pub(crate) max_restarts: i64,
    pub(crate) gang_accelerators: u64,
    plays: u64,
    /// Text of all inputs on which the measurement depends. Equal texts mean equal measurements.
    basis: String,
    /// A trial with the nodes that fail, and its observations on the measured cluster.
    sample: Arc<(TrialSpec, Vec<Vec<NodeId>>, ObservedState)>,
    /// Clusters on which the sample trial was repeated, with the timing difference.
    off: Arc<Mutex<Vec<(String, TimingError)>>>,
    /// Timing difference of the sample trial on the cluster of this scenario, in nanoseconds.
    pub(crate) apart: u64,
}

/// Largest timing offset in ns; `None` if it exceeds the tolerance or the outcomes differ in kind.
type TimingError = Option<u64>;

/// Inputs of a measurement.
struct Baseline {
    all: FaultState,
    /// The scenario without spares that no trial needs, with its faults.
    fewer: Option<(ScenarioSpec, FaultState)>,
    effects: Vec<FaultEffect>,
    effect_of: Vec<usize>,
    basis: String,
}

impl Baseline {
    fn new(scenario: &ScenarioSpec) -> Baseline {
        let all = FaultState::new(scenario);
        let (effects, effect_of) = effects(&all);
        let fewer = fewer_spares(scenario, &all).map(|fewer| {
            let faults = FaultState::new(&fewer);
            (fewer, faults)
        });
        let (played, faults) = fewer.as_ref().map_or((scenario, &all), |(s, f)| (s, f));
        Baseline { basis: input_text(played, (faults, &effects)), all, fewer, effects, effect_of }
    }
}

impl MeasuredFault {
    /// Returns the number of trials.
    pub fn trial_count(&self) -> u64 {
        self.plays
    }

    /// Applies the measurement to another scenario. Returns `None` if the scenario has different inputs of the
    /// measurement. Restart limits, end time, fault rates, training, and the number of spares may differ.
    pub fn reapply(&self, scenario: &ScenarioSpec, stops: StopTimes<'_>) -> Result<Option<MeasuredFault>, NotMeasured> {
        let ground = Baseline::new(scenario);
        if self.basis != ground.basis {
            return Ok(None);
        }
        let Some(off) = self.off_with((scenario, stops), &ground)? else {
            return Ok(None);
        };
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        Ok(Some(MeasuredFault {
            scenario: scenario.clone(),
            seats: Arc::new(SlotTable::new(scenario)),
            faults: Arc::new(ground.all),
            effects: ground.effects,
            effect_of: ground.effect_of,
            max_restarts: policy.map_or(0, |policy| i64::from(policy.max_restarts)),
            apart: off,
            ..self.clone()
        }))
    }

    /// Returns the error bound of a restart time, in nanoseconds: twice the difference that two restarts of the same
    /// kind may have.
    pub(crate) fn doubt(&self, curve: &LossCurve) -> u64 {
        (curve.spread() + self.apart) * 2
    }

    /// Returns the largest spread of restart times of the same kind, in seconds.
    pub fn spread_s(&self) -> f64 {
        self.curves.iter().map(LossCurve::spread).max().unwrap_or(0) as f64 / 1e9
    }

    /// Measures a scenario for which `why_not` is empty. Stops early if `stops` returns true.
    pub fn measure(scenario: &ScenarioSpec, stops: StopTimes<'_>) -> Result<MeasuredFault, NotMeasured> {
        let ground = Baseline::new(scenario);
        let mut measured = MeasuredFault::measure_on((scenario, stops), &ground, true)?;
        match measured.off_with((scenario, stops), &ground)? {
            Some(off) => measured.apart = off,
            // The idle spares have an effect, so the scenario is measured with all of them.
            None => return MeasuredFault::measure_on((scenario, stops), &ground, false),
        }
        Ok(measured)
    }

    fn measure_on(
        (scenario, stops): (&ScenarioSpec, StopTimes<'_>),
        ground: &Baseline,
        with_fewer: bool,
    ) -> Result<MeasuredFault, NotMeasured> {
        let fewer = ground.fewer.as_ref().filter(|_| with_fewer);
        let (played, faults) = fewer.map_or((scenario, &ground.all), |(s, f)| (s, f));
        let seats = Arc::new(SlotTable::new(played));
        let effects = &ground.effects;
        let lab = TrialRunner::new(without_faults(played), faults, stops);
        let mut bench = TrialBench::new(lab, effects, &seats);
        let calm = bench.calm()?;
        let submitted = calm[0].submitted;
        let startup = calm.iter().map(|seen| seen.started[0].since(seen.submitted).0);
        let binds = calm[0].bound.iter().map(|(at, _)| at.since(submitted).0);
        let (curves, plays_of) = bench.curves()?;
        let shares = bench.shares(&calm, &plays_of);
        let in_place = scenario.jobsets[0].jobset.restarts_in_place();
        if let Some(effect) = bench.retrying_effect(&curves).filter(|_| !in_place) {
            let cause = &scenario.fault_processes[effects[effect].processes[0]].cause;
            return Err(NotMeasured::Refused(format!(
                "faults {cause:?}: the Job or the kubelet replaces what failed, without a restart of the JobSet; the \
                 delay and the end depend on earlier failures (back-off, backoffLimit); use backoffLimit: 0 and no rule \
                 that ignores the failure"
            )));
        }
        let late = bench.measure_return_delays(&curves)?;
        let pairs = bench.pairs(&curves, &plays_of)?;
        let along = bench.along(&curves, &pairs)?;
        let last = bench.measure_final_failures(&plays_of)?;
        let ending = bench.time_to_failure()?;
        let (trial, nodes) = bench.sample_trial(&curves);
        let sample = (bench.run_trials(&trial)?, trial);
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        let jobset = &scenario.jobsets[0].jobset;
        let accelerators = &seats.accelerators;
        let measured = MeasuredFault {
            // The key that the store derives for the first JobSet with this name.
            key: StreamKey::from_text(&jobset.name).part(0),
            startup: startup.collect(),
            first_bind: binds.max().unwrap_or(0),
            submitted,
            ending,
            curves,
            late,
            last,
            pairs,
            along,
            shares,
            max_restarts: policy.map_or(0, |policy| i64::from(policy.max_restarts)),
            gang_accelerators: bench.busy.iter().map(|n| accelerators[n.ix()]).sum(),
            plays: bench.plays.into_inner(),
            basis: if with_fewer { ground.basis.clone() } else { input_text(scenario, (&ground.all, effects)) },
            sample: Arc::new((sample.1, nodes, sample.0)),
            off: Arc::new(Mutex::new(vec![(format!("{:?}", played.topology), Some(0))])),
            apart: 0,
            seats: Arc::new(SlotTable::new(scenario)),
            effect_of: ground.effect_of.clone(),
            scenario: scenario.clone(),
            effects: effects.clone(),
            faults: Arc::new(FaultState::new(scenario)),
        };
        match measured.doubts() {
            Some(why) => Err(NotMeasured::Refused(why)),
            None => Ok(measured),
        }
    }

    /// Returns the timing difference of the sample trial on the cluster of a scenario that differs in idle spares,
    /// which the scheduler counts. `None` if it exceeds the accepted error or if anything else differs.
    fn off_with(
        &self,
        (scenario, stops): (&ScenarioSpec, StopTimes<'_>),
        ground: &Baseline,
    ) -> Result<TimingError, NotMeasured> {
        let cluster = format!("{:?}", scenario.topology);
        let mut known = self.off.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, off)) = known.iter().find(|(of, _)| *of == cluster) {
            return Ok(*off);
        }
        let (trial, nodes, seen) = &*self.sample;
        let lab = TrialRunner::new(without_faults(scenario), &ground.all, stops);
        let off = match lab.of_these(trial, nodes) {
            Some(trial) => seen.timing_offset(&lab.run(&trial)?),
            None => None,
        };
        known.push((cluster, off));
        Ok(off)
    }

    /// Describes the first measured behavior that the reduced model cannot represent, if there is one.
    fn doubts(&self) -> Option<String> {
        let names: Vec<&str> = self.scenario.fault_processes.iter().map(|p| p.cause.as_str()).collect();
        let name = |effect: usize| names[self.effects[effect].processes[0]];
        for (a, row) in self.pairs.iter().enumerate() {
            for (b, pair) in row.iter().enumerate() {
                if pair.open > BOUNDARY_SHARE_MAX && pair.open_s > BOUNDARY_DURATION_MAX_S {
                    return Some(format!(
                        "faults {:?} during a restart after faults {:?}: the number of counted restarts is random",
                        name(b),
                        name(a)
                    ));
                }
            }
        }
        for (effect, curve) in self.curves.iter().enumerate() {
            let point = curve.typical_point();
            if point.samples.iter().any(|s| s.kind() != point.samples[0].kind()) {
                let why = format!(
                    "faults {:?} have different outcomes under equal conditions: the number of counted restarts is \
                     random",
                    name(effect)
                );
                return Some(why);
            }
        }
        None
    }
}

/// Returns the text of all inputs of the trials.
fn input_text(scenario: &ScenarioSpec, (faults, effects): (&FaultState, &[FaultEffect])) -> String {
    let tried = |effect: &FaultEffect| {
        let processes = effect.processes.iter();
        let entities = processes.map(|p| (faults.entity_count(*p), faults.processes().nth(*p)));
        let only = |(entities, process): (usize, Option<&RandomFaults>)| {
            let process = process.map(|process| RandomFaults {
                arrivals: match &process.arrivals {
                    ArrivalProcess::Renewal(_) => ArrivalProcess::Trace(Vec::new().into()),
                    traced => traced.clone(),
                },
                from: Duration::ZERO,
                until: None,
                lemons: None,
                ..process.clone()
            });
            format!("{entities} {process:?}")
        };
        let all: Vec<String> = entities.map(only).collect();
        format!("{} {:?}", effect.any_time, all)
    };
    let tried: Vec<String> = effects.iter().map(tried).collect();
    let hands_back = scenario.node_spares.as_ref().map(|s| (&s.unit, s.hand_back));
    let spares = (hands_back, faults.spare_nodes());
    format!("{:?} {tried:?} {spares:?}", without_faults(scenario))
}
