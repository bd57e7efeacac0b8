//! The measurement of a scenario with the engine, which precedes all replications of the reduced model.

use super::curve::LossCurve;
use super::effect::{FaultEffect, effects};
use super::effect_measurement::TrialBench;
use super::fault_pairs::FaultPair;
use super::reduced_cluster::fewer_spares;
use super::trial_runner::{NotMeasured, StopTimes, TrialRunner, TrialSpec, without_faults};
use crate::reduced::accuracy::{BOUNDARY_DURATION_MAX_S, BOUNDARY_SHARE_MAX};
use crate::{reduced::observation::ObservedState, reduced::slots::SlotTable};
use sim_api::spec::{ArrivalProcess, RandomFaults, ScenarioSpec};
use sim_base::random::StreamKey;
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::record::LedgerCategory;
use sim_reliability::faults::FaultModel;
use std::sync::{Arc, Mutex, PoisonError};

/// All data from which the reduced model simulates replications of a scenario.
#[derive(Clone)]
pub struct MeasuredFault {
    pub(crate) scenario: ScenarioSpec,
    pub(crate) faults: Arc<FaultModel>,
    pub(crate) slots: Arc<SlotTable>,
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
    pub(crate) overlapping_curves: Vec<LossCurve>,
    /// Per effect: use of the accelerators during a restart by ledger category, as shares of the restart time.
    pub(crate) shares: Vec<[f64; LedgerCategory::COUNT]>,
    pub(crate) max_restarts: i64,
    pub(crate) pod_accelerators: u64,
    trials: u64,
    /// Text of all inputs on which the measurement depends. Equal texts mean equal measurements.
    basis: String,
    /// A trial with the nodes that fail, and its observations on the measured cluster.
    sample: Arc<(TrialSpec, Vec<Vec<NodeId>>, ObservedState)>,
    /// Clusters on which the sample trial was repeated, with the timing difference.
    timing_errors: Arc<Mutex<Vec<(String, TimingError)>>>,
    /// Timing difference of the sample trial on the cluster of this scenario, in nanoseconds.
    pub(crate) cluster_offset: u64,
}

/// Largest timing offset in ns; `None` if it exceeds the tolerance or the outcomes differ in kind.
type TimingError = Option<u64>;

/// Inputs of a measurement.
struct Baseline {
    all: FaultModel,
    /// The scenario without spares that no trial needs, with its faults.
    fewer: Option<(ScenarioSpec, FaultModel)>,
    effects: Vec<FaultEffect>,
    effect_of: Vec<usize>,
    basis: String,
}

impl Baseline {
    fn new(scenario: &ScenarioSpec) -> Baseline {
        let all = FaultModel::new(scenario);
        let (effects, effect_of) = effects(&all);
        let fewer = fewer_spares(scenario, &all).map(|fewer| {
            let faults = FaultModel::new(&fewer);
            (fewer, faults)
        });
        let (simulated, faults) = fewer.as_ref().map_or((scenario, &all), |(s, f)| (s, f));
        Baseline { basis: input_text(simulated, (faults, &effects)), all, fewer, effects, effect_of }
    }
}

impl MeasuredFault {
    /// Returns the number of trials.
    pub fn trial_count(&self) -> u64 {
        self.trials
    }

    /// Applies the measurement to another scenario. Returns `None` if the scenario has different inputs of the
    /// measurement. Restart limits, end time, fault rates, training, and the number of spares may differ.
    pub fn reapply(&self, scenario: &ScenarioSpec, stops: StopTimes<'_>) -> Result<Option<MeasuredFault>, NotMeasured> {
        let baseline = Baseline::new(scenario);
        if self.basis != baseline.basis {
            return Ok(None);
        }
        let Some(off) = self.off_with((scenario, stops), &baseline)? else {
            return Ok(None);
        };
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        Ok(Some(MeasuredFault {
            scenario: scenario.clone(),
            slots: Arc::new(SlotTable::new(scenario)),
            faults: Arc::new(baseline.all),
            effects: baseline.effects,
            effect_of: baseline.effect_of,
            max_restarts: policy.map_or(0, |policy| i64::from(policy.max_restarts)),
            cluster_offset: off,
            ..self.clone()
        }))
    }

    /// Returns the error bound of a restart time, in nanoseconds: twice the difference that two restarts of the same
    /// kind may have.
    pub(crate) fn error_bound(&self, curve: &LossCurve) -> u64 {
        (curve.ready_range() + self.cluster_offset) * 2
    }

    /// Returns the largest spread of restart times of the same kind, in seconds.
    pub fn spread_s(&self) -> f64 {
        self.curves.iter().map(LossCurve::spread).max().unwrap_or(0) as f64 / 1e9
    }

    /// Measures a scenario for which `why_not` is empty. Stops early if `stops` returns true.
    pub fn measure(scenario: &ScenarioSpec, stops: StopTimes<'_>) -> Result<MeasuredFault, NotMeasured> {
        let baseline = Baseline::new(scenario);
        let mut measured = MeasuredFault::measure_on((scenario, stops), &baseline, true)?;
        match measured.off_with((scenario, stops), &baseline)? {
            Some(off) => measured.cluster_offset = off,
            // The idle spares have an effect, so the scenario is measured with all of them.
            None => return MeasuredFault::measure_on((scenario, stops), &baseline, false),
        }
        Ok(measured)
    }

    fn measure_on(
        (scenario, stops): (&ScenarioSpec, StopTimes<'_>), baseline: &Baseline, with_fewer: bool,
    ) -> Result<MeasuredFault, NotMeasured> {
        let fewer = baseline.fewer.as_ref().filter(|_| with_fewer);
        let (simulated, faults) = fewer.map_or((scenario, &baseline.all), |(s, f)| (s, f));
        let slots = Arc::new(SlotTable::new(simulated));
        let effects = &baseline.effects;
        let runner = TrialRunner::new(without_faults(simulated), faults, stops);
        let mut bench = TrialBench::new(runner, effects, &slots);
        let idle_states = bench.idle_states()?;
        let submitted = idle_states[0].submitted;
        let startup = idle_states.iter().map(|seen| seen.started[0].since(seen.submitted).0);
        let binds = idle_states[0].bound.iter().map(|(at, _)| at.since(submitted).0);
        let (curves, run_all) = bench.curves()?;
        let shares = bench.shares(&idle_states, &run_all);
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
        let pairs = bench.pairs(&curves, &run_all)?;
        let overlapping_curves = bench.overlapping_curves(&curves, &pairs)?;
        let last = bench.measure_final_failures(&run_all)?;
        let ending = bench.time_to_failure()?;
        let (trial, nodes) = bench.sample_trial(&curves);
        let sample = (bench.run_trials(&trial)?, trial);
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        let jobset = &scenario.jobsets[0].jobset;
        let accelerators = &slots.accelerators;
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
            overlapping_curves,
            shares,
            max_restarts: policy.map_or(0, |policy| i64::from(policy.max_restarts)),
            pod_accelerators: bench.busy.iter().map(|n| accelerators[n.ix()]).sum(),
            trials: bench.trials.into_inner(),
            basis: if with_fewer { baseline.basis.clone() } else { input_text(scenario, (&baseline.all, effects)) },
            sample: Arc::new((sample.1, nodes, sample.0)),
            timing_errors: Arc::new(Mutex::new(vec![(format!("{:?}", simulated.topology), Some(0))])),
            cluster_offset: 0,
            slots: Arc::new(SlotTable::new(scenario)),
            effect_of: baseline.effect_of.clone(),
            scenario: scenario.clone(),
            effects: effects.clone(),
            faults: Arc::new(FaultModel::new(scenario)),
        };
        match measured.unsupported_behavior() {
            Some(why) => Err(NotMeasured::Refused(why)),
            None => Ok(measured),
        }
    }

    /// Returns the timing difference of the sample trial on the cluster of a scenario that differs in idle spares,
    /// which the scheduler counts. `None` if it exceeds the accepted error or if anything else differs.
    fn off_with(
        &self, (scenario, stops): (&ScenarioSpec, StopTimes<'_>), baseline: &Baseline,
    ) -> Result<TimingError, NotMeasured> {
        let cluster = format!("{:?}", scenario.topology);
        let mut known = self.timing_errors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, off)) = known.iter().find(|(of, _)| *of == cluster) {
            return Ok(*off);
        }
        let (trial, nodes, seen) = &*self.sample;
        let runner = TrialRunner::new(without_faults(scenario), &baseline.all, stops);
        let off = match runner.on_cluster(trial, nodes) {
            Some(trial) => seen.timing_offset(&runner.run(&trial)?),
            None => None,
        };
        known.push((cluster, off));
        Ok(off)
    }

    /// Describes the first measured behavior that the reduced model cannot represent, if there is one.
    fn unsupported_behavior(&self) -> Option<String> {
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
            if curve.points().iter().flat_map(|point| &point.samples).any(|sample| sample.is_repeated) {
                return Some(format!("faults {:?}: the job starts and stops again during a restart", name(effect)));
            }
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
fn input_text(scenario: &ScenarioSpec, (faults, effects): (&FaultModel, &[FaultEffect])) -> String {
    let trial = |effect: &FaultEffect| {
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
    let trial: Vec<String> = effects.iter().map(trial).collect();
    let hands_back = scenario.node_spares.as_ref().map(|s| (&s.unit, s.hand_back));
    let spares = (hands_back, faults.spare_nodes());
    format!("{:?} {trial:?} {spares:?}", without_faults(scenario))
}
