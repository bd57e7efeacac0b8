//! The measured effects of faults in a scenario, made with the engine once, before any replication.

use super::bench::Bench;
use super::curve::Curve;
use super::effect::{Effect, effects};
use super::fewer::fewer_spares;
use super::lab::{Lab, NotMeasured, Stops, Trial, bare};
use super::pairs::Pair;
use crate::reduced::choices::{OPEN, OPEN_S};
use crate::reduced::observation::Seen;
use crate::reduced::seats::Seats;
use sim_api::spec::{Arrivals, RandomFaults, Scenario};
use sim_base::random::Key;
use sim_base::*;
use sim_engine::faults::Faults;
use sim_engine::record::LedgerCategory;
use std::sync::{Arc, Mutex, PoisonError};

/// Everything from which replications of a scenario are computed.
#[derive(Clone)]
pub struct Measured {
    pub(crate) scenario: Scenario,
    pub(crate) faults: Arc<Faults>,
    pub(crate) seats: Arc<Seats>,
    pub(crate) key: Key,
    pub(crate) effects: Vec<Effect>,
    pub(crate) effect_of: Vec<usize>,
    /// Time from submission to readiness of all pods, in runs without faults.
    pub(crate) startup: Vec<u64>,
    pub(crate) submitted: Time,
    pub(crate) first_bind: u64,
    /// Time from the end of the work to the end of the JobSet.
    pub(crate) ending: Vec<u64>,
    /// Per effect: the curve with free slots; and the delay from a slot becoming usable to ready pods.
    pub(crate) curves: Vec<Curve>,
    pub(crate) late: Vec<u64>,
    /// Per effect: time from the fault to the failure of the JobSet, if no restart is left.
    pub(crate) last: Vec<Vec<u64>>,
    /// By effect of the first and of the second fault.
    pub(crate) pairs: Vec<Vec<Pair>>,
    /// By effect of the second fault, if the restart waits for its nodes.
    pub(crate) along: Vec<Curve>,
    /// Per effect: use of the accelerators during a restart, as shares of its duration.
    pub(crate) shares: Vec<[f64; LedgerCategory::COUNT]>,
    pub(crate) max_restarts: i64,
    pub(crate) gang_accelerators: u64,
    plays: u64,
    /// Everything that the measurement depends on, as text.
    basis: String,
    /// A trial, the affected nodes, and its observation on the measured cluster.
    sample: Arc<(Trial, Vec<Vec<NodeId>>, Seen)>,
    /// Clusters, and the timing error when the same trial was run there.
    off: Arc<Mutex<Vec<(String, Off)>>>,
    /// The timing error on the cluster of this scenario.
    apart: u64,
}

/// Largest timing offset in ns; `None` if it exceeds the tolerance or the outcomes differ in kind.
type Off = Option<u64>;

/// The scenario to be measured, and its cluster.
struct Ground {
    all: Faults,
    /// Without spares that no trial needs.
    fewer: Option<(Scenario, Faults)>,
    effects: Vec<Effect>,
    effect_of: Vec<usize>,
    basis: String,
}

impl Ground {
    fn of(scenario: &Scenario) -> Ground {
        let all = Faults::of(scenario);
        let (effects, effect_of) = effects(&all);
        let fewer = fewer_spares(scenario, &all).map(|fewer| {
            let faults = Faults::of(&fewer);
            (fewer, faults)
        });
        let (played, faults) = fewer.as_ref().map_or((scenario, &all), |(s, f)| (s, f));
        Ground {
            basis: basis(played, (faults, &effects)),
            all,
            fewer,
            effects,
            effect_of,
        }
    }
}

impl Measured {
    /// Number of engine runs used.
    pub fn plays(&self) -> u64 {
        self.plays
    }

    /// The measurement reused for another scenario with the same basis: restart limits, end, fault rates, training,
    /// and superfluous spares may differ.
    pub fn again(
        &self,
        scenario: &Scenario,
        stops: Stops<'_>,
    ) -> Result<Option<Measured>, NotMeasured> {
        let ground = Ground::of(scenario);
        if self.basis != ground.basis {
            return Ok(None);
        }
        let Some(off) = self.off_with((scenario, stops), &ground)? else {
            return Ok(None);
        };
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        Ok(Some(Measured {
            scenario: scenario.clone(),
            seats: Arc::new(Seats::of(scenario)),
            faults: Arc::new(ground.all),
            effects: ground.effects,
            effect_of: ground.effect_of,
            max_restarts: policy.map_or(0, |policy| i64::from(policy.max_restarts)),
            apart: off,
            ..self.clone()
        }))
    }

    /// Error bound of a restart time: by how much two restarts of a kind may differ.
    pub(crate) fn doubt(&self, curve: &Curve) -> u64 {
        (curve.spread() + self.apart) * 2
    }

    /// The largest spread of restart times of one kind, in seconds.
    pub fn spread_s(&self) -> f64 {
        self.curves.iter().map(Curve::spread).max().unwrap_or(0) as f64 / 1e9
    }

    /// Measures a scenario for which `why_not` is empty; stops early if `stops` returns true.
    pub fn of(scenario: &Scenario, stops: Stops<'_>) -> Result<Measured, NotMeasured> {
        let ground = Ground::of(scenario);
        let mut measured = Measured::on((scenario, stops), &ground, true)?;
        match measured.off_with((scenario, stops), &ground)? {
            Some(off) => measured.apart = off,
            // Idle spares have an effect after all.
            None => return Measured::on((scenario, stops), &ground, false),
        }
        Ok(measured)
    }

    fn on(
        (scenario, stops): (&Scenario, Stops<'_>),
        ground: &Ground,
        with_fewer: bool,
    ) -> Result<Measured, NotMeasured> {
        let fewer = ground.fewer.as_ref().filter(|_| with_fewer);
        let (played, faults) = fewer.map_or((scenario, &ground.all), |(s, f)| (s, f));
        let seats = Arc::new(Seats::of(played));
        let effects = &ground.effects;
        let lab = Lab::new(bare(played), faults, stops);
        let mut bench = Bench::new(lab, effects, &seats);
        let calm = bench.calm()?;
        let submitted = calm[0].submitted;
        let startup = calm
            .iter()
            .map(|seen| seen.started[0].since(seen.submitted).0);
        let binds = calm[0].bound.iter().map(|(at, _)| at.since(submitted).0);
        let (curves, plays_of) = bench.curves()?;
        let shares = bench.shares(&calm, &plays_of);
        let late = bench.late(&curves)?;
        let pairs = bench.pairs(&curves, &plays_of)?;
        let along = bench.along(&curves, &pairs)?;
        let last = bench.last(&plays_of)?;
        let ending = bench.ending()?;
        let (trial, nodes) = bench.sample_trial(&curves);
        let sample = (bench.play(&trial)?, trial);
        let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_ref();
        let jobset = &scenario.jobsets[0].jobset;
        let accelerators = &seats.accelerators;
        let measured = Measured {
            // The store derives the same key for the first JobSet with a name.
            key: Key::of(&jobset.name).and(0),
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
            basis: match with_fewer {
                true => ground.basis.clone(),
                false => basis(scenario, (&ground.all, effects)),
            },
            sample: Arc::new((sample.1, nodes, sample.0)),
            off: Arc::new(Mutex::new(vec![(
                format!("{:?}", played.topology),
                Some(0),
            )])),
            apart: 0,
            seats: Arc::new(Seats::of(scenario)),
            effect_of: ground.effect_of.clone(),
            scenario: scenario.clone(),
            effects: effects.clone(),
            faults: Arc::new(Faults::of(scenario)),
        };
        match measured.doubts() {
            Some(why) => Err(NotMeasured::Refused(why)),
            None => Ok(measured),
        }
    }

    /// The timing error on the cluster of another scenario that differs only in idle spares, which the scheduler
    /// counts. `None` if it exceeds the accepted error or anything else differs.
    fn off_with(
        &self,
        (scenario, stops): (&Scenario, Stops<'_>),
        ground: &Ground,
    ) -> Result<Off, NotMeasured> {
        let cluster = format!("{:?}", scenario.topology);
        let mut known = self.off.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, off)) = known.iter().find(|(of, _)| *of == cluster) {
            return Ok(*off);
        }
        let (trial, nodes, seen) = &*self.sample;
        let lab = Lab::new(bare(scenario), &ground.all, stops);
        let off = match lab.of_these(trial, nodes) {
            Some(trial) => seen.off(&lab.play(&trial)?),
            None => None,
        };
        known.push((cluster, off));
        Ok(off)
    }

    /// The first measured behavior that the model cannot represent.
    fn doubts(&self) -> Option<String> {
        let names: Vec<&str> = self
            .scenario
            .fault_processes
            .iter()
            .map(|p| p.cause.as_str())
            .collect();
        let name = |effect: usize| names[self.effects[effect].processes[0]];
        for (a, row) in self.pairs.iter().enumerate() {
            for (b, pair) in row.iter().enumerate() {
                if pair.open > OPEN && pair.open_s > OPEN_S {
                    return Some(format!(
                        "faults {:?} during a restart after {:?}: chance decides what they add to the counters",
                        name(b),
                        name(a)
                    ));
                }
            }
        }
        for (effect, curve) in self.curves.iter().enumerate() {
            let point = curve.typical();
            if point
                .samples
                .iter()
                .any(|s| s.kind() != point.samples[0].kind())
            {
                let why = format!(
                    "faults {:?} do not always do the same: chance decides what is counted",
                    name(effect)
                );
                return Some(why);
            }
        }
        None
    }
}

/// Text of all inputs of the trials.
fn basis(scenario: &Scenario, (faults, effects): (&Faults, &[Effect])) -> String {
    let tried = |effect: &Effect| {
        let processes = effect.processes.iter();
        let entities = processes.map(|p| (faults.entities(*p), faults.processes().nth(*p)));
        let only = |(entities, process): (usize, Option<&RandomFaults>)| {
            let process = process.map(|process| RandomFaults {
                arrivals: match &process.arrivals {
                    Arrivals::Renewal(_) => Arrivals::Trace(Vec::new().into()),
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
    let hands_back = scenario
        .node_spares
        .as_ref()
        .map(|s| (&s.unit, s.hand_back));
    let spares = (hands_back, faults.spare_nodes());
    format!("{:?} {tried:?} {spares:?}", bare(scenario))
}
