//! A second fault while a restart is under way: what it adds, by its time since the first one, from plays of pairs.

use super::curve::Point;
use crate::reduced::chance_range::range;

/// What a second fault does at some time of a restart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// What it adds to both counters: less than nothing where it comes first, and is not counted.
    pub adds: (i32, i32),
    /// The restart waits for its node, too.
    pub waits: bool,
}

impl Zone {
    /// It changes nothing.
    pub const NOTHING: Zone = Zone {
        adds: (0, 0),
        waits: false,
    };
}

/// From one zone to the next: nanoseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub at: u64,
    /// Counted back from the last binding, instead of from the first fault.
    pub before_bind: bool,
}

/// Zones as they were found with some numbers, on some nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub zones: Vec<Zone>,
    pub edges: Vec<Edge>,
}

/// What becomes of a second fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub looks: Vec<Look>,
    /// What it adds alone.
    pub alone: (i32, i32),
    /// Nearer to an edge than this nobody knows: as wide as edges were found apart, and bindings.
    pub margin: u64,
    /// The share of the restart in which chance decides.
    pub open: f64,
    /// The same in seconds.
    pub open_s: f64,
}

/// Where the second fault belongs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Belongs {
    /// To the attempt that ends anyway.
    Along(Zone),
    /// To the attempt that runs, or is to run next.
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
    /// A second fault so long after the first one, whose pods are bound `bind` after it; whether it is so near to an
    /// edge that it may count otherwise; and whether chance decides who waits for it.
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

    /// Whether a second fault just before the end of the restart does something else than one behind it.
    pub fn ends_otherwise(&self) -> bool {
        let mut last = self.looks.iter().filter_map(|look| look.zones.last());
        last.any(|zone| zone.adds != self.alone)
    }

    /// The middle of the widest zone in which the restart waits for the second fault's nodes, after such a first one.
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

    /// How far apart chance moves edges between the same zones, if something else is counted behind them.
    pub fn apart(&self) -> u64 {
        let first = &self.looks[0];
        let same = || self.looks.iter().filter(|look| look.zones == first.zones);
        let of = |edge: usize| range(&same().map(|look| look.edges[edge].at).collect::<Vec<u64>>());
        let counts = |edge: &usize| first.zones[*edge].adds != first.zones[*edge + 1].adds;
        let edges = (0..first.edges.len()).filter(counts);
        edges.map(of).max().unwrap_or(0)
    }
}
