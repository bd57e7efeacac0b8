//! Unit tests of `jobset_sim::cli::sweep::auto`.

use super::*;

#[test]
fn the_engine_says_which_shard_it_is() {
    for (set, of, expected) in [
        ("JOB_COMPLETION_INDEX=3", Some(8), Ok("3/8")),
        ("JOB_COMPLETION_INDEX=0", Some(1), Ok("0/1")),
        ("JOB_COMPLETION_INDEX=3", None, Err("does not provide the number")),
        ("JOB_COMPLETION_INDEX=8", Some(8), Err("out of range for 8")),
        ("JOB_COMPLETION_INDEX=x", Some(8), Err("not a number")),
        ("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4", None, Ok("2/4")),
        (
            "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8",
            None,
            Ok("4/8"),
        ),
        (
            "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=9 SLURM_ARRAY_TASK_COUNT=5",
            None,
            Err("not 5 consecutive"),
        ),
        ("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4", Some(8), Err("not 8 consecutive")),
        ("", Some(8), Err("none of SLURM_ARRAY_TASK_ID")),
    ] {
        let environment = |name: &str| {
            let all = set.split(' ').filter_map(|pair| pair.split_once('='));
            let mut own = all.filter(|(known, _)| *known == name);
            own.next().map(|(_, value)| value.to_owned())
        };
        let actual = from(of, &environment).map(|shard| shard.to_string());
        match (actual, expected) {
            (Ok(actual), Ok(expected)) => assert_eq!(actual, expected, "{set}"),
            (Err(actual), Err(expected)) => assert!(actual.contains(expected), "{set}: {actual}"),
            (actual, expected) => panic!("{set}: {actual:?}, not {expected:?}"),
        }
    }
}
