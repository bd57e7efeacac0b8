//! Service and claims of a deleted JobSet, which are deleted with it, one after another (SVC-1, PVC-1).

use super::Collector;
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Call};
use crate::requests::{Answer, Req};
use sim_api::spec::ObjectKind;
use sim_base::*;

/// The kinds of owned objects, with their GET and DELETE requests.
pub(super) const KINDS: [(ObjectKind, Call, Call); 2] = [
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

/// Returns true if an object was created for the JobSet after its deletion, by a request in flight.
pub(super) fn is_late(ctx: &Ctx<'_>, jobset: JobSetId) -> bool {
    let owner = ctx.store.jobsets.get(jobset.ix());
    owner.is_some_and(|js| js.foreground || js.deleted)
}

impl Collector {
    pub(super) fn collect_owned(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId) {
        for (at, (kind, ..)) in KINDS.iter().enumerate() {
            for _ in owned(ctx, jobset, *kind) {
                self.collect_one(ctx, jobset, at);
            }
        }
    }

    pub(super) fn owned_created(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId, kind: ObjectKind) {
        let at = KINDS.iter().position(|(k, ..)| *k == kind);
        if let Some(at) = at.filter(|_| is_late(ctx, jobset)) {
            self.collect_one(ctx, jobset, at);
        }
    }

    /// Reads an object of `KINDS[at]` and its owner, then deletes it, like every dependent.
    fn collect_one(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId, at: usize) {
        if self.owned.len() <= jobset.ix() {
            self.owned.resize(jobset.ix() + 1, Default::default());
        }
        let asked = &mut self.owned[jobset.ix()][at];
        let lane = *asked;
        *asked += 1;
        let about = About::JobSet(jobset);
        let nth = ctx.store.jobsets[jobset.ix()].resource_version;
        let (_, get, call) = KINDS[at];
        let mark = ctx.mark();
        for look in 0..2 {
            let answered = ctx.ask(mark, Req::new(get, about, nth).lane(2 * lane + look));
            ctx.answered_at(get, Answer::Success, answered.at);
        }
        let request = Req::new(call, about, nth).lane(lane);
        ctx.request(request, Event::CollectorDeletesOwned { jobset, call });
    }
}

/// Deletes the first remaining object.
pub(super) fn delete(ctx: &mut Ctx<'_>, jobset: JobSetId, call: Call) {
    let of_call = KINDS.iter().find(|(_, _, delete)| *delete == call);
    let kind = of_call.map(|(kind, _, _)| *kind);
    let first = kind.and_then(|kind| Some((kind, owned(ctx, jobset, kind).into_iter().next()?)));
    ctx.answered(call, Answer::found(first.is_some()));
    if let Some((kind, (namespace, name))) = first {
        apiserver::delete_other(ctx, kind, (&namespace, &name));
    }
}

/// Namespace and name of the objects that are not being deleted.
fn owned(ctx: &Ctx<'_>, jobset: JobSetId, kind: ObjectKind) -> Vec<(String, String)> {
    let all = ctx.store.others.of_kind(kind);
    let stays = |object: &serde_json::Value| object["metadata"]["deletionTimestamp"].is_null();
    all.filter(|(_, _, other)| other.jobset == jobset && stays(&other.object))
        .map(|(namespace, name, _)| (namespace.to_owned(), name.to_owned()))
        .collect()
}
