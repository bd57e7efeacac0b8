//! Handling of SIGINT (Ctrl-C) and SIGTERM. The first signal stops runs early and keeps finished results; no partial
//! files remain. Commands that keep no results exit immediately, also as the first process of a container, where
//! signals without a handler are ignored.

use crate::cli::failure::CommandFailure;
use sim_analysis::experiment::{ReplicationLimits, StopFlag};
use std::sync::OnceLock;

#[cfg(any(unix, windows))]
pub use signals::install;

/// Does nothing: browsers have no signals, the page stops the program.
#[cfg(not(any(unix, windows)))]
pub fn install() {}

/// Stop flag of the running commands; set once a command has results to keep. The first signal raises it.
static RUNS: OnceLock<StopFlag> = OnceLock::new();

/// Returns run limits with the stop flag that the first signal raises. A second signal exits immediately.
pub fn limits() -> ReplicationLimits {
    let mut limits = ReplicationLimits::unlimited();
    limits.flag = RUNS.get_or_init(StopFlag::new).clone();
    limits
}

/// Runs replications until they are finished, the first signal arrives, or this wall time has passed. Results then
/// cover fewer replications.
#[cfg(any(unix, windows))]
pub fn with_time_limit<T>(limit: std::time::Duration, run: impl FnOnce(&ReplicationLimits) -> T) -> T {
    let limits = ReplicationLimits::unlimited();
    let (over, signal) = (limits.flag.clone(), self::limits().flag);
    let (finished, waits) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || signals::raise_after(limit, &over, || signal.is_raised(), &waits));
        let result = run(&limits);
        drop(finished);
        result
    })
}

/// Runs replications until they are finished: a browser has no threads for a clock.
#[cfg(not(any(unix, windows)))]
pub fn with_time_limit<T>(_limit: std::time::Duration, run: impl FnOnce(&ReplicationLimits) -> T) -> T {
    run(&limits())
}

#[cfg(any(unix, windows))]
mod signals {
    use super::RUNS;
    use crate::cli::failure::INTERRUPTED;
    use crate::cli::output;
    use sim_analysis::experiment::StopFlag;
    use std::sync::OnceLock;
    use std::sync::mpsc::{Receiver, RecvTimeoutError};
    use std::time::{Duration, Instant};

    /// Time of the first signal.
    static FIRST: OnceLock<Instant> = OnceLock::new();

    /// Time during which further signals belong to the first one: `timeout` and shells send a signal to the process
    /// and to its group.
    const SAME_SIGNAL: Duration = Duration::from_millis(500);

    /// Time between two looks at the clock.
    const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

    /// Raises a flag after this time, or when a signal has arrived, unless the work is finished before.
    #[expect(clippy::disallowed_methods, reason = "limits the time of a check, which says what it covers")]
    pub fn raise_after(limit: Duration, flag: &StopFlag, has_signal: impl Fn() -> bool, finished: &Receiver<()>) {
        let start = Instant::now();
        while finished.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
            if has_signal() || start.elapsed() >= limit {
                return flag.raise();
            }
        }
    }

    /// Installs the signal handler. Called once at program start.
    pub fn install() {
        if let Err(why) = ctrlc::set_handler(on_signal) {
            output::notice(&format!("cannot install the signal handler: {why}"));
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "distinguishes a repeated signal from a second request to stop; does not affect results"
    )]
    fn on_signal() {
        let exit = || -> ! {
            sim_report::atomic_write::remove_partial();
            std::process::exit(i32::from(INTERRUPTED))
        };
        let Some(flag) = RUNS.get() else {
            exit();
        };
        let first = FIRST.get_or_init(Instant::now);
        if flag.is_raised() && first.elapsed() > SAME_SIGNAL {
            exit();
        }
        flag.raise();
    }
}

/// Returns the error of an interrupted command; `finished` describes the results that were kept.
pub fn failure(finished: &str) -> CommandFailure {
    CommandFailure::Interrupted(format!("interrupted; {finished}"))
}

/// Marks results and the stored command as incomplete if fewer replications than requested were finished.
pub fn mark((interrupted, warnings): (&mut bool, &mut Vec<String>), (finished, requested): (u64, u64)) -> String {
    *interrupted = finished < requested;
    if !*interrupted {
        return String::new();
    }
    let part = format!("interrupted: {finished} of {requested} replications were finished");
    warnings.insert(0, format!("{part}; the results cover only these"));
    format!("  # {part}")
}
