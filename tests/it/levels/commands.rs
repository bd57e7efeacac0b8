//! Planning commands at level `nodes`: their output, and agreement with the results of `run`.

use crate::program::{program, scratch};
use crate::support::cases;
use std::fs;
use std::path::Path;

const GANG: &str = "tests/it/levels/gang.yaml";

#[track_caller]
fn run(arguments: &[&str], code: i32) -> String {
    let output = program(arguments).arg("--quiet").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let result = output.status.code();
    assert_eq!(result, Some(code), "{arguments:?}: {out}{err}");
    out + &err
}

#[test]
fn every_command_that_plans_simulates_the_level_of_the_file() {
    let commands = [
        (
            &["plan", "budget", GANG, "--seeds", "200"][..],
            &["replications (nodes)", "maxRestarts 12 is sufficient"][..],
        ),
        (&["plan", "interval", GANG, "--path", "parameters.every"], &["replications (nodes)", "The best interval is"]),
        (
            &["plan", "spares", GANG, "--path", "parameters.spares", "--target", "goodput.p10 >= 0.9", "--seeds", "60"],
            &["replications (nodes)", "parameters.spares"],
        ),
        (
            &[
                "plan", "spares", GANG, "--path", "parameters.spares=1..3", "--path",
                "topology.pools[1].nodesPerIsland=8..10", "--target", "goodput.p10 >= 0.9", "--seeds", "60",
            ],
            &[
                "replications (nodes)",
                "9 combinations were simulated",
                "parameters.spares=1, topology.pools[1].nodesPerIsland=9 satisfies",
            ],
        ),
        (
            &["sensitivity", GANG, "--ranges", "--seeds", "3"],
            &["replications (nodes)", "has the largest effect on goodput"],
        ),
        (
            &["plan", "breakeven", GANG, "--b", "b: parameters.every=1h", "--over", "parameters.mtbf=5d..20d"],
            &["replications (nodes)", "is better in goodput over the whole range"],
        ),
        (
            &["compare", GANG, "--variant", "often: parameters.every=5m", "--seeds", "20"],
            &["node-level replications", "often"],
        ),
        // Without --seeds, the first replication runs at the level that the file sets.
        (&["run", GANG], &["node-level replication"]),
        (&["run", GANG, "--level", "pods", "--verbose"], &["Restart 1 of JobSet train"]),
    ];
    for (arguments, needles) in commands.into_iter().step_by(cases(5, 1) as usize) {
        let text = run(arguments, 0);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for needle in needles {
            assert!(text.contains(needle), "{arguments:?}: no {needle:?} in\n{text}");
        }
    }
    let spares =
        ["plan", "spares", GANG, "--path", "parameters.spares", "--target", "goodput.p10 >= 0.9", "--seeds", "60"];
    let text = run(&[&spares[..], &["--check", "2"]].concat(), 0);
    assert!(text.contains("Check with the recommended value: 2 replications at levels pods and nodes"), "{text}");
    assert!(text.contains("restartLatency_s"), "{text}");
    let text = run(&[&spares[..], &["--check", "--level", "pods"]].concat(), 2);
    assert!(text.contains("at level pods only"), "{text}");
    let text = run(&["run", GANG, "--check-level", "--seeds", "1000000", "--time-limit", "1ms"], 0);
    assert!(text.contains("of 1000000 replications were checked within the time limit of 1ms"), "{text}");
    let text = run(&["run", GANG, "--paranoid"], 2);
    assert!(text.contains("--level pods"), "{text}");
}

fn column(csv: &str, name: &str, keep: impl Fn(&[&str], &[&str]) -> bool) -> Vec<String> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = header.iter().position(|h| *h == name).unwrap();
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    let rows = rows.filter(|row| keep(&header, row));
    rows.map(|row| row[at].to_owned()).collect()
}

fn read(dir: &Path) -> String {
    fs::read_to_string(dir.join("replications.csv")).unwrap()
}

/// Sweep points that share measurements give the same results as a separate run of each point.
#[test]
fn a_sweep_simulates_at_each_point_what_a_run_simulates_there() {
    let dir = scratch("nodes-sweep");
    let swept = dir.join("sweep");
    let out = swept.to_str().unwrap();
    let grid = ["--grid", "parameters.spares=1,2", "--grid", "parameters.every=5m,15m"];
    run(&[&["sweep", GANG, "--seeds", "4", "--out", out], &grid[..]].concat(), 0);
    let swept = read(&swept);
    for (spares, every) in [("1", "5m"), ("1", "15m"), ("2", "15m")] {
        let alone = dir.join(format!("{spares}-{every}"));
        let sets = [format!("parameters.spares={spares}"), format!("parameters.every={every}")];
        let out = alone.to_str().unwrap();
        run(&["run", GANG, "--seeds", "4", "--set", &sets[0], "--set", &sets[1], "--out", out], 0);
        let here = |header: &[&str], row: &[&str]| {
            let is = |path: &str, value: &str| header.iter().zip(row).any(|(h, v)| *h == path && *v == value);
            is("parameters.spares", spares) && is("parameters.every", every)
        };
        let of_sweep = column(&swept, "digest", here);
        let of_run = column(&read(&alone), "digest", |_, _| true);
        assert_eq!((of_sweep.len(), of_sweep), (4, of_run), "{spares} {every}");
    }
    fs::remove_dir_all(dir).unwrap();
}
