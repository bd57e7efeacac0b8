//! A single block of ChaCha8, at half of the cost of the four that `rand_chacha` computes at least.
//!
//! Most objects other than pods need one number per purpose. Tested against `rand_chacha`. Source: RFC 8439, 2.3,
//! with the 64-bit counter and stream of D. J. Bernstein, "ChaCha, a variant of Salsa20", 2008.

/// 64-bit words per block.
pub(super) const WORDS: usize = 8;

type DrawRow = [u32; 4];

/// The ChaCha constant "expand 32-byte k".
const CONSTANTS: DrawRow = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Computes block `number` of the stream `stream` under `key`.
pub(super) fn block(out: &mut [u8; WORDS * 8], key: [u64; 4], stream: u64, number: u64) {
    let start = initial_state(key, stream, number);
    let rows = apply_rounds(start);
    let words = rows.as_flattened().iter().zip(start.as_flattened());
    let (bytes, _) = out.as_chunks_mut();
    for (bytes, (word, start)) in bytes.iter_mut().zip(words) {
        *bytes = word.wrapping_add(*start).to_le_bytes();
    }
}

/// Computes only the first word of block 0; the compiler removes the computation of the others.
#[inline]
pub(super) fn first_word(key: [u64; 4], stream: u64) -> u64 {
    let [[low, high, ..], ..] = apply_rounds(initial_state(key, stream, 0));
    let low = low.wrapping_add(CONSTANTS[0]);
    let high = high.wrapping_add(CONSTANTS[1]);
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn initial_state(key: [u64; 4], stream: u64, number: u64) -> [DrawRow; 4] {
    [CONSTANTS, row(key[0], key[1]), row(key[2], key[3]), row(number, stream)]
}

#[inline(always)]
fn row(low: u64, high: u64) -> DrawRow {
    let (low_too, high_too) = (low >> 32, high >> 32);
    [low as u32, low_too as u32, high as u32, high_too as u32]
}

/// Double rounds: on columns, then on diagonals.
#[inline(always)]
fn apply_rounds(mut rows: [DrawRow; 4]) -> [DrawRow; 4] {
    for _ in 0..4 {
        quarter_rounds(&mut rows);
        let [_, b, c, d] = &mut rows;
        rotate_rows(b, c, d);
        quarter_rounds(&mut rows);
        let [_, b, c, d] = &mut rows;
        rotate_rows(d, c, b);
    }
    rows
}

#[inline(always)]
fn quarter_rounds([a, b, c, d]: &mut [DrawRow; 4]) {
    half_quarter_round(a, b, d, 16);
    half_quarter_round(c, d, b, 12);
    half_quarter_round(a, b, d, 8);
    half_quarter_round(c, d, b, 7);
}

#[inline(always)]
fn half_quarter_round(sum: &mut DrawRow, added: &DrawRow, turned: &mut DrawRow, bits: u32) {
    for i in 0..4 {
        sum[i] = sum[i].wrapping_add(added[i]);
        turned[i] = (turned[i] ^ sum[i]).rotate_left(bits);
    }
}

/// Rotates left by one, two and three words.
#[inline(always)]
fn rotate_rows(one: &mut DrawRow, two: &mut DrawRow, three: &mut DrawRow) {
    *one = [one[1], one[2], one[3], one[0]];
    *two = [two[2], two[3], two[0], two[1]];
    *three = [three[3], three[0], three[1], three[2]];
}
