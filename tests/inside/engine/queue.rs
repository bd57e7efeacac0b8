//! Unit tests of `sim_engine::queue`.

use super::*;
use crate::cases::cases;
use proptest::prelude::*;
use sim_base::{JobId, JobSetId};
use std::collections::BTreeSet;

/// Returns delays of all magnitudes, from zero to centuries, many of them equal.
fn any_delay() -> impl Strategy<Value = u64> {
    (0..58u32, 0..4u64).prop_map(|(bits, n)| n << bits)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(12, 64) as u32, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn events_leave_by_time_then_class_then_sequence(
        steps in prop::collection::vec((any_delay(), 0..3u32), 1..400),
    ) {
        let mut queue = EventQueue::default();
        for _ in 0..2 {
            queue.clear();
            let mut waiting = BTreeSet::new();
            let mut now = 0;
            for (i, &(delay, pops)) in steps.iter().enumerate() {
                let i = i as u32;
                let event = match delay % 3 {
                    0 => SimulationEvent::Submit(JobSetId(i)),
                    _ => SimulationEvent::JobDue(JobId(i)),
                };
                queue.push_with_ticket(SimTime(now + delay), event, i, i + 1);
                waiting.insert((now + delay, event.class(), i));
                for _ in 0..pops {
                    prop_assert_eq!(queue.next_at(), waiting.first().map(|(at, ..)| SimTime(*at)));
                    let popped = queue.pop().map(|(at, event, cause, ticket)| {
                        assert_eq!(ticket, cause + 1);
                        (at.0, event.class(), cause)
                    });
                    prop_assert_eq!(popped, waiting.pop_first());
                    now = popped.map_or(now, |p| p.0);
                }
                prop_assert_eq!(queue.len(), waiting.len());
                for class in [0, 3] {
                    let first = waiting.iter().find(|(_, each, _)| *each == class);
                    let found = queue.first_at(|_, event| event.class() == class);
                    prop_assert_eq!(found.map(|at| at.0), first.map(|(at, ..)| *at));
                }
            }
            let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(t, e, c, _)| (t.0, e.class(), c)).collect();
            prop_assert_eq!(rest, waiting.into_iter().collect::<Vec<_>>());
            prop_assert!(queue.is_empty());
        }
    }
}

#[test]
fn a_pending_event_takes_32_bytes() {
    assert_eq!(size_of::<PendingEvent>(), 32);
}

#[test]
fn an_event_at_the_end_of_time_and_one_before_now_leave_in_order() {
    let mut queue = EventQueue::default();
    let [late, last] = [SimTime(1 << 40), SimTime(u64::MAX)];
    queue.push(last, SimulationEvent::MonitorTick, 1);
    queue.push(late, SimulationEvent::MonitorTick, 2);
    assert_eq!(queue.pop().map(|p| p.2), Some(2));
    queue.push(SimTime(7), SimulationEvent::MonitorTick, 3);
    assert_eq!(queue.pop().map(|p| (p.0, p.2)), Some((SimTime(7), 3)));
    assert_eq!(queue.pop().map(|p| (p.0, p.2)), Some((last, 1)));
}
