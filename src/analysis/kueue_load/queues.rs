//! Kueue's reconcilers of ClusterQueues and of LocalQueues: one worker each, which writes the usage and the number of
//! Workloads into the status. Changes of one queue within a second are written together. A reconciler looks at a queue
//! again when it observes the status that it has written.

use super::clients::rate_limit;
use super::recorder::QueueStatus;
use super::start::KUEUE_RECONCILES;
use super::world::{LoadEvent, LoadRequest, World};
use sim_api::spec::kueue::KueueLoadTest;
use sim_base::Duration;
use sim_engine::token_bucket::TokenBucket;
use std::collections::{BTreeSet, VecDeque};

/// Delay after a change of a Workload (`UpdatesBatchPeriod`).
const BATCH: Duration = Duration::from_secs(1);
/// Requests for a new queue: the finalizer and the first status of a ClusterQueue; the status of a LocalQueue before
/// and after its ClusterQueue is active.
const FIRST_REQUESTS: usize = 2;

/// A kind of queues. The runner creates one LocalQueue for each ClusterQueue.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueKind {
    Cluster,
    Local,
}

pub const QUEUE_KINDS: [QueueKind; 2] = [QueueKind::Cluster, QueueKind::Local];

pub struct QueueReconciler {
    client: TokenBucket,
    /// Queues that are looked at after the delay, and those that wait for the worker.
    delayed: BTreeSet<usize>,
    queue: VecDeque<usize>,
    queued: BTreeSet<usize>,
    is_busy: bool,
    written: Vec<Option<QueueStatus>>,
    /// Statuses under way to the watches.
    to_watches: VecDeque<(usize, QueueStatus)>,
}

impl QueueReconciler {
    pub fn new(test: &KueueLoadTest, queues: usize) -> QueueReconciler {
        QueueReconciler {
            client: rate_limit(test.manager.client),
            delayed: BTreeSet::new(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            is_busy: false,
            written: vec![None; queues],
            to_watches: VecDeque::new(),
        }
    }
}

impl World<'_> {
    pub fn begin_queues(&mut self) {
        for kind in QUEUE_KINDS {
            for queue in 0..self.queues(kind).written.len() {
                self.enqueue_queue(kind, queue);
            }
        }
    }

    fn queues(&mut self, kind: QueueKind) -> &mut QueueReconciler {
        match kind {
            QueueKind::Cluster => &mut self.cluster_queues,
            QueueKind::Local => &mut self.local_queues,
        }
    }

    /// The runner observes the new queues.
    pub fn record_queues(&mut self) {
        for queue in 0..self.cluster_queues.written.len() {
            self.recorder.queue_observed(queue, QueueStatus::default(), self.now);
        }
    }

    /// Follows a change of a Workload of the queue.
    pub fn queue_changed(&mut self, queue: usize) {
        for kind in QUEUE_KINDS {
            if self.queues(kind).delayed.insert(queue) {
                let at = self.after(BATCH);
                self.schedule(at, LoadEvent::QueueDue { kind, queue });
            }
        }
    }

    pub fn queue_due(&mut self, kind: QueueKind, queue: usize) {
        self.queues(kind).delayed.remove(&queue);
        self.enqueue_queue(kind, queue);
    }

    fn enqueue_queue(&mut self, kind: QueueKind, queue: usize) {
        let queues = self.queues(kind);
        if queues.queued.insert(queue) {
            queues.queue.push_back(queue);
        }
        self.run_queue_worker(kind);
    }

    pub fn run_queue_worker(&mut self, kind: QueueKind) {
        if self.now < KUEUE_RECONCILES {
            return;
        }
        while !self.queues(kind).is_busy {
            let Some(queue) = self.queues(kind).queue.pop_front() else { return };
            let (status, now, request) = (self.queue_status(queue), self.now, self.test.manager.requests.cluster_queue);
            let queues = self.queues(kind);
            queues.queued.remove(&queue);
            let is_first = queues.written[queue].is_none();
            if queues.written[queue] == Some(status) {
                continue;
            }
            queues.is_busy = true;
            queues.written[queue] = Some(status);
            let mut sent = now;
            for nth in 0..if is_first { FIRST_REQUESTS } else { 1 } {
                let begin = if nth == 0 { sent } else { sent + request };
                sent = queues.client.reserve(begin);
            }
            self.ask(sent, LoadRequest::Status { kind, queue });
        }
    }

    /// Returns the status of a ClusterQueue, and of its LocalQueue.
    fn queue_status(&self, queue: usize) -> QueueStatus {
        let usage = self.driver.manager.cache.usage(queue);
        let used = usage.flavors.iter().flat_map(|(_, resources)| resources).map(|(_, total, _)| total.0).sum();
        QueueStatus {
            pending: self.driver.manager.pending[queue].len(),
            reserving: usage.reserving,
            admitted: usage.admitted,
            used,
            is_active: true,
        }
    }

    pub fn queue_answered(&mut self, kind: QueueKind, queue: usize) {
        let queues = self.queues(kind);
        queues.is_busy = false;
        if let Some(status) = queues.written[queue] {
            queues.to_watches.push_back((queue, status));
            let at = self.after(self.test.manager.watch);
            self.schedule(at, LoadEvent::QueueObserved { kind });
        }
        self.run_queue_worker(kind);
    }

    /// Kueue and, for a ClusterQueue, the runner observe a status.
    pub fn queue_observed(&mut self, kind: QueueKind) {
        let Some((queue, status)) = self.queues(kind).to_watches.pop_front() else { return };
        if kind == QueueKind::Cluster {
            self.recorder.queue_observed(queue, status, self.now);
            self.check_end();
        }
        self.enqueue_queue(kind, queue);
    }
}
