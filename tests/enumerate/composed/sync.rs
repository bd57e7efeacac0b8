//! A sync of the Job controller up to its first PUT: the real policy decides on the basis of the caches, and pods
//! are deleted or created accordingly.
//!
//! Must never repeat a decision of `policy`.

use super::count::{Counted, count, mask};
use super::rules::{Rules, now, time};
use super::track::track;
use super::world::*;
use sim_api::spec::PodReplacementPolicy;
use sim_base::Duration;
use sim_policy::job::backoff::until_index;
use sim_policy::{JobPlan, job};

/// Begins a sync and stores its remaining steps in `desk.sync`. Returns an error if an invariant is violated.
pub fn begin(rules: Rules<'_>, job: &mut Job) -> Result<(), String> {
    let object = job.desk.object.unwrap_or(job.object);
    job.desk.queued = false;
    if object.status.finished() {
        return Ok(());
    }
    let pods = job.desk.pods.clone().unwrap_or(job.pods.clone());
    let mut counted = count(rules, &object, &pods, &job.desk);
    let succeeded = counted.succeeded_list();
    let request = if rules.spec.success_policy.is_some() { &succeeded[..] } else { &[] };
    let plan = job::sync(&counted.view(rules, job, &object, request));
    job.desk.timer |= plan.requeue_after.is_some();
    delete(job, &mut counted, &plan)?;
    create(rules, job, &object, &mut counted, &plan)?;
    track(rules, job, &object, &pods, &counted, &plan);
    Ok(())
}

/// deleteActivePods and deleteJobPods. The pods may no longer exist although the cache shows them.
fn delete(job: &mut Job, counted: &mut Counted, plan: &JobPlan) -> Result<(), String> {
    let n = plan.delete_active as usize;
    if n > counted.active.len() {
        return Err(format!("deletes {n} of {} active pods", counted.active.len()));
    }
    // The least advanced pods are deleted first; among equals, the one with the highest index.
    counted.active.sort_by_key(|p| (p.phase, u8::MAX - p.index, u8::MAX - p.uid));
    // A deletion by the controller itself is not a failure. A deletion by a Job that ends is one, even if the pod
    // has succeeded in the meantime.
    let manages = !plan.ends_job() && !job.desk.expects;
    for victim in counted.active.drain(..n) {
        counted.ready -= u8::from(victim.phase == Phase::Ready);
        counted.terminating += 1;
        if plan.untracked {
            job.pod(victim.uid).into_iter().for_each(|p| p.finalizer = false);
        }
        if !manages {
            job.note_possible_failure(victim.uid);
        }
        job.delete_pod(victim.uid, false);
    }
    job.desk.expects |= plan.untracked && n > 0;
    Ok(())
}

/// Creates pods for the lowest missing indexes; with backoffLimitPerIndex, only for indexes whose back-off is over.
fn create(
    rules: Rules<'_>, job: &mut Job, object: &Object, counted: &mut Counted, plan: &JobPlan,
) -> Result<(), String> {
    let only_failed = rules.spec.pod_replacement_policy() == PodReplacementPolicy::Failed;
    let active = mask(counted.active.iter().map(|p| p.index)) as Indexes;
    let mut taken = counted.succeeded | counted.failed_indexes | active;
    taken |= if only_failed { counted.terminating_indexes } else { 0 };
    let missing = (0..rules.completions()).filter(|i| taken & 1 << i == 0);
    let missing: Vec<u8> = missing.take(plan.create as usize).collect();
    if plan.create > 0 && (missing.is_empty() || object.suspended || object.deleting) {
        return Err(format!("creates {} pods that are not needed", plan.create));
    }
    let replaced = |index: u8| counted.delayed.iter().find(|p| p.index == index).copied();
    let wait = |p: Option<Pod>| {
        let before = p.map(|p| (u32::from(p.failures.0 + p.failures.1) + 1, time(p.recent)));
        until_index(before, now())
    };
    let due = |index: &u8| wait(replaced(*index)) == Duration::ZERO;
    let now: Vec<u8> = missing.iter().copied().filter(due).collect();
    job.desk.timer |= now.is_empty() && !missing.is_empty();
    for index in now {
        let old = replaced(index);
        let failures = old.map_or((0, 0), |old| {
            if rules.verdict(&old).counts {
                (old.failures.0 + 1, old.failures.1)
            } else {
                (old.failures.0, old.failures.1 + 1)
            }
        });
        let pod = Pod {
            uid: job.free_uid(),
            index,
            phase: Phase::Waiting,
            deleting: false,
            finalizer: true,
            disrupted: false,
            exit_code: 0,
            recent: false,
            restarts: 0,
            failures,
        };
        job.pods.push(pod);
        counted.active.push(pod);
        job.desk.expects = true;
    }
    Ok(())
}
