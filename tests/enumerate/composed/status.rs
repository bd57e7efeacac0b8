//! The remaining steps of a sync (first status, finalizers, last status), and their invariants.
//!
//! Must never read the pods again: a sync uses what it read at its start.

use super::rules::Rules;
use super::track::settle;
use super::world::*;
use super::writes;

/// Skips steps without any work.
pub fn advance(rules: Rules<'_>, job: &mut Job) {
    let Some(mut sync) = job.desk.sync.take() else {
        return;
    };
    if sync.step == Step::FirstStatus && !sync.flush {
        sync.step = Step::Finalizers;
    }
    if sync.step == Step::Finalizers && sync.finalize == 0 {
        last_step(rules, &mut sync);
    }
    let idle = sync.step == Step::LastStatus && !sync.flush;
    job.desk.sync = (!idle).then_some(sync);
}

/// enactJobFinished: requires that no pod is uncounted and, since 1.31, that no pod is terminating.
fn last_step(rules: Rules<'_>, sync: &mut Sync) {
    sync.step = Step::LastStatus;
    let delays = rules.version.delays_terminal_condition();
    let may_end = sync.status.uncounted == 0 && (!delays || sync.status.terminating == 0);
    match sync.end.filter(|_| may_end) {
        Some((true, why)) => sync.status.failed_for = Some(why),
        Some((false, why)) => sync.status.complete_for = Some(why),
        None => return,
    }
    sync.flush = true;
}

/// Performs the next step of the current sync. Returns an error if an invariant is violated.
pub fn next_step(rules: Rules<'_>, job: &mut Job) -> Result<(), String> {
    let Some(mut sync) = job.desk.sync.take() else {
        return Ok(());
    };
    match sync.step {
        Step::FirstStatus | Step::LastStatus if sync.behind => {
            // HTTP 409: the sync ends, and its key is queued again.
            job.desk.queued = true;
            return Ok(());
        }
        Step::FirstStatus => {
            put_status(rules, job, &sync)?;
            job.desk.backoff = sync.backoff;
            (sync.flush, sync.step) = (false, Step::Finalizers);
        }
        Step::Finalizers => {
            finalizers(rules, job, &sync)?;
            let before = sync.status;
            settle(&mut sync.status, sync.tracked & !sync.finalize);
            sync.flush = sync.status != before;
            last_step(rules, &mut sync);
        }
        Step::LastStatus => {
            put_status(rules, job, &sync)?;
            return Ok(());
        }
    }
    job.desk.sync = Some(sync);
    advance(rules, job);
    Ok(())
}

fn put_status(rules: Rules<'_>, job: &mut Job, sync: &Sync) -> Result<(), String> {
    let (old, new) = (&job.object.status, &sync.status);
    writes::check_status_write(rules, job, new)?;
    let resumed = new.suspended == Some(false) && old.suspended == Some(true);
    job.overdue &= new.started && !resumed;
    job.object.status = *new;
    Ok(())
}

/// Removes finalizers (PATCH). A pod must be counted in the stored status before its finalizer is removed.
fn finalizers(rules: Rules<'_>, job: &mut Job, sync: &Sync) -> Result<(), String> {
    let stored = job.object.status;
    for p in job.pods.iter_mut().filter(|p| sync.finalize & 1 << p.uid != 0 && p.finalizer) {
        let counted = match p.phase {
            // A pod that a failing Job deleted may still succeed.
            Phase::Succeeded => stored.succeeded & 1 << p.index != 0 || sync.end.is_some(),
            _ => !rules.verdict(p).counts,
        };
        let counted = counted || stored.uncounted & 1 << p.uid != 0;
        let ends = job.object.deleting || sync.end.is_some_and(|(failed, _)| !failed);
        if !counted && !ends {
            return Err(format!("the finalizer of {p:?} is removed before the pod is counted: {stored:?}"));
        }
        p.finalizer = false;
    }
    job.desk.off |= sync.finalize;
    job.remove_terminated_pods();
    Ok(())
}
