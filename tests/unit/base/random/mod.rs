//! Tests of `sim_base::random`.

mod gamma;
mod key;

#[test]
fn skewness_of_heavy_tails_is_the_closed_form() {
    use sim_base::random::Distribution;
    // exp(1) + 2 times sqrt(exp(1) − 1).
    let log_normal = Distribution::LogNormal { median_s: 60.0, sigma: 1.0 };
    assert!((log_normal.heavy_tail_skewness().unwrap() - 6.184_877_138_632_554).abs() < 1e-9);
    // Shape 1/2 is the square of an exponential variable: moments 2, 24 and 720.
    let weibull = |shape| Distribution::Weibull { scale_s: 9.0, shape };
    let expected = (720.0 - 3.0 * 2.0 * 20.0 - 8.0) / (20.0 * 20f64.sqrt());
    assert!((weibull(0.5).heavy_tail_skewness().unwrap() - expected).abs() < 1e-9);
    assert_eq!(weibull(1.0).heavy_tail_skewness(), None);
    assert_eq!(Distribution::Exponential { mean_s: 1.0 }.heavy_tail_skewness(), None);
}
