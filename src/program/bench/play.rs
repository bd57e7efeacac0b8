//! Simulates rows on several threads. The result has the order of the table for any number of threads.

use super::BenchSetting;
use super::row::{BenchKey, BenchRow};
use super::scene;
use super::suite::BenchCombination;
use serde_json::Value;
use sim_analysis::experiment::parallel::in_parallel_with;
use sim_analysis::experiment::{LimitSink, ReplicationLimits, simulate_replication};
use sim_analysis::metrics::MetricFolds;
use sim_api::spec::ScenarioSpec;
use sim_base::fnv;
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;
use sim_inputs::{LoadedScenario, SourceText};
use sim_reliability::faults;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// A row to simulate.
pub enum BenchEntry {
    OfSuite(BenchCombination),
    /// A scenario given on the command line.
    Own(Box<LoadedScenario>),
}

/// Simulates all entries with this number of replications each, and returns the finished rows. The error names the row.
pub fn all(
    entries: &[BenchEntry], (sets, seeds): (&[BenchSetting], u64), (threads, limits): (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<BenchRow>, String> {
    let finished = AtomicU64::new(0);
    // Large rows start first, so that the threads finish at about the same time.
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(size(&entries[*i])));
    let one = |(): &mut (), i: u64| {
        let at = order[(i / seeds) as usize];
        let row = row(&entries[at], sets, (i % seeds, limits));
        done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        Some(((at, i % seeds), row)).filter(|(_, row)| !matches!(row, Ok(None)))
    };
    let tasks = (entries.len() as u64 * seeds, threads);
    let replication = in_parallel_with(|| Ok(()), tasks, &limits.flag, one);
    let mut replication = replication.map_err(|why| why.to_string())?;
    replication.sort_by_key(|(at, _)| *at);
    let mut rows: Vec<Vec<BenchRow>> = entries.iter().map(|_| Vec::new()).collect();
    for ((at, _), row) in replication {
        rows[at].extend(row?);
    }
    // A row of a stopped run that lacks replications is not finished.
    let finished = rows.into_iter().filter(|rows| rows.len() as u64 == seeds);
    Ok(finished.filter_map(BenchRow::combine).collect())
}

fn size(entry: &BenchEntry) -> u64 {
    match entry {
        BenchEntry::OfSuite(row) => u64::from(row.nodes),
        BenchEntry::Own(loaded) => loaded.scenario.topology.nodes(),
    }
}

/// Returns the identity of the row of an entry.
pub fn key(entry: &BenchEntry) -> BenchKey {
    match entry {
        BenchEntry::Own(loaded) => own_key(&loaded.scenario),
        BenchEntry::OfSuite(row) => BenchKey {
            case: row.case.name.clone(),
            nodes: u64::from(row.nodes),
            strategy: row.strategy.as_str().to_owned(),
            preset: row.plane.preset.clone(),
            kubernetes: row.plane.kubernetes.clone(),
        },
    }
}

/// Returns the fields of the inputs of each scenario of the user, by case. An input with many fields is represented by
/// a hash.
pub fn input_fields(entries: &[BenchEntry], sets: &[BenchSetting]) -> BTreeMap<String, BTreeMap<String, String>> {
    const FIELDS_MAX: usize = 2_000;
    let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for entry in entries {
        let BenchEntry::Own(loaded) = entry else {
            continue;
        };
        let mut fields: BTreeMap<String, String> =
            sets.iter().map(|(path, value)| (format!("--set {path}"), value.clone())).collect();
        for (name, text) in &loaded.inputs {
            let file = Path::new(name).file_name().map_or(name.clone(), |file| file.to_string_lossy().into_owned());
            let source = SourceText { file: name.clone(), text: text.clone() };
            let mut own = BTreeMap::new();
            for (i, document) in sim_inputs::documents(&source).unwrap_or_default().iter().enumerate() {
                let place = if i == 0 { format!("{file}: ") } else { format!("{file} ({}): ", i + 1) };
                add_fields(document, &place, "", &mut own);
            }
            if own.is_empty() || own.len() > FIELDS_MAX {
                own = [(file, format!("{:016x}", fnv::fnv1a(text.bytes())))].into();
            }
            fields.extend(own);
        }
        all.insert(key(entry).case, fields);
    }
    all
}

/// Returns what the model does not simulate of the scenarios of the user, by case.
pub fn not_modelled(entries: &[BenchEntry]) -> BTreeMap<String, Vec<String>> {
    let of_own = |entry: &BenchEntry| match entry {
        BenchEntry::Own(loaded) => Some((key(entry).case, loaded.not_modelled())),
        BenchEntry::OfSuite(_) => None,
    };
    entries.iter().filter_map(of_own).collect()
}

fn add_fields(value: &Value, place: &str, path: &str, to: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            let separator = if path.is_empty() { "" } else { "." };
            fields.iter().for_each(|(name, value)| add_fields(value, place, &format!("{path}{separator}{name}"), to));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| add_fields(value, place, &format!("{path}[{i}]"), to));
        }
        Value::String(text) => {
            to.insert(format!("{place}{path}"), text.clone());
        }
        other => {
            to.insert(format!("{place}{path}"), other.to_string());
        }
    }
}

/// Simulates one replication of a row; `None` if it was stopped.
fn row(
    entry: &BenchEntry, sets: &[BenchSetting], (replication, limits): (u64, &ReplicationLimits),
) -> Result<Option<BenchRow>, String> {
    let key = key(entry);
    let named = |why: String| format!("{}:\n{why}", key.text());
    let suite;
    let scenario = match entry {
        BenchEntry::Own(loaded) => &loaded.scenario,
        BenchEntry::OfSuite(row) => {
            suite = scene::load(row, sets).map_err(named)?;
            &suite.scenario
        }
    };
    let scenario = faults::draw_faults(scenario, scenario.seed, replication);
    let mut simulation = SimulationInput::new(&scenario).map_err(|why| named(why.to_string()))?;
    let folds = MetricFolds::new(&scenario, false);
    let seed = (scenario.seed, replication);
    let (simulated, _) = simulate_replication(&mut simulation, seed, folds, LimitSink::sink(limits));
    let stopped = simulated.outcome.end_reason == EndReason::Stopped;
    Ok((!stopped).then(|| BenchRow::new(key, &simulated)))
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
#[path = "../../../tests/inside/program/bench/play.rs"]
mod tests;
