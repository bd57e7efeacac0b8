//! Variants over time: quantiles of goodput, utilization, and the durations of single restarts.

use super::SimulatedVariant;
use crate::metrics::timeline::JobTimeline;
use sim_base::Duration;
use sim_base::stats::quantile;

/// Quantiles over replications, ascending; the median is in the middle.
pub const FAN: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// Number of instants; a chart has no room for more.
const INSTANTS: u32 = 200;
/// Number of time intervals for which a utilization is computed.
const PIECES: u32 = 60;

/// Goodput and utilization of one variant's training job over time, over all replications in which it started.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime {
    /// Name of the variant.
    pub name: String,
    /// Seconds from the first start to the end of each replication in which it started, ascending.
    pub lengths: Vec<f64>,
    /// Seconds since the first start, and the quantiles `FAN` of the goodput so far. Replications that have ended
    /// keep their last value. Stops when fewer than half of the replications are left.
    pub goodput: Vec<(f64, [f64; FAN.len()])>,
    /// Centers of the time intervals in seconds since the first start, and the mean share of time with steps over the
    /// replications that are left. Stops when fewer than half of the replications are left.
    pub at_work: Vec<(f64, f64)>,
}

impl OverTime {
    /// Returns the number of replications that have not ended `after` seconds.
    pub fn remaining(&self, after: f64) -> usize {
        self.lengths.len() - self.lengths.partition_point(|length| *length < after)
    }
}

/// Returns the name of the first JobSet that trains, and its quantiles per variant as long as half of the variant's
/// replications are left.
pub fn over_time(simulated_variants: &[SimulatedVariant]) -> Option<(&str, Vec<OverTime>)> {
    let trains = |at: &usize| simulated_variants.iter().any(|v| !timelines(v, *at).is_empty());
    let jobset = (0..simulated_variants.first()?.jobsets.len()).find(trains)?;
    let all = simulated_variants.iter().map(|v| (v, timelines(v, jobset)));
    let all: Vec<(&SimulatedVariant, Vec<&JobTimeline>)> = all.collect();
    let lengths = all.iter().flat_map(|(_, own)| own).map(|t| t.length());
    let longest = lengths.max()?.0;
    let variants = all.iter().map(|(v, own)| quantile_bands(&v.name, own, longest));
    Some((&simulated_variants[0].jobsets[jobset], variants.collect()))
}

fn timelines(variant: &SimulatedVariant, jobset: usize) -> Vec<&JobTimeline> {
    let replications = variant.replications.iter();
    let jobsets = replications.filter_map(|r| r.jobsets.get(jobset));
    jobsets.filter_map(|j| j.timeline.as_ref()).collect()
}

fn quantile_bands(name: &str, own: &[&JobTimeline], longest: u64) -> OverTime {
    let part = |nth: u32, of: u32| Duration((u128::from(longest) * u128::from(nth) / u128::from(of)) as u64);
    let has_half = |at: Duration| 2 * own.iter().filter(|t| t.length() >= at).count() >= own.len().max(1);
    let goodput =
        (1..=INSTANTS).map(|nth| part(nth, INSTANTS)).take_while(|after| has_half(*after)).filter_map(|after| {
            let values = quantile::sorted(own.iter().map(|t| t.goodput(after)).collect());
            let of = FAN.map(|p| quantile::quantile(&values, p));
            Some((after.seconds(), [of[0]?, of[1]?, of[2]?, of[3]?, of[4]?]))
        });
    let pieces = (0..PIECES).map(|nth| (part(nth, PIECES), part(nth + 1, PIECES)));
    let at_work = pieces.take_while(|(_, to)| has_half(*to)).filter_map(|(from, to)| {
        let shares: Vec<f64> = own.iter().filter_map(|t| t.at_work(from, to)).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let middle = (from.seconds() + to.seconds()) / 2.0;
        (!shares.is_empty()).then_some((middle, mean))
    });
    OverTime {
        name: name.to_owned(),
        lengths: quantile::sorted(own.iter().map(|t| t.length().seconds()).collect()),
        goodput: goodput.collect(),
        at_work: at_work.collect(),
    }
}

/// Returns the durations of all finished restarts in seconds, ascending, and the number of unfinished ones.
pub fn restart_times(variant: &SimulatedVariant) -> (Vec<f64>, usize) {
    let jobsets = variant.replications.iter().flat_map(|r| &r.jobsets);
    let all: Vec<_> = jobsets.flat_map(|j| &j.each).map(|r| r.latency()).collect();
    let over: Vec<f64> = all.iter().flatten().map(|d| d.seconds()).collect();
    let left = all.len() - over.len();
    (quantile::sorted(over), left)
}
