//! Tests of `sim_recordings::observe::commands`.

use sim_recordings::observe::commands::*;
#[test]
fn names_cannot_leave_their_word() {
    let subject = CommandSubject { jobset: "a'; rm -rf / #".to_owned(), namespace: "ns".to_owned() };
    let all = shell_script(&subject);
    assert!(all.contains(r"'a'\''; rm -rf / #'"), "{all}");
    assert_eq!(watch_commands(&subject).len(), 5);
}
