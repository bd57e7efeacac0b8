//! Accuracy parameters of the reduced model. They are choices of the developers, each with a reason, and are listed
//! by the `sensitivity` command.

use sim_base::Duration;

/// Number of simulated runs per measured outage duration of a fault.
pub const PLAYS: u64 = 5;
/// Number of searches for each edge, each with different random numbers and nodes. An edge is a time during a
/// restart at which the effect of a second fault changes.
pub const LOOKS: u64 = 3;
/// Maximum time for a JobSet to start; scenarios whose JobSet takes longer are rejected.
pub const STARTUP: Duration = Duration::from_secs(7200);
/// Time between the readiness of all pods and the injected fault.
pub const CALM: Duration = Duration::from_secs(300);
/// Time for which a trial continues after the nodes have returned.
pub const AFTERWARDS: Duration = Duration::from_secs(3600);
/// Difference between outage durations below which no further one is measured between them, in nanoseconds.
pub const FINEST: u64 = 500_000_000;
/// Number of runs that check whether a point is on the straight line between its neighbors.
pub const CHECKS: u64 = 2;
/// Accepted relative error of a restart time, and accepted share of faults with a larger error.
pub const OFF: f64 = 0.001;
/// Accepted share of faults with an outage duration between two measured ones that have different outcomes.
pub const ODD: f64 = 0.0001;
/// Highest accuracy to which edges are located, in nanoseconds.
pub const NEAR: u64 = 50_000_000;
/// Divisor of the random variation of an edge that gives the accuracy to which the edge is located.
pub const FINER: u64 = 8;
/// Divisor of the restart time that gives the accuracy of the first, coarse search for edges.
pub const COARSE: u64 = 128;
/// Minimum distance from an edge, in nanoseconds, at which it is checked with a shorter first outage.
pub const AROUND: u64 = 3_000_000_000;
/// Minimum delay of a restart, in nanoseconds, from which on the restart counts as waiting for the second fault's
/// nodes.
pub const WAITS: u64 = 10_000_000_000;
/// Maximum share of a restart in which a second fault may be a boundary case; scenarios with a larger share are
/// rejected.
pub const OPEN: f64 = 0.2;
/// Duration of boundary cases, in seconds, up to which a scenario is not rejected even if their share is larger.
pub const OPEN_S: f64 = 120.0;
/// Maximum mean difference in the number of restarts between both levels, as a share of the restarts, for
/// replications with boundary cases.
pub const UNEVEN: f64 = 0.01;

/// An accuracy parameter, as reported.
pub struct Choice {
    /// Identifier of the parameter.
    pub id: &'static str,
    /// Value as text.
    pub value: String,
    /// Reason for the value.
    pub why: &'static str,
}

/// Returns all accuracy parameters.
pub fn choices() -> Vec<Choice> {
    let of = |id, value, why| Choice { id, value, why };
    let ns = |ns: u64| Duration(ns).to_string();
    vec![
        of(
            "collapsed.plays",
            PLAYS.to_string(),
            "plays of each kind of fault; their spread is in the bound of goodput",
        ),
        of(
            "collapsed.looks",
            LOOKS.to_string(),
            "searches of each edge; how far they differ is its margin, and faults within it are close",
        ),
        of(
            "collapsed.startup",
            STARTUP.to_string(),
            "a JobSet that takes longer to start is refused",
        ),
        of(
            "collapsed.calm",
            CALM.to_string(),
            "before a fault is tried; as long as pods tolerate a lost node (DefaultTolerationSeconds)",
        ),
        of(
            "collapsed.afterwards",
            AFTERWARDS.to_string(),
            "how long a trial goes on after its node is back; a restart that is not over then waits for something else",
        ),
        of(
            "collapsed.finest",
            ns(FINEST),
            "times away nearer to each other are not told apart: half a period of the slowest poll (PLEG, 1 s)",
        ),
        of(
            "collapsed.checks",
            CHECKS.to_string(),
            "plays that say whether a point lies on the straight line between two others; one that does not is played \
             in full",
        ),
        of(
            "collapsed.off",
            format!("{OFF}"),
            "between points a restart time is off by at most this share of it, or the spread of plays if that is more; \
             between no two points that have more than this share of all times away by more",
        ),
        of(
            "collapsed.odd",
            format!("{ODD}"),
            "between two points that do different things are at most this share of all times away; whoever falls there \
             is close",
        ),
        of(
            "collapsed.near",
            ns(NEAR),
            "edges are found to this at best, which is the least margin of a close fault",
        ),
        of(
            "collapsed.finer",
            FINER.to_string(),
            "edges are found to this part of how far chance moves them: it adds no more than that to their margin",
        ),
        of(
            "collapsed.coarse",
            COARSE.to_string(),
            "before it is known how far chance moves them, edges are found to this part of the restart",
        ),
        of(
            "collapsed.around",
            ns(AROUND),
            "how far off an edge is looked for again after a shorter first fault; twice what it is known to if that is more",
        ),
        of(
            "collapsed.waits",
            ns(WAITS),
            "a restart that a second fault makes later by less does not wait for it; twice the spread if that is more",
        ),
        of(
            "collapsed.open",
            format!("{OPEN}"),
            "where chance decides for a greater share of a restart, the scenario is refused",
        ),
        of(
            "collapsed.openFor",
            ns((OPEN_S * 1e9) as u64),
            "and for longer: of a shorter time the close faults are counted instead",
        ),
        of(
            "collapsed.uneven",
            format!("{UNEVEN}"),
            "a check fails if the levels differ by more than this share of the restarts on average, as surely as 95 %",
        ),
    ]
}
