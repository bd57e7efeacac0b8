//! The garbage collector: one FIFO queue with de-duplication, 20 workers, a separate token bucket (kubernetes.md
//! 5.4).
//!
//! Per pod: GET pod, GET owner, DELETE with the observed resource version; if the pod changed in between, the
//! response is 409, and the pod is read and deleted again. A Job is processed once, and again from the tail of the
//! queue whenever a dependent was removed; therefore a few large Jobs are all removed at the end. Must never delete a
//! pod of another Job object with the same name.

mod graph;
mod owned;
mod work;

use super::ctx::{Ctx, Mark};
use super::event::Event;
use super::lane::BusyTimes;
use crate::store::What;
use sim_base::*;
use std::collections::VecDeque;

#[derive(Clone, Default)]
pub struct Collector {
    queue: VecDeque<Item>,
    workers: Vec<Worker>,
    pods: Vec<Marks>,
    jobs: Vec<JobMarks>,
    /// Per JobSet: number of requests about objects of each of `owned::KINDS`.
    owned: Vec<[u32; owned::KINDS.len()]>,
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

/// Work-queue state of an object.
#[derive(Copy, Clone, Default)]
struct Marks {
    queued: bool,
    busy: bool,
    dirty: bool,
    /// Number of requests about it so far, part of their names.
    asked: u32,
    since: Mark,
}

#[derive(Copy, Clone, Default)]
struct JobMarks {
    marks: Marks,
    /// The graph has recorded that the Job waits for its dependents (foreground deletion).
    deleting_dependents: bool,
    /// Number of changes of its dependents delivered to the graph.
    told: u32,
}

#[derive(Copy, Clone, Default)]
struct Worker {
    item: Option<Item>,
    step: Step,
    seen_version: u32,
}

#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
enum Step {
    #[default]
    GetItem,
    GetOwner,
    Delete,
    /// After a conflict: reads the pod again, then repeats the DELETE.
    GetAgain,
    /// A Job without dependents: the GET of removeFinalizer, then the PATCH.
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
        self.pods.clear();
        self.jobs.clear();
        self.owned.clear();
        self.busy.clear();
        self.processed = 0;
        self.longest_queue = 0;
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match event {
            Event::CollectorSees {
                job,
                incarnation,
                deleted,
            } => self.sees(ctx, job, incarnation, deleted),
            Event::CollectorAnswered { worker } => self.answered(ctx, worker),
            Event::CollectorDeletesJob(job) => self.deletes_job(ctx, job),
            Event::CollectorDeletesOwned { jobset, call } => owned::delete(ctx, jobset, call),
            other => unreachable!("not an event of the garbage collector: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::JobSet(jobset, change) => self.jobset_changed(ctx, jobset, change),
            What::Job(job, change) => self.job_changed(ctx, job, change),
            What::Owned(jobset, kind) => self.owned_created(ctx, jobset, kind),
            What::Pod(pod, change) => self.pod_changed(ctx, pod, change),
            _ => {}
        }
    }

    fn pod_marks(&mut self, pod: PodId) -> &mut Marks {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, Marks::default());
        }
        &mut self.pods[pod.ix()]
    }

    fn job_marks(&mut self, job: JobId) -> &mut JobMarks {
        if self.jobs.len() <= job.ix() {
            self.jobs.resize(job.ix() + 1, JobMarks::default());
        }
        &mut self.jobs[job.ix()]
    }
}
