//! Unit tests of `sim_reliability::aging::remaining_life`.

use super::*;
use sim_base::Duration;

#[test]
fn the_rest_of_a_life_is_drawn_given_what_was_lived_of_it() {
    let s = |seconds: f64| Duration::from_seconds_f64(seconds).0;
    let uniform = Distribution::Uniform { low_s: 10.0, high_s: 30.0 };
    // After 20 s of a lifetime between 10 s and 30 s, the remaining time has a median of 5 s.
    for (u, expected) in [(0.0, 0.0), (0.5, 5.0), (0.9, 9.0)] {
        let actual = remaining_lifetime(&uniform, (s(20.0), s(3.0)), u) as f64 / 1e9;
        assert!((actual - expected).abs() < 1e-6, "{u}: {actual}");
    }
    let weibull = Distribution::Weibull { scale_s: 100.0, shape: 0.7 };
    let actual = remaining_lifetime(&weibull, (s(50.0), 0), 0.5) as f64 / 1e9;
    // The median remaining time x satisfies S(50 + x) = S(50) / 2.
    let survival = |t: f64| libm::exp(-libm::pow(t / 100.0, 0.7));
    assert!((survival(50.0 + actual) / survival(50.0) - 0.5).abs() < 1e-6);
    assert_eq!(remaining_lifetime(&Distribution::Fixed(Duration(7)), (3, 4), 0.1), 4);
}

#[test]
fn a_lifetime_elapses_only_while_its_entity_ages() {
    let mut life = RemainingLife::new(10);
    assert_eq!((life.begin(5), life.begin(6)), (Some(15), None));
    assert!(life.end(9) && !life.end(30), "it ages until 9");
    assert_eq!((life.left(40), life.set_left(40, 4), life.begin(41)), (6, None, Some(45)));
    assert_eq!(life.set_left(42, 8), Some(50));
    assert_eq!(RemainingLife::new(NEVER).begin(0), None);
}
