//! All randomness: named random numbers and inverse-CDF sampling.
//!
//! A number is a function of the seed, the replication and its name (`UniformDraw`), independent of everything else in
//! the run. Therefore two policies under one seed get the same start-up times and the same faults. One draw is one
//! `u64` and one evaluation of a quantile function with `libm`. This is the only file that uses `rand`; no other module
//! may generate random numbers, and nothing here may read a clock.

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

pub use dist::{Distribution, EmpiricalDistribution, normal_quantile};
pub use draws::{DrawSequence, UniformDraw};
pub use key::StreamKey;
pub use mixture::MixtureDistribution;

/// The purpose of a random number. Append only, never renumber: the number is part of the key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum StreamPurpose {
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
    GarbageCollectorOrder = 12,
    ProbePhase = 13,
    ImageCheck = 14,
    StatusWrite = 15,
    PodVolumes = 16,
    PodSandbox = 17,
    ContainerStart = 18,
    ContainerStop = 19,
    Cleanup = 20,
    ContainerRemove = 21,
    /// Choice of kube-scheduler among nodes with equal scores (even occurrences) or equal candidates of a preemption.
    SchedulerTie = 23,
    NodeReadyDelay = 24,
    /// Jitter of a kubelet's pod worker.
    WorkerJitter = 25,
    SidecarStart = 26,
    /// Position of a pod of a gang that enters kube-scheduler's queue together with others.
    GroupOrder = 27,
    /// Position of a pod among equally important victims of a pod group.
    VictimOrder = 28,
    /// Phase of Kueue's timer for resources that pods outside topology-aware scheduling have released.
    PodUsagePhase = 29,
    FleetLifetime = 40,
    FleetRepair = 41,
    FleetSelection = 42,
    FleetLemons = 43,
    FleetDiagnosis = 44,
    FleetRecovery = 45,
    FaultLifetime = 46,
    FaultRepair = 47,
    TrainingInitialization = 48,
    TrainingCompile = 49,
    TrainingRestore = 50,
    TrainingSteps = 51,
    TrainingCommit = 52,
    TrainingReinitialization = 53,
    /// Delay until a detector reports a silent fault.
    FaultDetection = 60,
    /// Whether a node is a lemon, and whether a repair cures it.
    FaultLemon = 61,
    /// Whether a lost node returns.
    FaultReturn = 62,
    /// The node that a diagnosis sends to repair.
    FaultDiagnosis = 63,
    FaultStage = 64,
    /// Time until the controller of an admission check reports its state.
    AdmissionCheck = 65,
    /// Run time of a Workload in the forecast of the wait for quota.
    WorkloadRunTime = 66,
    /// Time to form a TPU slice again.
    SliceFormation = 67,
    /// Choice among the measured delays of a JobSet at level `nodes`.
    MeasuredDelay = 81,
    /// Choice among equal nodes at level `nodes`.
    NodeChoice = 82,
    /// Values of a bootstrap resample: for statistics, not for the model.
    Bootstrap = 200,
    /// Values of the points of a sweep.
    LatinHypercube = 201,
    Test = 255,
}

/// Number of words generated at once: four blocks of ChaCha.
const BATCH: usize = 32;

/// Computes the words of the stream `stream` under `key`, starting at word `first`.
///
/// Creating the generator for each batch is as fast as keeping and seeking one.
fn fill(key: [u64; 4], stream: u64, first: u32) -> [u64; BATCH] {
    let mut seed = [0; 32];
    for (bytes, part) in seed.chunks_exact_mut(8).zip(key) {
        bytes.copy_from_slice(&part.to_le_bytes());
    }
    let mut rng = ChaCha8Rng::from_seed(seed);
    rng.set_stream(stream);
    // The position is in words of 32 bits.
    rng.set_word_pos(u128::from(first) * 2);
    let mut bytes = [0; BATCH * 8];
    rng.fill_bytes(&mut bytes);
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

/// Converts a word to a number in the open interval (0, 1), 53 bits.
#[inline]
fn open_unit(word: u64) -> f64 {
    ((word >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
}

/// Converts a word to a number in `0..n` by multiplication; `n` > 0.
fn scaled(word: u64, n: u32) -> u32 {
    assert!(n > 0, "below(0)");
    ((u128::from(word) * u128::from(n)) >> 64) as u32
}
