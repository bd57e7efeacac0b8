//! Unit tests of `sim_analysis::metrics::restarts::tickets`.

use super::*;
use sim_engine::record::{NO_TICKET, TicketSubject, TicketWait};

fn ticket(id: u32, parent: u32, from: u64, to: u64) -> WorkTicket {
    WorkTicket {
        id,
        parent,
        from: SimTime(from),
        granted: SimTime(from),
        to: SimTime(to),
        in_flight: 0,
        wait: TicketWait::Watch,
        subject: TicketSubject::Nothing,
    }
}

fn ids(tickets: &TicketIndex) -> Vec<u32> {
    tickets.iter().map(|t| t.id).collect()
}

#[test]
fn what_ended_before_the_horizon_is_forgotten_and_what_continues_is_not() {
    let mut tickets = TicketIndex::default();
    for t in [ticket(1, NO_TICKET, 0, 10), ticket(2, 1, 10, 500), ticket(4, 1, 10, 20), ticket(5, 4, 20, 30)] {
        tickets.push(&t);
    }
    tickets.drop_before(SimTime(20), &[]);
    assert_eq!(ids(&tickets), [2, 4, 5]);
    assert!(tickets.find(1).is_none() && tickets.find(3).is_none());
    assert_eq!(tickets.find(4).map(|t| t.to), Some(SimTime(20)));
}

#[test]
fn too_many_are_kept_only_where_they_lead_up_to_newer_ones_or_to_an_end() {
    let mut tickets = TicketIndex { many: 8, ..TicketIndex::default() };
    // Two chains from one root: even ids and odd ids. The odd chain stops early.
    for id in 0..12u32 {
        let parent = id.checked_sub(2).unwrap_or(NO_TICKET);
        let older = if id % 2 == 1 && id > 5 { id - 1 } else { parent };
        tickets.push(&ticket(id, older, u64::from(id), 100));
    }
    let mut with_end = TicketIndex { many: 8, kept: tickets.kept.clone(), last: 0 };
    tickets.drop_before(SimTime::ZERO, &[]);
    assert_eq!(ids(&tickets), [0, 2, 4, 6, 7, 8, 9, 10, 11]);
    with_end.drop_before(SimTime::ZERO, &[3]);
    assert_eq!(ids(&with_end), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
}
