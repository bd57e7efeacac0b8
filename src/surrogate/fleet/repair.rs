//! The repair of nodes: the stages with their durations and results, and the crews.

use super::world::{FleetEvent, FleetWorld};
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_reliability::repair::{StageResult, stage_duration, stage_result};

impl FleetWorld<'_> {
    /// Name of the random numbers of a node's current repair.
    fn repair_draw(&self, node: u32) -> UniformDraw {
        UniformDraw {
            purpose: StreamPurpose::FleetRepair,
            entity: StreamKey(u64::from(node)),
            occurrence: self.pool.rows[node as usize].repairs,
            substream: 0,
        }
    }

    /// Starts the repair of a node if a crew is free, otherwise queues the node.
    pub(super) fn begin_repair(&mut self, node: u32) {
        self.pool.rows[node as usize].repairs += 1;
        if self.crews.take(node, self.fleet.repair.crews) {
            self.begin_stage(node, 0);
        }
    }

    fn begin_stage(&mut self, node: u32, stage: u32) {
        let name = self.repair_draw(node);
        if let Some(takes) = stage_duration(&self.fleet.repair, stage, name, &mut self.draws) {
            self.schedule_after(takes.0, FleetEvent::StageOver { node, stage });
        }
    }

    pub(super) fn stage_over(&mut self, node: u32, stage: u32) {
        self.counts.stages[stage as usize] += 1;
        let name = self.repair_draw(node);
        let healed = match stage_result(&self.fleet.repair, stage, name, &mut self.draws) {
            StageResult::Escalated => return self.begin_stage(node, stage + 1),
            StageResult::Closed { healed } => healed,
        };
        if healed {
            self.counts.successful_repairs += 1
        } else {
            self.counts.failed_repairs += 1
        }
        if let Some(next) = self.crews.release() {
            self.begin_stage(next, 0);
        }
        self.repaired(node, healed);
    }
}
