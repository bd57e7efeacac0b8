//! The communication of training jobs: their step times follow from the placement of their pods, the rates of links,
//! and the other jobs that share links.

use super::TrainingState;
use crate::ctx::EngineContext;
use crate::record::{Body, StepOutcome};
use crate::store::flag;
use sim_api::spec::{Communication, LinkKind};
use sim_base::{Duration, NodeId, SimTime};
use sim_policy::fabric::{FabricLimit, FabricLoad, FabricMap, JobDemand, JobIsland, StepTime, job_islands, step_time};
use sim_reliability::training::{PaceReason, UNIT_FACTOR};
use std::sync::Arc;

/// A change of a step time by less than this fraction, such as by a neighbor that sends a few bytes, is ignored.
const NOTICEABLE: u64 = 1_000_000;

/// The links of the cluster and their use.
#[derive(Clone, Default)]
pub struct TrainingFabric {
    /// Only if a job communicates.
    map: Option<Arc<FabricMap>>,
    /// With the demands of all jobs that run.
    pub load: FabricLoad,
    /// Labels of nodes have changed since the islands of `map` were found.
    pub has_new_labels: bool,
}

/// The placement of a job during a segment.
#[derive(Clone, Default)]
pub struct PlacedJob {
    islands: Vec<JobIsland>,
    /// Step time as last recorded, and its factor in billionths of the computation.
    step: Duration,
    factor: u64,
}

impl TrainingFabric {
    pub fn new(ctx: &EngineContext<'_>) -> TrainingFabric {
        let communicates = ctx.scenario.training.iter().any(|job| job.communication.is_some());
        let cluster = &ctx.store.nodes.cluster;
        let map = communicates.then(|| Arc::new(FabricMap::build(&ctx.scenario.topology, cluster)));
        TrainingFabric { map, ..TrainingFabric::default() }
    }
}

impl TrainingState {
    /// A segment begins: finds the islands of the job's pods, and the time of its steps there.
    pub(super) fn place_job(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        if let Some(map) = self.fabric.map.as_mut().filter(|_| std::mem::take(&mut self.fabric.has_new_labels)) {
            Arc::make_mut(map).regroup_slices(&ctx.store.nodes.cluster);
        }
        let Some(map) = self.fabric.map.clone().filter(|_| ctx.scenario.training[at].communication.is_some()) else {
            return;
        };
        let islands = job_islands(&map, self.ordered_nodes(ctx, at).into_iter());
        if let Some(current) = &mut self.jobs[at].segment {
            current.placed = PlacedJob { islands, ..PlacedJob::default() };
        }
        if let Some(time) = self.step_time(ctx, at) {
            self.set_step_time(ctx, at, &time);
            self.set_demand(ctx, at, Some(time.demand));
        }
    }

    /// A segment has ended: its links are free for others.
    pub(super) fn release_links(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        self.set_demand(ctx, at, None);
    }

    /// Changes what a job sends over the network, and the step times of the jobs that share links with it.
    fn set_demand(&mut self, ctx: &mut EngineContext<'_>, at: usize, demand: Option<JobDemand>) {
        let demands = &mut self.fabric.load.demands;
        let before = match demand.clone() {
            Some(demand) => demands.insert(at, demand),
            None => demands.remove(&at),
        };
        if before == demand {
            return;
        }
        let shares = |other: &JobDemand| before.iter().chain(&demand).any(|own| own.shares_links(other));
        let others = self.fabric.load.demands.iter().filter(|(other, demand)| **other != at && shares(demand));
        let others: Vec<usize> = others.map(|(other, _)| *other).collect();
        for other in others {
            if self.step_time(ctx, other).is_some_and(|time| self.set_step_time(ctx, other, &time)) {
                self.reschedule_end(ctx, other);
            }
        }
    }

    /// The links of a node or its island have a share of their normal rate.
    pub(super) fn degrade_links(&mut self, ctx: &mut EngineContext<'_>, (links, node): (LinkKind, NodeId), share: f64) {
        let Some(map) = &self.fabric.map else {
            return;
        };
        let load = &mut self.fabric.load;
        let changed = match links {
            LinkKind::Island if !map.island(node).is_some() => false,
            LinkKind::Island => load.island_links.insert(node, share) != Some(share),
            LinkKind::Network => load.nodes.insert(node, share) != Some(share),
        };
        for at in (0..self.jobs.len()).filter(|_| changed) {
            if self.update_step_time(ctx, at) {
                self.reschedule_end(ctx, at);
            }
        }
    }

    /// Returns the nodes of the participating pods in the order of replicatedJobs, Jobs and completion indexes.
    fn ordered_nodes(&self, ctx: &EngineContext<'_>, at: usize) -> Vec<NodeId> {
        let jobs = &ctx.store.jobs;
        let mut own: Vec<_> = ctx.store.jobs_of(self.jobs[at].jobset).collect();
        own.sort_by_key(|job| (jobs[job.ix()].rj, jobs[job.ix()].index));
        let pods = &ctx.store.pods;
        let mut nodes = Vec::new();
        for job in own {
            let ready = jobs[job.ix()].pods.iter().filter(|pod| pods.has(*pod, flag::READY));
            let mut members: Vec<_> = ready.filter(|pod| self.participates(ctx, at, *pod)).collect();
            members.sort_by_key(|pod| pods.index[pod.ix()]);
            nodes.extend(members.into_iter().map(|pod| pods.node[pod.ix()]));
        }
        nodes
    }

    /// Evaluates the time of a step with the current rates. Records it and returns true if it has changed.
    pub(super) fn update_step_time(&mut self, ctx: &mut EngineContext<'_>, at: usize) -> bool {
        let Some(time) = self.step_time(ctx, at) else {
            return false;
        };
        let has_changed = self.set_step_time(ctx, at, &time);
        self.set_demand(ctx, at, Some(time.demand));
        has_changed
    }

    /// Returns the time of computation in a step, in seconds, with the slowest pod and the missing slices.
    fn compute_s(&self, ctx: &EngineContext<'_>, at: usize) -> Option<f64> {
        let (step, current) = (ctx.scenario.training[at].step?, self.jobs[at].segment.as_ref()?);
        let slower = current.slowdown as f64 / UNIT_FACTOR as f64 * current.slice_group.factor() as f64;
        Some(step.seconds() * slower / UNIT_FACTOR as f64)
    }

    /// Returns the time of a step with the current rates, if the job runs and communicates.
    fn step_time(&mut self, ctx: &EngineContext<'_>, at: usize) -> Option<StepTime> {
        let communication = ctx.scenario.training[at].communication.as_ref()?;
        let islands = &self.jobs[at].segment.as_ref()?.placed.islands;
        let compute_s = self.compute_s(ctx, at)?;
        let map = self.fabric.map.as_ref()?;
        let load = &mut self.fabric.load;
        let own = load.demands.remove(&at);
        let time = step_time(map, load, islands, communication, compute_s);
        load.demands.extend(own.map(|own| (at, own)));
        Some(time)
    }

    /// Records the time of a step and returns true if it has changed.
    fn set_step_time(&mut self, ctx: &mut EngineContext<'_>, at: usize, time: &StepTime) -> bool {
        let (Some(map), Some(communication)) = (&self.fabric.map, &ctx.scenario.training[at].communication) else {
            return false;
        };
        let (Some(compute_s), Some(current)) = (self.compute_s(ctx, at), &mut self.jobs[at].segment) else {
            return false;
        };
        let factor = (time.seconds / compute_s * UNIT_FACTOR as f64) as u64;
        let seconds = Duration::from_seconds_f64(time.seconds);
        let known = current.placed.step.0;
        if current.placed.factor == factor || seconds.0.abs_diff(known) < known / NOTICEABLE {
            return false;
        }
        (current.placed.factor, current.placed.step) = (factor, seconds);
        let done = current.run.done(ctx.now);
        current.run.plan.pace.set_factor(done, PaceReason::Communication, factor);
        let outcome = outcome(map, communication, &current.placed.islands, time);
        let job = &mut self.jobs[at];
        ctx.emit(Body::TrainingStepTime { jobset: job.jobset, step: seconds, exposed: outcome.exposed });
        job.steps.push(StepOutcome { at: ctx.now, ..outcome });
        true
    }
}

/// Describes a step time for the outcome.
fn outcome(map: &FabricMap, communication: &Communication, islands: &[JobIsland], time: &StepTime) -> StepOutcome {
    let limit = time.limit(communication).map(|limit| match limit {
        FabricLimit::IslandLinks => "links of the islands".to_owned(),
        FabricLimit::NodePorts => "network of the nodes".to_owned(),
        FabricLimit::Uplinks { level } => format!("uplinks of level {}", map.levels[level].name),
    });
    StepOutcome {
        at: SimTime::ZERO,
        step: Duration::from_seconds_f64(time.seconds),
        exposed: Duration::from_seconds_f64(time.exposed_s),
        traffic: time.traffic.iter().map(|part| Duration::from_seconds_f64(part.seconds)).collect(),
        limit,
        islands: islands.len() as u32,
        groups: (0..map.levels.len()).map(|level| map.groups_of(level, islands)).collect(),
    }
}
