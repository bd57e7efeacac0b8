//! The phases of the job: the transitions between them, and the work that a failure discards.

use super::job::FleetJobPhase;
use super::world::{EventCode, FleetEvent, FleetWorld};
use sim_api::spec::ProgressSpec;
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_reliability::pool::NodePlace;

impl FleetWorld<'_> {
    /// Enters a phase, which ends after `takes` nanoseconds unless another event ends it earlier; `None` means it
    /// has no end of its own.
    pub(super) fn enter(&mut self, phase: FleetJobPhase, takes: Option<u64>) {
        self.job.phase = phase;
        self.job.since = self.clocks.now;
        self.job.generation = self.job.generation.wrapping_add(1);
        if let Some(takes) = takes {
            let generation = self.job.generation;
            self.schedule_after(takes, FleetEvent::PhaseOver { generation });
        }
    }

    /// Starts to work with all nodes, until the next checkpoint or the end of the work.
    fn work(&mut self) {
        self.digest_event(EventCode::Works, self.pool.count(NodePlace::Active));
        self.pass_checkpoints();
        let left = self.fleet.training.work.0 - self.job.saved;
        let piece = match self.fleet.training.progress {
            ProgressSpec::Kept | ProgressSpec::FromScratch => left,
            ProgressSpec::Checkpoints { every, .. } => left.min(every.0),
        };
        self.enter(FleetJobPhase::Working, Some(piece));
    }

    /// Continues the job: with all nodes it works, otherwise standbys take over, otherwise nodes are selected.
    fn continue_phase(&mut self) {
        let nodes = self.fleet.job.nodes;
        while self.pool.count(NodePlace::Active) < nodes {
            let Some(standby) = self.pool.standbys.front().copied() else {
                return self.select_or_wait();
            };
            self.move_node(standby, NodePlace::Active);
        }
        self.work();
    }

    pub(super) fn phase_over(&mut self, generation: u32) {
        if generation != self.job.generation {
            return;
        }
        match self.job.phase {
            FleetJobPhase::Working => {
                self.job.piece = self.clocks.now - self.job.since;
                match self.fleet.training.progress {
                    ProgressSpec::Kept | ProgressSpec::FromScratch => self.saved(),
                    ProgressSpec::Checkpoints { blocking, .. } => {
                        self.enter(FleetJobPhase::Saving, Some(blocking.0));
                    }
                }
            }
            FleetJobPhase::Saving => self.saved(),
            FleetJobPhase::Recovery | FleetJobPhase::HostSelection => self.continue_phase(),
            FleetJobPhase::WaitingForSpares => self.spare_pulled(),
            FleetJobPhase::Stalled => unreachable!("a stalled phase has no end event"),
        }
    }

    fn saved(&mut self) {
        self.job.saved += std::mem::take(&mut self.job.piece);
        if self.job.saved >= self.fleet.training.work.0 { self.end(super::FleetEnd::Completed) } else { self.work() }
    }

    /// Interrupts the job after one of its nodes failed in the given fault process.
    pub(super) fn interrupt(&mut self, process: usize) {
        let spent = self.clocks.now - self.job.since;
        match self.job.phase {
            FleetJobPhase::Working if self.fleet.training.progress == ProgressSpec::Kept => {
                self.job.saved += spent;
            }
            FleetJobPhase::Working => self.discard_work(spent),
            FleetJobPhase::Saving => self.discard_work(self.job.piece),
            FleetJobPhase::Recovery => {}
            // The wait ends with a new selection or check, so the failure needs no handling here.
            FleetJobPhase::HostSelection | FleetJobPhase::WaitingForSpares | FleetJobPhase::Stalled => return,
        }
        self.job.piece = 0;
        self.job.restarts += 1;
        if let Some(noted) = &mut self.noted {
            noted.push((self.clocks.now, process as u32));
        }
        let limit = self.fleet.job.max_restarts;
        if limit.is_some_and(|limit| self.job.restarts > u64::from(limit)) {
            return self.end(super::FleetEnd::Failed);
        }
        let draw = UniformDraw {
            purpose: StreamPurpose::FleetRecovery,
            entity: StreamKey(0),
            occurrence: self.job.restarts as u32,
            substream: 0,
        };
        let takes = self.draws.sample(draw, &self.fleet.job.recovery).0;
        self.enter(FleetJobPhase::Recovery, Some(takes));
    }

    fn discard_work(&mut self, ns: u64) {
        self.job.lost += ns;
        self.books.discard_work(self.fleet.job.nodes, ns);
    }

    /// Returns the time of the job without productive work, in nanoseconds.
    pub(super) fn lost_time(&self) -> u64 {
        let spent: u64 = self.job.spent.iter().sum();
        spent - self.job.spent[FleetJobPhase::Working as usize] + self.job.lost
    }

    /// Returns true if the job waits for spare nodes or repairs.
    pub(super) fn is_short(&self) -> bool {
        matches!(self.job.phase, FleetJobPhase::Stalled | FleetJobPhase::WaitingForSpares)
    }

    /// Checks again whether a stalled job has enough nodes. Called when nodes return or are retired.
    pub(super) fn recheck_stall(&mut self) {
        if self.job.phase == FleetJobPhase::Stalled && self.ended_at.is_none() {
            self.pull_or_stall();
        }
    }
}
