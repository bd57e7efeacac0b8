//! Tests of named random numbers: their values, that only the name determines them, and that neighbors are
//! uncorrelated.

use super::draws::{LINES, line_pair};
use super::*;
use crate::time::Duration;
use proptest::prelude::*;

const PURPOSES: [StreamPurpose; 3] = [StreamPurpose::PodStart, StreamPurpose::Cleanup, StreamPurpose::Test];

fn named(entity: u64, occurrence: u32, substream_index: u32) -> UniformDraw {
    UniformDraw { purpose: StreamPurpose::Test, entity: StreamKey(entity), occurrence, substream: substream_index }
}

/// Returns the word by its definition: a new generator, moved to the substream.
fn defined(seed: u64, replication: u64, draw: UniformDraw) -> u64 {
    let parts = [seed, replication, draw.purpose as u64, draw.entity.0];
    let key: Vec<u8> = parts.iter().flat_map(|p| p.to_le_bytes()).collect();
    let mut rng = ChaCha8Rng::from_seed(key.try_into().unwrap());
    rng.set_stream(u64::from(draw.occurrence));
    rng.set_word_pos(2 * u128::from(draw.substream));
    rng.next_u64()
}

#[test]
fn the_words_are_the_words_of_chacha8() {
    // Computed by another program from the description of the cipher. This guards against releases that change the
    // values.
    let mut draws = DrawSequence::new(1, 2);
    for (substream_index, word) in [
        (0, 7015485999413349288),
        (1, 14527007419255463768),
        (8, 13219554940278102272),
        (31, 6449625984465398868),
        (32, 14386776456257695000),
        (100, 14298999936781115097),
        (u32::MAX, 13217055850159331663),
    ] {
        assert_eq!(draws.word(named(3, 4, substream_index)), word, "lane {substream_index}");
    }
    draws.reset(u64::MAX, u64::MAX - 1);
    let far = UniformDraw {
        purpose: StreamPurpose::PodStart,
        entity: StreamKey(u64::MAX - 2),
        occurrence: u32::MAX,
        substream: 5,
    };
    assert_eq!(draws.word(far), 3445198722869065120);
}

#[test]
fn a_word_that_occurs_once_is_the_same_word() {
    let mut draws = DrawSequence::new(5, u64::MAX - 3);
    for (entity, occurrence) in [(0, 0), (1, 7), (u64::MAX, u32::MAX), (1 << 40, 1 << 20)] {
        let draw = named(entity, occurrence, 0);
        assert_eq!(draws.word_once(draw), draws.word(draw));
        assert_eq!(draws.word_once(draw), defined(5, u64::MAX - 3, draw));
        assert_eq!(draws.uniform_once(draw), draws.uniform(draw));
    }
}

#[test]
fn words_computed_together_are_the_same_words() {
    let draws = DrawSequence::new(5, u64::MAX - 3);
    let names = [named(0, 0, 0), named(1, 7, 0), named(u64::MAX, u32::MAX, 0), named(1 << 40, 1 << 20, 0)];
    assert_eq!(draws.words_once(names), names.map(|draw| defined(5, u64::MAX - 3, draw)));
}

#[test]
fn what_outlives_a_limit_has_a_word_from_which_on_all_do() {
    let limit = Duration::from_secs(86_400);
    let (scale_s, shape) = (1e6, 0.7);
    for dist in [
        Distribution::Exponential { mean_s: 1e6 },
        Distribution::Weibull { scale_s, shape },
        Distribution::Gamma { mean_s: 1e6, shape: 2.0 },
        Distribution::LogNormal { median_s: 1e5, sigma: 1.0 },
    ] {
        let words = dist.words_exceeding(limit).expect("most samples exceed the limit");
        let at = |word| dist.quantile(open_unit(word));
        let from = *words.start();
        assert!(at(from) > limit && at(*words.end()) > limit, "{dist:?}");
        // The bound is tight: a slightly smaller word is not far beyond the limit.
        assert!(at(from - (1 << 12)) < limit + Duration(limit.0 / 500), "{dist:?}");
    }
    assert_eq!(Distribution::Fixed(limit).words_exceeding(Duration::ZERO), None);
    let (low_s, high_s) = (1.0, 2.0);
    assert_eq!(Distribution::Uniform { low_s, high_s }.words_exceeding(limit), None, "nobody");
}

/// Returns names that often collide in the cache, and some arbitrary names.
fn any_draw() -> impl Strategy<Value = UniformDraw> {
    let entity = prop_oneof![9 => 0..200u64, 1 => any::<u64>()];
    let occurrence = prop_oneof![9 => 0..3u32, 1 => any::<u32>()];
    let substream_index = prop_oneof![9 => 0..100u32, 1 => any::<u32>()];
    let purpose = prop::sample::select(&PURPOSES[..]);
    (purpose, entity, occurrence, substream_index).prop_map(|(purpose, entity, occurrence, substream_index)| {
        UniformDraw { purpose, entity: StreamKey(entity), occurrence, substream: substream_index }
    })
}

proptest! {
    #[test]
    fn a_number_is_the_same_in_whatever_order_numbers_are_asked_for(
        seed in any::<u64>(),
        replication in 0..3u64,
        request in prop::collection::vec(any_draw(), 1..300),
    ) {
        let mut draws = DrawSequence::new(seed ^ 1, replication);
        for &draw in request.iter().rev() {
            prop_assert_eq!(draws.word(draw), defined(seed ^ 1, replication, draw));
        }
        draws.reset(seed, replication);
        for &draw in request.iter().chain(request.iter().rev()) {
            prop_assert_eq!(draws.word(draw), defined(seed, replication, draw));
        }
    }
}

#[test]
fn names_that_share_a_line_keep_their_own_words() {
    // Names that differ only in their purpose never share a line.
    let others: [fn(u32) -> UniformDraw; 3] = [|n| named(n.into(), 1, 0), |n| named(7, n, 0), |n| named(7, 1, n * 32)];
    let mut draws = DrawSequence::new(3, 0);
    let base = named(7, 1, 0);
    for (part, other) in others.iter().enumerate() {
        let meet = |n: &u32| base != other(*n) && line_pair(base) == line_pair(other(*n));
        // More names than cache ways, so that they evict each other.
        let met: Vec<u32> = (0..200_000).filter(meet).take(5).collect();
        assert_eq!(met.len(), 5, "part {part}");
        for n in met.iter().chain(met.iter().rev()) {
            for draw in [base, other(*n), base] {
                assert_eq!(draws.word(draw), defined(3, 0, draw), "{draw:?}");
            }
        }
    }
}

#[test]
fn each_part_of_a_name_decides() {
    let base = named(7, 1, 0);
    let others = [
        UniformDraw { purpose: StreamPurpose::PodStop, ..base },
        named(8, 1, 0),
        named(7, 2, 0),
        named(7, 1, 1),
        named(7, 1, 32),
    ];
    let mut draws = DrawSequence::new(42, 0);
    let word = draws.word(base);
    for other in others {
        assert_ne!(draws.word(other), word, "{other:?}");
    }
    for (seed, replication) in [(43, 0), (42, 1), (0, 42)] {
        draws.reset(seed, replication);
        assert_ne!(draws.word(base), word, "{seed} {replication}");
    }
}

/// Counts pairs of consecutive numbers in a 16 × 16 grid and checks their uniformity with a chi-square test with 255
/// degrees of freedom.
fn assert_unrelated(what: &str, name: impl Fn(u32) -> UniformDraw) {
    let mut draws = DrawSequence::new(5, 0);
    let pairs = 1 << 16;
    let mut counts = [0u32; 256];
    let mut sum = 0.0;
    let mut last = draws.uniform(name(0));
    for n in 1..=pairs {
        let next = draws.uniform(name(n));
        counts[(last * 16.0) as usize * 16 + (next * 16.0) as usize] += 1;
        sum += next;
        last = next;
    }
    let expected = f64::from(pairs) / 256.0;
    let off = |&c: &u32| (f64::from(c) - expected) * (f64::from(c) - expected) / expected;
    let chi_square: f64 = counts.iter().map(off).sum();
    // Five standard deviations, sqrt(2 · 255), to both sides. A distribution that is too even is also not random.
    assert!((142.0..368.0).contains(&chi_square), "{what}: {chi_square}");
    let mean = sum / f64::from(pairs);
    assert!((mean - 0.5).abs() < 0.005, "{what}: mean {mean}");
}

#[test]
fn neighbors_have_nothing_in_common() {
    assert_unrelated("entities", |n| named(u64::from(n), 0, 0));
    assert_unrelated("parts", |n| named(StreamKey(1).part(u64::from(n)).0, 0, 0));
    assert_unrelated("occurrences", |n| named(1, n, 0));
    assert_unrelated("lanes", |n| named(1, 0, n));
    assert_unrelated("batches", |n| named(1, 0, n * 32));
    assert_unrelated("the same lane of two occurrences", |n| named(1, n % 2, n / 2));
    assert_unrelated("the same lane of two purposes", |n| UniformDraw {
        purpose: PURPOSES[n as usize % 2],
        ..named(1, 0, n / 2)
    });
}

#[test]
fn a_sample_grows_with_its_uniform_number() {
    let mut draws = DrawSequence::new(3, 0);
    let mut lanes: Vec<u32> = (0..5_000).collect();
    lanes.sort_by(|&a, &b| {
        let (a, b) = (draws.uniform(named(1, 0, a)), draws.uniform(named(1, 0, b)));
        a.total_cmp(&b)
    });
    for dist in [
        Distribution::fixed_ms(5),
        Distribution::Uniform { low_s: 1.0, high_s: 3.0 },
        Distribution::Exponential { mean_s: 2.0 },
        Distribution::from_p50_p95(0.6, 1.4),
        Distribution::Weibull { scale_s: 5.0, shape: 0.7 },
        Distribution::Gamma { mean_s: 5.0, shape: 0.7 },
        Distribution::Empirical(EmpiricalDistribution::new(&[(1.0, 1.0), (3.0, 2.0)]).unwrap()),
    ] {
        let sample = |&substream: &u32| draws.sample(named(1, 0, substream), &dist);
        let samples: Vec<Duration> = lanes.iter().map(sample).collect();
        assert!(samples.is_sorted(), "{dist:?}");
        let varies = samples[0] < samples[samples.len() - 1];
        assert_eq!(varies, !matches!(dist, Distribution::Fixed(_)), "{dist:?}");
    }
}

#[test]
fn what_is_fixed_draws_nothing() {
    let mut draws = DrawSequence::new(3, 0);
    assert_eq!(draws.filled_lines(), 0);
    draws.sample(named(1, 0, 0), &Distribution::fixed_ms(5));
    assert_eq!(draws.filled_lines(), 0);
    draws.sample(named(1, 0, 0), &Distribution::Exponential { mean_s: 2.0 });
    assert_eq!(draws.filled_lines(), 1);
}

#[test]
fn neighboring_lanes_share_lines_and_names_spread_over_all_lines() {
    let mut draws = DrawSequence::new(3, 0);
    for (substream, lines) in [(0, 1), (7, 1), (8, 4), (31, 4), (32, 8), (63, 8)] {
        draws.word(named(1, 0, substream));
        assert_eq!(draws.filled_lines(), lines, "lane {substream}");
    }
    for name in [
        |n: u32| named(n.into(), 0, 0),
        |n: u32| named(StreamKey::from_text("js-w-0").part(n.into()).0, 0, 0),
        |n: u32| named(1, n, 0),
        |n: u32| named(1, 0, n * 32),
    ] {
        draws.reset(3, 0);
        for n in 0..4 * LINES as u32 {
            draws.word(name(n));
        }
        let filled = draws.filled_lines();
        // The line is found with one multiplication, which is slightly less even than random. Random names would
        // fill 98 %.
        assert!(filled > LINES * 8 / 10, "{filled} of {LINES}");
    }
}

#[test]
fn a_number_below_n_is_in_range_and_takes_every_value() {
    let mut draws = DrawSequence::new(3, 0);
    let mut counts = [0; 7];
    for substream in 0..7_000 {
        counts[draws.below(named(1, 0, substream), 7) as usize] += 1;
    }
    assert!(counts.iter().all(|c| (850..1150).contains(c)), "{counts:?}");
    assert_eq!(draws.below(named(1, 0, 0), 1), 0);
    assert!(draws.below(named(1, 0, 0), u32::MAX) < u32::MAX);
}

#[test]
fn a_shuffle_puts_every_item_everywhere_with_the_words_of_its_name() {
    let mut draws = DrawSequence::new(3, 0);
    let mut counts = [[0; 5]; 5];
    for occurrence in 0..5_000 {
        let mut items = [0, 1, 2, 3, 4];
        draws.shuffle(StreamPurpose::Test, StreamKey(1), occurrence, &mut items);
        let mut seen = items;
        seen.sort();
        assert_eq!(seen, [0, 1, 2, 3, 4]);
        for (place, &item) in items.iter().enumerate() {
            counts[item][place] += 1;
        }
    }
    let is_similar = counts.iter().flatten().all(|c| (850..1150).contains(c));
    assert!(is_similar, "{counts:?}");

    let mut two = ['a', 'b'];
    draws.shuffle(StreamPurpose::Test, StreamKey(1), 0, &mut two);
    let stays = draws.below(named(1, 0, 0), 2) == 1;
    assert_eq!(two == ['a', 'b'], stays);
    draws.shuffle::<u8>(StreamPurpose::Test, StreamKey(1), 0, &mut []);
}

#[test]
fn the_mean_of_many_samples_is_the_mean_of_the_distribution() {
    let mut draws = DrawSequence::new(9, 0);
    let dist = Distribution::Exponential { mean_s: 3.0 };
    let sum: f64 = (0..100_000).map(|substream| draws.sample(named(0, 0, substream), &dist).seconds()).sum();
    let mean = sum / 100_000.0;
    assert!((mean - 3.0).abs() < 0.05, "{mean}");
}

#[test]
fn a_mixture_has_each_number_of_one_of_its_replications_the_last_one_that_takes_it() {
    let name = |i: u32| named(u64::from(i), i % 3, 0);
    let mut of = [4, 5, 6].map(|replication| DrawSequence::new(1, replication));
    let mut mixed = DrawSequence::new(1, 0);
    let once = MixtureDistribution::single(4).with_share(5, 0.25);
    let mut counts = [0; 3];
    for i in 0..4_000 {
        mixed.reset_to(1, once.clone());
        let before = mixed.word(name(i));
        mixed.reset_to(1, once.with_share(6, 0.5));
        let word = mixed.word(name(i));
        let from = of.iter_mut().position(|d| d.word(name(i)) == word);
        counts[from.expect("from one of the replications")] += 1;
        // Words that the new replication does not take remain unchanged.
        assert!(from == Some(2) || word == before);
    }
    for (count, share) in counts.into_iter().zip([0.375, 0.125, 0.5]) {
        let off = f64::from(count) / 4_000.0 - share;
        assert!(off.abs() < 0.03, "{counts:?}");
    }
}
