//! JobSet objects: stored status, the manager's cached copy, and aggregates over pods kept incrementally.

use super::pods::BAD_ATTEMPT;
use crate::base::*;
use crate::policy::{InPlaceView, JobSetStatus, JobView};
use crate::record::{JobOutcome, ReplicatedJobStatus};
use crate::spec::JobSet;
use std::sync::Arc;

#[derive(Default)]
pub struct JobSetState {
    pub submitted: bool,
    pub deleting: bool,
    pub deleted: bool,
    pub suspended: bool,
    /// As stored; `suspended` says what its `suspend` says.
    pub spec: Arc<JobSet>,
    pub status: JobSetStatus,
    pub resource_version: u32,
    pub service_exists: bool,
    pub has_claims: bool,
    /// nth version of the spec.
    pub spec_version: u32,
    /// (version of the spec, replicatedJob) whose Jobs the API server accepts.
    pub good_templates: Vec<(u32, u32)>,
    /// What the manager's informer shows.
    pub cached: CachedJobSet,
    pub cached_jobs: CachedJobs,
    pub queued: bool,
    pub due: Time,
    /// A pod's change is on its way to the manager's cache; further ones arrive with it.
    pub pod_news: bool,
    pub errors: u32,
    /// Ready pods, and those that are no longer waited for because enough pods of their Job have succeeded.
    pub ready_pods: u32,
    pub pods_done: i64,
    pub all_ready: bool,
    pub ever_ready: bool,
    pub ready_accelerators: u64,
    pub ready_rate: u64,
    attempts: Tallies,
    restarts: Tallies,
    /// Every Job object that ever existed, in order of creation; the living ones are filled in at the end.
    pub history: Vec<JobOutcome>,
}

#[derive(Clone, Default)]
pub struct CachedJobSet {
    pub exists: bool,
    pub deleting: bool,
    pub suspended: bool,
    pub spec: Arc<JobSet>,
    pub status: JobSetStatus,
    pub resource_version: u32,
    pub service_exists: bool,
}

/// The Jobs of a JobSet in the manager's informer cache, in slot order; kept from event to event, so that a pass copies
/// none of them.
#[derive(Default)]
pub struct CachedJobs {
    pub views: Vec<JobView>,
    pub ids: Vec<JobId>,
}

impl CachedJobs {
    /// The Job of a slot as it is now; `None`: `job` is gone.
    pub fn see(&mut self, slot: (u32, u32), job: JobId, view: Option<JobView>) {
        let at = self.views.partition_point(|v| (v.rj, v.index) < slot);
        let known = self.views.get(at).is_some_and(|v| (v.rj, v.index) == slot);
        match view {
            Some(view) if known => (self.views[at], self.ids[at]) = (view, job),
            Some(view) => {
                self.views.insert(at, view);
                self.ids.insert(at, job);
            }
            // A later Job of the same name may be there already.
            None if known && self.ids[at] == job => {
                self.views.remove(at);
                self.ids.remove(at);
            }
            None => {}
        }
    }
}

/// How many pods have which small number; few numbers are in use at a time.
#[derive(Default)]
struct Tallies(Vec<(u32, u32)>);

impl Tallies {
    fn add(&mut self, value: u32) {
        match self.0.iter_mut().find(|(v, _)| *v == value) {
            Some((_, n)) => *n += 1,
            None => self.0.push((value, 1)),
        }
    }

    fn remove(&mut self, value: u32) {
        let at = self
            .0
            .iter()
            .position(|(v, _)| *v == value)
            .expect("removed a value that was never added");
        self.0[at].1 -= 1;
        if self.0[at].1 == 0 {
            self.0.swap_remove(at);
        }
    }
}

impl JobSetState {
    pub fn reset(&mut self) {
        *self = JobSetState {
            due: Time::NEVER,
            ..JobSetState::default()
        };
    }

    /// A pod that is not Failed carries an attempt; `old` is the one it carried before.
    pub fn attempt_changed(&mut self, old: Option<u32>, new: Option<u32>) {
        if let Some(old) = old {
            self.attempts.remove(old);
        }
        if let Some(new) = new {
            self.attempts.add(new);
        }
    }

    pub fn restarts_changed(&mut self, old: Option<u32>, new: Option<u32>) {
        if let Some(old) = old {
            self.restarts.remove(old);
        }
        if let Some(new) = new {
            self.restarts.add(new);
        }
    }

    pub fn in_place_view(&self) -> InPlaceView {
        let bad = self.attempts.0.iter().any(|(v, _)| *v == BAD_ATTEMPT);
        InPlaceView {
            max_container_restarts: self.restarts.0.iter().map(|(v, _)| *v).max().unwrap_or(0),
            attempts: self.attempts.0.iter().map(|(_, n)| n).sum(),
            min_attempt: self
                .attempts
                .0
                .iter()
                .map(|(v, _)| *v)
                .min()
                .filter(|_| !bad),
            max_attempt: self
                .attempts
                .0
                .iter()
                .map(|(v, _)| *v)
                .max()
                .filter(|_| !bad),
        }
    }

    /// ST-5: by name, descending.
    pub fn shown_status(&self, names: &[&str]) -> Vec<ReplicatedJobStatus> {
        let mut shown: Vec<ReplicatedJobStatus> = self
            .status
            .replicated_jobs
            .iter()
            .zip(names)
            .map(|(s, name)| ReplicatedJobStatus {
                name: (*name).to_owned(),
                ready: s.ready,
                succeeded: s.succeeded,
                failed: s.failed,
                active: s.active,
                suspended: s.suspended,
                job_restarts: s.job_restarts.clone(),
                job_restarts_count_towards_max: s.job_restarts_count_towards_max.clone(),
            })
            .collect();
        shown.sort_by(|a, b| b.name.cmp(&a.name));
        shown
    }
}
