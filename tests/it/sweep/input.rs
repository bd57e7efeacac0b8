//! Invalid sweeps are rejected with a specific message before any simulation.

use super::{FLEET, assert_success};
use crate::program::{program, scratch};

#[test]
fn what_cannot_be_swept_is_rejected_by_name() {
    let spares = "parameters.spares=0,2";
    for (arguments, part) in [
        (&["--grid", "parameters.spare=0,2"][..], "did you mean \"spares\""),
        (&["--grid", "job.recovry=1m,2m"], "unknown field"),
        (&["--grid", "job.recovery=1m,soon"], "at point spares=0, interval=300, job.recovery=soon"),
        (&["--grid", spares, "--grid", spares], "two axes vary parameters.spares"),
        (&["--grid", "job=1", "--grid", "job.nodes=4"], "job.nodes is a field inside job"),
        (&["--grid", "parameters.spares=1,1"], "the value 1 twice"),
        (&["--grid", "parameters.spares="], "has no value"),
        (
            &["--grid", spares, "--set", "parameters.spares=3"],
            "parameters.spares is set with --set and is also an axis",
        ),
        (&["--range", "job.recovery=1m..2m"], "--lhs N"),
        (&["--lhs", "8"], "requires a range"),
        (&["--range", "job.recovery=2m..1m", "--lhs", "8"], "is empty"),
        (&["--range", "parameters.spares=0..8:log", "--lhs", "8"], "has to begin above 0"),
        (
            &["--range", "job.recovery=1m..2m", "--lhs", "1000000000"],
            "too many points: 4 x 3 x 1000000000 = 12000000000;",
        ),
        (&["--seeds", "5000000"], "12 points x 5000000 replications = 60000000"),
        (&["--until", "goodput ±1%", "--seeds", "40"], "unknown metric \"goodput\""),
        (&["--metric", "goodputt", "--seeds", "2"], "unknown metric \"goodputt\""),
        (&["--shard", "3/2", "--out", "x"], "shard 3 of 2 does not exist: use 0/2 to 1/2, or 1/2 to 2/2"),
        (&["--shard", "0/0", "--out", "x"], "invalid number of shards 0"),
        (&["--shard", "1/2"], "--out"),
        (&["--shard", "auto", "--out", "x"], "none of SLURM_ARRAY_TASK_ID"),
        (&["--fail", "a-0-0:exit=1"], "Fleet"),
        (&["--fail-if", "goodput"], "no operator"),
        (&["--shard", "1/2", "--out", "x", "--fail-if", "failures > 1"], "cannot be used with"),
        (&["--out", "src"], "already exists"),
    ] {
        let all = [&["sweep", FLEET], arguments].concat();
        let mut command = program(&all);
        for name in ["SLURM_ARRAY_TASK_ID", "OMPI_COMM_WORLD_RANK", "JOB_COMPLETION_INDEX"] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(part), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let output = program(&["sweep", "scenarios/first-steps.yaml"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("there is nothing to vary"), "{text}");
}

#[test]
fn conditions_are_held_against_every_point_or_one_of_them() {
    let dir = scratch("sweep-fail-if");
    let out = dir.join("out");
    let sweep = |more: &[&str], code: i32| {
        let grid = ["sweep", FLEET, "--grid", "parameters.spares=0,2", "--seeds", "4", "--quiet"];
        let output = program(&[&grid[..], more].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{more:?}: {text}");
        text
    };
    let text = sweep(&["--fail-if", "failures >= 0"], 5);
    assert_eq!(text.matches("is true in point").count(), 6, "{text}");
    assert!(text.contains("is true in point 0 (spares=0, "), "{text}");
    let text = sweep(&["--fail-if", "3:failures@p90 >= 0"], 5);
    assert_eq!(text.matches("is true in point 3 (").count(), 1, "{text}");
    sweep(&["--fail-if", "failures < 0", "--fail-if", "failures > +1000%"], 0);
    assert!(sweep(&["--fail-if", "17:failures < 0"], 2).contains("unknown variant \"17\""));
    assert!(sweep(&["--fail-if", "failure < 0"], 2).contains("unknown name"));
    // Results are saved even if a gate fails, and a gate is evaluated even if the results exist already.
    let kept = ["--out", out.to_str().unwrap()];
    sweep(&[&["--fail-if", "failures >= 0"], &kept[..]].concat(), 5);
    assert!(out.join("summary.json").is_file());
    sweep(&kept, 0);
    let text = sweep(&[&["--fail-if", "failures < 0"], &kept[..]].concat(), 2);
    assert!(text.contains("is already complete"), "{text}");
    let shard = |i: &str| {
        let of = format!("{i}/2");
        let out = dir.join("shards").join(i);
        sweep(&["--shard", &of, "--out", out.to_str().unwrap()], 0);
    };
    ["1", "2"].into_iter().for_each(shard);
    let shards = dir.join("shards");
    let merge = ["sweep", "merge", shards.to_str().unwrap(), "--fail-if"];
    assert_success(&program(&[&merge[..], &["failures < 0"]].concat()).output().unwrap());
    let failed = program(&[&merge[..], &["1:failures >= 0"]].concat()).output().unwrap();
    assert_eq!(failed.status.code(), Some(5), "{failed:?}");
    std::fs::remove_dir_all(dir).unwrap();
}
