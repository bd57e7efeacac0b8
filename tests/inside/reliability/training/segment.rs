//! Unit tests of `sim_reliability::training::segment`.

use super::*;
use crate::training::pace::{PaceReason, UNIT_FACTOR};
use proptest::prelude::*;

/// Computes the completed work by bisection only.
fn by_halves(plan: &SegmentPlan, elapsed: u128) -> u128 {
    let mut most = elapsed.max(1);
    while plan.elapsed_for_work(most) <= elapsed && plan.work.is_none_or(|w| most < u128::from(w)) {
        most *= 2;
    }
    let (mut low, mut high) = (0, most.min(plan.work.map_or(u128::MAX, u128::from)));
    if plan.elapsed_for_work(high) <= elapsed {
        return high;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if plan.elapsed_for_work(middle) <= elapsed { low = middle } else { high = middle }
    }
    low
}

proptest! {
    #[test]
    fn what_is_done_is_found_however_the_pace_is(
        kinds in proptest::collection::vec((1u64..2_000, 0u64..500, 0u64..3_000, 0u64..5_000), 0..3),
        work in proptest::option::of(0u64..100_000),
        legs in proptest::collection::vec((0u64..50_000, 1_000_000_000u64..3_000_000_000), 0..3),
        (z, elapsed) in (-3.0f64..3.0, 0u64..200_000),
        also in proptest::collection::vec(1u64..50_000, 0..2),
        by_chance in any::<bool>(),
    ) {
        let kind = |(interval, blocking, commit, carry_over)| SegmentKind { interval, carry_over, blocking, commit };
        let mut pace = TrainingPace::default();
        if by_chance {
            pace.set_deviation(z, 0.000_001, 0.000_000_5);
        }
        for (from, factor) in legs {
            pace.set_factor(from, PaceReason::Slow, factor.max(UNIT_FACTOR));
        }
        let plan = SegmentPlan {
            work,
            pace,
            saving: CheckpointSave::Checkpoints(kinds.into_iter().map(kind).collect()),
            forced_checkpoints: also,
            ..SegmentPlan::default()
        };
        let elapsed = u128::from(elapsed);
        prop_assert_eq!(plan.completed_work(elapsed), by_halves(&plan, elapsed));
    }
}

#[test]
fn the_last_that_holds_is_found_from_either_end() {
    for (most, limit) in [(0, 0), (1, 0), (1, 1), (9, 9), (9, 8), (9, 3), (1000, 1), (1000, 0)] {
        assert_eq!(last_satisfying(most, |n| n <= limit), limit, "{limit} of {most}");
    }
}
