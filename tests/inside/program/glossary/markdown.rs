//! Unit tests of `jobset_sim::glossary::markdown`.

use super::*;

#[test]
fn a_cell_names_its_code_spans_and_their_extensions() {
    assert_eq!(terms("`a`, `b.p50`, `.p95`"), ["a", "b.p50", "b.p95"]);
    assert_eq!(terms("each [phase](glossary.md)"), ["each phase"]);
}

#[test]
fn plain_text_has_no_markup() {
    let text = plain("one of **[two](glossary.md#y)**; `x` [3] or `rules[].a`");
    assert_eq!(text, "one of two; x [3] or rules[].a");
}
