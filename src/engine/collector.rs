//! The garbage collector: one FIFO queue with de-duplication, 20 workers, its own token bucket (kubernetes.md 5.4).
//!
//! Per pod: GET pod, GET owner, DELETE with the resource version seen; a pod changed in between answers 409 and is
//! fetched and deleted again. A Job is looked at once, and again from the tail of the queue whenever a dependent has
//! vanished, so with few large Jobs all leave together at the end.

use super::api::{Answer, Call};
use super::event::Event;
use super::lane::BusyTimes;
use super::pods::flag;
use super::run::Run;
use crate::base::random::Purpose;
use crate::base::*;
use crate::record::Deleter;
use std::collections::VecDeque;

#[derive(Default)]
pub struct Collector {
    queue: VecDeque<Item>,
    workers: Vec<Worker>,
    order: Vec<PodId>,
    pub busy: BusyTimes,
    busy_since: Time,
    pub processed: u64,
    pub longest_queue: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Item {
    Pod(PodId, u32),
    Job(JobId, u32),
}

#[derive(Copy, Clone, Default)]
struct Worker {
    item: Option<Item>,
    step: Step,
    seen_version: u32,
}

#[derive(Copy, Clone, PartialEq, Eq, Default)]
enum Step {
    #[default]
    GetItem,
    GetOwner,
    Delete,
    /// After a conflict: the pod again, then DELETE again.
    GetAgain,
    /// A Job without dependents: removeFinalizer's own GET, then the PATCH.
    GetForPatch,
    Patch,
}

impl Collector {
    pub fn new(workers: u32) -> Collector {
        Collector {
            workers: vec![Worker::default(); workers as usize],
            ..Collector::default()
        }
    }

    pub fn reset(&mut self) {
        self.queue.clear();
        self.workers.fill(Worker::default());
        self.busy.clear();
        self.processed = 0;
        self.longest_queue = 0;
    }
}

impl Run<'_> {
    /// The dependency graph learns of a Job under foreground deletion (`deleted`), or that one of its pods vanished.
    pub fn collector_sees(&mut self, job: JobId, incarnation: u32, deleted: bool) {
        let j = &self.w.jobs[job.ix()];
        if !j.exists || j.incarnation != incarnation {
            return;
        }
        if deleted {
            self.w.jobs[job.ix()].collector.deleting_dependents = true;
            self.queue_dependents(job);
        } else if !j.collector.deleting_dependents {
            return;
        }
        self.collect(Item::Job(job, incarnation));
        self.run_collector();
    }

    /// Go iterates the dependents' map: any order; here one drawn per Job object.
    fn queue_dependents(&mut self, job: JobId) {
        let mut order = std::mem::take(&mut self.w.collector.order);
        order.clear();
        for k in 0..self.pods_of(job) {
            let pod = self.pod_of(job, k);
            if self.w.pods.exists(pod)
                && self.w.pods.job[pod.ix()] == job
                && !self.w.pods.has(pod, flag::DELETING)
            {
                order.push(pod);
            }
        }
        let incarnation = self.w.jobs[job.ix()].incarnation;
        self.w
            .streams
            .stream(Purpose::CollectorOrder, job.0, incarnation)
            .shuffle(&mut order);
        for &pod in &order {
            self.collect(Item::Pod(pod, self.w.pods.incarnation[pod.ix()]));
        }
        self.w.collector.order = order;
    }

    /// Adds to the queue unless it is there; while a worker has it, it comes again afterwards.
    fn collect(&mut self, item: Item) {
        let add = match item {
            Item::Pod(pod, _) => {
                if self.w.pods.has(pod, flag::COLLECTOR_BUSY) {
                    self.w.pods.set(pod, flag::COLLECTOR_DIRTY);
                    false
                } else {
                    let new = !self.w.pods.has(pod, flag::COLLECTOR_QUEUED);
                    self.w.pods.set(pod, flag::COLLECTOR_QUEUED);
                    new
                }
            }
            Item::Job(job, _) => {
                let marks = &mut self.w.jobs[job.ix()].collector;
                if marks.busy {
                    marks.dirty = true;
                    false
                } else {
                    !std::mem::replace(&mut marks.queued, true)
                }
            }
        };
        if add {
            let c = &mut self.w.collector;
            c.queue.push_back(item);
            c.longest_queue = c.longest_queue.max(c.queue.len() as u32);
        }
    }

    fn run_collector(&mut self) {
        while !self.w.collector.queue.is_empty() {
            let Some(worker) = self
                .w
                .collector
                .workers
                .iter()
                .position(|w| w.item.is_none())
            else {
                return;
            };
            let Some(item) = self.w.collector.queue.pop_front() else {
                return;
            };
            if self.take_item(item) {
                let c = &mut self.w.collector;
                c.processed += 1;
                if c.workers.iter().all(|w| w.item.is_none()) {
                    c.busy_since = self.w.now;
                }
                c.workers[worker] = Worker {
                    item: Some(item),
                    step: Step::GetItem,
                    seen_version: 0,
                };
                self.send_collector(worker);
            }
        }
    }

    /// Takes an item off the queue; false if nothing has to be asked: it is gone, or already being deleted.
    fn take_item(&mut self, item: Item) -> bool {
        match item {
            Item::Pod(pod, incarnation) => {
                if !self.w.pods.is(pod, incarnation) {
                    return false;
                }
                self.w.pods.clear(pod, flag::COLLECTOR_QUEUED);
                if self.w.pods.has(pod, flag::DELETING) {
                    return false;
                }
                self.w.pods.set(pod, flag::COLLECTOR_BUSY);
                true
            }
            Item::Job(job, incarnation) => {
                let j = &mut self.w.jobs[job.ix()];
                if !j.exists || j.incarnation != incarnation {
                    return false;
                }
                j.collector.queued = false;
                j.collector.busy = true;
                true
            }
        }
    }

    fn send_collector(&mut self, worker: usize) {
        let w = self.w.collector.workers[worker];
        let call = self.call_of(w);
        let answered = self.w.api.send(call, self.w.now);
        self.at(
            answered,
            Event::CollectorAnswered {
                worker: worker as u16,
            },
        );
    }

    fn call_of(&self, w: Worker) -> Call {
        match (w.step, w.item) {
            (Step::GetItem | Step::GetAgain, Some(Item::Pod(..))) => Call::CollectorPodGet,
            (Step::Delete, _) => Call::CollectorPodDelete,
            (Step::Patch, _) => Call::CollectorJobPatch,
            _ => Call::CollectorJobGet,
        }
    }

    pub fn collector_answered(&mut self, worker: u16) {
        let at = usize::from(worker);
        let w = self.w.collector.workers[at];
        let call = self.call_of(w);
        match w.item {
            Some(Item::Pod(pod, incarnation)) => self.collect_pod(at, w, call, pod, incarnation),
            Some(Item::Job(job, incarnation)) => self.collect_job(at, w, call, job, incarnation),
            None => unreachable!("an answer for a worker without an item"),
        }
    }

    fn collect_pod(&mut self, at: usize, w: Worker, call: Call, pod: PodId, incarnation: u32) {
        let there = self.w.pods.is(pod, incarnation);
        let version = self.w.pods.resource_version[pod.ix()];
        if !there {
            let answer = if w.step == Step::GetOwner {
                Answer::Success
            } else {
                Answer::NotFound
            };
            self.w.api.answered(call, answer, self.w.now);
            return self.collector_done(at);
        }
        let conflict = w.step == Step::Delete && version != w.seen_version;
        self.w.api.answered(
            call,
            if conflict {
                Answer::Conflict
            } else {
                Answer::Success
            },
            self.w.now,
        );
        let next = match w.step {
            Step::GetItem => Step::GetOwner,
            Step::GetOwner | Step::GetAgain => Step::Delete,
            _ if conflict => Step::GetAgain,
            _ => {
                let job = self.w.pods.job[pod.ix()];
                let grace_zero = self.m.pod_spec(job).termination_grace_period_s == 0;
                self.mark_deleting(pod, Deleter::GarbageCollector, grace_zero);
                return self.collector_done(at);
            }
        };
        let w = &mut self.w.collector.workers[at];
        if matches!(w.step, Step::GetItem | Step::GetAgain) {
            w.seen_version = version;
        }
        w.step = next;
        self.send_collector(at);
    }

    fn collect_job(&mut self, at: usize, w: Worker, call: Call, job: JobId, incarnation: u32) {
        let there =
            self.w.jobs[job.ix()].exists && self.w.jobs[job.ix()].incarnation == incarnation;
        self.w.api.answered(call, Answer::found(there), self.w.now);
        if !there {
            return self.collector_done(at);
        }
        let next = match w.step {
            Step::GetItem if self.w.jobs[job.ix()].live.objects > 0 => {
                self.queue_dependents(job);
                return self.collector_done(at);
            }
            // A pod that a sync still created meanwhile keeps the Job.
            Step::Patch if self.w.jobs[job.ix()].live.objects > 0 => {
                self.queue_dependents(job);
                return self.collector_done(at);
            }
            Step::GetItem => Step::GetForPatch,
            Step::GetForPatch => Step::Patch,
            _ => {
                self.job_gone(job);
                return self.collector_done(at);
            }
        };
        self.w.collector.workers[at].step = next;
        self.send_collector(at);
    }

    fn collector_done(&mut self, at: usize) {
        let item = self.w.collector.workers[at].item.take();
        let c = &mut self.w.collector;
        if c.workers.iter().all(|w| w.item.is_none()) {
            c.busy.add(c.busy_since, self.w.now);
        }
        let again = match item {
            Some(Item::Pod(pod, incarnation)) => {
                let dirty = self.w.pods.has(pod, flag::COLLECTOR_DIRTY);
                self.w
                    .pods
                    .clear(pod, flag::COLLECTOR_BUSY | flag::COLLECTOR_DIRTY);
                dirty && self.w.pods.is(pod, incarnation)
            }
            Some(Item::Job(job, _)) => {
                let marks = &mut self.w.jobs[job.ix()].collector;
                marks.busy = false;
                std::mem::take(&mut marks.dirty)
            }
            None => false,
        };
        if let Some(item) = item.filter(|_| again) {
            self.collect(item);
        }
        self.run_collector();
    }
}
