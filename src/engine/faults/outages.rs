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
mod tests {
    use super::*;

    fn outage(start: u64, end: Option<u64>, process: u32, how: impl Into<How>) -> Outage {
        Outage {
            start: Duration::from_secs(start),
            end: end.map(Duration::from_secs),
            cause: process,
            how: how.into(),
            as_new: false,
            deleted: None,
        }
    }

    fn deleted(at: u64, outage: Outage) -> Outage {
        let deleted = Some(Duration::from_secs(at));
        Outage { deleted, ..outage }
    }

    impl From<bool> for How {
        fn from(crashed: bool) -> How {
            if crashed {
                How::Crashed
            } else {
                How::OutOfReach
            }
        }
    }

    fn told(outages: Vec<Outage>) -> Vec<String> {
        let word = |fault: Fault| {
            let what = match fault.does {
                Does::Crash => "crash",
                Does::Partition => "partition",
                Does::Return => "return",
                Does::Drain => "drain",
                Does::Cordon => "cordon",
                Does::Delete => "delete",
                Does::New => "new",
                Does::Uncordon => "uncordon",
                _ => "?",
            };
            format!("{what} {} by {}", fault.at.seconds(), fault.cause)
        };
        let mut all = Vec::new();
        script(
            CellId(0),
            outages.iter(),
            Duration::from_secs(100),
            &mut all,
        );
        all.into_iter().map(word).collect()
    }

    #[test]
    fn a_node_is_back_when_the_last_of_its_repairs_is_over() {
        for (outages, expected) in [
            (
                vec![outage(1, Some(2), 0, true), outage(5, Some(6), 1, true)],
                vec![
                    "crash 1 by 0",
                    "return 2 by 0",
                    "crash 5 by 1",
                    "return 6 by 1",
                ],
            ),
            (
                vec![outage(1, Some(9), 0, true), outage(5, Some(6), 1, true)],
                vec!["crash 1 by 0", "return 9 by 0"],
            ),
            (
                vec![outage(1, Some(6), 0, true), outage(5, Some(9), 1, true)],
                vec!["crash 1 by 0", "return 9 by 1"],
            ),
            (
                vec![outage(1, Some(9), 0, false), outage(5, Some(6), 1, true)],
                vec!["partition 1 by 0", "crash 5 by 1", "return 9 by 0"],
            ),
            (
                vec![
                    outage(1, Some(4), 0, How::Drained),
                    outage(3, Some(7), 1, How::Drained),
                ],
                vec!["drain 1 by 0", "uncordon 7 by 1"],
            ),
            (
                vec![
                    outage(1, Some(7), 0, How::Announced),
                    outage(3, Some(7), 0, How::Drained),
                ],
                vec!["cordon 1 by 0", "drain 3 by 0", "uncordon 7 by 0"],
            ),
            (
                vec![
                    deleted(3, outage(1, Some(9), 0, true)),
                    deleted(15, outage(11, Some(14), 0, true)),
                ],
                vec![
                    "crash 1 by 0",
                    "delete 3 by 0",
                    "new 9 by 0",
                    "crash 11 by 0",
                    "return 14 by 0",
                ],
            ),
            (
                vec![deleted(3, outage(1, None, 0, true))],
                vec!["crash 1 by 0", "delete 3 by 0"],
            ),
            (
                vec![outage(1, None, 0, true), outage(5, Some(6), 1, true)],
                vec!["crash 1 by 0"],
            ),
            (
                vec![outage(1, Some(6), 0, true), outage(5, None, 1, true)],
                vec!["crash 1 by 0"],
            ),
            (vec![outage(1, Some(200), 0, true)], vec!["crash 1 by 0"]),
        ] {
            assert_eq!(told(outages), expected);
        }
    }
}
