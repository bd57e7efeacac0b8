//! Unit tests of `sim_surrogate::reduced::bit_set`.

use super::*;

fn from_members(len: usize, members: &[usize]) -> BitSet {
    let mut bits = BitSet::new(len, false);
    members.iter().for_each(|i| bits.set(*i, true));
    bits
}

fn members(bits: &BitSet) -> Vec<usize> {
    (0..bits.len).filter(|i| bits.has(*i)).collect()
}

#[test]
fn the_first_ones_go_around_the_end() {
    let all = BitSet::new(130, true);
    assert_eq!(all.count(), 130);
    let mut into = BitSet::new(130, false);
    assert_eq!(all.first(4, 128, &mut into), Some(1));
    assert_eq!(members(&into), [0, 1, 128, 129]);
    let some = from_members(130, &[3, 60, 70, 129]);
    assert_eq!(some.first(3, 61, &mut into), Some(3));
    assert_eq!(members(&into), [3, 70, 129]);
    assert_eq!(some.first(9, 61, &mut into), Some(60));
    assert_eq!(into.count(), 4);
    assert_eq!(some.next(71, &from_members(130, &[129])), Some(3));
    assert_eq!(some.next(4, &from_members(130, &[60])), Some(70));
    assert_eq!(some.next(4, &some), None);
    assert_eq!(some.outside(&from_members(130, &[60])), 3);
    into.keep(&from_members(130, &[60, 70, 128]));
    assert_eq!(members(&into), [60, 70]);
}
