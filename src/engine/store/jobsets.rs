//! JobSet objects as stored, with the counters of their pods for in-place restarts.

use super::pods::BAD_ATTEMPT;
use crate::record::ReplicatedJobStatus;
use sim_api::spec::JobSet;
use sim_base::random::StreamKey;
use sim_base::{JobId, SimTime};
use sim_kueue::workload::Workload;
use sim_policy::{InPlaceView, JobSetStatus};
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct JobSetRow {
    pub key: StreamKey,
    /// True once it was created, even if it was removed later.
    pub created: bool,
    /// The field `metadata.deletionTimestamp`.
    pub deletion: Option<SimTime>,
    /// Deleted with foreground propagation: its Jobs are removed first.
    pub foreground: bool,
    pub deleted: bool,
    pub spec: Arc<JobSet>,
    pub status: JobSetStatus,
    pub resource_version: u32,
    pub spec_version: u32,
    /// Kueue's Workload of the JobSet, and the number of its changes.
    pub workload: Option<Arc<Workload>>,
    pub workload_version: u32,
    /// Rows of its Jobs, with or without an object.
    pub jobs: Vec<JobId>,
    /// The newest Job per replicatedJob and index.
    pub(super) slots: Vec<Vec<JobId>>,
    pub(super) attempts: JobSetTallies,
    pub(super) restarts: JobSetTallies,
}

/// Number of pods per attempt number; few numbers are in use at the same time.
#[derive(Clone, Default)]
pub(super) struct JobSetTallies(Vec<(u32, u32)>);

impl JobSetTallies {
    fn add(&mut self, value: u32) {
        match self.0.iter_mut().find(|(v, _)| *v == value) {
            Some((_, n)) => *n += 1,
            None => self.0.push((value, 1)),
        }
    }

    fn remove(&mut self, value: u32) {
        let at = self.0.iter().position(|(v, _)| *v == value);
        let at = at.expect("only values that were added are removed");
        self.0[at].1 -= 1;
        if self.0[at].1 == 0 {
            self.0.swap_remove(at);
        }
    }

    fn values(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|(v, _)| *v)
    }
}

impl JobSetRow {
    pub fn exists(&self) -> bool {
        self.created && !self.deleted
    }

    pub fn is_deleting(&self) -> bool {
        self.deletion.is_some()
    }

    pub fn suspended(&self) -> bool {
        self.spec.spec.suspend
    }

    /// Updates the counters when the attempt of a pod that is not Failed changes; `old` is the previous one.
    pub(super) fn attempt_changed(&mut self, old: Option<u32>, new: Option<u32>) {
        if let Some(old) = old {
            self.attempts.remove(old);
        }
        if let Some(new) = new {
            self.attempts.add(new);
        }
    }

    pub(super) fn restarts_changed(&mut self, old: Option<u32>, new: Option<u32>) {
        if let Some(old) = old {
            self.restarts.remove(old);
        }
        if let Some(new) = new {
            self.restarts.add(new);
        }
    }

    pub fn in_place_view(&self) -> InPlaceView {
        let bad = self.attempts.values().any(|v| v == BAD_ATTEMPT);
        InPlaceView {
            max_container_restarts: self.restarts.values().max().unwrap_or(0),
            attempts: self.attempts.0.iter().map(|(_, n)| n).sum(),
            min_attempt: self.attempts.values().min().filter(|_| !bad),
            max_attempt: self.attempts.values().max().filter(|_| !bad),
        }
    }

    /// Status entries sorted by name, descending (ST-5).
    pub fn sorted_status(&self) -> Vec<ReplicatedJobStatus> {
        let rjs = self.spec.spec.replicated_jobs.iter();
        let displayed =
            self.status.replicated_jobs.iter().zip(rjs).filter(|(s, _)| !s.absent).map(|(s, rj)| ReplicatedJobStatus {
                name: rj.name.clone(),
                ready: s.ready,
                succeeded: s.succeeded,
                failed: s.failed,
                active: s.active,
                suspended: s.suspended,
                job_restarts: s.job_restarts.clone(),
                job_restarts_count_towards_max: s.job_restarts_count_towards_max.clone(),
            });
        let mut displayed: Vec<ReplicatedJobStatus> = displayed.collect();
        displayed.sort_by(|a, b| b.name.cmp(&a.name));
        displayed
    }
}
