//! When a JobSet is complete (SP-1, SP-2).
//!
//! Must never be asked while a current Job is failed (REC-10).

use super::JobSetView;
use super::buckets::{Bucket, in_bucket};
use sim_api::spec::Operator;

/// C-76: what the manager's recovered panic says when an update has removed the policy.
const NO_POLICY: &str =
    "panic: runtime error: invalid memory address or nil pointer dereference [recovered]";

/// SP-2. Asked only if some current Job is Complete: All over targets without replicas is then met (C-11).
pub fn met(view: &JobSetView<'_>) -> Result<bool, String> {
    let (matched, needed) = tally(view)?;
    Ok(matched >= needed)
}

/// Complete Jobs of the targets, and how many are needed.
pub(super) fn tally(view: &JobSetView<'_>) -> Result<(u64, u64), String> {
    let spec = &view.jobset.spec;
    let policy = spec.success_policy.as_ref().ok_or(NO_POLICY)?;
    let targeted = |rj: u32| {
        policy.target_replicated_jobs.is_empty()
            || spec
                .replicated_jobs
                .get(rj as usize)
                .is_some_and(|r| policy.target_replicated_jobs.contains(&r.name))
    };
    let needed: u64 = match policy.operator {
        Operator::Any => 1,
        Operator::All => (0..)
            .zip(&spec.replicated_jobs)
            .filter(|(rj, _)| targeted(*rj))
            .map(|(_, r)| u64::from(r.replicas))
            .sum(),
    };
    let matched = in_bucket(view, Bucket::Successful)
        .filter(|(_, job)| targeted(job.rj))
        .count() as u64;
    Ok((matched, needed))
}
