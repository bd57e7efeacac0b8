//! All randomness: named ChaCha8 streams and inverse-CDF sampling.
//!
//! A number is keyed by (purpose, entity, occurrence): it is the same whatever else happened in the run, so two
//! policies under one seed meet the same start-up times and the same faults. One draw is one `u64` and one evaluation
//! of a quantile function over `libm`. This is the only module that names `rand`; nothing here may look at a clock,
//! and no other module may draw a number.

use crate::base::time::Duration;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

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
    Test = 255,
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
        ((self.word() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n` by multiplication; `n` > 0.
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "below(0)");
        ((u128::from(self.word()) * u128::from(n)) >> 64) as u32
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

/// A distribution of durations; parameters in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Dist {
    Fixed(Duration),
    Uniform {
        low_s: f64,
        high_s: f64,
    },
    Exponential {
        mean_s: f64,
    },
    /// `median_s · exp(sigma · N(0,1))`.
    LogNormal {
        median_s: f64,
        sigma: f64,
    },
    Weibull {
        scale_s: f64,
        shape: f64,
    },
}

impl Dist {
    pub const ZERO: Dist = Dist::Fixed(Duration::ZERO);

    pub fn fixed_ms(ms: u64) -> Dist {
        Dist::Fixed(Duration::from_millis(ms))
    }

    /// Log-normal from its median and 95th percentile, the two figures an audit log gives.
    pub fn from_p50_p95(p50_s: f64, p95_s: f64) -> Dist {
        if p50_s <= 0.0 || p95_s <= p50_s {
            return Dist::Fixed(Duration::from_seconds_f64(p50_s.max(0.0)));
        }
        Dist::LogNormal {
            median_s: p50_s,
            sigma: libm::log(p95_s / p50_s) / NORMAL_P95,
        }
    }

    /// The value below which a fraction `u` of all draws lies, 0 < u < 1.
    pub fn quantile(&self, u: f64) -> Duration {
        let seconds = match *self {
            Dist::Fixed(d) => return d,
            Dist::Uniform { low_s, high_s } => low_s + (high_s - low_s) * u,
            Dist::Exponential { mean_s } => -mean_s * libm::log1p(-u),
            Dist::LogNormal { median_s, sigma } => median_s * libm::exp(sigma * normal_quantile(u)),
            Dist::Weibull { scale_s, shape } => scale_s * libm::pow(-libm::log1p(-u), 1.0 / shape),
        };
        Duration::from_seconds_f64(seconds)
    }

    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

/// The 95th percentile of the standard normal distribution.
const NORMAL_P95: f64 = 1.644_853_626_951_472_7;

/// Quantile of the standard normal distribution, |relative error| < 1.15e-9.
///
/// Source: P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution function", 2003.
pub fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
    const LOW: f64 = 0.024_25;
    let tail = |q: f64| {
        (((((C[0] * q + C[1]) * q + C[2]) * q + C[3]) * q + C[4]) * q + C[5])
            / ((((D[0] * q + D[1]) * q + D[2]) * q + D[3]) * q + 1.0)
    };
    if u < LOW {
        tail(libm::sqrt(-2.0 * libm::log(u)))
    } else if u > 1.0 - LOW {
        -tail(libm::sqrt(-2.0 * libm::log1p(-u)))
    } else {
        let q = u - 0.5;
        let r = q * q;
        (((((A[0] * r + A[1]) * r + A[2]) * r + A[3]) * r + A[4]) * r + A[5]) * q
            / (((((B[0] * r + B[1]) * r + B[2]) * r + B[3]) * r + B[4]) * r + 1.0)
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
    fn quantiles_agree_with_closed_forms() {
        for (u, z) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813),
        ] {
            assert!((normal_quantile(u) - z).abs() < 5e-9, "{u}");
        }
        let near =
            |d: Duration, s: f64| assert!((d.seconds() - s).abs() < 2e-8, "{} {s}", d.seconds());
        near(
            Dist::Exponential { mean_s: 2.0 }.median(),
            2.0 * std::f64::consts::LN_2,
        );
        near(
            Dist::LogNormal {
                median_s: 0.6,
                sigma: 0.3,
            }
            .median(),
            0.6,
        );
        near(
            Dist::Uniform {
                low_s: 1.0,
                high_s: 3.0,
            }
            .quantile(0.25),
            1.5,
        );
        near(
            Dist::Weibull {
                scale_s: 5.0,
                shape: 1.0,
            }
            .median(),
            5.0 * std::f64::consts::LN_2,
        );
        near(Dist::from_p50_p95(0.01, 0.03).quantile(0.95), 0.03);
    }

    #[test]
    fn the_mean_of_many_draws_is_the_mean_of_the_distribution() {
        let mut s = Streams::new(9, 0).stream(Purpose::Test, 0, 0);
        let dist = Dist::Exponential { mean_s: 3.0 };
        let mean = (0..100_000).map(|_| s.sample(&dist).seconds()).sum::<f64>() / 100_000.0;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
    }
}
