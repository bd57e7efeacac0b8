//! Runs that branch from a common state, each with its own random numbers, for rare-event estimation by splitting.
//!
//! A branch has its own number in the key of every draw. The remaining part of each lifetime is drawn again,
//! conditional on its elapsed part, which is all that is known about it. Repairs and phases in progress keep their
//! end times.

use super::books::Books;
use super::job::Job;
use super::lives::{Clocks, Lives};
use super::pool::Pool;
use super::repair::Shop;
use super::world::FleetEnd;
use super::world::{Counts, World};
use sim_api::spec::Fleet;
use sim_base::random::Draws;

/// Quantity whose excess is the rare event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Number of interruptions of the job.
    Restarts,
    /// Nanoseconds of the job without productive work: lost work, checkpoints, recoveries and waits.
    LostTime,
}

/// State of a run at one instant.
#[derive(Clone)]
pub struct State {
    clocks: Clocks,
    pool: Pool,
    lives: Lives,
    shop: Shop,
    job: Job,
    books: Books,
    counts: Counts,
    digest: u64,
    over: Option<(FleetEnd, u64)>,
    queue: super::world::Queue,
    sent: u64,
}

/// Simulates branches one after another.
pub struct Branches<'f> {
    fleet: &'f Fleet,
    excess: Excess,
    draws: Option<Draws>,
    seed: u64,
    stops: &'f (dyn Fn(u64) -> bool + Sync),
}

impl<'f> Branches<'f> {
    /// Creates a simulator of branches; the fleet must have no restart limit. A branch ends early if `stops` returns
    /// true. It is called before each event with the number of events so far.
    pub fn new(
        (fleet, seed): (&'f Fleet, u64),
        excess: Excess,
        stops: &'f (dyn Fn(u64) -> bool + Sync),
    ) -> Branches<'f> {
        Branches {
            fleet,
            excess,
            draws: None,
            seed,
            stops,
        }
    }

    /// Returns the state at the start of a run.
    pub fn start(&mut self, branch: u64) -> State {
        let draws = self.draws(branch);
        let mut world = World::new(self.fleet, draws);
        world.lives.remember();
        world.begin();
        self.keep(world)
    }

    /// Continues from a state with the random numbers of `branch`, until the quantity reaches `level` or the run
    /// ends. Returns the final state if the quantity reached `level`, and the final value of the quantity.
    pub fn go_on(&mut self, from: &State, branch: u64, level: u64) -> (Option<State>, u64) {
        let draws = self.draws(branch);
        let mut world = World::of_state(self.fleet, draws, from.clone());
        world
            .lives
            .renew_rest(&mut world.draws, self.fleet, world.clocks);
        world.halts_at = (self.excess == Excess::LostTime).then_some(level);
        let mut events = 0;
        while world.over.is_none() && self.has(&world) < level && !(self.stops)(events) {
            world.step();
            events += 1;
        }
        let has = self.has(&world);
        let state = self.keep(world);
        ((has >= level).then_some(state), has)
    }

    fn draws(&mut self, branch: u64) -> Draws {
        match self.draws.take() {
            Some(mut draws) => {
                draws.reset(self.seed, branch);
                draws
            }
            None => Draws::new(self.seed, branch),
        }
    }

    fn keep(&mut self, world: World<'f>) -> State {
        let (state, draws) = world.into_state();
        self.draws = Some(draws);
        state
    }

    fn has(&self, world: &World<'_>) -> u64 {
        match self.excess {
            Excess::Restarts => world.job.restarts,
            Excess::LostTime => world.lost_time(),
        }
    }
}

impl<'f> World<'f> {
    fn of_state(fleet: &'f Fleet, draws: Draws, state: State) -> World<'f> {
        World {
            fleet,
            draws,
            clocks: state.clocks,
            pool: state.pool,
            lives: state.lives,
            shop: state.shop,
            job: state.job,
            books: state.books,
            counts: state.counts,
            digest: state.digest,
            noted: None,
            halts_at: None,
            over: state.over,
            queue: state.queue,
            sent: state.sent,
        }
    }

    fn into_state(self) -> (State, Draws) {
        let state = State {
            clocks: self.clocks,
            pool: self.pool,
            lives: self.lives,
            shop: self.shop,
            job: self.job,
            books: self.books,
            counts: self.counts,
            digest: self.digest,
            over: self.over,
            queue: self.queue,
            sent: self.sent,
        };
        (state, self.draws)
    }
}
