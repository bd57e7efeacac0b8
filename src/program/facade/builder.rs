//! Builds a scenario in code. The scenario is written as a document of the scenario format and read like a file.
//!
//! This module must never check values: the reader of files does.

use super::{Fault, JobSet, Scenario, SimulationError, Topology, jobset};
use serde_json::{Map, Value, json};
use sim_api::spec::StopWhen;
use sim_base::Duration;
use sim_inputs::{Diagnostic, Diagnostics, FileTextError, SourceText};
use std::path::{Path, PathBuf};

/// Name of the generated scenario document in errors.
const DOCUMENT: &str = "<builder>";
/// Name of a generated cluster in errors.
const GENERATED: &str = "<generated topology>";

/// Builds a [`Scenario`] in code.
///
/// [`ScenarioBuilder::build`] checks all values together, by the same rules as in files.
#[derive(Clone, Debug)]
pub struct ScenarioBuilder {
    document: Map<String, Value>,
    topology: Option<InputOrigin>,
    jobsets: Vec<JobSet>,
    faults: Vec<Value>,
    containers: Vec<Value>,
    sets: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
enum InputOrigin {
    File(PathBuf),
    Code(Topology),
}

impl ScenarioBuilder {
    pub(super) fn new(name: &str) -> ScenarioBuilder {
        let mut document = Map::new();
        let mut field = |key: &str, value: Value| document.insert(key.to_owned(), value);
        field("apiVersion", sim_inputs::API_VERSION.into());
        field("kind", "Scenario".into());
        field("metadata", json!({"name": name}));
        ScenarioBuilder {
            document,
            topology: None,
            jobsets: Vec::new(),
            faults: Vec::new(),
            containers: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Sets the cluster. The default cluster has one node per pod, with all labels that the pods select.
    pub fn topology(mut self, topology: Topology) -> ScenarioBuilder {
        self.topology = Some(InputOrigin::Code(topology));
        self
    }

    /// Sets the cluster from a file of kind Topology.
    pub fn topology_file(mut self, path: impl AsRef<Path>) -> ScenarioBuilder {
        self.topology = Some(InputOrigin::File(path.as_ref().to_owned()));
        self
    }

    /// Adds a JobSet to submit.
    pub fn jobset(mut self, jobset: JobSet) -> ScenarioBuilder {
        self.jobsets.push(jobset);
        self
    }

    /// Sets the rates and workers of the control plane: `stock`, `scale-test` (the default) or `kops`.
    pub fn preset(self, name: &str) -> ScenarioBuilder {
        self.set("controlPlane.preset", name)
    }

    /// Adds a fault or an action of a user.
    pub fn fault(mut self, fault: Fault) -> ScenarioBuilder {
        self.faults.push(fault.into_line());
        self
    }

    /// Sets the time after which every container exits with code 0. Without a rule, containers run indefinitely.
    pub fn run_for(self, time: impl Into<Duration>) -> ScenarioBuilder {
        self.container(json!({"runFor": time.into().to_string()}))
    }

    /// Adds a rule for the behavior of containers, with fields such as `replicatedJob`, `restartAttempt`, `runFor`
    /// and `exitCode`. The first matching rule applies. [`Scenario::schema`] lists all fields.
    pub fn container(mut self, rule: Value) -> ScenarioBuilder {
        self.containers.push(rule);
        self
    }

    /// Sets the time limit of the run. The default is 24 h.
    pub fn stop_at(self, at: impl Into<Duration>) -> ScenarioBuilder {
        self.set("stop.at", at.into())
    }

    /// Sets the condition that ends the run before the time limit. The default is [`StopWhen::Settled`].
    pub fn stop_when(self, when: StopWhen) -> ScenarioBuilder {
        self.set("stop.when", when.as_str())
    }

    /// Sets the seed that [`Scenario::seed`] returns. The default is 1.
    pub fn seed(self, seed: u64) -> ScenarioBuilder {
        self.set("seed", seed)
    }

    /// Overrides any value of the scenario, as `jobset-sim run --set PATH=VALUE` does. The value is YAML.
    pub fn set(mut self, path: &str, value: impl ToString) -> ScenarioBuilder {
        self.sets.push((path.to_owned(), value.to_string()));
        self
    }

    /// Checks all values and builds the scenario. Returns all errors found.
    pub fn build(self) -> Result<Scenario, SimulationError> {
        let misuse = |j: &JobSet| Some(Diagnostic::of_file(DOCUMENT, j.misuse?));
        let misuse: Vec<Diagnostic> = self.jobsets.iter().filter_map(misuse).collect();
        if !misuse.is_empty() {
            return Err(SimulationError::Invalid(Diagnostics(misuse)));
        }
        let mut files = InputFiles {
            has_random_faults: self.sets.iter().any(|(path, _)| path.starts_with("faultProcesses")),
            ..InputFiles::default()
        };
        let submitted = self.jobsets.iter().enumerate();
        let submitted: Vec<Value> = submitted.map(|(i, j)| files.jobset(i, j)).collect();
        let mut document = self.document;
        document.insert("jobSets".to_owned(), submitted.into());
        document.insert("faults".to_owned(), self.faults.into());
        document.insert("containers".to_owned(), self.containers.into());
        let topology = match self.topology {
            Some(InputOrigin::Code(topology)) => topology.document,
            Some(InputOrigin::File(path)) => path.display().to_string().into(),
            None => GENERATED.into(),
        };
        document.insert("topology".to_owned(), topology);
        let source = SourceText { file: DOCUMENT.to_owned(), text: sim_inputs::print_yaml(&document.into()) };
        let file = |name: &str| files.read(name);
        let loaded = sim_inputs::parse_scenario(&source, &self.sets, &file)?;
        Ok(Scenario::new(loaded))
    }
}

/// Files that the document refers to: JobSets as texts, or files on disk.
#[derive(Default)]
struct InputFiles {
    texts: Vec<(String, String)>,
    jobsets: Vec<(String, Vec<(String, String)>)>,
    /// Whether the scenario has random faults, for which a generated cluster has spare nodes.
    has_random_faults: bool,
}

impl InputFiles {
    /// Returns the entry of `jobSets` for a JobSet.
    fn jobset(&mut self, index: usize, jobset: &JobSet) -> Value {
        let name = match &jobset.from {
            jobset::JobSetOrigin::File(path) => path.display().to_string(),
            jobset::JobSetOrigin::Text(name, text) => self.add_text(index, name, text.clone()),
            jobset::JobSetOrigin::Tree(tree) => {
                let name = tree["metadata"]["name"].as_str().unwrap_or("jobset");
                let name = format!("<JobSet {name}>");
                self.add_text(index, &name, sim_inputs::print_yaml(tree))
            }
        };
        let set = |(path, value): &(String, String)| format!("{path}={value}");
        let sets: Vec<String> = jobset.sets.iter().map(set).collect();
        self.jobsets.push((name.clone(), jobset.sets.clone()));
        let mut line = json!({"manifest": name, "set": sets});
        if let Some(at) = jobset.submit_at {
            line["submitAt"] = at.to_string().into();
        }
        line
    }

    /// Adds a text and returns its name, made unique if another text has the same name.
    fn add_text(&mut self, index: usize, name: &str, text: String) -> String {
        let taken = self.texts.iter().any(|(n, t)| n == name && *t != text);
        let name = if taken { format!("{name} ({index})") } else { name.to_owned() };
        self.texts.push((name.clone(), text));
        name
    }

    fn read(&self, name: &str) -> Result<String, FileTextError> {
        if name == GENERATED {
            return Ok(sim_inputs::print_yaml(&self.generated()));
        }
        match self.texts.iter().find(|(n, _)| n == name) {
            Some((_, text)) => Ok(text.clone()),
            None => sim_inputs::file_text(Path::new(name)),
        }
    }

    /// Generates a cluster for the JobSets. JobSets with errors are skipped here; reading the scenario reports their
    /// errors.
    fn generated(&self) -> Value {
        let source = |name: &String| {
            let text = self.read(name).ok()?;
            let file = name.clone();
            Some(SourceText { file, text })
        };
        let jobsets = self.jobsets.iter();
        let jobsets = jobsets.filter_map(|(name, sets)| Some((source(name)?, sets.clone())));
        let topology = sim_inputs::generated_topology(&jobsets.collect::<Vec<_>>(), self.has_random_faults);
        sim_inputs::written_topology(&topology)
    }
}
