//! Tests of `sim_analysis::metrics::queued`.

use sim_analysis::metrics::queued::*;
use sim_base::*;
use sim_engine::record::{About, Call, NO_TICKET, Resource, Sink, Ticket, Waited};
#[test]
fn whoever_waits_at_an_instant_is_counted_and_who_is_served_is_not() {
    let s = |n: u64| Time(n * 1_000_000_000);
    let mut queued = Queued::new((0..10).map(s).collect());
    for (id, from, granted, to) in [(0, 1, 4, 9), (1, 2, 2, 8), (2, 2, 3, 3), (3, 8, 20, 20)] {
        queued.ticket(&Ticket {
            id,
            parent: NO_TICKET,
            from: s(from),
            granted: s(granted),
            to: s(to),
            waited: Waited::Request(Call::JobPodCreate),
            about: About::Nothing,
        });
    }
    let client = Resource::JobControllerClient;
    assert_eq!(queued.of(client), [(1, 1), (2, 2), (3, 1), (4, 0), (8, 1)]);
    assert_eq!(queued.of(Resource::NodeRequests), []);
}
