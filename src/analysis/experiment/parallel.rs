//! Replications on several threads. Results are placed by their number, so threads change nothing.

use super::player::Player;
use super::stop::StopFlag;
use rayon::prelude::*;
use sim_api::spec::Scenario;
use sim_engine::CannotRun;
use std::fmt;
use std::sync::Mutex;

/// Why no replication was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRuns {
    /// The operating system gave no threads, and why.
    Threads(String),
    /// What cannot exist or be placed.
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

/// Plays the replications 0 to `n` - 1, each thread with a player of its own that is used again; the results come
/// in the order of the replications, without those that `play` gives none for. `threads` is 0 for as many as there are
/// cores. No replication begins after `stop` was raised.
pub fn in_parallel<T: Send>(
    scenario: &Scenario,
    (n, threads): (u64, usize),
    stop: &StopFlag,
    play: impl Fn(&mut Player, u64) -> Option<T> + Sync,
) -> Result<Vec<T>, NoRuns> {
    let make = || Player::new(scenario);
    each(make, (n, threads), stop, play)
}

/// The same of anything that plays: `make` gives each thread one of its own.
pub fn each<S: Send, T: Send>(
    make: impl Fn() -> Result<S, CannotRun> + Sync + Send,
    (n, threads): (u64, usize),
    stop: &StopFlag,
    play: impl Fn(&mut S, u64) -> Option<T> + Sync,
) -> Result<Vec<T>, NoRuns> {
    // A player for each thread: rayon's own `map_init` makes one for each piece into which it splits the work.
    let idle = Mutex::new(Vec::new());
    let with_player = |i| {
        if stop.is_raised() {
            return Ok(None);
        }
        let waiting = idle.lock().expect("no thread panics with it").pop();
        let mut player = match waiting {
            Some(player) => player,
            None => make().map_err(NoRuns::Scenario)?,
        };
        let played = play(&mut player, i);
        idle.lock().expect("no thread panics with it").push(player);
        Ok(played)
    };
    let all = || {
        let all = (0..n).into_par_iter().map(with_player);
        all.filter_map(Result::transpose).collect()
    };
    // A browser gives one thread, with which rayon's pool of everybody makes do.
    if cfg!(target_os = "wasi") {
        return all();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| NoRuns::Threads(e.to_string()))?;
    pool.install(all)
}
