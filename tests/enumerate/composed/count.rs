//! The counts that a sync of the Job controller makes at its start from its caches (kubernetes.md 1.3 step 3), and
//! the resulting `JobSyncView`.
//!
//! Must never decide anything: `policy` decides which limits are exceeded.

use super::rules::{Rules, message, now, time};
use super::world::*;
use sim_policy::JobSyncView;
use sim_policy::job::backoff::BackoffRecord;
use sim_policy::job::per_index;

#[derive(Default)]
pub struct Counted {
    pub active: Vec<Pod>,
    pub ready: u8,
    pub terminating: u8,
    pub terminating_indexes: Indexes,
    pub succeeded: Indexes,
    pub failed: u32,
    pub failed_indexes: Indexes,
    pub backoff: BackoffRecord,
    /// Result of getPodsWithDelayedDeletionPerIndex.
    pub delayed: Vec<Pod>,
    pub fail_job: Option<String>,
    /// Pods with a tracking finalizer in the cache, without those whose finalizer is known to be removed.
    pub tracked: Uids,
}

pub fn mask(of: impl Iterator<Item = u8>) -> u16 {
    of.fold(0, |all, bit| all | 1 << bit)
}

pub fn count(rules: Rules<'_>, object: &Object, pods: &[Pod], desk: &Desk) -> Counted {
    let status = &object.status;
    let tracked = pods.iter().filter(|p| p.finalizer && desk.off & 1 << p.uid == 0);
    let mut c = Counted {
        active: pods.iter().filter(|p| p.active()).copied().collect(),
        tracked: mask(tracked.clone().map(|p| p.uid)),
        succeeded: status.succeeded,
        failed: status.failures(),
        failed_indexes: status.failed_indexes,
        fail_job: rules.fail_job(pods),
        ..Counted::default()
    };
    c.ready = c.active.iter().filter(|p| p.phase == Phase::Ready).count() as u8;
    let terminating = pods.iter().filter(|p| p.deleting && !p.terminal());
    c.terminating = terminating.clone().count() as u8;
    c.terminating_indexes = mask(terminating.map(|p| p.index)) as u8;
    let good = pods.iter().filter(|p| p.finalizer && p.phase == Phase::Succeeded);
    c.succeeded |= mask(good.map(|p| p.index)) as u8;
    let new = |p: &&Pod| status.uncounted & 1 << p.uid == 0;
    let failed: Vec<&Pod> = tracked.clone().filter(|p| rules.failed(p)).filter(new).collect();
    c.failed += failed.iter().filter(|p| rules.verdict(p).counts).count() as u32;
    for p in pods.iter().filter(|p| p.finalizer && rules.failed(p)) {
        if per_index::index_fails(rules.spec, &rules.verdict(p), u32::from(p.failures.0)) {
            c.failed_indexes |= 1 << p.index;
        }
    }
    let succeeded = tracked.filter(|p| p.phase == Phase::Succeeded);
    let last_success = succeeded.map(|p| time(p.recent)).max();
    c.backoff = record(desk.backoff).after_sync(last_success, failed.iter().map(|p| time(p.recent)));
    if per_index::counts_per_index(rules.spec) {
        c.find_delayed(rules, pods);
    }
    c
}

fn record((failures, recent): Backoff) -> BackoffRecord {
    BackoffRecord { failures: u32::from(failures), last_failure: recent.map(time) }
}

impl Counted {
    /// Finds, for every index that is neither active nor decided, the failed pod with the most previous failures.
    fn find_delayed(&mut self, rules: Rules<'_>, pods: &[Pod]) {
        let busy = mask(self.active.iter().map(|p| p.index)) as u8;
        let decided = busy | self.succeeded | self.failed_indexes;
        let tracked = pods.iter().filter(|p| self.tracked & 1 << p.uid != 0);
        for p in tracked.filter(|p| rules.failed(p) && decided & 1 << p.index == 0) {
            let absolute = |p: &Pod| (p.failures.0 + p.failures.1, p.recent);
            match self.delayed.iter_mut().find(|d| d.index == p.index) {
                Some(d) if absolute(d) <= absolute(p) => *d = *p,
                Some(_) => {}
                None => self.delayed.push(*p),
            }
        }
    }

    /// Returns the indexes in `succeeded` in ascending order.
    pub fn succeeded_list(&self) -> Vec<u32> {
        (0..8).filter(|i| self.succeeded & 1 << i != 0).collect()
    }

    pub fn view<'a>(
        &'a self, rules: Rules<'a>, job: &Job, object: &'a Object, succeeded_indexes: &'a [u32],
    ) -> JobSyncView<'a> {
        let stored = |reason: Option<&'static str>| reason.map(|r| (r.into(), message(r)));
        let indexes = mask(self.active.iter().map(|p| p.index));
        JobSyncView {
            spec: rules.spec,
            version: rules.version,
            now: now(),
            deleting: object.deleting,
            suspended: object.suspended,
            start_time: object.status.started.then(|| time(!job.overdue)),
            failure_target: stored(object.status.failure_target),
            success_criteria_met: stored(object.status.success_criteria_met),
            active: self.active.len() as u32,
            misplaced: self.active.len() as u32 - indexes.count_ones(),
            terminating: u32::from(self.terminating),
            succeeded: self.succeeded.count_ones(),
            succeeded_indexes,
            failed: self.failed,
            container_restarts: self.active.iter().map(|p| u32::from(p.restarts)).sum(),
            failed_indexes: self.failed_indexes.count_ones(),
            failed_and_succeeded: (self.failed_indexes & self.succeeded).count_ones(),
            fail_job_message: self.fail_job.as_deref(),
            expectations_satisfied: !job.desk.expects,
            backoff: self.backoff,
        }
    }
}
