//! How far a sweep is, how fast it goes and how long it will take, on a terminal.

use crate::cli::output;
use sim_base::Duration;
use std::time::Instant;

/// A line is not written more often.
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(200);
/// Nor is a disk waited for.
const BETWEEN_SYNCS: std::time::Duration = std::time::Duration::from_secs(2);

/// Clocks of a sweep; they decide what is shown and when the disk is waited for, and nothing of any replication.
pub struct Progress {
    began: Instant,
    /// Finished by earlier processes.
    before: u64,
    shown: Option<Instant>,
    synced: Instant,
    quiet: bool,
}

#[expect(clippy::disallowed_methods, reason = "how long the user waits")]
fn now() -> Instant {
    Instant::now()
}

impl Progress {
    pub fn new(before: u64, quiet: bool) -> Progress {
        Progress {
            began: now(),
            before,
            shown: None,
            synced: now(),
            quiet,
        }
    }

    /// `at most` of the total: with `--until` nobody knows it.
    pub fn show(&mut self, done: u64, total: u64, at_most: bool) {
        let is_old = self.shown.is_none_or(|last| last.elapsed() >= BETWEEN);
        if self.quiet || !is_old {
            return;
        }
        self.shown = Some(now());
        let of = if at_most { "of at most" } else { "of" };
        let mut line = format!("{done} {of} {total} replications");
        let played = done.saturating_sub(self.before);
        let seconds = self.began.elapsed().as_secs_f64();
        if played > 0 && seconds > 1.0 {
            let rate = played as f64 / seconds;
            let left = (total.saturating_sub(done)) as f64 / rate;
            let left = Duration::from_secs(left.ceil() as u64);
            line.push_str(&format!(", {rate:.1} a second, {left} left"));
        }
        output::progress(&line);
    }

    /// Whether it is time to wait for the disk.
    pub fn syncs(&mut self) -> bool {
        let due = self.synced.elapsed() >= BETWEEN_SYNCS;
        if due {
            self.synced = now();
        }
        due
    }
}
