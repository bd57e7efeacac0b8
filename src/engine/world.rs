//! Everything that changes during a run, in one place. Reset, not rebuilt, between replications.

use super::api::Api;
use super::collector::Collector;
use super::controller_job::JobController;
use super::controller_jobset::JobSetController;
use super::jobs::Job;
use super::jobsets::JobSetState;
use super::ledger::LedgerBooks;
use super::lifecycle::NodeLifecycle;
use super::model::Model;
use super::nodes::Nodes;
use super::pods::Pods;
use super::queue::EventQueue;
use super::scheduler::Scheduler;
use crate::base::random::Streams;
use crate::base::*;
use crate::record::{NO_CAUSE, Texts};
use crate::spec::FeatureGates;

pub struct World {
    pub now: Time,
    pub queue: EventQueue,
    pub streams: Streams,
    /// The record that the event at hand goes back to.
    pub cause: u32,
    pub records: u32,
    pub events: u64,
    pub digest: u64,
    pub texts: Texts,
    /// The manager's feature gates now.
    pub gates: FeatureGates,
    pub nodes: Nodes,
    pub pods: Pods,
    pub jobs: Vec<Job>,
    pub jobsets: Vec<JobSetState>,
    pub api: Api,
    pub job_controller: JobController,
    pub jobset_controller: JobSetController,
    pub collector: Collector,
    pub scheduler: Scheduler,
    pub lifecycle: NodeLifecycle,
    pub ledger: LedgerBooks,
    /// Nodes kept by alias for later actions of the script.
    pub aliases: Vec<(String, NodeId)>,
    /// Actions of the script that have not fired.
    pub faults_left: u32,
    pub ready_faults_armed: bool,
    /// When something last changed that was not a retry.
    pub last_progress: Time,
    /// Scripted exits and timers that are still to come.
    pub pending_exits: u32,
    pub warnings: Vec<String>,
}

impl World {
    pub fn new(m: &Model) -> World {
        let plane = &m.scenario.control_plane;
        World {
            now: Time::ZERO,
            queue: EventQueue::default(),
            streams: Streams::new(0, 0),
            cause: NO_CAUSE,
            records: 0,
            events: 0,
            digest: 0,
            texts: Texts::default(),
            gates: plane.feature_gates,
            nodes: Nodes::default(),
            pods: Pods::default(),
            jobs: (0..m.jobs.len()).map(|_| Job::default()).collect(),
            jobsets: (0..m.jobsets.len())
                .map(|_| JobSetState::default())
                .collect(),
            api: Api::new(plane, &m.scenario.timing),
            job_controller: JobController::new(plane.concurrent_job_syncs),
            jobset_controller: JobSetController::default(),
            collector: Collector::new(plane.concurrent_gc_syncs),
            scheduler: Scheduler::default(),
            lifecycle: NodeLifecycle::default(),
            ledger: LedgerBooks::default(),
            aliases: Vec::new(),
            faults_left: 0,
            ready_faults_armed: false,
            last_progress: Time::ZERO,
            pending_exits: 0,
            warnings: Vec::new(),
        }
    }

    /// Back to the beginning, under another key; buffers are kept.
    pub fn reset(&mut self, m: &Model, seed: u64, replication: u64) {
        self.now = Time::ZERO;
        self.queue.clear();
        self.streams = Streams::new(seed, replication);
        self.cause = NO_CAUSE;
        self.records = 0;
        self.events = 0;
        self.digest = super::digest::START;
        self.texts.0.clear();
        self.gates = m.scenario.control_plane.feature_gates;
        self.nodes
            .reset(&m.cluster.allocatable, &m.cluster.accelerators);
        self.pods.reset(m.pod_slots);
        for job in &mut self.jobs {
            job.reset();
            job.sync = Default::default();
            job.incarnation = 0;
        }
        self.jobsets.iter_mut().for_each(JobSetState::reset);
        self.api.reset(&self.streams);
        self.job_controller.reset();
        self.jobset_controller.reset(&self.streams);
        self.collector.reset();
        self.scheduler.reset(m);
        self.lifecycle.reset(m, &self.streams);
        self.ledger.reset(m);
        self.aliases.clear();
        self.faults_left = m.scenario.faults.len() as u32;
        self.ready_faults_armed = false;
        self.last_progress = Time::ZERO;
        self.pending_exits = 0;
        self.warnings.clear();
    }
}
