//! The states of the composed enumeration: one JobSet, its stored Jobs, their pods, and the caches of both
//! controllers. Objects have no names, and times are only recent or long ago.
//!
//! Must never know an order of events; `events.rs` lists the possible ones.

pub use super::objects::*;
use crate::world::{Js, hash_js};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Job {
    pub attempt: u32,
    pub own: u32,
    pub object: Object,
    pub pods: Vec<Pod>,
    pub desk: Desk,
    /// Whether activeDeadlineSeconds is exceeded.
    pub overdue: bool,
    /// Tracked pods that failed or were deleted before they terminated: their number, and those that still exist.
    pub lost: (u8, Uids),
}

impl Job {
    pub fn new(attempt: u32, own: u32, suspended: bool) -> Job {
        Job {
            attempt,
            own,
            object: Object { suspended, ..Object::default() },
            pods: Vec::new(),
            desk: Desk::default(),
            overdue: false,
            lost: (0, 0),
        }
    }

    pub fn pod(&mut self, uid: u8) -> Option<&mut Pod> {
        self.pods.iter_mut().find(|p| p.uid == uid)
    }

    pub fn finished(&self) -> bool {
        self.object.status.finished()
    }

    /// Returns the objects that the Job controller's caches show.
    pub fn cached(&self) -> (&Object, &[Pod]) {
        let object = self.desk.object.as_ref().unwrap_or(&self.object);
        (object, self.desk.pods.as_deref().unwrap_or(&self.pods))
    }

    /// Returns an unused UID for a new pod.
    pub fn free_uid(&self) -> u8 {
        let desk = &self.desk;
        let mut used = self.object.status.uncounted | desk.off;
        used |= desk.object.map_or(0, |o| o.status.uncounted);
        used |= desk.sync.map_or(0, |s| s.status.uncounted | s.finalize | s.tracked);
        let known = self.pods.iter().chain(desk.pods.iter().flatten());
        known.for_each(|p| used |= 1 << p.uid);
        used.trailing_ones() as u8
    }

    /// Notes that a pod may count as a failure from here on.
    pub fn note_possible_failure(&mut self, uid: u8) {
        let tracked = self.pod(uid).is_some_and(|p| p.finalizer);
        if tracked && self.lost.1 & 1 << uid == 0 {
            self.lost = (self.lost.0 + 1, self.lost.1 | 1 << uid);
        }
    }

    /// Deletes a pod, at the request of any component.
    pub fn delete_pod(&mut self, uid: u8, recent: bool) {
        let Some(pod) = self.pod(uid) else { return };
        pod.recent |= recent && pod.active();
        pod.deleting = true;
        self.remove_terminated_pods();
    }

    /// Removes pods that are being deleted, have terminated and have no finalizer.
    pub fn remove_terminated_pods(&mut self) {
        self.pods.retain(|p| !p.deleting || !p.terminal() || p.finalizer);
        self.lost.1 &= self.pods.iter().fold(0, |all, p| all | 1 << p.uid);
    }
}

/// A Job as the JobSet controller's cache shows it.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Seen {
    pub attempt: u32,
    pub own: u32,
    pub deleting: bool,
    pub suspended: bool,
    pub active: u8,
    pub ready: u8,
    pub succeeded: u8,
    /// The end of the Job: failed (`true`) or complete, with the reason.
    pub end: Option<(bool, &'static str)>,
    /// Whether the Job was written after this version was cached.
    pub behind: bool,
}

impl Seen {
    pub fn from_job(job: &Job) -> Seen {
        let s = &job.object.status;
        let failed = s.failed_for.map(|why| (true, why));
        Seen {
            attempt: job.attempt,
            own: job.own,
            deleting: job.object.deleting,
            suspended: job.object.suspended,
            active: s.active,
            ready: s.ready,
            succeeded: s.succeeded.count_ones() as u8,
            end: s.complete_for.map(|why| (false, why)).or(failed),
            behind: false,
        }
    }
}

/// A state. Jobs have one slot per (replicatedJob, index), in the order of the spec.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub js: Rc<Js>,
    pub jobs: Vec<Option<Job>>,
    /// Cached JobSet, if it is out of date. `seen_jobs` are the cached Jobs, if they are out of date.
    pub seen_js: Option<Rc<Js>>,
    pub seen_jobs: Option<Vec<Option<Seen>>>,
    /// Remaining faults. `switches` is the remaining number of changes of `suspend`.
    pub troubles: u8,
    pub switches: u8,
}

impl State {
    /// Returns a hash of the state. Fields that every pass recomputes are excluded, unless caches may lag behind.
    pub fn key(&self, lags: bool) -> u64 {
        let mut h = DefaultHasher::new();
        hash_js(&self.js, &mut h, !lags);
        self.seen_js.is_some().hash(&mut h);
        self.seen_js.iter().for_each(|js| hash_js(js, &mut h, !lags));
        (&self.jobs, &self.seen_jobs).hash(&mut h);
        (self.troubles, self.switches).hash(&mut h);
        h.finish()
    }

    pub fn jobs_now(&self) -> Vec<Option<Seen>> {
        let jobs = self.jobs.iter();
        jobs.map(|j| j.as_ref().map(Seen::from_job)).collect()
    }
}
