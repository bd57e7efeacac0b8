//! Tests of `sim_base::condition`.

use sim_base::condition::*;
fn read(text: &str) -> Result<FieldCondition, ConditionError> {
    text.parse()
}

#[test]
fn limits_have_units_and_a_sign_makes_them_a_change() {
    for (text, limit) in [
        ("a.p50 > 5%", ConditionLimit::Absolute(0.05)),
        ("a>=3.9 %", ConditionLimit::Absolute(0.039)),
        ("a == 2m", ConditionLimit::Absolute(120.0)),
        ("a < 1.5 h", ConditionLimit::Absolute(5400.0)),
        ("a > 250ms", ConditionLimit::Absolute(0.25)),
        ("a > 3k", ConditionLimit::Absolute(3000.0)),
        ("a > +2%", ConditionLimit::Share(0.02)),
        ("a < -0.5%", ConditionLimit::Share(-0.005)),
        ("a > +10s", ConditionLimit::Change(10.0)),
        ("a > -3", ConditionLimit::Change(-3.0)),
    ] {
        assert_eq!(read(text).unwrap().limit, limit, "{text}");
    }
}

#[test]
fn a_condition_holds_of_the_number_or_of_its_change() {
    for (text, now, reference, failed) in [
        ("a > 5", 6.0, None, true),
        ("a > 5", 5.0, None, false),
        ("a != 5", 5.0, None, false),
        ("a > +2%", 103.0, Some(100.0), true),
        ("a > +2%", 101.0, Some(100.0), false),
        ("a < -0.5%", 99.0, Some(100.0), true),
        ("a > +1s", 102.0, Some(100.0), true),
        ("a > +2%", 0.0, Some(0.0), false),
        ("a > +2%", 1.0, Some(0.0), true),
    ] {
        let condition = read(text).unwrap();
        let verdict = condition.evaluate(now, reference).unwrap();
        assert_eq!(verdict.failed, failed, "{text} of {now}, {reference:?}");
    }
    let relative = read("a > +2%").unwrap();
    assert!(relative.is_relative() && relative.evaluate(1.0, None).is_err());
}

#[test]
fn what_is_not_a_condition_is_rejected_with_the_form() {
    for (text, expected) in [
        ("", "no operator"),
        ("a", "no operator"),
        ("a = 5", "no such operator"),
        ("> 5", "no name"),
        ("a > five", "not a number"),
        ("a > nan", "not a number"),
        ("a > 5% and b", "not a number"),
        ("a > 5 parsec", "not a number"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("NAME OPERATOR LIMIT"), "{error}");
    }
}
