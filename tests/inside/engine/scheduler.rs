//! Tests of the scheduler's queues and its search.

use super::cycle::feasible_nodes_to_find;
use super::queues::SchedulingQueues;
use crate::ctx::ContextMark;
use sim_base::*;

#[test]
fn the_scheduler_looks_for_as_many_feasible_nodes_as_kubernetes_does() {
    for (nodes, wanted) in [(50, 50), (100, 100), (1_000, 420), (5_000, 500), (15_000, 750)] {
        assert_eq!(feasible_nodes_to_find(nodes), wanted, "{nodes} nodes");
    }
}

#[test]
fn pods_leave_by_priority_and_then_by_age() {
    let mut queues = SchedulingQueues::default();
    for (pod, priority) in [(0, 0), (1, 10), (2, 0), (3, 10)] {
        queues.activate(PodId(pod), priority, ContextMark::default());
    }
    let order: Vec<u32> = std::iter::from_fn(|| queues.pop()).map(|(p, _)| p.0).collect();
    assert_eq!(order, [1, 3, 0, 2]);
}

#[test]
fn back_off_doubles_from_one_second_to_ten() {
    let mut queues = SchedulingQueues::default();
    let mut waits = Vec::new();
    for _ in 0..6 {
        let mut woken = Vec::new();
        queues.mark_unschedulable((PodId(0), 1), TextId(0), ContextMark::default());
        queues.move_to_backoff(SimTime::ZERO, &mut woken);
        waits.push(woken[0].2.seconds());
        assert!(queues.leave_backoff(PodId(0)), "it was in its back-off");
    }
    assert_eq!(waits, [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]);
}

#[test]
fn a_pod_in_back_off_is_taken_early_when_nothing_else_waits() {
    let mut queues = SchedulingQueues::default();
    queues.mark_unschedulable((PodId(5), 1), TextId(0), ContextMark::default());
    queues.move_to_backoff(SimTime::ZERO, &mut Vec::new());
    queues.activate(PodId(6), 0, ContextMark::default());
    let order: Vec<u32> = std::iter::from_fn(|| queues.pop()).map(|(p, _)| p.0).collect();
    assert_eq!(order, [6, 5]);
}
