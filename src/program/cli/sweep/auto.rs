//! `--shard auto`: determines the shard of this process from the environment variables of the job engine.

use crate::cli::failure::CommandFailure;
use crate::cli::sweep::axes::ShardArg;
use sim_analysis::sweep::SweepShard;

/// Environment variables per engine: name of the engine, then the variables of the index, the first index, the
/// number of processes, and the last index. An empty name means that the engine has no such variable.
const ENGINES: [[&str; 5]; 3] = [
    [
        "a Slurm array",
        "SLURM_ARRAY_TASK_ID",
        "SLURM_ARRAY_TASK_MIN",
        "SLURM_ARRAY_TASK_COUNT",
        "SLURM_ARRAY_TASK_MAX",
    ],
    ["Open MPI", "OMPI_COMM_WORLD_RANK", "", "OMPI_COMM_WORLD_SIZE", ""],
    ["an Indexed Job", "JOB_COMPLETION_INDEX", "", "", ""],
];

pub fn shard(arg: ShardArg) -> Result<SweepShard, CommandFailure> {
    match arg {
        ShardArg::This(shard) => Ok(shard),
        ShardArg::Auto(of) => from(of, &environment).map_err(CommandFailure::Invalid),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "selects the process that runs a replication; does not affect its result"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn from(of: Option<u64>, environment: &dyn Fn(&str) -> Option<String>) -> Result<SweepShard, String> {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(text) = environment(name).filter(|_| !name.is_empty()) else {
            return Ok(None);
        };
        let found = text.trim().parse().map(Some);
        found.map_err(|_| format!("--shard auto: {name} is {text:?}, which is not a number"))
    };
    for [engine, index, first, count, last] in ENGINES {
        let Some(at) = number(index)? else {
            continue;
        };
        let (first, count, last) = (number(first)?.unwrap_or(0), number(count)?, number(last)?);
        let none = || format!("--shard auto: {engine} does not provide the number of shards; use --shard auto/N");
        let n = of.or(count).ok_or_else(none)?;
        if count.is_some_and(|count| count != n) || last.is_some_and(|last| last + 1 != first + n) {
            return Err(format!(
                "--shard auto: {engine} has the indexes {first} to {}, not {n} consecutive ones",
                last.unwrap_or(first + count.unwrap_or(n) - 1)
            ));
        }
        let Some(index) = at.checked_sub(first).filter(|i| *i < n) else {
            return Err(format!(
                "--shard auto: index {at} of {engine} is out of range for {n} shards"
            ));
        };
        return SweepShard::new(index, n).map_err(|e| e.to_string());
    }
    let names: Vec<&str> = ENGINES.iter().map(|engine| engine[1]).collect();
    Err(format!("--shard auto: none of {} is set", names.join(", ")))
}

#[cfg(test)]
mod tests {
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
            (
                "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4",
                Some(8),
                Err("not 8 consecutive"),
            ),
            ("", Some(8), Err("none of SLURM_ARRAY_TASK_ID")),
        ] {
            let environment = |name: &str| {
                let all = set.split(' ').filter_map(|pair| pair.split_once('='));
                let mut own = all.filter(|(known, _)| *known == name);
                own.next().map(|(_, value)| value.to_owned())
            };
            let found = from(of, &environment).map(|shard| shard.to_string());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{set}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{set}: {found}"),
                (found, expected) => panic!("{set}: {found:?}, not {expected:?}"),
            }
        }
    }
}
