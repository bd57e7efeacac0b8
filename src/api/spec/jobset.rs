//! The JobSet (`jobset.x-k8s.io/v1alpha2`) after defaulting (DEF-1…DEF-6 and the CRD's defaults).

use super::job::JobSpec;
pub use super::keys::{DISABLE_IN_PLACE_RESTART, EXCLUSIVE_TOPOLOGY, JOBSET_CONTROLLER, NODE_SELECTOR_STRATEGY};
use super::keys::{KUEUE_PREBUILT_WORKLOAD, KUEUE_QUEUE};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct JobSet {
    pub name: String,
    pub namespace: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    pub spec: JobSetSpec,
    /// Complete object as the API server stores it. `None` if no component needs it.
    pub object: Option<Arc<Value>>,
}

#[derive(Clone, Debug, Default)]
pub struct JobSetSpec {
    pub replicated_jobs: Vec<ReplicatedJob>,
    pub network: NetworkSpec,
    /// `None` only after an update has removed it (C-76).
    pub success_policy: Option<SuccessPolicy>,
    pub failure_policy: Option<FailurePolicy>,
    pub startup_order: StartupPolicyOrder,
    pub suspend: bool,
    pub coordinator: Option<CoordinatorSpec>,
    pub managed_by: Option<String>,
    pub ttl_seconds_after_finished: Option<u32>,
    /// Number of claims that the JobSet's policies create (PVC-1).
    pub volume_claim_templates: u32,
}

#[derive(Clone, Debug, Default)]
pub struct ReplicatedJob {
    pub name: String,
    pub group_name: String,
    pub replicas: u32,
    /// Annotations of the Job template (`template.metadata.annotations`).
    pub annotations: BTreeMap<String, String>,
    pub template: JobSpec,
    pub depends_on: Vec<DependsOn>,
}

#[derive(Clone, Debug)]
pub struct DependsOn {
    pub name: String,
    pub status: DependsOnStatus,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DependsOnStatus {
    Ready,
    Complete,
}

#[derive(Clone, Debug, Default)]
pub struct NetworkSpec {
    pub enable_dns_hostnames: bool,
    pub publish_not_ready_addresses: bool,
    /// Subdomain of the pods. Empty means the JobSet's name.
    pub subdomain: String,
}

#[derive(Clone, Debug, Default)]
pub struct SuccessPolicy {
    pub operator: ConditionOperator,
    /// Target replicatedJobs. Empty means every replicatedJob.
    pub target_replicated_jobs: Vec<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum ConditionOperator {
    #[default]
    All,
    Any,
}

#[derive(Clone, Debug, Default)]
pub struct FailurePolicy {
    pub max_restarts: i32,
    pub restart_strategy: RestartStrategy,
    pub rules: Vec<FailurePolicyRule>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum RestartStrategy {
    #[default]
    Recreate,
    BlockingRecreate,
    InPlaceRestart,
}

impl RestartStrategy {
    pub const ALL: [RestartStrategy; 3] =
        [RestartStrategy::Recreate, RestartStrategy::BlockingRecreate, RestartStrategy::InPlaceRestart];

    pub fn as_str(self) -> &'static str {
        match self {
            RestartStrategy::Recreate => "Recreate",
            RestartStrategy::BlockingRecreate => "BlockingRecreate",
            RestartStrategy::InPlaceRestart => "InPlaceRestart",
        }
    }
}

#[derive(Clone, Debug)]
pub struct FailurePolicyRule {
    pub name: String,
    pub action: FailurePolicyAction,
    pub on_job_failure_reasons: Vec<String>,
    /// RE2 patterns. A pattern that does not compile never matches (API-20).
    pub on_job_failure_message_patterns: Vec<String>,
    pub target_replicated_jobs: Vec<String>,
}

impl FailurePolicyRule {
    /// Returns whether the rule matches every failure that `other` matches. Different lists of patterns are not
    /// compared.
    pub fn covers(&self, other: &FailurePolicyRule) -> bool {
        let wide = |own: &[String], other: &[String]| {
            own.is_empty() || (!other.is_empty() && other.iter().all(|value| own.contains(value)))
        };
        let patterns = &self.on_job_failure_message_patterns;
        wide(&self.on_job_failure_reasons, &other.on_job_failure_reasons)
            && wide(&self.target_replicated_jobs, &other.target_replicated_jobs)
            && (patterns.is_empty() || *patterns == other.on_job_failure_message_patterns)
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FailurePolicyAction {
    FailJobSet,
    RestartJobSet,
    RestartJobSetAndIgnoreMaxRestarts,
    RestartJob,
    RestartJobAndIgnoreMaxRestarts,
}

impl FailurePolicyAction {
    pub fn as_str(self) -> &'static str {
        match self {
            FailurePolicyAction::FailJobSet => "FailJobSet",
            FailurePolicyAction::RestartJobSet => "RestartJobSet",
            FailurePolicyAction::RestartJobSetAndIgnoreMaxRestarts => "RestartJobSetAndIgnoreMaxRestarts",
            FailurePolicyAction::RestartJob => "RestartJob",
            FailurePolicyAction::RestartJobAndIgnoreMaxRestarts => "RestartJobAndIgnoreMaxRestarts",
        }
    }

    /// Returns the action with the same scope that does not count toward maxRestarts. For FailJobSet, returns the
    /// action that restarts the whole JobSet.
    pub fn uncounted(self) -> FailurePolicyAction {
        use FailurePolicyAction::*;
        match self {
            RestartJob | RestartJobAndIgnoreMaxRestarts => RestartJobAndIgnoreMaxRestarts,
            FailJobSet | RestartJobSet | RestartJobSetAndIgnoreMaxRestarts => RestartJobSetAndIgnoreMaxRestarts,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum StartupPolicyOrder {
    #[default]
    AnyOrder,
    InOrder,
}

#[derive(Clone, Debug)]
pub struct CoordinatorSpec {
    pub replicated_job: String,
    pub job_index: u32,
    pub pod_index: u32,
}

impl JobSetSpec {
    pub fn strategy(&self) -> RestartStrategy {
        self.failure_policy.as_ref().map(|p| p.restart_strategy).unwrap_or_default()
    }

    /// Returns the number of pods of the running JobSet.
    pub fn pods(&self) -> u64 {
        let of = |rj: &ReplicatedJob| u64::from(rj.replicas) * u64::from(rj.template.pods());
        self.replicated_jobs.iter().map(of).sum()
    }
}

impl JobSet {
    /// Sets `suspend` to false in the specification and in the object.
    pub fn resume(&mut self) {
        self.spec.suspend = false;
        if let Some(object) = &mut self.object {
            Arc::make_mut(object)["spec"]["suspend"] = false.into();
        }
    }

    /// Returns the name of the headless Service: the subdomain, by default the JobSet's name (API-9).
    pub fn service_name(&self) -> &str {
        match self.spec.network.subdomain.as_str() {
            "" => &self.name,
            subdomain => subdomain,
        }
    }

    /// Returns the topology key of the exclusive placement of a replicatedJob's pods (EXC-1). The annotation of the Job
    /// template overrides the JobSet's; both override the annotation of the pod template.
    pub fn exclusive_key<'a>(&'a self, rj: &'a ReplicatedJob) -> Option<&'a str> {
        let levels = [&rj.annotations, &self.annotations, &rj.template.template.annotations];
        let mut keys = levels.into_iter().filter_map(|a| a.get(EXCLUSIVE_TOPOLOGY));
        keys.next().map(String::as_str)
    }

    /// Returns whether the Job object carries the annotation of exclusive placement. The pods may carry it alone.
    pub fn has_exclusive_job(&self, rj: &ReplicatedJob) -> bool {
        let mut levels = [&rj.annotations, &self.annotations].into_iter();
        levels.any(|a| a.contains_key(EXCLUSIVE_TOPOLOGY))
    }

    pub fn restarts_in_place(&self) -> bool {
        self.spec.strategy() == RestartStrategy::InPlaceRestart
    }

    /// Returns whether a rule of the failure policy restarts single Jobs.
    pub fn restarts_jobs(&self) -> bool {
        use FailurePolicyAction::{RestartJob, RestartJobAndIgnoreMaxRestarts};
        let rules = self.spec.failure_policy.iter().flat_map(|p| &p.rules);
        let mut actions = rules.map(|rule| rule.action);
        actions.any(|a| matches!(a, RestartJob | RestartJobAndIgnoreMaxRestarts))
    }

    /// Sets `spec.suspend`, also in the stored object.
    pub fn set_suspend(&mut self, suspend: bool) {
        self.spec.suspend = suspend;
        if let Some(object) = &mut self.object {
            Arc::make_mut(object)["spec"]["suspend"] = suspend.into();
        }
    }

    /// Returns the LocalQueue that admits the JobSet, or `None` if Kueue does not manage it.
    pub fn kueue_queue(&self) -> Option<&str> {
        self.labels.get(KUEUE_QUEUE).map(String::as_str).filter(|queue| !queue.is_empty())
    }

    /// Returns the name of the Workload that another component creates for the JobSet (`PrebuiltWorkloadNameFor`).
    pub fn prebuilt_workload(&self) -> Option<&str> {
        let annotation = self.annotations.get(KUEUE_PREBUILT_WORKLOAD).filter(|name| !name.is_empty());
        let name = annotation.or_else(|| self.labels.get(KUEUE_PREBUILT_WORKLOAD));
        name.map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Sets a label, also in the stored object.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.labels.insert(key.to_owned(), value.to_owned());
        if let Some(object) = &mut self.object {
            Arc::make_mut(object)["metadata"]["labels"][key] = value.into();
        }
    }

    /// Returns whether the Jobs select nodes that are labeled for them (EXC-2). This depends on the annotations of the
    /// Job: one on the Job template always counts; the JobSet's node-selector annotation counts only together with
    /// exclusive-topology.
    pub fn selects_labelled_nodes(&self, rj: &ReplicatedJob) -> bool {
        let selects = rj.annotations.contains_key(NODE_SELECTOR_STRATEGY) || self.copies_node_selector_strategy(rj);
        self.has_exclusive_job(rj) && selects
    }

    /// Returns the topology key if the pod webhook places the pods. This includes JobSets whose annotations on
    /// different levels mix both strategies (C-67).
    pub fn webhook_key<'a>(&'a self, rj: &'a ReplicatedJob) -> Option<&'a str> {
        let key = self.exclusive_key(rj);
        key.filter(|_| !self.uses_node_selector_strategy(rj))
    }

    /// Returns whether the pods have the annotation of the node-selector strategy, so that the pod webhook ignores
    /// them (EXC-2).
    pub fn uses_node_selector_strategy(&self, rj: &ReplicatedJob) -> bool {
        let on_pod = rj.template.template.annotations.contains_key(NODE_SELECTOR_STRATEGY);
        on_pod || self.copies_node_selector_strategy(rj)
    }

    /// Returns whether JobSet copies the node-selector annotation: both annotations are set at the same level.
    fn copies_node_selector_strategy(&self, rj: &ReplicatedJob) -> bool {
        let both =
            |a: &BTreeMap<String, String>| a.contains_key(EXCLUSIVE_TOPOLOGY) && a.contains_key(NODE_SELECTOR_STRATEGY);
        both(&self.annotations) || both(&rj.annotations)
    }
}
