//! Unit tests of `jobset_sim::cli::output`.

use super::*;

#[test]
fn progress_never_counts_down() {
    let seen = Mutex::new(Vec::new());
    let progress = ProgressLine::new(false, |done| {
        seen.lock().unwrap().push(done);
        String::new()
    });
    for done in [1, 3, 2, 3, 5, 4] {
        progress.reach(done);
    }
    assert_eq!(*seen.lock().unwrap(), [1, 3, 5]);
}
