//! Inputs and timers shared by the benches: scenario files, a loaded event queue, and the wall time of a restart.

use sim_base::{JobId, SimTime};
use sim_engine::SimulationInput;
use sim_engine::event::SimulationEvent;
use sim_engine::queue::EventQueue;
use sim_engine::record::{Body, RecordNames, RecordSink, SimulationRecord};
use sim_inputs::{LoadedScenario, read_scenario};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Returns the project's root directory, which is that of the package or above it.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root = |folder: &&Path| folder.join("scenarios").is_dir();
    package.ancestors().find(is_root).unwrap_or(package).to_owned()
}

/// Loads a scenario by its path from the root, with `path=value` overrides.
pub fn load(file: &str, sets: &[(&str, &str)]) -> Result<LoadedScenario, String> {
    let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let sets: Vec<(String, String)> = sets.iter().map(owned).collect();
    read_scenario(&root().join(file), &sets).map_err(|e| e.to_string())
}

#[expect(clippy::disallowed_methods, reason = "benches measure wall time")]
pub fn now() -> Instant {
    Instant::now()
}

/// A sink that notes the wall time of the fault and of the time at which all pods are ready again.
#[derive(Default)]
struct Stopwatch {
    fault: Option<Instant>,
    ready_again: Option<Instant>,
}

impl RecordSink for Stopwatch {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        match record.body {
            Body::Fault { .. } => self.fault = Some(now()),
            Body::AllReady { ready: true, .. } if self.fault.is_some() => {
                self.ready_again = Some(now());
            }
            _ => {}
        }
    }
}

/// Returns the wall time of the restart, without the initial creation, or `None` without a restart.
pub fn restart_time(simulation: &mut SimulationInput) -> Option<Duration> {
    let mut watch = Stopwatch::default();
    simulation.run(42, 0, &mut watch);
    let (from, to) = watch.fault.zip(watch.ready_again)?;
    Some(to - from)
}

/// Returns a queue with `n` pending events.
pub fn filled_queue(n: u32) -> EventQueue {
    let mut queue = EventQueue::default();
    for i in 0..n {
        let at = u64::from(i).wrapping_mul(2_654_435_761) & ((1 << 28) - 1);
        queue.push(SimTime(at), SimulationEvent::JobDue(JobId(i)), i);
    }
    queue
}

/// Runs the hold model: each operation pops one event and pushes one. A quarter of the new events are at the same
/// instant, a quarter within 1,000 ns, and the others within 2^28 ns.
pub fn hold(queue: &mut EventQueue, operations: u32) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut sum = 0;
    for i in 0..operations {
        let Some((at, _, _, _)) = queue.pop() else {
            return sum;
        };
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let later = match state & 3 {
            0 => 0,
            1 => state >> 32 & 1023,
            _ => state >> 32 & ((1 << 28) - 1),
        };
        queue.push(SimTime(at.0 + later), SimulationEvent::JobDue(JobId(i)), i);
        sum ^= at.0;
    }
    sum
}
