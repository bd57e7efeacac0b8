//! FNV-1a, 64 bits: a short hash that is the same on every machine. Not cryptographic.
//!
//! Source: <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>, "The FNV Non-Cryptographic Hash Algorithm".

/// What the hash of nothing is.
pub const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Of bytes in their order.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    bytes.into_iter().fold(OFFSET_BASIS, mix)
}

/// Of numbers, each as its eight bytes, the lowest first.
pub fn of_words(words: impl IntoIterator<Item = u64>) -> u64 {
    fnv1a(words.into_iter().flat_map(u64::to_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_are_published() {
        // Its appendix: texts without the byte that ends them in C.
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("b", 0xaf63_df4c_8601_f1a5),
            ("fo", 0x0898_5907_b541_d342),
            ("foo", 0xdcb2_7518_fed9_d577),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a(text.bytes()), hash, "{text:?}");
        }
        assert_eq!(
            of_words([0x6f66, 0]),
            fnv1a(*b"fo\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
        );
    }
}
