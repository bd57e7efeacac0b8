//! `search` and `budget` as a shell sees them: exit codes, formats, what is refused, what a directory keeps.

use crate::program::{program, scratch};
use serde_json::Value;
use std::fs;

const FLEET: &str = "scenarios/published/bloom-176b.yaml";
const SHORT: &str = "stop.at=20d";

#[track_caller]
fn run(arguments: &[&str], code: i32) -> (String, String) {
    let output = program(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {out}{err}"
    );
    (out, err)
}

const SPARES: [&str; 7] = [
    "search",
    "spares",
    FLEET,
    "--set",
    SHORT,
    "--path",
    "spares.nodes",
];

fn spares(target: &str, more: &[&str], code: i32) -> (String, String) {
    run(
        &[&SPARES[..], &["--target", target, "--seeds", "80"], more].concat(),
        code,
    )
}

#[test]
fn a_target_that_nothing_meets_ends_with_exit_code_3_and_says_how_near_it_came() {
    let (out, err) = spares("effective_training_ratio.p10 >= 0.9999", &["--max", "2"], 3);
    assert!(
        out.contains("Nothing up to spares.nodes = 2 meets"),
        "{out}"
    );
    assert!(err.contains("error: Nothing up to"), "{err}");
    assert!(out.contains("misses it"), "{out}");
}

#[test]
fn wrong_questions_are_refused_before_anything_is_played() {
    for (target, more, says) in [
        ("effective_training_ratio >= 0.9", &[][..], "which quantile"),
        (
            "effective_training_rati.p10 >= 0.9",
            &[],
            "did you mean effective_training_ratio?",
        ),
        ("failures.p90 <= lots", &[], "not a number"),
        (
            "failures.p90 <= 3",
            &["--min", "5", "--max", "2"],
            "nothing to try",
        ),
        (
            "failures.p90 <= 3",
            &["--path", "spares.node"],
            "unknown field \"node\"",
        ),
        (
            "failures.p90 <= 3",
            &["--path", "metadata.name"],
            "metadata.name=32",
        ),
    ] {
        let mut arguments = vec!["search", "spares", FLEET, "--target", target];
        if !more.contains(&"--path") {
            arguments.extend(["--path", "spares.nodes"]);
        }
        let (out, err) = run(&[&arguments[..], more].concat(), 2);
        assert!(out.is_empty() && err.contains(says), "{target}: {err}");
    }
    for (arguments, says) in [
        (&["--ignore", "gpus"][..], "did you mean gpu?"),
        (&["--survive", "1.5"], "a chance between 0 and 1"),
        (&["--until-day", "0"], "a number of days"),
        (&["--jobset", "train"], "there is no JobSet"),
    ] {
        let (_, err) = run(&[&["budget", FLEET, "--seeds", "2"], arguments].concat(), 2);
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
}

#[test]
fn every_format_tells_the_same_and_a_directory_repeats_it() {
    let dir = scratch("planning").join("out");
    let out = dir.to_str().unwrap();
    let target = "effective_training_ratio.p10 >= 0.95";
    let (json, _) = spares(target, &["--max", "4", "--format", "json", "--out", out], 0);
    let told: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(told["schema"], "jobset-sim/search-spares/v1");
    assert_eq!(
        (&told["found"], &told["value"], &told["level"]),
        (&"least".into(), &0.into(), &"fleet".into())
    );
    let kept = fs::read_to_string(dir.join("summary.json")).unwrap();
    assert_eq!(kept, json);
    assert!(dir.join("charts/knee.svg").is_file());
    let command = fs::read_to_string(dir.join("inputs/command.txt")).unwrap();
    assert!(
        command.starts_with("jobset-sim search spares "),
        "{command}"
    );
    assert!(
        command.contains("--target 'effective_training_ratio.p10 >= 0.95'"),
        "{command}"
    );
    let (csv, _) = spares(target, &["--max", "4", "--format", "csv"], 0);
    assert_eq!(fs::read_to_string(dir.join("table.csv")).unwrap(), csv);
    let (md, _) = spares(target, &["--max", "4", "--format", "md"], 0);
    assert!(md.starts_with("| value |"), "{md}");
    let (one, _) = spares(target, &["--max", "4", "--threads", "1"], 0);
    assert_eq!(one, spares(target, &["--max", "4", "--threads", "2"], 0).0);
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

#[test]
fn a_budget_names_its_causes_and_draws_its_survival() {
    let dir = scratch("budget").join("out");
    let (text, _) = run(
        &[
            "budget",
            "scenarios/published/llama3-405b.yaml",
            "--until-day",
            "10",
            "--set",
            "nodes=64",
            "--set",
            "job.nodes=64",
            "--seeds",
            "40",
            "--ignore",
            "planned",
            "--survive",
            "50%",
            "--out",
            dir.to_str().unwrap(),
        ],
        0,
    );
    assert!(
        text.contains("If restarts by planned did not count"),
        "{text}"
    );
    assert!(text.contains("gpu_sram_or_processor"), "{text}");
    let kept: Value = serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!(kept["schema"], "jobset-sim/budget/v1");
    assert_eq!(kept["horizon_s"], 864_000.0);
    let shares = kept["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(dir.join("charts/budget.svg").is_file());
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}
