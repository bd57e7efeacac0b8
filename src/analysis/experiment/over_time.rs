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
    /// Number of replications in which it started.
    pub replications: usize,
    /// Seconds since the first start, and the quantiles `FAN` of the goodput so far.
    pub goodput: Vec<(f64, [f64; FAN.len()])>,
    /// Centers of the time intervals in seconds since the first start, and the mean share of time with steps.
    pub at_work: Vec<(f64, f64)>,
}

/// Returns the name of the first JobSet that trains, and its quantiles per variant up to the end of the variant's
/// longest replication.
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
    let own_longest = own.iter().map(|t| t.length()).max();
    let continues = |nth: &u32| own_longest.is_some_and(|longest| part(nth - 1, INSTANTS) < longest);
    let goodput = (1..=INSTANTS).take_while(continues).filter_map(|nth| {
        let after = part(nth, INSTANTS);
        let values = quantile::sorted(own.iter().map(|t| t.goodput(after)).collect());
        let of = FAN.map(|p| quantile::quantile(&values, p));
        Some((after.seconds(), [of[0]?, of[1]?, of[2]?, of[3]?, of[4]?]))
    });
    let at_work = (0..PIECES).filter_map(|nth| {
        let (from, to) = (part(nth, PIECES), part(nth + 1, PIECES));
        let shares: Vec<f64> = own.iter().filter_map(|t| t.at_work(from, to)).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let middle = (from.seconds() + to.seconds()) / 2.0;
        (!shares.is_empty()).then_some((middle, mean))
    });
    OverTime { name: name.to_owned(), replications: own.len(), goodput: goodput.collect(), at_work: at_work.collect() }
}

/// Returns the durations of all finished restarts in seconds, ascending, and the number of unfinished ones.
pub fn restart_times(variant: &SimulatedVariant) -> (Vec<f64>, usize) {
    let jobsets = variant.replications.iter().flat_map(|r| &r.jobsets);
    let all: Vec<_> = jobsets.flat_map(|j| &j.each).map(|r| r.latency()).collect();
    let over: Vec<f64> = all.iter().flatten().map(|d| d.seconds()).collect();
    let left = all.len() - over.len();
    (quantile::sorted(over), left)
}
