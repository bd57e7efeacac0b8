//! The success policy: when a JobSet is complete (SP-1, SP-2).
//!
//! Must never be evaluated while a Job of the current attempt has failed (REC-10).

use super::JobSetView;
use super::job_buckets::{JobBucket, in_bucket};
use super::reconcile_error::ReconcileError;
use sim_api::spec::ConditionOperator;

/// SP-2. Evaluated only if a Job of the current attempt is Complete: operator All with targets without replicas is
/// then met (C-11).
pub fn satisfied_message(view: &JobSetView<'_>) -> Result<bool, ReconcileError> {
    let (matched, needed) = tally(view)?;
    Ok(matched >= needed)
}

/// Number of complete Jobs among the targets, and the required number.
pub(super) fn tally(view: &JobSetView<'_>) -> Result<(u64, u64), ReconcileError> {
    let spec = &view.jobset.spec;
    let policy = spec.success_policy.as_ref();
    let policy = policy.ok_or(ReconcileError::NoSuccessPolicy)?;
    let targeted = |rj: u32| {
        policy.target_replicated_jobs.is_empty()
            || spec.replicated_jobs.get(rj as usize).is_some_and(|r| policy.target_replicated_jobs.contains(&r.name))
    };
    let needed: u64 = match policy.operator {
        ConditionOperator::Any => 1,
        ConditionOperator::All => {
            (0..).zip(&spec.replicated_jobs).filter(|(rj, _)| targeted(*rj)).map(|(_, r)| u64::from(r.replicas)).sum()
        }
    };
    let matched = in_bucket(view, JobBucket::Successful).filter(|(_, job)| targeted(job.rj)).count() as u64;
    Ok((matched, needed))
}
