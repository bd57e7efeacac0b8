//! JobSets of a scenario in code.

use serde_json::{Value, json};
use sim_api::spec::EXCLUSIVE_TOPOLOGY;
use sim_base::Duration;
use std::path::{Path, PathBuf};

/// A JobSet that is submitted: from a file, a text, a tree, or in code.
///
/// Whatever it is made of, it is read as the API server would read it, with all defaults and all rules.
#[derive(Clone, Debug)]
pub struct JobSet {
    pub(super) from: From,
    pub(super) submit_at: Option<Duration>,
    pub(super) sets: Vec<(String, String)>,
    /// What was asked of it that it cannot do.
    pub(super) misuse: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) enum From {
    File(PathBuf),
    /// Its name in messages, and the text.
    Text(String, String),
    Tree(Value),
}

impl JobSet {
    /// A JobSet without Jobs yet; add some with [`JobSet::replicated_job`].
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
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn new(name: &str) -> JobSet {
        JobSet::of(From::Tree(json!({
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": name},
            "spec": {"replicatedJobs": []},
        })))
    }

    /// Manifests as they would be given to `kubectl apply`; a text may hold several. `name` is what errors call it.
    pub fn from_yaml(name: &str, text: &str) -> JobSet {
        JobSet::of(From::Text(name.to_owned(), text.to_owned()))
    }

    /// A manifest as a tree, for example of another crate's types through `serde_json::to_value`.
    pub fn from_json(manifest: Value) -> JobSet {
        JobSet::of(From::Tree(manifest))
    }

    /// Manifests in a file.
    pub fn from_file(path: impl AsRef<Path>) -> JobSet {
        JobSet::of(From::File(path.as_ref().to_owned()))
    }

    fn of(from: From) -> JobSet {
        JobSet {
            from,
            submit_at: None,
            sets: Vec::new(),
            misuse: None,
        }
    }

    /// One more replicatedJob: `replicas` Jobs of `pods` indexed pods. Its container fails the pod, and one failed
    /// pod fails its Job (`restartPolicy: Never`, `backoffLimit: 0`). Only for a JobSet that began with
    /// [`JobSet::new`].
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
            None => {
                self.misuse = Some("replicated_job: the manifest has no list of them to append to")
            }
        }
        self
    }

    /// What each pod of the replicatedJob that was added last may use of a resource, such as `("google.com/tpu", "4")`.
    pub fn limit(mut self, resource: &str, quantity: &str) -> JobSet {
        let limits = "/template/spec/template/spec/containers/0/resources/limits";
        let last = self.jobs().and_then(|jobs| jobs.last_mut());
        let limits = last.and_then(|job| job.pointer_mut(limits)?.as_object_mut());
        match limits {
            Some(limits) => {
                limits.insert(resource.to_owned(), quantity.into());
            }
            None => self.misuse = Some("limit: no replicated_job was added before"),
        }
        self
    }

    /// `spec.failurePolicy.maxRestarts`.
    pub fn max_restarts(self, n: u32) -> JobSet {
        self.set("spec.failurePolicy.maxRestarts", n)
    }

    /// `spec.failurePolicy.restartStrategy`: `Recreate`, `BlockingRecreate` or `InPlaceRestart`.
    pub fn restart_strategy(self, strategy: &str) -> JobSet {
        self.set("spec.failurePolicy.restartStrategy", strategy)
    }

    /// Each Job alone in one value of this node label, as with the annotation
    /// `alpha.jobset.sigs.k8s.io/exclusive-topology`.
    pub fn exclusive_topology(self, label: &str) -> JobSet {
        self.set(
            &format!("metadata.annotations[{EXCLUSIVE_TOPOLOGY:?}]"),
            label,
        )
    }

    /// Changes any field of the manifest before it is read; the value is YAML.
    ///
    /// ```
    /// # let text = std::fs::read_to_string("scenarios/manifests/workers.yaml").unwrap();
    /// use jobset_sim::{JobSet, Scenario};
    ///
    /// let train = JobSet::from_yaml("workers.yaml", &text).set("spec.replicatedJobs[0].replicas", 2);
    /// assert_eq!(Scenario::builder("smaller").jobset(train).build()?.pods(), 8);
    /// # Ok::<(), jobset_sim::Error>(())
    /// ```
    pub fn set(mut self, path: &str, value: impl ToString) -> JobSet {
        self.sets.push((path.to_owned(), value.to_string()));
        self
    }

    /// When it is submitted; at the beginning unless this says otherwise.
    pub fn submit_at(mut self, at: impl Into<Duration>) -> JobSet {
        self.submit_at = Some(at.into());
        self
    }

    fn jobs(&mut self) -> Option<&mut Vec<Value>> {
        match &mut self.from {
            From::Tree(tree) => tree.pointer_mut("/spec/replicatedJobs")?.as_array_mut(),
            _ => None,
        }
    }
}
