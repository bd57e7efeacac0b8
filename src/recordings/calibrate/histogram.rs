//! Converts Prometheus histograms to cells (counts between two bounds).

use super::lognormal::HistogramCell;

/// A histogram of cumulative counts by upper bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CumulativeHistogram {
    /// Upper bounds, and the number of observations at or below each.
    pub buckets: Vec<(f64, f64)>,
}

impl CumulativeHistogram {
    /// Adds `count` to the bucket with upper bound `le`, which is created if it is missing.
    pub fn add(&mut self, le: f64, count: f64) {
        match self.buckets.iter_mut().find(|(bound, _)| *bound == le) {
            Some((_, n)) => *n += count,
            None => self.buckets.push((le, count)),
        }
    }

    pub fn cells(&self) -> Vec<HistogramCell> {
        let mut buckets = self.buckets.clone();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut low, mut before) = (0.0, 0.0);
        let mut cells = Vec::new();
        for (high, n) in buckets {
            cells.push(HistogramCell {
                low,
                high,
                // Counts may decrease if they were scraped while the component was updating them.
                n: (n - before).max(0.0),
            });
            (low, before) = (high, n);
        }
        cells
    }

    pub fn count(&self) -> f64 {
        self.cells().iter().map(|c| c.n).sum()
    }

    /// Returns the number of observations above a bound.
    pub fn count_above(&self, bound: f64) -> f64 {
        let cells = self.cells();
        let above = cells.iter().filter(|c| c.low >= bound);
        above.map(|c| c.n).sum()
    }
}
