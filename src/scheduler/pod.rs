//! A pod as the scheduler sees it.

use crate::labels::{Labels, read_labels};
use crate::plugins::claims::ClaimProblem;
use crate::pod_terms::{DEFAULT_SPREAD, PodTerms, SpreadConstraint};
use crate::requests::{assumed_requests, requests, scored_requests};
use crate::resources::{Amounts, ResourceColumns};
use crate::{host_port::HostPort, node_affinity::NodeAffinityView, taints::read_toleration};
use serde_json::Value;
use sim_api::objects::value_access::{has_value, int, list, text};
use sim_api::spec::keys::RESTART_ALL_CONTAINERS;
use sim_api::spec::{PodTemplate, TaintSpec, TolerationSpec};
use sim_policy::placement::TemplateFacts;

#[derive(Clone, Debug, Default)]
pub struct PodView {
    pub namespace: String,
    pub name: String,
    pub labels: Labels,
    pub scheduler_name: String,
    pub priority: i64,
    /// Whether `preemptionPolicy` permits to preempt other pods.
    pub may_preempt: bool,
    /// Whether the pod has a deletion timestamp.
    pub is_terminating: bool,
    /// Whether a deletion removes the object at once: no grace period and no finalizer.
    pub is_removed_at_once: bool,
    /// Whether the pod is terminating because a scheduler preempted it.
    pub is_preempted: bool,
    /// Row of the pod's group in the groups of the cluster, if any.
    pub group: Option<usize>,
    /// `spec.nodeName`, or empty.
    pub node_name: String,
    /// `status.nominatedNodeName`, or empty.
    pub nominated_node: String,
    /// Start time in nanoseconds since any fixed instant; `None` counts as now.
    pub started: Option<i64>,
    pub requests: Amounts,
    /// CPU and memory of the pod on its node, for scores.
    pub assumed: Amounts,
    /// CPU and memory that the pod would add to its node, for the score of NodeResourcesFit.
    pub scored: Amounts,
    /// Images of all containers, with tags.
    pub images: Vec<String>,
    /// Images of volumes, with tags.
    pub volume_images: Vec<String>,
    pub host_ports: Vec<HostPort>,
    /// Features of the kubelet that the pod needs.
    pub required_features: Vec<String>,
    pub tolerations: Vec<TolerationSpec>,
    pub node_affinity: NodeAffinityView,
    pub affinity: PodTerms,
    pub anti_affinity: PodTerms,
    pub spread: Vec<SpreadConstraint>,
    /// Names of the PersistentVolumeClaims.
    pub claims: Vec<String>,
    /// A ResourceClaim that keeps the pod from all nodes.
    pub claim_problem: Option<ClaimProblem>,
}

impl PodView {
    /// Reads a pod in the form in which the API server stores it.
    pub fn read(pod: &Value, columns: &mut ResourceColumns) -> PodView {
        let (spec, meta) = (&pod["spec"], &pod["metadata"]);
        let (namespace, labels) = (text(meta, "namespace").to_owned(), read_labels(&meta["labels"]));
        let containers = list(spec, "initContainers").iter().chain(list(spec, "containers"));
        PodView {
            name: text(meta, "name").to_owned(),
            scheduler_name: text(spec, "schedulerName").to_owned(),
            priority: int(spec, "priority").unwrap_or(0),
            may_preempt: text(spec, "preemptionPolicy") != "Never",
            is_terminating: has_value(meta, "deletionTimestamp"),
            is_removed_at_once: int(spec, "terminationGracePeriodSeconds") == Some(0)
                && list(meta, "finalizers").is_empty(),
            is_preempted: false,
            group: None,
            node_name: text(spec, "nodeName").to_owned(),
            nominated_node: text(&pod["status"], "nominatedNodeName").to_owned(),
            started: None,
            requests: requests(spec, columns),
            assumed: assumed_requests(spec, columns),
            scored: scored_requests(spec, columns),
            images: containers.map(|c| image_with_tag(text(c, "image"))).collect(),
            volume_images: list(spec, "volumes")
                .iter()
                .filter(|volume| has_value(volume, "image"))
                .map(|volume| image_with_tag(text(&volume["image"], "reference")))
                .collect(),
            host_ports: HostPort::read_all(spec),
            required_features: required_features(spec),
            tolerations: list(spec, "tolerations").iter().map(read_toleration).collect(),
            node_affinity: NodeAffinityView::read(spec),
            affinity: PodTerms::read(&spec["affinity"]["podAffinity"], &namespace),
            anti_affinity: PodTerms::read(&spec["affinity"]["podAntiAffinity"], &namespace),
            spread: SpreadConstraint::read_all(spec, &labels),
            claims: claim_names(spec),
            claim_problem: None,
            namespace,
            labels,
        }
    }

    /// Returns a pod of a template without terms about other pods and without ports, which matter only next to others.
    pub fn of_template(template: &PodTemplate, facts: &TemplateFacts, columns: &mut ResourceColumns) -> PodView {
        let spec = &template.spec;
        PodView {
            labels: template.labels.clone(),
            priority: spec.priority.into(),
            requests: Amounts::from_milli(&spec.requests(), columns),
            required_features: facts.needs_feature.then(|| RESTART_ALL_CONTAINERS.to_owned()).into_iter().collect(),
            tolerations: facts.tolerations.clone(),
            node_affinity: NodeAffinityView {
                selector: spec.node_selector.clone(),
                required: spec.node_affinity.clone(),
                preferred: Vec::new(),
                preference_error: None,
            },
            ..PodView::default()
        }
    }

    /// Returns whether both are views of the same object.
    pub fn is_same(&self, other: &PodView) -> bool {
        self.name == other.name && self.namespace == other.namespace
    }

    /// Returns whether the pod has affinity or anti-affinity terms about other pods.
    pub fn has_terms(&self) -> bool {
        !self.affinity.is_empty() || !self.anti_affinity.is_empty()
    }

    /// Returns the number of these claims of the pod that the other pod uses.
    pub fn shared_claims(&self, claims: &[&String], other: &PodView) -> i64 {
        let shared = claims.iter().filter(|claim| other.claims.contains(claim));
        if other.namespace == self.namespace { shared.count() as i64 } else { 0 }
    }

    /// Returns the topology keys that a cycle of the pod may need.
    pub fn topology_keys(&self) -> impl Iterator<Item = &str> {
        let required = self.affinity.required.iter().chain(&self.anti_affinity.required).map(|t| &t.topology_key);
        let spread = self.spread.iter().map(|c| &c.topology_key);
        let defaults = DEFAULT_SPREAD.iter().filter(|_| self.spread.is_empty());
        required.chain(spread).map(String::as_str).chain(defaults.map(|(key, _)| *key))
    }

    pub fn tolerates(&self, taint: &TaintSpec) -> bool {
        self.tolerations.iter().any(|t| t.tolerates(taint))
    }
}

/// Returns the image name that a node reports: without a tag, `latest` is added.
fn image_with_tag(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    if name.contains(':') { image.to_owned() } else { format!("{image}:latest") }
}

fn claim_names(spec: &Value) -> Vec<String> {
    let claims = list(spec, "volumes").iter().map(|volume| text(&volume["persistentVolumeClaim"], "claimName"));
    claims.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns the features that the containers use.
fn required_features(spec: &Value) -> Vec<String> {
    let containers = ["initContainers", "containers"].iter().flat_map(|key| list(spec, key));
    let mut rules = containers.flat_map(|container| list(container, "restartPolicyRules"));
    let restarts_all = rules.any(|rule| text(rule, "action") == "RestartAllContainers");
    restarts_all.then(|| RESTART_ALL_CONTAINERS.to_owned()).into_iter().collect()
}
