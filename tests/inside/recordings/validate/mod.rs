//! Unit tests of `sim_recordings::validate`.

use super::*;

#[test]
fn directory_expands_to_its_recordings() {
    let dir = read::tests::folder("nodes").display().to_string();
    let (recordings, errors) = read_all(&[dir]);
    assert_eq!(errors, Vec::new());
    assert!(recordings.len() >= 10);
    assert!(recordings.is_sorted_by(|a, b| a.0 < b.0));
}
