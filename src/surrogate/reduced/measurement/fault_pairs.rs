//! The effect of a second fault during a restart, as a function of the time since the first fault. It is measured
//! with trials of two faults.

use super::curve::CurvePoint;
use crate::reduced::chance_range::range;

/// Effect of a second fault in a period of a restart during which it stays the same.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PairZone {
    /// Number of additional restarts, by `status.restarts` and by the count towards the limit. Negative if the
    /// second fault becomes the cause and is counted less than the first.
    pub adds: (i32, i32),
    /// True if the restart also waits for the nodes of the second fault.
    pub waits: bool,
}

impl PairZone {
    /// A second fault without effect.
    pub const NOTHING: PairZone = PairZone { adds: (0, 0), waits: false };
}

/// Time at which one zone ends and the next one starts, in nanoseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PairEdge {
    pub at: u64,
    /// Whether `at` counts backwards from the last binding of pods instead of forwards from the first fault.
    pub before_bind: bool,
}

/// Zones found with one set of random numbers and nodes. The last zone extends to the end of the restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairSearch {
    pub zones: Vec<PairZone>,
    pub edges: Vec<PairEdge>,
}

/// Effect of a second fault of one kind during a restart after a first fault of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultPair {
    pub searches: Vec<PairSearch>,
    /// Number of restarts counted for the second fault alone, as in [`PairZone::adds`].
    pub alone: (i32, i32),
    /// Time around an edge within which a second fault is a boundary case, in nanoseconds.
    pub margin: u64,
    /// Share of the restart in which a second fault is a boundary case.
    pub open: f64,
    /// Duration of these times, in seconds.
    pub open_s: f64,
}

/// The attempt that a second fault affects.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PairMembership {
    /// The current attempt, which ends anyway; no restart of its own follows.
    Along(PairZone),
    /// The running or the next attempt; the fault causes a restart of its own.
    Next,
}

impl PairEdge {
    fn at(&self, bind: u64) -> u64 {
        if self.before_bind { bind.saturating_sub(self.at) } else { self.at }
    }
}

impl PairSearch {
    fn zone(&self, offset: u64, bind: u64) -> PairZone {
        let beyond = self.edges.iter().filter(|edge| offset > edge.at(bind));
        self.zones[beyond.count()]
    }
}

impl FaultPair {
    /// Returns the effect of a second fault `offset` after the first one, if pods are bound `bind` after the first
    /// one. The second value is true for a boundary case. The third is true if it is random whether the restart
    /// waits for the second fault's nodes.
    pub fn membership(&self, offset: u64, bind: u64) -> (PairMembership, bool, bool) {
        let zones = || self.searches.iter().map(|look| look.zone(offset, bind));
        let first = self.searches[0].zone(offset, bind);
        let mut close = zones().any(|zone| zone.adds != first.adds);
        for look in &self.searches {
            for (edge, around) in look.edges.iter().zip(look.zones.windows(2)) {
                let near = offset.abs_diff(edge.at(bind)) <= self.margin;
                close |= near && around[0].adds != around[1].adds;
            }
        }
        let waits = zones().filter(|zone| zone.waits).count();
        let zone = PairZone { waits: waits * 2 > self.searches.len(), ..first };
        let open = waits > 0 && waits < self.searches.len();
        if zone.adds == self.alone {
            (PairMembership::Next, close, open)
        } else {
            (PairMembership::Along(zone), close, open)
        }
    }

    /// Returns true if a second fault at the end of the restart does not cause a restart of its own, in contrast to
    /// one after it.
    pub fn ends_otherwise(&self) -> bool {
        let mut last = self.searches.iter().filter_map(|look| look.zones.last());
        last.any(|zone| zone.adds != self.alone)
    }

    /// Returns the middle of the longest zone in which the restart waits for the second fault's nodes, after the
    /// given first fault.
    pub fn waits_at(&self, first: &CurvePoint) -> Option<u64> {
        let (look, sample) = (&self.searches[0], first.samples.first()?);
        let edges = look.edges.iter().map(|edge| edge.at(sample.bind));
        let mut bounds = vec![0];
        bounds.extend(edges);
        bounds.push(sample.ready);
        let zones = look.zones.iter().zip(bounds.windows(2));
        let waits = zones.filter(|(zone, _)| zone.waits && zone.adds != self.alone);
        let middles = waits.map(|(_, of)| (of[1].saturating_sub(of[0]), of[0].midpoint(of[1])));
        middles.max().map(|(_, middle)| middle)
    }

    /// Returns the random variation of the edges at which the number of counted restarts changes.
    pub fn edge_variation(&self) -> u64 {
        let first = &self.searches[0];
        let same = || self.searches.iter().filter(|look| look.zones == first.zones);
        let of = |edge: usize| range(&same().map(|look| look.edges[edge].at).collect::<Vec<u64>>());
        let counts = |edge: &usize| first.zones[*edge].adds != first.zones[*edge + 1].adds;
        let edges = (0..first.edges.len()).filter(counts);
        edges.map(of).max().unwrap_or(0)
    }
}
