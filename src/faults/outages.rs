//! Outages of one node that overlap: it is lost at the first fault, and back when the last repair is over.

use crate::base::Duration;
use crate::spec::{FaultAction, FaultTime, NodeRef, ScriptedFault};
use std::sync::Arc;

/// One fault of a node and its repair.
#[derive(Clone, Debug)]
pub struct Outage {
    pub start: Duration,
    /// None: it never comes back.
    pub end: Option<Duration>,
    pub cause: Arc<str>,
    pub crash: bool,
    pub as_new: bool,
}

/// A node that is lost.
struct Down {
    until: Option<Duration>,
    /// Whose repair ends last.
    cause: Arc<str>,
    crashed: bool,
    as_new: bool,
}

/// What happens to the node until `stop`.
pub fn script(name: &str, mut outages: Vec<Outage>, stop: Duration) -> Vec<ScriptedFault> {
    // Stable: at one instant, in the order of the processes.
    outages.sort_by_key(|o| o.start);
    let mut all = Vec::new();
    let mut down: Option<Down> = None;
    for outage in outages {
        if let Some(back) = down.take_if(|d| d.until.is_some_and(|until| until <= outage.start)) {
            all.extend(returns(name, &back, stop));
        }
        let worse = outage.crash && down.as_ref().is_none_or(|d| !d.crashed);
        if worse || down.is_none() {
            all.push(lost(name, &outage));
        }
        let now = down.get_or_insert(Down {
            until: outage.end,
            cause: outage.cause.clone(),
            crashed: outage.crash,
            as_new: outage.as_new,
        });
        now.crashed |= outage.crash;
        let later = match (now.until, outage.end) {
            (Some(until), Some(end)) => end > until,
            (until, _) => until.is_some(),
        };
        if later {
            (now.until, now.cause, now.as_new) = (outage.end, outage.cause, outage.as_new);
        }
    }
    all.extend(down.iter().filter_map(|back| returns(name, back, stop)));
    all
}

fn reference(name: &str) -> NodeRef {
    NodeRef {
        name: Some(name.to_owned()),
        of_pod: None,
        alias: None,
    }
}

fn lost(name: &str, outage: &Outage) -> ScriptedFault {
    let node = reference(name);
    ScriptedFault {
        at: FaultTime::At(outage.start),
        action: match outage.crash {
            true => FaultAction::CrashNode(node),
            false => FaultAction::PartitionNode(node),
        },
        drawn_as: Some(outage.cause.clone()),
    }
}

fn returns(name: &str, down: &Down, stop: Duration) -> Option<ScriptedFault> {
    let at = down.until.filter(|until| *until <= stop)?;
    let node = reference(name);
    Some(ScriptedFault {
        at: FaultTime::At(at),
        action: match down.as_new {
            true => FaultAction::NewNode(node),
            false => FaultAction::ReturnNode(node),
        },
        drawn_as: Some(down.cause.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(start: u64, end: Option<u64>, process: u32, crash: bool) -> Outage {
        Outage {
            start: Duration::from_secs(start),
            end: end.map(Duration::from_secs),
            cause: process.to_string().into(),
            crash,
            as_new: false,
        }
    }

    fn told(outages: Vec<Outage>) -> Vec<String> {
        let word = |fault: ScriptedFault| {
            let what = match fault.action {
                FaultAction::CrashNode(_) => "crash",
                FaultAction::PartitionNode(_) => "partition",
                FaultAction::ReturnNode(_) => "return",
                _ => "?",
            };
            let FaultTime::At(at) = fault.at else {
                return String::new();
            };
            format!(
                "{what} {} by {}",
                at.seconds(),
                fault.drawn_as.as_deref().unwrap_or("?")
            )
        };
        script("n", outages, Duration::from_secs(100))
            .into_iter()
            .map(word)
            .collect()
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
