//! Usage-based aging: each entity has a clock that advances with use, and its faults occur at ages. The calendar time
//! of a fault and its consequences is known only during the run.

use super::Faults;
use super::entities::{Entity, Process};
use super::found::{Found, Struck};
use super::times;
use sim_api::spec::{FaultTime, Scenario, UseClock, Used};
use sim_base::Duration;
use sim_base::random::Draws;

impl Faults {
    /// Adds the clocks to the scenario and their faults to its script.
    pub(super) fn wear(&self, draws: &mut Draws, drawn: &mut Scenario) {
        for (cause, process) in (0..).zip(&self.processes) {
            if process.spec.is_of_calendar() {
                continue;
            }
            for entity in &process.entities {
                let times = times::times((&process.spec, entity), self.stop, draws);
                if times.is_empty() {
                    continue;
                }
                let clock = drawn.clocks.len() as u32;
                drawn.clocks.push(self.clock(process, entity));
                for (occurrence, (age, end)) in (0..).zip(times) {
                    let struck = Struck {
                        cause,
                        process,
                        entity,
                        occurrence,
                        start: Duration::ZERO,
                        end: end.map(|end| end - age),
                    };
                    self.strike((clock, age), &struck, draws, drawn);
                }
            }
        }
    }

    fn clock(&self, process: &Process, entity: &Entity) -> UseClock {
        let named = |node: &sim_base::NodeId| self.nodes[node.ix()].clone();
        UseClock {
            of: match entity.pod {
                Some(pod) => Used::Pod(self.pods[pod as usize].clone()),
                None => Used::Nodes(entity.worn.iter().map(named).collect()),
            },
            exposure: process.spec.ages,
        }
    }

    /// One fault and its consequences.
    fn strike(
        &self,
        (clock, age): (u32, Duration),
        struck: &Struck,
        draws: &mut Draws,
        drawn: &mut Scenario,
    ) {
        let mut found = Found::default();
        found.add(struck, draws);
        // Whether the consequences are within the run is only known during the run.
        let (faults, _) = found.script(&self.processes, Duration(u64::MAX));
        let head = drawn.faults.len() as u32;
        for (i, fault) in self.node_by_node(&faults).iter().enumerate() {
            let at = match i {
                0 => FaultTime::Worn { clock, age },
                _ => FaultTime::Follows {
                    fault: head,
                    after: fault.at,
                },
            };
            drawn.faults.push(self.scripted_at(at, fault));
        }
    }
}
