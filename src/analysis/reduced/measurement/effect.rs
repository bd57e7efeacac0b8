//! Effects of fault processes. Processes with equal effects are measured once.

use sim_api::spec::{Arrivals, FaultsOn, RandomAction, RandomFaults};
use sim_base::Duration;
use sim_base::random::Dist;
use sim_engine::faults::Faults;

/// A set of processes with the same effect.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The processes with this effect.
    pub processes: Vec<usize>,
    /// Distributions of the outage duration.
    pub back: Vec<Dist>,
    /// True if outages may have any duration, because a repair pipeline or a trace determines it.
    pub any_time: bool,
}

/// Returns the effects of all processes, and the index of the effect of each process.
pub fn effects(faults: &Faults) -> (Vec<Effect>, Vec<usize>) {
    let all: Vec<&RandomFaults> = faults.processes().collect();
    let mut effects: Vec<Effect> = Vec::new();
    let mut of = Vec::new();
    for (i, process) in all.iter().enumerate() {
        let same =
            |e: &Effect| is_same((faults, all[e.processes[0]], e.processes[0]), (process, i));
        let at = effects.iter().position(same).unwrap_or(effects.len());
        if at == effects.len() {
            effects.push(Effect {
                processes: Vec::new(),
                back: Vec::new(),
                any_time: false,
            });
        }
        effects[at].processes.push(i);
        effects[at].back.extend(process.back.clone());
        effects[at].any_time |= process.is_repaired() || is_traced(process);
        of.push(at);
    }
    (effects, of)
}

fn is_traced(process: &RandomFaults) -> bool {
    matches!(process.arrivals, Arrivals::Trace(_))
}

fn is_same(
    (faults, a, of_a): (&Faults, &RandomFaults, usize),
    (b, of_b): (&RandomFaults, usize),
) -> bool {
    let nodes = |process| match faults.entities(process) {
        0 => 0,
        _ => faults.nodes_of(process, 0).len(),
    };
    // Removes the fields that do not influence the effect of a single fault.
    let bare = |process: &RandomFaults| RandomFaults {
        cause: String::new(),
        arrivals: Arrivals::Trace(Vec::new().into()),
        back: None,
        from: Duration::ZERO,
        until: None,
        comes_back: 1.0,
        lemons: None,
        on: FaultsOn::Node,
        ..process.clone()
    };
    bare(a) == bare(b)
        && (a.on == FaultsOn::Pod) == (b.on == FaultsOn::Pod)
        && nodes(of_a) == nodes(of_b)
}

impl Effect {
    /// Returns true if the faults affect nodes, false if they only affect containers.
    pub fn takes_nodes(&self, faults: &Faults) -> bool {
        let process = faults.processes().nth(self.processes[0]);
        !process.is_some_and(|p| matches!(p.does, RandomAction::Exit(_)))
    }
}
