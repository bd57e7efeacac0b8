//! Unit tests of `sim_analysis::experiment::compare::paired`.

use super::*;

#[test]
fn a_verdict_names_the_better_side_and_none_without_separation() {
    use BetterDirection::*;
    use Ordering::*;
    for (separated, better, expected) in [
        (Some(Less), Lower, CompareVerdict::B),
        (Some(Greater), Lower, CompareVerdict::A),
        (Some(Less), Higher, CompareVerdict::A),
        (Some(Greater), Higher, CompareVerdict::B),
        (None, Lower, CompareVerdict::Inconclusive),
    ] {
        assert_eq!(verdict(separated, better, [8, 8]), expected, "{separated:?} {better:?}");
    }
}

#[test]
fn variant_that_completes_fewer_replications_is_never_better() {
    let less = Some(Ordering::Less);
    for (completed, expected) in
        [([8, 8], CompareVerdict::B), ([7, 8], CompareVerdict::B), ([8, 7], CompareVerdict::CompletesLess)]
    {
        let verdict = verdict(less, BetterDirection::Lower, completed);
        assert_eq!(verdict, expected, "{completed:?}");
    }
}
