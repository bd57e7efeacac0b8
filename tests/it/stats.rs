//! `stats` compared with results of SciPy (`stats/*.yaml` contain the calls), and guarantees checked in simulated
//! samples.

mod coverage;

use serde::Deserialize;
use sim_base::stats::beta::incomplete_beta;
use sim_base::stats::binomial::{binomial_cdf, binomial_sf};
use sim_base::stats::normal::normal_quantile;
use sim_base::stats::student::t_upper;
use sim_base::stats::warnings::skewness;
use sim_base::stats::wilcoxon::WilcoxonMethod;
use sim_base::stats::{
    PairedDifference, SampleKind, StudentMean, any_pair_error, quantile, quantile_interval, sign_test, sorted, wilcoxon,
};

/// Maximum relative difference from SciPy's result.
const TOLERANCE: f64 = 1e-10;

#[track_caller]
fn assert_near(got: f64, expected: f64, what: &str) {
    let most = TOLERANCE * expected.abs();
    let near = got == expected || (got - expected).abs() <= most;
    assert!(near, "{what}: {got:e}, but SciPy gives {expected:e}");
}

fn read<T: for<'de> Deserialize<'de>>(text: &str) -> T {
    serde_yaml::from_str(text).unwrap_or_else(|e| panic!("the table cannot be read: {e}"))
}

#[derive(Deserialize)]
struct Distributions {
    t_upper: Vec<Upper>,
    normal: Vec<Normal>,
    beta: Vec<Beta>,
    binomial: Vec<Binomial>,
}

#[derive(Deserialize)]
struct Upper {
    degrees: f64,
    tail: f64,
    t: f64,
}

#[derive(Deserialize)]
struct Normal {
    p: f64,
    z: f64,
}

#[derive(Deserialize)]
struct Beta {
    a: f64,
    b: f64,
    x: f64,
    chance: f64,
}

#[derive(Deserialize)]
struct Binomial {
    n: usize,
    p: f64,
    k: usize,
    cdf: f64,
    sf: f64,
}

#[test]
fn quantiles_of_students_t_and_the_normal_are_scipys_for_any_degrees_and_level() {
    let table: Distributions = read(include_str!("stats/distributions.yaml"));
    for c in &table.t_upper {
        let what = format!("{} degrees, tail {}", c.degrees, c.tail);
        assert_near(t_upper(c.degrees, c.tail), c.t, &what);
        // The difference 1 − tail has too few digits for small tails.
        if c.tail > 1e-4 {
            assert_near(-t_upper(c.degrees, 1.0 - c.tail), c.t, &what);
        }
    }
    for c in &table.normal {
        assert_near(normal_quantile(c.p), c.z, &format!("normal, {}", c.p));
    }
    assert_eq!(t_upper(5.0, 0.5), 0.0);
    assert!(t_upper(5.0, 0.0).is_infinite() && t_upper(0.0, 0.1).is_infinite());
}

#[test]
fn chances_of_the_beta_and_binomial_distributions_are_scipys() {
    let table: Distributions = read(include_str!("stats/distributions.yaml"));
    for Beta { a, b, x, chance } in table.beta {
        let what = format!("beta {a} {b} at {x}");
        assert_near(incomplete_beta((a, b), (x, 1.0 - x)), chance, &what);
    }
    for c in table.binomial {
        let what = format!("{} of {}, {}", c.k, c.n, c.p);
        assert_near(binomial_cdf(c.k, c.n, c.p), c.cdf, &what);
        assert_near(binomial_sf(c.k, c.n, c.p), c.sf, &what);
    }
}

#[derive(Deserialize)]
struct Samples {
    samples: Vec<Sample>,
    pairs: Vec<Pairs>,
}

#[derive(Deserialize)]
struct Sample {
    name: String,
    values: Vec<f64>,
    quantiles: Vec<f64>,
    skewness: f64,
    mean_interval: Vec<Interval>,
    quantile_interval: Vec<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    #[serde(default)]
    p: f64,
    level: f64,
    bounds: [Option<f64>; 2],
}

#[test]
fn quantiles_intervals_and_skewness_of_samples_are_scipys() {
    let table: Samples = read(include_str!("stats/samples.yaml"));
    for s in table.samples {
        let ascending = sorted(s.values.clone());
        for (p, expected) in [0.0, 0.1, 0.25, 0.5, 0.9, 0.95, 1.0].iter().zip(&s.quantiles) {
            let what = format!("{}, quantile {p}", s.name);
            assert_near(quantile(&ascending, *p).unwrap(), *expected, &what);
        }
        let mean = StudentMean::from_values(&s.values).unwrap();
        for i in &s.mean_interval {
            let got = mean.interval(i.level).map(Some);
            assert_bounds_near(got, i.bounds, &format!("{}, mean at {}", s.name, i.level));
        }
        for i in &s.quantile_interval {
            // SciPy's bounds are single values; those here are between them and the next inner values.
            let got = quantile_interval(&ascending, i.p, i.level);
            let what = format!("{}, quantile {} at {}: {got:?}", s.name, i.p, i.level);
            let next = |bound: f64, inner: usize, outer: usize| {
                let at = ascending.iter().position(|v| *v == bound).expect("a value");
                ascending[(at + inner).saturating_sub(outer).min(ascending.len() - 1)]
            };
            assert_eq!(got.map(|b| b.is_some()), i.bounds.map(|b| b.is_some()), "{what}");
            if let (Some(got), Some(outer)) = (got[0], i.bounds[0]) {
                assert!(outer <= got && got <= next(outer, 1, 0), "{what}");
            }
            if let (Some(got), Some(outer)) = (got[1], i.bounds[1]) {
                assert!(next(outer, 0, 1) <= got && got <= outer, "{what}");
            }
        }
        let got = skewness(&s.values).unwrap();
        // The skewness of two values is 0, and other samples may have values near 0, so the tolerance has an
        // absolute minimum.
        let most = TOLERANCE * s.skewness.abs().max(1.0);
        assert!((got - s.skewness).abs() < most, "{}: {got}", s.name);
    }
}

/// The interpolated median interval of T. Hettmansperger and S. Sheather, by hand: among 11 values, ranks 2 and 3 have
/// the confidences 0.98828 and 0.93457, so 0.95 is the share 0.71273 between them, and the weight of the third value
/// 9 · 0.71273 / (2 + 7 · 0.71273) = 0.91780.
#[test]
fn median_intervals_are_interpolated_between_ranks_and_equal_values_are_not() {
    let values: Vec<f64> = (0..11).map(f64::from).collect();
    let [low, high] = quantile_interval(&values, 0.5, 0.95).map(Option::unwrap);
    assert!((low - 1.9178).abs() < 1e-4 && (high - 8.0822).abs() < 1e-4, "{low} {high}");
    let mut equal = values.clone();
    equal[5] = equal[4];
    assert_eq!(quantile_interval(&equal, 0.5, 0.95), [Some(1.0), Some(9.0)]);
    // Replications without a value are infinite: the interval extends to them.
    let censored = [&values[..9], &[f64::INFINITY; 2]].concat();
    assert_eq!(quantile_interval(&censored, 0.5, 0.95)[1], Some(f64::INFINITY));
}

#[track_caller]
fn assert_bounds_near(got: [Option<f64>; 2], expected: [Option<f64>; 2], what: &str) {
    for (got, expected) in got.iter().zip(expected) {
        assert_near(got.unwrap(), expected.unwrap(), what);
    }
}

#[derive(Deserialize)]
struct Pairs {
    name: String,
    first: Vec<f64>,
    second: Vec<f64>,
    interval: [Option<f64>; 2],
    sign_p: f64,
    statistic: f64,
    exact: Option<f64>,
    normal: Option<f64>,
}

#[test]
fn paired_differences_and_their_tests_are_scipys() {
    let table: Samples = read(include_str!("stats/samples.yaml"));
    for c in table.pairs {
        let pairs: Vec<(f64, f64)> = c.first.into_iter().zip(c.second).collect();
        let paired = PairedDifference::from_pairs(&pairs, SampleKind::Number).unwrap();
        assert_bounds_near(paired.ci95.map(Some), c.interval, &c.name);
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        assert_near(sign_test(&differences).p, c.sign_p, &c.name);
        let test = wilcoxon(&differences).unwrap();
        assert_eq!(test.statistic, c.statistic, "{}", c.name);
        let (p, method) = match (c.exact, c.normal) {
            (Some(p), _) => (p, WilcoxonMethod::Exact),
            (_, p) => (p.unwrap(), WilcoxonMethod::Normal),
        };
        assert_eq!(test.method, method, "{}", c.name);
        assert_near(test.p, p, &c.name);
    }
    assert_eq!(wilcoxon(&[0.0, 0.0]), None);
    assert_eq!(sign_test(&[0.0]).p, 1.0);
}

/// Pairing is useful because of the variance of the difference.
#[test]
fn a_difference_is_separated_when_its_interval_excludes_zero_and_not_before() {
    // The values vary by hundreds, and their differences by one.
    let pairs = |difference: [f64; 4]| {
        let first = [100.0, 300.0, 500.0, 900.0];
        let pairs: Vec<_> = first.iter().zip(difference).map(|(a, d)| (*a, a + d)).collect();
        PairedDifference::from_pairs(&pairs, SampleKind::Number).unwrap()
    };
    let clear = pairs([-5.0, -6.0, -5.0, -6.0]);
    assert_eq!(clear.significant_order(), Some(std::cmp::Ordering::Less));
    assert!(clear.deviation < 1.0 && clear.unpaired_deviation > 400.0);
    let unclear = pairs([-1.0, 2.0, -1.0, 3.0]);
    assert_eq!(unclear.significant_order(), None);
    let one = PairedDifference::from_pairs(&[(1.0, 3.0)], SampleKind::Number).unwrap();
    assert_eq!((one.significant_order(), one.mean), (None, 2.0));
    let never = PairedDifference::from_pairs(&[(1.0, 1.0), (2.0, 2.0)], SampleKind::Number).unwrap();
    assert_eq!(never.significant_order(), None);
    let always = PairedDifference::from_pairs(&[(1.0, 2.0), (2.0, 3.0)], SampleKind::Number).unwrap();
    assert_eq!(always.significant_order(), Some(std::cmp::Ordering::Greater));
    assert_eq!(PairedDifference::from_pairs(&[], SampleKind::Number), None);
}

/// Tables of the studentized range with known variance: P(range of k > 1.96 √2).
#[test]
fn the_error_of_several_uncorrected_pairs_is_that_of_the_range() {
    for (k, expected) in [(1, 0.0), (2, 0.05), (3, 0.1223), (4, 0.2034), (6, 0.3656), (10, 0.6274)] {
        let error = any_pair_error(k);
        assert!((error - expected).abs() < 2e-3, "{k}: {error}, expected {expected}");
    }
}
