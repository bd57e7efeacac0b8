//! Unit tests of `sim_analysis::planning::several`.

use super::super::sample::SampleRow;
use super::*;

/// Runs the search. `of` is the metric of a combination, identical in all replications; `price` is the cost per
/// unit.
fn search(bounds: &[(u64, u64)], price: &[f64], of: &dyn Fn(&[u64]) -> f64) -> (Vec<Vec<u64>>, usize) {
    let target: MetricTarget = "x.p10 >= 0".parse().unwrap();
    let plan = |(min, max): &(u64, u64)| SearchPlan { min: *min, max: *max, first_look: 64, most: 64 };
    let plans: Vec<SearchPlan> = bounds.iter().map(plan).collect();
    let mut play = |values: &[u64], which: Range<u64>| -> Result<SampleMetric, ()> {
        let cost = values.iter().zip(price).map(|(n, price)| *n as f64 * price);
        let cost = cost.sum();
        let row =
            |replication: u64| SampleRow { replication, value: Some(of(values)), cost, is_worst: false, digest: 0 };
        Ok(which.map(row).collect())
    };
    let result = find_minimums(&plans, &target, &mut play).unwrap();
    assert!(result.open.is_empty() && !result.interrupted);
    (result.least.into_iter().map(|c| c.values).collect(), result.simulated)
}

/// Returns the same result by trying all combinations.
fn exhaustive(bounds: &[(u64, u64)], price: &[f64], of: &dyn Fn(&[u64]) -> f64) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    for (min, max) in bounds {
        let longer =
            |one: &Vec<u64>| -> Vec<Vec<u64>> { (*min..=*max).map(|n| [one.clone(), vec![n]].concat()).collect() };
        all = all.iter().flat_map(longer).collect();
    }
    all.retain(|values| of(values) >= 0.0);
    let mut result = minimal(all);
    let cost = |values: &Vec<u64>| -> f64 { values.iter().zip(price).map(|(n, p)| *n as f64 * p).sum() };
    result.sort_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
    result
}

#[test]
fn it_finds_what_trying_every_combination_finds_and_simulates_fewer() {
    let needs = |values: &[u64], weights: &[u64], limit: u64| {
        let sum: u64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
        sum as f64 - limit as f64
    };
    for limit in 0..=40 {
        let of = |values: &[u64]| needs(values, &[1, 4], limit);
        let bounds = [(0, 9), (0, 7)];
        let (result, replication) = search(&bounds, &[1.0, 3.5], &of);
        assert_eq!(result, exhaustive(&bounds, &[1.0, 3.5], &of), "{limit}");
        assert!(replication < 60, "{limit}: {replication} of 80");
    }
    for limit in [0, 3, 11, 24, 90] {
        let of = |values: &[u64]| needs(values, &[1, 3, 7], limit);
        let bounds = [(0, 5), (1, 4), (0, 3)];
        let price = [1.0, 2.5, 8.0];
        let result = search(&bounds, &price, &of).0;
        assert_eq!(result, exhaustive(&bounds, &price, &of), "{limit}");
    }
    // Both values are needed: a shortage of one cannot be offset by the other.
    let both = |values: &[u64]| values[0].min(values[1]) as f64 - 3.0;
    assert_eq!(search(&[(0, 9), (0, 9)], &[1.0, 1.0], &both).0, [[3, 3]]);
}
