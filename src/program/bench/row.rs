//! A row of the suite: the time until all pods were ready again, by phase and by wait reason.

use serde::{Deserialize, Serialize};
use sim_analysis::experiment::SimulatedReplication;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::{Phase, RestartMetrics, RestartOutcome};
use sim_base::stats::{quantile, sorted};
use sim_base::{Duration, SimTime};
use std::collections::BTreeMap;

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
        let BenchKey { case, nodes, strategy, preset, kubernetes } = self;
        format!("{case}/{nodes}/{strategy}/{preset}/{kubernetes}")
    }
}

/// Results of a row. Times are nanoseconds of virtual time. With several replications, the fields are those of the
/// replication with the median time to recover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    #[serde(flatten)]
    pub key: BenchKey,
    /// Time from a fault until all pods stay ready, the longest if faults follow a recovery; `None` if the pods of a
    /// JobSet never stay ready, or it fails or is blocked.
    pub ttr_ns: Option<u64>,
    pub restarts: usize,
    /// Time of the longest recovery by phase. Time between two restarts belongs to no phase.
    pub phases_ns: BTreeMap<String, u64>,
    /// Time on the critical path of the longest recovery by wait reason.
    pub waits_ns: BTreeMap<String, u64>,
    /// The reason why the run, or some of its replications, never recover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Digest of all records of the run.
    pub digest: String,
    /// The replications in order; empty if there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replications: Vec<BenchSample>,
}

/// Results of one replication of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchSample {
    pub ttr_ns: Option<u64>,
    pub restarts: usize,
    pub phases_ns: BTreeMap<String, u64>,
}

/// Minimum duration of waits that are listed.
const LEAST: Duration = Duration::from_millis(10);

impl BenchRow {
    pub fn new(key: BenchKey, replication: &SimulatedReplication) -> BenchRow {
        let restarts = &replication.folded.restarts;
        let recoveries = recoveries(restarts);
        let time = |recovery: &&[RestartMetrics]| recovered_at(recovery).since(recovery[0].start);
        let longest = recoveries.into_iter().rev().max_by_key(time);
        let reason = never_reason(replication);
        let ttr = longest.filter(|_| reason.is_none()).map(|recovery| time(&recovery).0);
        let mut phases = BTreeMap::new();
        let mut waits = BTreeMap::new();
        for restart in longest.unwrap_or_default() {
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
            reason,
            digest: format!("{:016x}", replication.outcome.digest),
            replications: Vec::new(),
        }
    }

    /// Combines the replications of a row; `None` if there are none. Of an even number, the lower of the two middle
    /// replications is the median. A replication that never recovers is longer than any other.
    pub fn combine(rows: Vec<BenchRow>) -> Option<BenchRow> {
        let mut order: Vec<&BenchRow> = rows.iter().collect();
        order.sort_by_key(|row| row.ttr_ns.unwrap_or(u64::MAX));
        let mut median = (*order.get(rows.len().saturating_sub(1) / 2)?).clone();
        if rows.len() > 1 {
            let mut reasons = rows.iter().filter_map(|row| row.reason.as_deref());
            if let (Some(_), Some(first)) = (median.ttr_ns, reasons.next()) {
                let never = 1 + reasons.count();
                median.reason =
                    Some(format!("{never} of {} replications never recover, the first: {first}", rows.len()));
            }
            median.replications = rows.iter().flat_map(BenchRow::samples).collect();
        }
        Some(median)
    }

    /// Returns the results of each replication.
    pub fn samples(&self) -> Vec<BenchSample> {
        if !self.replications.is_empty() {
            return self.replications.clone();
        }
        vec![BenchSample { ttr_ns: self.ttr_ns, restarts: self.restarts, phases_ns: self.phases_ns.clone() }]
    }

    /// Returns a quantile of the time to recover over the replications, in seconds; infinite if it never recovers.
    pub fn quantile_s(&self, q: f64) -> f64 {
        let times = self.samples().into_iter().map(|s| s.value("ttr")).collect();
        quantile(&sorted(times), q).unwrap_or(f64::INFINITY)
    }

    /// Returns whether a replication never recovers.
    pub fn is_stuck(&self) -> bool {
        self.ttr_ns.is_none() || self.replications.iter().any(|sample| sample.ttr_ns.is_none())
    }

    pub fn ttr(&self) -> Option<Duration> {
        self.ttr_ns.map(Duration)
    }

    pub fn phase(&self, phase: Phase) -> Duration {
        Duration(self.phases_ns.get(phase.as_str()).copied().unwrap_or(0))
    }
}

impl BenchSample {
    /// Returns a value: a time in seconds, or a count. The time to recover is infinite if that never happens.
    pub fn value(&self, name: &str) -> f64 {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        match name {
            "ttr" => self.ttr_ns.map_or(f64::INFINITY, seconds),
            "restarts" => self.restarts as f64,
            phase => seconds(self.phases_ns.get(phase).copied().unwrap_or(0)),
        }
    }
}

/// Divides restarts, which are in the order of their start, into recoveries. A restart belongs to the recovery before
/// it if its fault occurred before that one ended.
fn recoveries(restarts: &[RestartMetrics]) -> Vec<&[RestartMetrics]> {
    let (mut all, mut first) = (Vec::new(), 0);
    for (i, restart) in restarts.iter().enumerate().skip(1) {
        if restart.caused_at >= recovered_at(&restarts[first..i]) {
            all.push(&restarts[first..i]);
            first = i;
        }
    }
    all.extend(Some(&restarts[first..]).filter(|last| !last.is_empty()));
    all
}

/// Returns the end of the last restart of a recovery.
fn recovered_at(recovery: &[RestartMetrics]) -> SimTime {
    recovery.iter().map(|restart| restart.end).max().unwrap_or(SimTime::ZERO)
}

/// Returns why a run never recovers, in the words of `run`; `None` if all of its JobSets recover.
fn never_reason(replication: &SimulatedReplication) -> Option<String> {
    if let Some(failed) = replication.view(0, &[]).failed_jobsets().first() {
        return Some(failed.headline());
    }
    let restarts = &replication.folded.restarts;
    let (blocked, unfinished) = replication.outcome.blocked_and_unfinished();
    if let Some(sentence) = blocked.into_iter().next() {
        return Some(sentence);
    }
    // Only the last restart of a JobSet decides: a JobSet that ended during a restart may have been created again.
    let is_last = |r: &&RestartMetrics| !restarts.iter().any(|other| other.jobset == r.jobset && other.start > r.start);
    let open = restarts.iter().filter(is_last).find(|r| r.ending != RestartOutcome::Ready);
    if let Some(open) = open {
        let of_jobset = match open.ending {
            RestartOutcome::JobSetEnded => "the JobSet ended during the restart",
            _ => "the run ended during the restart",
        };
        return Some(unfinished.into_iter().next().unwrap_or_else(|| of_jobset.to_owned()));
    }
    if !restarts.is_empty() {
        return None;
    }
    // Warnings about faults that did nothing begin with the fault.
    let of_fault = |text: &&String| text.starts_with("fault ") || text.contains("did not fire before the run ended");
    let warning = replication.outcome.warnings.iter().find(of_fault);
    let why = warning.map_or("no fault ended a pod that was still needed", String::as_str);
    Some(unfinished.into_iter().next().unwrap_or_else(|| format!("no restart: {why}")))
}

fn add_phases(sums: &mut BTreeMap<String, u64>, restart: &RestartMetrics) {
    for (phase, time) in Phase::ALL.iter().zip(restart.phases()) {
        if time > Duration::ZERO {
            *sums.entry(phase.as_str().to_owned()).or_insert(0) += time.0;
        }
    }
}
