//! Inputs that are read again and again with other overrides, each text once.

use super::Inputs;
use super::load;
use crate::cli::Failure;
use crate::cli::inputs;
use sim_api::spec::Topology;
use sim_inputs::{Diagnostics, LoadedScenario, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

pub enum Origin {
    Scenario {
        source: Source,
        /// Of files that it names: read when they are first asked for.
        texts: Mutex<BTreeMap<String, Result<String, String>>>,
    },
    Manifests {
        sources: Vec<Source>,
        /// Files beside them.
        not_tried: Vec<String>,
        topology: Option<(Source, Topology)>,
    },
}

impl Origin {
    /// A scenario whose text is read.
    pub fn scenario(source: Source) -> Origin {
        let texts = Mutex::default();
        Origin::Scenario { source, texts }
    }

    /// Manifests, and the cluster for them.
    pub fn manifests(paths: &[String], topology: Option<&Path>) -> Result<Origin, Failure> {
        let (mut sources, mut not_tried) = (Vec::new(), Vec::new());
        for path in paths {
            let found = sim_inputs::manifest_sources(path).map_err(load::invalid)?;
            sources.extend(found.0);
            not_tried.extend(found.1);
        }
        Ok(Origin::Manifests {
            sources,
            not_tried,
            topology: topology.map(load::topology).transpose()?,
        })
    }

    /// The scenario's text, if it is one.
    pub fn text(&self) -> Option<&Source> {
        match self {
            Origin::Scenario { source, .. } => Some(source),
            Origin::Manifests { .. } => None,
        }
    }

    /// What they come to with these overrides.
    pub fn load(&self, sets: &[(String, String)]) -> Result<LoadedScenario, Diagnostics> {
        match self {
            Origin::Scenario { source, texts } => {
                let base = Path::new(&source.file).parent().unwrap_or(Path::new(""));
                let loader = |name: &str| {
                    let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                    let read = || sim_inputs::file_text(&base.join(name));
                    texts.entry(name.to_owned()).or_insert_with(read).clone()
                };
                sim_inputs::parse_scenario(source, sets, &loader)
            }
            Origin::Manifests {
                sources,
                not_tried,
                topology,
            } => {
                let (sets, of_jobsets) = sim_inputs::split_sets(sets, &load::OF_JOBSETS);
                let mut manifests = sim_inputs::read_sources(sources, &of_jobsets)?;
                manifests.not_tried.clone_from(not_tried);
                let topology = topology.as_ref().map(|(_, topology)| topology.clone());
                sim_inputs::scenario_from_manifests(vec![manifests], topology, &sets)
            }
        }
    }

    /// What a directory keeps; `tail`: the options of the command that repeats it.
    pub fn inputs(&self, loaded: &LoadedScenario, tail: &str) -> Inputs {
        match self {
            Origin::Scenario { .. } => inputs::of_scenario(&loaded.inputs, tail),
            Origin::Manifests {
                sources, topology, ..
            } => {
                let files = sources.iter().map(|s| (s.file.clone(), s.text.clone()));
                let topology = topology.as_ref();
                let topology = topology.map(|(s, _)| (s.file.clone(), s.text.clone()));
                inputs::of_manifests(files.collect(), topology, load::presets(loaded), tail)
            }
        }
    }
}
