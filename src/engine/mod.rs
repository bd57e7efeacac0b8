//! The only place where anything changes: events, tables, components, the loop.
//!
//! Works on ids; never sees text, files or YAML, and never asks what time it is outside.

mod agents;
mod api;
pub mod check;
mod collector;
mod container_exits;
mod controller_job;
mod controller_jobset;
mod digest;
pub mod event;
mod faults;
mod finish;
mod job_count;
mod job_events;
mod job_pods;
mod job_queue;
mod job_status;
mod job_ttl;
mod jobs;
mod jobset_jobs;
mod jobset_queue;
mod jobsets;
mod kubelet;
mod lane;
mod ledger;
mod leftovers;
mod lifecycle;
pub mod model;
mod nodes;
mod pod_gc;
mod pod_life;
pub mod pods;
pub mod queue;
mod readiness;
mod requests;
mod run;
mod scheduler;
mod show;
mod stuck;
mod trace;
mod world;

pub use digest::of_records as digest_of;

use crate::record::{Names, RunOutcome, Sink, Texts};
use crate::spec::Scenario;
use model::Model;
use world::World;

/// A scenario ready to be run, as often as wanted; the tables are kept between runs.
pub struct Simulation {
    model: Model,
    world: World,
    paranoid: bool,
}

impl Simulation {
    /// Resolves the scenario; the errors say what cannot exist or be placed.
    pub fn new(scenario: &Scenario) -> Result<Simulation, Vec<String>> {
        let model = Model::build(scenario)?;
        let world = World::new(&model);
        Ok(Simulation {
            model,
            world,
            paranoid: false,
        })
    }

    /// Checks the whole state after every event: slow, for tests and hunts.
    pub fn paranoid(&mut self, on: bool) {
        self.paranoid = on;
    }

    pub fn names(&self) -> &Names {
        &self.model.names
    }

    pub fn scenario(&self) -> &Scenario {
        &self.model.scenario
    }

    pub fn nodes(&self) -> usize {
        self.model.cluster.len()
    }

    pub fn pods(&self) -> u32 {
        self.model.pod_slots
    }

    /// Texts of the last run.
    pub fn texts(&self) -> &Texts {
        &self.world.texts
    }

    /// Plays the scenario once. Equal arguments give equal records.
    pub fn run(&mut self, seed: u64, replication: u64, sink: &mut dyn Sink) -> RunOutcome {
        self.world.reset(&self.model, seed, replication);
        let mut run = run::Run {
            m: &self.model,
            w: &mut self.world,
            sink,
            paranoid: self.paranoid,
        };
        let reason = run.execute();
        run.outcome(reason)
    }
}
