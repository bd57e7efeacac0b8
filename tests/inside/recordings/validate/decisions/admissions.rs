//! Unit tests of `sim_recordings::validate::decisions::admissions`.

use super::*;

fn fields(field: &str, values: &[(f64, &str)]) -> AdmissionFields {
    let mut fields = AdmissionFields::default();
    values.iter().for_each(|(at_s, value)| fields.set(*at_s, field, (*value).to_owned()));
    fields
}

#[test]
fn a_stale_condition_that_is_corrected_at_once_is_not_compared_but_a_change_of_suspend_is() {
    let values = [(1.0, "a"), (2.0, "b"), (2.1, "a"), (2.3, "b"), (9.0, "a")];
    let condition = fields("PodsReady", &values).without_stale_writes();
    assert_eq!(condition, fields("PodsReady", &[(1.0, "a"), (2.0, "b"), (9.0, "a")]));
    let late = [(1.0, "a"), (2.0, "b"), (2.1, "a"), (3.0, "b")];
    assert_eq!(fields("PodsReady", &late).without_stale_writes(), fields("PodsReady", &late));
    assert_eq!(fields(SUSPEND, &values).without_stale_writes(), fields(SUSPEND, &values));
}

#[test]
fn the_order_of_two_conditions_is_compared_if_they_are_further_apart_than_the_tolerance_of_times() {
    let differences = |recorded_s: f64| {
        let mut recorded = fields("A", &[(1.0, "x")]);
        recorded.set(recorded_s, "B", "y".to_owned());
        let mut simulated = fields("B", &[(1.0, "y")]);
        simulated.set(1.5, "A", "x".to_owned());
        let mut found = Vec::new();
        compare_order("js", &matched(&recorded, &simulated), TimeTolerance::PLAIN, &mut found);
        found.len()
    };
    assert_eq!(differences(2.0), 0);
    assert_eq!(differences(3.0), 1);
}
