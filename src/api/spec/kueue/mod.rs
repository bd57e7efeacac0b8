//! The objects of Kueue (`kueue.x-k8s.io/v1beta2`) and its configuration (`config.kueue.x-k8s.io/v1beta2`), after
//! defaulting.

pub mod behavior;
pub mod cluster_queue;
pub mod cohort;
pub mod configuration;
pub mod flavor;
pub mod load_test;
pub mod local_queue;
pub mod stored_workload;

pub use behavior::KueueBehavior;
pub use cluster_queue::*;
pub use cohort::Cohort;
pub use configuration::*;
pub use flavor::{KueueTopology, ResourceFlavor};
pub use load_test::*;
pub use local_queue::{LocalQueue, WorkloadPriorityClass};
pub use stored_workload::{PriorityClassRef, StoredPodSet, StoredWorkload, WorkloadOwner};

use super::JobSet;
use std::collections::{BTreeMap, BTreeSet};

/// Label with the name of a namespace, which the API server sets.
pub const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Maximum number of pod sets of a Workload (`WorkloadSpec.podSets`).
pub const POD_SETS_MAX: usize = 18;

/// Name of the LocalQueue of JobSets that name none (`DefaultLocalQueueName`).
pub const DEFAULT_LOCAL_QUEUE: &str = "default";

/// Name of the WorkloadPriorityClass of JobSets that name none (`DefaultWorkloadPriorityClassName`).
pub const DEFAULT_PRIORITY_CLASS: &str = "default";

/// All objects of Kueue in a cluster, and the configuration of its manager.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KueueObjects {
    pub configuration: KueueConfiguration,
    pub topologies: Vec<KueueTopology>,
    pub flavors: Vec<ResourceFlavor>,
    pub cohorts: Vec<Cohort>,
    pub admission_checks: Vec<AdmissionCheck>,
    pub cluster_queues: Vec<ClusterQueue>,
    pub local_queues: Vec<LocalQueue>,
    pub priority_classes: Vec<WorkloadPriorityClass>,
    /// Workloads that exist already.
    pub workloads: Vec<StoredWorkload>,
    /// Labels of the namespaces in the inputs, without the one that the API server sets.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Namespaces and names of the JobSets that Trainer creates for TrainJobs.
    pub train_jobs: BTreeSet<(String, String)>,
}

impl KueueObjects {
    /// Returns whether Kueue decides when the JobSet runs (`ReconcileGenericJob`).
    pub fn manages(&self, jobset: &JobSet) -> bool {
        self.has_integration(jobset)
            && self.manages_namespace(&jobset.namespace)
            && (jobset.kueue_queue().is_some() || self.configuration.manage_jobs_without_queue_name)
    }

    /// Returns whether the framework of the JobSet, or of the TrainJob that it belongs to, is among
    /// `integrations.frameworks`.
    pub fn has_integration(&self, jobset: &JobSet) -> bool {
        if self.is_of_train_job(jobset) {
            self.configuration.manages_train_jobs
        } else {
            self.configuration.manages_jobsets
        }
    }

    pub fn is_of_train_job(&self, jobset: &JobSet) -> bool {
        let is_same = |(namespace, name): &(String, String)| *namespace == jobset.namespace && *name == jobset.name;
        self.train_jobs.iter().any(is_same)
    }

    /// Returns whether Kueue's webhook suspends the new JobSet (`WorkloadShouldBeSuspended`). The namespace of a JobSet
    /// with a queue does not count.
    pub fn suspends(&self, jobset: &JobSet) -> bool {
        self.has_integration(jobset) && (jobset.kueue_queue().is_some() || self.manages(jobset))
    }

    /// Returns why Kueue ignores a JobSet with a queue that its webhook has suspended.
    pub fn ignored_reason(&self, jobset: &JobSet) -> Option<String> {
        let is_ignored = self.suspends(jobset) && !self.manages_namespace(&jobset.namespace);
        let why = || format!("managedJobsNamespaceSelector does not select its namespace {}", jobset.namespace);
        is_ignored.then(|| format!("Kueue ignores it: {}", why()))
    }

    /// Returns whether `managedJobsNamespaceSelector` selects a namespace.
    pub fn manages_namespace(&self, namespace: &str) -> bool {
        self.configuration.managed_namespaces.matches(&self.namespace_labels(namespace))
    }

    /// Returns the labels of a namespace, with the one that the API server sets.
    pub fn namespace_labels(&self, namespace: &str) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::from([(NAMESPACE_NAME.to_owned(), namespace.to_owned())]);
        labels.extend(self.namespaces.get(namespace).cloned().unwrap_or_default());
        labels
    }

    /// Returns whether a flavor has a topology, so that nodes and pods matter to Kueue.
    pub fn uses_topology(&self) -> bool {
        self.flavors.iter().any(|flavor| flavor.topology.is_some())
    }

    /// Returns whether JobSets of the namespace without a queue get the LocalQueue `default`
    /// (`DefaultLocalQueueExist`). A stopped LocalQueue does not count.
    pub fn has_default_queue(&self, namespace: &str) -> bool {
        let is_default = |queue: &LocalQueue| queue.name == DEFAULT_LOCAL_QUEUE && queue.namespace == namespace;
        self.local_queues.iter().any(|queue| is_default(queue) && queue.stop_policy == StopPolicy::None)
    }
}
