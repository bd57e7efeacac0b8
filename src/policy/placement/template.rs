//! What the scheduler has to know of a pod template, worked out once.

use super::explain::{Reasons, explain};
use super::node_choice::NodeChoice;
use crate::topology::Cluster;
use sim_api::spec::keys::RESTART_ALL_CONTAINERS;
use sim_api::spec::*;
use sim_base::*;

#[derive(Clone)]
pub struct TemplateFacts {
    /// (column of `Cluster::allocatable`, thousandths); always one pod.
    pub requests: Vec<(u32, i64)>,
    pub choice: NodeChoice,
    pub tolerations: Vec<Toleration>,
    pub priority: i32,
    pub priority_class: u32,
    pub gated: bool,
    pub needs_feature: bool,
    /// What keeps the pod from every node: a claim that nothing binds, affinity to pods that do not exist.
    pub blocked: Option<Reasons>,
    /// Per node: labels, the pool's taints and features allow it. Bits of 64 nodes a word.
    pub allowed: Vec<u64>,
    /// Those that the pod names, where it names its nodes: the scheduler looks at no other.
    pub named: Option<Vec<NodeId>>,
}

/// What a pod asks of nodes beside room.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asks {
    choice: NodeChoice,
    tolerations: Vec<Toleration>,
    needs_feature: bool,
    blocked: bool,
}

impl TemplateFacts {
    pub fn build(cluster: &Cluster, template: &PodTemplate, priority_class: u32) -> TemplateFacts {
        TemplateFacts::of_pod(cluster, template, priority_class).look_at_all(cluster)
    }

    /// Before any node is looked at.
    pub fn of_pod(cluster: &Cluster, template: &PodTemplate, priority_class: u32) -> TemplateFacts {
        let spec = &template.spec;
        let column = |name: &str| cluster.resources.iter().position(|r| r == name);
        let mut requests = vec![(0, 1000)];
        let mut blocked = affinity_to_nobody(template);
        for (name, milli) in spec.requests() {
            match column(&name) {
                Some(c) if milli > 0 => requests.push((c as u32, milli)),
                // No node has any of it.
                None if milli > 0 => {
                    blocked = Some(Reasons::Insufficient {
                        resource: name.clone(),
                        free: false,
                    })
                }
                _ => {}
            }
        }
        let mut tolerations = spec.tolerations.clone();
        if cluster.extended_resource_toleration {
            tolerations.extend(of_devices(spec));
        }
        let choice = NodeChoice::of(spec);
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

    pub fn look_at_all(mut self, cluster: &Cluster) -> TemplateFacts {
        for n in 0..cluster.len() {
            self.look_at(cluster, NodeId(n as u32));
        }
        self
    }

    /// What decides which nodes allow the pod.
    pub fn asks(&self) -> Asks {
        Asks {
            choice: self.choice.clone(),
            tolerations: self.tolerations.clone(),
            needs_feature: self.needs_feature,
            blocked: self.blocked.is_some(),
        }
    }

    /// Of a template that asks the same, where all nodes were looked at.
    pub fn allowed_like(mut self, other: &TemplateFacts) -> TemplateFacts {
        self.allowed.clone_from(&other.allowed);
        self.named.clone_from(&other.named);
        self
    }

    /// The node's labels, own taints or features are new: whether they allow the pod.
    pub fn look_at(&mut self, cluster: &Cluster, node: NodeId) {
        if self.allowed.len() <= node.ix() / 64 {
            self.allowed.resize(node.ix() / 64 + 1, 0);
        }
        if self.is_named(cluster, node) {
            let known = self.named.iter_mut();
            let known = known.filter(|named| !named.contains(&node));
            known.for_each(|named| named.push(node));
        }
        let bit = 1 << (node.ix() % 64);
        if self.reason_against(cluster, node).is_none() {
            self.allowed[node.ix() / 64] |= bit;
        } else {
            self.allowed[node.ix() / 64] &= !bit;
        }
    }

    pub fn allows(&self, node: NodeId) -> bool {
        self.allowed[node.ix() / 64] >> (node.ix() % 64) & 1 == 1
    }

    /// The static filter that refuses a node, if any.
    pub fn reason_against(&self, cluster: &Cluster, node: NodeId) -> Option<Reasons> {
        if !self.is_named(cluster, node) {
            return Some(Reasons::NotNamed);
        }
        if cluster.taints(node).iter().any(|t| !self.tolerates(t)) {
            return Some(Reasons::Taint);
        }
        if !self.choice.matches(cluster, node) {
            return Some(Reasons::Selector);
        }
        if self.needs_feature && !cluster.has_feature(node, RESTART_ALL_CONTAINERS) {
            return Some(Reasons::Feature);
        }
        self.blocked.clone()
    }

    /// Whether the scheduler looks at the node at all.
    pub fn is_named(&self, cluster: &Cluster, node: NodeId) -> bool {
        let names = self.named.is_some().then(|| self.choice.names()).flatten();
        names.is_none_or(|names| names.contains(cluster.names[node.ix()].as_str()))
    }

    /// Which resource a node has too little of, with `free` thousandths of each, and whether it had enough if it
    /// were empty.
    pub fn insufficient(&self, cluster: &Cluster, node: NodeId, free: &[i64]) -> Option<Reasons> {
        let at = node.ix() * cluster.resources.len();
        let mut requests = self.requests.iter();
        let short = requests.find(|(c, milli)| free[at + *c as usize] < *milli);
        short.map(|(c, milli)| Reasons::Insufficient {
            resource: cluster.resources[*c as usize].clone(),
            free: cluster.allocatable[at + *c as usize] >= *milli,
        })
    }

    /// Nothing was added to what the template says.
    pub fn is_plain(&self) -> bool {
        self.blocked != Some(Reasons::UnboundClaims)
    }

    /// The pod mounts a claim and nothing binds claims.
    pub fn block_by_claims(&mut self) {
        self.blocked = Some(Reasons::UnboundClaims);
        self.allowed.fill(0);
    }

    /// Whether a NoSchedule or NoExecute taint is no obstacle.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        taint.effect == TaintEffect::PreferNoSchedule
            || self.tolerations.iter().any(|t| t.tolerates(taint))
    }

    /// How many such pods the node holds when it is empty.
    pub fn room(&self, cluster: &Cluster, node: NodeId) -> u64 {
        if matches!(self.blocked, Some(Reasons::Insufficient { .. })) {
            return 0;
        }
        let at = node.ix() * cluster.resources.len();
        let pods = |(c, milli): &(u32, i64)| {
            let has = cluster.allocatable[at + *c as usize];
            (has.max(0) / milli) as u64
        };
        self.requests.iter().map(pods).min().unwrap_or(u64::MAX)
    }

    /// Why no node of the empty cluster could take this pod; `None` if one could.
    pub fn never_fits(&self, cluster: &Cluster) -> Option<String> {
        if self.choice.conflicts() {
            return Some(explain(&vec![Reasons::AffinityConflict; cluster.len()]));
        }
        let reasons = (0..cluster.len()).map(|n| {
            let node = NodeId(n as u32);
            let refused = self.reason_against(cluster, node);
            refused.or_else(|| self.insufficient(cluster, node, &cluster.allocatable))
        });
        let reasons: Option<Vec<Reasons>> = reasons.collect();
        reasons.map(|reasons| explain(&reasons))
    }

    /// Accelerators one pod holds.
    pub fn accelerators(&self, cluster: &Cluster) -> u32 {
        let counted = |c: u32| cluster.is_accelerator(&cluster.resources[c as usize]);
        let held = self.requests.iter().filter(|(c, _)| counted(*c));
        let all = held.fold(0i64, |sum, (_, milli)| sum.saturating_add(milli / 1000));
        all.clamp(0, i64::from(u32::MAX)) as u32
    }
}

/// What the admission plugin adds (`plugin/pkg/admission/extendedresourcetoleration`): one toleration for each extended
/// resource that is requested.
fn of_devices(spec: &PodSpec) -> impl Iterator<Item = Toleration> {
    let extended = |name: &String| {
        let domain = name.split_once('/').map(|(domain, _)| domain);
        domain.is_some_and(|d| d != "kubernetes.io" && !d.ends_with(".kubernetes.io"))
    };
    let names = spec.requests().into_keys().filter(extended);
    names.map(|name| Toleration {
        key: Some(name),
        exists: true,
        value: String::new(),
        effect: Some(TaintEffect::NoSchedule),
        toleration_seconds: None,
    })
}

/// Required podAffinity to labels that not even the pod itself has: no pod may start such a group (kubernetes.md 2.4).
/// Pods of other JobSets are not looked at.
fn affinity_to_nobody(template: &PodTemplate) -> Option<Reasons> {
    let own = &template.labels;
    let nobody = template
        .spec
        .required_pod_affinity
        .iter()
        .any(|labels| !labels.is_empty() && !labels.iter().all(|(k, v)| own.get(k) == Some(v)));
    nobody.then_some(Reasons::Affinity)
}
