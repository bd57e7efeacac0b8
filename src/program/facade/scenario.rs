//! A checked scenario: what is run.

use super::{Error, ScenarioBuilder};
use sim_api::spec;
use sim_inputs::{LoadedScenario, Source};
use std::path::Path;
use std::sync::Arc;

/// Everything a run needs, checked: the cluster, the control plane, JobSets, what containers do, what goes wrong, and
/// when the run ends. Cloning is cheap.
///
/// [`Scenario::schema`] is the format of a scenario file.
#[derive(Clone, Debug)]
pub struct Scenario(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    loaded: LoadedScenario,
    not_modelled: Vec<String>,
}

impl Scenario {
    /// Reads a scenario file and the files it names, relative to it.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Scenario, Error> {
        Scenario::from_file_with(path, &[])
    }

    /// The same, with values changed first, as `jobset-sim run --set PATH=VALUE` does.
    ///
    /// ```
    /// let scenario = jobset_sim::Scenario::from_file_with(
    ///     "scenarios/first-steps.yaml",
    ///     &[("jobSets[0].restartStrategy", "BlockingRecreate"), ("seed", "7")],
    /// )?;
    /// assert_eq!(scenario.seed(), 7);
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn from_file_with(
        path: impl AsRef<Path>,
        sets: &[(&str, &str)],
    ) -> Result<Scenario, Error> {
        let loaded = sim_inputs::read_scenario(path.as_ref(), &owned(sets))?;
        Ok(Scenario::new(loaded))
    }

    /// Reads a scenario from a text; `name` is what errors call it. `file` gives the text of each file that it names,
    /// or says why it cannot.
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
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn from_text<T: Into<String>>(
        name: &str,
        text: &str,
        file: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Scenario, Error> {
        let source = Source {
            file: name.to_owned(),
            text: text.to_owned(),
        };
        let file = |name: &str| file(name).map(Into::into);
        let loaded = sim_inputs::parse_scenario(&source, &[], &file)?;
        Ok(Scenario::new(loaded))
    }

    /// JobSets alone, as `jobset-sim run -f` runs them: the default control plane, and a cluster that is just large
    /// enough.
    pub fn from_manifest(path: impl AsRef<Path>) -> Result<Scenario, Error> {
        let path = path.as_ref().display().to_string();
        let (manifests, _) = sim_inputs::read_manifest_path(&path)?;
        let loaded = sim_inputs::scenario_from_manifests(vec![manifests], None, &[])?;
        Ok(Scenario::new(loaded))
    }

    /// The format of scenario files as a JSON Schema: every field with what it means. Of builders' trees too.
    ///
    /// ```
    /// let schema = jobset_sim::Scenario::schema();
    /// assert!(schema["properties"]["faults"].is_object());
    /// ```
    pub fn schema() -> serde_json::Value {
        sim_inputs::json_schema("Scenario").unwrap_or_default()
    }

    /// A scenario in code.
    pub fn builder(name: &str) -> ScenarioBuilder {
        ScenarioBuilder::new(name)
    }

    pub(super) fn new(loaded: LoadedScenario) -> Scenario {
        let not_modelled = loaded.not_modelled();
        Scenario(Arc::new(Inner {
            loaded,
            not_modelled,
        }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec().name
    }

    /// The seed that it names; 1 if it names none. A run may be given any other.
    pub fn seed(&self) -> u64 {
        self.spec().seed
    }

    /// Pods that its JobSets want at once.
    pub fn pods(&self) -> u64 {
        let jobsets = self.spec().jobsets.iter();
        jobsets.map(|j| j.jobset.spec.pods()).sum()
    }

    /// Nodes of its cluster.
    pub fn nodes(&self) -> u64 {
        self.spec().topology.nodes()
    }

    /// Fields of the manifests that Kubernetes knows and the simulation ignores, each with how often it is present.
    pub fn not_modelled(&self) -> &[String] {
        &self.0.not_modelled
    }

    /// Objects of the manifests that are not simulated, as `kind/name`.
    pub fn skipped(&self) -> &[String] {
        &self.0.loaded.skipped
    }

    /// Name and text of everything that was read for it, itself first.
    pub fn inputs(&self) -> &[(String, String)] {
        &self.0.loaded.inputs
    }

    /// The same as plain data. It is not part of the stable interface: its fields may change with any version.
    pub fn spec(&self) -> &spec::Scenario {
        &self.0.loaded.scenario
    }
}

pub(super) fn owned(sets: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    sets.iter().map(own).collect()
}
