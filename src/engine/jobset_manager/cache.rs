//! What the manager's informers show: a JobSet, and its Jobs in slot order.
//!
//! Must never be newer than the last watch event that arrived.

use crate::base::*;
use crate::policy::{self, JobSetStatus, JobView};
use crate::spec::{JOBSET_CONTROLLER, JobSet, RestartStrategy};
use crate::store::JobSetRow;
use std::sync::Arc;

#[derive(Default)]
pub struct CachedJobSet {
    pub exists: bool,
    pub deleting: bool,
    pub spec: Arc<JobSet>,
    pub spec_version: u32,
    pub status: JobSetStatus,
    pub resource_version: u32,
    /// The Service of its own.
    pub has_service: bool,
    /// REC-4: false if another controller manages it.
    pub managed: bool,
    /// Strategy InPlaceRestart, and its gate as the run began.
    pub in_place: bool,
    /// Pods that a pass in place lists (T-8).
    pub expected_pods: u64,
}

impl CachedJobSet {
    pub fn see(&mut self, stored: &JobSetRow, has_service: bool, gate: bool) {
        self.exists = stored.exists();
        self.deleting = stored.deleting;
        self.resource_version = stored.resource_version;
        self.spec_version = stored.spec_version;
        self.has_service = has_service;
        policy::buckets::copy_status(&mut self.status, &stored.status);
        if !Arc::ptr_eq(&self.spec, &stored.spec) {
            self.spec = stored.spec.clone();
            self.read_spec(gate);
        }
    }

    fn read_spec(&mut self, gate: bool) {
        let spec = &self.spec.spec;
        let manager = spec.managed_by.as_deref();
        self.managed = manager.is_none_or(|m| m == JOBSET_CONTROLLER);
        self.in_place = gate && spec.strategy() == RestartStrategy::InPlaceRestart;
        let pods = |r: &crate::spec::ReplicatedJob| {
            u64::from(r.replicas) * u64::from(r.template.parallelism())
        };
        self.expected_pods = spec.replicated_jobs.iter().map(pods).sum();
    }
}

/// The Jobs of a JobSet, in slot order; kept from event to event, so that a pass copies none of them.
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
