//! The modelled part of a pod template: the fields that affect where and how a pod runs.

use super::node_affinity::NodeTerm;
use sim_base::Duration;
use std::collections::BTreeMap;

/// Amounts in thousandths of the unit, by resource name.
pub type ResourceAmounts = BTreeMap<String, i64>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodTemplate {
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    /// Finalizers in the template. The pods remain until the finalizers are removed.
    pub finalizers: Vec<String>,
    pub spec: PodSpec,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodSpec {
    pub restart_policy: RestartPolicy,
    /// Termination grace period in seconds; the API server's default is 30.
    pub termination_grace_period_s: u32,
    pub node_selector: BTreeMap<String, String>,
    /// Terms of `requiredDuringSchedulingIgnoredDuringExecution`. At least one of them has to match.
    pub node_affinity: Option<Vec<NodeTerm>>,
    pub tolerations: Vec<TolerationSpec>,
    pub priority: i32,
    pub scheduling_gates: u32,
    /// Name of the PodGroup of the pod (`schedulingGroup.podGroupName`).
    pub scheduling_group: Option<String>,
    /// Name of the scheduler profile; `None` is the default scheduler.
    pub scheduler_name: Option<String>,
    /// Node to which the pod is bound at creation, bypassing the scheduler.
    pub node_name: Option<String>,
    /// Whether `os.name` is `windows`.
    pub is_windows: bool,
    /// PersistentVolumeClaims that the volumes refer to.
    pub claims: Vec<String>,
    /// Names of ResourceClaims. `None` stands for a claim that is created from a template.
    pub resource_claims: Vec<Option<String>>,
    /// Terms about other pods, preferred nodes, and ports of the node.
    pub terms: PodTerms,
    /// Requests of the pod as a whole.
    pub resources: ResourceAmounts,
    /// Limits of the pod as a whole.
    pub limits: ResourceAmounts,
    /// Resources that the sandbox of the pod needs.
    pub overhead: ResourceAmounts,
    pub init_containers: Vec<ContainerSpec>,
    pub containers: Vec<ContainerSpec>,
}

/// Numbers of the terms of a pod whose effect depends on other pods or on a comparison of nodes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PodTerms {
    /// Required terms of `podAffinity`.
    pub required_affinity: u32,
    /// Required terms of `podAntiAffinity`.
    pub required_anti_affinity: u32,
    /// Preferred terms of `podAffinity` and `podAntiAffinity`.
    pub preferred: u32,
    /// Preferred terms of `nodeAffinity`.
    pub preferred_nodes: u32,
    /// Constraints of `topologySpreadConstraints` with `DoNotSchedule`.
    pub hard_spread: u32,
    /// Constraints of `topologySpreadConstraints` with `ScheduleAnyway`.
    pub soft_spread: u32,
    /// Ports of the node.
    pub host_ports: u32,
}

impl PodTerms {
    /// Returns whether the pod has no such term and no port of the node.
    pub fn is_empty(&self) -> bool {
        *self == PodTerms::default()
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum RestartPolicy {
    Always,
    #[default]
    OnFailure,
    Never,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerSpec {
    pub name: String,
    pub image: String,
    pub image_pull_policy: Option<ImagePullPolicy>,
    /// Requested quantity by resource name, in thousandths of the unit. A limit without a request counts as the
    /// request, as in the API server.
    pub requests: ResourceAmounts,
    /// Limits by resource name, in thousandths of the unit.
    pub limits: ResourceAmounts,
    /// Restart policy of the container. `Always` on an init container makes it a sidecar.
    pub restart_policy: Option<RestartPolicy>,
    pub restart_policy_rules: Vec<ContainerRestartRule>,
    pub startup_probe: Option<ProbeTiming>,
    pub readiness_probe: Option<ProbeTiming>,
    /// Duration of the hook `lifecycle.preStop.sleep`; zero without it.
    pub pre_stop: Duration,
    pub env: BTreeMap<String, String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProbeTiming {
    pub initial_delay: Duration,
    pub period: Duration,
    pub success_threshold: u32,
    pub failure_threshold: u32,
}

impl ProbeTiming {
    /// Returns the time from the start of the container at which a startup probe that never succeeds has failed.
    pub fn failure_time(self) -> Duration {
        self.initial_delay + Duration(self.period.0 * u64::from(self.failure_threshold))
    }

    /// Returns the time from the start of a container until its readiness probe has succeeded often enough. The
    /// kubelet probes when the container has started, after `started`, and then in every period; a probe before `after`
    /// fails.
    pub fn ready_after(self, started: Duration, after: Duration) -> Duration {
        let earliest = self.initial_delay.max(after).0.saturating_sub(started.0);
        let ticks = earliest.div_ceil(self.period.0.max(1));
        started + Duration(ticks * self.period.0) + self.successes()
    }

    /// Returns the time from the first success to the success that counts.
    pub fn successes(self) -> Duration {
        Duration(self.period.0 * u64::from(self.success_threshold.saturating_sub(1)))
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ImagePullPolicy {
    Always,
    IfNotPresent,
    Never,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ContainerRestartRule {
    pub action: ContainerRestartAction,
    pub operator_in: bool,
    pub values: Vec<i32>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ContainerRestartAction {
    Restart,
    RestartAllContainers,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TolerationSpec {
    /// Key of the taint. `None` with operator Exists tolerates every key.
    pub key: Option<String>,
    /// Whether the operator is `Exists`. Otherwise it is `Equal`.
    pub exists: bool,
    pub value: String,
    /// Effect of the taint. `None` tolerates every effect.
    pub effect: Option<TaintEffect>,
    pub toleration_seconds: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaintSpec {
    pub key: String,
    pub value: String,
    pub effect: TaintEffect,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaintEffect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

impl TaintEffect {
    pub fn as_str(self) -> &'static str {
        match self {
            TaintEffect::NoSchedule => "NoSchedule",
            TaintEffect::PreferNoSchedule => "PreferNoSchedule",
            TaintEffect::NoExecute => "NoExecute",
        }
    }
}

impl TolerationSpec {
    /// Returns whether the taint is tolerated (ToleratesTaint in `k8s.io/component-helpers`).
    pub fn tolerates(&self, taint: &TaintSpec) -> bool {
        self.effect.is_none_or(|e| e == taint.effect)
            && match &self.key {
                None => self.exists,
                Some(key) => *key == taint.key && (self.exists || self.value == taint.value),
            }
    }
}

impl ContainerSpec {
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy == Some(RestartPolicy::Always)
    }

    /// Returns whether the image is pulled at every start. A missing or `latest` tag means Always
    /// (`pkg/apis/core/v1/defaults.go`).
    pub fn pulls_always(&self) -> bool {
        match self.image_pull_policy {
            Some(p) => p == ImagePullPolicy::Always,
            None => {
                let last = self.image.rsplit('/').next().unwrap_or("");
                !last.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
            }
        }
    }

    /// Returns the action of the first rule that matches the exit code (KEP-5307). Rules apply to successful and
    /// failed exits.
    pub fn matching_rule(&self, exit_code: i32) -> Option<ContainerRestartAction> {
        let rule = self.restart_policy_rules.iter().find(|r| r.values.contains(&exit_code) == r.operator_in)?;
        Some(rule.action)
    }
}

/// Returns the requests of a pod as computed by the scheduler (`PodRequests` in `component-helpers/resource`): the sum
/// over containers and sidecars, or the largest sum of an init container and the sidecars before it, replaced by the
/// requests of the pod as a whole, plus the overhead. Each init container is given with whether it is a sidecar.
pub fn pod_requests(
    containers: impl Iterator<Item = ResourceAmounts>, init: impl Iterator<Item = (bool, ResourceAmounts)>,
    pod_level: &ResourceAmounts, overhead: &ResourceAmounts,
) -> ResourceAmounts {
    fn add(total: &mut ResourceAmounts, more: &ResourceAmounts) {
        for (name, milli) in more {
            let sum = total.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*milli);
        }
    }
    let (mut total, mut sidecars) = (ResourceAmounts::new(), ResourceAmounts::new());
    let mut peak = ResourceAmounts::new();
    containers.for_each(|requests| add(&mut total, &requests));
    for (is_sidecar, requests) in init {
        let mut here = sidecars.clone();
        add(&mut here, &requests);
        if is_sidecar {
            add(&mut total, &requests);
            sidecars.clone_from(&here);
        }
        for (name, milli) in here {
            let most = peak.entry(name).or_default();
            *most = milli.max(*most);
        }
    }
    for (name, milli) in peak {
        let sum = total.entry(name).or_default();
        *sum = milli.max(*sum);
    }
    total.extend(pod_level.iter().map(|(name, milli)| (name.clone(), *milli)));
    add(&mut total, overhead);
    total
}

impl PodSpec {
    /// Returns whether the pod restricts the nodes on which it can run.
    pub fn restricts_nodes(&self) -> bool {
        !self.node_selector.is_empty() || self.node_affinity.is_some()
    }

    /// Returns the requests of the pod.
    pub fn requests(&self) -> ResourceAmounts {
        let own = |c: &ContainerSpec| (c.is_sidecar(), c.requests.clone());
        let containers = self.containers.iter().map(|c| c.requests.clone());
        pod_requests(containers, self.init_containers.iter().map(own), &self.resources, &self.overhead)
    }

    /// Returns the mode of the in-place agent in this pod, detected by the conventions of upstream's examples (5.4).
    pub fn agent_mode(&self) -> AgentMode {
        let restarts_all = |c: &ContainerSpec| {
            c.restart_policy_rules.iter().any(|r| r.action == ContainerRestartAction::RestartAllContainers)
        };
        let agent = |c: &&ContainerSpec| c.env.contains_key("JOBSET_NAME") && c.env.contains_key("POD_NAME");
        if let Some(sidecar) = self.init_containers.iter().find(|c| c.is_sidecar() && (agent(c) || restarts_all(c))) {
            return AgentMode::Sidecar {
                probe_period_s: sidecar.startup_probe.map(|p| (p.period.0 / Duration::from_secs(1).0) as u32),
            };
        }
        if self.containers.iter().any(|c| agent(&c) || c.env.contains_key("WORKER_COMMAND")) {
            return AgentMode::MainContainer;
        }
        AgentMode::Absent
    }
}

impl AgentMode {
    /// Returns whether the workers wait for the agent's barrier (AG-5).
    pub fn has_barrier(self) -> bool {
        !matches!(self, AgentMode::Absent | AgentMode::Sidecar { probe_period_s: None })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AgentMode {
    Absent,
    /// The agent is a restartable init container, and its startup probe is the barrier. Without a startup probe
    /// there is no barrier: the workers start as soon as the agent runs.
    Sidecar {
        probe_period_s: Option<u32>,
    },
    /// The agent is the main container and starts the worker as its child process.
    MainContainer,
}
