//! Tests of `sim_analysis::planning::breakeven`.

use sim_analysis::planning::SampleRow;
use sim_analysis::planning::breakeven::*;
use sim_analysis::planning::range::ParameterRange;
use sim_analysis::planning::sample::SampleMetric;
/// Searches for the break-even point; B is better than A by `gain(value)` plus noise.
fn search_break_even(range: &str, gain: impl Fn(f64) -> f64) -> BreakEven {
    let range: ParameterRange = range.parse().unwrap();
    let effort = SearchEffort { first_look: 16, most: 256 };
    let mut play = |point: &SearchPoint, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
        let row = |replication: u64| {
            let noise = (replication * 37 % 101) as f64 / 101.0 - 0.5;
            let own = if point.is_b { gain(point.value) + noise } else { 0.0 };
            SampleRow { replication, value: Some(10.0 + own), cost: 0.0, is_worst: false, digest: 0 }
        };
        Ok(which.map(row).collect())
    };
    break_even((&range, "goodput"), effort, &mut play).unwrap()
}

#[test]
fn the_crossing_is_inside_its_interval_and_the_interval_is_narrow() {
    let BreakEvenCrossing::At { below, estimate, low, high } = search_break_even("x=0.0..10.0", |x| x - 3.3).crossing
    else {
        panic!("no crossing");
    };
    assert_eq!(below, BreakEvenSide::A);
    assert!(low < 3.3 && 3.3 < high && high - low < 1.0, "{low} {high}");
    assert!((estimate - 3.3).abs() < 0.3, "{estimate}");
    let BreakEvenCrossing::At { low, high, .. } = search_break_even("x=0..40", |x| x - 12.0).crossing else {
        panic!("no crossing");
    };
    assert_eq!((low, high), (11.0, 13.0));
}

#[test]
fn better_everywhere_and_inconclusive_are_results() {
    let everywhere = search_break_even("x=1..9", |x| x);
    assert_eq!(everywhere.crossing, BreakEvenCrossing::Everywhere { side: BreakEvenSide::B });
    let worse = search_break_even("x=1..9", |x| -x);
    assert_eq!(worse.crossing, BreakEvenCrossing::Everywhere { side: BreakEvenSide::A });
    assert_eq!(search_break_even("x=1..9", |_| 0.0).crossing, BreakEvenCrossing::NotTold);
    let one_end = search_break_even("x=0.0..9.0", |x| if x < 5.0 { 1.0 } else { 0.0 });
    assert!(matches!(one_end.crossing, BreakEvenCrossing::OneEnd { side: BreakEvenSide::B, lower: true, .. }));
    let upper = search_break_even("x=0.0..9.0", |x| if x > 5.0 { 1.0 } else { 0.0 });
    assert!(matches!(upper.crossing, BreakEvenCrossing::OneEnd { lower: false, until, .. } if until > 5.0));
    let inside = search_break_even("x=0.0..8.0", |x| if (1.0..7.0).contains(&x) { 1.0 } else { 0.0 });
    assert!(matches!(inside.crossing, BreakEvenCrossing::Inside { side: BreakEvenSide::B, low: 2.0, high: 6.0 }));
    let twice = search_break_even("x=0.0..10.0", |x| (x - 4.0) * (x - 6.0));
    assert_eq!(twice.crossing, BreakEvenCrossing::SeveralTimes);
}
