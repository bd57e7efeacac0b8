//! Tests of `sim_analysis::sweep::work_plan`.

use sim_analysis::experiment::MeasuredMetric;
use sim_analysis::sweep::finished_points::FinishedPoints;
use sim_analysis::sweep::row::SweepRow;
use sim_analysis::sweep::shard::SweepShard;
use sim_analysis::sweep::work_plan::*;
use sim_base::stats::TargetPrecision;
use std::sync::Arc;
fn row(point: usize, replication: u64, value: f64) -> SweepRow {
    SweepRow {
        point,
        replication,
        digest: 0,
        end_reason: "Completed".to_owned(),
        outcome: sim_analysis::experiment::ReplicationOutcome::Completed,
        names: Arc::new(vec!["m".to_owned()]),
        values: vec![MeasuredMetric::Value(value)],
        warnings: Vec::new(),
        never_placed: None,
    }
}

#[test]
fn shards_have_every_replication_once_and_what_is_finished_is_not_simulated_again() {
    let target = WorkTarget { points: 5, replications: 4, until: None };
    let mut finished = FinishedPoints::default();
    finished.add(row(2, 1, 0.0));
    let mut all = Vec::new();
    for index in 0..3 {
        let shard = SweepShard::new(index, 3).unwrap();
        for (point, which) in target.next(shard, &finished) {
            all.extend(which.into_iter().map(|i| (point, i)));
        }
    }
    all.sort_unstable();
    let complete = (0..5).flat_map(|p| (0..4).map(move |i| (p, i)));
    let expected: Vec<(usize, u64)> = complete.filter(|k| *k != (2, 1)).collect();
    assert_eq!(all, expected);
    let totals: u64 = (0..3).map(|i| target.total(SweepShard::new(i, 3).unwrap())).sum();
    assert_eq!(totals, 20);
    assert!(target.describe_gaps(&finished).unwrap().starts_with("19 replications are missing"));
}

#[test]
fn a_point_is_simulated_until_it_is_precise_and_another_longer() {
    let until = WorkLimit { metric: "m".to_owned(), precision: TargetPrecision::Absolute(0.5) };
    let target = WorkTarget { points: 2, replications: 300, until: Some(until) };
    let mut finished = FinishedPoints::default();
    let mut rounds = 0;
    loop {
        let work = target.next(SweepShard::WHOLE, &finished);
        if work.is_empty() {
            break;
        }
        rounds += 1;
        for (point, which) in work {
            for i in which {
                // The first point varies little, and the second one much.
                let spread = [0.1, 3.0][point];
                finished.add(row(point, i, spread * (((i * 7) % 11) as f64 - 5.0) / 5.0));
            }
        }
    }
    let counts = [0, 1].map(|p| finished.of_point(p).len());
    assert_eq!(counts[0], 64, "fewer replications give no interval for p90");
    assert!(counts[1] >= 128, "{counts:?} in {rounds} rounds");
    assert_eq!(target.imprecise_points(&finished), [] as [usize; 0]);
    let strict = WorkLimit { metric: "m".to_owned(), precision: TargetPrecision::Absolute(1e-9) };
    let strict = WorkTarget { points: 2, replications: 32, until: Some(strict) };
    assert!(strict.imprecise_points(&finished).contains(&1));
}
