//! Rate limiters of failure zones: queues of nodes for the NoExecute taint, and the share of silent nodes that
//! determines the rate (kubernetes.md 4.1; `handleDisruption` and `RateLimitedTimedQueue` in
//! `pkg/controller/nodelifecycle`). Both levels of detail use them.

use sim_base::{Duration, NodeId, SimTime, ZoneId};
use std::collections::VecDeque;

/// `--large-cluster-size-threshold` (kubernetes.md 4.1).
const LARGE_ZONE: u32 = 50;
/// `--node-eviction-rate` 0.1 per second and `--secondary-node-eviction-rate` 0.01 (kubernetes.md 4.1).
const TAINT_INTERVAL: Duration = Duration::from_secs(10);
const SLOW_TAINT_INTERVAL: Duration = Duration::from_secs(100);

/// Rate of a zone's limiter.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum EvictionPace {
    #[default]
    Normal,
    /// Most nodes of a large zone are silent.
    Slow,
    /// Most nodes of a small zone are silent, or all zones are silent.
    Stopped,
}

/// `--unhealthy-zone-threshold`: more than two silent nodes and at least 55 %, but not all (kubernetes.md 4.1).
pub fn zone_pace(size: u32, silent: u32) -> EvictionPace {
    let partial = silent > 2 && silent * 100 >= size * 55 && silent < size;
    if !partial {
        EvictionPace::Normal
    } else if size <= LARGE_ZONE {
        EvictionPace::Stopped
    } else {
        EvictionPace::Slow
    }
}

/// The limiters of all zones.
#[derive(Clone, Debug, Default)]
pub struct ZoneLimiters {
    zones: Vec<ZoneLimiter>,
    /// Whether all zones had no ready node when the rates were last adapted.
    all_silent: bool,
}

/// A token bucket of one token, and the nodes that wait for it.
#[derive(Clone, Debug, Default)]
struct ZoneLimiter {
    silent: u32,
    removed: u32,
    pace: EvictionPace,
    /// Time from which the bucket has a token.
    token_at: SimTime,
    waiting: VecDeque<NodeId>,
    /// Time of the event that takes the next token; `NEVER` if there is none.
    event_at: SimTime,
}

impl ZoneLimiters {
    pub fn clear(&mut self) {
        self.zones.clear();
        self.all_silent = false;
    }

    /// Adds limiters for new zones.
    pub fn resize(&mut self, zones: usize) {
        let new = || ZoneLimiter { event_at: SimTime::NEVER, ..ZoneLimiter::default() };
        self.zones.resize_with(zones, new);
    }

    /// Adds to the numbers of silent and of removed nodes of a zone. A zone without a limiter is ignored.
    pub fn count(&mut self, zone: ZoneId, silent: i32, removed: i32) {
        if let Some(limiter) = self.zones.get_mut(zone.ix()) {
            let sum = |count: u32, n| count.checked_add_signed(n).expect("counted before");
            (limiter.silent, limiter.removed) = (sum(limiter.silent, silent), sum(limiter.removed, removed));
        }
    }

    /// Adds a node to the queue of its zone.
    pub fn push(&mut self, zone: ZoneId, node: NodeId) {
        self.zones[zone.ix()].waiting.push_back(node);
    }

    /// Removes a node that waits. Its zone may have changed.
    pub fn remove(&mut self, node: NodeId) {
        self.zones.iter_mut().for_each(|limiter| limiter.waiting.retain(|other| *other != node));
    }

    pub fn is_waiting(&self) -> bool {
        self.zones.iter().any(|limiter| !limiter.waiting.is_empty())
    }

    /// Returns whether no node is silent and all rates are normal, so that adapting them would change nothing.
    pub fn is_idle(&self) -> bool {
        let is_idle = |limiter: &ZoneLimiter| limiter.silent == 0 && limiter.pace == EvictionPace::Normal;
        !self.all_silent && self.zones.iter().all(is_idle)
    }

    /// Adapts the rates to the shares of silent nodes, as each run of the monitor does; `sizes` are the numbers of
    /// nodes including removed ones. Returns true if the last zone with a ready node has lost it: all queues are then
    /// empty, and the caller removes the taints and adds the silent nodes again (`We're switching to full disruption
    /// mode`).
    pub fn adapt(&mut self, now: SimTime, sizes: &[u32]) -> bool {
        let size = |at: usize, limiter: &ZoneLimiter| sizes[at] - limiter.removed;
        let all = self.zones.iter().enumerate().all(|(at, limiter)| limiter.silent >= size(at, limiter));
        for (at, limiter) in self.zones.iter_mut().enumerate() {
            let pace = if all { EvictionPace::Stopped } else { zone_pace(size(at, limiter), limiter.silent) };
            limiter.set_pace(now, pace);
        }
        let begins = all && !std::mem::replace(&mut self.all_silent, all);
        if begins {
            self.zones.iter_mut().for_each(|limiter| limiter.waiting.clear());
        }
        begins
    }

    /// Returns the zones in which the next node is due at a time for which there is no event yet, with that time.
    pub fn due(&mut self, now: SimTime) -> Vec<(ZoneId, SimTime)> {
        let zones = self.zones.iter_mut().enumerate();
        zones.filter_map(|(zone, limiter)| Some((ZoneId(zone as u32), limiter.due(now)?))).collect()
    }

    /// Takes the next node of a zone if its bucket has a token now.
    pub fn take(&mut self, now: SimTime, zone: ZoneId) -> Option<NodeId> {
        let limiter = &mut self.zones[zone.ix()];
        if limiter.event_at != now {
            return None;
        }
        limiter.event_at = SimTime::NEVER;
        let interval = limiter.pace.interval().filter(|_| limiter.token_at <= now)?;
        let node = limiter.waiting.pop_front()?;
        limiter.token_at = now + interval;
        Some(node)
    }
}

impl ZoneLimiter {
    /// A new bucket is full only if the old one was (`SwapLimiter`).
    fn set_pace(&mut self, now: SimTime, pace: EvictionPace) {
        if self.pace == pace {
            return;
        }
        let was_full = self.pace != EvictionPace::Stopped && self.token_at <= now;
        self.pace = pace;
        if let Some(interval) = pace.interval() {
            self.token_at = if was_full { now } else { now + interval };
        }
    }

    fn due(&mut self, now: SimTime) -> Option<SimTime> {
        let at = self.token_at.max(now);
        let is_due = !self.waiting.is_empty() && self.pace != EvictionPace::Stopped && self.event_at != at;
        if is_due {
            self.event_at = at;
        }
        is_due.then_some(at)
    }
}

impl EvictionPace {
    /// Time between two taints; `None` if there are none.
    fn interval(self) -> Option<Duration> {
        match self {
            EvictionPace::Normal => Some(TAINT_INTERVAL),
            EvictionPace::Slow => Some(SLOW_TAINT_INTERVAL),
            EvictionPace::Stopped => None,
        }
    }
}
