//! A row of the suite: the time until all pods were ready again, by phase and by wait reason.

use serde::{Deserialize, Serialize};
use sim_analysis::experiment::SimulatedReplication;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::{Phase, RestartMetrics, RestartOutcome};
use sim_base::Duration;
use std::collections::BTreeMap;

/// Identity of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BenchKey {
    pub case: String,
    pub nodes: u64,
    pub strategy: String,
    pub preset: String,
    pub kubernetes: String,
}

impl BenchKey {
    /// Formats the key as it is printed and used in conditions.
    pub fn text(&self) -> String {
        let BenchKey {
            case,
            nodes,
            strategy,
            preset,
            kubernetes,
        } = self;
        format!("{case}/{nodes}/{strategy}/{preset}/{kubernetes}")
    }
}

/// Results of a row. Times are nanoseconds of virtual time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    #[serde(flatten)]
    pub key: BenchKey,
    /// Time from the first fault until all pods stay ready; `None` if that never happens.
    pub ttr_ns: Option<u64>,
    pub restarts: usize,
    /// Time by phase. Time between two restarts belongs to no phase.
    pub phases_ns: BTreeMap<String, u64>,
    /// Time on the critical path by wait reason.
    pub waits_ns: BTreeMap<String, u64>,
    /// Digest of all records of the run.
    pub digest: String,
}

/// Minimum duration of waits that are listed.
const LEAST: Duration = Duration::from_millis(10);

impl BenchRow {
    pub fn new(key: BenchKey, played: &SimulatedReplication) -> BenchRow {
        let restarts = &played.folded.restarts;
        let ended = restarts.last().filter(|r| r.ending == RestartOutcome::Ready);
        let first = restarts.iter().map(|r| r.start).min();
        let ttr = ended.zip(first).map(|(last, start)| last.end.since(start).0);
        let mut phases = BTreeMap::new();
        let mut waits = BTreeMap::new();
        for restart in restarts {
            add_phases(&mut phases, restart);
            for (name, time) in bottleneck::waits(restart) {
                *waits.entry(name).or_insert(0) += time.0;
            }
        }
        waits.retain(|_, time| *time >= LEAST.0);
        BenchRow {
            key,
            ttr_ns: ttr,
            restarts: restarts.len(),
            phases_ns: phases,
            waits_ns: waits,
            digest: format!("{:016x}", played.outcome.digest),
        }
    }

    pub fn ttr(&self) -> Option<Duration> {
        self.ttr_ns.map(Duration)
    }

    pub fn phase(&self, phase: Phase) -> Duration {
        Duration(self.phases_ns.get(phase.as_str()).copied().unwrap_or(0))
    }
}

fn add_phases(sums: &mut BTreeMap<String, u64>, restart: &RestartMetrics) {
    for (phase, time) in Phase::ALL.iter().zip(restart.phases()) {
        if time > Duration::ZERO {
            *sums.entry(phase.as_str().to_owned()).or_insert(0) += time.0;
        }
    }
}
