//! Passes the manager's decisions to a sink that requests them.
//!
//! Must never change anything: records are the same with and without it.

use super::JobSetManager;
use crate::ctx::Ctx;
use sim_base::*;
use sim_policy::decision::{Decided, PassLost};
use sim_policy::{JobSetView, Plan, trace};

/// The decision of a planned pass; `None` if there is nothing to report or the sink does not request it.
pub(super) fn traced(
    ctx: &Ctx<'_>,
    jobset: JobSetId,
    view: &JobSetView<'_>,
    plan: &Plan,
) -> Option<Decided> {
    if !ctx.wants_decisions() {
        return None;
    }
    let pass = trace::pass(view, plan, &full_name(ctx, jobset))?;
    Some(Decided::JobSet(Box::new(pass)))
}

fn full_name(ctx: &Ctx<'_>, jobset: JobSetId) -> String {
    let name = &ctx.store.names.jobsets[jobset.ix()];
    format!("{}/{}", name.namespace, name.name)
}

impl JobSetManager {
    /// A pass that ends without its planned final steps.
    pub(super) fn trace_pass_lost(
        &self,
        ctx: &mut Ctx<'_>,
        jobset: JobSetId,
        why: &str,
        rule: &'static str,
    ) {
        if ctx.wants_decisions() {
            let lost = PassLost {
                decision: 0,
                object: full_name(ctx, jobset),
                why: why.to_owned(),
                rule,
            };
            ctx.decision(Decided::JobSetPassLost(lost));
        }
    }
}
