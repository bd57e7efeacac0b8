//! Tests of `sim_api::admission::errors`.

use sim_api::admission::errors::*;
use sim_api::admission::field::FieldError;
#[test]
fn several_errors_are_in_brackets_and_equal_ones_once() {
    let one = FieldError::internal("x");
    let two = FieldError::invalid("a.b", "1", "y");
    let message = |errors: &[FieldError]| invalid("n", errors.to_vec()).message;
    let head = "JobSet.jobset.x-k8s.io \"n\" is invalid: ";
    assert_eq!(message(std::slice::from_ref(&one)), format!("{head}<nil>: Internal error: x"));
    assert_eq!(
        message(&[one.clone(), two, one]),
        format!("{head}[<nil>: Internal error: x, a.b: Invalid value: 1: y]")
    );
}
