//! Availability of JobSet's webhooks for a request, and their feature gates.

use crate::ctx::Ctx;
use sim_api::admission::Gates;

/// JobSet's webhooks for creation and for updates (config/components/webhook).
pub(super) const CREATES: &str = "mjobset.kb.io";

pub(super) const UPDATES: &str = "vjobset.kb.io";

/// failurePolicy: Fail, so that no JobSet can be created or changed while the manager is down.
pub(super) fn webhook_answers(ctx: &Ctx<'_>, webhook: &str) -> Result<(), String> {
    match ctx.manager_answers(ctx.now) {
        true => Ok(()),
        false => Err(format!(
            "Internal error occurred: failed calling webhook \"{webhook}\""
        )),
    }
}

pub(super) fn admission_gates(ctx: &Ctx<'_>) -> Gates {
    Gates {
        in_place_restart: ctx.gates.in_place_restart,
        restart_job: ctx.gates.restart_job,
        elastic_job_set: ctx.gates.elastic_jobset,
    }
}
