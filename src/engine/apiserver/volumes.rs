//! The persistent volume controller and provisioners: they bind claims to volumes, create volumes, and release those
//! whose claims are gone. This takes no time in the model.

use super::record_change;
use crate::ctx::EngineContext;
use crate::store::{ChangeKind, OtherObject};
use serde_json::{Value, json};
use sim_api::objects::value_access::{has_value, set_default, text};
use sim_api::spec::{ClaimController, NodeTerm, ObjectKind};
use sim_base::JobSetId;
use sim_scheduler::storage::{BIND_COMPLETED, ClaimBinding, ClaimKey, SELECTED_NODE, StorageObjects, VolumeSource};

/// Returns the stored claims, volumes and classes as the scheduler sees them.
pub fn storage_objects(ctx: &EngineContext<'_>) -> StorageObjects {
    let of_kind = |kind| ctx.store.others.objects_of_kind(kind).map(|(_, _, other)| &other.object);
    let (classes, volumes) = (of_kind(ObjectKind::StorageClass), of_kind(ObjectKind::PersistentVolume));
    StorageObjects {
        is_assumed: ctx.scenario.claim_controller == ClaimController::Assumed,
        ..StorageObjects::read(classes, volumes, of_kind(ObjectKind::PersistentVolumeClaim))
    }
}

/// Brings claims and volumes to the state that the controllers would reach after a change.
pub(super) fn settle_claims(ctx: &mut EngineContext<'_>) {
    if ctx.scenario.claim_controller != ClaimController::Simulated {
        return;
    }
    update_phases(ctx);
    let mut storage = storage_objects(ctx);
    while let Some(binding) = storage.next_binding() {
        bind_claim(ctx, &binding, &storage);
        storage.assume(&binding);
    }
}

/// Stores the node that the scheduler has chosen for a claim, and binds the claim.
pub fn bind_claim_on_node(ctx: &mut EngineContext<'_>, binding: &ClaimBinding, node: &str) {
    let storage = storage_objects(ctx);
    if matches!(binding.source, VolumeSource::Provisioned(_)) {
        edit(ctx, ObjectKind::PersistentVolumeClaim, &binding.claim, |claim| {
            annotate(claim, SELECTED_NODE, node);
        });
    }
    bind_claim(ctx, binding, &storage);
}

fn bind_claim(ctx: &mut EngineContext<'_>, binding: &ClaimBinding, storage: &StorageObjects) {
    let (namespace, name) = &binding.claim;
    let claims = &ctx.store.others;
    let Some(claim) = claims.get(ObjectKind::PersistentVolumeClaim, namespace, name) else { return };
    let volume = match &binding.source {
        VolumeSource::Existing(volume) => volume.clone(),
        VolumeSource::Provisioned(nodes) => {
            let object = provisioned_volume(binding, &claim.object, nodes, storage);
            let volume = text(&object["metadata"], "name").to_owned();
            let other = OtherObject { object, jobset: JobSetId::NONE };
            ctx.store.get_mut().others.insert(ObjectKind::PersistentVolume, "", &volume, other);
            volume
        }
    };
    let key = (String::new(), volume.clone());
    edit(ctx, ObjectKind::PersistentVolume, &key, |object| {
        let reference =
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name});
        object["spec"]["claimRef"] = reference;
        object["status"]["phase"] = "Bound".into();
    });
    let spec = ctx.store.others.get(ObjectKind::PersistentVolume, "", &volume).map(|v| v.object["spec"].clone());
    let spec = spec.unwrap_or_default();
    edit(ctx, ObjectKind::PersistentVolumeClaim, &binding.claim, |claim| {
        annotate(claim, BIND_COMPLETED, "yes");
        claim["spec"]["volumeName"] = volume.into();
        let (modes, capacity) = (&spec["accessModes"], &spec["capacity"]);
        claim["status"] = json!({"phase": "Bound", "accessModes": modes, "capacity": capacity});
    });
}

/// Returns the volume that a provisioner creates for a claim.
fn provisioned_volume(binding: &ClaimBinding, claim: &Value, nodes: &[NodeTerm], storage: &StorageObjects) -> Value {
    let (namespace, name) = &binding.claim;
    let class_name = storage.claims.get(&binding.claim).map_or("", |claim| claim.requested.class.as_str());
    let class = storage.classes.get(class_name);
    let volume = match text(&claim["metadata"], "uid") {
        "" => format!("pvc-{namespace}-{name}"),
        uid => format!("pvc-{uid}"),
    };
    let mut spec = json!({
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "accessModes": claim["spec"]["accessModes"],
        "volumeMode": claim["spec"]["volumeMode"],
        "storageClassName": class_name,
        "persistentVolumeReclaimPolicy": class.map_or("Delete", |class| &class.reclaim_policy),
        "csi": {"driver": class.map_or("", |class| &class.provisioner), "volumeHandle": volume},
    });
    if !nodes.is_empty() {
        let term = |term: &NodeTerm| {
            let label = term.expressions.iter().map(|r| json!({"key": r.key, "operator": "In", "values": r.values}));
            json!({"matchExpressions": label.collect::<Vec<Value>>()})
        };
        let terms: Vec<Value> = nodes.iter().map(term).collect();
        spec["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": terms}});
    }
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": spec, "status": {}})
}

/// Returns whether the volume is bound: the finalizer kubernetes.io/pv-protection, which every volume has, then keeps
/// it.
pub(super) fn is_protected_volume(ctx: &EngineContext<'_>, volume: &Value) -> bool {
    ctx.scenario.claim_controller == ClaimController::Simulated && text(&volume["status"], "phase") == "Bound"
}

/// Sets the phases of unbound volumes, of volumes whose claims are gone, and of claims whose volumes are gone.
fn update_phases(ctx: &mut EngineContext<'_>) {
    let storage = storage_objects(ctx);
    for (name, volume) in &storage.volumes {
        let Some(stored) = ctx.store.others.get(ObjectKind::PersistentVolume, "", name) else { continue };
        let (phase, spec) = (text(&stored.object["status"], "phase"), &stored.object["spec"]);
        let is_removed = volume.is_deleted || text(spec, "persistentVolumeReclaimPolicy") == "Delete";
        let has_claim = volume.claim.as_ref().is_some_and(|claim| storage.claims.contains_key(claim));
        let next = match phase {
            _ if has_claim => continue,
            "Pending" => "Available",
            "Bound" if is_removed => {
                ctx.store.get_mut().others.remove(ObjectKind::PersistentVolume, "", name);
                record_change(ctx, ChangeKind::Storage);
                continue;
            }
            "Bound" => "Released",
            _ => continue,
        };
        let key = (String::new(), name.clone());
        edit(ctx, ObjectKind::PersistentVolume, &key, |object| object["status"]["phase"] = next.into());
    }
    for (key, claim) in &storage.claims {
        if claim.is_bound && !claim.is_lost && !storage.volumes.contains_key(&claim.volume) {
            let lost = |object: &mut Value| object["status"]["phase"] = "Lost".into();
            edit(ctx, ObjectKind::PersistentVolumeClaim, key, lost);
        }
    }
}

/// Changes a stored claim or volume and notifies the scheduler.
fn edit(ctx: &mut EngineContext<'_>, kind: ObjectKind, key: &ClaimKey, change: impl FnOnce(&mut Value)) {
    let Some(other) = ctx.store.get_mut().others.get_mut(kind, &key.0, &key.1) else { return };
    change(&mut other.object);
    record_storage_change(ctx, kind, (&key.0, &key.1));
}

pub(super) fn record_storage_change(ctx: &mut EngineContext<'_>, kind: ObjectKind, (namespace, name): (&str, &str)) {
    let change = match kind {
        ObjectKind::PersistentVolumeClaim => {
            ChangeKind::Claim { namespace: ctx.intern(namespace), name: ctx.intern(name) }
        }
        _ => ChangeKind::Storage,
    };
    record_change(ctx, change);
}

fn annotate(object: &mut Value, key: &str, value: &str) {
    if !has_value(&object["metadata"], "annotations") {
        set_default(&mut object["metadata"], "annotations", json!({}));
    }
    object["metadata"]["annotations"][key] = value.into();
}
