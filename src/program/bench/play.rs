//! Simulates rows on several threads. The result has the order of the table for any number of threads.

use super::BenchSetting;
use super::row::{BenchKey, BenchRow};
use super::scene;
use super::suite::BenchCombination;
use sim_analysis::experiment::parallel::in_parallel_with;
use sim_analysis::experiment::{LimitedRun, ReplicationLimits, simulate_replication};
use sim_analysis::metrics::MetricFolds;
use sim_api::spec::ScenarioSpec;
use sim_engine::SimulationInput;
use sim_engine::faults;
use sim_engine::record::EndReason;
use sim_inputs::LoadedScenario;
use std::sync::atomic::{AtomicU64, Ordering};

/// A row to simulate.
pub enum BenchEntry {
    /// A row of the suite.
    OfSuite(BenchCombination),
    /// A scenario given on the command line.
    Own(Box<LoadedScenario>),
}

/// Simulates all entries and returns the finished rows. The error names the row.
pub fn all(
    entries: &[BenchEntry],
    sets: &[BenchSetting],
    (threads, limits): (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<BenchRow>, String> {
    let finished = AtomicU64::new(0);
    // Large rows start first, so that the threads finish at about the same time.
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(size(&entries[*i])));
    let one = |(): &mut (), i: u64| {
        let at = order[i as usize];
        let row = row(&entries[at], sets, limits);
        done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        Some((at, row)).filter(|(_, row)| !matches!(row, Ok(None)))
    };
    let played = in_parallel_with(|| Ok(()), (entries.len() as u64, threads), &limits.flag, one);
    let mut played = played.map_err(|why| why.to_string())?;
    played.sort_by_key(|(at, _)| *at);
    played.into_iter().filter_map(|(_, row)| row.transpose()).collect()
}

fn size(entry: &BenchEntry) -> u64 {
    match entry {
        BenchEntry::OfSuite(row) => u64::from(row.nodes),
        BenchEntry::Own(loaded) => loaded.scenario.topology.nodes(),
    }
}

fn row(entry: &BenchEntry, sets: &[BenchSetting], limits: &ReplicationLimits) -> Result<Option<BenchRow>, String> {
    match entry {
        BenchEntry::Own(loaded) => {
            let scenario = &loaded.scenario;
            play_one(scenario, own_key(scenario), limits)
        }
        BenchEntry::OfSuite(row) => {
            let key = BenchKey {
                case: row.case.name.clone(),
                nodes: u64::from(row.nodes),
                strategy: row.strategy.as_str().to_owned(),
                preset: row.plane.preset.clone(),
                kubernetes: row.plane.kubernetes.clone(),
            };
            let named = |why: String| format!("{}:\n{why}", key.text());
            let loaded = scene::load(row, sets).map_err(named)?;
            play_one(&loaded.scenario, key.clone(), limits)
        }
    }
}

/// Simulates one row; `None` if it was stopped.
fn play_one(scenario: &ScenarioSpec, key: BenchKey, limits: &ReplicationLimits) -> Result<Option<BenchRow>, String> {
    let scenario = faults::draw_faults(scenario, scenario.seed, 0);
    let simulation = SimulationInput::new(&scenario);
    let mut simulation = simulation.map_err(|why| format!("{}:\n{why}", key.text()))?;
    let folds = MetricFolds::new(&scenario, false);
    let (played, _) = simulate_replication(&mut simulation, (scenario.seed, 0), folds, LimitedRun::sink(limits));
    let stopped = played.outcome.end_reason == EndReason::Stopped;
    Ok((!stopped).then(|| BenchRow::new(key, &played)))
}

fn own_key(scenario: &ScenarioSpec) -> BenchKey {
    let plane = &scenario.control_plane;
    let strategy = scenario.jobsets.first().map(|s| s.jobset.spec.strategy());
    BenchKey {
        case: scenario.name.clone(),
        nodes: scenario.topology.nodes(),
        strategy: strategy.unwrap_or_default().as_str().to_owned(),
        preset: plane.preset.clone(),
        kubernetes: format!("{}.{}", plane.kubernetes.major, plane.kubernetes.minor),
    }
}

#[cfg(test)]
mod tests {
    use super::super::BaselineReport;
    use super::super::against::moved;
    use super::super::print::change;
    use super::super::suite::{BenchSuite, RowFilter};
    use super::*;

    #[test]
    fn a_row_that_changed_is_named_with_its_case_and_its_phase() {
        let only = RowFilter {
            cases: vec!["kill-process".to_owned()],
            nodes: vec![100],
            strategies: vec!["Recreate".to_owned()],
            presets: vec!["kops".to_owned()],
        };
        let rows = BenchSuite::shipped().combinations(&only).unwrap();
        let entry = BenchEntry::OfSuite(rows[0].clone());
        let with = |sets: &[BenchSetting]| row(&entry, sets, &ReplicationLimits::unlimited()).unwrap().unwrap();
        let play = || with(&[]);
        // Before 1.31 a Job is Failed before its pods have ended (kubernetes.md 1.4).
        let old = [("controlPlane.kubernetes".to_owned(), "1.30".to_owned())];
        let right = BaselineReport::new(vec![play()], Vec::new());
        let wrong = BaselineReport::new(vec![with(&old)], Vec::new());
        assert_eq!(moved(&right, &BaselineReport::new(vec![play()], Vec::new())), []);
        let moved = moved(&wrong, &right);
        let told = change(&moved[0]);
        let begins = "kill-process/100/Recreate/kops/1.36: ";
        assert!(
            told.starts_with(begins) && told.contains("; phase terminate -"),
            "{told}"
        );
    }
}
