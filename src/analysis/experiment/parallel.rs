//! Parallel replications. Results are stored by number, so the number of threads has no influence on them.

use super::player::ExperimentRunner;
use super::stop::StopFlag;
use rayon::prelude::*;
use sim_api::spec::ScenarioSpec;
use sim_engine::CannotRun;
use std::fmt;
use std::sync::Mutex;

/// The reason why no replication was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRuns {
    /// The operating system did not start threads; contains the reason.
    Threads(String),
    /// The scenario cannot be run.
    Scenario(CannotRun),
}

impl fmt::Display for NoRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRuns::Threads(why) => write!(f, "cannot start threads: {why}"),
            NoRuns::Scenario(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for NoRuns {}

/// Runs the replications 0 to `n` − 1. Each thread reuses one runner. Results are in the order of the replications,
/// without those for which `play` returns `None`. With 0 `threads`, one thread per core is used. No replication
/// starts after `stop` was raised.
pub fn in_parallel<T: Send>(
    scenario: &ScenarioSpec, (n, threads): (u64, usize), stop: &StopFlag,
    play: impl Fn(&mut ExperimentRunner, u64) -> Option<T> + Sync,
) -> Result<Vec<T>, NoRuns> {
    let make = || ExperimentRunner::new(scenario);
    in_parallel_with(make, (n, threads), stop, play)
}

/// Like [`in_parallel`], for any kind of runner; `make` creates one per thread.
pub fn in_parallel_with<S: Send, T: Send>(
    make: impl Fn() -> Result<S, CannotRun> + Sync + Send, (n, threads): (u64, usize), stop: &StopFlag,
    play: impl Fn(&mut S, u64) -> Option<T> + Sync,
) -> Result<Vec<T>, NoRuns> {
    // One runner per thread. rayon's `map_init` would create one for each chunk of the work.
    let idle = Mutex::new(Vec::new());
    let with_player = |i| {
        if stop.is_raised() {
            return Ok(None);
        }
        let waiting = idle.lock().expect("no thread panics while it holds the lock").pop();
        let mut player = match waiting {
            Some(player) => player,
            None => make().map_err(NoRuns::Scenario)?,
        };
        let run = play(&mut player, i);
        idle.lock().expect("no thread panics while it holds the lock").push(player);
        Ok(run)
    };
    let all = || {
        let all = (0..n).into_par_iter().map(with_player);
        all.filter_map(Result::transpose).collect()
    };
    // A browser provides one thread, for which rayon's global pool is sufficient.
    if cfg!(target_os = "wasi") {
        return all();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| NoRuns::Threads(e.to_string()))?;
    pool.install(all)
}
