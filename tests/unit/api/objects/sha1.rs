//! Tests of `sim_api::objects::sha1`.

use sim_api::objects::sha1::*;
#[test]
fn digests_are_those_of_the_standard_and_of_recorded_job_keys() {
    for (text, digest) in [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        ("c-labels-reserved/js-w-0", "b20c76f976686d790bc145077e0b6bb471385f8b"),
    ] {
        assert_eq!(sha1_hex(text), digest, "{text:?}");
    }
}
