//! Requests about objects that are stored whole: Services, claims, volumes, PriorityClasses, Namespaces, Leases.

use super::note;
use crate::base::{calendar, *};
use crate::engine::ctx::Ctx;
use crate::spec::ObjectKind;
use crate::store::{Other, What};
use serde_json::Value;

/// POST; `false`: the name is taken.
pub fn create_other(
    ctx: &mut Ctx<'_>,
    kind: ObjectKind,
    (namespace, name): (&str, &str),
    object: Value,
    jobset: JobSetId,
) -> bool {
    let others = &mut ctx.store.write().others;
    if others.get(kind, namespace, name).is_some() {
        return false;
    }
    others.insert(kind, namespace, name, Other { object, jobset });
    told(ctx, kind, jobset, (namespace, name));
    true
}

pub fn change_other(
    ctx: &mut Ctx<'_>,
    kind: ObjectKind,
    (namespace, name): (&str, &str),
    object: Value,
) {
    let others = &mut ctx.store.write().others;
    let Some(other) = others.get_mut(kind, namespace, name) else {
        return;
    };
    other.object = object;
    let jobset = other.jobset;
    let goes = other.object["metadata"]["deletionTimestamp"].is_string() && !is_held(&other.object);
    told(ctx, kind, jobset, (namespace, name));
    if goes {
        delete_other(ctx, kind, (namespace, name));
    }
}

/// What a controller takes off by itself as soon as nothing uses the object; that takes no time here.
const PROTECTIONS: [&str; 2] = [
    "kubernetes.io/pvc-protection",
    "kubernetes.io/pv-protection",
];

/// Whether somebody's finalizers keep the object.
fn is_held(object: &Value) -> bool {
    let finalizers = object["metadata"]["finalizers"].as_array();
    let mut names = finalizers.into_iter().flatten().filter_map(Value::as_str);
    names.any(|name| !PROTECTIONS.contains(&name))
}

/// DELETE; the object stays, marked for deletion, while somebody's finalizers keep it.
pub fn delete_other(ctx: &mut Ctx<'_>, kind: ObjectKind, (namespace, name): (&str, &str)) -> bool {
    let now = calendar::text(ctx.now);
    let others = &mut ctx.store.write().others;
    if let Some(kept) = others.get_mut(kind, namespace, name)
        && is_held(&kept.object)
    {
        let metadata = &mut kept.object["metadata"];
        if metadata["deletionTimestamp"].is_null() {
            metadata["deletionTimestamp"] = now.into();
        }
        let jobset = kept.jobset;
        told(ctx, kind, jobset, (namespace, name));
        return true;
    }
    let Some(gone) = ctx.store.write().others.remove(kind, namespace, name) else {
        return false;
    };
    told(ctx, kind, gone.jobset, (namespace, name));
    true
}

fn told(ctx: &mut Ctx<'_>, kind: ObjectKind, jobset: JobSetId, _: (&str, &str)) {
    match kind {
        // SVC-1: the event of an owned Service queues a pass of its owner.
        ObjectKind::Service if jobset.is_some() => note(ctx, What::Service(jobset)),
        ObjectKind::PersistentVolumeClaim | ObjectKind::PersistentVolume => note(ctx, What::Claim),
        _ => {}
    }
}
