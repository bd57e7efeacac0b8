//! Host selection: the choice of the job's nodes from the working pool, and the waits if there are too few.

use super::job::FleetJobPhase;
use super::world::{EventCode, FleetWorld};
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_reliability::pool::NodePlace;

impl FleetWorld<'_> {
    /// Returns the number of nodes that the job wants, including standbys.
    fn wanted_nodes(&self) -> u32 {
        self.fleet.job.nodes + self.fleet.job.standbys
    }

    /// Selects nodes if the working pool has enough. Otherwise pulls spares one after another until there are enough
    /// nodes, including standbys, or stalls until a repair ends.
    pub(super) fn select_or_wait(&mut self) {
        if self.pool.working() >= self.fleet.job.nodes { self.select() } else { self.pull_or_stall() }
    }

    /// Selects nodes if there are enough, otherwise pulls a spare or stalls. Called when a spare or repaired node
    /// has arrived.
    pub(super) fn pull_or_stall(&mut self) {
        if self.pool.working() >= self.wanted_nodes() {
            self.select();
        } else if !self.pool.spares.is_empty() {
            self.enter(FleetJobPhase::WaitingForSpares, Some(self.fleet.spares.take_over.0));
        } else {
            let retired = self.pool.count(NodePlace::Retired);
            if (self.pool.rows.len() as u32) - retired < self.wanted_nodes() {
                return self.end(super::FleetEnd::Depleted);
            }
            self.enter(FleetJobPhase::Stalled, None);
        }
    }

    pub(super) fn spare_pulled(&mut self) {
        if let Some(node) = self.pool.spares.front().copied() {
            self.digest_event(EventCode::SparePulled, node);
            self.counts.spares_pulled += 1;
            self.move_node(node, NodePlace::Idle);
        }
        self.pull_or_stall();
    }

    fn select(&mut self) {
        self.counts.host_selections += 1;
        self.digest_event(EventCode::Selection, self.pool.working());
        while let Some(node) = self.pool.standbys.front().copied() {
            self.move_node(node, NodePlace::Idle);
        }
        if self.by_failures() {
            self.choose_by_failures()
        } else {
            self.choose_by_order()
        }
        let draw = self.selection_draw(u32::MAX);
        let takes = self.draws.sample(draw, &self.fleet.job.selection_time).0;
        self.enter(FleetJobPhase::HostSelection, Some(takes));
    }

    fn selection_draw(&self, substream_index: u32) -> UniformDraw {
        UniformDraw {
            purpose: StreamPurpose::FleetSelection,
            entity: StreamKey(0),
            occurrence: self.counts.host_selections as u32,
            substream: substream_index,
        }
    }

    /// Selects the nodes that entered the pool first; the standbys are drawn at random from the selected nodes.
    fn choose_by_order(&mut self) {
        let working = self.pool.working();
        let chosen = working.min(self.wanted_nodes());
        let late: Vec<u32> = self.pool.last((working - chosen) as usize).collect();
        for node in late {
            if self.pool.rows[node as usize].place == NodePlace::Active {
                self.move_node(node, NodePlace::Idle);
            }
        }
        while self.pool.count(NodePlace::Active) < chosen {
            let node = self.pool.first_idle().expect("the selected nodes are in the pool");
            self.move_node(node, NodePlace::Active);
        }
        for substream in 0..chosen - self.fleet.job.nodes {
            let draw = self.selection_draw(substream);
            let at = self.draws.below(draw, self.pool.count(NodePlace::Active));
            let node = self.pool.active[at as usize];
            self.move_node(node, NodePlace::Standby);
        }
    }

    /// Selects the nodes with the fewest failures. Those with the most failures among them become standbys.
    fn choose_by_failures(&mut self) {
        let nodes: Vec<u32> = self.pool.all().collect();
        let mut ranked = Vec::with_capacity(nodes.len());
        for (substream, node) in nodes.into_iter().enumerate() {
            let draw = self.selection_draw(substream as u32);
            let failures = self.pool.rows[node as usize].failures;
            ranked.push((failures, self.draws.word(draw), node));
        }
        ranked.sort_unstable();
        let (job, wanted) = (self.fleet.job.nodes as usize, self.wanted_nodes() as usize);
        for (rank, (_, _, node)) in ranked.into_iter().enumerate() {
            let place = match rank {
                r if r < job => NodePlace::Active,
                r if r < wanted => NodePlace::Standby,
                _ => NodePlace::Idle,
            };
            // Standbys are added in the order of their ranks.
            if self.pool.rows[node as usize].place != place {
                self.move_node(node, place);
            }
        }
    }
}
