//! Host selection: which nodes of the working pool the job gets, and what it does when there are too few.

use super::job::Phase;
use super::pool::Place;
use super::world::{Code, World};
use sim_base::random::{Draw, Key, Purpose};

impl World<'_> {
    /// Nodes that the job wants to own.
    fn wanted(&self) -> u32 {
        self.fleet.job.nodes + self.fleet.job.standbys
    }

    /// Chooses nodes if there are enough; else spares are pulled one after another, until there are enough for the
    /// standbys, too, or the job waits for repairs.
    pub(super) fn select_or_wait(&mut self) {
        match self.pool.working() >= self.fleet.job.nodes {
            true => self.select(),
            false => self.pull_or_stall(),
        }
    }

    /// A spare has come, or a node came back while the job waits: enough, or one more spare, or the wait goes on.
    pub(super) fn pull_or_stall(&mut self) {
        if self.pool.working() >= self.wanted() {
            self.select();
        } else if !self.pool.spares.is_empty() {
            self.enter(Phase::WaitingForSpares, Some(self.fleet.spares.take_over.0));
        } else {
            let retired = self.pool.count(Place::Retired);
            if (self.pool.rows.len() as u32) - retired < self.wanted() {
                return self.end(super::FleetEnd::Depleted);
            }
            self.enter(Phase::Stalled, None);
        }
    }

    pub(super) fn spare_pulled(&mut self) {
        if let Some(node) = self.pool.spares.front().copied() {
            self.note(Code::SparePulled, node);
            self.counts.spares_pulled += 1;
            self.put(node, Place::Idle);
        }
        self.pull_or_stall();
    }

    fn select(&mut self) {
        self.counts.host_selections += 1;
        self.note(Code::Selection, self.pool.working());
        while let Some(node) = self.pool.standbys.front().copied() {
            self.put(node, Place::Idle);
        }
        match self.by_failures() {
            true => self.choose_by_failures(),
            false => self.choose_by_order(),
        }
        let draw = self.selection_draw(u32::MAX);
        let takes = self.draws.sample(draw, &self.fleet.job.select).0;
        self.enter(Phase::HostSelection, Some(takes));
    }

    fn selection_draw(&self, lane: u32) -> Draw {
        Draw {
            purpose: Purpose::FleetSelection,
            entity: Key(0),
            occurrence: self.counts.host_selections as u32,
            lane,
        }
    }

    /// Who is in the pool for the longest time; the standbys are drawn from the chosen.
    fn choose_by_order(&mut self) {
        let working = self.pool.working();
        let chosen = working.min(self.wanted());
        let late: Vec<u32> = self.pool.last((working - chosen) as usize).collect();
        for node in late {
            if self.pool.rows[node as usize].place == Place::Active {
                self.put(node, Place::Idle);
            }
        }
        while self.pool.count(Place::Active) < chosen {
            let node = self.pool.first_idle().expect("the chosen are in the pool");
            self.put(node, Place::Active);
        }
        for lane in 0..chosen - self.fleet.job.nodes {
            let draw = self.selection_draw(lane);
            let at = self.draws.below(draw, self.pool.count(Place::Active));
            let node = self.pool.active[at as usize];
            self.put(node, Place::Standby);
        }
    }

    /// Who failed least; who failed most of the chosen stands by.
    fn choose_by_failures(&mut self) {
        let nodes: Vec<u32> = self.pool.all().collect();
        let mut ranked = Vec::with_capacity(nodes.len());
        for (lane, node) in nodes.into_iter().enumerate() {
            let draw = self.selection_draw(lane as u32);
            let failures = self.pool.rows[node as usize].failures;
            ranked.push((failures, self.draws.word(draw), node));
        }
        ranked.sort_unstable();
        let (job, wanted) = (self.fleet.job.nodes as usize, self.wanted() as usize);
        for (rank, (_, _, node)) in ranked.into_iter().enumerate() {
            let place = match rank {
                r if r < job => Place::Active,
                r if r < wanted => Place::Standby,
                _ => Place::Idle,
            };
            // Standbys in the order of their ranks.
            if self.pool.rows[node as usize].place != place {
                self.put(node, place);
            }
        }
    }
}
