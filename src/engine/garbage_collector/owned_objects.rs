//! Service and claims of a deleted JobSet, which are deleted with it, one after another (SVC-1, PVC-1).

use super::GarbageCollector;
use crate::record::{Call, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::ObjectKind;
use sim_base::JobSetId;

/// The kinds of owned objects, with their GET and DELETE requests.
pub(super) const OWNED_KINDS: [(ObjectKind, Call, Call); 2] = [
    (ObjectKind::Service, Call::CollectorServiceGet, Call::CollectorServiceDelete),
    (ObjectKind::PersistentVolumeClaim, Call::CollectorClaimGet, Call::CollectorClaimDelete),
];

/// Returns true if an object was created for the JobSet after its deletion, by a request in flight.
pub(super) fn is_created_after_deletion(ctx: &EngineContext<'_>, jobset: JobSetId) -> bool {
    let owner = ctx.store.jobsets.get(jobset.ix());
    owner.is_some_and(|js| js.foreground || js.deleted)
}

impl GarbageCollector {
    pub(super) fn collect_owned(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        for (at, (kind, ..)) in OWNED_KINDS.iter().enumerate() {
            for _ in owned_objects(ctx, jobset, *kind) {
                self.collect_one(ctx, jobset, at);
            }
        }
    }

    pub(super) fn owned_created(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, kind: ObjectKind) {
        let at = OWNED_KINDS.iter().position(|(k, ..)| *k == kind);
        if let Some(at) = at.filter(|_| is_created_after_deletion(ctx, jobset)) {
            self.collect_one(ctx, jobset, at);
        }
    }

    /// Reads an object of `KINDS[at]` and its owner, then deletes it, like every dependent.
    fn collect_one(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, at: usize) {
        if self.owned_requests.len() <= jobset.ix() {
            self.owned_requests.resize(jobset.ix() + 1, Default::default());
        }
        let requested = &mut self.owned_requests[jobset.ix()][at];
        let substream = *requested;
        *requested += 1;
        let about = TicketSubject::JobSet(jobset);
        let nth = ctx.store.jobsets[jobset.ix()].resource_version;
        let (_, get, call) = OWNED_KINDS[at];
        let mark = ctx.mark();
        for look in 0..2 {
            let answered =
                ctx.request_at_mark(mark, RequestEntry::new(get, about, nth).with_substream(2 * substream + look));
            ctx.record_response_at(get, RequestAnswer::Success, answered.at);
        }
        let request = RequestEntry::new(call, about, nth).with_substream(substream);
        ctx.request(request, SimulationEvent::GarbageCollectorDeletedOwned { jobset, call });
    }
}

/// Deletes the first remaining object.
pub(super) fn delete_first(ctx: &mut EngineContext<'_>, jobset: JobSetId, call: Call) {
    let of_call = OWNED_KINDS.iter().find(|(_, _, delete)| *delete == call);
    let kind = of_call.map(|(kind, _, _)| *kind);
    let first = kind.and_then(|kind| Some((kind, owned_objects(ctx, jobset, kind).into_iter().next()?)));
    ctx.record_response(call, RequestAnswer::from_existence(first.is_some()));
    if let Some((kind, (namespace, name))) = first {
        apiserver::delete_other(ctx, kind, (&namespace, &name));
    }
}

/// Namespace and name of the objects that are not being deleted.
fn owned_objects(ctx: &EngineContext<'_>, jobset: JobSetId, kind: ObjectKind) -> Vec<(String, String)> {
    let all = ctx.store.others.objects_of_kind(kind);
    let stays = |object: &serde_json::Value| object["metadata"]["deletionTimestamp"].is_null();
    all.filter(|(_, _, other)| other.jobset == jobset && stays(&other.object))
        .map(|(namespace, name, _)| (namespace.to_owned(), name.to_owned()))
        .collect()
}
