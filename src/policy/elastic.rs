//! Resizes running Jobs after a change of the template's size (ELA-2).
//!
//! Must never change a finished Job or one of an earlier attempt.

use super::job_buckets::{JobBucket, in_bucket};
use super::{ActionPlan, JobSetView};

/// Adds the Jobs to patch, in the order of the view.
pub fn scale(view: &JobSetView<'_>, plan: &mut ActionPlan) {
    if !view.gates.elastic_jobset {
        return;
    }
    let specs = &view.jobset.spec.replicated_jobs;
    for (at, job) in in_bucket(view, JobBucket::Active) {
        let Some(template) = specs.get(job.rj as usize).map(|r| &r.template) else {
            continue;
        };
        // If both are unset they also count as equal, but differ from the values that the API server defaults: a
        // patch in every pass (C-72).
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
