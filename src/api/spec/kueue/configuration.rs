//! Configuration of Kueue's manager, as far as decisions depend on it.

use super::{KueueBehavior, NamespaceSelector};
use sim_base::Duration;
use std::collections::BTreeMap;

/// Namespaces that Kueue does not manage by default; the second one is its own.
pub const KUBE_SYSTEM: &str = "kube-system";
pub const KUEUE_NAMESPACE: &str = "kueue-system";

#[derive(Clone, Debug, PartialEq)]
pub struct KueueConfiguration {
    /// Whether JobSet is among `integrations.frameworks`. Otherwise Kueue ignores JobSets.
    pub manages_jobsets: bool,
    /// Whether TrainJob is among them. Otherwise Kueue ignores TrainJobs and, because Trainer does not copy the labels
    /// of a TrainJob, their JobSets.
    pub manages_train_jobs: bool,
    /// Whether jobs without a queue name are suspended too.
    pub manage_jobs_without_queue_name: bool,
    /// Namespaces whose jobs Kueue manages.
    pub managed_namespaces: NamespaceSelector,
    /// `None` keeps no condition PodsReady and evicts no Workload for missing readiness.
    pub wait_for_pods_ready: Option<WaitForPodsReady>,
    /// Whether `wait_for_pods_ready` is Kueue's default because the inputs do not set it.
    pub has_default_readiness: bool,
    /// Strategies of preemption under fair sharing, at least one. `None` is classical preemption.
    pub fair_sharing: Option<Vec<FairSharingStrategy>>,
    pub admission_fair_sharing: Option<AdmissionFairSharing>,
    pub resources: KueueResources,
    pub behavior: KueueBehavior,
}

impl Default for KueueConfiguration {
    fn default() -> KueueConfiguration {
        KueueConfiguration {
            manages_jobsets: true,
            manages_train_jobs: true,
            manage_jobs_without_queue_name: false,
            managed_namespaces: NamespaceSelector::all_except(&[KUBE_SYSTEM, KUEUE_NAMESPACE]),
            wait_for_pods_ready: Some(WaitForPodsReady::default()),
            has_default_readiness: true,
            fair_sharing: None,
            admission_fair_sharing: None,
            resources: KueueResources::default(),
            behavior: KueueBehavior::default(),
        }
    }
}

/// A workload must be ready within `timeout` after its admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitForPodsReady {
    pub timeout: Duration,
    /// Time to become ready again. `None` does not evict a workload that was ready.
    pub recovery_timeout: Option<Duration>,
    /// Whether no workload is admitted while an admitted one is not ready.
    pub block_admission: bool,
    pub requeuing: RequeuingStrategy,
}

impl Default for WaitForPodsReady {
    fn default() -> WaitForPodsReady {
        WaitForPodsReady {
            timeout: Duration::from_secs(1800),
            recovery_timeout: Some(Duration::from_secs(1800)),
            block_admission: false,
            requeuing: RequeuingStrategy::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequeuingStrategy {
    pub timestamp: RequeuingTimestamp,
    /// Evictions after which the workload is deactivated. `None` is unlimited.
    pub backoff_limit_count: Option<u32>,
    pub backoff_base: Duration,
    pub backoff_max: Duration,
}

impl Default for RequeuingStrategy {
    fn default() -> RequeuingStrategy {
        RequeuingStrategy {
            timestamp: RequeuingTimestamp::Eviction,
            backoff_limit_count: None,
            backoff_base: Duration::from_secs(60),
            backoff_max: Duration::from_secs(3600),
        }
    }
}

/// Time by which a workload is ordered after an eviction for missing readiness.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum RequeuingTimestamp {
    Creation,
    #[default]
    Eviction,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FairSharingStrategy {
    LessThanOrEqualToFinalShare,
    LessThanInitialShare,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionFairSharing {
    pub usage_half_life: Duration,
    pub usage_sampling_interval: Duration,
    /// Weight by resource, 1 if a resource is not listed.
    pub resource_weights: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KueueResources {
    /// Whether resources that a ClusterQueue does not cover are ignored instead of refused.
    pub ignore_undeclared: bool,
    pub exclude_prefixes: Vec<String>,
    pub transformations: Vec<ResourceTransformation>,
}

/// Replaces a requested resource by others, or adds others to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceTransformation {
    pub input: String,
    /// Whether the input is removed (`Replace`) instead of retained.
    pub replace: bool,
    /// Resource whose quantity multiplies the outputs.
    pub multiply_by: Option<String>,
    /// Factors by which the amount of the input is multiplied, in billionths. A negative one is an allowance.
    pub outputs: BTreeMap<String, i128>,
}
