//! The distribution of the wait for quota, over replications with drawn run times of the other Workloads.

use rayon::prelude::*;
use serde::Serialize;
use sim_base::Duration;
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::stats::{proportion_interval, quantile, quantile_interval, sorted};
use sim_kueue::verdict::{ForecastWait, QueueState, RunTimes, forecast_wait};
use sim_kueue::workload::WorkloadKey;

/// Level of the intervals.
const LEVEL: f64 = 0.95;

/// The replications of an estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitRequest {
    /// Run time of each Workload from its admission.
    pub run_time: Distribution,
    /// Number of replications.
    pub replications: u64,
    /// Seed of the run times.
    pub seed: u64,
    /// Longest wait that is simulated.
    pub horizon: Duration,
}

/// The distribution of a wait. Times are in seconds; a quantile beyond the horizon is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitEstimate {
    /// Number of replications.
    pub replications: u64,
    /// Longest wait that is simulated, in seconds.
    #[serde(rename = "horizon_s")]
    pub horizon: f64,
    /// Number of replications in which Workloads preempted each other without an end. They count as beyond the horizon.
    #[serde(rename = "didNotSettle")]
    pub did_not_settle: u64,
    /// Share of the replications in which quota was reserved within the horizon.
    pub admitted: f64,
    /// Its 95 % interval.
    #[serde(rename = "admittedCi95")]
    pub admitted_ci95: [f64; 2],
    /// 10th percentile of the wait.
    #[serde(rename = "p10_s")]
    pub p10: Option<f64>,
    /// Median of the wait.
    #[serde(rename = "p50_s")]
    pub p50: Option<f64>,
    /// 95 % interval of the median.
    #[serde(rename = "p50Ci95_s")]
    pub p50_ci95: [Option<f64>; 2],
    /// 90th percentile of the wait.
    #[serde(rename = "p90_s")]
    pub p90: Option<f64>,
}

/// Estimates the wait of a pending Workload.
pub fn estimate(state: &QueueState, key: WorkloadKey, request: &WaitRequest) -> WaitEstimate {
    let wait = |replication: u64| {
        let mut times = DrawnRunTimes { state, request, draws: DrawSequence::new(request.seed, replication) };
        match forecast_wait(state, key, request.horizon, &mut times) {
            ForecastWait::Reserved(wait) => wait.seconds(),
            // A wait beyond the horizon is longer than all others.
            ForecastWait::Beyond => f64::INFINITY,
            ForecastWait::DidNotSettle => f64::NAN,
        }
    };
    let waits: Vec<f64> = (0..request.replications).into_par_iter().map(wait).collect();
    let unsettled = waits.iter().filter(|wait| wait.is_nan()).count() as u64;
    let waits = waits.into_iter().map(|wait| if wait.is_nan() { f64::INFINITY } else { wait }).collect();
    let waits = sorted(waits);
    let admitted = waits.iter().filter(|wait| wait.is_finite()).count();
    let known = |value: Option<f64>| value.filter(|value| value.is_finite());
    let at = |p: f64| known(quantile(&waits, p));
    WaitEstimate {
        replications: request.replications,
        horizon: request.horizon.seconds(),
        did_not_settle: unsettled,
        admitted: admitted as f64 / waits.len().max(1) as f64,
        admitted_ci95: proportion_interval(admitted, waits.len(), LEVEL),
        p10: at(0.1),
        p50: at(0.5),
        p50_ci95: quantile_interval(&waits, 0.5, LEVEL).map(known),
        p90: at(0.9),
    }
}

/// Run times by name of the Workload, so that an additional Workload does not change those of the others.
struct DrawnRunTimes<'a> {
    state: &'a QueueState,
    request: &'a WaitRequest,
    draws: DrawSequence,
}

impl RunTimes for DrawnRunTimes<'_> {
    fn run_time(&mut self, key: WorkloadKey, nth: u32, elapsed: Duration) -> Duration {
        let name = self.state.workload(key).map(|w| format!("{}/{}", w.namespace, w.name)).unwrap_or_default();
        let (purpose, entity) = (StreamPurpose::WorkloadRunTime, StreamKey::from_text(&name));
        let u = self.draws.uniform_once(UniformDraw { purpose, entity, occurrence: nth, substream: 0 });
        // Beyond all values of the distribution, the Workload ends at once.
        self.request.run_time.quantile_above(elapsed, u)
    }
}
