//! Converts the configuration of Kueue's manager, with its defaults (`apis/config/v1beta2/defaults.go`).

use super::quotas;
use crate::schema::definitions::kueue::CONFIGURATION_V1BETA1;
use crate::{read, text::node::YamlNode};
use sim_api::spec::kueue::{
    AdmissionFairSharing, FairSharingStrategy, KUBE_SYSTEM, KUEUE_NAMESPACE, KueueBehavior, KueueConfiguration,
    KueueResources, NamespaceSelector, RequeuingStrategy, RequeuingTimestamp, ResourceTransformation, WaitForPodsReady,
};
use sim_base::Duration;

const READY_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const READY_TIMEOUT_V1BETA1: Duration = Duration::from_secs(5 * 60);
const SAMPLING_INTERVAL: Duration = Duration::from_secs(5 * 60);

pub fn configuration(node: &YamlNode) -> KueueConfiguration {
    let is_old = node.get("apiVersion").and_then(YamlNode::as_str) == Some(CONFIGURATION_V1BETA1);
    KueueConfiguration {
        manages_jobsets: manages(node, JOBSET_FRAMEWORK),
        manages_train_jobs: manages(node, TRAIN_JOB_FRAMEWORK),
        manage_jobs_without_queue_name: read::boolean(node, "manageJobsWithoutQueueName").unwrap_or(false),
        managed_namespaces: managed_namespaces(node),
        wait_for_pods_ready: wait_for_pods_ready(node, is_old),
        has_default_readiness: node.get("waitForPodsReady").is_none(),
        fair_sharing: node.get("fairSharing").and_then(|sharing| fair_sharing(sharing, is_old)),
        admission_fair_sharing: node.get("admissionFairSharing").map(admission_fair_sharing),
        resources: node.get("resources").map(resources).unwrap_or_default(),
        behavior: KueueBehavior::default(),
    }
}

/// Returns the selector of the namespaces whose jobs are managed; by default all except `kube-system` and Kueue's own.
fn managed_namespaces(node: &YamlNode) -> NamespaceSelector {
    let own = read::string(node, "namespace").filter(|name| !name.is_empty());
    let excluded = [KUBE_SYSTEM, own.as_deref().unwrap_or(KUEUE_NAMESPACE)];
    let written = node.get("managedJobsNamespaceSelector").map(quotas::selector);
    written.unwrap_or_else(|| NamespaceSelector::all_except(&excluded))
}

/// Name of JobSet among `integrations.frameworks`.
const JOBSET_FRAMEWORK: &str = "jobset.x-k8s.io/jobset";

/// Name of TrainJob among `integrations.frameworks`.
const TRAIN_JOB_FRAMEWORK: &str = "trainer.kubeflow.org/trainjob";

/// Returns whether a framework is listed. Without a list, the one of Kueue's release manifests counts, which contains
/// JobSet and TrainJob; the default of the code is only `batch/job`.
fn manages(node: &YamlNode, framework: &str) -> bool {
    let frameworks = node.get("integrations").map(|integrations| read::strings(integrations, "frameworks"));
    frameworks.is_none_or(|frameworks| frameworks.iter().any(|name| name == framework))
}

/// Returns the frameworks that queue the Jobs or pods of a JobSet if JobSet is not among the frameworks.
pub fn frameworks_of_children(node: &YamlNode) -> Vec<String> {
    if manages(node, JOBSET_FRAMEWORK) {
        return Vec::new();
    }
    let frameworks = node.get("integrations").map(|integrations| read::strings(integrations, "frameworks"));
    let is_of_children = |name: &String| ["batch/job", "pod"].contains(&name.as_str());
    frameworks.unwrap_or_default().into_iter().filter(is_of_children).collect()
}

/// Returns the settings. In v1beta2 they are always in force; in v1beta1 only with `enable`.
fn wait_for_pods_ready(node: &YamlNode, is_old: bool) -> Option<WaitForPodsReady> {
    let empty = YamlNode::empty_map();
    let wait = node.get("waitForPodsReady").unwrap_or(&empty);
    if is_old && read::boolean(wait, "enable") != Some(true) {
        return None;
    }
    let given = read::duration(wait, "timeout").filter(|timeout| is_old || *timeout > Duration::ZERO);
    let timeout = given.unwrap_or(if is_old { READY_TIMEOUT_V1BETA1 } else { READY_TIMEOUT });
    Some(WaitForPodsReady {
        timeout,
        // Zero disables it (`pkg/controller/core`: RecoveryTimeout.Duration > 0).
        recovery_timeout: Some(read::duration(wait, "recoveryTimeout").unwrap_or(timeout))
            .filter(|t| *t > Duration::ZERO),
        block_admission: read::boolean(wait, "blockAdmission").unwrap_or(is_old),
        requeuing: wait.get("requeuingStrategy").map(requeuing).unwrap_or_default(),
    })
}

fn requeuing(node: &YamlNode) -> RequeuingStrategy {
    let default = RequeuingStrategy::default();
    let seconds = |key: &str| read::u32_of(node, key).map(|seconds| Duration::from_secs(seconds.into()));
    RequeuingStrategy {
        timestamp: match node.get("timestamp").and_then(YamlNode::as_str) {
            Some("Creation") => RequeuingTimestamp::Creation,
            _ => RequeuingTimestamp::Eviction,
        },
        backoff_limit_count: read::u32_of(node, "backoffLimitCount"),
        backoff_base: seconds("backoffBaseSeconds").unwrap_or(default.backoff_base),
        backoff_max: seconds("backoffMaxSeconds").unwrap_or(default.backoff_max),
    }
}

fn fair_sharing(node: &YamlNode, is_old: bool) -> Option<Vec<FairSharingStrategy>> {
    if is_old && read::boolean(node, "enable") != Some(true) {
        return None;
    }
    let strategy = |name: &String| match name.as_str() {
        "LessThanInitialShare" => FairSharingStrategy::LessThanInitialShare,
        _ => FairSharingStrategy::LessThanOrEqualToFinalShare,
    };
    let given: Vec<FairSharingStrategy> = read::strings(node, "preemptionStrategies").iter().map(strategy).collect();
    let both = [FairSharingStrategy::LessThanOrEqualToFinalShare, FairSharingStrategy::LessThanInitialShare];
    Some(if given.is_empty() { both.to_vec() } else { given })
}

fn admission_fair_sharing(node: &YamlNode) -> AdmissionFairSharing {
    let interval = read::duration(node, "usageSamplingInterval").filter(|interval| *interval > Duration::ZERO);
    let weights = node.get("resourceWeights").map_or(&[][..], YamlNode::entries);
    AdmissionFairSharing {
        usage_half_life: read::duration(node, "usageHalfLifeTime").unwrap_or(Duration::ZERO),
        usage_sampling_interval: interval.unwrap_or(SAMPLING_INTERVAL),
        resource_weights: weights
            .iter()
            .filter_map(|(key, weight)| Some((key.name.clone(), weight.as_f64()?)))
            .collect(),
    }
}

fn resources(node: &YamlNode) -> KueueResources {
    let transformation = |node: &YamlNode| ResourceTransformation {
        input: read::string(node, "input").unwrap_or_default(),
        replace: node.get("strategy").and_then(YamlNode::as_str) == Some("Replace"),
        multiply_by: read::string(node, "multiplyBy").filter(|name| !name.is_empty()),
        outputs: read::billionths(node, "outputs"),
    };
    KueueResources {
        ignore_undeclared: node.get("quotaCheckStrategy").and_then(YamlNode::as_str) == Some("IgnoreUndeclared"),
        exclude_prefixes: read::strings(node, "excludeResourcePrefixes"),
        transformations: read::list(node, "transformations").iter().map(transformation).collect(),
    }
}
