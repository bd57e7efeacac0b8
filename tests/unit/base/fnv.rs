//! Tests of `sim_base::fnv`.

use sim_base::fnv::*;
#[test]
fn hashes_are_those_that_are_published() {
    // Test vectors of the appendix of the FNV draft, without the terminating zero byte.
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
    assert_eq!(fnv1a_words([0x6f66, 0]), fnv1a(*b"fo\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
}
