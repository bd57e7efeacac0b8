//! PersistentVolumeClaims, PersistentVolumes and StorageClasses, as the scheduler and the persistent volume controller
//! see them.

mod binding;
mod pod_volumes;

pub use binding::{ClaimBinding, VolumeSource};
pub use pod_volumes::{BIND_CONFLICT, PodVolumes};

use crate::labels::{LabelSelector, Labels, read_labels, read_requirement};
use crate::node_affinity::read_term;
use crate::{plugins::claims::ClaimProblem, pod::PodView, resources::amount};
use serde_json::Value;
use sim_api::objects::value_access::{has_value, list, text};
use sim_api::spec::{NodeRequirement, NodeTerm};
use std::collections::BTreeMap;

/// Annotation of a claim that the persistent volume controller has bound.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// Annotation of a claim for which the scheduler has chosen a node.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Provisioner of classes whose volumes are created by administrators.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const ONE_POD: &str = "ReadWriteOncePod";

/// Namespace and name of a claim.
pub type ClaimKey = (String, String);

/// The objects that decide about the volumes of pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StorageObjects {
    pub claims: BTreeMap<ClaimKey, ClaimView>,
    pub volumes: BTreeMap<String, VolumeView>,
    pub classes: BTreeMap<String, StorageClassView>,
    /// Whether all claims exist and are bound to volumes that all nodes can use, unless the objects state otherwise.
    pub is_assumed: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimView {
    /// The requested properties of the volume.
    pub requested: VolumeProperties,
    pub selector: Option<LabelSelector>,
    /// `spec.volumeName`, or empty.
    pub volume: String,
    pub is_bound: bool,
    /// Whether the volume of the bound claim was removed (phase Lost).
    pub is_lost: bool,
    pub is_deleted: bool,
    /// Node that the scheduler has chosen for a volume to provision, or empty.
    pub selected_node: String,
}

/// Properties in which a claim and its volume agree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeProperties {
    /// Name of the StorageClass, or empty.
    pub class: String,
    pub bytes: i64,
    pub access_modes: Vec<String>,
    pub is_block: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeView {
    pub offered: VolumeProperties,
    pub labels: Labels,
    /// The claim that the volume is reserved for.
    pub claim: Option<ClaimKey>,
    /// Whether the phase permits a new claim.
    pub is_available: bool,
    pub is_deleted: bool,
    /// Terms of the required node affinity; empty permits all nodes.
    pub nodes: Vec<NodeTerm>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StorageClassView {
    pub provisioner: String,
    /// Whether claims are bound when a pod that uses them is scheduled (`WaitForFirstConsumer`).
    pub waits_for_consumer: bool,
    pub is_default: bool,
    /// Each term is a list of labels that a node must have with one of the values.
    pub allowed_topologies: Vec<Vec<NodeRequirement>>,
    /// Reclaim policy of provisioned volumes.
    pub reclaim_policy: String,
}

impl StorageObjects {
    /// Reads objects in the form in which the API server stores them.
    pub fn read<'a>(
        classes: impl IntoIterator<Item = &'a Value>, volumes: impl IntoIterator<Item = &'a Value>,
        claims: impl IntoIterator<Item = &'a Value>,
    ) -> StorageObjects {
        let name = |object: &Value| text(&object["metadata"], "name").to_owned();
        let mut read = StorageObjects::default();
        read.classes.extend(classes.into_iter().map(|class| (name(class), StorageClassView::read(class))));
        read.volumes.extend(volumes.into_iter().map(|volume| (name(volume), VolumeView::read(volume))));
        for claim in claims {
            let namespace = text(&claim["metadata"], "namespace").to_owned();
            let view = ClaimView::read(claim, read.default_class());
            read.claims.insert((namespace, name(claim)), view);
        }
        read
    }

    /// Returns the name of the default class, or an empty name. Of several, the admission plugin takes the newest one,
    /// and of those the first by name; here all are equally old.
    fn default_class(&self) -> &str {
        let mut classes = self.classes.iter().filter(|(_, class)| class.is_default);
        classes.next().map_or("", |(name, _)| name)
    }

    pub fn claim(&self, namespace: &str, name: &str) -> Option<&ClaimView> {
        // An allocation per look-up is avoided where no claim exists.
        (!self.claims.is_empty()).then(|| self.claims.get(&(namespace.to_owned(), name.to_owned()))).flatten()
    }

    /// Returns the claims of a pod that exist, with their keys.
    pub fn claims_of(&self, pod: &PodView) -> Vec<(ClaimKey, &ClaimView)> {
        let key = |name: &String| (pod.namespace.clone(), name.clone());
        let found = pod.claims.iter().filter_map(|name| self.claims.get_key_value(&key(name)));
        found.map(|(key, claim)| (key.clone(), claim)).collect()
    }

    /// Returns the names of the pod's claims that only one pod at a time may use (access mode ReadWriteOncePod).
    pub fn claims_of_one_pod<'p>(&self, pod: &'p PodView) -> Vec<&'p String> {
        let is_exclusive = |claim: &ClaimView| claim.requested.access_modes.iter().any(|mode| mode == ONE_POD);
        let mut names: Vec<&String> = pod.claims.iter().collect();
        names.retain(|name| self.claim(&pod.namespace, name).is_some_and(is_exclusive));
        names
    }

    /// Returns the problems that keep the pod from all nodes, in the order in which PreFilter of VolumeRestrictions,
    /// VolumeBinding and VolumeZone find them. The first of these looks up every claim.
    pub fn problems(&self, pod: &PodView) -> impl Iterator<Item = ClaimProblem> {
        let found = || pod.claims.iter().map(|name| (name, self.claim(&pod.namespace, name)));
        let missing = found().find(|(_, claim)| claim.is_none() && !self.is_assumed);
        let missing = missing.map(|(name, _)| ClaimProblem::Missing(name.clone()));
        let broken = found().find_map(|(name, claim)| match claim? {
            claim if claim.is_lost => Some(ClaimProblem::Lost { claim: name.clone(), volume: claim.volume.clone() }),
            claim => claim.is_deleted.then(|| ClaimProblem::Deleted(name.clone())),
        });
        let checked = || found().filter_map(|(_, claim)| claim).filter(|_| !self.is_assumed);
        let is_unbound = |claim: &ClaimView| !claim.is_bound && !self.waits_for_consumer(claim);
        let unbound = checked().any(is_unbound).then_some(ClaimProblem::Unbound);
        let mut absent = checked().filter(|claim| claim.is_bound && !self.volumes.contains_key(&claim.volume));
        let volume_missing = absent.next().map(|claim| ClaimProblem::VolumeMissing(claim.volume.clone()));
        missing.into_iter().chain(broken).chain(unbound).chain(volume_missing)
    }

    /// Returns whether the scheduler binds the claim. A claim that names its volume is bound immediately.
    fn waits_for_consumer(&self, claim: &ClaimView) -> bool {
        let class = self.classes.get(&claim.requested.class);
        claim.volume.is_empty() && class.is_some_and(|class| class.waits_for_consumer)
    }
}

impl ClaimView {
    fn read(claim: &Value, default_class: &str) -> ClaimView {
        let (meta, spec) = (&claim["metadata"], &claim["spec"]);
        let mut requested = VolumeProperties::read(spec, &spec["resources"]["requests"]["storage"]);
        if !has_value(spec, "storageClassName") {
            requested.class = default_class.to_owned();
        }
        let volume = text(spec, "volumeName").to_owned();
        ClaimView {
            requested,
            selector: has_value(spec, "selector").then(|| LabelSelector::read(spec, "selector")),
            is_bound: !volume.is_empty() && has_value(&meta["annotations"], BIND_COMPLETED),
            volume,
            is_lost: text(&claim["status"], "phase") == "Lost",
            is_deleted: has_value(meta, "deletionTimestamp"),
            selected_node: text(&meta["annotations"], SELECTED_NODE).to_owned(),
        }
    }
}

impl VolumeProperties {
    fn read(spec: &Value, bytes: &Value) -> VolumeProperties {
        let modes = list(spec, "accessModes").iter().filter_map(Value::as_str);
        VolumeProperties {
            class: text(spec, "storageClassName").to_owned(),
            bytes: amount(bytes, 0),
            access_modes: modes.map(str::to_owned).collect(),
            is_block: text(spec, "volumeMode") == "Block",
        }
    }
}

impl VolumeView {
    fn read(volume: &Value) -> VolumeView {
        let (meta, spec) = (&volume["metadata"], &volume["spec"]);
        let (claim, phase) = (&spec["claimRef"], text(&volume["status"], "phase"));
        let terms = list(&spec["nodeAffinity"]["required"], "nodeSelectorTerms");
        VolumeView {
            offered: VolumeProperties::read(spec, &spec["capacity"]["storage"]),
            labels: read_labels(&meta["labels"]),
            claim: has_value(spec, "claimRef")
                .then(|| (text(claim, "namespace").to_owned(), text(claim, "name").to_owned())),
            is_available: matches!(phase, "" | "Available"),
            is_deleted: has_value(meta, "deletionTimestamp"),
            nodes: terms.iter().map(read_term).collect(),
        }
    }
}

impl StorageClassView {
    fn read(class: &Value) -> StorageClassView {
        let term = |term: &Value| {
            let labels = list(term, "matchLabelExpressions").iter().map(|label| {
                let mut requirement = label.clone();
                requirement["operator"] = "In".into();
                read_requirement(&requirement)
            });
            labels.collect()
        };
        let policy = Some(text(class, "reclaimPolicy")).filter(|policy| !policy.is_empty()).unwrap_or("Delete");
        StorageClassView {
            provisioner: text(class, "provisioner").to_owned(),
            waits_for_consumer: text(class, "volumeBindingMode") == "WaitForFirstConsumer",
            is_default: text(&class["metadata"]["annotations"], DEFAULT_CLASS) == "true",
            allowed_topologies: list(class, "allowedTopologies").iter().map(term).collect(),
            reclaim_policy: policy.to_owned(),
        }
    }

    /// Returns whether a provisioner creates volumes of the class.
    pub fn provisions(&self) -> bool {
        !matches!(self.provisioner.as_str(), "" | NO_PROVISIONER)
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/scheduler/storage.rs"]
mod tests;
