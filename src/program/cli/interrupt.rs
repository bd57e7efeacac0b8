//! Ctrl-C (INT) and TERM: runs end soon, what is finished is kept, nothing partial stays behind. Commands that keep
//! nothing end at once, also as the first process of a container, where signals without a handler are ignored.

use crate::cli::failure::{Failure, INTERRUPTED};
use crate::cli::output;
use sim_analysis::experiment::{Limits, StopFlag};
use std::sync::OnceLock;

/// Raised by the first signal, once there is something to be kept.
static RUNS: OnceLock<StopFlag> = OnceLock::new();

/// Once, when the program begins.
#[cfg(any(unix, windows))]
pub fn install() {
    if let Err(why) = ctrlc::set_handler(on_signal) {
        output::notice(&format!("signals are not handled: {why}"));
    }
}

/// In a browser there are no signals: the page ends the program.
#[cfg(not(any(unix, windows)))]
pub fn install() {}

/// Limits of runs that end when the user wants them to. A second signal ends the program at once.
pub fn limits() -> Limits {
    let mut limits = Limits::none();
    limits.flag = RUNS.get_or_init(StopFlag::new).clone();
    limits
}

#[cfg(any(unix, windows))]
fn on_signal() {
    match RUNS.get() {
        Some(flag) if !flag.is_raised() => flag.raise(),
        _ => std::process::exit(i32::from(INTERRUPTED)),
    }
}

/// What is finished; the command ends in this unless all of it is.
pub fn failure(finished: &str) -> Failure {
    Failure::Interrupted(format!("interrupted; {finished}"))
}
