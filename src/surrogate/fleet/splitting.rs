//! Runs that branch from a common state, each with its own random numbers, for rare-event estimation by splitting.
//!
//! A branch has its own number in the key of every draw. The remaining part of each lifetime is drawn again,
//! conditional on its elapsed part, which is all that is known about it. Repairs and phases in progress keep their
//! end times.

use super::fleet_ledger::FleetLedger;
use super::job::FleetJobState;
use super::world::FleetEnd;
use super::world::{FleetCounts, FleetWorld};
use sim_api::spec::FleetSpec;
use sim_base::random::DrawSequence;
use sim_reliability::aging::{AgingClocks, EntityLifetimes};
use sim_reliability::pool::NodePool;
use sim_reliability::repair::RepairCrews;

/// Quantity whose excess is the rare event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SplitExcess {
    /// Number of interruptions of the job.
    Restarts,
    /// Nanoseconds of the job without productive work: lost work, checkpoints, recoveries and waits.
    LostTime,
}

/// State of a run at one instant.
#[derive(Clone)]
pub struct SplitState {
    clocks: AgingClocks,
    pool: NodePool,
    lifetimes: EntityLifetimes,
    crews: RepairCrews,
    job: FleetJobState,
    books: FleetLedger,
    counts: FleetCounts,
    digest: u64,
    ended_at: Option<(FleetEnd, u64)>,
    queue: super::world::FleetQueue,
    sent: u64,
}

/// Simulates branches one after another.
pub struct SplitBranches<'f> {
    fleet: &'f FleetSpec,
    excess: SplitExcess,
    draws: Option<DrawSequence>,
    seed: u64,
    stops: &'f (dyn Fn(u64) -> bool + Sync),
}

impl<'f> SplitBranches<'f> {
    /// Creates a simulator of branches; the fleet must have no restart limit. A branch ends early if `stops` returns
    /// true. It is called before each event with the number of events so far.
    pub fn new(
        (fleet, seed): (&'f FleetSpec, u64), excess: SplitExcess, stops: &'f (dyn Fn(u64) -> bool + Sync),
    ) -> SplitBranches<'f> {
        SplitBranches { fleet, excess, draws: None, seed, stops }
    }

    /// Returns the state at the start of a run.
    pub fn start(&mut self, branch: u64) -> SplitState {
        let draws = self.draws(branch);
        let mut world = FleetWorld::new(self.fleet, draws);
        world.lifetimes.remember();
        world.begin();
        self.store_state(world)
    }

    /// Continues from a state with the random numbers of `branch`, until the quantity reaches `level` or the run
    /// ends. Returns the final state if the quantity reached `level`, and the final value of the quantity.
    pub fn resume(&mut self, from: &SplitState, branch: u64, level: u64) -> (Option<SplitState>, u64) {
        let draws = self.draws(branch);
        let mut world = FleetWorld::of_state(self.fleet, draws, from.clone());
        let faults = &self.fleet.faults;
        let process = |at: usize| (faults[at].exposure, &faults[at].life);
        world.lifetimes.renew_rest(&mut world.draws, world.clocks, process);
        world.halts_at = (self.excess == SplitExcess::LostTime).then_some(level);
        let mut events = 0;
        while world.ended_at.is_none() && self.has(&world) < level && !(self.stops)(events) {
            world.step();
            events += 1;
        }
        let has = self.has(&world);
        let state = self.store_state(world);
        ((has >= level).then_some(state), has)
    }

    fn draws(&mut self, branch: u64) -> DrawSequence {
        match self.draws.take() {
            Some(mut draws) => {
                draws.reset(self.seed, branch);
                draws
            }
            None => DrawSequence::new(self.seed, branch),
        }
    }

    fn store_state(&mut self, world: FleetWorld<'f>) -> SplitState {
        let (state, draws) = world.into_state();
        self.draws = Some(draws);
        state
    }

    fn has(&self, world: &FleetWorld<'_>) -> u64 {
        match self.excess {
            SplitExcess::Restarts => world.job.restarts,
            SplitExcess::LostTime => world.lost_time(),
        }
    }
}

impl<'f> FleetWorld<'f> {
    fn of_state(fleet: &'f FleetSpec, draws: DrawSequence, state: SplitState) -> FleetWorld<'f> {
        FleetWorld {
            fleet,
            draws,
            clocks: state.clocks,
            pool: state.pool,
            lifetimes: state.lifetimes,
            crews: state.crews,
            job: state.job,
            books: state.books,
            counts: state.counts,
            digest: state.digest,
            noted: None,
            halts_at: None,
            ended_at: state.ended_at,
            queue: state.queue,
            sent: state.sent,
        }
    }

    fn into_state(self) -> (SplitState, DrawSequence) {
        let state = SplitState {
            clocks: self.clocks,
            pool: self.pool,
            lifetimes: self.lifetimes,
            crews: self.crews,
            job: self.job,
            books: self.books,
            counts: self.counts,
            digest: self.digest,
            ended_at: self.ended_at,
            queue: self.queue,
            sent: self.sent,
        };
        (state, self.draws)
    }
}
