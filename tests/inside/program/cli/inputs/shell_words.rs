//! Unit tests of `jobset_sim::cli::inputs::shell_words`.

use super::*;

#[test]
fn words_are_those_that_were_quoted() {
    let all = ["run", "a b", "it's", "", "x=[{a: 'b'}]", "two\nlines", r"back\slash"];
    let line: Vec<String> = all.iter().map(|w| quoted(w)).collect();
    assert_eq!(words(&line.join(" ")), all);
}
