//! Unit tests of `sim_base::random::dist`.

use super::*;

#[test]
fn quantiles_agree_with_closed_forms() {
    for (u, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.001, -3.090_232_306_167_813)] {
        assert!((normal_quantile(u) - z).abs() < 5e-9, "{u}");
    }
    let near = |d: Duration, s: f64| assert!((d.seconds() - s).abs() < 2e-8, "{} {s}", d.seconds());
    near(Distribution::Exponential { mean_s: 2.0 }.median(), 2.0 * std::f64::consts::LN_2);
    near(Distribution::LogNormal { median_s: 0.6, sigma: 0.3 }.median(), 0.6);
    near(Distribution::Uniform { low_s: 1.0, high_s: 3.0 }.quantile(0.25), 1.5);
    near(Distribution::Weibull { scale_s: 5.0, shape: 1.0 }.median(), 5.0 * std::f64::consts::LN_2);
    near(Distribution::from_p50_p95(0.01, 0.03).quantile(0.95), 0.03);
    let measured = Distribution::Measured { p50_s: 0.01, p95_s: 0.03 };
    for dist in [
        Distribution::Uniform { low_s: 1.0, high_s: 3.0 },
        Distribution::Exponential { mean_s: 2.0 },
        Distribution::LogNormal { median_s: 0.6, sigma: 0.3 },
        Distribution::Weibull { scale_s: 5.0, shape: 1.5 },
        measured.clone(),
    ] {
        // Integrates over the quantiles at the middles of equal parts. This covers mean and deviation except for the
        // extreme tail.
        let n = 100_000;
        let all = (0..n).map(|i| dist.quantile((f64::from(i) + 0.5) / f64::from(n)));
        let all: Vec<f64> = all.map(|d| d.seconds()).collect();
        let mean = all.iter().sum::<f64>() / f64::from(n);
        let square = all.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>();
        let sd = libm::sqrt(square / f64::from(n));
        assert!((mean / dist.mean_s() - 1.0).abs() < 1e-4, "{dist:?}");
        assert!((sd / dist.sd_s() - 1.0).abs() < 1e-3, "{dist:?}");
    }
    for (u, at) in [(0.25, 0.005), (0.5, 0.01), (0.95, 0.03)] {
        near(measured.quantile(u), at);
    }
    let gamma = Distribution::Gamma { mean_s: 6.0, shape: 1.0 };
    near(gamma.median(), 6.0 * std::f64::consts::LN_2);
    let table = EmpiricalDistribution::new(&[(3.0, 1.0), (1.0, 2.0), (9.0, 0.0), (2.0, 1.0)]).unwrap();
    assert_eq!(table.mean_s, 1.75);
    assert!((table.variance() - 0.6875).abs() < 1e-12);
    let table = Distribution::Empirical(table);
    for (u, at) in [(0.01, 1.0), (0.5, 1.0), (0.51, 2.0), (0.75, 2.0), (0.9, 3.0)] {
        near(table.quantile(u), at);
    }
    assert_eq!(EmpiricalDistribution::new(&[(1.0, 0.0)]), None);
    assert!(measured.quantile(0.999_999) < Duration::from_millis(33));
}
