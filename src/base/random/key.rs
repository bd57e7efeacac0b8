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
