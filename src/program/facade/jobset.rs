//! JobSets for a scenario in code.

use serde_json::{Value, json};
use sim_api::spec::EXCLUSIVE_TOPOLOGY;
use sim_base::Duration;
use std::path::{Path, PathBuf};

/// A JobSet to submit, from a file, a text, a JSON tree, or built in code.
///
/// It is processed as the API server would process it, with all defaults and all validation rules.
#[derive(Clone, Debug)]
pub struct JobSet {
    pub(super) from: JobSetOrigin,
    pub(super) submit_at: Option<Duration>,
    pub(super) sets: Vec<(String, String)>,
    /// Error of the caller, reported when the scenario is built.
    pub(super) misuse: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) enum JobSetOrigin {
    File(PathBuf),
    /// Name in messages, and content.
    Text(String, String),
    Tree(Value),
}

impl JobSet {
    /// Creates a JobSet without Jobs. Add Jobs with [`JobSet::replicated_job`].
    ///
    /// ```
    /// use jobset_sim::{JobSet, Scenario};
    ///
    /// let train = JobSet::new("train")
    ///     .replicated_job("driver", 1, 1)
    ///     .replicated_job("workers", 4, 8)
    ///     .limit("google.com/tpu", "4")
    ///     .max_restarts(3)
    ///     .restart_strategy("BlockingRecreate");
    /// let scenario = Scenario::builder("two-kinds").jobset(train).build()?;
    /// assert_eq!(scenario.pods(), 1 + 4 * 8);
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn new(name: &str) -> JobSet {
        JobSet::from_origin(JobSetOrigin::Tree(json!({
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": name},
            "spec": {"replicatedJobs": []},
        })))
    }

    /// Uses manifests as for `kubectl apply`. A text may contain several documents. `name` identifies the text in
    /// errors.
    pub fn from_yaml(name: &str, text: &str) -> JobSet {
        JobSet::from_origin(JobSetOrigin::Text(name.to_owned(), text.to_owned()))
    }

    /// Uses a manifest as a JSON tree, for example from types of another crate through `serde_json::to_value`.
    pub fn from_json(manifest: Value) -> JobSet {
        JobSet::from_origin(JobSetOrigin::Tree(manifest))
    }

    /// Uses the manifests in a file.
    pub fn from_file(path: impl AsRef<Path>) -> JobSet {
        JobSet::from_origin(JobSetOrigin::File(path.as_ref().to_owned()))
    }

    fn from_origin(from: JobSetOrigin) -> JobSet {
        JobSet { from, submit_at: None, sets: Vec::new(), misuse: None }
    }

    /// Adds a replicatedJob with `replicas` Jobs of `pods` indexed pods. A failed container fails its pod, and a failed
    /// pod fails its Job (`restartPolicy: Never`, `backoffLimit: 0`). The JobSet must be created with [`JobSet::new`].
    pub fn replicated_job(mut self, name: &str, replicas: u32, pods: u32) -> JobSet {
        let containers = json!([{"name": "main", "image": "main", "resources": {"limits": {}}}]);
        let job = json!({
            "name": name,
            "replicas": replicas,
            "template": {"spec": {
                "parallelism": pods,
                "completions": pods,
                "backoffLimit": 0,
                "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
            }},
        });
        match self.jobs() {
            Some(jobs) => jobs.push(job),
            None => self.misuse = Some("replicated_job: the manifest has no spec.replicatedJobs to append to"),
        }
        self
    }

    /// Sets the limit of a resource for each pod of the last added replicatedJob, such as `("google.com/tpu", "4")`.
    pub fn limit(mut self, resource: &str, quantity: &str) -> JobSet {
        let limits = "/template/spec/template/spec/containers/0/resources/limits";
        let last = self.jobs().and_then(|jobs| jobs.last_mut());
        let limits = last.and_then(|job| job.pointer_mut(limits)?.as_object_mut());
        match limits {
            Some(limits) => {
                limits.insert(resource.to_owned(), quantity.into());
            }
            None => self.misuse = Some("limit: call replicated_job first"),
        }
        self
    }

    /// Sets the field `spec.failurePolicy.maxRestarts`.
    pub fn max_restarts(self, n: u32) -> JobSet {
        self.set("spec.failurePolicy.maxRestarts", n)
    }

    /// Sets `spec.failurePolicy.restartStrategy`: `Recreate`, `BlockingRecreate` or `InPlaceRestart`.
    pub fn restart_strategy(self, strategy: &str) -> JobSet {
        self.set("spec.failurePolicy.restartStrategy", strategy)
    }

    /// Places each Job exclusively in one topology domain of this node label, like the annotation
    /// `alpha.jobset.sigs.k8s.io/exclusive-topology`.
    pub fn exclusive_topology(self, label: &str) -> JobSet {
        self.set(&format!("metadata.annotations[{EXCLUSIVE_TOPOLOGY:?}]"), label)
    }

    /// Overrides any field of the manifest before it is read. The value is YAML.
    ///
    /// ```
    /// # let text = std::fs::read_to_string("scenarios/manifests/workers.yaml").unwrap();
    /// use jobset_sim::{JobSet, Scenario};
    ///
    /// let train = JobSet::from_yaml("workers.yaml", &text).set("spec.replicatedJobs[0].replicas", 2);
    /// assert_eq!(Scenario::builder("smaller").jobset(train).build()?.pods(), 8);
    /// # Ok::<(), jobset_sim::SimulationError>(())
    /// ```
    pub fn set(mut self, path: &str, value: impl ToString) -> JobSet {
        self.sets.push((path.to_owned(), value.to_string()));
        self
    }

    /// Sets the time of submission. The default is the start of the run.
    pub fn submit_at(mut self, at: impl Into<Duration>) -> JobSet {
        self.submit_at = Some(at.into());
        self
    }

    fn jobs(&mut self) -> Option<&mut Vec<Value>> {
        match &mut self.from {
            JobSetOrigin::Tree(tree) => tree.pointer_mut("/spec/replicatedJobs")?.as_array_mut(),
            _ => None,
        }
    }
}
