//! The simulation engine: the ordered event queue and the components of a cluster, each with its own state.
//!
//! Works on ids. Never accesses text, files, YAML or the wall clock. Each component has one folder, an entry point
//! `handle` for its events and an entry point `watch` for changes of stored objects. It affects other components only
//! through objects, watches and requests (`ctx`, `apiserver`).

mod accounting;
mod ageing;
mod apiserver;
pub mod check;
mod circle;
mod collector;
mod ctx;
pub mod event;
pub mod faults;
mod halted;
mod job_controller;
mod jobset_manager;
mod kubelet;
mod lane;
mod node_lifecycle;
mod outcome;
mod pod_gc;
mod prepare;
mod progress;
pub mod queue;
pub mod record;
mod requests;
mod run;
mod scheduler;
pub mod store;
mod stuck;
mod training;
pub mod training_model;
mod ttl_controller;
mod user;
mod void;
mod webhook;
mod wheel_level;

use crate::record::{NO_LOOK, Names, RunOutcome, Sink};
use apiserver::Stored;
use ctx::Ctx;
use halted::Course;
pub use halted::Halted;
pub use node_lifecycle::longest_unnoticed;
pub use prepare::{CannotRun, Impossible};
use queue::EventQueue;
use requests::Requests;
use sim_api::spec::Scenario;
use sim_base::random::Draws;

/// A scenario prepared to be run any number of times; its tables are reused between runs.
#[derive(Clone)]
pub struct Simulation {
    scenario: Scenario,
    store: Stored,
    queue: EventQueue,
    requests: Requests,
    draws: Draws,
    parts: Components,
    told: Vec<crate::store::Change>,
    paranoid: bool,
}

/// All components of the cluster, and the ledgers, which no component reads.
#[derive(Clone)]
pub struct Components {
    pub user: user::User,
    pub kubelet: kubelet::Kubelets,
    pub job_controller: job_controller::JobController,
    pub ttl_controller: ttl_controller::TtlController,
    pub jobset_manager: jobset_manager::JobSetManager,
    pub webhook: webhook::PodWebhook,
    pub collector: collector::Collector,
    pub scheduler: scheduler::Scheduler,
    pub node_lifecycle: node_lifecycle::NodeLifecycle,
    pub pod_gc: pod_gc::PodGc,
    pub accounting: accounting::Accounting,
    pub training: training::Training,
    pub ageing: ageing::Ageing,
}

impl Components {
    fn new(scenario: &Scenario) -> Components {
        let plane = &scenario.control_plane;
        Components {
            user: user::User::default(),
            kubelet: kubelet::Kubelets::default(),
            job_controller: job_controller::JobController::new(plane.concurrent_job_syncs),
            ttl_controller: ttl_controller::TtlController::default(),
            jobset_manager: jobset_manager::JobSetManager::default(),
            webhook: webhook::PodWebhook::default(),
            collector: collector::Collector::new(plane.concurrent_gc_syncs),
            scheduler: scheduler::Scheduler::default(),
            node_lifecycle: node_lifecycle::NodeLifecycle::default(),
            pod_gc: pod_gc::PodGc::default(),
            accounting: accounting::Accounting::default(),
            training: training::Training::default(),
            ageing: ageing::Ageing::default(),
        }
    }

    /// Resets all components to their initial state; buffers are kept.
    fn reset(&mut self, ctx: &mut Ctx<'_>) {
        self.user.reset(ctx);
        self.kubelet.reset(ctx);
        self.job_controller.reset();
        self.ttl_controller.reset();
        self.jobset_manager.reset(ctx);
        self.webhook.reset();
        self.collector.reset();
        self.scheduler.reset(ctx);
        self.node_lifecycle.reset(ctx);
        self.pod_gc.reset(ctx);
        self.accounting.reset(ctx);
        self.training.reset(ctx);
        self.ageing.reset(ctx);
    }
}

impl Simulation {
    /// Resolves the scenario. Returns an error if a part of it cannot exist or be placed.
    pub fn new(scenario: &Scenario) -> Result<Simulation, CannotRun> {
        let store = prepare::store(scenario)?;
        Ok(Simulation {
            requests: Requests::new(&scenario.control_plane, &scenario.timing),
            parts: Components::new(scenario),
            scenario: scenario.clone(),
            store: Stored::new(store),
            queue: EventQueue::default(),
            draws: Draws::new(0, 0),
            told: Vec::new(),
            paranoid: false,
        })
    }

    /// Checks the whole state after every event; slow, for tests and debugging.
    pub fn paranoid(&mut self, on: bool) {
        self.paranoid = on;
    }

    /// Names and texts of the last run.
    pub fn names(&self) -> &Names {
        &self.store.names
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    pub fn nodes(&self) -> usize {
        self.store.nodes.cluster.len()
    }

    /// Number of pods that the JobSets of the scenario create at the same time.
    pub fn pods(&self) -> u32 {
        prepare::wanted_pods(&self.scenario)
    }

    /// Simulates the scenario once. Equal arguments produce equal records.
    pub fn run(&mut self, seed: u64, replication: u64, sink: &mut dyn Sink) -> RunOutcome {
        let mut run = self.start(seed, replication, sink);
        let reason = run.execute();
        let outcome = outcome::outcome(&mut run, reason);
        let told = std::mem::take(&mut run.told);
        self.told = told;
        outcome
    }

    /// Resets everything to the state before the first event.
    fn start<'a>(
        &'a mut self,
        seed: u64,
        replication: u64,
        sink: &'a mut dyn Sink,
    ) -> run::Run<'a> {
        self.queue.clear();
        self.requests.reset();
        self.draws.reset(seed, replication);
        let jobsets = self.scenario.jobsets.iter().map(|j| &j.jobset);
        let names = jobsets.map(|j| (j.namespace.as_str(), j.name.as_str()));
        self.store.begin(names);
        let course = Course::begin(&self.scenario, sink.wants_tickets());
        let mut run = self.resume(course, sink);
        run.parts.reset(&mut run.ctx);
        run
    }

    /// Restores the state of an interrupted run.
    fn resume<'a>(&'a mut self, course: Course, sink: &'a mut dyn Sink) -> run::Run<'a> {
        let next_look = match sink.looks_after(0) {
            NO_LOOK => NO_LOOK,
            _ => 0,
        };
        run::Run {
            events: course.events,
            ctx: Ctx {
                scenario: &self.scenario,
                now: course.now,
                store: &mut self.store,
                draws: &mut self.draws,
                gates: course.gates,
                manager_away: course.manager_away,
                progress: course.progress,
                requests: &mut self.requests,
                queue: &mut self.queue,
                sink,
                cause: course.cause,
                ticket: course.ticket,
                tickets: course.tickets,
                records: course.records,
                digest: course.digest,
                keeps_objects: prepare::shows_objects(&self.scenario),
            },
            parts: &mut self.parts,
            paranoid: self.paranoid,
            next_look,
            told: std::mem::take(&mut self.told),
        }
    }
}
