//! `--shard auto`: determines the shard of this process from the environment variables of the job engine.

use crate::{cli::failure::CommandFailure, cli::sweep::axes::ShardArg};
use sim_analysis::sweep::SweepShard;

/// Environment variables per engine: name of the engine, then the variables of the index, the first index, the
/// number of processes, and the last index. An empty name means that the engine has no such variable.
const ENGINES: [[&str; 5]; 3] = [
    ["a Slurm array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MAX"],
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
        let result = text.trim().parse().map(Some);
        result.map_err(|_| format!("--shard auto: {name} is {text:?}, which is not a number"))
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
            return Err(format!("--shard auto: index {at} of {engine} is out of range for {n} shards"));
        };
        return SweepShard::new(index, n).map_err(|e| e.to_string());
    }
    let names: Vec<&str> = ENGINES.iter().map(|engine| engine[1]).collect();
    Err(format!("--shard auto: none of {} is set", names.join(", ")))
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/sweep/auto.rs"]
mod tests;
