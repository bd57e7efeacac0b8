//! Requests about objects that are stored whole: Services, claims, volumes, PriorityClasses, Namespaces, Leases.

use super::note;
use crate::base::*;
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
    told(ctx, kind, jobset, (namespace, name));
}

pub fn delete_other(ctx: &mut Ctx<'_>, kind: ObjectKind, (namespace, name): (&str, &str)) -> bool {
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
