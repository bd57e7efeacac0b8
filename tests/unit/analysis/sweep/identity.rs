//! Tests of `sim_analysis::sweep::identity`.

use sim_analysis::sweep::identity::*;
use sim_api::spec::{SweepAxis, SweepSpec, SweepTarget};
fn identity(seed: u64, text: &str, command: &str) -> SweepIdentity {
    let target = SweepTarget::Values(vec!["1".to_owned(), "2".to_owned()]);
    let axes = vec![SweepAxis { path: "a".to_owned(), target, is_uncertain: false }];
    let sweep = SweepSpec { axes, hypercube: None };
    let inputs = [("x.yaml".to_owned(), text.to_owned())];
    SweepIdentity::new(("x", "pods"), (seed, 20, None), &sweep, (&inputs, command))
}

#[test]
fn experiments_that_differ_say_in_what() {
    let one = identity(1, "a", "c");
    assert_eq!(one.differences(&one), [""; 0]);
    assert_eq!(one.differences(&identity(2, "a", "c")), ["seed (1 and 2)"]);
    assert_eq!(one.differences(&identity(1, "b", "c")), ["input x.yaml"]);
    assert_eq!(one.differences(&identity(1, "a", "d")), ["options (c and d)"]);
    let mut other = one.clone();
    other.version = "9".to_owned();
    assert!(one.differences(&other)[0].starts_with("program version"));
    assert_ne!(one.digest(), other.digest());
    let read: SweepIdentity = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
    assert_eq!(read, one);
    assert_eq!(read.points().unwrap().count(), 2);
}
