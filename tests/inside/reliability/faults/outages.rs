//! Unit tests of `sim_reliability::faults::outages`.

use super::*;

fn outage(start: u64, end: Option<u64>, process: u32, how: impl Into<OutageKind>) -> NodeOutage {
    NodeOutage {
        start: Duration::from_secs(start),
        end: end.map(Duration::from_secs),
        cause: process,
        kind: how.into(),
        as_new: false,
        deleted: None,
    }
}

fn deleted(at: u64, outage: NodeOutage) -> NodeOutage {
    let deleted = Some(Duration::from_secs(at));
    NodeOutage { deleted, ..outage }
}

impl From<bool> for OutageKind {
    fn from(crashed: bool) -> OutageKind {
        if crashed { OutageKind::Crashed } else { OutageKind::OutOfReach }
    }
}

fn describe(outages: Vec<NodeOutage>) -> Vec<String> {
    let word = |fault: InjectedFault| {
        let what = match fault.operation {
            FaultOperation::Crash => "crash",
            FaultOperation::Partition => "partition",
            FaultOperation::Return => "return",
            FaultOperation::Drain => "drain",
            FaultOperation::Cordon => "cordon",
            FaultOperation::Delete => "delete",
            FaultOperation::New => "new",
            FaultOperation::Uncordon => "uncordon",
            _ => "?",
        };
        format!("{what} {} by {}", fault.at.seconds(), fault.cause)
    };
    let mut all = Vec::new();
    outage_actions(CellId(0), outages.iter(), Duration::from_secs(100), &mut all);
    all.into_iter().map(word).collect()
}

#[test]
fn a_node_is_back_when_the_last_of_its_repairs_is_over() {
    for (outages, expected) in [
        (
            vec![outage(1, Some(2), 0, true), outage(5, Some(6), 1, true)],
            vec!["crash 1 by 0", "return 2 by 0", "crash 5 by 1", "return 6 by 1"],
        ),
        (vec![outage(1, Some(9), 0, true), outage(5, Some(6), 1, true)], vec!["crash 1 by 0", "return 9 by 0"]),
        (vec![outage(1, Some(6), 0, true), outage(5, Some(9), 1, true)], vec!["crash 1 by 0", "return 9 by 1"]),
        (
            vec![outage(1, Some(9), 0, false), outage(5, Some(6), 1, true)],
            vec!["partition 1 by 0", "crash 5 by 1", "return 9 by 0"],
        ),
        (
            vec![outage(1, Some(4), 0, OutageKind::Drained), outage(3, Some(7), 1, OutageKind::Drained)],
            vec!["drain 1 by 0", "uncordon 7 by 1"],
        ),
        (
            vec![outage(1, Some(7), 0, OutageKind::Announced), outage(3, Some(7), 0, OutageKind::Drained)],
            vec!["cordon 1 by 0", "drain 3 by 0", "uncordon 7 by 0"],
        ),
        (
            vec![deleted(3, outage(1, Some(9), 0, true)), deleted(15, outage(11, Some(14), 0, true))],
            vec!["crash 1 by 0", "delete 3 by 0", "new 9 by 0", "crash 11 by 0", "return 14 by 0"],
        ),
        (vec![deleted(3, outage(1, None, 0, true))], vec!["crash 1 by 0", "delete 3 by 0"]),
        (vec![outage(1, None, 0, true), outage(5, Some(6), 1, true)], vec!["crash 1 by 0"]),
        (vec![outage(1, Some(6), 0, true), outage(5, None, 1, true)], vec!["crash 1 by 0"]),
        (vec![outage(1, Some(200), 0, true)], vec!["crash 1 by 0"]),
    ] {
        assert_eq!(describe(outages), expected);
    }
}
