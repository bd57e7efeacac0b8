//! How exactly the collapsed level measures: choices, not facts. Each says why; `sensitivity` lists them.

use sim_base::Duration;

/// Plays of each point of a curve.
pub const PLAYS: u64 = 5;
/// How many times edges are looked for, each with other numbers and other nodes.
pub const LOOKS: u64 = 3;
/// A whole JobSet has started by then, or it is refused.
pub const STARTUP: Duration = Duration::from_secs(7200);
/// Between the first start and the fault that is tried.
pub const CALM: Duration = Duration::from_secs(300);
/// How long a play goes on after everything that was scripted.
pub const AFTERWARDS: Duration = Duration::from_secs(3600);
/// Times away are told apart as finely as this, in nanoseconds.
pub const FINEST: u64 = 500_000_000;
/// So many plays say whether a point lies on a straight line.
pub const CHECKS: u64 = 2;
/// A restart time may be off by this share of it, or for this share of faults by more.
pub const OFF: f64 = 0.001;
/// For this share of faults nobody knows what they do, because nobody looked finer.
pub const ODD: f64 = 0.0001;
/// How near an edge is found, at best.
pub const NEAR: u64 = 50_000_000;
/// Edges are found as exactly as this share of what chance moves them by.
pub const FINER: u64 = 8;
/// At first an edge is found to this part of the restart.
pub const COARSE: u64 = 128;
/// After another first fault an edge is looked for so far from where it should be, at least.
pub const AROUND: u64 = 3_000_000_000;
/// A restart that is later than this because of a second fault waits for it.
pub const WAITS: u64 = 10_000_000_000;
/// Where chance decides for more than this share of a restart, the pair is not modelled.
pub const OPEN: f64 = 0.2;
/// And for longer than this, in seconds.
pub const OPEN_S: f64 = 120.0;
/// Replications with close faults differ, and may not by more restarts than this share of them on average.
pub const UNEVEN: f64 = 0.01;

/// One of them, as it is told.
pub struct Choice {
    /// Its name.
    pub id: &'static str,
    /// As it would be written.
    pub value: String,
    /// Why.
    pub why: &'static str,
}

/// All of them.
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
