//! Tests of `sim_recordings::observe::commands`.

use sim_recordings::observe::commands::*;
#[test]
fn names_cannot_leave_their_word() {
    let subject = Subject {
        jobset: "a'; rm -rf / #".to_owned(),
        namespace: "ns".to_owned(),
    };
    let all = shell(&subject);
    assert!(all.contains(r"'a'\''; rm -rf / #'"), "{all}");
    assert_eq!(watches(&subject).len(), 5);
}
