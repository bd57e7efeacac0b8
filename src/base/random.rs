//! All randomness: numbers with names, and inverse-CDF sampling.
//!
//! A number is a function of the seed, the replication and its name (`Draw`): it is the same whatever else happened in
//! the run, so two policies under one seed meet the same start-up times and the same faults. One draw is one `u64` and
//! one evaluation of a quantile function over `libm`. This is the only file that names `rand`; nothing here may look at
//! a clock, and no other module may draw a number.

use crate::base::time::Duration;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

mod dist;
mod draws;
#[cfg(test)]
mod draws_tests;
mod key;

pub use dist::{Dist, normal_quantile};
pub use draws::{Draw, Draws};
pub use key::Key;

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

/// The root of all streams of one run: the seed and the replication.
#[derive(Clone)]
pub struct Streams {
    root: ChaCha8Rng,
}

impl Streams {
    pub fn new(seed: u64, replication: u64) -> Streams {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&replication.to_le_bytes());
        Streams {
            root: ChaCha8Rng::from_seed(key),
        }
    }

    /// The stream of (purpose, entity, occurrence). Entities and occurrences are taken modulo 2^28.
    pub fn stream(&self, purpose: Purpose, entity: u32, occurrence: u32) -> Stream {
        let mut rng = self.root.clone();
        let low = u64::from(entity & 0x0fff_ffff) << 28 | u64::from(occurrence & 0x0fff_ffff);
        rng.set_stream((purpose as u64) << 56 | low);
        Stream { rng }
    }
}

/// One named sequence of numbers.
#[derive(Clone)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    pub fn word(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform in the open interval (0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        open_unit(self.word())
    }

    /// Uniform in `0..n` by multiplication; `n` > 0.
    pub fn below(&mut self, n: u32) -> u32 {
        scaled(self.word(), n)
    }

    pub fn sample(&mut self, dist: &Dist) -> Duration {
        match dist {
            Dist::Fixed(d) => *d,
            _ => dist.quantile(self.uniform()),
        }
    }

    /// Fisher–Yates, one word per element.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_depends_on_its_name_only() {
        let streams = Streams::new(42, 0);
        let alone = streams.stream(Purpose::PodStart, 7, 1).word();
        let mut other = streams.stream(Purpose::PodStart, 6, 1);
        for _ in 0..100 {
            other.word();
        }
        assert_eq!(streams.stream(Purpose::PodStart, 7, 1).word(), alone);
        assert_ne!(streams.stream(Purpose::PodStart, 7, 2).word(), alone);
        assert_ne!(streams.stream(Purpose::PodStop, 7, 1).word(), alone);
        assert_ne!(
            Streams::new(42, 1).stream(Purpose::PodStart, 7, 1).word(),
            alone
        );
    }

    #[test]
    fn the_words_of_a_stream_are_the_words_of_chacha8() {
        // Guards against a value-breaking release of the generator.
        let mut s = Streams::new(1, 2).stream(Purpose::Test, 3, 4);
        let words: Vec<u64> = (0..3).map(|_| s.word()).collect();
        assert_eq!(
            words,
            [
                7194833859328610584,
                13530842974341317031,
                1787211115176509348
            ]
        );
    }

    #[test]
    fn the_mean_of_many_draws_is_the_mean_of_the_distribution() {
        let mut s = Streams::new(9, 0).stream(Purpose::Test, 0, 0);
        let dist = Dist::Exponential { mean_s: 3.0 };
        let mean = (0..100_000).map(|_| s.sample(&dist).seconds()).sum::<f64>() / 100_000.0;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
    }
}
