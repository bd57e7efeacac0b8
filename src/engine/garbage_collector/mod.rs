//! The garbage collector: one FIFO queue with de-duplication, 20 workers, a separate token bucket (kubernetes.md
//! 5.4).
//!
//! Per dependent (a pod, or a Job of a JobSet): GET object, GET owner unless the graph knows that it is gone, DELETE
//! with the observed resource version; if the object changed in between, the response is 409, and it is read and
//! deleted again. An owner under foreground deletion is processed once, and again from the tail of the queue whenever
//! a dependent was removed; therefore a few large Jobs are all removed at the end. Must never delete a pod of another
//! Job object with the same name.

mod graph;
mod owned_objects;
mod workers;

use super::ctx::{ContextMark, EngineContext};
use super::event::SimulationEvent;
use super::token_bucket::BusyTimes;
use crate::store::{ChangeKind, PodChange};
use sim_base::{JobId, JobSetId, PodId, SimTime};
use std::collections::VecDeque;

#[derive(Clone, Default)]
pub struct GarbageCollector {
    queue: VecDeque<CollectorItem>,
    workers: Vec<CollectorWorker>,
    pods: Vec<OwnerMarks>,
    jobs: Vec<GraphNode>,
    jobsets: Vec<GraphNode>,
    /// Per JobSet: number of requests about objects of each of `owned::KINDS`.
    owned_requests: Vec<[u32; owned_objects::OWNED_KINDS.len()]>,
    order: Vec<PodId>,
    pub busy: BusyTimes,
    busy_since: SimTime,
    pub processed: u64,
    pub longest_queue: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum CollectorItem {
    Pod(PodId, u32),
    Job(JobId, u32),
    JobSet(JobSetId),
}

/// Work-queue state of an object.
#[derive(Copy, Clone, Default)]
struct OwnerMarks {
    queued: bool,
    busy: bool,
    dirty: bool,
    /// Number of requests about it so far, part of their names.
    requests: u32,
    /// The last enqueuing, or before that the creation.
    since: ContextMark,
}

/// An owner in the dependency graph: a Job or a JobSet.
#[derive(Copy, Clone, Default)]
struct GraphNode {
    marks: OwnerMarks,
    /// The graph has recorded that the object waits for its dependents (foreground deletion).
    deleting_dependents: bool,
    /// The graph has recorded that the object is gone: its dependents are deleted without reading it.
    absent: bool,
    /// Number of changes of the object and its dependents delivered to the graph.
    notifications: u32,
    /// Number of its removed dependents, and the time at which the last one was removed.
    removed: (u32, SimTime),
}

#[derive(Copy, Clone, Default)]
struct CollectorWorker {
    item: Option<CollectorItem>,
    step: CollectorStep,
    seen_version: u32,
    /// Propagation of the DELETE.
    foreground: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
enum CollectorStep {
    #[default]
    GetItem,
    GetOwner,
    Delete,
    /// After a conflict: reads the pod again, then repeats the DELETE.
    GetAgain,
    /// An owner without dependents: the GET of removeFinalizer, then the PATCH.
    GetForPatch,
    Patch,
}

impl GarbageCollector {
    pub fn new(workers: u32) -> GarbageCollector {
        GarbageCollector { workers: vec![CollectorWorker::default(); workers as usize], ..GarbageCollector::default() }
    }

    pub fn reset(&mut self) {
        self.queue.clear();
        self.workers.fill(CollectorWorker::default());
        self.pods.clear();
        self.jobs.clear();
        self.jobsets.clear();
        self.owned_requests.clear();
        self.busy.clear();
        self.processed = 0;
        self.longest_queue = 0;
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::GarbageCollectorObserved { job, incarnation, deleted } => {
                self.observe(ctx, job, incarnation, deleted)
            }
            SimulationEvent::GarbageCollectorAnswered { worker } => self.handle_response(ctx, worker),
            SimulationEvent::GarbageCollectorObservedJobSet { jobset, deleted } => {
                self.observe_jobset(ctx, jobset, deleted);
            }
            SimulationEvent::GarbageCollectorDeletedOwned { jobset, call } => {
                owned_objects::delete_first(ctx, jobset, call)
            }
            other => unreachable!("not an event of the garbage collector: {other:?}"),
        }
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::JobSet(jobset, change) => self.jobset_changed(ctx, jobset, change),
            ChangeKind::Job(job, change) => self.job_changed(ctx, job, change),
            ChangeKind::OwnedCreated(jobset, kind) => self.owned_created(ctx, jobset, kind),
            ChangeKind::OwnedGone(jobset) => self.dependent_removed(ctx, jobset),
            ChangeKind::Pod(pod, PodChange::Created) => self.pod_created(ctx, pod),
            ChangeKind::Pod(pod, PodChange::Gone) => self.pod_removed(ctx, pod),
            _ => {}
        }
    }

    fn pod_marks(&mut self, pod: PodId) -> &mut OwnerMarks {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, OwnerMarks::default());
        }
        &mut self.pods[pod.ix()]
    }

    fn job_node(&mut self, job: JobId) -> &mut GraphNode {
        graph_node(&mut self.jobs, job.ix())
    }

    fn jobset_node(&mut self, jobset: JobSetId) -> &mut GraphNode {
        graph_node(&mut self.jobsets, jobset.ix())
    }
}

fn graph_node(nodes: &mut Vec<GraphNode>, at: usize) -> &mut GraphNode {
    if nodes.len() <= at {
        nodes.resize(at + 1, GraphNode::default());
    }
    &mut nodes[at]
}
