//! Scripted faults of nodes and processes: those that random faults have as well, at given times or after the start.

use sim_api::spec::{FaultTime, ScenarioSpec, ScriptedFault};
use sim_base::Duration;
use sim_reliability::faults::{FaultOperation, ScriptTarget, scripted_operation};

/// The scripted faults of a scenario.
#[derive(Default)]
pub struct NodesScript {
    pub faults: Vec<ScriptedOperation>,
    /// Names of all pods, without their suffixes.
    pub pods: Vec<String>,
}

/// A scripted fault, with its target as written.
pub struct ScriptedOperation {
    when: FaultTime,
    pub target: ScriptTarget,
    pub operation: FaultOperation,
    /// Number of the fault in messages.
    pub number: u32,
}

impl NodesScript {
    /// Reads the faults of a scenario that level `nodes` accepts; `pods` are the names of all pods.
    pub fn new(scenario: &ScenarioSpec, pods: &[String]) -> NodesScript {
        let read = |(index, fault): (u32, &ScriptedFault)| {
            let (target, operation) = scripted_operation(&fault.action)?;
            Some(ScriptedOperation { when: fault.at, target, operation, number: scenario.fault_number(index) })
        };
        let faults: Vec<ScriptedOperation> = (0..).zip(&scenario.faults).filter_map(read).collect();
        let pods = if faults.is_empty() { Vec::new() } else { pods.to_vec() };
        NodesScript { faults, pods }
    }

    /// The faults with their times, if these are known before the run, or since all pods were ready.
    pub fn times(&self, is_after_ready: bool) -> impl Iterator<Item = (usize, Duration)> {
        self.faults.iter().enumerate().filter_map(move |(nth, fault)| match fault.when {
            FaultTime::At(at) => Some((nth, at)).filter(|_| !is_after_ready),
            FaultTime::AfterReady(after) => Some((nth, after)).filter(|_| is_after_ready),
            FaultTime::AtUsageAge { .. } | FaultTime::AfterFault { .. } => None,
        })
    }
}
