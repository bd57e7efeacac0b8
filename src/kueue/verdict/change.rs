//! Changes of queues, nodes and the Workload that may admit it.

use super::state::QueueState;
use crate::amount::Amount;
use crate::requests::Name;
use crate::tas::{LevelRequest, SliceConstraint, TasNode};
use crate::workload::{Workload, WorkloadKey};
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::kueue::{KueueObjects, QueueingStrategy, ResourceQuota, StopPolicy, WorkloadPriorityClass};
use sim_api::spec::{TaintSpec, TolerationSpec};
use std::sync::Arc;

/// One change. The texts of all changes are imperative sentences without a period.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueChange {
    NominalQuota {
        cluster_queue: String,
        flavor: Name,
        resource: Name,
        by: Amount,
    },
    BorrowingLimit {
        cluster_queue: String,
        flavor: Name,
        resource: Name,
        by: Amount,
    },
    /// Fewer Jobs of a replicatedJob.
    Replicas {
        pod_set: String,
        from: u32,
        to: u32,
    },
    /// Fewer pods of each Job of a replicatedJob.
    Pods {
        pod_set: String,
        from: u32,
        to: u32,
    },
    Toleration {
        pod_set: String,
        taint: TaintSpec,
    },
    NodeSelector {
        pod_set: String,
        key: String,
        value: String,
    },
    Priority {
        class: String,
        value: i32,
    },
    /// A WorkloadPriorityClass that does not exist yet.
    NewPriority {
        value: i32,
    },
    /// The end of a Workload with a reservation, or the removal of a pending one.
    End {
        key: WorkloadKey,
        name: String,
        is_pending: bool,
    },
    UseQueue {
        local_queue: String,
    },
    ResumeLocalQueue {
        namespace: String,
        name: String,
    },
    ResumeClusterQueue {
        name: String,
    },
    Strategy {
        cluster_queue: String,
        strategy: QueueingStrategy,
    },
    /// Nodes that take no more pods: the rest of a domain that cannot hold all pods of a Job.
    Cordon {
        level: String,
        domain: String,
        nodes: Vec<String>,
    },
    /// Free nodes like an existing one, in one domain of a level.
    FreeNodes {
        like: Box<TasNode>,
        level: String,
        domain: String,
        count: u32,
    },
    TopologyLevel {
        pod_set: String,
        from: String,
        to: LevelRequest,
    },
    /// Groups of pods that must be together, instead of all pods of the pod set.
    Slices {
        pod_set: String,
        /// Annotation that is removed, without its prefix.
        instead_of: Option<String>,
        level: String,
        size: u32,
    },
}

/// Name of the class of [`QueueChange::NewPriority`].
pub const NEW_CLASS: &str = "higher";

impl QueueChange {
    /// Returns the name of the kind of change, and its size in the unit of the resource or in objects.
    pub fn size(&self) -> (&'static str, f64) {
        let difference = |from: &u32, to: &u32| f64::from(from.abs_diff(*to));
        let units = |by: &Amount, resource: &Name| by.milli(resource) as f64 / 1000.0;
        match self {
            QueueChange::NominalQuota { by, resource, .. } => ("nominalQuota", units(by, resource)),
            QueueChange::BorrowingLimit { by, resource, .. } => ("borrowingLimit", units(by, resource)),
            QueueChange::Replicas { from, to, .. } => ("replicas", difference(from, to)),
            QueueChange::Pods { from, to, .. } => ("pods", difference(from, to)),
            QueueChange::Toleration { .. } => ("toleration", 1.0),
            QueueChange::NodeSelector { .. } => ("nodeSelector", 1.0),
            QueueChange::Priority { value, .. } | QueueChange::NewPriority { value } => ("priority", f64::from(*value)),
            QueueChange::End { .. } => ("workloads", 1.0),
            QueueChange::UseQueue { .. } => ("localQueue", 1.0),
            QueueChange::ResumeLocalQueue { .. } | QueueChange::ResumeClusterQueue { .. } => ("stopPolicy", 1.0),
            QueueChange::Strategy { .. } => ("queueingStrategy", 1.0),
            QueueChange::Cordon { nodes, .. } => ("cordonedNodes", nodes.len() as f64),
            QueueChange::FreeNodes { count, .. } => ("freeNodes", f64::from(*count)),
            QueueChange::TopologyLevel { .. } => ("topologyLevel", 1.0),
            QueueChange::Slices { size, .. } => ("sliceSize", f64::from(*size)),
        }
    }

    /// Returns whether the change edits only the JobSet. JobSets that are submitted earlier then get the same results.
    pub fn is_of_jobset(&self) -> bool {
        match self {
            QueueChange::Replicas { .. }
            | QueueChange::Pods { .. }
            | QueueChange::Toleration { .. }
            | QueueChange::NodeSelector { .. }
            | QueueChange::Priority { .. }
            | QueueChange::UseQueue { .. }
            | QueueChange::TopologyLevel { .. }
            | QueueChange::Slices { .. } => true,
            QueueChange::NominalQuota { .. }
            | QueueChange::BorrowingLimit { .. }
            | QueueChange::NewPriority { .. }
            | QueueChange::End { .. }
            | QueueChange::ResumeLocalQueue { .. }
            | QueueChange::ResumeClusterQueue { .. }
            | QueueChange::Strategy { .. }
            | QueueChange::Cordon { .. }
            | QueueChange::FreeNodes { .. } => false,
        }
    }

    /// Returns whether the change edits the objects of Kueue and nothing else.
    pub fn is_of_objects(&self) -> bool {
        matches!(
            self,
            QueueChange::NominalQuota { .. }
                | QueueChange::BorrowingLimit { .. }
                | QueueChange::ResumeLocalQueue { .. }
                | QueueChange::ResumeClusterQueue { .. }
                | QueueChange::Strategy { .. }
        )
    }

    /// Applies the change to the objects of Kueue; other changes have no effect.
    pub fn apply_to_objects(&self, objects: &mut KueueObjects) {
        match self {
            QueueChange::NominalQuota { cluster_queue, flavor, resource, by } => {
                edit_quota(objects, (cluster_queue, flavor, resource), |quota| {
                    quota.nominal = quota.nominal.saturating_add(by.milli(resource));
                });
            }
            QueueChange::BorrowingLimit { cluster_queue, flavor, resource, by } => {
                edit_quota(objects, (cluster_queue, flavor, resource), |quota| {
                    quota.borrowing_limit = quota.borrowing_limit.map(|limit| limit.saturating_add(by.milli(resource)));
                });
            }
            QueueChange::NewPriority { value } => {
                let class = WorkloadPriorityClass { name: NEW_CLASS.to_owned(), value: *value };
                objects.priority_classes.push(class);
            }
            QueueChange::ResumeLocalQueue { namespace, name } => {
                let mut queues = objects.local_queues.iter_mut();
                if let Some(queue) = queues.find(|queue| queue.namespace == *namespace && queue.name == *name) {
                    queue.stop_policy = StopPolicy::None;
                }
            }
            QueueChange::ResumeClusterQueue { name } => {
                if let Some(queue) = objects.cluster_queues.iter_mut().find(|queue| queue.name == *name) {
                    queue.stop_policy = StopPolicy::None;
                }
            }
            QueueChange::Strategy { cluster_queue, strategy } => {
                if let Some(queue) = objects.cluster_queues.iter_mut().find(|queue| queue.name == *cluster_queue) {
                    queue.queueing_strategy = *strategy;
                }
            }
            _ => {}
        }
    }

    /// Applies the change to a state.
    pub fn apply(&self, state: &mut QueueState, key: WorkloadKey) {
        if self.is_of_objects() || matches!(self, QueueChange::NewPriority { .. }) {
            self.apply_to_objects(Arc::make_mut(&mut state.objects));
        }
        match self {
            QueueChange::NominalQuota { .. }
            | QueueChange::BorrowingLimit { .. }
            | QueueChange::ResumeLocalQueue { .. }
            | QueueChange::ResumeClusterQueue { .. }
            | QueueChange::Strategy { .. } => {}
            QueueChange::Replicas { pod_set, from, to } => state.edit(key, |w| {
                edit_pod_sets(w, pod_set, |set| {
                    (set.count, set.replicas) = (scaled(set.count, (*from, *to)), *to);
                });
            }),
            QueueChange::Pods { pod_set, from, to } => state.edit(key, |w| {
                edit_pod_sets(w, pod_set, |set| set.count = scaled(set.count, (*from, *to)));
            }),
            QueueChange::Toleration { pod_set, taint } => state.edit(key, |w| {
                edit_pod_set(w, pod_set, |spec| spec.tolerations.push(toleration_of(taint)));
            }),
            QueueChange::NodeSelector { pod_set, key: label, value } => state.edit(key, |w| {
                edit_pod_set(w, pod_set, |spec| drop(spec.node_selector.insert(label.clone(), value.clone())));
            }),
            QueueChange::Priority { value, .. } | QueueChange::NewPriority { value } => {
                state.edit(key, |w| w.priority = *value);
            }
            QueueChange::End { key: other, .. } => state.workloads[*other] = None,
            QueueChange::UseQueue { local_queue } => state.edit(key, |w| w.queue.clone_from(local_queue)),
            QueueChange::Cordon { nodes, .. } => {
                let cordoned = Arc::make_mut(&mut state.nodes).iter_mut().filter(|node| nodes.contains(&node.name));
                cordoned.for_each(|node| node.is_unschedulable = true);
            }
            QueueChange::FreeNodes { like, count, .. } => {
                let added = (0..*count).map(|number| copy_of(like, number));
                Arc::make_mut(&mut state.nodes).extend(added);
            }
            QueueChange::TopologyLevel { pod_set, to, .. } => state.edit(key, |w| {
                edit_pod_sets(w, pod_set, |set| {
                    if let Some(request) = &mut set.topology {
                        request.level = Some(to.clone());
                    }
                });
            }),
            QueueChange::Slices { pod_set, level, size, .. } => state.edit(key, |w| {
                edit_pod_sets(w, pod_set, |set| {
                    if let Some(request) = &mut set.topology {
                        let slice = SliceConstraint { topology: level.clone(), size: *size };
                        (request.level, request.slices, request.group) = (None, vec![slice], None);
                    }
                });
            }),
        }
    }
}

impl std::fmt::Display for QueueChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueueChange::NominalQuota { cluster_queue, flavor, resource, by } => write!(
                f,
                "raise nominalQuota of {resource} in flavor {flavor} of ClusterQueue {cluster_queue} by {}",
                by.text(resource)
            ),
            QueueChange::BorrowingLimit { cluster_queue, flavor, resource, by } => write!(
                f,
                "raise borrowingLimit of {resource} in flavor {flavor} of ClusterQueue {cluster_queue} by {}",
                by.text(resource)
            ),
            QueueChange::Replicas { pod_set, from, to } => {
                write!(f, "lower replicas of replicatedJob {pod_set} from {from} to {to}")
            }
            QueueChange::Pods { pod_set, from, to } => {
                write!(f, "lower parallelism and completions of replicatedJob {pod_set} from {from} to {to}")
            }
            QueueChange::Toleration { pod_set, taint } => {
                let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
                let effect = taint.effect.as_str();
                write!(f, "add a toleration of {}{value}:{effect} to replicatedJob {pod_set}", taint.key)
            }
            QueueChange::NodeSelector { pod_set, key, value } => {
                write!(f, "set nodeSelector {key}={value} in replicatedJob {pod_set}")
            }
            QueueChange::Priority { class, value } => {
                write!(f, "set the label kueue.x-k8s.io/priority-class: {class} (priority {value})")
            }
            QueueChange::NewPriority { value } => write!(
                f,
                "create a WorkloadPriorityClass with value {value} and set it in the label \
                 kueue.x-k8s.io/priority-class"
            ),
            QueueChange::End { name, is_pending: false, .. } => write!(f, "wait for the end of {name}"),
            QueueChange::End { name, is_pending: true, .. } => write!(f, "remove {name} from the queue"),
            QueueChange::UseQueue { local_queue } => {
                write!(f, "set the label kueue.x-k8s.io/queue-name: {local_queue}")
            }
            QueueChange::ResumeLocalQueue { namespace, name } => {
                write!(f, "set stopPolicy: None of LocalQueue {namespace}/{name}")
            }
            QueueChange::ResumeClusterQueue { name } => write!(f, "set stopPolicy: None of ClusterQueue {name}"),
            QueueChange::Strategy { cluster_queue, strategy } => {
                let strategy = match strategy {
                    QueueingStrategy::StrictFifo => "StrictFIFO",
                    QueueingStrategy::BestEffortFifo => "BestEffortFIFO",
                };
                write!(f, "set queueingStrategy: {strategy} of ClusterQueue {cluster_queue}")
            }
            QueueChange::Cordon { level, domain, nodes } => {
                let plural = if nodes.len() == 1 { "node" } else { "nodes" };
                write!(f, "cordon the other {} {plural} of {level}={domain}", nodes.len())
            }
            QueueChange::Slices { pod_set, instead_of, level, size } => {
                match instead_of {
                    Some(annotation) => write!(f, "replace {annotation} by ")?,
                    None => write!(f, "set ")?,
                }
                write!(
                    f,
                    "podset-slice-required-topology: {level} with podset-slice-size: {size} in replicatedJob {pod_set}"
                )
            }
            QueueChange::FreeNodes { level, domain, count, .. } => {
                let nodes = if *count == 1 { "node" } else { "nodes" };
                if domain.is_empty() {
                    return write!(f, "free {count} more {nodes}");
                }
                write!(f, "free {count} more {nodes} in {level}={domain}")
            }
            QueueChange::TopologyLevel { pod_set, from, to } => {
                let to = match to {
                    LevelRequest::Required(level) => format!("require {level}"),
                    LevelRequest::Preferred(level) => format!("prefer {level}"),
                    LevelRequest::Unconstrained => "request podset-unconstrained-topology".to_owned(),
                };
                write!(f, "{to} instead of requiring {from} in replicatedJob {pod_set}")
            }
        }
    }
}

fn edit_quota(
    objects: &mut KueueObjects, (queue, flavor, resource): (&str, &str, &str), change: impl Fn(&mut ResourceQuota),
) {
    let queues = objects.cluster_queues.iter_mut().filter(|q| q.name == queue);
    let flavors = queues.flat_map(|q| &mut q.resource_groups).flat_map(|g| &mut g.flavors);
    let quotas = flavors.filter(|f| f.name == flavor).flat_map(|f| &mut f.resources);
    quotas.filter(|quota| quota.name == resource).for_each(change);
}

pub(super) fn edit_pod_sets(workload: &mut Workload, name: &str, change: impl Fn(&mut crate::workload::PodSet)) {
    let mut pod_sets = workload.pod_sets.to_vec();
    pod_sets.iter_mut().filter(|set| set.name == name).for_each(change);
    workload.pod_sets = pod_sets.into();
}

fn edit_pod_set(workload: &mut Workload, name: &str, change: impl Fn(&mut sim_api::spec::PodSpec)) {
    edit_pod_sets(workload, name, |set| change(&mut set.template.spec));
}

fn scaled(count: u32, (from, to): (u32, u32)) -> u32 {
    (u64::from(count) * u64::from(to) / u64::from(from.max(1))) as u32
}

/// Returns the toleration of exactly this taint.
pub(super) fn toleration_of(taint: &TaintSpec) -> TolerationSpec {
    TolerationSpec {
        key: Some(taint.key.clone()),
        exists: false,
        value: taint.value.clone(),
        effect: Some(taint.effect),
        toleration_seconds: None,
    }
}

/// Prefix of the names of nodes that a change adds.
pub(super) const ADDED_NODE: &str = "added-node-";

/// Returns a copy of a node under a new name.
fn copy_of(node: &TasNode, number: u32) -> TasNode {
    let mut copy = node.clone();
    copy.name = format!("{ADDED_NODE}{}-{number}", node.name);
    copy.labels.insert(HOSTNAME.to_owned(), copy.name.clone());
    copy
}
