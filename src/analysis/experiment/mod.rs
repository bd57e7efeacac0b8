//! Experiments: single runs with their metrics, parallel replications, and estimates over them.
//!
//! Must never print or depend on the command line, because `cli` and the library facade both use it.

#![deny(missing_docs)]

pub mod compare;
pub mod counted;
pub mod derivative;
pub mod experiment_input;
pub mod fail_if;
pub mod fleets;
pub mod level_check;
pub mod metric;
pub mod mixed;
pub mod nodes;
mod outcome;
pub mod over_time;
pub mod parallel;
pub mod player;
pub mod replication;
pub mod replications;
pub mod simulate;
pub mod stop;
pub mod verify;
mod warned;

pub use compare::{
    CompareVerdict, MetricEstimate, PairMultiplicity, PairedEstimate, SimulatedVariant, VariantChange,
    VariantComparison, VariantEstimates, is_below_resolution,
};
pub use counted::{CountedRun, RestartLimitError, UsedAt, count_restarts, with_maintenance_rule, without_limit};
pub use derivative::{DerivativeSide, MetricDerivative, derivative, headline};
pub use experiment_input::{ExperimentSubject, SubjectSimulator};
pub use fleets::{FleetReplications, compared, replicate_fleet};
pub use level_check::{CheckedLevels, LevelDifference, LevelVerdict, check_levels, differences as level_differences};
pub use metric::{
    BetterDirection, MeasuredMetric, accumulates, better, fleet_metric_names, grows_with_time, is_by_cause,
    limit_outside_share, metric_mean, metric_names, metrics, sample_kind, unnamed,
};
pub use mixed::{MixedRuns, UnusableMetric};
pub use nodes::{NodesExperiment, NotAtNodes, why_not_at_nodes};
pub use outcome::{OutcomeCounts, ReplicationOutcome};
pub use parallel::{NoRuns, in_parallel};
pub use player::ExperimentRunner;
pub use replication::{BriefRestart, ReplicatedJobSet, ReplicationResult, never_placed};
pub use replications::{JobSetEstimates, ReplicationSet, WorkCost};
pub use simulate::{SimulatedReplication, simulate_replication};
pub use stop::{LimitSink, ReplicationLimits, StopFlag};
pub use verify::{NotVerified, verify};
pub use warned::warnings_of;
