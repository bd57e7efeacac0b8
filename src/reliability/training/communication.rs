//! The communication of training jobs: their step times follow from the placement of their pods, the rates of links,
//! and the other jobs that share links.

use super::outcome::StepOutcome;
use super::pace::UNIT_FACTOR;
use sim_api::spec::{Communication, LinkKind, TopologySpec, TrainingJob};
use sim_base::{Duration, NodeId, SimTime};
use sim_policy::fabric::{FabricLimit, FabricLoad, FabricMap, JobDemand, JobIsland, StepTime, job_islands, step_time};
use sim_policy::topology::ClusterBuilder;
use std::sync::Arc;

/// A change of a step time by less than this fraction, such as by a neighbor that sends a few bytes, is ignored.
const NOTICEABLE: u64 = 1_000_000;

/// The links of the cluster and their use.
#[derive(Clone, Default)]
pub struct TrainingFabric {
    /// Only if a job communicates.
    map: Option<Arc<FabricMap>>,
    /// With the demands of all jobs that run.
    load: FabricLoad,
}

/// The placement of a job during a segment.
#[derive(Clone, Debug, Default)]
pub struct PlacedJob {
    islands: Vec<JobIsland>,
    /// Step time as last recorded, and its factor in billionths of the computation.
    step: Duration,
    factor: u64,
}

/// The step time of a job that has changed.
pub struct NewStepTime {
    /// The step time in billionths of the computation.
    pub factor: u64,
    /// Its description for the outcome.
    pub outcome: StepOutcome,
}

impl TrainingFabric {
    /// The links of a cluster that is built from this topology, if one of the jobs communicates.
    pub fn new(topology: &TopologySpec, cluster: &ClusterBuilder, jobs: &[TrainingJob]) -> TrainingFabric {
        let communicates = jobs.iter().any(|job| job.communication.is_some());
        let map = communicates.then(|| Arc::new(FabricMap::build(topology, cluster)));
        TrainingFabric { map, ..TrainingFabric::default() }
    }

    /// Finds the islands again, because labels of nodes have changed.
    pub fn regroup_slices(&mut self, cluster: &ClusterBuilder) {
        if let Some(map) = &mut self.map {
            Arc::make_mut(map).regroup_slices(cluster);
        }
    }

    /// Finds the islands of a job whose pods are on these nodes, in the order of the pods; `None` if no job
    /// communicates.
    pub fn place(&self, nodes: impl Iterator<Item = NodeId>) -> Option<PlacedJob> {
        let map = self.map.as_ref()?;
        Some(PlacedJob { islands: job_islands(map, nodes), ..PlacedJob::default() })
    }

    /// Returns the time of a step of the job at this position with the current rates. Its computation takes
    /// `compute_s`.
    pub fn step_time(
        &mut self, at: usize, placed: &PlacedJob, communication: &Communication, compute_s: f64,
    ) -> Option<StepTime> {
        let map = self.map.as_ref()?;
        let own = self.load.demands.remove(&at);
        let time = step_time(map, &self.load, &placed.islands, communication, compute_s);
        self.load.demands.extend(own.map(|own| (at, own)));
        Some(time)
    }

    /// Notes the time of a step of a job, and returns it if it has changed.
    pub fn change_step_time(
        &self, now: SimTime, placed: &mut PlacedJob, communication: &Communication, (time, compute_s): (&StepTime, f64),
    ) -> Option<NewStepTime> {
        let map = self.map.as_ref()?;
        let factor = (time.seconds / compute_s * UNIT_FACTOR as f64) as u64;
        let step = Duration::from_seconds_f64(time.seconds);
        let known = placed.step.0;
        if placed.factor == factor || step.0.abs_diff(known) < known / NOTICEABLE {
            return None;
        }
        (placed.factor, placed.step) = (factor, step);
        let outcome = StepOutcome { at: now, ..outcome(map, communication, &placed.islands, time) };
        Some(NewStepTime { factor, outcome })
    }

    /// Changes what a job sends over the network. Returns the other jobs that share links with it.
    pub fn set_demand(&mut self, at: usize, demand: Option<JobDemand>) -> Vec<usize> {
        let demands = &mut self.load.demands;
        let before = match demand.clone() {
            Some(demand) => demands.insert(at, demand),
            None => demands.remove(&at),
        };
        if before == demand {
            return Vec::new();
        }
        let shares = |other: &JobDemand| before.iter().chain(&demand).any(|own| own.shares_links(other));
        let others = self.load.demands.iter().filter(|(other, demand)| **other != at && shares(demand));
        others.map(|(other, _)| *other).collect()
    }

    /// All jobs end together: none gets the links of another.
    pub fn end_all(&mut self) {
        self.load.demands.clear();
    }

    /// The links of a node or its island have a share of their normal rate. Returns whether that changes anything.
    pub fn degrade(&mut self, links: LinkKind, node: NodeId, share: f64) -> bool {
        let Some(map) = &self.map else { return false };
        match links {
            LinkKind::Island if !map.island(node).is_some() => false,
            LinkKind::Island => self.load.island_links.insert(node, share) != Some(share),
            LinkKind::Network => self.load.nodes.insert(node, share) != Some(share),
        }
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
