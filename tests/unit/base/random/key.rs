//! Tests of `sim_base::random::key`.

use sim_base::random::key::*;
use std::collections::BTreeMap;
#[test]
fn keys_are_the_same_indefinitely() {
    // Computed with an independent implementation.
    for (text, key) in [
        ("", 0xe220_a839_7b1d_cdaf),
        ("a", 0xda39_2e04_1ecc_1abe),
        ("js-w-0", 0x2555_88ac_3738_1d99),
        ("training-workers-0", 0x6d9a_422b_8337_785c),
    ] {
        assert_eq!(StreamKey::from_text(text), StreamKey(key), "{text:?}");
    }
    assert_eq!(StreamKey(0).part(0), StreamKey(0x4e96_155e_5f0a_1c3f));
    assert_eq!(StreamKey::from_text("js-w-0").part(1), StreamKey(0x0797_0c0e_b385_d324));
}

#[test]
fn different_names_have_different_keys() {
    let mut of = BTreeMap::new();
    let mut meet = |name: String, key: StreamKey| {
        if let Some(other) = of.insert(key.0, name.clone()) {
            panic!("{other} and {name} share a key");
        }
    };
    for i in 0..300 {
        for name in ["a", "w", "training-workers", "training-workers-training"] {
            let job = format!("{name}-{i}");
            for part in 0..30 {
                meet(format!("{job} and {part}"), StreamKey::from_text(&job).part(part));
                meet(format!("{job}-{part}"), StreamKey::from_text(&format!("{job}-{part}")));
            }
            meet(job.clone(), StreamKey::from_text(&job));
        }
        for part in 0..300 {
            meet(format!("Key({i}) and {part}"), StreamKey(i).part(part));
        }
        meet("zeros".repeat(i as usize), StreamKey::from_text(&"\0".repeat(i as usize)));
    }
}

#[test]
fn each_bit_of_a_name_moves_half_of_the_bits_of_its_key() {
    let near_half = |moved: u32, what: &str| {
        let mean = f64::from(moved) / 500.0;
        assert!((mean - 32.0).abs() < 1.5, "{what}: {mean} of 64 bits");
    };
    for bit in 0..64 {
        let changed = |f: fn(u64, u64) -> StreamKey| -> u32 {
            let moved = |i| (f(i, 0).0 ^ f(i, 1 << bit).0).count_ones();
            (0..500).map(moved).sum()
        };
        near_half(changed(|i, flip| StreamKey(i ^ flip).part(7)), "the whole");
        near_half(changed(|i, flip| StreamKey(7).part(i ^ flip)), "the part");
    }
    for bit in 0..7 {
        for at in 0..12 {
            let moved = |i: u32| {
                let mut name = format!("{i:03}-workers-0").into_bytes();
                let before = StreamKey::from_text(std::str::from_utf8(&name).unwrap());
                name[at] ^= 1 << bit;
                let after = StreamKey::from_text(std::str::from_utf8(&name).unwrap());
                (before.0 ^ after.0).count_ones()
            };
            near_half((0..500).map(moved).sum(), "the text");
        }
    }
}
