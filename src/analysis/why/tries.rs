//! Simulates the inputs with changed values, and measures the duration of the subject.

use super::levers::Setting;
use super::{Load, Set};
use crate::experiment::StopFlag;
use crate::experiment::parallel::each;
use crate::metrics::{Ending, RestartFold, Witness};
use sim_base::*;
use sim_engine::Simulation;
use sim_engine::faults;
use sim_engine::record::{Body, Names, Record, Sink};

/// The quantity that is measured in each run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Duration of the nth restart of a JobSet, counted from 0, from the fault until all pods are ready.
    Restart { jobset: JobSetId, nth: usize },
    /// Time from the creation of a JobSet until all its pods are ready.
    Start { jobset: JobSetId },
    /// Whether a JobSet neither fails nor is blocked, and the duration of its last restart, or of its start without
    /// a restart.
    Survival { jobset: JobSetId },
}

impl Target {
    pub fn jobset(self) -> JobSetId {
        match self {
            Target::Restart { jobset, .. }
            | Target::Start { jobset }
            | Target::Survival { jobset } => jobset,
        }
    }
}

/// Result of one run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The subject was completed in this time.
    Took(Duration),
    /// The subject began, but was not completed.
    NeverEnded,
    /// The subject did not occur.
    Absent,
}

/// A setting with its result, or the reason why it could not be simulated.
pub struct Tried<'s> {
    pub setting: &'s Setting,
    pub result: Result<Measured, String>,
}

/// Simulates all settings on a number of threads (0: one per core). Results are in the order of the settings.
pub fn all<'s>(
    load: &Load<'_>,
    settings: &'s [Setting],
    (target, seed): (Target, Option<u64>),
    threads: usize,
) -> Result<Vec<Tried<'s>>, String> {
    let one = |(): &mut (), i: u64| {
        let setting = &settings[i as usize];
        let result = one(load, &setting.sets, (target, seed));
        Some(Tried { setting, result })
    };
    let n = settings.len() as u64;
    let played = each(|| Ok(()), (n, threads), &StopFlag::new(), one);
    played.map_err(|why| why.to_string())
}

/// Simulates the inputs with these overrides.
pub fn one(
    load: &Load<'_>,
    sets: &[Set],
    (target, seed): (Target, Option<u64>),
) -> Result<Measured, String> {
    let loaded = load(sets)?;
    let seed = seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::drawn(&loaded.scenario, seed, 0);
    let mut simulation = Simulation::new(&scenario).map_err(|why| why.to_string())?;
    let mut sink = Sought {
        fold: RestartFold::new(&scenario).without_paths(),
        witness: Witness::default(),
        target,
        found: false,
    };
    let outcome = simulation.run(seed, 0, &mut sink);
    let Sought { fold, witness, .. } = sink;
    let restarts = fold.finish(&outcome, simulation.names());
    let jobset = target.jobset();
    let mut own = restarts.iter().filter(|r| r.jobset == jobset);
    let of = |restart: Option<&crate::metrics::Restart>| match restart {
        Some(r) if r.ending == Ending::Ready => Measured::Took(r.total()),
        Some(_) => Measured::NeverEnded,
        None => Measured::Absent,
    };
    Ok(match target {
        Target::Restart { nth, .. } => of(own.nth(nth)),
        Target::Start { .. } => match witness.start(jobset).takes() {
            Some(takes) => Measured::Took(takes),
            None => Measured::NeverEnded,
        },
        Target::Survival { .. } => {
            let state = outcome.jobsets.get(jobset.ix());
            let name = simulation.names().jobset(jobset);
            match state.map(|o| o.terminal_state) {
                Some("Failed") => Measured::NeverEnded,
                _ if outcome.dead_end(name).is_some() => Measured::NeverEnded,
                _ => match (own.next_back(), witness.start(jobset).takes()) {
                    (None, Some(takes)) => Measured::Took(takes),
                    (last, _) => of(last),
                },
            }
        }
    })
}

/// Number of events between two checks for the end of the subject. Frequent checks cost time.
const BETWEEN_LOOKS: u64 = 256;

/// Sink that detects restarts and stops the run when the subject has ended.
struct Sought {
    fold: RestartFold,
    witness: Witness,
    target: Target,
    found: bool,
}

impl Sink for Sought {
    fn record(&mut self, record: &Record, names: &Names) {
        self.fold.record(record, names);
        let Body::AllReady { ready: true, .. } = record.body else {
            if matches!(record.body, Body::JobSetCreated { .. }) {
                self.witness.record(record, names);
            }
            return;
        };
        self.witness.record(record, names);
        self.found = match self.target {
            Target::Restart { jobset, nth } => self.fold.ended(jobset) > nth,
            Target::Start { jobset } => self.witness.start(jobset).ready.is_some(),
            Target::Survival { .. } => false,
        };
    }

    fn looks_after(&self, _: u64) -> u64 {
        BETWEEN_LOOKS
    }

    fn stops(&mut self, _: u64) -> bool {
        self.found
    }
}
