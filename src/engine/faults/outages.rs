//! Merges overlapping outages of nodes that fail together (a cell): the nodes are lost at the first fault and return
//! when the last repair ends. Maintenance has separate actions, because a drained node still runs.

use super::fault::{Does, Fault, On};
use sim_base::{CellId, Duration};

/// One fault of a node and its repair.
#[derive(Clone, Debug)]
pub struct Outage {
    pub start: Duration,
    /// End of the repair; `None` means never repaired.
    pub end: Option<Duration>,
    pub cause: u32,
    pub how: How,
    pub as_new: bool,
    /// Time at which its Node is deleted if it has not returned.
    pub deleted: Option<Duration>,
}

/// Severity of a node's outage, in ascending order.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Cordoned: no new pods are placed there.
    Announced,
    Drained,
    OutOfReach,
    Crashed,
}

/// A lost node.
struct Down {
    until: Option<Duration>,
    /// The process whose repair ends last.
    cause: u32,
    how: How,
    as_new: bool,
    deleted: Option<Duration>,
}

/// The actions on the nodes of a cell until `stop`, for outages sorted by start.
pub fn script<'a>(
    cell: CellId,
    outages: impl Iterator<Item = &'a Outage>,
    stop: Duration,
    all: &mut Vec<Fault>,
) {
    let mut down: Option<Down> = None;
    for outage in outages {
        if let Some(back) = down.take_if(|d| d.until.is_some_and(|until| until <= outage.start)) {
            all.extend(returns(cell, &back, stop));
        }
        if down.as_ref().is_none_or(|d| d.how < outage.how) {
            all.push(lost(cell, outage));
        }
        let now = down.get_or_insert(Down {
            until: outage.end,
            cause: outage.cause,
            how: outage.how,
            as_new: outage.as_new,
            deleted: None,
        });
        now.deleted = [now.deleted, outage.deleted].into_iter().flatten().min();
        now.how = now.how.max(outage.how);
        let later = match (now.until, outage.end) {
            (Some(until), Some(end)) => end > until,
            (until, _) => until.is_some(),
        };
        if later {
            (now.until, now.cause, now.as_new) = (outage.end, outage.cause, outage.as_new);
        }
    }
    all.extend(down.iter().flat_map(|back| returns(cell, back, stop)));
}

fn lost(cell: CellId, outage: &Outage) -> Fault {
    Fault {
        at: outage.start,
        on: On::Cell(cell),
        does: match outage.how {
            How::Crashed => Does::Crash,
            How::OutOfReach => Does::Partition,
            How::Drained => Does::Drain,
            How::Announced => Does::Cordon,
        },
        cause: outage.cause,
    }
}

/// The end of an outage: the Node may be deleted, and the node returns.
fn returns(cell: CellId, down: &Down, stop: Duration) -> impl Iterator<Item = Fault> {
    let deleted = down
        .deleted
        .filter(|at| down.until.is_none_or(|until| *at < until));
    let back = match down.how {
        How::Announced | How::Drained => Does::Uncordon,
        _ if down.as_new || deleted.is_some() => Does::New,
        _ => Does::Return,
    };
    let cause = down.cause;
    let all = [(deleted, Does::Delete), (down.until, back)];
    all.into_iter().filter_map(move |(at, does)| {
        Some(Fault {
            at: at.filter(|at| *at <= stop)?,
            on: On::Cell(cell),
            does,
            cause,
        })
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/faults/outages.rs"]
mod tests;
