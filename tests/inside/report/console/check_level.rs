//! Unit tests of `sim_report::console::check_level`.

use super::*;
use sim_base::stats::MeanEstimate;

fn check(verdicts: &[(&'static str, LevelVerdict)]) -> LevelCheck {
    let difference = |(name, verdict): &(&'static str, LevelVerdict)| LevelDifference {
        name,
        pods: 1.0,
        nodes: 1.0,
        difference: MeanEstimate::from_values(vec![0.0, 0.0]).unwrap(),
        tolerance: 0.1,
        verdict: *verdict,
        replications_needed: None,
    };
    LevelCheck {
        scenario: "some".to_owned(),
        seed: 1,
        equal: 0,
        differences: verdicts.iter().map(difference).collect(),
        verdict: LevelVerdict::Agree,
        replications: Vec::new(),
    }
}

#[test]
fn a_check_fails_in_the_quantities_that_differ_and_not_because_it_is_inconclusive() {
    use LevelVerdict::{Agree, Differ, Inconclusive};
    let failure = |of: &[(&'static str, LevelVerdict)]| check(of).failure();
    assert_eq!(failure(&[("restarts", Agree), ("goodput", Inconclusive)]), None);
    let both = failure(&[("restarts", Differ), ("completed", Agree), ("goodput", Differ)]);
    assert_eq!(both.as_deref(), Some("the levels differ in restarts and goodput"));
}
