//! FNV-1a, 64 bits: a short hash that is the same on every machine. Not cryptographic.
//!
//! Source: <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>, "The FNV Non-Cryptographic Hash Algorithm".

/// The hash of empty input.
pub const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Hashes bytes in order.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    bytes.into_iter().fold(OFFSET_BASIS, mix)
}

/// Hashes words, each as eight bytes in little-endian order.
pub fn fnv1a_words(words: impl IntoIterator<Item = u64>) -> u64 {
    fnv1a(words.into_iter().flat_map(u64::to_le_bytes))
}
