//! Tests of `sim_analysis::sweep::shard`.

use sim_analysis::sweep::shard::*;
#[test]
fn every_piece_is_in_one_shard_and_shards_have_equally_many() {
    for of in [1, 2, 3, 7, 10, 64] {
        let mut counts = vec![0u64; of as usize];
        for piece in 0..of * 11 {
            let owners: Vec<u64> = (0..of).filter(|i| SweepShard::new(*i, of).unwrap().contains(piece)).collect();
            assert_eq!(owners.len(), 1, "{piece} of {of}");
            counts[owners[0] as usize] += 1;
        }
        assert!(counts.iter().all(|n| *n == 11), "{of}: {counts:?}");
    }
}

#[test]
fn a_shard_does_not_get_one_column_of_a_grid() {
    for of in 2..30 {
        let shard = SweepShard::new(1, of).unwrap();
        let pieces = (0..of * of).filter(|p| shard.contains(*p));
        let mut columns: Vec<u64> = pieces.map(|p| p % of).collect();
        columns.sort_unstable();
        assert!(columns.into_iter().eq(0..of), "{of}");
    }
}

#[test]
fn shards_are_counted_from_0_or_from_1() {
    let of = |text| SweepShard::parse(text).map(|s| (s.index, s.of));
    assert_eq!(of("0/3"), Ok((0, 3)));
    assert_eq!(of("2/3"), Ok((2, 3)));
    assert_eq!(of("3/3"), Ok((0, 3)));
    for wrong in ["3/2", "1/0", "a/b", "1", "-1/3", "1/3/5", "", "1/1000000", "0.5/2"] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}
