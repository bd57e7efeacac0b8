//! A metric over replications: its mean with an interval, and quantiles.

use super::quantile::{quantile, sorted};
use serde::Serialize;

/// What is reported of a metric over replications.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The arithmetic mean.
    pub mean: f64,
    /// 95 % interval of the mean by Student's t; the mean itself twice where one value cannot tell.
    pub ci95: [f64; 2],
    /// The 10th percentile.
    pub p10: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// How many values there were.
    pub n: usize,
}

impl Estimate {
    /// `None` without values.
    pub fn of(values: Vec<f64>) -> Option<Estimate> {
        let values = sorted(values);
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let half = if n > 1 {
            let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
            let deviation = libm::sqrt(squares / (n - 1) as f64);
            t_975(n - 1) * deviation / libm::sqrt(n as f64)
        } else {
            0.0
        };
        Some(Estimate {
            mean,
            ci95: [mean - half, mean + half],
            p10: quantile(&values, 0.10)?,
            p50: quantile(&values, 0.50)?,
            p90: quantile(&values, 0.90)?,
            n,
        })
    }
}

/// The 0.975 quantile of Student's t: tabled to 30 degrees of freedom, then the Cornish–Fisher expansion, whose error
/// is below 0.0001 there.
pub fn t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010,
        2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739,
        2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    ];
    match degrees {
        0 => f64::INFINITY,
        1..=30 => TABLE[degrees - 1],
        _ => {
            let z: f64 = 1.959_963_984_540_054;
            let n = degrees as f64;
            let (z3, z5) = (z * z * z, z * z * z * z * z);
            z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_the_mean_uses_students_t() {
        let e = Estimate::of(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!((e.mean, e.p50, e.n), (2.0, 2.0, 3));
        assert!((e.ci95[1] - (2.0 + 4.3027 / 3f64.sqrt())).abs() < 1e-9);
        assert_eq!(Estimate::of(vec![5.0]).unwrap().ci95, [5.0, 5.0]);
        assert_eq!(Estimate::of(vec![]), None);
    }

    #[test]
    fn students_t_is_continuous_at_the_end_of_the_table() {
        assert!((t_975(31) - 2.0395).abs() < 1e-3);
        assert!((t_975(100_000) - 1.96).abs() < 1e-3);
    }
}
