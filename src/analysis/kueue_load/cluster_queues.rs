//! Kueue's reconciler of ClusterQueues: one worker, which writes the usage and the number of Workloads into the status.
//! Changes of one queue within a second are written together.

use super::clients::RateLimit;
use super::recorder::QueueStatus;
use super::start::KUEUE_RECONCILES;
use super::world::{LoadEvent, LoadRequest, World};
use sim_api::spec::kueue::KueueLoadTest;
use sim_base::Duration;
use std::collections::{BTreeSet, VecDeque};

/// Delay after a change of a Workload (`UpdatesBatchPeriod`).
const BATCH: Duration = Duration::from_secs(1);
/// Requests for a new ClusterQueue: the finalizer and the first status.
const FIRST_REQUESTS: usize = 2;

pub struct QueueReconciler {
    client: RateLimit,
    /// Queues that are looked at after the delay, and those that wait for the worker.
    delayed: BTreeSet<usize>,
    queue: VecDeque<usize>,
    queued: BTreeSet<usize>,
    is_busy: bool,
    written: Vec<Option<QueueStatus>>,
    /// Statuses under way to the runner.
    to_runner: VecDeque<(usize, QueueStatus)>,
}

impl QueueReconciler {
    pub fn new(test: &KueueLoadTest, queues: usize) -> QueueReconciler {
        QueueReconciler {
            client: RateLimit::new(test.manager.client),
            delayed: BTreeSet::new(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            is_busy: false,
            written: vec![None; queues],
            to_runner: VecDeque::new(),
        }
    }
}

impl World<'_> {
    pub fn begin_queues(&mut self) {
        for queue in 0..self.queues.written.len() {
            self.enqueue_queue(queue);
        }
    }

    /// The runner observes the new queues.
    pub fn record_queues(&mut self) {
        for queue in 0..self.queues.written.len() {
            self.recorder.queue_observed(queue, QueueStatus::default(), self.now);
        }
    }

    /// Follows a change of a Workload of the queue.
    pub fn queue_changed(&mut self, queue: usize) {
        if self.queues.delayed.insert(queue) {
            let at = self.after(BATCH);
            self.schedule(at, LoadEvent::QueueDue { queue });
        }
    }

    pub fn queue_due(&mut self, queue: usize) {
        self.queues.delayed.remove(&queue);
        self.enqueue_queue(queue);
    }

    fn enqueue_queue(&mut self, queue: usize) {
        if self.queues.queued.insert(queue) {
            self.queues.queue.push_back(queue);
        }
        self.run_queue_worker();
    }

    pub fn run_queue_worker(&mut self) {
        if self.now < KUEUE_RECONCILES {
            return;
        }
        while !self.queues.is_busy {
            let Some(queue) = self.queues.queue.pop_front() else { return };
            self.queues.queued.remove(&queue);
            let status = self.queue_status(queue);
            let is_first = self.queues.written[queue].is_none();
            if self.queues.written[queue] == Some(status) {
                continue;
            }
            self.queues.is_busy = true;
            self.queues.written[queue] = Some(status);
            let mut sent = self.now;
            for nth in 0..if is_first { FIRST_REQUESTS } else { 1 } {
                let begin = if nth == 0 { sent } else { sent + self.test.manager.request };
                sent = self.queues.client.take(begin);
            }
            self.ask(sent, LoadRequest::Status { queue });
        }
    }

    fn queue_status(&self, queue: usize) -> QueueStatus {
        let usage = self.manager.cache.usage(queue);
        let used = usage.flavors.iter().flat_map(|(_, resources)| resources).map(|(_, total, _)| total.0).sum();
        QueueStatus {
            pending: self.manager.pending[queue].len(),
            reserving: usage.reserving,
            admitted: usage.admitted,
            used,
            is_active: true,
        }
    }

    pub fn queue_answered(&mut self, queue: usize) {
        self.queues.is_busy = false;
        if let Some(status) = self.queues.written[queue] {
            self.queues.to_runner.push_back((queue, status));
            let at = self.after(self.test.manager.watch);
            self.schedule(at, LoadEvent::QueueObserved);
        }
        self.run_queue_worker();
    }

    pub fn queue_observed(&mut self) {
        let Some((queue, status)) = self.queues.to_runner.pop_front() else { return };
        self.recorder.queue_observed(queue, status, self.now);
        self.check_end();
    }
}
