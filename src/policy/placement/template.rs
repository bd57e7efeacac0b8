//! Properties of a pod template that the scheduler needs, computed once per template.

use super::node_choice::NodeChoice;
use crate::topology::ClusterBuilder;
use sim_api::spec::keys::RESTART_ALL_CONTAINERS;
use sim_api::spec::{ContainerRestartAction, PodSpec, PodTemplate, TaintEffect, TaintSpec, TolerationSpec};
use sim_base::NodeId;

#[derive(Clone)]
pub struct TemplateFacts {
    /// Requested resources: column of `ClusterBuilder::allocatable` and amount in thousandths. Always includes one pod.
    pub requests: Vec<(u32, i64)>,
    pub choice: NodeChoice,
    pub tolerations: Vec<TolerationSpec>,
    pub priority: i32,
    pub priority_class: u32,
    pub gated: bool,
    pub needs_feature: bool,
    /// Property of the template that excludes all nodes.
    pub blocked: Option<TemplateBlocker>,
    /// Bit set of the nodes whose labels, pool taints and features allow the pod; 64 nodes per word.
    pub allowed: Vec<u64>,
    /// Nodes that the pod restricts itself to by name; `None` if it does not. The scheduler checks no others.
    pub named: Option<Vec<NodeId>>,
}

/// A property of a template that excludes all nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TemplateBlocker {
    /// No node has a resource that the pods request.
    UnknownResource,
    /// No component binds or allocates a claim that the pods mount.
    Claims,
}

/// Requirements of a pod on nodes other than resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceRequirements {
    choice: NodeChoice,
    tolerations: Vec<TolerationSpec>,
    needs_feature: bool,
    blocked: bool,
}

impl TemplateFacts {
    pub fn build(cluster: &ClusterBuilder, template: &PodTemplate, priority_class: u32) -> TemplateFacts {
        TemplateFacts::of_pod(cluster, template, priority_class).look_at_all(cluster)
    }

    /// Creates the facts of a template before any node is checked.
    pub fn of_pod(cluster: &ClusterBuilder, template: &PodTemplate, priority_class: u32) -> TemplateFacts {
        let spec = &template.spec;
        let column = |name: &str| cluster.resources.iter().position(|r| r == name);
        let mut requests = vec![(0, 1000)];
        let mut blocked = None;
        for (name, milli) in spec.requests() {
            match column(&name) {
                Some(c) if milli > 0 => requests.push((c as u32, milli)),
                None if milli > 0 => blocked = Some(TemplateBlocker::UnknownResource),
                _ => {}
            }
        }
        let mut tolerations = spec.tolerations.clone();
        if cluster.extended_resource_toleration {
            tolerations.extend(device_tolerations(spec));
        }
        let choice = NodeChoice::from_spec(spec);
        TemplateFacts {
            requests,
            named: choice.names().map(|_| Vec::new()),
            choice,
            tolerations,
            priority: spec.priority,
            priority_class,
            gated: spec.scheduling_gates > 0,
            needs_feature: spec
                .init_containers
                .iter()
                .chain(&spec.containers)
                .flat_map(|c| &c.restart_policy_rules)
                .any(|r| r.action == ContainerRestartAction::RestartAllContainers),
            blocked,
            allowed: Vec::new(),
        }
    }

    pub fn look_at_all(mut self, cluster: &ClusterBuilder) -> TemplateFacts {
        for n in 0..cluster.len() {
            self.look_at(cluster, NodeId(n as u32));
        }
        self
    }

    /// Returns the requirements that determine which nodes allow the pod.
    pub fn requirements(&self) -> ResourceRequirements {
        ResourceRequirements {
            choice: self.choice.clone(),
            tolerations: self.tolerations.clone(),
            needs_feature: self.needs_feature,
            blocked: self.blocked.is_some(),
        }
    }

    /// Copies the allowed nodes from a template with equal requirements for which all nodes were checked.
    pub fn allowed_like(mut self, other: &TemplateFacts) -> TemplateFacts {
        self.allowed.clone_from(&other.allowed);
        self.named.clone_from(&other.named);
        self
    }

    /// Updates whether a node allows the pod, after a change of its labels, taints or features.
    pub fn look_at(&mut self, cluster: &ClusterBuilder, node: NodeId) {
        if self.allowed.len() <= node.ix() / 64 {
            self.allowed.resize(node.ix() / 64 + 1, 0);
        }
        if self.is_named(cluster, node) {
            let known = self.named.iter_mut();
            let known = known.filter(|named| !named.contains(&node));
            known.for_each(|named| named.push(node));
        }
        let bit = 1 << (node.ix() % 64);
        if self.blocked.is_none() && self.admits(cluster, node) {
            self.allowed[node.ix() / 64] |= bit;
        } else {
            self.allowed[node.ix() / 64] &= !bit;
        }
    }

    pub fn allows(&self, node: NodeId) -> bool {
        self.allowed[node.ix() / 64] >> (node.ix() % 64) & 1 == 1
    }

    /// Whether names, taints of the description, labels and features of a node allow the pod.
    pub fn admits(&self, cluster: &ClusterBuilder, node: NodeId) -> bool {
        self.is_named(cluster, node)
            && cluster.taints(node).iter().all(|t| self.tolerates(t))
            && self.choice.matches(cluster, node)
            && (!self.needs_feature || cluster.has_feature(node, RESTART_ALL_CONTAINERS))
    }

    /// Whether the scheduler considers the node at all, given the node names that the pod requires.
    pub fn is_named(&self, cluster: &ClusterBuilder, node: NodeId) -> bool {
        let names = self.named.is_some().then(|| self.choice.names()).flatten();
        names.is_none_or(|names| names.contains(cluster.names[node.ix()].as_str()))
    }

    /// Whether the facts come from the template alone, without a block by unbound claims.
    pub fn is_plain(&self) -> bool {
        self.blocked != Some(TemplateBlocker::Claims)
    }

    /// Blocks the pod on all nodes because it mounts a claim that no component binds.
    pub fn block_by_claims(&mut self) {
        self.blocked = Some(TemplateBlocker::Claims);
        self.allowed.fill(0);
    }

    /// Whether the pod tolerates a taint; PreferNoSchedule is always tolerated.
    pub fn tolerates(&self, taint: &TaintSpec) -> bool {
        taint.effect == TaintEffect::PreferNoSchedule || self.tolerations.iter().any(|t| t.tolerates(taint))
    }

    /// Returns the number of such pods that fit on the node when it is empty.
    pub fn room(&self, cluster: &ClusterBuilder, node: NodeId) -> u64 {
        if self.blocked == Some(TemplateBlocker::UnknownResource) {
            return 0;
        }
        let at = node.ix() * cluster.resources.len();
        let pods = |(c, milli): &(u32, i64)| {
            let has = cluster.allocatable[at + *c as usize];
            (has.max(0) / milli) as u64
        };
        self.requests.iter().map(pods).min().unwrap_or(u64::MAX)
    }

    /// Whether some node of the empty cluster can take such a pod.
    pub fn fits_somewhere(&self, cluster: &ClusterBuilder) -> bool {
        let mut nodes = (0..cluster.len()).map(|n| NodeId(n as u32));
        nodes.any(|node| self.allows(node) && self.room(cluster, node) > 0)
    }

    /// Returns the number of accelerators that one pod requests.
    pub fn accelerators(&self, cluster: &ClusterBuilder) -> u32 {
        let counted = |c: u32| cluster.is_accelerator(&cluster.resources[c as usize]);
        let held = self.requests.iter().filter(|(c, _)| counted(*c));
        let all = held.fold(0i64, |sum, (_, milli)| sum.saturating_add(milli / 1000));
        all.clamp(0, i64::from(u32::MAX)) as u32
    }
}

/// Returns the tolerations added by the admission plugin `plugin/pkg/admission/extendedresourcetoleration`: one for
/// each requested extended resource.
pub fn device_tolerations(spec: &PodSpec) -> impl Iterator<Item = TolerationSpec> {
    let extended = |name: &String| {
        let domain = name.split_once('/').map(|(domain, _)| domain);
        domain.is_some_and(|d| d != "kubernetes.io" && !d.ends_with(".kubernetes.io"))
    };
    let names = spec.requests().into_keys().filter(extended);
    names.map(|name| TolerationSpec {
        key: Some(name),
        exists: true,
        value: String::new(),
        effect: Some(TaintEffect::NoSchedule),
        toleration_seconds: None,
    })
}
