//! Tests of `sim_recordings::observe::text`.

use sim_recordings::observe::text::*;
fn read(text: &str) -> Result<usize, TextProblem> {
    let mut seen = 0;
    for_each_value("f", text, &mut |value| {
        seen += 1;
        if value["bad"].is_null() { Ok(()) } else { Err("is bad".to_owned()) }
    })?;
    Ok(seen)
}

#[test]
fn values_need_nothing_between_them() {
    assert_eq!(read("{}{}\n {\"a\":\n1}"), Ok(3));
    assert_eq!(read("  \n"), Ok(0));
}

#[test]
fn what_is_wrong_is_named_by_its_place() {
    let at = |text: &str| {
        let problem = read(text).unwrap_err();
        (problem.line, problem.column, problem.message)
    };
    let (line, column, message) = at("{}\n{\"a\": nope}");
    assert_eq!((line, column), (2, 8));
    assert!(message.starts_with("not JSON: expected"), "{message}");
    let (line, _, message) = at("{}\n{\"a\": [1,\n");
    assert!(line >= 2 && message.contains("in the middle"), "{line} {message}");
    assert_eq!(at("{}\n  {\"bad\": 1}"), (2, 3, "is bad".to_owned()));
}
