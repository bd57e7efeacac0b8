//! Availability of JobSet's webhooks for a request and their feature gates, and Kueue's webhooks for JobSets.

use super::request_error::ScriptRequestError;
use crate::ctx::EngineContext;
use sim_api::admission::{AdmissionGates, AdmissionRejection};
use sim_api::spec::JobSet;
use sim_base::JobSetId;
use sim_kueue::workload::webhook::{refusal, set_defaults, update_refusal};
use std::sync::Arc;

/// JobSet's webhooks for creation and for updates (config/components/webhook).
pub(super) const CREATE_WEBHOOK: &str = "mjobset.kb.io";

pub(super) const UPDATE_WEBHOOK: &str = "vjobset.kb.io";

/// failurePolicy: Fail, so that no JobSet can be created or changed while the manager is down.
pub(super) fn check_webhook_available(
    ctx: &EngineContext<'_>, webhook: &'static str,
) -> Result<(), ScriptRequestError> {
    if ctx.is_manager_up(ctx.now) { Ok(()) } else { Err(ScriptRequestError::WebhookUnavailable { webhook }) }
}

/// Returns the refusal of Kueue's webhook for a change of a JobSet.
pub(super) fn kueue_update_refusal(
    ctx: &EngineContext<'_>, jobset: JobSetId, new: &JobSet,
) -> Option<AdmissionRejection> {
    let objects = ctx.scenario.kueue.as_ref()?;
    update_refusal(&ctx.store.jobsets[jobset.ix()].spec, new, objects)
}

/// Applies Kueue's webhooks to a new JobSet.
pub(super) fn admit_to_kueue(
    ctx: &EngineContext<'_>, mut jobset: Arc<JobSet>,
) -> Result<Arc<JobSet>, AdmissionRejection> {
    let Some(objects) = &ctx.scenario.kueue else { return Ok(jobset) };
    set_defaults(Arc::make_mut(&mut jobset), objects);
    match refusal(&jobset, objects) {
        Some(refusal) => Err(refusal),
        None => Ok(jobset),
    }
}

pub(super) fn admission_gates(ctx: &EngineContext<'_>) -> AdmissionGates {
    AdmissionGates {
        in_place_restart: ctx.gates.in_place_restart,
        restart_job: ctx.gates.restart_job,
        elastic_job_set: ctx.gates.elastic_jobset,
    }
}
