//! A checked scenario.

use super::{ScenarioBuilder, SimulationError};
use sim_api::spec;
use sim_inputs::{FileTextError, LoadedScenario, SourceText};
use std::path::Path;
use std::sync::Arc;

/// A checked scenario, with all inputs of a run: cluster, control plane, JobSets, behavior of containers, faults,
/// and end of the run. Cloning is cheap.
///
/// [`Scenario::schema`] returns the format of a scenario file.
#[derive(Clone, Debug)]
pub struct Scenario(Arc<ScenarioInner>);

#[derive(Debug)]
struct ScenarioInner {
    loaded: LoadedScenario,
    not_modelled: Vec<String>,
}

impl Scenario {
    /// Reads a scenario file and the files that it refers to. File names are relative to the scenario file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Scenario, SimulationError> {
        Scenario::from_file_with(path, &[])
    }

    /// Reads a scenario file and overrides values, as `jobset-sim run --set PATH=VALUE` does.
    ///
    /// ```
    /// let scenario = jobset_sim::Scenario::from_file_with(
    ///     "scenarios/first-steps.yaml",
    ///     &[("jobSets[0].restartStrategy", "BlockingRecreate"), ("seed", "7")],
    /// )?;
    /// assert_eq!(scenario.seed(), 7);
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn from_file_with(path: impl AsRef<Path>, sets: &[(&str, &str)]) -> Result<Scenario, SimulationError> {
        let loaded = sim_inputs::read_scenario(path.as_ref(), &owned(sets))?;
        Ok(Scenario::new(loaded))
    }

    /// Reads a scenario from a text. `name` identifies the text in errors. `file` returns the content of each file
    /// that the scenario refers to, or an error message.
    ///
    /// ```
    /// # let text = std::fs::read_to_string("scenarios/first-steps.yaml").unwrap();
    /// let files = |name: &str| match name {
    ///     "manifests/exclusive-workers.yaml" => Ok(include_str!("../../../scenarios/manifests/exclusive-workers.yaml")),
    ///     "../topologies/small-16.yaml" => Ok(include_str!("../../../topologies/small-16.yaml")),
    ///     _ => Err("is not there".to_owned()),
    /// };
    /// let scenario = jobset_sim::Scenario::from_text("first-steps", &text, files)?;
    /// assert_eq!((scenario.name(), scenario.pods()), ("first-steps", 12));
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn from_text<T: Into<String>>(
        name: &str, text: &str, file: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Scenario, SimulationError> {
        let source = SourceText { file: name.to_owned(), text: text.to_owned() };
        let file = |name: &str| {
            let text = file(name).map(Into::into);
            text.map_err(|reason| FileTextError::Loader { reason })
        };
        let loaded = sim_inputs::parse_scenario(&source, &[], &file)?;
        Ok(Scenario::new(loaded))
    }

    /// Reads JobSets from manifests, as `jobset-sim run -f` does, with the default control plane and the smallest
    /// cluster that fits.
    pub fn from_manifest(path: impl AsRef<Path>) -> Result<Scenario, SimulationError> {
        let path = path.as_ref().display().to_string();
        let (manifests, _) = sim_inputs::read_manifest_path(&path)?;
        let loaded = sim_inputs::scenario_from_manifests(vec![manifests], None, &[])?;
        Ok(Scenario::new(loaded))
    }

    /// Returns the JSON Schema of scenario files, which describes every field. It also applies to the trees of
    /// builders.
    ///
    /// ```
    /// let schema = jobset_sim::Scenario::schema();
    /// assert!(schema["properties"]["faults"].is_object());
    /// ```
    pub fn schema() -> serde_json::Value {
        sim_inputs::json_schema("Scenario").unwrap_or_default()
    }

    /// Returns a builder for a scenario in code.
    pub fn builder(name: &str) -> ScenarioBuilder {
        ScenarioBuilder::new(name)
    }

    pub(super) fn new(loaded: LoadedScenario) -> Scenario {
        let not_modelled = loaded.not_modelled();
        Scenario(Arc::new(ScenarioInner { loaded, not_modelled }))
    }

    /// Returns the name of the scenario.
    pub fn name(&self) -> &str {
        &self.spec().name
    }

    /// Returns the seed in the scenario, or 1 if it sets none. A run may use any other seed.
    pub fn seed(&self) -> u64 {
        self.spec().seed
    }

    /// Returns the number of pods that the JobSets run at the same time.
    pub fn pods(&self) -> u64 {
        let jobsets = self.spec().jobsets.iter();
        jobsets.map(|j| j.jobset.spec.pods()).sum()
    }

    /// Returns the number of nodes of the cluster.
    pub fn nodes(&self) -> u64 {
        self.spec().topology.nodes()
    }

    /// Returns the fields of the manifests that Kubernetes supports and the simulation ignores, each with its number
    /// of occurrences.
    pub fn not_modelled(&self) -> &[String] {
        &self.0.not_modelled
    }

    /// Returns the objects of the manifests that are not simulated, as `kind/name`.
    pub fn skipped(&self) -> &[String] {
        &self.0.loaded.skipped
    }

    /// Returns names and contents of all input files, starting with the scenario.
    pub fn inputs(&self) -> &[(String, String)] {
        &self.0.loaded.inputs
    }

    /// Returns the scenario as plain data. The data is not part of the stable interface: its fields may change in
    /// any version.
    pub fn spec(&self) -> &spec::ScenarioSpec {
        &self.0.loaded.scenario
    }
}

pub(super) fn owned(sets: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    sets.iter().map(own).collect()
}
