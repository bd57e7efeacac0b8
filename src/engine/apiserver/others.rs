//! Requests about objects that are stored whole: Services, claims, volumes, PriorityClasses, Namespaces, Leases.

use super::jobs::refresh_priorities;
use super::volumes::{is_protected_volume, record_storage_change, settle_claims};
use super::{pod_admission, record_change};
use crate::ctx::EngineContext;
use crate::store::{ChangeKind, OtherObject};
use serde_json::{Value, json};
use sim_api::spec::ObjectKind;
use sim_base::{JobSetId, PodId, calendar};

/// POST. Returns false if the name is taken.
pub fn create_other(
    ctx: &mut EngineContext<'_>, kind: ObjectKind, (namespace, name): (&str, &str), mut object: Value, jobset: JobSetId,
) -> bool {
    if ctx.store.others.get(kind, namespace, name).is_some() {
        return false;
    }
    if kind == ObjectKind::PodGroup {
        pod_admission::set_group_priority(ctx, &mut object);
    }
    ctx.store.get_mut().others.insert(kind, namespace, name, OtherObject { object, jobset });
    record_object_change(ctx, kind, jobset, (namespace, name));
    if jobset.is_some() {
        record_change(ctx, ChangeKind::OwnedCreated(jobset, kind));
    }
    true
}

pub fn change_other(ctx: &mut EngineContext<'_>, kind: ObjectKind, (namespace, name): (&str, &str), object: Value) {
    let others = &mut ctx.store.get_mut().others;
    let Some(other) = others.get_mut(kind, namespace, name) else {
        return;
    };
    other.object = object;
    let jobset = other.jobset;
    let deleting = other.object["metadata"]["deletionTimestamp"].is_string();
    let is_removed = deleting && !is_held(ctx, kind, (namespace, name));
    record_object_change(ctx, kind, jobset, (namespace, name));
    if is_removed {
        delete_other(ctx, kind, (namespace, name));
    }
}

/// Finalizer that controllers remove as soon as the object is unused; this takes no time in the model.
const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";

/// Returns true if finalizers hold the object; the finalizer of claims does so while a pod uses them.
fn is_held(ctx: &EngineContext<'_>, kind: ObjectKind, (namespace, name): (&str, &str)) -> bool {
    let Some(other) = ctx.store.others.get(kind, namespace, name) else {
        return false;
    };
    if kind == ObjectKind::PersistentVolume && is_protected_volume(ctx, &other.object) {
        return true;
    }
    let finalizers = other.object["metadata"]["finalizers"].as_array();
    let mut names = finalizers.into_iter().flatten().filter_map(Value::as_str);
    names.any(|finalizer| match finalizer {
        CLAIM_PROTECTION => ctx.store.claim_is_used(namespace, name),
        VOLUME_PROTECTION => false,
        _ => true,
    })
}

/// A pod was removed: claims under deletion that it used may be removed.
pub fn release_claims(ctx: &mut EngineContext<'_>, pod: PodId) {
    let namespace = ctx.store.names.namespace_of(ctx.store.pods.job[pod.ix()]);
    let claims = ctx.store.pod_spec(pod).claims.iter();
    let deleting = |name: &&String| ctx.store.others.is_deleting_claim(namespace, name);
    let deleting: Vec<String> = claims.filter(deleting).cloned().collect();
    if deleting.is_empty() {
        return;
    }
    let namespace = namespace.to_owned();
    for name in deleting {
        let at = (namespace.as_str(), name.as_str());
        if !is_held(ctx, ObjectKind::PersistentVolumeClaim, at) {
            delete_other(ctx, ObjectKind::PersistentVolumeClaim, at);
        }
    }
}

/// DELETE: an object with finalizers is only marked for deletion.
pub fn delete_other(ctx: &mut EngineContext<'_>, kind: ObjectKind, (namespace, name): (&str, &str)) -> bool {
    let now = calendar::format_time(ctx.now);
    let held = is_held(ctx, kind, (namespace, name));
    let others = &mut ctx.store.get_mut().others;
    if let Some(kept) = others.get_mut(kind, namespace, name).filter(|_| held) {
        let metadata = &mut kept.object["metadata"];
        if metadata["deletionTimestamp"].is_null() {
            metadata["deletionTimestamp"] = now.into();
        }
        let jobset = kept.jobset;
        record_object_change(ctx, kind, jobset, (namespace, name));
        return true;
    }
    let Some(gone) = ctx.store.get_mut().others.remove(kind, namespace, name) else {
        return false;
    };
    if kind == ObjectKind::PriorityClass {
        ctx.store.get_mut().templates.recheck_all();
    }
    record_object_change(ctx, kind, gone.jobset, (namespace, name));
    if gone.jobset.is_some() {
        record_change(ctx, ChangeKind::OwnedGone(gone.jobset));
    }
    true
}

fn record_object_change(ctx: &mut EngineContext<'_>, kind: ObjectKind, jobset: JobSetId, at: (&str, &str)) {
    match kind {
        // SVC-1: a watch event of an owned Service queues a reconcile of its owner.
        ObjectKind::Service if jobset.is_some() => record_change(ctx, ChangeKind::Service(jobset)),
        ObjectKind::PersistentVolumeClaim | ObjectKind::PersistentVolume | ObjectKind::StorageClass => {
            record_storage_change(ctx, kind, at);
            settle_claims(ctx);
        }
        ObjectKind::PodGroup => record_change(ctx, ChangeKind::PodGroup),
        ObjectKind::Namespace => record_change(ctx, ChangeKind::Namespace),
        ObjectKind::PriorityClass => refresh_priorities(ctx),
        _ => {}
    }
}

/// Writes the condition PodGroupScheduled of a PodGroup. A group that was scheduled stays so. Returns whether the
/// condition has changed.
pub fn set_pod_group_scheduled(
    ctx: &mut EngineContext<'_>, (namespace, name): (&str, &str), scheduled: bool, message: &str,
) -> bool {
    let known = ctx.store.others.get(ObjectKind::PodGroup, namespace, name);
    let Some(before) = known.map(|group| group.object["status"]["conditions"][0].clone()) else { return false };
    let (status, reason) = if scheduled { ("True", "Scheduled") } else { ("False", "Unschedulable") };
    let stays = before["status"] == "True" && !scheduled;
    if stays || (before["status"] == status && before["message"] == message) {
        return false;
    }
    let now = json!(calendar::format_time(ctx.now));
    let since = if before["status"] == status { before["lastTransitionTime"].clone() } else { now };
    let condition = json!({
        "type": "PodGroupScheduled",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    });
    if let Some(group) = ctx.store.get_mut().others.get_mut(ObjectKind::PodGroup, namespace, name) {
        group.object["status"]["conditions"] = json!([condition]);
    }
    true
}
