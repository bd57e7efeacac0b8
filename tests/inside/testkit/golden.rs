//! Unit tests of `sim_testkit::golden`.

use super::*;
use crate::records;
use sim_base::JobSetId;
use sim_engine::record::NO_CAUSE;
use sim_engine::record::NO_TICKET;

#[test]
fn pods_are_counted_per_second_and_everything_else_has_a_line() {
    let mut golden = GoldenLog::new();
    for r in records::records(&records::recreate()) {
        golden.record(&r, &records::names());
    }
    golden.report();
    let body: Vec<&str> = golden.text.lines().filter(|l| !l.starts_with('#')).collect();
    assert_eq!(body[0], "      0.000s  JobSetCreated             train");
    assert!(body.contains(&"      1.000s  +2 created"), "{body:#?}");
    assert!(body.contains(&"    100.000s  +1 exited (train-workers-0-1)"), "{body:#?}");
    assert!(
            body.contains(&"    107.000s  RestartCounted            train                         restarts=1 countTowardsMax=1 failedJob=train-workers-0"),
            "{body:#?}"
        );
}

#[test]
fn kinds_that_come_often_in_a_busy_second_are_counted_and_the_others_keep_their_lines() {
    let names = records::names();
    let output = |jobs: u32| {
        let mut golden = GoldenLog::new();
        let mut record = |body: Body| {
            golden
                .record(&SimulationRecord { seq: 0, cause: NO_CAUSE, ticket: NO_TICKET, at: SimTime(5), body }, &names);
        };
        for _ in 0..jobs {
            record(Body::JobGone { job: JobId(0) });
        }
        record(Body::JobSetDeleted { jobset: JobSetId(0) });
        record(Body::JobGone { job: JobId(0) });
        golden.report();
        let lines = golden.text.lines().filter(|l| !l.starts_with('#'));
        lines.map(|l| l.trim_start().to_owned()).collect::<Vec<_>>()
    };
    let busy = ["0.000s  +30 JobGone", "0.000s  JobSetDeleted             train", "0.000s  +1 JobGone"];
    assert_eq!(output(30), busy);
    assert_eq!(output(20).len(), 22);
}
