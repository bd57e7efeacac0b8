//! A second fault during a restart: its effect as a function of the time since the first fault, measured with pairs
//! of faults.

use super::curve::Point;
use crate::reduced::chance_range::range;

/// Effect of a second fault in a period of a restart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Additional counted restarts, for both counters; negative if the second fault occurs first and is not counted.
    pub adds: (i32, i32),
    /// True if the restart also waits for its nodes.
    pub waits: bool,
}

impl Zone {
    /// A second fault without effect.
    pub const NOTHING: Zone = Zone {
        adds: (0, 0),
        waits: false,
    };
}

/// Start of the next zone, in nanoseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub at: u64,
    /// Counted back from the last binding instead of from the first fault.
    pub before_bind: bool,
}

/// Zones found with one set of random numbers and nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub zones: Vec<Zone>,
    pub edges: Vec<Edge>,
}

/// The effects of a second fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub looks: Vec<Look>,
    /// Counted restarts of the second fault alone.
    pub alone: (i32, i32),
    /// Accuracy of the edges: the spread of edges and bindings.
    pub margin: u64,
    /// Share of the restart in which the outcome is random.
    pub open: f64,
    /// Duration of that part, in seconds.
    pub open_s: f64,
}

/// The attempt that a second fault affects.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Belongs {
    /// The attempt that ends anyway.
    Along(Zone),
    /// The attempt that runs, or the next one.
    Next,
}

impl Edge {
    fn at(&self, bind: u64) -> u64 {
        match self.before_bind {
            true => bind.saturating_sub(self.at),
            false => self.at,
        }
    }
}

impl Look {
    fn of(&self, offset: u64, bind: u64) -> Zone {
        let beyond = self.edges.iter().filter(|edge| offset > edge.at(bind));
        self.zones[beyond.count()]
    }
}

impl Pair {
    /// Effect of a second fault `offset` after the first one, whose pods are bound `bind` after it; true if it is a
    /// boundary case; and true if it is random which fault is waited for.
    pub fn of(&self, offset: u64, bind: u64) -> (Belongs, bool, bool) {
        let zones = || self.looks.iter().map(|look| look.of(offset, bind));
        let first = self.looks[0].of(offset, bind);
        let mut close = zones().any(|zone| zone.adds != first.adds);
        for look in &self.looks {
            for (edge, around) in look.edges.iter().zip(look.zones.windows(2)) {
                let near = offset.abs_diff(edge.at(bind)) <= self.margin;
                close |= near && around[0].adds != around[1].adds;
            }
        }
        let waits = zones().filter(|zone| zone.waits).count();
        let zone = Zone {
            waits: waits * 2 > self.looks.len(),
            ..first
        };
        let open = waits > 0 && waits < self.looks.len();
        match zone.adds == self.alone {
            true => (Belongs::Next, close, open),
            false => (Belongs::Along(zone), close, open),
        }
    }

    /// Returns true if a second fault just before the end of the restart has a different effect than one just after
    /// it.
    pub fn ends_otherwise(&self) -> bool {
        let mut last = self.looks.iter().filter_map(|look| look.zones.last());
        last.any(|zone| zone.adds != self.alone)
    }

    /// The middle of the widest zone in which the restart waits for the second fault's nodes, after such a first
    /// fault.
    pub fn waits_at(&self, first: &Point) -> Option<u64> {
        let (look, sample) = (&self.looks[0], first.samples.first()?);
        let edges = look.edges.iter().map(|edge| edge.at(sample.bind));
        let mut bounds = vec![0];
        bounds.extend(edges);
        bounds.push(sample.ready);
        let zones = look.zones.iter().zip(bounds.windows(2));
        let waits = zones.filter(|(zone, _)| zone.waits && zone.adds != self.alone);
        let middles = waits.map(|(_, of)| (of[1].saturating_sub(of[0]), of[0].midpoint(of[1])));
        middles.max().map(|(_, middle)| middle)
    }

    /// Random variation of edges between the same zones, if different restarts are counted on both sides.
    pub fn apart(&self) -> u64 {
        let first = &self.looks[0];
        let same = || self.looks.iter().filter(|look| look.zones == first.zones);
        let of = |edge: usize| range(&same().map(|look| look.edges[edge].at).collect::<Vec<u64>>());
        let counts = |edge: &usize| first.zones[*edge].adds != first.zones[*edge + 1].adds;
        let edges = (0..first.edges.len()).filter(counts);
        edges.map(of).max().unwrap_or(0)
    }
}
