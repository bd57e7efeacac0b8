//! Unit tests of `sim_analysis::planning::least`.

use super::*;

/// Searches with a noisy metric. Each replication yields `value` plus noise that is identical for all candidates.
fn noisy(limit: f64, noise: f64) -> (SearchAnswer, Vec<u64>) {
    let target: MetricTarget = format!("x.p10 >= {}", limit + 10.0).parse().unwrap();
    let plan = SearchPlan { min: 0, max: 40, first_look: 40, most: 400 };
    let mut play = |value: &u64, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
        let row = |replication: u64| SampleRow {
            replication,
            // The noise takes ten equally frequent values, so that the tenth percentile is known.
            value: Some(10.0 + *value as f64 + noise * (replication * 7 % 10) as f64),
            cost: *value as f64,
            is_worst: false,
            digest: 0,
        };
        Ok(which.map(row).collect())
    };
    let result = find_minimum(&plan, &target, &mut play).unwrap();
    assert!(result.not_monotone.is_empty());
    let outcome = result.candidates.iter().map(|c| c.value).collect();
    (result.answer, outcome)
}

#[test]
fn it_finds_what_trying_all_of_them_finds_and_simulates_few() {
    for limit in (0..=40).step_by(crate::cases::cases(4, 2) as usize) {
        let (answer, replication) = noisy(f64::from(limit) - 0.5, 0.0);
        assert_eq!(answer, SearchAnswer::Least { value: limit as u64 });
        assert!(replication.len() <= 10, "{limit}: {replication:?}");
        let neighbor = limit as u64 + 1;
        assert!(limit == 40 || replication.contains(&neighbor), "{limit}: {replication:?}");
    }
    assert_eq!(noisy(41.0, 0.0).0, SearchAnswer::Nothing);
}

#[test]
fn an_inconclusive_part_is_a_range() {
    // The noise takes ten equally frequent values, so the tenth percentile is between the lowest and the next one.
    let (answer, _) = noisy(20.0, 1.0);
    let SearchAnswer::Between { low, high } = answer else {
        panic!("{answer:?}");
    };
    assert!(low <= 19 && high >= 20 && high - low < 4, "{low} {high}");
}

#[test]
fn candidates_that_are_worse_than_smaller_ones_are_named() {
    let target: MetricTarget = "x.p10 >= 5".parse().unwrap();
    let plan = SearchPlan { min: 0, max: 4, first_look: 64, most: 64 };
    let mut play = |value: &u64, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
        let row = |replication: u64| SampleRow {
            replication,
            value: Some([0.0, 9.0, 6.0, 7.0, 8.0][*value as usize]),
            cost: 0.0,
            is_worst: false,
            digest: 0,
        };
        Ok(which.map(row).collect())
    };
    let result = find_minimum(&plan, &target, &mut play).unwrap();
    assert_eq!(result.answer, SearchAnswer::Least { value: 1 });
    assert_eq!(result.not_monotone, [2]);
}

#[test]
fn an_interrupted_search_says_what_is_known() {
    let target: MetricTarget = "x.p10 >= 5".parse().unwrap();
    let plan = SearchPlan { min: 0, max: 8, first_look: 64, most: 64 };
    let mut calls = 0;
    let mut play = |value: &u64, which: std::ops::Range<u64>| -> Result<SampleMetric, ()> {
        calls += 1;
        let row = |replication: u64| SampleRow {
            replication,
            value: Some(*value as f64),
            cost: 0.0,
            is_worst: false,
            digest: 0,
        };
        let end = if calls > 2 { which.start } else { which.end };
        Ok((which.start..end).map(row).collect())
    };
    let result = find_minimum(&plan, &target, &mut play).unwrap();
    assert!(result.interrupted);
    assert_eq!(result.answer, SearchAnswer::Between { low: 1, high: 8 });
}

#[test]
fn required_replications_follow_from_the_level_of_the_last_look() {
    let plan = |most: u64| SearchPlan { min: 0, max: 1, first_look: most.min(30), most };
    let target: MetricTarget = "goodput.p10 >= 0.9".parse().unwrap();
    // With one look the level would be 0.95: 0.9^n < 0.025 from n = 36 on. More looks need more replications.
    let needed = plan(30).too_few(&target).expect("30 replications are too few");
    assert!((36..60).contains(&needed), "{needed}");
    assert_eq!(plan(needed as u64).too_few(&target), None);
    assert_eq!(plan(2).too_few(&"goodput.mean >= 0.9".parse().unwrap()), None);
}
