//! The manager's informer cache: a JobSet, and its Jobs in slot order.
//!
//! Must never be newer than the last delivered watch event.

use crate::store::JobSetRow;
use sim_api::spec::{FeatureGates, JOBSET_CONTROLLER, JobSet, RestartStrategy};
use sim_base::JobId;
use sim_policy::job_buckets::tally::BucketTally;
use sim_policy::view::PlanBasis;
use sim_policy::{JobSetStatus, JobView};
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct CachedJobSet {
    pub exists: bool,
    pub deleting: bool,
    pub spec: Arc<JobSet>,
    pub spec_version: u32,
    pub status: JobSetStatus,
    pub resource_version: u32,
    /// True if the JobSet's own Service exists.
    pub has_service: bool,
    /// REC-4: false if another controller manages the JobSet.
    pub managed: bool,
    /// True for the strategy InPlaceRestart with its feature gate enabled at the start of the run.
    pub in_place: bool,
    /// Number of pods that an in-place pass lists (T-8).
    pub expected_pods: u64,
}

impl CachedJobSet {
    /// Updates the JobSet. Returns true if its Jobs may now belong to other buckets.
    pub fn update(&mut self, stored: &JobSetRow, has_service: bool, gate: bool) -> bool {
        let (old, new) = (&self.status, &stored.status);
        let rjs = old.replicated_jobs.iter().zip(&new.replicated_jobs);
        let recount = old.restarts != new.restarts
            || old.replicated_jobs.len() != new.replicated_jobs.len()
            || !rjs.into_iter().all(|(a, b)| a.counts_like(b))
            || !Arc::ptr_eq(&self.spec, &stored.spec);
        self.exists = stored.exists();
        self.deleting = stored.is_deleting();
        self.resource_version = stored.resource_version;
        self.spec_version = stored.spec_version;
        self.has_service = has_service;
        sim_policy::job_buckets::copy_status(&mut self.status, &stored.status);
        if !Arc::ptr_eq(&self.spec, &stored.spec) {
            self.spec = stored.spec.clone();
            self.read_spec(gate);
        }
        recount
    }

    fn plan_basis(&self, gates: FeatureGates) -> PlanBasis<'_> {
        PlanBasis { jobset: &self.spec, status: &self.status, gates }
    }

    fn read_spec(&mut self, gate: bool) {
        let spec = &self.spec.spec;
        let manager = spec.managed_by.as_deref();
        self.managed = manager.is_none_or(|m| m == JOBSET_CONTROLLER);
        self.in_place = gate && spec.strategy() == RestartStrategy::InPlaceRestart;
        let pods = |r: &sim_api::spec::ReplicatedJob| u64::from(r.replicas) * u64::from(r.template.parallelism());
        self.expected_pods = spec.replicated_jobs.iter().map(pods).sum();
    }
}

/// The Jobs of a JobSet in slot order; updated by events, so that a pass does not copy them.
#[derive(Clone, Default)]
pub struct CachedJobs {
    pub views: Vec<JobView>,
    pub ids: Vec<JobId>,
    /// Counts of the Jobs, updated by events, and the feature gates they were made with; `None` if they have to be
    /// recomputed.
    tally: Option<(BucketTally, FeatureGates)>,
}

impl CachedJobs {
    /// Updates the Job of a slot; `None` if `job` was removed.
    pub fn update(&mut self, jobset: &CachedJobSet, slot: (u32, u32), job: JobId, view: Option<JobView>) {
        let at = self.views.partition_point(|v| (v.rj, v.index) < slot);
        let known = self.views.get(at).is_some_and(|v| (v.rj, v.index) == slot);
        // A later Job with the same name may already exist.
        if view.is_none() && !(known && self.ids[at] == job) {
            return;
        }
        if let Some((tally, gates)) = &mut self.tally {
            let basis = jobset.plan_basis(*gates);
            if known {
                tally.remove(&basis, &self.views[at]);
            }
            view.iter().for_each(|view| tally.add(&basis, view));
        }
        match view {
            Some(view) if known => (self.views[at], self.ids[at]) = (view, job),
            Some(view) => {
                self.views.insert(at, view);
                self.ids.insert(at, job);
            }
            None => {
                self.views.remove(at);
                self.ids.remove(at);
            }
        }
    }

    pub fn recount(&mut self) {
        self.tally = None;
    }

    /// Makes sure that the Jobs are counted with these feature gates.
    pub fn count(&mut self, jobset: &CachedJobSet, gates: FeatureGates) {
        if self.tally.as_ref().is_none_or(|(_, by)| *by != gates) {
            self.tally = Some((BucketTally::new(&jobset.plan_basis(gates), &self.views), gates));
        }
    }

    /// The counts; requires a preceding `count`.
    pub fn tally(&self) -> &BucketTally {
        let (tally, _) = self.tally.as_ref().expect("they are counted");
        tally
    }

    /// Panics if the incremental counts differ from a recount (`--paranoid`).
    pub fn check(&self, jobset: &CachedJobSet) {
        if let Some((tally, gates)) = &self.tally {
            let counted = BucketTally::new(&jobset.plan_basis(*gates), &self.views);
            assert_eq!(*tally, counted, "Jobs of JobSet {}", jobset.spec.name);
        }
    }
}
