//! The repair of nodes: the diagnosis selects the node to repair, the repair passes stages and needs a crew, and nodes
//! with too many failures are retired.
//!
//! The decisions only. The caller has the clock and schedules the end of each stage.

mod blame;
mod crews;

pub use blame::BlameHistory;
pub use crews::RepairCrews;

use sim_api::spec::{DiagnosisSpec, RepairSpec};
use sim_base::Duration;
use sim_base::random::{DrawSequence, UniformDraw};

/// Sub-streams of the random numbers of one diagnosis, and of one stage.
const REPAIR_DRAW: u32 = 0;
const MISDIAGNOSIS_DRAW: u32 = 1;
const BLAMED_NODE_DRAW: u32 = 2;
const DURATION_DRAW: u32 = 0;
const ESCALATION_DRAW: u32 = 1;
const FAILED_REPAIR_DRAW: u32 = 2;
const DRAWS_PER_STAGE: u32 = 3;

/// Result of the diagnosis of a failed node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// No fault is found, and the node returns without a repair.
    NoFault,
    /// The failed node is repaired.
    FailedNode,
    /// Another node is repaired, which this random number selects.
    OtherNode(UniformDraw),
}

/// Draws the result of a diagnosis. `name` names its random numbers. Without `others`, no other node can be blamed.
pub fn diagnose(spec: &DiagnosisSpec, name: UniformDraw, others: bool, draws: &mut DrawSequence) -> Diagnosis {
    let draw = |substream| UniformDraw { substream, ..name };
    let mut happens = |substream, probability: f64| {
        probability >= 1.0 || probability > 0.0 && draws.uniform(draw(substream)) < probability
    };
    if !happens(REPAIR_DRAW, spec.repair_probability) {
        Diagnosis::NoFault
    } else if others && happens(MISDIAGNOSIS_DRAW, spec.misdiagnosis_probability) {
        Diagnosis::OtherNode(draw(BLAMED_NODE_DRAW))
    } else {
        Diagnosis::FailedNode
    }
}

/// Result of a stage of a repair.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StageResult {
    /// The next stage begins.
    Escalated,
    /// The repair is over. If not `healed`, the node is still faulty and is used again.
    Closed { healed: bool },
}

/// Draws the duration of a stage; `None` without such a stage: the repair never ends. `name` names the random numbers
/// of the repair.
pub fn stage_duration(spec: &RepairSpec, stage: u32, name: UniformDraw, draws: &mut DrawSequence) -> Option<Duration> {
    let spec = spec.stages.get(stage as usize)?;
    Some(draws.sample(stage_draw(name, stage, DURATION_DRAW), &spec.duration))
}

/// Draws the result of a stage when it ends. The last stage does not escalate.
pub fn stage_result(spec: &RepairSpec, stage: u32, name: UniformDraw, draws: &mut DrawSequence) -> StageResult {
    let is_last = stage as usize + 1 == spec.stages.len();
    let spec = &spec.stages[stage as usize];
    if !is_last && draws.uniform(stage_draw(name, stage, ESCALATION_DRAW)) < spec.escalates {
        return StageResult::Escalated;
    }
    StageResult::Closed { healed: draws.uniform(stage_draw(name, stage, FAILED_REPAIR_DRAW)) >= spec.fails }
}

fn stage_draw(name: UniformDraw, stage: u32, substream: u32) -> UniformDraw {
    UniformDraw { substream: stage * DRAWS_PER_STAGE + substream, ..name }
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/repair.rs"]
mod tests;
