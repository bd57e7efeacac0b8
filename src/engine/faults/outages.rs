//! Outages of nodes that fail together (a cell) that overlap: they are lost at the first fault, and back when the last
//! repair is over. Maintenance has a script of its own: a drained node still runs.

use super::fault::{Does, Fault, On};
use sim_base::{CellId, Duration};

/// One fault of a node and its repair.
#[derive(Clone, Debug)]
pub struct Outage {
    pub start: Duration,
    /// None: it never comes back.
    pub end: Option<Duration>,
    pub cause: u32,
    pub how: How,
    pub as_new: bool,
    /// When its Node is deleted, if it is not back by then.
    pub deleted: Option<Duration>,
}

/// How much of a node is lost: less first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Nothing new is put there.
    Announced,
    Drained,
    OutOfReach,
    Crashed,
}

/// A node that is lost.
struct Down {
    until: Option<Duration>,
    /// Whose repair ends last.
    cause: u32,
    how: How,
    as_new: bool,
    deleted: Option<Duration>,
}

/// What happens to the nodes of a cell until `stop`, of its outages in the order of their start.
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

/// The end of a node that is lost: its Node may be deleted, and then or else it comes back.
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
