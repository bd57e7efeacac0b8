//! The simulation engine: the ordered event queue and the components of a cluster, each with its own state.
//!
//! Works on ids. Never accesses text, files, YAML or the wall clock. Each component has one folder, an entry point
//! `handle` for its events and an entry point `watch` for changes of stored objects. It affects other components only
//! through objects, watches and requests (`ctx`, `apiserver`).

mod accounting;
mod apiserver;
#[cfg(test)]
#[path = "../../tests/inside/cases.rs"]
mod cases;
pub mod check;
mod ctx;
mod diagnosis;
pub mod event;
mod garbage_collector;
mod job_controller;
mod jobset_manager;
mod kubelet;
mod kueue;
mod node_lifecycle;
mod outcome;
mod pod_gc;
mod pod_views;
mod prepare;
mod progress;
pub mod queue;
pub mod record;
mod requests;
mod requests_in_flight;
mod restart_loop;
mod run;
mod scheduler;
mod script;
mod slice_controller;
mod snapshot;
mod stale_events;
pub mod store;
pub mod token_bucket;
mod training;
mod ttl_controller;
mod usage_aging;
mod webhook;
mod wheel_level;

use crate::record::{NO_STOP_CHECK, RecordNames, RecordSink, RunOutcome};
use apiserver::StoredObject;
use ctx::EngineContext;
pub use kubelet::last_heartbeat;
pub use kueue::{
    PodSetConflict, describe_error as describe_workload_error, is_placed_by_topology, local_queue_text,
    namespaces as kueue_namespaces, placed_requests as kueue_placed_requests, reduce as reduce_kueue_nodes,
    started as started_jobset, topology_nodes as kueue_nodes, with_pod as requests_on_node, workload_name,
};
pub use node_lifecycle::{
    MAX_TAINT_REMOVAL_DELAY, MONITOR_PERIOD, ZoneLimiters, max_detection_delay, unreachable_toleration,
};
pub use pod_gc::{PERIOD as POD_GC_PERIOD, QUARANTINE as POD_GC_QUARANTINE};
pub use prepare::{CannotRun, PrepareError};
use queue::EventQueue;
use requests::RequestTable;
use sim_api::spec::ScenarioSpec;
use sim_base::random::DrawSequence;
use sim_policy::topology::ClusterBuilder;
use snapshot::Snapshot;
pub use snapshot::SnapshotOutcome;

/// A scenario prepared to be run any number of times; its tables are reused between runs.
#[derive(Clone)]
pub struct SimulationInput {
    scenario: ScenarioSpec,
    store: StoredObject,
    queue: EventQueue,
    requests: RequestTable,
    draws: DrawSequence,
    components: ControlPlaneComponents,
    paranoid: bool,
    explains_placement: bool,
}

/// All components of the cluster, and the ledgers, which no component reads.
#[derive(Clone)]
pub struct ControlPlaneComponents {
    pub script: script::ScriptRunner,
    pub kubelet: kubelet::KubeletState,
    pub job_controller: job_controller::JobController,
    pub ttl_controller: ttl_controller::TtlController,
    pub jobset_manager: jobset_manager::JobSetManager,
    pub webhook: webhook::PodWebhook,
    pub garbage_collector: garbage_collector::GarbageCollector,
    pub scheduler: scheduler::SchedulerState,
    pub node_lifecycle: node_lifecycle::NodeLifecycle,
    pub pod_gc: pod_gc::PodGc,
    pub accounting: accounting::TimeAccounting,
    pub training: training::TrainingState,
    pub usage_aging: usage_aging::UsageAging,
    pub kueue: kueue::KueueController,
    pub slice_controller: slice_controller::SliceController,
}

impl ControlPlaneComponents {
    fn new(scenario: &ScenarioSpec) -> ControlPlaneComponents {
        let plane = &scenario.control_plane;
        ControlPlaneComponents {
            script: script::ScriptRunner::default(),
            kubelet: kubelet::KubeletState::default(),
            job_controller: job_controller::JobController::new(plane.concurrent_job_syncs),
            ttl_controller: ttl_controller::TtlController::default(),
            jobset_manager: jobset_manager::JobSetManager::default(),
            webhook: webhook::PodWebhook::default(),
            garbage_collector: garbage_collector::GarbageCollector::new(plane.concurrent_gc_syncs),
            scheduler: scheduler::SchedulerState::default(),
            node_lifecycle: node_lifecycle::NodeLifecycle::default(),
            pod_gc: pod_gc::PodGc::default(),
            accounting: accounting::TimeAccounting::default(),
            training: training::TrainingState::default(),
            usage_aging: usage_aging::UsageAging::default(),
            kueue: kueue::KueueController::default(),
            slice_controller: slice_controller::SliceController::default(),
        }
    }

    /// Resets all components to their initial state; buffers are kept.
    fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        self.script.reset(ctx);
        self.kubelet.reset(ctx);
        self.job_controller.reset();
        self.ttl_controller.reset();
        self.jobset_manager.reset(ctx);
        self.webhook.reset();
        self.garbage_collector.reset();
        self.scheduler.reset(ctx);
        self.node_lifecycle.reset(ctx);
        self.pod_gc.reset(ctx);
        self.accounting.reset(ctx);
        self.training.reset(ctx);
        self.usage_aging.reset(ctx);
        self.kueue.reset(ctx);
        self.slice_controller.reset(ctx);
    }
}

impl SimulationInput {
    /// Resolves the scenario. Returns an error if a part of it cannot exist or be placed.
    pub fn new(scenario: &ScenarioSpec) -> Result<SimulationInput, CannotRun> {
        let store = prepare::build_store(scenario)?;
        Ok(SimulationInput {
            requests: RequestTable::new(&scenario.control_plane, &scenario.timing),
            components: ControlPlaneComponents::new(scenario),
            scenario: scenario.clone(),
            store: StoredObject::new(store),
            queue: EventQueue::default(),
            draws: DrawSequence::new(0, 0),
            paranoid: false,
            explains_placement: false,
        })
    }

    /// Checks the whole state after every event; slow, for tests and debugging.
    pub fn set_paranoid(&mut self, on: bool) {
        self.paranoid = on;
        self.set_checks_placement(on);
    }

    /// Compares each choice of a node with the plugins.
    pub fn set_checks_placement(&mut self, on: bool) {
        self.components.scheduler.is_checked = on;
    }

    /// Explains the pods without a node at the end of each run.
    pub fn set_explains_placement(&mut self, on: bool) {
        self.explains_placement = on;
    }

    /// Names and texts of the last run.
    pub fn names(&self) -> &RecordNames {
        &self.store.names
    }

    pub fn scenario(&self) -> &ScenarioSpec {
        &self.scenario
    }

    /// The nodes as described, with a column per resource that a pod may request.
    pub fn cluster(&self) -> &ClusterBuilder {
        &self.store.nodes.cluster
    }

    /// Kueue's Workloads at the end of the last run, by JobSet.
    pub fn workloads(&self) -> Vec<Option<std::sync::Arc<sim_kueue::workload::Workload>>> {
        self.store.jobsets.iter().map(|row| row.workload.clone()).collect()
    }

    /// The Workloads that existed at the start, without those that JobSets took over, at the end of the last run, and
    /// the time `end` of the run on the clock of all Workloads.
    pub fn existing_workloads(
        &self, end: sim_base::SimTime,
    ) -> (Vec<std::sync::Arc<sim_kueue::workload::Workload>>, sim_base::SimTime) {
        self.components.kueue.existing_workloads(end)
    }

    /// The nodes that Kueue knows at the end of the last run, without the resources of the pods that are not placed by
    /// topology. Empty without topologies.
    pub fn kueue_nodes_now(&self) -> Vec<sim_kueue::tas::TasNode> {
        self.components.kueue.nodes_now()
    }

    pub fn node_count(&self) -> usize {
        self.store.nodes.cluster.len()
    }

    /// Number of pods that the JobSets of the scenario create at the same time.
    pub fn pod_count(&self) -> u32 {
        prepare::required_pods(&self.scenario)
    }

    /// Simulates the scenario once. Equal arguments produce equal records.
    pub fn run(&mut self, seed: u64, replication: u64, sink: &mut dyn RecordSink) -> RunOutcome {
        let explains_placement = self.explains_placement;
        let mut run = self.start(seed, replication, sink);
        let reason = run.execute();
        let mut outcome = outcome::run_outcome(&mut run, reason);
        if explains_placement {
            outcome.pending = run.components.scheduler.explain_pending(&run.ctx);
        }
        outcome
    }

    /// Resets everything to the state before the first event.
    fn start<'a>(&'a mut self, seed: u64, replication: u64, sink: &'a mut dyn RecordSink) -> run::EngineRun<'a> {
        self.queue.clear();
        self.requests.reset();
        self.draws.reset(seed, replication);
        let jobsets = self.scenario.jobsets.iter().map(|j| &j.jobset);
        let names = jobsets.map(|j| (j.namespace.as_str(), j.name.as_str()));
        self.store.begin(names);
        let course = Snapshot::initial(&self.scenario, sink.receives_tickets());
        let mut run = self.resume(course, sink);
        run.components.reset(&mut run.ctx);
        run
    }

    /// Restores the state of an interrupted run.
    fn resume<'a>(&'a mut self, course: Snapshot, sink: &'a mut dyn RecordSink) -> run::EngineRun<'a> {
        let next_look = match sink.events_until_stop_check(0) {
            NO_STOP_CHECK => NO_STOP_CHECK,
            _ => 0,
        };
        run::EngineRun {
            events: course.events,
            ctx: EngineContext {
                scenario: &self.scenario,
                now: course.now,
                store: &mut self.store,
                draws: &mut self.draws,
                gates: course.gates,
                manager_downtimes: course.manager_downtimes,
                progress: course.progress,
                requests: &mut self.requests,
                queue: &mut self.queue,
                sink,
                cause: course.cause,
                ticket: course.ticket,
                tickets: course.tickets,
                records: course.records,
                digest: course.digest,
                keeps_objects: prepare::reads_objects(&self.scenario),
            },
            components: &mut self.components,
            paranoid: self.paranoid,
            next_stop_check: next_look,
        }
    }
}
