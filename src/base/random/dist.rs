//! Distributions of durations, sampled by their quantile functions. One number in (0, 1) gives one duration, computed
//! with `libm` only, so that a sample has the same last bit on every machine. This module draws no random numbers.

use super::{gamma, open_unit};
use crate::time::Duration;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Steps of a bisection of the quantile function; a double has 53 bits.
const BISECTIONS: u32 = 53;

/// A distribution of durations; parameters in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
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
    Gamma {
        mean_s: f64,
        shape: f64,
    },
    Empirical(EmpiricalDistribution),
    /// Piecewise linear through the two percentiles of an audit log, extended linearly beyond the second: no tail is
    /// assumed that was not measured.
    Measured {
        p50_s: f64,
        p95_s: f64,
    },
}

/// Values of a table with their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct EmpiricalDistribution {
    /// Values in seconds, ascending, each with the cumulative probability.
    steps: Arc<[(f64, f64)]>,
    mean_s: f64,
}

impl EmpiricalDistribution {
    /// `None` if no value has a positive weight. Values and weights must be finite and not negative.
    pub fn new(weighted: &[(f64, f64)]) -> Option<EmpiricalDistribution> {
        let mut values: Vec<(f64, f64)> = weighted.to_vec();
        values.retain(|(_, weight)| *weight > 0.0);
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = values.iter().map(|(_, weight)| weight).sum();
        let mean_s = values.iter().map(|(value, weight)| value * (weight / all)).sum();
        let mut below = 0.0;
        let step = |(value, weight): (f64, f64)| {
            below += weight;
            (value, below / all)
        };
        let steps: Arc<[(f64, f64)]> = values.into_iter().map(step).collect();
        (!steps.is_empty() && all.is_finite()).then_some(EmpiricalDistribution { steps, mean_s })
    }

    /// Multiplies every value by a factor.
    pub fn scale(&self, by: f64) -> EmpiricalDistribution {
        EmpiricalDistribution {
            steps: self.steps.iter().map(|(v, below)| (v * by, *below)).collect(),
            mean_s: self.mean_s * by,
        }
    }

    /// Mean in seconds.
    pub fn mean_s(&self) -> f64 {
        self.mean_s
    }

    fn variance(&self) -> f64 {
        let mut before = 0.0;
        let mut sum = 0.0;
        for (value, below) in self.steps.iter() {
            let off = value - self.mean_s;
            sum += off * off * (below - before);
            before = *below;
        }
        sum
    }

    fn quantile_s(&self, u: f64) -> f64 {
        let at = self.steps.partition_point(|(_, below)| *below < u);
        self.steps[at.min(self.steps.len() - 1)].0
    }
}

impl Distribution {
    pub const ZERO: Distribution = Distribution::Fixed(Duration::ZERO);

    pub fn fixed_ms(ms: u64) -> Distribution {
        Distribution::Fixed(Duration::from_millis(ms))
    }

    /// Log-normal distribution from its median and 95th percentile, as reported by an audit log.
    pub fn from_p50_p95(p50_s: f64, p95_s: f64) -> Distribution {
        if p50_s <= 0.0 || p95_s <= p50_s {
            return Distribution::Fixed(Duration::from_seconds_f64(p50_s.max(0.0)));
        }
        Distribution::LogNormal { median_s: p50_s, sigma: libm::log(p95_s / p50_s) / NORMAL_P95 }
    }

    /// The quantile at `u`, 0 < u < 1, of the values above `elapsed`. If there are none, it is `elapsed`.
    pub fn quantile_above(&self, elapsed: Duration, u: f64) -> Duration {
        let below = self.share_up_to(elapsed);
        if below >= 1.0 { elapsed } else { self.quantile(below + u * (1.0 - below)).max(elapsed) }
    }

    /// Returns the share of values up to `limit`, by bisection of the quantile function.
    fn share_up_to(&self, limit: Duration) -> f64 {
        if limit == Duration::ZERO {
            return 0.0;
        }
        if let Distribution::Fixed(value) = self {
            return if *value <= limit { 1.0 } else { 0.0 };
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.quantile(middle) <= limit {
                low = middle;
            } else {
                high = middle;
            }
        }
        // A quantile close to one that is not longer has no longer values above it.
        if high == 1.0 { 1.0 } else { low }
    }

    /// The quantile at `u`, 0 < u < 1.
    pub fn quantile(&self, u: f64) -> Duration {
        let seconds = match *self {
            Distribution::Fixed(d) => return d,
            Distribution::Empirical(ref table) => table.quantile_s(u),
            Distribution::Gamma { mean_s, shape } => mean_s / shape * gamma::quantile(shape, u),
            Distribution::Uniform { low_s, high_s } => low_s + (high_s - low_s) * u,
            Distribution::Exponential { mean_s } => -mean_s * libm::log1p(-u),
            Distribution::LogNormal { median_s, sigma } => median_s * libm::exp(sigma * normal_quantile(u)),
            Distribution::Weibull { scale_s, shape } => scale_s * libm::pow(-libm::log1p(-u), 1.0 / shape),
            Distribution::Measured { p50_s, .. } if u <= 0.5 => p50_s * u / 0.5,
            Distribution::Measured { p50_s, p95_s } => p50_s + (p95_s - p50_s) * (u - 0.5) / 0.45,
        };
        Duration::from_seconds_f64(seconds)
    }

    /// Words whose values certainly exceed `limit`; `None` for a constant distribution.
    pub fn words_exceeding(&self, limit: Duration) -> Option<RangeInclusive<u64>> {
        if matches!(self, Distribution::Fixed(_)) {
            return None;
        }
        // Quantile functions are monotone except for rounding errors, which are far below one thousandth.
        let sure = limit.0.saturating_add(limit.0 / 1000).saturating_add(1);
        let is_later = |word: u64| self.quantile(open_unit(word)).0 > sure;
        // The largest words round to 1 in floating point, where some quantiles are infinite.
        let last = u64::MAX - (1 << 20);
        if !is_later(last) {
            return None;
        }
        let (mut low, mut high) = (0, last);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_later(middle) { high = middle } else { low = middle }
        }
        Some(high..=last)
    }

    /// Mean in seconds.
    pub fn mean_s(&self) -> f64 {
        match *self {
            Distribution::Fixed(d) => d.seconds(),
            Distribution::Uniform { low_s, high_s } => (low_s + high_s) / 2.0,
            Distribution::Exponential { mean_s } | Distribution::Gamma { mean_s, .. } => mean_s,
            Distribution::Empirical(ref table) => table.mean_s,
            Distribution::LogNormal { median_s, sigma } => median_s * libm::exp(sigma * sigma / 2.0),
            Distribution::Weibull { scale_s, shape } => scale_s * libm::tgamma(1.0 + 1.0 / shape),
            // The areas under the two line segments.
            Distribution::Measured { p50_s, p95_s } => 0.75 * p50_s + (p95_s - p50_s) * 0.125 / 0.45,
        }
    }

    /// Standard deviation in seconds.
    pub fn sd_s(&self) -> f64 {
        let variance = match *self {
            Distribution::Fixed(_) => 0.0,
            Distribution::Uniform { low_s, high_s } => (high_s - low_s) * (high_s - low_s) / 12.0,
            Distribution::Exponential { mean_s } => mean_s * mean_s,
            Distribution::Gamma { mean_s, shape } => mean_s * mean_s / shape,
            Distribution::Empirical(ref table) => table.variance(),
            Distribution::LogNormal { median_s, sigma } => {
                let spread = sigma * sigma;
                median_s * median_s * libm::expm1(spread) * libm::exp(spread)
            }
            Distribution::Weibull { scale_s, shape } => {
                let mean = libm::tgamma(1.0 + 1.0 / shape);
                scale_s * scale_s * (libm::tgamma(1.0 + 2.0 / shape) - mean * mean)
            }
            Distribution::Measured { p50_s, p95_s } => {
                // Half of the samples are uniform below p50, the others up to the end of the second segment.
                let above = (p95_s - p50_s) * 0.5 / 0.45;
                let square = p50_s * p50_s / 3.0 + p50_s * p50_s + p50_s * above + above * above / 3.0;
                square / 2.0 - self.mean_s() * self.mean_s()
            }
        };
        libm::sqrt(variance.max(0.0))
    }

    /// Skewness of a distribution whose tail is heavier than exponential; `None` for all others.
    pub fn heavy_tail_skewness(&self) -> Option<f64> {
        match *self {
            // J. Aitchison, J. Brown, "The Lognormal Distribution", 1957.
            Distribution::LogNormal { sigma, .. } => {
                let spread = libm::expm1(sigma * sigma);
                Some((spread + 3.0) * libm::sqrt(spread))
            }
            Distribution::Weibull { shape, .. } if shape < 1.0 => {
                let moment = |k: f64| libm::tgamma(1.0 + k / shape);
                let (mean, square) = (moment(1.0), moment(2.0));
                let variance = square - mean * mean;
                Some((moment(3.0) - 3.0 * mean * variance - mean * mean * mean) / (variance * libm::sqrt(variance)))
            }
            _ => None,
        }
    }

    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

/// The 95th percentile of the standard normal distribution.
const NORMAL_P95: f64 = 1.644_853_626_951_472_7;

/// Quantile of the standard normal distribution, |relative error| < 1.15e-9.
/// Source: P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution function", 2003.
pub fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1, 2.209_460_984_245_205e2, -2.759_285_104_469_687e2, 1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1, 2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1, 1.615_858_368_580_409e2, -1.556_989_798_598_866e2, 6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3, -3.223_964_580_411_365e-1, -2.400_758_277_161_838, -2.549_732_539_343_734,
        4.374_664_141_464_968, 2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
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
#[path = "../../../tests/inside/base/random/dist.rs"]
mod tests;
