//! Files and standard input to a scenario; the only part of the program that knows both paths and the reader.

use super::Failure;
use super::args::RunArgs;
use super::fail;
use super::inputs::{self, Inputs};
use crate::manifest::{self, Diagnostics, LoadedScenario, Source};
use crate::spec::{Scenario, Topology};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a run needs.
pub struct Loaded {
    pub scenario: Scenario,
    pub inputs: Inputs,
    /// Objects of the manifests that are not simulated.
    pub skipped: Vec<String>,
    pub not_modelled: Vec<String>,
    pub seed: u64,
}

pub fn run(args: &RunArgs) -> Result<Loaded, Failure> {
    match &args.scenario {
        Some(path) => {
            let mut loaded = manifest::read_scenario(path, &args.sets).map_err(invalid)?;
            fail::add(&args.fails, &mut loaded.scenario)?;
            let seed = args.seed.unwrap_or(loaded.scenario.seed);
            let tail = inputs::tail(&args.sets, &args.fails, seed, args.seeds);
            let inputs = inputs::of_scenario(&loaded.inputs, &tail);
            Ok(finish(loaded, inputs, seed))
        }
        None => from_manifests(args),
    }
}

fn from_manifests(args: &RunArgs) -> Result<Loaded, Failure> {
    let mut files = Vec::new();
    let mut manifests = Vec::new();
    let mut errors = Vec::new();
    for path in &args.manifests {
        if path == "-" {
            let source = stdin()?;
            match manifest::read_manifests(&source) {
                Ok(m) => manifests.push(m),
                Err(Diagnostics(e)) => errors.extend(e),
            }
            files.push(("stdin.yaml".to_owned(), source.text));
            continue;
        }
        match manifest::read_manifest_path(path) {
            Ok(m) => manifests.push(m),
            Err(Diagnostics(e)) => errors.extend(e),
        }
        if args.out.is_some() {
            copies(Path::new(path), &mut files);
        }
    }
    if !errors.is_empty() {
        return Err(invalid(Diagnostics(errors)));
    }
    let (copy, topology) = match &args.topology {
        Some(path) => {
            let (source, topology) = topology(path)?;
            (Some((source.file, source.text)), Some(topology))
        }
        None => (None, None),
    };
    let mut loaded =
        manifest::scenario_from_manifests(manifests, topology, &args.sets).map_err(invalid)?;
    fail::add(&args.fails, &mut loaded.scenario)?;
    let seed = args.seed.unwrap_or(loaded.scenario.seed);
    let tail = inputs::tail(&args.sets, &args.fails, seed, args.seeds);
    let inputs = inputs::of_manifests(files, copy, &tail);
    Ok(finish(loaded, inputs, seed))
}

pub fn finish(loaded: LoadedScenario, inputs: Inputs, seed: u64) -> Loaded {
    Loaded {
        not_modelled: loaded.not_modelled(),
        skipped: loaded.skipped,
        scenario: loaded.scenario,
        inputs,
        seed,
    }
}

pub fn topology(path: &Path) -> Result<(Source, Topology), Failure> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|e| Failure::Invalid(format!("cannot read {file}: {e}")))?;
    let source = Source { file, text };
    let topology = manifest::read_topology(&source).map_err(invalid)?;
    Ok((source, topology))
}

pub fn stdin() -> Result<Source, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|e| Failure::Invalid(format!("cannot read standard input: {e}")))?;
    Ok(Source {
        file: "<stdin>".to_owned(),
        text,
    })
}

pub fn invalid(errors: Diagnostics) -> Failure {
    Failure::Invalid(errors.to_string())
}

/// Texts of the manifest files at `path`, in the reader's order. What cannot be read, the reader has reported.
pub fn copies(path: &Path, files: &mut Vec<(String, String)>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut inside: Vec<PathBuf> = entries.map(|e| e.path()).collect();
        inside.sort();
        for entry in inside {
            let kind = entry.extension().and_then(|e| e.to_str()).unwrap_or("");
            if entry.is_dir() || ["yaml", "yml", "json"].contains(&kind) {
                copies(&entry, files);
            }
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        files.push((path.display().to_string(), text));
    }
}
