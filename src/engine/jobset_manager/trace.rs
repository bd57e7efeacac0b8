//! Passes the manager's decisions to a sink that requests them.
//!
//! Must never change anything: records are the same with and without it.

use super::JobSetManager;
use crate::ctx::EngineContext;
use sim_base::JobSetId;
use sim_policy::decision::{PassLost, PolicyOutcome};
use sim_policy::{ActionPlan, JobSetView, trace};

/// The decision of a planned pass; `None` if there is nothing to report or the sink does not request it.
pub(super) fn pass_decision(
    ctx: &EngineContext<'_>, jobset: JobSetId, view: &JobSetView<'_>, plan: &ActionPlan,
) -> Option<PolicyOutcome> {
    if !ctx.receives_decisions() {
        return None;
    }
    let pass = trace::pass(view, plan, &full_name(ctx, jobset))?;
    Some(PolicyOutcome::JobSet(Box::new(pass)))
}

fn full_name(ctx: &EngineContext<'_>, jobset: JobSetId) -> String {
    let name = &ctx.store.names.jobsets[jobset.ix()];
    format!("{}/{}", name.namespace, name.name)
}

impl JobSetManager {
    /// A pass that ends without its planned final steps.
    pub(super) fn trace_failed_pass(
        &self, ctx: &mut EngineContext<'_>, jobset: JobSetId, why: &str, rule: &'static str,
    ) {
        if ctx.receives_decisions() {
            let lost = PassLost { decision: 0, object: full_name(ctx, jobset), why: why.to_owned(), rule };
            ctx.emit_decision(PolicyOutcome::JobSetPassLost(lost));
        }
    }
}
