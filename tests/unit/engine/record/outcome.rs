//! Tests of `sim_engine::record::outcome`.

use sim_base::*;
use sim_engine::record::outcome::*;
#[test]
fn what_was_busy_between_two_instants_is_the_overlap_of_each_span() {
    let at = |s: u64| SimTime(s * 1_000_000_000);
    let usage = ResourceUsage {
        resource: LedgerResource::JobControllerClient,
        capacity: String::new(),
        requests: 0,
        busy: vec![(at(1), at(3)), (at(5), at(6)), (at(8), at(20))],
        longest_queue: 0,
    };
    for (from, to, expected) in
        [(0, 1, 0), (0, 2, 1), (2, 9, 3), (3, 5, 0), (5, 6, 1), (10, 12, 2), (0, 30, 15), (20, 30, 0)]
    {
        let busy = usage.busy_within(at(from), at(to));
        assert_eq!(busy, Duration::from_secs(expected), "{from} to {to}");
    }
}
