//! Objects stored as documents because little depends on them: Services, claims and volumes, PriorityClasses,
//! Namespaces, Leases.

use serde_json::Value;
use sim_api::spec::ObjectKind;
use sim_base::JobSetId;
use std::collections::BTreeMap;

#[derive(Clone)]
pub struct OtherObject {
    pub object: Value,
    /// The JobSet that owns it, or `NONE`.
    pub jobset: JobSetId,
}

/// Removes the references to owners of this kind, as the garbage collector does for a deletion with propagation Orphan.
pub fn remove_owner(object: &mut Value, kind: &str) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    if let Some(references) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
        references.retain(|reference| reference["kind"] != kind);
        if references.is_empty() {
            metadata.remove("ownerReferences");
        }
    }
}

type NamedObject = BTreeMap<String, OtherObject>;

#[derive(Clone, Default)]
pub struct OtherObjects {
    rows: BTreeMap<ObjectKind, BTreeMap<String, NamedObject>>,
    /// Increases whenever an object may have changed.
    pub changes: u64,
    /// Increases whenever a Service without an owner may have changed.
    pub service_changes: u64,
}

impl OtherObjects {
    pub fn reset(&mut self) {
        self.rows.clear();
        self.changes = 0;
        self.service_changes = 0;
    }

    pub fn get(&self, kind: ObjectKind, namespace: &str, name: &str) -> Option<&OtherObject> {
        self.rows.get(&kind)?.get(namespace)?.get(name)
    }

    pub fn get_mut(&mut self, kind: ObjectKind, namespace: &str, name: &str) -> Option<&mut OtherObject> {
        self.changes += 1;
        self.service_changes += u64::from(kind == ObjectKind::Service);
        self.rows.get_mut(&kind)?.get_mut(namespace)?.get_mut(name)
    }

    pub fn insert(&mut self, kind: ObjectKind, namespace: &str, name: &str, other: OtherObject) {
        self.changes += 1;
        self.service_changes += u64::from(kind == ObjectKind::Service && !other.jobset.is_some());
        let of_kind = self.rows.entry(kind).or_default();
        let named = of_kind.entry(namespace.to_owned()).or_default();
        named.insert(name.to_owned(), other);
    }

    pub fn remove(&mut self, kind: ObjectKind, namespace: &str, name: &str) -> Option<OtherObject> {
        self.changes += 1;
        let named = self.rows.get_mut(&kind)?.get_mut(namespace)?;
        let removed = named.remove(name)?;
        self.service_changes += u64::from(kind == ObjectKind::Service && !removed.jobset.is_some());
        Some(removed)
    }

    /// Removes the owner reference from everything that the JobSet owns.
    pub fn disown(&mut self, jobset: JobSetId) {
        self.service_changes += 1;
        let named = self.rows.values_mut().flat_map(BTreeMap::values_mut);
        for other in named.flat_map(BTreeMap::values_mut) {
            if other.jobset == jobset {
                other.jobset = JobSetId::NONE;
                remove_owner(&mut other.object, "JobSet");
            }
        }
    }

    pub fn owned(&self, jobset: JobSetId) -> impl Iterator<Item = (ObjectKind, &str)> {
        let named = self.rows.iter();
        let named = named.flat_map(|(kind, of)| of.values().flatten().map(|n| (*kind, n)));
        let own = named.filter(move |(_, (_, other))| other.jobset == jobset);
        own.map(|(kind, (name, _))| (kind, name.as_str()))
    }

    pub fn is_deleting_claim(&self, namespace: &str, name: &str) -> bool {
        let claim = self.get(ObjectKind::PersistentVolumeClaim, namespace, name);
        claim.is_some_and(|claim| claim.object["metadata"]["deletionTimestamp"].is_string())
    }

    /// All objects of a kind: namespace, name, object.
    pub fn objects_of_kind(&self, kind: ObjectKind) -> impl Iterator<Item = (&str, &str, &OtherObject)> {
        let of_kind = self.rows.get(&kind).into_iter().flatten();
        of_kind.flat_map(|(namespace, named)| {
            let own = named.iter();
            own.map(move |(name, other)| (namespace.as_str(), name.as_str(), other))
        })
    }

    /// Returns all Services with their namespaces.
    pub fn services(&self) -> impl Iterator<Item = (&str, &OtherObject)> {
        self.objects_of_kind(ObjectKind::Service).map(|(namespace, _, service)| (namespace, service))
    }

    /// The first object of a kind with that name, in any namespace.
    pub fn find_by_name(&self, kind: ObjectKind, name: &str) -> Option<(&str, &OtherObject)> {
        let mut of_kind = self.objects_of_kind(kind);
        let matching = of_kind.find(|(_, n, _)| *n == name);
        matching.map(|(namespace, _, other)| (namespace, other))
    }
}
