//! All randomness: numbers with names, and inverse-CDF sampling.
//!
//! A number is a function of the seed, the replication and its name (`Draw`): it is the same whatever else happened in
//! the run, so two policies under one seed meet the same start-up times and the same faults. One draw is one `u64` and
//! one evaluation of a quantile function over `libm`. This is the only file that names `rand`; nothing here may look at
//! a clock, and no other module may draw a number.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

mod block;
pub mod dist;
pub mod draws;
#[cfg(test)]
#[path = "../../tests/inside/base/random_draws.rs"]
mod draws_tests;
pub mod gamma;
pub mod key;
pub mod mixture;

pub use dist::{Dist, Empirical, normal_quantile};
pub use draws::{Draw, Draws};
pub use key::Key;
pub use mixture::Mixture;

/// What a number is for. Append only, never renumber: the number is part of the key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Purpose {
    ApiLatency = 1,
    WatchLag = 2,
    PodStart = 3,
    PodStop = 4,
    PlegPhase = 5,
    ContainerRestart = 6,
    AgentBoot = 7,
    AgentFanout = 8,
    HeartbeatPhase = 9,
    MonitorPhase = 10,
    PodGcPhase = 11,
    CollectorOrder = 12,
    ProbePhase = 13,
    ImageCheck = 14,
    StatusWrite = 15,
    PodVolumes = 16,
    PodSandbox = 17,
    ContainerStart = 18,
    ContainerStop = 19,
    Cleanup = 20,
    ContainerRemove = 21,
    /// Requests that leave together share the server's latency.
    Burst = 22,
    SchedulerTie = 23,
    NodeReadyDelay = 24,
    /// How late the pod worker of a kubelet looks again.
    WorkerJitter = 25,
    FleetLife = 40,
    FleetRepair = 41,
    FleetSelection = 42,
    FleetLemons = 43,
    FleetDiagnosis = 44,
    FleetRecovery = 45,
    FaultLife = 46,
    FaultRepair = 47,
    TrainingInitialization = 48,
    TrainingCompile = 49,
    TrainingRestore = 50,
    TrainingSteps = 51,
    TrainingCommit = 52,
    TrainingReinitialization = 53,
    /// When a detector finds a fault of which nobody is told.
    FaultDetection = 60,
    /// Which nodes fail more often, and whether a repair heals them.
    FaultLemon = 61,
    /// Whether what is gone comes back at all.
    FaultReturn = 62,
    /// Whom a diagnosis sends to repair.
    FaultDiagnosis = 63,
    FaultStage = 64,
    /// Which of the measured restarts the collapsed level takes.
    CollapsedRecovery = 80,
    /// Which values a resample takes: of statistics, not of the model.
    Bootstrap = 200,
    /// Which values the points of a sweep have.
    LatinHypercube = 201,
    Test = 255,
}

/// Words that the generator computes at once: four blocks of ChaCha.
const BATCH: usize = 32;

/// A batch as bytes, each word with its lowest byte first: as the generator hands it out, without a second copy.
type Batch = [u8; BATCH * 8];

/// Fills `batch` with the words of the stream `stream` under `key`, from word `first` on.
///
/// A generator from its seed each time is no slower than one that is kept and moved.
fn fill(batch: &mut Batch, key: [u64; 4], stream: u64, first: u32) {
    let mut seed = [0; 32];
    for (bytes, part) in seed.chunks_exact_mut(8).zip(key) {
        bytes.copy_from_slice(&part.to_le_bytes());
    }
    let mut rng = ChaCha8Rng::from_seed(seed);
    rng.set_stream(stream);
    // The position counts words of 32 bits.
    rng.set_word_pos(u128::from(first) * 2);
    rng.fill_bytes(batch);
}

/// A word as a number in the open interval (0, 1), 53 bits.
fn open_unit(word: u64) -> f64 {
    ((word >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
}

/// A word as a number in `0..n` by multiplication; `n` > 0.
fn scaled(word: u64, n: u32) -> u32 {
    assert!(n > 0, "below(0)");
    ((u128::from(word) * u128::from(n)) >> 64) as u32
}
