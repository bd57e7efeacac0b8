//! The states of nodes at one instant and as an animation, and the text below a figure.

use super::{run, run_ok, text};
use crate::program::scratch;
use std::fs;
use std::path::Path;

/// Three Jobs of four pods, each in its own pool, and a spare pool. One pod fails after two minutes.
const SCENARIO: &str = "scenarios/first-steps.yaml";

#[test]
fn a_map_of_an_instant_counts_nodes_by_what_they_do_and_spare_ones_apart() {
    let dir = scratch("map-at");
    let at = |at: &str| {
        let file = dir.join(format!("{at}.svg"));
        let file = file.to_str().unwrap();
        run_ok(&["plot", "map", SCENARIO, "--at", at, "--out", file]);
        let drawn = fs::read_to_string(file).unwrap();
        let words = ["ready", "failed", "spare (whole slice free)"];
        words.map(|word| {
            let result = drawn.split(&format!(">{word}: ")).nth(1);
            let number = result.and_then(|rest| rest.split('<').next());
            number.map_or(0, |n| n.parse::<u32>().unwrap())
        })
    };
    assert_eq!(at("1m"), [12, 0, 4]);
    assert_eq!(at("2m5s"), [11, 1, 4], "the failed pod is not yet replaced");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_bar_of_an_unfinished_restart_is_named_as_such() {
    let dir = scratch("plot-unfinished");
    let drawn = |scenarios: &[&str], more: &[&str]| {
        let file = dir.join("bars.svg");
        let file = file.to_str().unwrap();
        run_ok(&[&["plot", "restarts"], scenarios, &["--size", "1600x900", "--out", file], more].concat());
        fs::read_to_string(file).unwrap()
    };
    let (open, ready) = ("scenarios/first-steps.yaml", "scenarios/in-place-main-container.yaml");
    let cut: &[&str] = &["--set", "stop.at=125s"];
    let end = "to the end of the run (restart unfinished)";
    let one = drawn(&[open], cut);
    assert!(one.contains(end) && one.contains(" (unfinished)<") && !one.contains("ready again"), "{one}");
    let finished = drawn(&[open, ready], &[]);
    assert!(finished.contains("until all pods are ready again") && !finished.contains("unfinished"), "{finished}");
    fs::remove_dir_all(dir).unwrap();
}

/// At first, every node except that of the failed pod has a ready pod or none; at the end, all do.
#[test]
fn a_film_moves_two_restarts_along_one_axis() {
    let dir = scratch("film");
    let file = dir.join("film.svg");
    let file = file.to_str().unwrap();
    let (recreate, in_place) = ("scenarios/first-steps.yaml", "scenarios/in-place-main-container.yaml");
    run_ok(&["plot", "film", recreate, in_place, "--speed", "2x", "--out", file]);
    let film = fs::read_to_string(file).unwrap();
    assert!(film.contains(">Recreate") && film.contains(">InPlaceRestart"));
    // A Job may restart in the pool that was spare.
    let (ready, free) = ("#009e73", "#dedede");
    let (mut moving, mut failed) = (0, 0);
    for piece in film.split("values=\"#").skip(1) {
        let values = piece.split('"').next().unwrap();
        let first = format!("#{}", values.split(';').next().unwrap());
        let last = &values[values.len() - (ready.len() - 1)..];
        let rests = |color: &str| [ready, free].contains(&color);
        assert!(rests(&format!("#{last}")), "{values}");
        moving += 1;
        failed += u32::from(!rests(&first));
    }
    assert!(moving > 3, "{moving}");
    assert_eq!(failed, 2, "one pod of each run has just failed");
    let times = film.split("keyTimes=\"").skip(1);
    for times in times {
        let times: Vec<f64> = times.split('"').next().unwrap().split(';').map(|t| t.parse().unwrap()).collect();
        assert!(times[0] == 0.0 && times.is_sorted() && *times.last().unwrap() <= 1.0);
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn options_of_another_chart_are_rejected() {
    for (arguments, message) in [
        (vec!["plot", "gantt", SCENARIO, "--at", "1m", "--out", "x.svg"], "--at applies to `plot map` only"),
        (
            vec!["plot", "film", SCENARIO, "--color-by", "job", "--out", "x.svg"],
            "--color-by applies to `plot map` only",
        ),
        (vec!["plot", "map", SCENARIO, "--color-by", "rack", "--out", "x.svg"], "no node has this label"),
        (vec!["plot", "map", SCENARIO, "--speed", "2", "--out", "x.svg"], "--speed applies to `plot film` only"),
        (vec!["plot", "map", SCENARIO, "--at", "30h", "--out", "x.svg"], "the run ends at"),
        (
            vec!["plot", "film", SCENARIO, "--out", "x.png"],
            "unsupported file extension for an animation; use SVG (.svg)",
        ),
        (vec!["plot", "film", SCENARIO, "--speed", "0", "--out", "x.svg"], "expected a number between"),
    ] {
        let (code, text) = run(&arguments);
        assert!(code == Some(2) && text.contains(message), "{message}: {text}");
    }
}

/// The digest of the inputs does not depend on the location of the files.
#[test]
fn the_section_reproduce_names_inputs_seed_digest_and_sources() {
    let dir = scratch("reproduce");
    let own = dir.join("run");
    let own = own.to_str().unwrap();
    run_ok(&["run", SCENARIO, "--seed", "7", "--out", own]);
    let section = |arguments: &[&str], name: &str| {
        let page = dir.join(name);
        let words = [&["report"], arguments, &["--md", page.to_str().unwrap()]].concat();
        run_ok(&words);
        let page = text(&page);
        let (_, section) = page.split_once("\n## Reproduce\n").unwrap();
        section.to_owned()
    };
    let inputs = |section: &str| {
        let mut lines = section.lines();
        lines.find(|l| l.starts_with("| inputs |")).unwrap().to_owned()
    };
    let of_file = section(&[SCENARIO, "--seed", "7"], "file.md");
    let of_run = section(&[own], "run.md");
    assert_eq!(inputs(&of_file), inputs(&of_run));
    let summary = text(&Path::new(own).join("summary.json"));
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    for part in [&of_file, &of_run] {
        assert!(part.contains(summary["digest"].as_str().unwrap()), "{part}");
        assert!(part.contains("seed 7") && part.contains("documented | SyncJobBatchPeriod"), "{part}");
        assert!(part.contains(env!("CARGO_PKG_VERSION")), "{part}");
    }
    assert!(of_file.contains("jobset-sim run scenarios/first-steps.yaml --seed 7\n"), "{of_file}");
    let compared = dir.join("compared");
    let kept = compared.to_str().unwrap();
    let scenario = "scenarios/compare-one-failure.yaml";
    run_ok(&["compare", scenario, "--seeds", "2", "--out", kept]);
    let part = section(&[kept], "compared.md");
    assert!(part.contains("| digests | baseline "), "{part}");
    assert!(inputs(&part).contains("digest "), "{part}");
    fs::remove_dir_all(dir).unwrap();
}
