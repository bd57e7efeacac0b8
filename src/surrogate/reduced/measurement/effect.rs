//! Effects of fault processes. Processes with equal effects are measured once.

use sim_api::spec::{ArrivalProcess, FaultsOn, RandomAction, RandomFaults};
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_reliability::faults::FaultModel;

/// A set of processes with the same effect.
#[derive(Clone, Debug)]
pub struct FaultEffect {
    /// The processes with this effect.
    pub processes: Vec<usize>,
    /// Distributions of the outage duration.
    pub back: Vec<Distribution>,
    /// True if outages may have any duration, because a repair pipeline or a trace determines it.
    pub any_time: bool,
}

/// Returns the effects of all processes, and the index of the effect of each process.
pub fn effects(faults: &FaultModel) -> (Vec<FaultEffect>, Vec<usize>) {
    let all: Vec<&RandomFaults> = faults.processes().collect();
    let mut effects: Vec<FaultEffect> = Vec::new();
    let mut of = Vec::new();
    for (i, process) in all.iter().enumerate() {
        let same = |e: &FaultEffect| is_same((faults, all[e.processes[0]], e.processes[0]), (process, i));
        let at = effects.iter().position(same).unwrap_or(effects.len());
        if at == effects.len() {
            effects.push(FaultEffect { processes: Vec::new(), back: Vec::new(), any_time: false });
        }
        effects[at].processes.push(i);
        effects[at].back.extend(process.repair_time.clone());
        effects[at].any_time |= process.uses_node_repair() || is_traced(process);
        of.push(at);
    }
    (effects, of)
}

fn is_traced(process: &RandomFaults) -> bool {
    matches!(process.arrivals, ArrivalProcess::Trace(_))
}

fn is_same((faults, a, of_a): (&FaultModel, &RandomFaults, usize), (b, of_b): (&RandomFaults, usize)) -> bool {
    let nodes = |process| match faults.entity_count(process) {
        0 => 0,
        _ => faults.entity_nodes(process, 0).len(),
    };
    // Removes the fields that do not influence the effect of a single fault.
    let bare = |process: &RandomFaults| RandomFaults {
        cause: String::new(),
        arrivals: ArrivalProcess::Trace(Vec::new().into()),
        repair_time: None,
        from: Duration::ZERO,
        until: None,
        comes_back: 1.0,
        lemons: None,
        on: FaultsOn::Node,
        ..process.clone()
    };
    bare(a) == bare(b) && (a.on == FaultsOn::Pod) == (b.on == FaultsOn::Pod) && nodes(of_a) == nodes(of_b)
}

impl FaultEffect {
    /// Returns true if the faults affect nodes, false if they only affect containers.
    pub fn takes_nodes(&self, faults: &FaultModel) -> bool {
        let process = faults.processes().nth(self.processes[0]);
        !process.is_some_and(|p| matches!(p.action, RandomAction::Exit(_)))
    }
}
