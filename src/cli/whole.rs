//! One run with everything that charts and reports are made of, from a run directory, a scenario or manifests.

use super::args::PlayArgs;
use super::inputs::{self, quoted};
use super::subject::Given;
use super::{Failure, replay};
use crate::engine::Simulation;
use crate::experiment::{Played, play};
use crate::faults;
use crate::manifest::{self, LoadedScenario};
use crate::metrics::occupancy::Occupancy;
use crate::metrics::queued::Queued;
use crate::metrics::{Folds, RunView, Witness};
use crate::report::deciding::{Defaults, Known};
use crate::report::timeline;

pub struct Whole {
    loaded: LoadedScenario,
    not_modelled: Vec<String>,
    played: Played,
    pub witness: Witness,
    pub pods: Occupancy,
    pub queued: Queued,
    seed: u64,
}

impl Whole {
    /// `command`: whose inputs they are.
    pub fn of(given: &PlayArgs, command: &str) -> Result<Whole, Failure> {
        let play_args = replay::resolved(given)?;
        let loaded = Given::read(&play_args)?.pods(&[], command)?;
        let seed = play_args.seed.unwrap_or(loaded.scenario.seed);
        let scenario = faults::drawn(&loaded.scenario, seed, 0);
        let placed = Simulation::new(&scenario);
        let mut simulation = placed.map_err(|e| Failure::CannotBePlaced(e.to_string()))?;
        let folds = Folds::new(&scenario, false);
        let (played, witness) = play(&mut simulation, (seed, 0), folds, Witness::default());
        let run = played.view(seed, &[]);
        let moments = timeline::moments(&run);
        let close = timeline::closely(&run).into_iter();
        let snapshots: Vec<_> = close.flat_map(|(_, r)| [r.start, r.end]).collect();
        let nodes = played.names.nodes.len();
        // Only now is it known when to look closely.
        let pods = Occupancy::new(moments.clone(), &snapshots, nodes);
        let mut both = (pods, Queued::new(moments));
        simulation.run(seed, 0, &mut both);
        both.0.finish();
        Ok(Whole {
            not_modelled: loaded.not_modelled(),
            loaded,
            played,
            witness,
            pods: both.0,
            queued: both.1,
            seed,
        })
    }

    pub fn view(&self) -> RunView<'_> {
        self.played.view(self.seed, &self.not_modelled)
    }

    pub fn skipped(&self) -> &[String] {
        &self.loaded.skipped
    }

    /// The rest of a command line that names what was given, with its seed.
    pub fn words(&self, given: &PlayArgs) -> String {
        let mut words = String::new();
        if let Some(path) = &given.scenario {
            words.push_str(&format!(" {}", quoted(&path.to_string_lossy())));
        }
        for path in &given.manifests {
            words.push_str(&format!(" -f {}", quoted(path)));
        }
        if let Some(path) = &given.topology {
            words.push_str(&format!(" -t {}", quoted(&path.to_string_lossy())));
        }
        words + &inputs::tail(&given.sets, &given.fails, self.seed, None)
    }
}

/// The defaults of the program, as reports tell them.
pub fn defaults() -> Defaults {
    let known = manifest::assumptions().into_iter().map(|a| Known {
        id: a.id,
        value: a.value,
        source: a.source,
        confidence: a.confidence,
    });
    Defaults {
        known: known.collect(),
        timing: manifest::timing(),
    }
}
