//! Unit tests of `jobset_sim::cli::validate`.

use super::*;
use clap::Parser;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: ValidateArgs,
}

fn args(words: &[&str]) -> ValidateArgs {
    let words = ["validate"].into_iter().chain(words.iter().copied());
    Cli::try_parse_from(words).map(|c| c.args).unwrap()
}

#[test]
fn bad_flags_and_files_are_reported_together() {
    let bad = args(&["no-such-file.json", "--fail-if", "x > 1", "--api-latency", "9,8", "Cargo.toml"]);
    let errors = prepare(&bad).unwrap_err();
    for part in ["no-such-file.json: ", "available: ", "must be 0 < p50", "Cargo.toml: not JSON"] {
        assert!(errors.iter().any(|e| e.contains(part)), "{part}: {errors:?}");
    }
    assert_eq!(errors.len(), 4);
    assert_eq!(cli(&bad).map_err(|e| e.code()), Err(2));
}

#[test]
fn latencies_are_read_with_or_without_their_unit() {
    for (text, expected) in [
        ("8,40", Some((8.0, 40.0))),
        ("0.5ms, 2ms", Some((0.5, 2.0))),
        ("8", None),
        ("8,x", None),
        ("0,1", None),
        ("nan,1", None),
        ("1,inf", None),
    ] {
        assert_eq!(parse_latency(text).ok(), expected, "{text}");
    }
    assert!(overrides(&args(&["f", "--node-requests-per-s", "0"])).is_err());
}
