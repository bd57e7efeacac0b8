//! What faults do, whatever they are called: processes with equal effects are measured once.

use sim_api::spec::{Arrivals, FaultsOn, RandomAction, RandomFaults};
use sim_base::Duration;
use sim_base::random::Dist;
use sim_engine::faults::Faults;

/// Faults of one effect.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Processes that have it.
    pub processes: Vec<usize>,
    /// How long what they hit is away.
    pub back: Vec<Dist>,
    /// How long it is away may be anything.
    pub any_time: bool,
}

/// The effects of all processes, and which one each process has.
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
    // How it is called, when it comes and how long it lasts changes nothing of what it does.
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
    /// Whether it takes nodes away, and not processes alone.
    pub fn takes_nodes(&self, faults: &Faults) -> bool {
        let process = faults.processes().nth(self.processes[0]);
        !process.is_some_and(|p| matches!(p.does, RandomAction::Exit(_)))
    }
}
