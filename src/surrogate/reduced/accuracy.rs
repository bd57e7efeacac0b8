//! Accuracy parameters of the reduced model. They are choices of the developers, each with a reason, and are listed
//! by the `sensitivity` command.

use sim_base::Duration;

/// Number of simulated runs per measured outage duration of a fault.
pub const RUNS_PER_OUTAGE: u64 = 5;
/// Number of searches for each edge, each with different random numbers and nodes. An edge is a time during a
/// restart at which the effect of a second fault changes.
pub const EDGE_SEARCHES: u64 = 3;
/// Maximum time for a JobSet to start; scenarios whose JobSet takes longer are rejected.
pub const STARTUP_MAX: Duration = Duration::from_secs(7200);
/// Time between the readiness of all pods and the injected fault.
pub const TIME_BEFORE_FAULT: Duration = Duration::from_secs(300);
/// Time for which a trial continues after the nodes have returned.
pub const TIME_AFTER_RETURN: Duration = Duration::from_secs(3600);
/// Difference between outage durations below which no further one is measured between them, in nanoseconds.
pub const OUTAGE_RESOLUTION_NS: u64 = 500_000_000;
/// Number of runs that check whether a point is on the straight line between its neighbors.
pub const LINE_CHECKS: u64 = 2;
/// Accepted relative error of a restart time, and accepted share of faults with a larger error.
pub const RELATIVE_ERROR_MAX: f64 = 0.001;
/// Accepted share of faults with an outage duration between two measured ones that have different outcomes.
pub const OUTCOME_CHANGE_SHARE_MAX: f64 = 0.0001;
/// Highest accuracy to which edges are located, in nanoseconds.
pub const EDGE_RESOLUTION_NS: u64 = 50_000_000;
/// Divisor of the random variation of an edge that gives the accuracy to which the edge is located.
pub const EDGE_VARIATION_DIVISOR: u64 = 8;
/// Divisor of the restart time that gives the accuracy of the first, coarse search for edges.
pub const COARSE_SEARCH_DIVISOR: u64 = 128;
/// Minimum distance from an edge, in nanoseconds, at which it is checked with a shorter first outage.
pub const EDGE_CHECK_DISTANCE_NS: u64 = 3_000_000_000;
/// Minimum delay of a restart, in nanoseconds, from which on the restart counts as waiting for the second fault's
/// nodes.
pub const WAIT_DELAY_MIN_NS: u64 = 10_000_000_000;
/// Maximum share of a restart in which a second fault may be a boundary case; scenarios with a larger share are
/// rejected.
pub const BOUNDARY_SHARE_MAX: f64 = 0.2;
/// Duration of boundary cases, in seconds, up to which a scenario is not rejected even if their share is larger.
pub const BOUNDARY_DURATION_MAX_S: f64 = 120.0;
/// Maximum mean difference in the number of restarts between both levels, as a share of the restarts, for
/// replications with boundary cases.
pub const MEAN_DIFFERENCE_MAX: f64 = 0.01;

/// An accuracy parameter, as reported.
pub struct AccuracyParameter {
    /// Identifier of the parameter.
    pub id: &'static str,
    /// Value as text.
    pub value: String,
    /// Reason for the value.
    pub why: &'static str,
}

/// Returns all accuracy parameters.
pub fn accuracy_parameters() -> Vec<AccuracyParameter> {
    let ns = |ns: u64| Duration(ns).to_string();
    let values = [
        ("reduced.runsPerOutage", RUNS_PER_OUTAGE.to_string()),
        ("reduced.edgeSearches", EDGE_SEARCHES.to_string()),
        ("reduced.startupMax", STARTUP_MAX.to_string()),
        ("reduced.timeBeforeFault", TIME_BEFORE_FAULT.to_string()),
        ("reduced.timeAfterReturn", TIME_AFTER_RETURN.to_string()),
        ("reduced.outageResolution", ns(OUTAGE_RESOLUTION_NS)),
        ("reduced.lineChecks", LINE_CHECKS.to_string()),
        ("reduced.relativeErrorMax", format!("{RELATIVE_ERROR_MAX}")),
        ("reduced.outcomeChangeShareMax", format!("{OUTCOME_CHANGE_SHARE_MAX}")),
        ("reduced.edgeResolution", ns(EDGE_RESOLUTION_NS)),
        ("reduced.edgeVariationDivisor", EDGE_VARIATION_DIVISOR.to_string()),
        ("reduced.coarseSearchDivisor", COARSE_SEARCH_DIVISOR.to_string()),
        ("reduced.edgeCheckDistance", ns(EDGE_CHECK_DISTANCE_NS)),
        ("reduced.waitDelayMin", ns(WAIT_DELAY_MIN_NS)),
        ("reduced.boundaryShareMax", format!("{BOUNDARY_SHARE_MAX}")),
        ("reduced.boundaryDurationMax", ns((BOUNDARY_DURATION_MAX_S * 1e9) as u64)),
        ("reduced.meanDifferenceMax", format!("{MEAN_DIFFERENCE_MAX}")),
    ];
    let with_reason = |((id, value), why)| AccuracyParameter { id, value, why };
    values.into_iter().zip(REASONS.lines()).map(with_reason).collect()
}

/// The reasons of the values, in the order of the parameters.
const REASONS: &str = "\
simulated runs per kind of fault; the spread of their restart times is part of the error bound of goodput
searches for each edge, the time at which the effect of a second fault changes; faults within their spread are \
  boundary cases
maximum startup time; scenarios whose JobSet takes longer are rejected
time before an injected fault; equal to the time for which pods tolerate a lost node (DefaultTolerationSeconds)
time that a trial continues after its node has returned; a longer restart waits for something else
smallest distinguished difference of outage durations: half a period of the slowest poll (PLEG, 1 s)
runs that check whether a point is on the straight line between its neighbors; otherwise the point is measured with \
  all runs
accepted relative error of interpolated restart times, or the spread of the runs if it is larger; also the accepted \
  share of faults with a larger error
accepted share of faults with an outage duration between two measured ones with different outcomes; such faults are \
  boundary cases
highest accuracy of an edge, and therefore the smallest margin of a boundary case
edges are located to their random variation divided by this number, which limits the additional margin
edges are first located to the restart time divided by this number, before their random variation is known
distance at which an edge is checked again with a shorter first outage; at least twice the accuracy of the edge
smallest delay by a second fault that counts as waiting for its nodes; at least twice the spread
maximum share of a restart in which a second fault may be a boundary case; scenarios above it are rejected
duration up to which a larger share is accepted; its boundary cases are counted instead
maximum mean difference between the levels, as a share of the restarts; a check fails if the 95 % interval is above \
  it";
