//! Keys: 64 bits that stand for the name of an object in the name of a number.
//!
//! A key is a function of the name alone, so that an object keeps its numbers whatever else is in the run, in which
//! order objects come into being, and on whichever machine. Never change how keys are computed: every result hangs on
//! it.

/// 64 bits that stand for the name of an object; equal names have equal keys in every run, on every machine.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Key(pub u64);

/// Where texts start: 2^64 divided by the golden ratio.
const TEXT: u64 = 0x9e37_79b9_7f4a_7c15;
/// What is added to the key of a whole; another number than `TEXT`, or the parts of small keys would be texts of zeros.
const PART: u64 = 0xd1b5_4a32_d192_ed03;

impl Key {
    /// The key of a text: its length, then its bytes eight at a time (lowest first, the last ones filled up with
    /// zeros), each xored into the state, which is mixed after each.
    ///
    /// Texts of one length that differ within one group of eight never share a key; others do by the chance of 2^-64.
    pub fn of(text: &str) -> Key {
        let mut state = mix(TEXT ^ text.len() as u64);
        for group in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..group.len()].copy_from_slice(group);
            state = mix(state ^ u64::from_le_bytes(bytes));
        }
        Key(state)
    }

    /// The key of the `n`th part of it. Different parts of one object never share a key.
    pub fn and(self, n: u64) -> Key {
        // Mixed before `n` comes in, or the second part of object 1 would be the first of object 2.
        Key(mix(mix(self.0.wrapping_add(PART)) ^ n))
    }
}

/// A bijection of 64 bits in which each bit of `x` moves about half of the result's.
///
/// Source: the finalizer "Mix13" of D. Stafford, "Better bit mixing", 2011, as in SplitMix64 of G. Steele, D. Lea and
/// C. Flood, "Fast splittable pseudorandom number generators", 2014.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn keys_are_the_same_for_ever() {
        // Computed outside of this program, from the words above.
        for (text, key) in [
            ("", 0xe220_a839_7b1d_cdaf),
            ("a", 0xda39_2e04_1ecc_1abe),
            ("js-w-0", 0x2555_88ac_3738_1d99),
            ("training-workers-0", 0x6d9a_422b_8337_785c),
        ] {
            assert_eq!(Key::of(text), Key(key), "{text:?}");
        }
        assert_eq!(Key(0).and(0), Key(0x4e96_155e_5f0a_1c3f));
        assert_eq!(Key::of("js-w-0").and(1), Key(0x0797_0c0e_b385_d324));
    }

    #[test]
    fn different_names_have_different_keys() {
        let mut of = BTreeMap::new();
        let mut meet = |name: String, key: Key| {
            if let Some(other) = of.insert(key.0, name.clone()) {
                panic!("{other} and {name} share a key");
            }
        };
        for i in 0..300 {
            for name in ["a", "w", "training-workers", "training-workers-training"] {
                let job = format!("{name}-{i}");
                for part in 0..30 {
                    meet(format!("{job} and {part}"), Key::of(&job).and(part));
                    meet(format!("{job}-{part}"), Key::of(&format!("{job}-{part}")));
                }
                meet(job.clone(), Key::of(&job));
            }
            for part in 0..300 {
                meet(format!("Key({i}) and {part}"), Key(i).and(part));
            }
            meet(
                "zeros".repeat(i as usize),
                Key::of(&"\0".repeat(i as usize)),
            );
        }
    }

    #[test]
    fn each_bit_of_a_name_moves_half_of_the_bits_of_its_key() {
        let near_half = |moved: u32, what: &str| {
            let mean = f64::from(moved) / 500.0;
            assert!((mean - 32.0).abs() < 1.5, "{what}: {mean} of 64 bits");
        };
        for bit in 0..64 {
            let changed = |f: fn(u64, u64) -> Key| -> u32 {
                let moved = |i| (f(i, 0).0 ^ f(i, 1 << bit).0).count_ones();
                (0..500).map(moved).sum()
            };
            near_half(changed(|i, flip| Key(i ^ flip).and(7)), "the whole");
            near_half(changed(|i, flip| Key(7).and(i ^ flip)), "the part");
        }
        for bit in 0..7 {
            for at in 0..12 {
                let moved = |i: u32| {
                    let mut name = format!("{i:03}-workers-0").into_bytes();
                    let before = Key::of(std::str::from_utf8(&name).unwrap());
                    name[at] ^= 1 << bit;
                    let after = Key::of(std::str::from_utf8(&name).unwrap());
                    (before.0 ^ after.0).count_ones()
                };
                near_half((0..500).map(moved).sum(), "the text");
            }
        }
    }
}
