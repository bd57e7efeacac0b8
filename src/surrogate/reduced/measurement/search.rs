//! Search for the edges between zones of a restart: first with low accuracy, then as accurate as the random
//! variation allows.

use super::fault_pairs::{FaultPair, PairEdge, PairSearch, PairZone};
use super::trial_runner::NotMeasured;
use crate::reduced::accuracy::{
    COARSE_SEARCH_DIVISOR, EDGE_CHECK_DISTANCE_NS, EDGE_RESOLUTION_NS, EDGE_SEARCHES, EDGE_VARIATION_DIVISOR,
};
use crate::reduced::chance_range::range;
use rayon::prelude::*;

/// Times of the first trials in thousandths of the restart time. The last one is in the next attempt, after the end
/// of the restart.
const LOOKED_AT: [u64; 11] = [0, 20, 100, 250, 400, 550, 700, 850, 930, 980, 1001];

/// Inputs of the search.
pub struct CurveSearch<'a> {
    /// Runs a trial with two faults. The arguments are the look, the time of the second fault, and whether the first
    /// fault is the one with the shorter outage. Returns the zone of the second fault.
    pub play: &'a (dyn Fn(u64, u64, bool) -> Result<PairZone, NotMeasured> + Sync),
    pub alone: (i32, i32),
    /// Per look: ready time after the first fault alone. Edges are searched up to this time.
    pub ready: Vec<u64>,
    /// Per look: binding time after the first fault alone.
    pub bind: Vec<u64>,
    /// Random variation of the binding time.
    pub spread: u64,
    /// Time from which on a second fault shows whether the restart waits for its nodes.
    pub seen_after: u64,
    /// Per look: binding time after the first fault with the shorter outage; `None` if there is no such fault.
    pub other_bind: Option<Vec<u64>>,
}

/// Time of a second fault, and the zone found at that time.
type ObservedZone = (u64, PairZone);

/// Zones in order, and for each edge between them the times that enclose it.
#[derive(Clone)]
struct SearchResult {
    zones: Vec<PairZone>,
    edges: Vec<[u64; 2]>,
}

impl SearchResult {
    /// Creates a list with a single zone.
    fn from(zone: PairZone) -> SearchResult {
        SearchResult { zones: vec![zone], edges: Vec::new() }
    }

    fn middle(&self, edge: usize) -> u64 {
        let [low, high] = self.edges[edge];
        low + (high - low) / 2
    }
}

impl CurveSearch<'_> {
    /// Runs trials until all edges are located.
    pub fn find(&self) -> Result<FaultPair, NotMeasured> {
        let ready = self.ready[0];
        let coarse = (ready / COARSE_SEARCH_DIVISOR).max(self.finest());
        let first = self.search_all_zones(0, coarse)?;
        let others = (1..EDGE_SEARCHES).into_par_iter().map(|look| self.like(look, &first, coarse));
        let mut result = vec![first.clone()];
        result.extend(others.collect::<Result<Vec<SearchResult>, NotMeasured>>()?);
        // The required accuracy is a fraction of the random variation of the edges.
        let to = (self.edge_variation(&result) / EDGE_VARIATION_DIVISOR).max(self.finest());
        let finer = (0..EDGE_SEARCHES).into_par_iter().map(|look| self.finer(look, &result[look as usize], to));
        let result: Vec<SearchResult> = finer.collect::<Result<_, NotMeasured>>()?;
        let kinds = self.kinds(0, &result[0], to)?;
        let searches = (0..EDGE_SEARCHES).zip(result).map(|(look, of_look)| {
            let kinds = if of_look.zones == first.zones && kinds.len() == of_look.edges.len() {
                kinds.clone()
            } else {
                self.kinds(look, &of_look, to)?
            };
            let bind = self.bind[look as usize];
            let edge = |(i, before_bind): (usize, bool)| {
                let middle = of_look.middle(i);
                let at = if before_bind { bind.saturating_sub(middle) } else { middle };
                PairEdge { at, before_bind }
            };
            let edges = kinds.into_iter().enumerate().map(edge).collect();
            Ok(PairSearch { zones: of_look.zones, edges })
        });
        let mut pair = FaultPair {
            searches: searches.collect::<Result<_, NotMeasured>>()?,
            alone: self.alone,
            margin: 0,
            open: 0.0,
            open_s: 0.0,
        };
        pair.margin = pair.edge_variation() + to + self.spread;
        let parts = 1000;
        let open = (0..parts).filter(|part| pair.membership(ready / parts * part, self.bind[0]).1);
        pair.open = open.count() as f64 / parts as f64;
        pair.open_s = pair.open * ready as f64 / 1e9;
        Ok(pair)
    }

    /// Returns the highest useful accuracy, which the random variation of bindings limits.
    fn finest(&self) -> u64 {
        (self.spread / EDGE_VARIATION_DIVISOR).max(EDGE_RESOLUTION_NS)
    }

    /// Returns the earliest time at which trials show whether the restart waits for the second fault's nodes.
    fn earliest_observable(&self) -> u64 {
        if self.ready[0] > self.seen_after * 5 { self.seen_after } else { 1_000_000 }
    }

    /// Returns the random variation of the edges, among searches with equal zones. Each edge is counted from the fault
    /// or from the binding, whichever gives less variation.
    fn edge_variation(&self, result: &[SearchResult]) -> u64 {
        let same = |other: &&SearchResult| other.zones == result[0].zones;
        let mut most = 0;
        for edge in 0..result[0].edges.len() {
            let at = |back: bool| {
                let searches = result.iter().zip(&self.bind).filter(|(of_look, _)| same(of_look));
                let at = searches.map(|(of_look, bind)| {
                    let middle = of_look.middle(edge);
                    if back { bind.saturating_sub(middle) } else { middle }
                });
                range(&at.collect::<Vec<u64>>())
            };
            most = most.max(at(true).min(at(false)));
        }
        most
    }

    fn run_trial(&self, look: u64, at: u64) -> Result<ObservedZone, NotMeasured> {
        Ok((at, (self.play)(look, at, false)?))
    }

    /// Searches all zones with one set of random numbers.
    fn search_all_zones(&self, look: u64, to: u64) -> Result<SearchResult, NotMeasured> {
        let ready = self.ready[look as usize];
        let at = |thousandths: u64| (ready / 1000 * thousandths).max(self.earliest_observable());
        let seen = LOOKED_AT.into_par_iter().map(|part| self.run_trial(look, at(part)));
        let seen: Vec<ObservedZone> = seen.collect::<Result<_, NotMeasured>>()?;
        self.search_zone(look, &seen, to)
    }

    /// Searches the zones of a search that are expected to equal those of the first one: checks the surroundings of
    /// each edge and the middle of each zone. Searches all zones if they differ.
    fn like(&self, look: u64, first: &SearchResult, to: u64) -> Result<SearchResult, NotMeasured> {
        let shift = |at: u64| (at + self.bind[look as usize]).saturating_sub(self.bind[0]);
        let mut at: Vec<u64> = Vec::new();
        for edge in 0..first.edges.len() {
            let [low, high] = first.edges[edge];
            // The edge may keep its distance from the fault or from the binding, so both positions are covered.
            let [low, high] = [low.min(shift(low)), high.max(shift(high))];
            at.extend([low.saturating_sub(to), high + to]);
        }
        let bounds = [0].into_iter().chain(at.iter().copied()).chain([self.ready[look as usize]]);
        let bounds: Vec<u64> = bounds.collect();
        let middles = bounds.chunks(2).map(|zone| zone[0] + zone[1].saturating_sub(zone[0]) / 2);
        at.extend(middles.collect::<Vec<u64>>());
        at.iter_mut().for_each(|at| *at = (*at).max(self.earliest_observable()));
        at.sort_unstable();
        at.dedup();
        let seen = at.into_par_iter().map(|at| self.run_trial(look, at));
        let seen: Vec<ObservedZone> = seen.collect::<Result<_, NotMeasured>>()?;
        let result = self.search_zone(look, &seen, to)?;
        if result.zones == first.zones { Ok(result) } else { self.search_all_zones(look, to) }
    }

    /// Locates each edge to the required accuracy.
    fn finer(&self, look: u64, result: &SearchResult, to: u64) -> Result<SearchResult, NotMeasured> {
        let mut finer = SearchResult::from(result.zones[0]);
        for (i, [low, high]) in result.edges.iter().copied().enumerate() {
            let (low, high) = ((low, result.zones[i]), (high, result.zones[i + 1]));
            self.locate_edges(look, (low, high), to, &mut finer)?;
        }
        Ok(finer)
    }

    fn search_zone(&self, look: u64, seen: &[ObservedZone], to: u64) -> Result<SearchResult, NotMeasured> {
        let mut result = SearchResult::from(seen[0].1);
        for pair in seen.windows(2) {
            self.locate_edges(look, (pair[0], pair[1]), to, &mut result)?;
        }
        Ok(result)
    }

    /// Locates all edges between two times, by bisection.
    fn locate_edges(
        &self, look: u64, (low, high): (ObservedZone, ObservedZone), to: u64, found: &mut SearchResult,
    ) -> Result<(), NotMeasured> {
        if low.1 == high.1 {
            return Ok(());
        }
        if high.0 - low.0 <= to {
            found.zones.push(high.1);
            found.edges.push([low.0, high.0]);
            return Ok(());
        }
        let middle = self.run_trial(look, low.0 + (high.0 - low.0) / 2)?;
        self.locate_edges(look, (low, middle), to, found)?;
        self.locate_edges(look, (middle, high), to, found)
    }

    /// Determines for each edge whether it moves with the binding, by trials in which the first outage is shorter.
    fn kinds(&self, look: u64, result: &SearchResult, to: u64) -> Result<Vec<bool>, NotMeasured> {
        let bind = self.bind[look as usize];
        let Some(other) = &self.other_bind else {
            return Ok(vec![true; result.edges.len()]);
        };
        let other = other[look as usize];
        let far = EDGE_CHECK_DISTANCE_NS.max(to * 2);
        let play = |at: u64| (self.play)(look, at.max(1_000_000), true);
        let is_before_bind = |edge: usize| {
            let around = [result.zones[edge], result.zones[edge + 1]];
            let here = |at: u64| Ok::<_, NotMeasured>([play(at.saturating_sub(far))?, play(at + far)?] == around);
            let at = result.middle(edge);
            let moved = (at + other).saturating_sub(bind);
            Ok(here(moved)? || !here(at)?)
        };
        (0..result.edges.len()).into_par_iter().map(is_before_bind).collect()
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/surrogate/reduced/measurement/search.rs"]
mod tests;
