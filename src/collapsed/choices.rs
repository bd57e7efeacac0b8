//! How exactly the collapsed level measures: choices, not facts. Each says why; `assumptions` lists them.

use crate::base::Duration;

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
/// So far from a straight line is still on it.
pub const NEARLY: u64 = 100_000_000;
/// How near an edge is found.
pub const NEAR: u64 = 50_000_000;
/// After another first fault an edge is looked for so far from where it should be.
pub const AROUND: u64 = 3_000_000_000;
/// A restart that is later than this because of a second fault waits for it.
pub const WAITS: u64 = 10_000_000_000;
/// Where chance decides for more than this share of a restart, the pair is not modelled.
pub const OPEN: f64 = 0.2;
/// And for longer than this, in seconds.
pub const OPEN_S: f64 = 120.0;

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
            "collapsed.nearly",
            ns(NEARLY),
            "off a straight line by less is on it; plays of one kind differ by more",
        ),
        of(
            "collapsed.near",
            ns(NEAR),
            "edges are found to this, which is the least margin of a close fault",
        ),
        of(
            "collapsed.around",
            ns(AROUND),
            "how far off an edge is looked for again after a shorter first fault",
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
    ]
}
