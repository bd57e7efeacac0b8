//! The hash function of digests, over words of 64 bits.

use sim_base::fnv::OFFSET_BASIS;

pub const START: u64 = OFFSET_BASIS;

pub(super) const fn mix(digest: u64, word: u64) -> u64 {
    let x = (digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ x >> 32
}

pub(super) const fn of_text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut h = mix(START, bytes.len() as u64);
    let mut at = 0;
    while at < bytes.len() {
        let (mut word, mut k) = (0, 0);
        while k < 8 && at + k < bytes.len() {
            word |= (bytes[at + k] as u64) << (8 * k);
            k += 1;
        }
        h = mix(h, word);
        at += 8;
    }
    h
}
