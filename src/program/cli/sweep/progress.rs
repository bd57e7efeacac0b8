//! Progress of a sweep on a terminal: finished replications, rate and remaining time.

use crate::cli::output;
use sim_base::Duration;
use std::time::Instant;

/// Minimum time between two progress lines.
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(200);
/// Minimum time between two syncs of the journal.
const BETWEEN_SYNCS: std::time::Duration = std::time::Duration::from_secs(2);

/// Clocks of a sweep. They control the display and the syncs, and do not affect results.
pub struct SweepProgress {
    began: Instant,
    /// Number of replications finished by earlier processes.
    before: u64,
    display_path: Option<Instant>,
    synced: Instant,
    quiet: bool,
}

#[expect(clippy::disallowed_methods, reason = "measures the wait of the user; does not affect results")]
fn now() -> Instant {
    Instant::now()
}

impl SweepProgress {
    pub fn new(before: u64, quiet: bool) -> SweepProgress {
        SweepProgress { began: now(), before, display_path: None, synced: now(), quiet }
    }

    /// Shows the progress. With `at_most`, the total is an upper bound, because `--until` may need fewer replications.
    pub fn show(&mut self, done: u64, total: u64, at_most: bool) {
        let is_old = self.display_path.is_none_or(|last| last.elapsed() >= BETWEEN);
        if self.quiet || !is_old {
            return;
        }
        self.display_path = Some(now());
        let of = if at_most { "of at most" } else { "of" };
        let mut line = format!("{done} {of} {total} replications");
        let simulated = done.saturating_sub(self.before);
        let seconds = self.began.elapsed().as_secs_f64();
        if simulated > 0 && seconds > 1.0 {
            let rate = simulated as f64 / seconds;
            let left = (total.saturating_sub(done)) as f64 / rate;
            let left = Duration::from_secs(left.ceil() as u64);
            line.push_str(&format!(", {rate:.1}/s, {left} left"));
        }
        output::progress(&line);
    }

    /// Returns whether the journal is due for a sync.
    pub fn syncs(&mut self) -> bool {
        let due = self.synced.elapsed() >= BETWEEN_SYNCS;
        if due {
            self.synced = now();
        }
        due
    }
}
