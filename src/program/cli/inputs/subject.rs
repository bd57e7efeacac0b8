//! The inputs of an experiment, read once, to be played with any overrides: a scenario, manifests or a Fleet.

use super::Inputs;
use super::fail::{self, Fail};
use super::load;
use super::origin::Origin;
use crate::cli::Failure;
use crate::cli::args::PlayArgs;
use crate::cli::inputs;
use crate::cli::run::check_collapsed;
use sim_analysis::experiment::Subject;
use sim_api::spec::{Experiment, Level};
use sim_inputs::{LoadedFleet, LoadedScenario, Source};

pub type Sets = Vec<(String, String)>;

/// What was given, with the overrides that all of it gets.
pub struct Given {
    from: From,
    sets: Sets,
    fails: Vec<Fail>,
    level: Option<Level>,
}

enum From {
    Pods(Origin),
    Fleet(Source),
}

/// What is given, with some overrides.
pub enum Loaded {
    Pods(Box<LoadedScenario>),
    Fleet(Box<LoadedFleet>),
}

impl Given {
    /// Reads every text that is named, once.
    pub fn read(play: &PlayArgs) -> Result<Given, Failure> {
        let from = match play.scenario.as_deref().map(load::source).transpose()? {
            Some(source) if sim_inputs::is_fleet(&source) => {
                if !play.fails.is_empty() {
                    return Err(no_pods("--fail"));
                }
                if play.level().is_some() {
                    return Err(no_pods("--level"));
                }
                From::Fleet(source)
            }
            Some(source) => From::Pods(Origin::scenario(source)),
            None => {
                let topology = play.topology.as_deref();
                From::Pods(Origin::manifests(&play.manifests, topology)?)
            }
        };
        Ok(Given {
            from,
            sets: play.sets.clone(),
            fails: play.fails.clone(),
            level: play.level(),
        })
    }

    /// With `more` overrides.
    pub fn load(&self, more: &[(String, String)]) -> Result<Loaded, Failure> {
        let sets: Sets = self.sets.iter().chain(more).cloned().collect();
        match &self.from {
            From::Fleet(source) => {
                let loaded = sim_inputs::parse_fleet(source, &sets).map_err(load::invalid)?;
                Ok(Loaded::Fleet(Box::new(loaded)))
            }
            From::Pods(origin) => {
                let mut loaded = origin.load(&sets).map_err(load::invalid)?;
                fail::add(&self.fails, &mut loaded.scenario)?;
                if let Some(level) = self.level {
                    loaded.experiment.level = level;
                }
                Ok(Loaded::Pods(Box::new(loaded)))
            }
        }
    }

    /// The same for a command that plays pods only.
    pub fn pods(
        &self,
        more: &[(String, String)],
        command: &str,
    ) -> Result<LoadedScenario, Failure> {
        match (self.load(more)?, &self.from) {
            (Loaded::Pods(_), _) if self.level == Some(Level::Collapsed) => {
                let text = format!("{command} needs every pod: --level collapsed has none");
                Err(Failure::Invalid(text))
            }
            (Loaded::Pods(loaded), _) => Ok(*loaded),
            (Loaded::Fleet(_), From::Fleet(source)) => {
                let text = format!("{} is a Fleet; {command} plays Scenarios", source.file);
                Err(Failure::Invalid(text))
            }
            (Loaded::Fleet(_), From::Pods(_)) => unreachable!("pods are loaded as pods"),
        }
    }

    /// Names and texts of everything that was read of a scenario with pods.
    pub fn files(&self, loaded: &LoadedScenario) -> Vec<(String, String)> {
        match &self.from {
            From::Fleet(_) => Vec::new(),
            From::Pods(origin) => origin.inputs(loaded, "").files,
        }
    }

    /// The text that was given first: the scenario, or the first manifest.
    pub fn text(&self) -> Option<&Source> {
        match &self.from {
            From::Fleet(source) => Some(source),
            From::Pods(origin) => origin.text(),
        }
    }

    /// The options that change results, as they would be typed.
    pub fn tail(&self, (seed, seeds): (u64, u64)) -> String {
        let tail = inputs::tail(&self.sets, &self.fails, seed, Some(seeds));
        tail + &inputs::level(self.level)
    }

    /// What a directory keeps of it, and the command that repeats it from there, as `run` with these options more.
    pub fn inputs(&self, loaded: &Loaded, asked: (u64, u64), more: &str) -> Inputs {
        let mut tail = self.tail(asked);
        tail.push_str(more);
        match (&self.from, loaded) {
            (From::Pods(origin), Loaded::Pods(loaded)) => origin.inputs(loaded, &tail),
            (_, Loaded::Fleet(loaded)) => inputs::of_scenario(&loaded.inputs, &tail),
            (From::Fleet(_), Loaded::Pods(_)) => unreachable!("a Fleet is loaded as one"),
        }
    }
}

/// That an option makes no sense with a Fleet.
pub fn no_pods(option: &str) -> Failure {
    let text = format!("{option} is of scenarios with pods; this file is a Fleet, which has none");
    Failure::Invalid(text)
}

impl Loaded {
    /// Of all random numbers, unless somebody asks for another.
    pub fn seed(&self) -> u64 {
        match self {
            Loaded::Pods(loaded) => loaded.scenario.seed,
            Loaded::Fleet(loaded) => loaded.fleet.seed,
        }
    }

    /// As reports name it.
    pub fn name(&self) -> &str {
        match self {
            Loaded::Pods(loaded) => &loaded.scenario.name,
            Loaded::Fleet(loaded) => &loaded.fleet.name,
        }
    }

    /// What replications are played of. At the collapsed level it is measured here, or refused.
    pub fn subject(&self) -> Result<Subject, Failure> {
        Ok(match self {
            Loaded::Pods(loaded) if loaded.experiment.level == Level::Collapsed => {
                Subject::Collapsed(check_collapsed::measured(&loaded.scenario, true)?)
            }
            Loaded::Pods(loaded) => Subject::Pods {
                scenario: Box::new(loaded.scenario.clone()),
                not_modelled: loaded.not_modelled(),
            },
            Loaded::Fleet(loaded) => Subject::Fleet(Box::new(loaded.fleet.clone())),
        })
    }

    /// What the file says of experiments with it.
    pub fn experiment(&self) -> Experiment {
        match self {
            Loaded::Pods(loaded) => loaded.experiment.clone(),
            Loaded::Fleet(loaded) => loaded.experiment.clone(),
        }
    }

    /// Objects of the manifests that are not simulated.
    pub fn skipped(&self) -> &[String] {
        match self {
            Loaded::Pods(loaded) => &loaded.skipped,
            Loaded::Fleet(_) => &[],
        }
    }
}
