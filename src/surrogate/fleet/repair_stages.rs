//! The stages of a repair: their durations and results, and the assignment of crews that become free.

use super::world::{FleetEvent, FleetWorld};
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};

/// Random-number lanes of one stage.
#[derive(Copy, Clone)]
enum RepairStream {
    Takes,
    Escalates,
    Fails,
}

impl FleetWorld<'_> {
    fn repair_draw(&self, node: u32, stage: u32, substream_index: RepairStream) -> UniformDraw {
        UniformDraw {
            purpose: StreamPurpose::FleetRepair,
            entity: StreamKey(u64::from(node)),
            occurrence: self.pool.rows[node as usize].repairs,
            substream: stage * 3 + substream_index as u32,
        }
    }

    /// Starts the repair of a node if a crew is free, otherwise queues the node.
    pub(super) fn begin_repair(&mut self, node: u32) {
        self.pool.rows[node as usize].repairs += 1;
        let free = self.fleet.repair.crews.is_none_or(|crews| self.repair_pipeline.busy < crews);
        if free {
            self.repair_pipeline.busy += 1;
            self.begin_stage(node, 0);
        } else {
            self.repair_pipeline.waiting.push_back(node);
        }
    }

    fn begin_stage(&mut self, node: u32, stage: u32) {
        let Some(spec) = self.fleet.repair.stages.get(stage as usize) else {
            // The scenario has no repair stages, so nothing is ever repaired.
            return;
        };
        let draw = self.repair_draw(node, stage, RepairStream::Takes);
        let takes = self.draws.sample(draw, &spec.duration).0;
        self.schedule_after(takes, FleetEvent::StageOver { node, stage });
    }

    pub(super) fn stage_over(&mut self, node: u32, stage: u32) {
        let fleet = self.fleet;
        let spec = &fleet.repair.stages[stage as usize];
        self.repair_pipeline.done[stage as usize] += 1;
        let last = stage as usize + 1 == fleet.repair.stages.len();
        let draw = self.repair_draw(node, stage, RepairStream::Escalates);
        if !last && self.draws.uniform(draw) < spec.escalates {
            return self.begin_stage(node, stage + 1);
        }
        let draw = self.repair_draw(node, stage, RepairStream::Fails);
        let healed = self.draws.uniform(draw) >= spec.fails;
        if healed {
            self.repair_pipeline.successful += 1
        } else {
            self.repair_pipeline.failed += 1
        }
        self.repair_pipeline.busy -= 1;
        if let Some(next) = self.repair_pipeline.waiting.pop_front() {
            self.repair_pipeline.busy += 1;
            self.begin_stage(next, 0);
        }
        self.repaired(node, healed);
    }
}
