//! Unit tests of `sim_engine::training_model::stretch`.

use super::*;
use crate::training_model::pace::{ONE, Reason};
use proptest::prelude::*;

/// Computes the completed work by bisection only.
fn by_halves(plan: &Plan, elapsed: u128) -> u128 {
    let mut most = elapsed.max(1);
    while plan.reaches(most) <= elapsed && plan.work.is_none_or(|w| most < u128::from(w)) {
        most *= 2;
    }
    let (mut low, mut high) = (0, most.min(plan.work.map_or(u128::MAX, u128::from)));
    if plan.reaches(high) <= elapsed {
        return high;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match plan.reaches(middle) <= elapsed {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

proptest! {
    #[test]
    fn what_is_done_is_found_however_the_pace_is(
        kinds in proptest::collection::vec((1u64..2_000, 0u64..500, 0u64..3_000), 0..3),
        work in proptest::option::of(0u64..100_000),
        legs in proptest::collection::vec((0u64..50_000, 1_000_000_000u64..3_000_000_000), 0..3),
        (z, elapsed) in (-3.0f64..3.0, 0u64..200_000),
        (also, since) in (proptest::collection::vec(1u64..50_000, 0..2), 0u64..5_000),
        by_chance in any::<bool>(),
    ) {
        let kind = |(every, blocking, commit)| Kind { every, blocking, commit };
        let mut pace = Pace::default();
        if by_chance {
            pace.by_chance(z, 0.000_001, 0.000_000_5);
        }
        for (from, factor) in legs {
            pace.changes(from, Reason::Slow, factor.max(ONE));
        }
        let plan = Plan {
            work,
            pace,
            saving: Saving::Checkpoints(kinds.into_iter().map(kind).collect()),
            also,
            since,
            ..Plan::default()
        };
        let elapsed = u128::from(elapsed);
        prop_assert_eq!(plan.done(elapsed), by_halves(&plan, elapsed));
    }
}

#[test]
fn the_last_that_holds_is_found_from_either_end() {
    for (most, limit) in [
        (0, 0),
        (1, 0),
        (1, 1),
        (9, 9),
        (9, 8),
        (9, 3),
        (1000, 1),
        (1000, 0),
    ] {
        assert_eq!(last_that(most, |n| n <= limit), limit, "{limit} of {most}");
    }
}
