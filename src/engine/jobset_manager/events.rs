//! Kubernetes Events that the manager emits about a JobSet.

use super::JobSetManager;
use crate::record::{Call, ObjectRef};
use crate::{ctx::EngineContext, requests::RequestAnswer};
use sim_base::JobSetId;
use sim_policy::KubeEvent;

/// Maximum length of an `events.k8s.io/v1` note, in characters (recordings/admission, CRE-4).
const EVENT_NOTE_MAX: usize = 1024;

pub(super) fn emit_event(ctx: &mut EngineContext<'_>, jobset: JobSetId, event: &KubeEvent) {
    ctx.record_response(Call::JobSetEventCreate, RequestAnswer::Success);
    let object = ObjectRef::JobSet(jobset);
    ctx.emit_kube_event(object, event.warning, &event.reason, &event.message);
}

impl JobSetManager {
    /// Emits the Event for a failed creation immediately, independent of the rest of the pass.
    pub(super) fn report_failure(&mut self, ctx: &mut EngineContext<'_>, reason: &str, message: String) {
        let Some(jobset) = self.pass.jobset else { return };
        self.row(jobset).failure = format!("{reason}: {}", message.lines().next().unwrap_or(""));
        // The server rejects Events with a longer note.
        if message.len() <= EVENT_NOTE_MAX {
            let event = KubeEvent { warning: true, reason: reason.to_owned(), message };
            emit_event(ctx, jobset, &event);
        }
    }
}
