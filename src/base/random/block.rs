//! A single block of ChaCha8, at half of the cost of the four that `rand_chacha` computes at least.
//!
//! Most objects other than pods need one number per purpose. Tested against `rand_chacha`. Source: RFC 8439, 2.3,
//! with the 64-bit counter and stream of D. J. Bernstein, "ChaCha, a variant of Salsa20", 2008.

/// 64-bit words per block.
pub(super) const WORDS: usize = 8;

/// The state of the cipher: constants, key, counter and stream.
type CipherState = [u32; 16];

/// The ChaCha constant "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Computes block `number` of the stream `stream` under `key`.
pub(super) fn block(key: [u64; 4], stream: u64, number: u64) -> [u64; WORDS] {
    let start = initial_state(key, stream, number);
    let end = apply_rounds(start);
    let word = |at: usize| end[at].wrapping_add(start[at]);
    std::array::from_fn(|at| joined(word(2 * at), word(2 * at + 1)))
}

/// Computes only the first word of block 0; the compiler removes the computation of the others.
#[inline(always)]
pub(super) fn first_word(key: [u64; 4], stream: u64) -> u64 {
    let [low, high, ..] = apply_rounds(initial_state(key, stream, 0));
    joined(low.wrapping_add(CONSTANTS[0]), high.wrapping_add(CONSTANTS[1]))
}

/// Like `first_word`, for several streams. `keys` contains each word of the key for all streams, so that the compiler
/// uses vector instructions: four streams cost less than two computed one after another.
#[inline]
pub(super) fn first_words<const N: usize>(keys: &[[u64; N]; 4], streams: &[u64; N]) -> [u64; N] {
    std::array::from_fn(|at| first_word([keys[0][at], keys[1][at], keys[2][at], keys[3][at]], streams[at]))
}

#[inline(always)]
fn joined(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn initial_state([a, b, c, d]: [u64; 4], stream: u64, number: u64) -> CipherState {
    let mut state = [0; 16];
    state[..4].copy_from_slice(&CONSTANTS);
    for (at, word) in [a, b, c, d, number, stream].into_iter().enumerate() {
        (state[4 + 2 * at], state[5 + 2 * at]) = (word as u32, (word >> 32) as u32);
    }
    state
}

/// Four double rounds, written out: a loop would prevent vector instructions.
#[inline(always)]
fn apply_rounds(state: CipherState) -> CipherState {
    double_round(double_round(double_round(double_round(state))))
}

/// A round on columns, then one on diagonals.
#[inline(always)]
fn double_round(mut state: CipherState) -> CipherState {
    for first in 0..4 {
        quarter_round(&mut state, [first, 4 + first, 8 + first, 12 + first]);
    }
    for first in 0..4 {
        quarter_round(&mut state, [first, 4 + (first + 1) % 4, 8 + (first + 2) % 4, 12 + (first + 3) % 4]);
    }
    state
}

#[inline(always)]
fn quarter_round(state: &mut CipherState, [a, b, c, d]: [usize; 4]) {
    for (sum, added, turned, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[sum] = state[sum].wrapping_add(state[added]);
        state[turned] = (state[turned] ^ state[sum]).rotate_left(bits);
    }
}
