//! Tests of `sim_analysis::metrics::timeline`.

use sim_analysis::metrics::timeline::*;
use sim_base::*;
use sim_engine::record::SegmentOutcome;
fn at(s: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(s)
}

fn stretch(since: u64, until: u64, before: u64, productive: u64) -> SegmentOutcome {
    SegmentOutcome {
        start: at(since),
        end: at(until),
        productive: Duration::from_secs(productive),
        lost: Duration::ZERO,
        rendezvous: Duration::from_secs(before),
        restore: Duration::ZERO,
        redo: Duration::ZERO,
        suspended: Duration::ZERO,
    }
}

#[test]
fn goodput_and_time_at_work_are_those_of_the_stretches_until_then() {
    // The job is down from 110 to 210. The first 10 s are startup; 60 of 90 s and 190 of 190 s of steps are
    // productive.
    let segments = [stretch(10, 110, 10, 60), stretch(210, 400, 0, 190)];
    let job = JobTimeline::new(at(400), &segments);
    let secs = Duration::from_secs;
    assert_eq!(job.length(), secs(390));
    for (after, goodput) in [(10, 0.0), (55, 30.0 / 55.0), (100, 0.6), (200, 0.3), (390, 250.0 / 390.0)] {
        assert!((job.goodput(secs(after)) - goodput).abs() < 1e-12, "{after}");
    }
    assert_eq!(job.goodput(secs(5000)), job.goodput(secs(390)));
    for (from, to, share) in
        [(0, 100, Some(1.0)), (50, 150, Some(0.5)), (120, 180, Some(0.0)), (350, 430, Some(1.0)), (390, 400, None)]
    {
        assert_eq!(job.at_work(secs(from), secs(to)), share, "{from} to {to}");
    }
}
