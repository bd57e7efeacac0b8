//! Variants over time: the fan of their goodput, how much of it they are at work, and how long single restarts take.

use super::PlayedVariant;
use crate::metrics::timeline::Timeline;
use sim_base::Duration;
use sim_base::stats::quantile;

/// Quantiles of a fan, ascending; the median is in the middle.
pub const FAN: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// Instants of a fan: more than a chart can show apart are of no use.
const INSTANTS: u32 = 200;
/// Pieces of time over which a share is taken.
const PIECES: u32 = 60;

/// A training job of one variant over time, over all replications in which it started.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime {
    /// Of the variant.
    pub name: String,
    /// Replications in which it started.
    pub replications: usize,
    /// Seconds since the first start, and the quantiles `FAN` of goodput until then.
    pub goodput: Vec<(f64, [f64; FAN.len()])>,
    /// The middles of equal pieces of time in seconds since the first start, and the mean share of them at work.
    pub at_work: Vec<(f64, f64)>,
}

/// The first JobSet that trains, by name, and each variant's fan until its longest replication ends.
pub fn over_time(played: &[PlayedVariant]) -> Option<(&str, Vec<OverTime>)> {
    let trains = |at: &usize| played.iter().any(|v| !timelines(v, *at).is_empty());
    let jobset = (0..played.first()?.jobsets.len()).find(trains)?;
    let all = played.iter().map(|v| (v, timelines(v, jobset)));
    let all: Vec<(&PlayedVariant, Vec<&Timeline>)> = all.collect();
    let lengths = all.iter().flat_map(|(_, own)| own).map(|t| t.length());
    let longest = lengths.max()?.0;
    let variants = all.iter().map(|(v, own)| fan(&v.name, own, longest));
    Some((&played[0].jobsets[jobset], variants.collect()))
}

fn timelines(variant: &PlayedVariant, jobset: usize) -> Vec<&Timeline> {
    let replications = variant.replications.iter();
    let jobsets = replications.filter_map(|r| r.jobsets.get(jobset));
    jobsets.filter_map(|j| j.timeline.as_ref()).collect()
}

fn fan(name: &str, own: &[&Timeline], longest: u64) -> OverTime {
    let part = |nth: u32, of: u32| {
        Duration((u128::from(longest) * u128::from(nth) / u128::from(of)) as u64)
    };
    let own_longest = own.iter().map(|t| t.length()).max();
    let goes_on = |nth: &u32| own_longest.is_some_and(|longest| part(nth - 1, INSTANTS) < longest);
    let goodput = (1..=INSTANTS).take_while(goes_on).filter_map(|nth| {
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
    OverTime {
        name: name.to_owned(),
        replications: own.len(),
        goodput: goodput.collect(),
        at_work: at_work.collect(),
    }
}

/// Seconds of every restart of all replications that came to its end, ascending, and how many did not.
pub fn restart_times(variant: &PlayedVariant) -> (Vec<f64>, usize) {
    let jobsets = variant.replications.iter().flat_map(|r| &r.jobsets);
    let all: Vec<_> = jobsets.flat_map(|j| &j.each).map(|r| r.latency()).collect();
    let over: Vec<f64> = all.iter().flatten().map(|d| d.seconds()).collect();
    let left = all.len() - over.len();
    (quantile::sorted(over), left)
}
