//! Errors about implausible values in a recording.

use crate::validate::recording::RecordingKind;
use std::fmt;

/// Maximum number of nodes accepted in a recording, to bound memory.
pub const MAX_NODES: u32 = 1_000_000;
/// Longest accepted latency of an API request in milliseconds.
pub const LATENCY_MAX_MS: f64 = 60_000.0;

/// Largest accepted rate of the requests of nodes, as in a scenario.
pub const NODE_REQUESTS_MAX_PER_S: f64 = 1e9;

/// A pair of latencies in milliseconds that is out of range.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LatencyRangeError {
    pub p50: f64,
    pub p95: f64,
}

impl fmt::Display for LatencyRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LatencyRangeError { p50, p95 } = self;
        write!(f, "p50 {p50} and p95 {p95} must be 0 < p50 <= p95 <= {LATENCY_MAX_MS} ms")
    }
}

impl std::error::Error for LatencyRangeError {}

/// A value of a recording that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordingValueError {
    /// The rate limit of a client is not positive.
    RateLimit {
        client: &'static str,
        qps: f64,
        burst: u32,
    },
    NodeCount {
        nodes: u32,
    },
    /// The number of nodes per pool or zone is 0.
    NodeGroupSize,
    ApiLatency(LatencyRangeError),
    /// The rate of the requests of nodes is out of range.
    NodeRequests {
        rate: f64,
    },
    /// A time exceeds 100 years.
    TooLong {
        ms: u64,
    },
    MissingMilestones,
    /// A recording of this kind needs its duration.
    MissingDuration {
        kind: RecordingKind,
    },
}

impl fmt::Display for RecordingValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RecordingValueError as Problem;
        match self {
            Problem::RateLimit { client, qps, burst } => {
                write!(f, "controlPlane.{client}: qps {qps} and burst {burst} must be greater than 0")
            }
            Problem::NodeCount { nodes } => write!(f, "controlPlane.nodes: {nodes} is not between 1 and {MAX_NODES}"),
            Problem::NodeGroupSize => f.write_str("controlPlane.nodesPerPool and nodesPerZone must be greater than 0"),
            Problem::ApiLatency(error) => write!(f, "controlPlane.apiLatencyMs: {error}"),
            Problem::NodeRequests { rate } => {
                write!(f, "controlPlane.nodeRequestsPerSecond: {rate} is not between 1 and {NODE_REQUESTS_MAX_PER_S}")
            }
            Problem::TooLong { ms } => {
                write!(f, "{ms} ms exceeds the longest supported time, 100 years")
            }
            Problem::MissingMilestones => f.write_str("kind times requires the key `milestones`"),
            Problem::MissingDuration { kind } => {
                write!(f, "kind {} requires the key `playedForMs`", kind.as_str())
            }
        }
    }
}

impl std::error::Error for RecordingValueError {}
