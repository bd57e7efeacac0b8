//! Prometheus histograms as cells between bounds.

use super::lognormal::Cell;

/// Cumulative counts by upper bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Ascending upper bounds and how many observations are not greater.
    pub buckets: Vec<(f64, f64)>,
}

impl Histogram {
    /// Adds another one of the same bounds; those it lacks are added.
    pub fn add(&mut self, le: f64, count: f64) {
        match self.buckets.iter_mut().find(|(bound, _)| *bound == le) {
            Some((_, n)) => *n += count,
            None => self.buckets.push((le, count)),
        }
    }

    pub fn cells(&self) -> Vec<Cell> {
        let mut buckets = self.buckets.clone();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut low, mut before) = (0.0, 0.0);
        let mut cells = Vec::new();
        for (high, n) in buckets {
            cells.push(Cell {
                low,
                high,
                // A scrape in between may count backwards.
                n: (n - before).max(0.0),
            });
            (low, before) = (high, n);
        }
        cells
    }

    pub fn count(&self) -> f64 {
        self.cells().iter().map(|c| c.n).sum()
    }

    /// How many were above a bound.
    pub fn above(&self, bound: f64) -> f64 {
        let cells = self.cells();
        let above = cells.iter().filter(|c| c.low >= bound);
        above.map(|c| c.n).sum()
    }
}
