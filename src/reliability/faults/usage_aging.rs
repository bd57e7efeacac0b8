//! Usage-based aging: each entity has a clock that advances with use, and its faults occur at ages. The calendar time
//! of a fault and its consequences is known only during the run.

use super::FaultModel;
use super::drawn_faults::{AffectedPods, LocatedPods};
use super::entities::{EntityProcess, FaultEntity};
use super::failure_times::FailureTimes;
use sim_api::spec::{FaultTime, ScenarioSpec, UseClock, UsedFields};
use sim_base::Duration;
use sim_base::random::DrawSequence;

impl FaultModel {
    /// Adds the clocks to the scenario and their faults to its script.
    pub(super) fn add_usage_faults(&self, draws: &mut DrawSequence, drawn: &mut ScenarioSpec) {
        for (cause, process) in (0..).zip(&self.processes) {
            if process.spec.is_calendar_based() {
                continue;
            }
            for entity in &process.entities {
                let mut times = FailureTimes::new((&process.spec, entity), self.stop, draws);
                let clock = drawn.clocks.len() as u32;
                for occurrence in 0.. {
                    let Some((age, end)) = times.next(draws) else { break };
                    if occurrence == 0 {
                        drawn.clocks.push(self.usage_clock(process, entity));
                    }
                    let affected = AffectedPods {
                        cause,
                        process,
                        entity,
                        occurrence,
                        start: Duration::ZERO,
                        end: end.map(|end| end - age),
                    };
                    self.add_fault((clock, age), &affected, draws, drawn);
                }
            }
        }
    }

    fn usage_clock(&self, process: &EntityProcess, entity: &FaultEntity) -> UseClock {
        let named = |node: &sim_base::NodeId| self.nodes[node.ix()].clone();
        UseClock {
            entity: match entity.pod {
                Some(pod) => UsedFields::Pod(self.pods[pod as usize].clone()),
                None => UsedFields::Nodes(entity.aging_nodes.iter().map(named).collect()),
            },
            exposure: process.spec.exposure,
        }
    }

    /// One fault and its consequences.
    fn add_fault(
        &self, (clock, age): (u32, Duration), affected: &AffectedPods, draws: &mut DrawSequence,
        drawn: &mut ScenarioSpec,
    ) {
        let mut result = LocatedPods::default();
        result.add(affected, draws);
        // Whether the consequences are within the run is only known during the run.
        let (faults, _) = result.into_script(&self.processes, Duration(u64::MAX));
        let head = drawn.faults.len() as u32;
        for (i, fault) in self.expand_cells(&faults).iter().enumerate() {
            let at = match i {
                0 => FaultTime::AtUsageAge { clock, age },
                _ => FaultTime::AfterFault { fault: head, after: fault.at },
            };
            drawn.faults.push(self.to_scripted_at(at, fault));
        }
    }
}
