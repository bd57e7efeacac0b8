//! Merges overlapping outages of nodes that fail together (a cell): the nodes are lost at the first fault and return
//! when the last repair ends. Maintenance has separate actions, because a drained node still runs.

use super::fault::{FaultOperation, FaultScope, InjectedFault};
use sim_base::{CellId, Duration};

/// One fault of a node and its repair.
#[derive(Clone, Debug)]
pub struct NodeOutage {
    pub start: Duration,
    /// End of the repair; `None` means never repaired.
    pub end: Option<Duration>,
    pub cause: u32,
    pub kind: OutageKind,
    pub as_new: bool,
    /// Time at which its Node is deleted if it has not returned.
    pub deleted: Option<Duration>,
}

/// Severity of a node's outage, in ascending order.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutageKind {
    /// Cordoned: no new pods are placed there.
    Announced,
    Drained,
    OutOfReach,
    Crashed,
}

/// A lost node.
struct DownTarget {
    until: Option<Duration>,
    /// The process whose repair ends last.
    cause: u32,
    kind: OutageKind,
    as_new: bool,
    deleted: Option<Duration>,
}

/// The actions on the nodes of a cell until `stop`, for outages sorted by start.
pub fn outage_actions<'a>(
    cell: CellId, outages: impl Iterator<Item = &'a NodeOutage>, stop: Duration, all: &mut Vec<InjectedFault>,
) {
    let mut down: Option<DownTarget> = None;
    for outage in outages {
        if let Some(back) = down.take_if(|d| d.until.is_some_and(|until| until <= outage.start)) {
            all.extend(return_actions(cell, &back, stop));
        }
        if down.as_ref().is_none_or(|d| d.kind < outage.kind) {
            all.push(loss_action(cell, outage));
        }
        let now = down.get_or_insert(DownTarget {
            until: outage.end,
            cause: outage.cause,
            kind: outage.kind,
            as_new: outage.as_new,
            deleted: None,
        });
        now.deleted = [now.deleted, outage.deleted].into_iter().flatten().min();
        now.kind = now.kind.max(outage.kind);
        let later = match (now.until, outage.end) {
            (Some(until), Some(end)) => end > until,
            (until, _) => until.is_some(),
        };
        if later {
            (now.until, now.cause, now.as_new) = (outage.end, outage.cause, outage.as_new);
        }
    }
    all.extend(down.iter().flat_map(|back| return_actions(cell, back, stop)));
}

fn loss_action(cell: CellId, outage: &NodeOutage) -> InjectedFault {
    InjectedFault {
        at: outage.start,
        target: FaultScope::Cell(cell),
        operation: match outage.kind {
            OutageKind::Crashed => FaultOperation::Crash,
            OutageKind::OutOfReach => FaultOperation::Partition,
            OutageKind::Drained => FaultOperation::Drain,
            OutageKind::Announced => FaultOperation::Cordon,
        },
        cause: outage.cause,
    }
}

/// The end of an outage: the Node may be deleted, and the node returns.
fn return_actions(cell: CellId, down: &DownTarget, stop: Duration) -> impl Iterator<Item = InjectedFault> {
    let deleted = down.deleted.filter(|at| down.until.is_none_or(|until| *at < until));
    let back = match down.kind {
        OutageKind::Announced | OutageKind::Drained => FaultOperation::Uncordon,
        _ if down.as_new || deleted.is_some() => FaultOperation::New,
        _ => FaultOperation::Return,
    };
    let cause = down.cause;
    let all = [(deleted, FaultOperation::Delete), (down.until, back)];
    all.into_iter().filter_map(move |(at, does)| {
        Some(InjectedFault { at: at.filter(|at| *at <= stop)?, target: FaultScope::Cell(cell), operation: does, cause })
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/faults/outages.rs"]
mod tests;
