//! Tests of `sim_base::stats::proportion`: closed forms, and the exact coverage by summation over all samples.

use sim_base::stats::*;

#[test]
fn a_share_that_was_never_seen_has_the_bound_of_the_rule_of_three() {
    let [low, high] = proportion_interval(0, 100, 0.95);
    assert_eq!(low, 0.0);
    assert!((high - (1.0 - libm::pow(0.025, 0.01))).abs() < 1e-9, "{high}");
    // R: binom.test(7, 20)$conf.int is 0.1539092 0.5921885.
    let [low, high] = proportion_interval(7, 20, 0.95);
    assert!((low - 0.153_909_2).abs() < 1e-6 && (high - 0.592_188_5).abs() < 1e-6);
    assert_eq!(proportion_interval(20, 20, 0.95)[1], 1.0);
}

#[test]
fn share_intervals_are_those_of_wilson_between_the_ends() {
    // R. Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
    for (k, n, expected) in [(81, 263, [0.2553, 0.3662]), (15, 148, [0.0624, 0.1605]), (0, 20, [0.0, 0.1611])] {
        let actual = share_interval(k, n, 0.95);
        let near = actual.iter().zip(expected).all(|(a, b)| (a - b).abs() < 6e-5);
        assert!(near, "{k} of {n}: {actual:?}");
        let [low, high] = share_interval(n - k, n, 0.95);
        assert!((1.0 - high - actual[0]).abs() < 1e-12 && (1.0 - low - actual[1]).abs() < 1e-12);
    }
    // One of 29: Wilson's lower limit is 0.0061, and the exact one-sided limit 1 − 0.95^(1/29).
    let [low, high] = share_interval(1, 29, 0.95);
    assert!((low - (1.0 - libm::pow(0.95, 1.0 / 29.0))).abs() < 1e-9 && (high - 0.1718).abs() < 6e-5);
    for n in [1, 2, 20, 10_000] {
        let all = [0, 1, n / 2, n].map(|k| share_interval(k, n, 0.95));
        assert!(all.iter().all(|[low, high]| 0.0 <= *low && low < high && *high <= 1.0), "{all:?}");
    }
}

/// Logarithm of the probability of counts in a multinomial sample.
fn ln_chance(n: usize, counts: &[usize], shares: &[f64]) -> f64 {
    let term = |(k, p): (&usize, &f64)| {
        let log = if *k > 0 { *k as f64 * libm::log(*p) } else { 0.0 };
        log - libm::lgamma(*k as f64 + 1.0)
    };
    libm::lgamma(n as f64 + 1.0) + counts.iter().zip(shares).map(term).sum::<f64>()
}

#[test]
fn share_intervals_cover_the_share_in_93_to_98_percent_of_all_samples() {
    for n in [20, 40, 200] {
        for share in [0.5, 0.9, 0.9856, 0.999] {
            let covers = |k: &usize| {
                let [low, high] = share_interval(*k, n, 0.95);
                low <= share && share <= high
            };
            let chance = |k| libm::exp(ln_chance(n, &[k, n - k], &[share, 1.0 - share]));
            let coverage: f64 = (0..=n).filter(covers).map(chance).sum();
            // Conservative where fewer than one case in n is expected, because such samples have few values.
            let most = if share > 0.95 { 0.985 } else { 0.97 };
            assert!((0.93..=most).contains(&coverage), "{n}, {share}: {coverage}");
        }
    }
}

#[test]
fn share_intervals_never_miss_on_one_side_in_more_than_5_percent() {
    for n in [20, 40, 200] {
        let all: Vec<[f64; 2]> = (0..=n).map(|k| share_interval(k, n, 0.95)).collect();
        for share in (1..400).map(|i| f64::from(i) / 400.0) {
            let above = all.iter().filter(|[low, _]| *low > share).count();
            // Limits increase with the count: the samples whose interval is above are the largest counts.
            let miss: f64 =
                (n + 1 - above..=n).map(|k| libm::exp(ln_chance(n, &[k, n - k], &[share, 1.0 - share]))).sum();
            assert!(miss <= 0.05 + 1e-9, "{n}, {share}: {miss}");
        }
    }
}

#[test]
fn differences_of_shares_cover_the_difference_in_at_least_94_percent() {
    for n in [20, 40, 100] {
        for [first, second] in [[0.25, 0.25], [0.1, 0.1], [0.1, 0.3], [0.02, 0.08], [0.0144, 0.05], [0.014, 0.014]] {
            let mut coverage = 0.0;
            for (a, b) in (0..=n).flat_map(|a| (0..=n - a).map(move |b| (a, b))) {
                let chance = libm::exp(ln_chance(n, &[a, b, n - a - b], &[first, second, 1.0 - first - second]));
                let covers = || {
                    let [low, high] = share_difference_interval([a, b], n, 0.95);
                    assert!(-1.0 <= low && low < high && high <= 1.0);
                    low <= second - first && second - first <= high
                };
                coverage += if chance > 1e-7 && covers() { chance } else { 0.0 };
            }
            // With fewer than about 5 unequal pairs the interval is conservative.
            let most = if (first + second) * n as f64 > 7.0 { 0.965 } else { 1.0 };
            assert!((0.94..=most).contains(&coverage), "{n}, {first}, {second}: {coverage}");
        }
    }
}

#[test]
fn limits_of_a_difference_are_rejected_exactly_by_the_score_test() {
    let z = normal::normal_quantile(0.975);
    for ([first, second], n) in [([0, 1], 44), ([3, 9], 50), ([12, 2], 30), ([5, 5], 20)] {
        for (limit, z) in share_difference_interval([first, second], n, 0.95).into_iter().zip([z, -z]) {
            // The most likely share of pairs with a success only in the first sample, by ternary search.
            let (mut low, mut high) = ((-limit).max(0.0), 0.5 * (1.0 - limit));
            let likelihood = |q: f64| {
                let rest = n - first - second;
                ln_chance(n, &[first, second, rest], &[q, q + limit, 1.0 - 2.0 * q - limit])
            };
            for _ in 0..200 {
                let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if likelihood(a) < likelihood(b) { low = a } else { high = b }
            }
            let variance = n as f64 * (2.0 * low + limit - limit * limit);
            let excess = second as f64 - first as f64 - n as f64 * limit;
            let score = excess / variance.sqrt();
            assert!((score - z).abs() < 1e-3, "{first}, {second} of {n} at {limit}: {score}");
        }
    }
}

#[test]
fn shares_have_intervals_of_shares_and_verdicts_of_mcnemar() {
    use std::cmp::Ordering;
    let ones = MeanEstimate::from_sample(vec![1.0; 20], SampleKind::Indicator).unwrap();
    assert_eq!(ones.ci95, share_interval(20, 20, 0.95));
    let pairs = |first: usize, second: usize, equal: usize| {
        let of = |pair: (f64, f64), n: usize| std::iter::repeat_n(pair, n);
        let all = of((1.0, 0.0), first).chain(of((0.0, 1.0), second)).chain(of((1.0, 1.0), equal));
        PairedDifference::from_pairs(&all.collect::<Vec<_>>(), SampleKind::Indicator).unwrap()
    };
    // McNemar: 6 / √6 > 1.96, and 3 / √3 is not.
    assert_eq!(pairs(6, 0, 14).significant_order(), Some(Ordering::Less));
    assert_eq!(pairs(0, 3, 17).significant_order(), None);
    assert_eq!((pairs(0, 0, 20).ci95[0] * 1e3).round(), -161.0);
    // A look stops early only with a narrow interval, although all values are equal.
    let look = InterimLooks::new(40, 0.95).looks().next().unwrap();
    let precision = TargetPrecision::Absolute(0.05);
    let values = [1.0; 40];
    assert_eq!(look.sufficient_interval((&values, SampleKind::Indicator), precision), None);
    assert!(look.sufficient_interval((&values, SampleKind::Number), precision).is_some());
}
