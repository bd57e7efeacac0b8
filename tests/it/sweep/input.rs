//! What cannot be swept is refused before anything is played, and named.

use super::FLEET;
use crate::program::program;

#[test]
fn what_cannot_be_swept_is_refused_by_name() {
    let spares = "parameters.spares=0,2";
    for (arguments, part) in [
        (
            &["--grid", "parameters.spare=0,2"][..],
            "did you mean \"spares\"",
        ),
        (&["--grid", "job.recovry=1m,2m"], "unknown field"),
        (&["--grid", "job.recovery=1m,soon"], "at the point"),
        (
            &["--grid", spares, "--grid", spares],
            "two axes vary parameters.spares",
        ),
        (
            &["--grid", "job=1", "--grid", "job.nodes=4"],
            "job.nodes is inside job",
        ),
        (&["--grid", "parameters.spares=1,1"], "the value 1 twice"),
        (&["--grid", "parameters.spares="], "has no value"),
        (
            &["--grid", spares, "--set", "parameters.spares=3"],
            "contradict each other",
        ),
        (&["--range", "job.recovery=1m..2m"], "--lhs N"),
        (&["--lhs", "8"], "needs a range"),
        (
            &["--range", "job.recovery=2m..1m", "--lhs", "8"],
            "is empty",
        ),
        (
            &["--range", "parameters.spares=0..8:log", "--lhs", "8"],
            "has to begin above 0",
        ),
        (
            &["--range", "job.recovery=1m..2m", "--lhs", "1000000000"],
            "1000000000 = 12000000000 points",
        ),
        (
            &["--seeds", "5000000"],
            "12 points x 5000000 replications = 60000000",
        ),
        (
            &["--until", "goodput ±1%", "--seeds", "40"],
            "there is no metric \"goodput\"",
        ),
        (
            &["--metric", "goodputt", "--seeds", "2"],
            "there is no metric \"goodputt\"",
        ),
        (&["--shard", "3/2", "--out", "x"], "no shard 3 of 2"),
        (&["--shard", "0/0", "--out", "x"], "0 shards"),
        (&["--shard", "1/2"], "--out"),
        (
            &["--shard", "auto", "--out", "x"],
            "none of SLURM_ARRAY_TASK_ID",
        ),
        (&["--fail", "a-0-0:exit=1"], "Fleet"),
        (&["--out", "src"], "exists already"),
    ] {
        let all = [&["sweep", FLEET], arguments].concat();
        let mut command = program(&all);
        for name in [
            "SLURM_ARRAY_TASK_ID",
            "OMPI_COMM_WORLD_RANK",
            "JOB_COMPLETION_INDEX",
        ] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(part), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let output = program(&["sweep", "scenarios/first-steps.yaml"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("there is nothing to vary"), "{told}");
}
