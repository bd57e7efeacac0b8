//! One level of the timing wheel: the first slot of each list, and a bit set of the non-empty lists.

const PLACES: usize = 1 << WheelLevel::BITS;
const MASK: usize = PLACES - 1;
const WORD: usize = u64::BITS as usize;

#[derive(Clone)]
pub struct WheelLevel {
    heads: Box<[u32; PLACES]>,
    /// One bit per place with a non-empty list, and one bit per word of these.
    used: [u64; PLACES / WORD],
    used_words: u64,
    empty_marker: u32,
}

impl WheelLevel {
    pub const BITS: u32 = 12;

    /// Creates an empty level; `none` marks an empty list.
    pub fn new(none: u32) -> WheelLevel {
        WheelLevel { heads: Box::new([none; PLACES]), used: [0; PLACES / WORD], used_words: 0, empty_marker: none }
    }

    pub fn clear(&mut self) {
        self.heads.fill(self.empty_marker);
        self.used.fill(0);
        self.used_words = 0;
    }

    /// Makes `slot` the head of the list at `place` (modulo the number of places) and returns the previous head.
    pub fn push(&mut self, place: usize, slot: u32) -> u32 {
        let place = place & MASK;
        self.used[place / WORD] |= 1 << (place % WORD);
        self.used_words |= 1 << (place / WORD);
        std::mem::replace(&mut self.heads[place], slot)
    }

    /// Empties the list at `place` and returns its head.
    pub fn take_list(&mut self, place: usize) -> u32 {
        let place = place & MASK;
        self.used[place / WORD] &= !(1 << (place % WORD));
        if self.used[place / WORD] == 0 {
            self.used_words &= !(1 << (place / WORD));
        }
        std::mem::replace(&mut self.heads[place], self.empty_marker)
    }

    /// Iterates over the heads of all lists.
    pub fn heads(&self) -> impl Iterator<Item = u32> {
        self.heads.iter().copied().filter(|first| *first != self.empty_marker)
    }

    /// Returns the first non-empty place after `place` (modulo the number of places).
    pub fn next_occupied(&self, place: usize) -> Option<usize> {
        let place = place & MASK;
        let above = |bits: u64, bit: usize| bits & (!1u64 << bit);
        let rest = above(self.used[place / WORD], place % WORD);
        if rest != 0 {
            return Some(place / WORD * WORD + rest.trailing_zeros() as usize);
        }
        let words = above(self.used_words, place / WORD);
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * WORD + self.used[word].trailing_zeros() as usize)
    }
}
