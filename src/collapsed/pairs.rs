//! A second fault while a restart is under way: what it adds, by its time since the first one, from plays of pairs.

use super::choices::{AROUND, LOOKS, NEAR};
use super::lab::NotMeasured;
use rayon::prelude::*;

/// What a second fault does at some time of a restart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// What it adds to both counters: less than nothing where it comes first, and is not counted.
    pub adds: (i32, i32),
    /// The restart waits for its node, too.
    pub waits: bool,
}

/// From one zone to the next: nanoseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    at: u64,
    /// Counted back from the last binding, instead of from the first fault.
    before_bind: bool,
}

/// Zones as they were found with some numbers, on some nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    zones: Vec<Zone>,
    edges: Vec<Edge>,
}

/// What becomes of a second fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    looks: Vec<Look>,
    /// What it adds alone.
    alone: (i32, i32),
    /// Nearer to an edge than this nobody knows: as wide as edges were found apart.
    margin: u64,
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

    /// How far edges between the same zones were found from each other.
    fn apart(&self) -> u64 {
        let first = &self.looks[0];
        let same = self.looks.iter().filter(|look| look.zones == first.zones);
        let off = |look: &Look| {
            let both = look.edges.iter().zip(&first.edges);
            both.map(|(a, b)| a.at.abs_diff(b.at)).max().unwrap_or(0)
        };
        same.map(off).max().unwrap_or(0)
    }

    /// So long before the pods are bound nobody knows yet that a node is lost.
    pub fn unseen(&self) -> u64 {
        let last = self.looks.iter().filter_map(|look| look.edges.last());
        let before = last.filter(|edge| edge.before_bind).map(|edge| edge.at);
        before.max().unwrap_or(0)
    }
}

/// Where zones are looked for, in thousandths of the restart.
const LOOKED_AT: [u64; 11] = [0, 20, 100, 250, 400, 550, 700, 850, 930, 980, 1000];

/// How pairs are played.
pub struct Search<'a> {
    /// In which zone the second fault is, by the look, and its time; and whether the first restart is the other one.
    pub play: &'a (dyn Fn(u64, u64, bool) -> Result<Zone, NotMeasured> + Sync),
    pub alone: (i32, i32),
    /// Ready and bound after the first one alone.
    pub ready: u64,
    pub bind: u64,
    /// A second fault that comes later than this shows whether it is waited for.
    pub seen_after: u64,
    /// Bound after another first one, whose node is away for another time.
    pub other_bind: Option<u64>,
}

impl Search<'_> {
    /// Plays pairs until all edges are known.
    pub fn find(&self) -> Result<Pair, NotMeasured> {
        let looks = (0..LOOKS).into_par_iter().map(|look| {
            let (zones, found) = self.look(look)?;
            let mut edges = Vec::new();
            for (i, at) in found.into_iter().enumerate() {
                let before_bind = self.is_before_bind(look, at, [zones[i], zones[i + 1]])?;
                edges.push(Edge {
                    at: if before_bind {
                        self.bind.saturating_sub(at)
                    } else {
                        at
                    },
                    before_bind,
                });
            }
            Ok(Look { zones, edges })
        });
        let mut pair = Pair {
            looks: looks.collect::<Result<_, NotMeasured>>()?,
            alone: self.alone,
            margin: 0,
            open: 0.0,
            open_s: 0.0,
        };
        pair.margin = pair.apart().max(NEAR);
        let parts = 1000;
        let open = (0..parts).filter(|part| pair.of(self.ready / parts * part, self.bind).1);
        pair.open = open.count() as f64 / parts as f64;
        pair.open_s = pair.open * self.ready as f64 / 1e9;
        Ok(pair)
    }

    /// Zones in order, and the times between them.
    fn look(&self, look: u64) -> Result<(Vec<Zone>, Vec<u64>), NotMeasured> {
        // Sooner nobody could see who waits for whom.
        let least = match self.ready > self.seen_after * 5 {
            true => self.seen_after,
            false => 1_000_000,
        };
        let at = |thousandths: u64| (self.ready / 1000 * thousandths).max(least);
        let mut low = (at(0), (self.play)(look, at(0), false)?);
        let (mut zones, mut edges) = (vec![low.1], Vec::new());
        for part in &LOOKED_AT[1..] {
            let high = (at(*part), (self.play)(look, at(*part), false)?);
            self.between(look, low, high, (&mut zones, &mut edges))?;
            low = high;
        }
        Ok((zones, edges))
    }

    /// Every edge between two times.
    fn between(
        &self,
        look: u64,
        low: (u64, Zone),
        high: (u64, Zone),
        (zones, edges): (&mut Vec<Zone>, &mut Vec<u64>),
    ) -> Result<(), NotMeasured> {
        if low.1 == high.1 {
            return Ok(());
        }
        let middle = low.0 + (high.0 - low.0) / 2;
        if high.0 - low.0 <= NEAR {
            zones.push(high.1);
            edges.push(middle);
            return Ok(());
        }
        let middle = (middle, (self.play)(look, middle, false)?);
        self.between(look, low, middle, (zones, edges))?;
        self.between(look, middle, high, (zones, edges))
    }

    /// Whether an edge moves with the binding: after another first fault it is as long before that.
    fn is_before_bind(&self, look: u64, at: u64, around: [Zone; 2]) -> Result<bool, NotMeasured> {
        let Some(other) = self.other_bind else {
            return Ok(true);
        };
        let play = |at: u64| (self.play)(look, at.max(1_000_000), true);
        let here = |at: u64| {
            Ok::<_, NotMeasured>([play(at.saturating_sub(AROUND))?, play(at + AROUND)?] == around)
        };
        let moved = (at + other).saturating_sub(self.bind);
        Ok(here(moved)? || !here(at)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONG: Zone = Zone {
        adds: (0, 0),
        waits: true,
    };
    const NEXT: Zone = Zone {
        adds: (1, 1),
        waits: true,
    };
    const SECOND: u64 = 1_000_000_000;

    /// Along until 45 s before the binding, whichever first fault it is.
    fn search(play: &(dyn Fn(u64, u64, bool) -> Result<Zone, NotMeasured> + Sync)) -> Pair {
        let search = Search {
            play,
            alone: (1, 1),
            ready: 650 * SECOND,
            bind: 645 * SECOND,
            seen_after: 20 * SECOND,
            other_bind: Some(400 * SECOND),
        };
        search.find().expect("it runs")
    }

    #[test]
    fn an_edge_is_found_and_moves_with_the_binding() {
        let pair = search(&|_, offset, other| {
            let bind = if other { 400 } else { 645 };
            Ok(if offset < (bind - 45) * SECOND {
                ALONG
            } else {
                NEXT
            })
        });
        assert!(pair.open < 0.01);
        for (offset, bind, along) in [
            (599, 645, true),
            (601, 645, false),
            (354, 400, true),
            (356, 400, false),
        ] {
            let expected = if along {
                Belongs::Along(ALONG)
            } else {
                Belongs::Next
            };
            assert_eq!(
                pair.of(offset * SECOND, bind * SECOND),
                (expected, false, false),
                "{offset} of {bind}"
            );
        }
        assert!(
            pair.of(600 * SECOND, 645 * SECOND).1,
            "at the edge nobody knows"
        );
    }

    #[test]
    fn an_edge_that_counts_from_the_fault_stays_where_it_is() {
        let first = Zone {
            adds: (0, -1),
            waits: true,
        };
        let pair = search(&|_, offset, other| {
            let bind = if other { 400 } else { 645 };
            Ok(match offset {
                _ if offset < 345 * SECOND => first,
                _ if offset < (bind - 2) * SECOND => ALONG,
                _ => NEXT,
            })
        });
        for (offset, bind, expected) in [
            (344, 645, Belongs::Along(first)),
            (346, 645, Belongs::Along(ALONG)),
            (344, 500, Belongs::Along(first)),
            (497, 500, Belongs::Along(ALONG)),
            (499, 500, Belongs::Next),
        ] {
            assert_eq!(
                pair.of(offset * SECOND, bind * SECOND).0,
                expected,
                "{offset} of {bind}"
            );
        }
    }
}
