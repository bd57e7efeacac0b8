//! What the runner records: the usage in the statuses of ClusterQueues, and the times of Workloads.

use super::objects::GeneratedQueue;
use sim_api::spec::kueue::{KueueObjects, LoadTemplate};
use sim_base::SimTime;
use sim_kueue::workload::{ConditionType, Workload, WorkloadKey};

/// Unit of the recorder's times.
const MILLISECOND: u64 = 1_000_000;
/// Unit of times in objects.
const SECOND: u64 = 1_000_000_000;

/// What the status of a ClusterQueue says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    pub pending: usize,
    pub reserving: usize,
    pub admitted: usize,
    /// Usage of admitted Workloads in thousandths of a CPU.
    pub used: i64,
    pub is_active: bool,
}

#[derive(Clone)]
pub struct RecordedQueue {
    pub class: String,
    pub nominal: i64,
    pub first: SimTime,
    pub last: SimTime,
    pub status: QueueStatus,
    /// Thousandths of a CPU times milliseconds.
    pub used: i64,
}

#[derive(Clone, Default)]
pub struct RecordedWorkload {
    pub class: String,
    /// From the times in the object.
    pub admitted_ms: i64,
    /// From the first to the first admitted state that the runner saw, as Kueue measured it until 2026-08-03.
    pub seen_admitted_ms: i64,
    pub finished_ms: i64,
    pub evictions: u32,
    pub first: SimTime,
    is_admitted: bool,
    is_evicted: bool,
    is_finished: bool,
}

pub struct Recorder {
    pub queues: Vec<Option<RecordedQueue>>,
    pub workloads: Vec<RecordedWorkload>,
    sets: Vec<(String, i64)>,
}

impl Recorder {
    pub fn new(objects: &KueueObjects, sets: &[GeneratedQueue<'_>]) -> Recorder {
        let sets = sets.iter().map(|queue| (queue.set.class.clone(), queue.set.nominal)).collect();
        Recorder { queues: vec![None; objects.cluster_queues.len()], workloads: Vec::new(), sets }
    }

    pub fn queue_observed(&mut self, queue: usize, status: QueueStatus, now: SimTime) {
        let (class, nominal) = self.sets[queue].clone();
        let own =
            self.queues[queue].get_or_insert(RecordedQueue { class, nominal, first: now, last: now, status, used: 0 });
        own.used += own.status.used.max(0) * (now.since(own.last).0 / MILLISECOND) as i64;
        (own.last, own.status) = (now, status);
    }

    /// Returns whether a queue has Workloads.
    pub fn expects_more(&self) -> bool {
        let mut statuses = self.queues.iter().flatten().map(|queue| &queue.status);
        statuses.any(|status| status.is_active && (status.pending > 0 || status.reserving > 0))
    }

    pub fn workload_observed(&mut self, key: WorkloadKey, workload: &Workload, template: &LoadTemplate, now: SimTime) {
        if self.workloads.len() <= key {
            self.workloads.resize(key + 1, RecordedWorkload::default());
        }
        let own = &mut self.workloads[key];
        if own.class.is_empty() {
            own.class.clone_from(&template.class);
            own.first = now;
        }
        let (is_admitted, is_evicted, is_finished) =
            (workload.is_admitted(), workload.is_evicted(), workload.is_finished());
        if is_admitted && !own.is_admitted {
            // Objects have whole seconds.
            let since = workload.condition(ConditionType::Admitted).map_or(now, |c| c.since);
            own.admitted_ms = ((since.0 / SECOND) as i64 - (workload.created.0 / SECOND) as i64) * 1000;
            own.seen_admitted_ms = (now.since(own.first).0 / MILLISECOND) as i64;
        }
        own.evictions += u32::from(is_evicted && !own.is_evicted);
        if is_finished && !own.is_finished {
            own.finished_ms = (now.since(own.first).0 / MILLISECOND) as i64;
        }
        (own.is_admitted, own.is_evicted, own.is_finished) = (is_admitted, is_evicted, is_finished);
    }
}
