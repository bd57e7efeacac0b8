//! Changes the size of living Jobs when the template's has changed (ELA-2).
//!
//! Must never touch a finished Job or one of an earlier restart.

use super::buckets::{Bucket, in_bucket};
use super::{JobSetView, Plan};

/// Jobs to patch, in the order of the view.
pub fn scale(view: &JobSetView<'_>, plan: &mut Plan) {
    if !view.gates.elastic_jobset {
        return;
    }
    let specs = &view.jobset.spec.replicated_jobs;
    for (at, job) in in_bucket(view, Bucket::Active) {
        let Some(template) = specs.get(job.rj as usize).map(|r| &r.template) else {
            continue;
        };
        // Both unset are equal too, and never equal to what the API server filled in: a patch in every pass (C-72).
        let equal = template.parallelism == template.completions;
        let stored = (job.parallelism, job.completions);
        if equal && stored != (template.parallelism, template.completions) {
            plan.patch.push(at);
        }
    }
    if !plan.patch.is_empty() {
        plan.rules.push("ELA-2");
    }
}
