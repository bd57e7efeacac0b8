//! Tests of `sim_analysis::metrics::queue_lengths`.

use sim_analysis::metrics::queue_lengths::*;
use sim_base::*;
use sim_engine::record::{Call, LedgerResource, NO_TICKET, RecordSink, TicketSubject, TicketWait, WorkTicket};
#[test]
fn only_waiting_requests_are_counted_as_queued() {
    let s = |n: u64| SimTime(n * 1_000_000_000);
    let mut queued = QueuedWork::new((0..10).map(s).collect());
    for (id, from, granted, to) in [(0, 1, 4, 9), (1, 2, 2, 8), (2, 2, 3, 3), (3, 8, 20, 20)] {
        queued.ticket(&WorkTicket {
            id,
            parent: NO_TICKET,
            from: s(from),
            granted: s(granted),
            to: s(to),
            in_flight: 0,
            wait: TicketWait::Request(Call::JobPodCreate),
            subject: TicketSubject::Nothing,
        });
    }
    let client = LedgerResource::JobControllerClient;
    assert_eq!(queued.queue_lengths(client), [(1, 1), (2, 2), (3, 1), (4, 0), (8, 1)]);
    assert_eq!(queued.queue_lengths(LedgerResource::NodeRequests), []);
}
