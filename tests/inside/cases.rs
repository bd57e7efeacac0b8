//! The number of cases that a long search tries. Every crate with such a search includes this module.

/// Returns whether long random searches are complete: with `LONG_TESTS=1`, as in `.ci/run`. Otherwise each tries a part
/// of its cases, so that `cargo test` takes minutes.
#[expect(clippy::disallowed_methods, reason = "a switch for developers, not an input of a run")]
pub fn runs_long_tests() -> bool {
    std::env::var_os("LONG_TESTS").is_some_and(|value| value == "1")
}

/// Returns the number of cases that a search tries: `all`, or a `part` of them in a quick run.
pub fn cases(part: u64, all: u64) -> u64 {
    if runs_long_tests() { all } else { part }
}
