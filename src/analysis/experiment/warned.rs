//! Warnings of experiments: merged warnings of replications, and inputs whose law makes means unreliable.

use super::replication::ReplicationResult;
use crate::format::thousands;
use sim_api::spec::{ArrivalProcess, FleetSpec, RepairSpec, ScenarioSpec};
use sim_base::random::Distribution;
use sim_base::stats::warnings::values_for_mean_interval;

pub(super) fn warnings(all: &[ReplicationResult]) -> Vec<String> {
    let own: Vec<&[String]> = all.iter().map(|r| r.warnings.as_slice()).collect();
    warnings_of(&own)
}

/// Merges the warnings of all replications. Warnings that differ only in numbers become one.
pub fn warnings_of(all: &[&[String]]) -> Vec<String> {
    // Per warning: its text without numbers, its first occurrence, the number of replications, and whether all are
    // equal.
    let mut kinds: Vec<(String, &str, usize, bool)> = Vec::new();
    for own in all {
        let mut seen: Vec<usize> = Vec::new();
        for warning in *own {
            let bare = without_numbers(warning);
            let at = kinds.iter().position(|(known, ..)| *known == bare);
            let at = at.unwrap_or(kinds.len());
            if at == kinds.len() {
                kinds.push((bare, warning, 0, true));
            }
            kinds[at].3 &= kinds[at].1 == warning;
            if !seen.contains(&at) {
                seen.push(at);
                kinds[at].2 += 1;
            }
        }
    }
    let describe = |(_, first, n, equal): (String, &str, usize, bool)| {
        let others = if equal { "" } else { ", with different numbers" };
        format!("in {n} of {} replications{others}: {first}", all.len())
    };
    kinds.into_iter().map(describe).collect()
}

fn without_numbers(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if bare.ends_with('0') => {}
            '0'..='9' => bare.push('0'),
            c => bare.push(c),
        }
    }
    bare
}

type NamedDuration<'s> = (String, &'s Distribution);

fn repair_durations<'s>(repair: &'s RepairSpec, path: &str) -> Vec<NamedDuration<'s>> {
    let stages = repair.stages.iter();
    stages.map(|stage| (format!("{path} {:?}", stage.name), &stage.duration)).collect()
}

/// Warns of outages and restart times of a Fleet with heavy tails. `failures` is their number in all replications.
pub(super) fn fleet_heavy_tails(fleet: &FleetSpec, failures: f64) -> Vec<String> {
    let mut all = repair_durations(&fleet.repair, "repair stage");
    all.push(("job.recovery".to_owned(), &fleet.job.recovery));
    all.push(("job.hostSelection.takes".to_owned(), &fleet.job.selection_time));
    heavy_tails(all, failures)
}

/// Warns of outages and start times of a scenario with heavy tails.
pub(super) fn scenario_heavy_tails(scenario: &ScenarioSpec, replications: &[ReplicationResult]) -> Vec<String> {
    let jobsets = replications.iter().flat_map(|r| &r.jobsets);
    let restarts = jobsets.map(|j| f64::from(j.all_restarts)).sum();
    let mut all = Vec::new();
    for process in &scenario.fault_processes {
        let is_random = matches!(process.arrivals, ArrivalProcess::Renewal(_));
        let repair = process.repair_time.as_ref().filter(|_| is_random);
        all.extend(repair.map(|dist| (format!("backAfter of faults {:?}", process.cause), dist)));
    }
    if let Some(repair) = &scenario.node_repair {
        all.extend(repair_durations(&repair.repair, "nodeRepair stage"));
        all.push(("nodeRepair.detectedAfter".to_owned(), &repair.detected_after));
    }
    for training in &scenario.training {
        all.push(("training.initialization".to_owned(), &training.initialization));
        all.push(("training.compile".to_owned(), &training.compile));
        all.extend(training.checkpoints().last().map(|c| ("training.checkpoint.restore".to_owned(), &c.restore)));
    }
    heavy_tails(all, restarts)
}

/// Warns of each duration whose law requires more values for the interval of a mean than occur. The skewness of a
/// sample is no substitute: it is small if the tail does not occur in the sample.
fn heavy_tails(all: Vec<NamedDuration<'_>>, values: f64) -> Vec<String> {
    let warn = |(name, dist): (String, &Distribution)| {
        let skewness = dist.heavy_tail_skewness()?;
        let needed = values_for_mean_interval(skewness);
        ((needed as f64) > values).then(|| {
            format!(
                "{name} has a heavy tail (skewness {skewness:.0}): intervals of means that depend on it are too short with \
                 about {} values; {} are needed. Use medians, which are not affected",
                thousands(values as u64),
                thousands(needed as u64)
            )
        })
    };
    all.into_iter().filter_map(warn).collect()
}
