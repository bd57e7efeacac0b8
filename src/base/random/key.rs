//! Keys: 64 bits that represent the name of an object in the name of a random number.
//!
//! A key is a function of the name only, so an object keeps its random numbers independent of the other objects of
//! the run, their order, and the machine. Never change the computation of keys: all results depend on it.

/// Represents the name of an object; equal names have equal keys in every run and on every machine.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct StreamKey(pub u64);

/// Initial value for texts: 2^64 divided by the golden ratio.
const TEXT: u64 = 0x9e37_79b9_7f4a_7c15;
/// Added to the key of a whole; differs from `TEXT`, otherwise the parts of small keys would collide with texts of
/// zeros.
const PART: u64 = 0xd1b5_4a32_d192_ed03;

impl StreamKey {
    /// The key of a text: its length, then its bytes eight at a time (little-endian, zero-padded), each XORed into
    /// the state, which is mixed after each.
    ///
    /// Texts of equal length that differ within one group of eight bytes never collide; others collide with
    /// probability 2^-64.
    pub fn from_text(text: &str) -> StreamKey {
        let mut state = mix(TEXT ^ text.len() as u64);
        for group in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..group.len()].copy_from_slice(group);
            state = mix(state ^ u64::from_le_bytes(bytes));
        }
        StreamKey(state)
    }

    /// The key of the `n`th part of an object. Different parts of one object never collide.
    pub fn part(self, n: u64) -> StreamKey {
        // Mixed before `n` is added; otherwise the second part of object 1 would be the first part of object 2.
        StreamKey(mix(mix(self.0.wrapping_add(PART)) ^ n))
    }
}

/// A bijection on 64 bits with good avalanche: each bit of `x` flips about half of the bits of the result.
///
/// Source: the finalizer "Mix13" of D. Stafford, "Better bit mixing", 2011, as in SplitMix64 of G. Steele, D. Lea and
/// C. Flood, "Fast splittable pseudorandom number generators", 2014.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
