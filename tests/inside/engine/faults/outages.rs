//! Unit tests of `sim_engine::faults::outages`.

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
