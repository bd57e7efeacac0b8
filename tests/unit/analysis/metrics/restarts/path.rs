//! Tests of `sim_analysis::metrics::restarts::path`.

use PathPart::*;
use proptest::prelude::*;
use sim_analysis::metrics::restarts::path::*;
use sim_base::*;
use sim_engine::record::{Call, NO_TICKET, TicketSubject, TicketWait, WorkTicket};
fn ticket(id: u32, parent: u32, from: u64, to: u64, waited: TicketWait) -> WorkTicket {
    WorkTicket {
        id,
        parent,
        from: SimTime(from),
        granted: SimTime(from),
        to: SimTime(to),
        in_flight: 0,
        wait: waited,
        subject: TicketSubject::Nothing,
    }
}

fn request(id: u32, parent: u32, from: u64, granted: u64, to: u64) -> WorkTicket {
    let granted = SimTime(granted);
    let waited = TicketWait::Request(Call::JobPodCreate);
    WorkTicket { granted, ..ticket(id, parent, from, to, waited) }
}

/// Returns the path from the last ticket back to `start`, as (from, to, part).
fn walk(tickets: &[WorkTicket], start: u64) -> Vec<(u64, u64, PathPart)> {
    let last = tickets[tickets.len() - 1];
    let find = |id: u32| tickets.iter().find(|t| t.id == id);
    let path = CriticalPath::walk(find, last.id, SimTime(start), last.to);
    let step = |s: &PathStep| (s.from.0, s.to.0, s.part);
    path.steps.iter().map(step).collect()
}

#[test]
fn a_request_gives_a_step_for_its_token_and_one_for_its_answer_and_empty_steps_are_left_out() {
    let tickets = [
        ticket(0, NO_TICKET, 0, 100, TicketWait::Running),
        ticket(1, 0, 100, 110, TicketWait::Pleg),
        request(2, 1, 110, 150, 152),
        ticket(3, 2, 152, 152, TicketWait::Watch),
        request(4, 3, 152, 152, 160),
    ];
    let expected = [(100, 110, Whole), (110, 150, Token), (150, 152, Answer), (152, 160, Answer)];
    assert_eq!(walk(&tickets, 100), expected);
}

#[test]
fn the_first_step_is_cut_at_the_start_wherever_that_lies() {
    let tickets = [
        ticket(0, NO_TICKET, 0, 50, TicketWait::Script),
        request(1, 0, 50, 80, 90),
        ticket(2, 1, 90, 100, TicketWait::Grace),
    ];
    assert_eq!(walk(&tickets, 95), [(95, 100, Whole)]);
    assert_eq!(walk(&tickets, 85), [(85, 90, Answer), (90, 100, Whole)]);
    let in_token = [(60, 80, Token), (80, 90, Answer), (90, 100, Whole)];
    assert_eq!(walk(&tickets, 60), in_token);
    assert_eq!(walk(&tickets, 100), []);
}

#[test]
fn a_wait_that_began_without_a_cause_or_after_forgotten_ones_takes_what_is_left() {
    // A root ticket of the script begins at 0; the restart begins in the middle of it.
    let script = [ticket(7, NO_TICKET, 0, 70, TicketWait::Script), ticket(8, 7, 70, 90, TicketWait::Grace)];
    assert_eq!(walk(&script, 40), [(40, 70, Whole), (70, 90, Whole)]);
    // Root tickets that began after the start of the restart.
    let late = [ticket(3, NO_TICKET, 60, 70, TicketWait::NodeMonitor), ticket(8, 3, 70, 90, TicketWait::Grace)];
    assert_eq!(walk(&late, 40), [(40, 70, Whole), (70, 90, Whole)]);
    assert_eq!(walk(&[request(8, 5, 70, 80, 90)], 40), [(40, 80, Token), (80, 90, Answer)]);
    // The request did not wait for a token, so the rest of the path is not a token wait either.
    assert_eq!(walk(&[request(8, 5, 70, 70, 90)], 40), [(40, 90, Answer)]);
}

#[test]
fn path_terminates_on_cycles_and_without_tickets() {
    let tickets = [ticket(4, 4, 50, 60, TicketWait::Watch)];
    assert_eq!(walk(&tickets, 10), [(10, 60, Whole)]);
    let path = CriticalPath::walk(|_| None, NO_TICKET, SimTime(0), SimTime(9));
    assert_eq!(path, CriticalPath::default());
}

#[test]
fn missing_event_is_the_last_step() {
    let tickets = [ticket(0, NO_TICKET, 0, 60, TicketWait::Watch)];
    let mut path = CriticalPath::walk(|_| tickets.first(), 0, SimTime(10), SimTime(60));
    path.leave_open(SimTime(10), SimTime(100), TicketSubject::Nothing);
    assert_eq!(path.total(), Duration(90));
    assert_eq!(path.steps[1].part, Open);
    let mut nothing = CriticalPath::default();
    nothing.leave_open(SimTime(10), SimTime(100), TicketSubject::Nothing);
    assert_eq!(nothing.total(), Duration(90));
}

/// Generates lengths of waits, the part of each that is a token wait, and the start of the restart.
fn chains() -> impl Strategy<Value = (Vec<(u64, u64, bool)>, u64)> {
    let wait = (0..50u64, 0..60u64, any::<bool>());
    (proptest::collection::vec(wait, 1..40), 0..2000u64)
}

proptest! {
    #[test]
    fn whatever_the_waits_are_their_path_is_the_restart((waits, start) in chains(), first in 0..30u32) {
        let mut at = 100;
        let mut tickets = Vec::new();
        for (i, &(length, token, is_request)) in waits.iter().enumerate() {
            // Ids have gaps. The chain begins with a root ticket or with an unknown parent.
            let (id, parent) = (first + 3 * i as u32 + 1, (first + 3 * i as u32).wrapping_sub(2));
            let to = at + length;
            tickets.push(if is_request {
                request(id, parent, at, at + token.min(length), to)
            } else {
                ticket(id, parent, at, to, TicketWait::Watch)
            });
            at = to;
        }
        let start = start.min(at);
        let steps = walk(&tickets, start);
        let sum: u64 = steps.iter().map(|(from, to, _)| to - from).sum();
        prop_assert_eq!(sum, at - start);
        let mut cursor = start;
        for (from, to, _) in steps {
            prop_assert!(from == cursor && to > from);
            cursor = to;
        }
    }
}
