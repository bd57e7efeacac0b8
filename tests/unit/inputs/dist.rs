//! Tests of `sim_inputs::dist`.

use sim_base::Duration;
use sim_base::random::{Dist, Empirical};
use sim_inputs::dist::*;
use sim_inputs::text::diagnostic::Source;
use sim_inputs::text::yaml;
fn read(text: &str) -> Result<Dist, String> {
    let text = text.to_owned();
    let file = "x".to_owned();
    dist(&yaml::parse(&Source { file, text }).unwrap()[0])
}

#[test]
fn each_form_of_a_distribution_is_read() {
    let uniform = Dist::Uniform {
        low_s: 0.1,
        high_s: 2.0,
    };
    assert_eq!(read("{uniform: [100ms, 2]}"), Ok(uniform));
    assert_eq!(read("2s"), Ok(Dist::Fixed(Duration::from_secs(2))));
    assert_eq!(
        read("{logNormal: {p50: 0.002, p95: 0.013}}"),
        Ok(Dist::from_p50_p95(0.002, 0.013))
    );
    assert_eq!(
        read("{exponential: {mean: 1m}}"),
        Ok(Dist::Exponential { mean_s: 60.0 })
    );
    let gamma = Dist::Gamma {
        mean_s: 60.0,
        shape: 0.5,
    };
    assert_eq!(read("{gamma: {mean: 1m, shape: 0.5}}"), Ok(gamma));
    let weibull = read("{weibull: {mean: 1m, shape: 0.7}}").unwrap();
    assert!((weibull.mean_s() - 60.0).abs() < 1e-9, "{weibull:?}");
    let table = |weighted: &[(f64, f64)]| Ok(Dist::Empirical(Empirical::new(weighted).unwrap()));
    assert_eq!(
        read("{empirical: [1m, 2, 2]}"),
        table(&[(60.0, 1.0), (2.0, 1.0), (2.0, 1.0)])
    );
    assert_eq!(
        read("{empirical: {values: [1m, 2], weights: [1, 3]}}"),
        table(&[(60.0, 1.0), (2.0, 3.0)])
    );
}

#[test]
fn impossible_distributions_are_refused() {
    for (text, part) in [
        ("{uniform: [2, 1]}", "is empty"),
        ("{uniform: [1]}", "two times"),
        ("{uniform: [1, 2], exponential: {mean: 1}}", "is one of"),
        ("{logNormal: {median: 1}}", "takes {median, sigma}"),
        ("{logNormal: {p50: 2, p95: 1}}", "is legal"),
        ("{uniform: [.nan, 1]}", "not a number of seconds"),
        ("{}", "is one of"),
        (
            "{empirical: {values: [1, 2], weights: [1]}}",
            "1 weights for 2",
        ),
        ("{empirical: {values: [1], weights: [0]}}", "no value"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(part), "{text}: {message}");
    }
}
