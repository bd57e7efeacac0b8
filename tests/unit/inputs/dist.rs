//! Tests of `sim_inputs::dist`.

use sim_base::Duration;
use sim_base::random::{Distribution, EmpiricalDistribution};
use sim_inputs::dist::*;
use sim_inputs::text::diagnostic::SourceText;
use sim_inputs::text::yaml;
fn read(text: &str) -> Result<Distribution, DistributionError> {
    let text = text.to_owned();
    let file = "x".to_owned();
    dist(&yaml::parse(&SourceText { file, text }).unwrap()[0])
}

#[test]
fn each_form_of_a_distribution_is_read() {
    let uniform = Distribution::Uniform { low_s: 0.1, high_s: 2.0 };
    assert_eq!(read("{uniform: [100ms, 2]}"), Ok(uniform));
    assert_eq!(read("2s"), Ok(Distribution::Fixed(Duration::from_secs(2))));
    assert_eq!(read("{logNormal: {p50: 0.002, p95: 0.013}}"), Ok(Distribution::from_p50_p95(0.002, 0.013)));
    assert_eq!(read("{exponential: {mean: 1m}}"), Ok(Distribution::Exponential { mean_s: 60.0 }));
    let gamma = Distribution::Gamma { mean_s: 60.0, shape: 0.5 };
    assert_eq!(read("{gamma: {mean: 1m, shape: 0.5}}"), Ok(gamma));
    let weibull = read("{weibull: {mean: 1m, shape: 0.7}}").unwrap();
    assert!((weibull.mean_s() - 60.0).abs() < 1e-9, "{weibull:?}");
    let table = |weighted: &[(f64, f64)]| Ok(Distribution::Empirical(EmpiricalDistribution::new(weighted).unwrap()));
    assert_eq!(read("{empirical: [1m, 2, 2]}"), table(&[(60.0, 1.0), (2.0, 1.0), (2.0, 1.0)]));
    assert_eq!(read("{empirical: {values: [1m, 2], weights: [1, 3]}}"), table(&[(60.0, 1.0), (2.0, 3.0)]));
}

#[test]
fn impossible_distributions_are_rejected() {
    for (text, part) in [
        ("{uniform: [2, 1]}", "is empty"),
        ("{uniform: [1]}", "requires two times"),
        ("{uniform: [1, 2], exponential: {mean: 1}}", "not a distribution"),
        ("{logNormal: {median: 1}}", "requires {median, sigma}"),
        ("{logNormal: {p50: 2, p95: 1}}", "is required"),
        ("{uniform: [.nan, 1]}", "the number of seconds must be"),
        ("{}", "not a distribution"),
        ("{empirical: {values: [1, 2], weights: [1]}}", "weights (1) differs from the number of values (2)"),
        ("{empirical: {values: [1], weights: [0]}}", "all weights are zero"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}
