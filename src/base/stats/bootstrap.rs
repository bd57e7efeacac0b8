//! The bootstrap confidence interval corrected for bias and skewness ("BCa"), for any statistic of a sample.
//! Source: B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, 14.3.

use super::normal::{normal_cdf, normal_quantile};
use super::quantile::{quantile, sorted};
use crate::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use serde::Serialize;

/// A BCa interval with its two corrections.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct BcaBootstrap {
    /// The bounds of the interval.
    pub interval: [f64; 2],
    /// Bias correction: distance of the resamples' median from the observed value, in normal standard deviations.
    pub z0: f64,
    /// Acceleration: rate of change of the statistic's standard deviation with its value.
    pub acceleration: f64,
}

/// The interval of `statistic` at this level from `resamples` samples with replacement. Uses the random numbers of
/// `key` in `draws`, independent of all other draws. `None` if the resamples are degenerate, such as equal values.
pub fn bca(
    values: &[f64],
    statistic: &dyn Fn(&[f64]) -> f64,
    (level, resamples): (f64, u32),
    (draws, key): (&mut DrawSequence, StreamKey),
) -> Option<BcaBootstrap> {
    let n = u32::try_from(values.len()).ok().filter(|n| *n > 1)?;
    let mut sample = vec![0.0; values.len()];
    let resampled = (0..resamples).map(|occurrence| {
        for (substream_index, value) in (0..n).zip(&mut sample) {
            let draw =
                UniformDraw { purpose: StreamPurpose::Bootstrap, entity: key, occurrence, substream: substream_index };
            *value = values[draws.below(draw, n) as usize];
        }
        statistic(&sample)
    });
    let resampled = resampled.collect();
    bca_from(statistic(values), resampled, &jackknife(values, statistic), level)
}

/// The statistic without each of the values in turn.
pub fn jackknife(values: &[f64], statistic: &dyn Fn(&[f64]) -> f64) -> Vec<f64> {
    let without = |i: usize| {
        let mut rest = values.to_vec();
        rest.remove(i);
        statistic(&rest)
    };
    (0..values.len()).map(without).collect()
}

/// Computes the interval from the observed, the resampled and the jackknife statistics.
pub fn bca_from(observed: f64, resampled: Vec<f64>, jackknife: &[f64], level: f64) -> Option<BcaBootstrap> {
    let resampled = sorted(resampled);
    // Values equal to the observed one count half.
    let below = resampled.partition_point(|v| *v < observed);
    let up_to = resampled.partition_point(|v| *v <= observed);
    let z0 = normal_quantile((below + up_to) as f64 / (2 * resampled.len()) as f64);
    let mean = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let squares: f64 = jackknife.iter().map(|v| (mean - v) * (mean - v)).sum();
    let cubes = jackknife.iter().map(|v| (mean - v) * (mean - v) * (mean - v));
    let acceleration = cubes.sum::<f64>() / (6.0 * squares * libm::sqrt(squares));
    if !z0.is_finite() || !acceleration.is_finite() {
        return None;
    }
    let side = normal_quantile(0.5 * (1.0 - level));
    let bound = |z: f64| {
        let moved = z0 + z;
        let p = normal_cdf(z0 + moved / (1.0 - acceleration * moved));
        quantile(&resampled, p)
    };
    Some(BcaBootstrap { interval: [bound(side)?, bound(-side)?], z0, acceleration })
}
