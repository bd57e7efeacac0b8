//! The back-off of a container that the kubelet restarts repeatedly (kubernetes.md 3.1, 3.4).

use sim_base::{Duration, SimTime};

/// A container that ran longer than this resets its crash back-off (kubernetes.md 3.4).
const CRASH_BACK_OFF_RESET: Duration = Duration::from_secs(600);
/// Maximum sleep of a pod worker, `syncFrequency` (kubernetes.md 3.1).
pub const WORKER_RESYNC: Duration = Duration::from_secs(60);

/// Crash back-off of a container: number of doublings, and times of its last start and end.
#[derive(Copy, Clone, Debug)]
pub struct CrashBackOff {
    pub level: u8,
    pub restarted_at: SimTime,
    pub ended_at: SimTime,
}

impl CrashBackOff {
    /// The container has not ended yet.
    pub const NONE: CrashBackOff = CrashBackOff { level: 0, restarted_at: SimTime::ZERO, ended_at: SimTime::NEVER };

    /// Returns the remaining back-off, counted from the end of the container, and records the restart after it. A pod
    /// worker that finds it unfinished sleeps for the remaining time, at most one minute; `next_look` returns when a
    /// worker looks again that sleeps for this time from an instant, by the number of the look.
    pub fn restart(
        &mut self, now: SimTime, mut next_look: impl FnMut((SimTime, Duration), usize) -> SimTime,
    ) -> Duration {
        let over = self.ended_at.min(now) + self.next_back_off();
        let mut looks = now;
        for look in 0.. {
            let left = over.since(looks).min(WORKER_RESYNC);
            if left == Duration::ZERO {
                break;
            }
            looks = next_look((looks, left), look);
        }
        self.restarted_at = looks;
        looks.since(now)
    }

    /// kubernetes.md 3.4: the back-off entry is created at the second start; a container that ran for more than ten
    /// minutes since its last start begins again at the initial delay.
    fn next_back_off(&mut self) -> Duration {
        let ran = self.ended_at.since(self.restarted_at);
        if self.level > 0 && ran > CRASH_BACK_OFF_RESET {
            self.level = 0;
        }
        let back_off = crash_back_off(self.level);
        self.level = self.level.saturating_add(1);
        back_off
    }
}

/// Delay before a restart, by the number of earlier ones: 0, 10, 20, 40 … 300 s (kubernetes.md 3.4).
pub fn crash_back_off(level: u8) -> Duration {
    if level == 0 {
        return Duration::ZERO;
    }
    Duration::from_secs((10u64 << (level - 1).min(5)).min(300))
}
