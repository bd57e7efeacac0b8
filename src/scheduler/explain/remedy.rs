//! Changes of a pod, a node or other pods that remove one rejection of a node.

use crate::index::{NodeIndex, PodIndex};
use crate::plugins::{claims::ClaimProblem, inter_pod_affinity, node_resources_fit, pod_topology_spread::constraints};
use crate::pod::PodView;
use crate::rejection::{Reason, Rejection};
use crate::resources::{CPU, EPHEMERAL_STORAGE};
use crate::storage::BIND_CONFLICT;
use crate::{
    cluster::Cluster, cycle::SchedulingCycle, node::NodeView, node_affinity::NodeAffinityView, plugin::Plugin,
};
use sim_api::spec::keys::{HOSTNAME, NODE_TAINT_PREFIX};
use sim_api::spec::{NodeOperator, NodeRequirement, NodeTerm, TaintEffect, TaintSpec};
use sim_base::quantity::binary_text;
use std::collections::{BTreeMap, BTreeSet};

/// Cost of a pod that has to go. The cost of a missing amount is the missing part of the request, so that less missing
/// capacity is a smaller change; a change of the configuration costs nothing.
const POD_COST: i64 = 1000;
/// Cost of a requirement that names another node. Such a pod is meant for that node, for example by Kueue.
const OTHER_NODE_COST: i64 = 1_000_000 * POD_COST;
/// End of the steps that remove such a requirement.
const OTHER_NODE: &str = "from the pod, which names another node";
/// Step for required terms that are all empty.
const EMPTY_TERMS: &str = "add requirements to the nodeSelectorTerms, because an empty term matches no node";

/// The pods that repel a pod, by topology key and value.
pub type Blockers<'a> = BTreeMap<(&'a str, &'a str), Vec<PodIndex>>;

pub fn blockers<'a>(cycle: &SchedulingCycle<'a>) -> Blockers<'a> {
    let (cluster, pod) = (cycle.cluster, cycle.pod);
    let mut blockers = Blockers::new();
    for (node, usage) in cluster.usage.iter().enumerate() {
        for &index in &usage.pods {
            let other = &cluster.pods[index];
            let own = pod.anti_affinity.required.iter().filter(|term| cluster.selects(term, other));
            let theirs = other.anti_affinity.required.iter().filter(|term| cluster.selects(term, pod));
            let keys: BTreeSet<&str> = own.chain(theirs).map(|term| term.topology_key.as_str()).collect();
            for (key, value) in keys.into_iter().filter_map(|key| Some((key, cluster.nodes[node].labels.get(key)?))) {
                blockers.entry((key, value)).or_default().push(index);
            }
        }
    }
    blockers
}

/// Returns the pods that repel the pod from a node, with the topology keys and values.
fn blockers_of<'b>(
    blockers: &'b Blockers<'_>, node: &'b NodeView,
) -> impl Iterator<Item = (&'b String, &'b String, &'b Vec<PodIndex>)> {
    let labels = node.labels.iter();
    labels.filter_map(|(key, value)| Some((key, value, blockers.get(&(key.as_str(), value.as_str()))?)))
}

/// Returns the steps that remove all rejections of a node, and their cost.
pub fn steps(
    cycle: &SchedulingCycle<'_>, blockers: &Blockers<'_>, node: NodeIndex, rejections: &[Rejection],
) -> (Vec<String>, i64) {
    let view = &cycle.cluster.nodes[node];
    let (mut texts, mut cost) = (Vec::new(), 0);
    for rejection in rejections {
        match rejection.plugin {
            Plugin::TaintToleration => {
                let hard = view.taints.iter().filter(|t| t.effect != TaintEffect::PreferNoSchedule);
                texts.extend(hard.filter(|t| !cycle.pod.tolerates(t)).map(|taint| toleration_step(cycle, taint)));
            }
            Plugin::NodeAffinity => {
                let steps = label_steps(cycle, view);
                // A pod that has to be on another node is rather given room there.
                cost += if steps.iter().any(|step| step.ends_with(OTHER_NODE)) { OTHER_NODE_COST } else { 0 };
                texts.extend(steps);
            }
            Plugin::NodeUnschedulable => texts.push("uncordon the node".to_owned()),
            Plugin::NodeDeclaredFeatures => {
                let missing = cycle.pod.required_features.iter().filter(|f| !view.features.contains(f));
                texts.extend(
                    missing
                        .map(|f| format!("enable the feature {f} in the kubelet (in a topology: `features: [{f}]`)")),
                );
            }
            Plugin::NodePorts => {
                let used = &cycle.cluster.usage[node].ports;
                let own =
                    cycle.pod.host_ports.iter().filter(|port| used.iter().any(|other| other.conflicts_with(port)));
                let ports: Vec<String> = own.map(ToString::to_string).collect();
                texts.push(format!(
                    "free host port {} on the node or add a node (one pod per node can use it)",
                    ports.join(" and ")
                ));
                cost += POD_COST;
            }
            Plugin::NodeResourcesFit => cost += resource_steps(cycle, blockers, (node, rejection), &mut texts),
            Plugin::PodTopologySpread => texts.extend(spread_steps(cycle, view)),
            Plugin::InterPodAffinity => cost += affinity_steps(cycle, blockers, (view, rejection), &mut texts),
            Plugin::VolumeRestrictions => {
                let claims = cycle.cluster.storage.claims_of_one_pod(cycle.pod);
                let claims = claims.into_iter().map(String::as_str).collect::<Vec<&str>>().join(" or ");
                texts.push(format!("remove the pod that uses the PersistentVolumeClaim {claims}"));
                cost += POD_COST;
            }
            Plugin::VolumeBinding | Plugin::VolumeZone => {
                texts.extend(rejection.reasons.iter().map(|reason| volume_step(cycle, reason)));
            }
            other => texts.push(format!("satisfy plugin {}", other.name())),
        }
    }
    (texts, cost)
}

/// Returns the step that resolves a problem with a claim, if a user can.
pub fn claim_step(cluster: &Cluster, pod: &PodView, problem: &ClaimProblem) -> Option<String> {
    match problem {
        ClaimProblem::Missing(name) => Some(format!("create the PersistentVolumeClaim {name:?}")),
        ClaimProblem::ResourceClaimMissing(name) => Some(format!("create the ResourceClaim {name:?}")),
        ClaimProblem::Unbound => Some(binding_step(cluster, pod)),
        ClaimProblem::Lost { volume, .. } | ClaimProblem::VolumeMissing(volume) => {
            Some(format!("create the PersistentVolume {volume:?}"))
        }
        ClaimProblem::Deleted(_) | ClaimProblem::ResourceClaimNotCreated(_) => None,
    }
}

/// Returns the step that gives the unbound claims of the pod volumes.
fn binding_step(cluster: &Cluster, pod: &PodView) -> String {
    let mut claims = cluster.storage.claims_of(pod).into_iter();
    let Some(((_, name), claim)) = claims.find(|(_, claim)| !claim.is_bound) else {
        return "bind the PersistentVolumeClaims of the pod to volumes".to_owned();
    };
    if !claim.volume.is_empty() {
        return format!(
            "create the PersistentVolume {:?} as the PersistentVolumeClaim {name:?} requires it",
            claim.volume
        );
    }
    let (class, modes) = (&claim.requested.class, claim.requested.access_modes.join(" and "));
    let size = binary_text(claim.requested.bytes);
    let of_class =
        if class.is_empty() { "without a StorageClass".to_owned() } else { format!("of StorageClass {class:?}") };
    format!("create a PersistentVolume {of_class} with {size} and {modes} for the PersistentVolumeClaim {name:?}")
}

fn volume_step(cycle: &SchedulingCycle<'_>, reason: &Reason) -> String {
    match reason {
        Reason::Fixed(BIND_CONFLICT) => format!("{} that the node can use", binding_step(cycle.cluster, cycle.pod)),
        _ => "use a volume whose node affinity and zone match the node".to_owned(),
    }
}

fn toleration_step(cycle: &SchedulingCycle<'_>, taint: &TaintSpec) -> String {
    let (key, value, effect) = (&taint.key, &taint.value, taint.effect.as_str());
    if key.starts_with(NODE_TAINT_PREFIX) {
        return format!("wait until the taint {key}:{effect} is removed from the node");
    }
    let what = if value.is_empty() { "operator: Exists".to_owned() } else { format!("value: {value}") };
    let column = cycle.cluster.columns.find(key).filter(|column| cycle.pod.requests.get(*column) > 0);
    let or = column.map_or("", |_| ", or set extendedResourceToleration: true in the topology as on GKE");
    format!("add the toleration {{key: {key}, {what}, effect: {effect}}} to the pod{or}")
}

/// Returns the labels that the node lacks for the selector, and for the required term that lacks the fewest.
fn label_steps(cycle: &SchedulingCycle<'_>, node: &NodeView) -> Vec<String> {
    let affinities = [cycle.profile.added_affinity.as_ref(), Some(&cycle.pod.node_affinity)];
    affinities.into_iter().flatten().flat_map(|affinity| lacking_labels(affinity, node)).collect()
}

fn lacking_labels(affinity: &NodeAffinityView, node: &NodeView) -> Vec<String> {
    let lacking = affinity.selector.iter().filter(|(key, value)| node.labels.get(*key) != Some(*value));
    let step = |(key, value): (&String, &String)| match key.as_str() {
        HOSTNAME => format!("remove the node selector {key}={value} {OTHER_NODE}"),
        _ => format!("label the node {key}={value}"),
    };
    let mut texts: Vec<String> = lacking.map(step).collect();
    let unmet = |term: &NodeTerm| -> Vec<String> {
        let labels = term.expressions.iter().filter(|r| !r.matches_label(node.labels.get(&r.key).map(String::as_str)));
        let fields = term.fields.iter().filter(|r| !r.matches_label(Some(&node.name)));
        let names = fields.map(|r| format!("name node {} in the matchFields of the pod for {}", node.name, r.key));
        labels.map(requirement_step).chain(names).collect()
    };
    let Some(terms) = affinity.required.as_ref().filter(|_| !affinity.allows_by_terms(node)) else { return texts };
    // An empty term matches no node, whatever its labels are.
    let steps = terms.iter().map(unmet).filter(|steps| !steps.is_empty()).min_by_key(Vec::len);
    texts.extend(steps.unwrap_or_else(|| vec![EMPTY_TERMS.to_owned()]));
    texts
}

fn requirement_step(r: &NodeRequirement) -> String {
    match (r.operator, &r.values[..]) {
        // The hostname of a node does not change.
        _ if r.key == HOSTNAME => format!("remove the requirement of {HOSTNAME} {OTHER_NODE}"),
        (Some(NodeOperator::In), values) => format!("label the node {}={}", r.key, values.join(" or ")),
        (Some(NodeOperator::Exists), _) => format!("label the node with {}", r.key),
        (Some(NodeOperator::DoesNotExist), _) => format!("remove the label {} from the node", r.key),
        (Some(operator @ (NodeOperator::Gt | NodeOperator::Lt)), [bound]) => {
            let step = if operator == NodeOperator::Gt { 1 } else { -1 };
            match bound.parse::<i64>().ok().and_then(|bound| bound.checked_add(step)) {
                Some(value) => format!("label the node {}={value}", r.key),
                None => format!("write an integer instead of {bound} for {} in the node affinity of the pod", r.key),
            }
        }
        _ => format!("change or remove the label {} of the node", r.key),
    }
}

/// Returns the labels of required constraints that the node lacks. If it has all, the constraints are too strict.
fn spread_steps(cycle: &SchedulingCycle<'_>, node: &NodeView) -> Vec<String> {
    let constraints = constraints(cycle.cluster, cycle.pod, cycle.profile);
    let keys = constraints.iter().filter(|c| c.is_required).map(|c| &c.topology_key);
    let missing: BTreeSet<&String> = keys.filter(|key| !node.labels.contains_key(*key)).collect();
    if missing.is_empty() {
        return vec!["relax the topology spread constraints of the pod".to_owned()];
    }
    missing.into_iter().map(|key| format!("label the node with {key}")).collect()
}

/// Adds the missing amounts after the pods that repel the pod are gone. Returns their cost.
fn resource_steps(
    cycle: &SchedulingCycle<'_>, blockers: &Blockers<'_>, (node, rejection): (NodeIndex, &Rejection),
    texts: &mut Vec<String>,
) -> i64 {
    let (view, columns) = (&cycle.cluster.nodes[node], &cycle.cluster.columns);
    let mut usage = cycle.cluster.usage[node].clone();
    for pod in blockers_of(blockers, view).flat_map(|(_, _, pods)| pods) {
        if usage.pods.contains(pod) {
            usage.remove(*pod, &cycle.cluster.pods[*pod]);
        }
    }
    let Err(left) = node_resources_fit::filter(cycle, node, &usage) else { return 0 };
    let (mut cost, mut freed, mut lowered, mut removed) = (0, Vec::new(), Vec::new(), Vec::new());
    for reason in left.reasons.iter().filter(|reason| rejection.reasons.contains(reason)) {
        let Reason::Insufficient(name) = reason else {
            texts.push("remove a pod from the node".to_owned());
            cost += POD_COST;
            continue;
        };
        let column = columns.find(name).unwrap_or(CPU);
        let (request, allocatable) = (cycle.pod.requests.get(column), view.allocatable.get(column));
        let missing = request - (allocatable - usage.requested.get(column));
        let text = |amount: i64| amount_text(column, amount);
        if allocatable == 0 {
            removed.push(name.clone());
        } else if request > allocatable {
            lowered.push(format!("{} of {name} instead of {}", text(allocatable), text(request)));
        } else {
            freed.push(format!("{} of {name}", text(missing)));
        }
        cost += (missing.min(request) * POD_COST / request).max(1);
    }
    let step = |verb: &str, amounts: &[String], place: &str| format!("{verb} {}{place}", amounts.join(" and "));
    texts.extend((!removed.is_empty()).then(|| step("request no", &removed, "")));
    texts.extend((!lowered.is_empty()).then(|| step("request at most", &lowered, "")));
    texts.extend((!freed.is_empty()).then(|| step("free", &freed, " on the node")));
    cost
}

/// Adds the pods that have to be in the domains of a node, and those that have to leave them. Returns their cost.
fn affinity_steps(
    cycle: &SchedulingCycle<'_>, blockers: &Blockers<'_>, (node, rejection): (&NodeView, &Rejection),
    texts: &mut Vec<String>,
) -> i64 {
    let mut cost = 0;
    if rejection.reasons.contains(&Reason::Fixed(inter_pod_affinity::AFFINITY)) {
        let keys = cycle.pod.affinity.required.iter().map(|term| &term.topology_key);
        texts.extend(keys.map(|key| match node.labels.get(key) {
            Some(value) => format!("start a pod that matches the affinity in {key}={value}"),
            None => format!("label the node with {key}"),
        }));
        cost += POD_COST;
    }
    for (key, value, pods) in blockers_of(blockers, node) {
        let first = &cycle.cluster.pods[pods[0]].name;
        texts.push(match pods.len() {
            1 => format!("remove pod {first} from {key}={value}"),
            n => format!("remove {n} pods from {key}={value} ({first} and others)"),
        });
        cost += POD_COST * pods.len() as i64;
    }
    cost
}

fn amount_text(column: usize, amount: i64) -> String {
    match column {
        CPU if amount % 1000 != 0 => format!("{amount}m"),
        CPU => (amount / 1000).to_string(),
        1..=EPHEMERAL_STORAGE => binary_text(amount),
        _ => amount.to_string(),
    }
}
