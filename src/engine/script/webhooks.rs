//! Availability of JobSet's webhooks for a request, and their feature gates.

use super::request_error::ScriptRequestError;
use crate::ctx::EngineContext;
use sim_api::admission::AdmissionGates;

/// JobSet's webhooks for creation and for updates (config/components/webhook).
pub(super) const CREATE_WEBHOOK: &str = "mjobset.kb.io";

pub(super) const UPDATE_WEBHOOK: &str = "vjobset.kb.io";

/// failurePolicy: Fail, so that no JobSet can be created or changed while the manager is down.
pub(super) fn check_webhook_available(
    ctx: &EngineContext<'_>, webhook: &'static str,
) -> Result<(), ScriptRequestError> {
    if ctx.is_manager_up(ctx.now) { Ok(()) } else { Err(ScriptRequestError::WebhookUnavailable { webhook }) }
}

pub(super) fn admission_gates(ctx: &EngineContext<'_>) -> AdmissionGates {
    AdmissionGates {
        in_place_restart: ctx.gates.in_place_restart,
        restart_job: ctx.gates.restart_job,
        elastic_job_set: ctx.gates.elastic_jobset,
    }
}
