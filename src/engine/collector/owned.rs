//! Service and claims of a JobSet that is deleted: what it owns goes with it, one after the other (SVC-1, PVC-1).

use crate::base::*;
use crate::engine::apiserver;
use crate::engine::ctx::Ctx;
use crate::engine::event::Event;
use crate::engine::requests::{Answer, Req};
use crate::record::{About, Call};
use crate::spec::ObjectKind;

/// What is asked about objects of a kind.
const KINDS: [(ObjectKind, Call, Call); 2] = [
    (
        ObjectKind::Service,
        Call::CollectorServiceGet,
        Call::CollectorServiceDelete,
    ),
    (
        ObjectKind::PersistentVolumeClaim,
        Call::CollectorClaimGet,
        Call::CollectorClaimDelete,
    ),
];

/// The object and its owner are looked at, then it is deleted, as every dependent is.
pub(super) fn collect(ctx: &mut Ctx<'_>, jobset: JobSetId) {
    let about = About::JobSet(jobset);
    let nth = ctx.store.jobsets[jobset.ix()].resource_version;
    for (kind, get, delete) in KINDS {
        for lane in 0..owned(ctx, jobset, kind).len() as u32 {
            let mark = ctx.mark();
            for look in 0..2 {
                let answered = ctx.ask(mark, Req::new(get, about, nth).lane(2 * lane + look));
                ctx.answered_at(get, Answer::Success, answered.at);
            }
            let request = Req::new(delete, about, nth).lane(lane);
            ctx.request(
                request,
                Event::CollectorDeletesOwned {
                    jobset,
                    call: delete,
                },
            );
        }
    }
}

/// The first that is left.
pub(super) fn delete(ctx: &mut Ctx<'_>, jobset: JobSetId, call: Call) {
    let of_call = KINDS.iter().find(|(_, _, delete)| *delete == call);
    let kind = of_call.map(|(kind, _, _)| *kind);
    let first = kind.and_then(|kind| Some((kind, owned(ctx, jobset, kind).into_iter().next()?)));
    ctx.answered(call, Answer::found(first.is_some()));
    if let Some((kind, (namespace, name))) = first {
        apiserver::delete_other(ctx, kind, (&namespace, &name));
    }
}

/// Those that are not being deleted: namespace and name.
fn owned(ctx: &Ctx<'_>, jobset: JobSetId, kind: ObjectKind) -> Vec<(String, String)> {
    let all = ctx.store.others.of_kind(kind);
    let stays = |object: &serde_json::Value| object["metadata"]["deletionTimestamp"].is_null();
    all.filter(|(_, _, other)| other.jobset == jobset && stays(&other.object))
        .map(|(namespace, name, _)| (namespace.to_owned(), name.to_owned()))
        .collect()
}
