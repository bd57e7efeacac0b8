//! Tests of the scheduler's queues and its search.

use super::queues::{DecisionInputs, SchedulingQueues, WaitingKey};
use crate::ctx::ContextMark;
use sim_base::*;
use sim_scheduler::{Plugin, PluginSet, PodView, Profile};

#[test]
fn the_scheduler_looks_for_as_many_feasible_nodes_as_kubernetes_does() {
    for (nodes, wanted) in [(50, 50), (100, 100), (1_000, 420), (5_000, 500), (15_000, 750)] {
        assert_eq!(Profile::default().nodes_to_find(nodes), wanted, "{nodes} nodes");
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

/// Queues with the default back-off.
fn queues() -> SchedulingQueues {
    let mut queues = SchedulingQueues::default();
    queues.reset((1, 10));
    queues
}

const NEVER_HELPED: fn(&PluginSet, &PodView) -> bool = |_, _| false;

fn at_s(seconds: f64) -> SimTime {
    SimTime((seconds * 1e9) as u64)
}

/// A failed attempt at an instant.
fn fail(queues: &mut SchedulingQueues, pod: PodId, at: SimTime) -> bool {
    let mut mark = ContextMark::default();
    mark.at = at;
    queues.mark_unschedulable(pod, TextId(0), 0, mark).is_written
}

fn wait(queues: &mut SchedulingQueues, pod: PodId, plugin: Plugin) {
    let key = WaitingKey {
        job: JobId(0),
        incarnation: 1,
        template: TemplateId::NONE,
        is_leader: false,
        domain: DomainId::NONE,
        rejecting: PluginSet::from([plugin]),
    };
    queues.wait_for_event(key, (pod, 1), DecisionInputs::default(), PodView::default);
}

/// The back-off starts at the failed attempt. It ends with its window of one second.
#[test]
fn back_off_doubles_from_one_second_to_ten() {
    let mut queues = queues();
    let mut ends = Vec::new();
    for attempt in 0..6 {
        let failed_s = 100.0 * f64::from(attempt) + 0.3;
        fail(&mut queues, PodId(0), at_s(failed_s));
        let wait = queues.back_off(PodId(0), 0, at_s(failed_s + 0.2)).expect("the back-off has just begun");
        ends.push(failed_s + 0.2 + wait.seconds() - 100.0 * f64::from(attempt));
        assert!(!queues.leave_backoff(PodId(0), at_s(failed_s + 0.3)), "the timer of an earlier back-off ends nothing");
        assert!(queues.leave_backoff(PodId(0), at_s(failed_s + 99.0)), "it was in its back-off");
    }
    let ends: Vec<i64> = ends.iter().map(|end| (end * 1000.0).round() as i64).collect();
    assert_eq!(ends, [2_000, 3_000, 5_000, 9_000, 11_000, 11_000], "milliseconds");
}

#[test]
fn a_pod_that_waited_longer_than_its_back_off_is_retried_at_once_and_before_newer_pods() {
    let mut queues = queues();
    queues.activate(PodId(0), 0, ContextMark::default());
    queues.pop();
    fail(&mut queues, PodId(0), at_s(0.5));
    queues.activate(PodId(1), 0, ContextMark::default());
    assert_eq!(queues.back_off(PodId(0), 0, at_s(1.9)), Some(Duration::from_millis(100)));
    assert!(queues.leave_backoff(PodId(0), at_s(2.0)));
    assert_eq!(queues.back_off(PodId(0), 0, at_s(2.0)), None, "the back-off is over");
    queues.activate(PodId(0), 0, ContextMark::default());
    let order: Vec<u32> = std::iter::from_fn(|| queues.pop()).map(|(p, _)| p.0).collect();
    assert_eq!(order, [0, 1]);
}

#[test]
fn pods_whose_back_offs_end_in_one_window_leave_by_priority() {
    let mut queues = queues();
    for (pod, priority, failed_s) in [(0, 0, 0.1), (1, 5, 0.9), (2, 0, 0.2), (3, 9, 1.1)] {
        fail(&mut queues, PodId(pod), at_s(failed_s));
        queues.back_off(PodId(pod), priority, at_s(1.2));
    }
    let order: Vec<u32> = std::iter::from_fn(|| queues.pop()).map(|(p, _)| p.0).collect();
    assert_eq!(order, [1, 0, 2, 3]);
}

#[test]
fn only_pods_that_an_event_may_help_are_requeued() {
    let mut queues = queues();
    for (pod, plugin) in [(0, Plugin::NodeAffinity), (1, Plugin::NodeResourcesFit), (2, Plugin::NodeAffinity)] {
        fail(&mut queues, PodId(pod), at_s(0.0));
        wait(&mut queues, PodId(pod), plugin);
    }
    assert_eq!(queues.take_helped(|_| false, NEVER_HELPED), []);
    queues.remove(PodId(2));
    let helped = queues.take_helped(|_| false, |rejecting, _| rejecting.contains(&Plugin::NodeAffinity));
    assert_eq!(helped, [(PodId(0), 1)]);
    assert_eq!(queues.waiting().map(|(_, pod)| pod).collect::<Vec<_>>(), [PodId(1)]);
}

#[test]
fn a_pod_that_no_event_helps_is_retried_after_five_minutes() {
    let mut queues = queues();
    for (pod, failed_s) in [(0, 10.0), (1, 31.0)] {
        fail(&mut queues, PodId(pod), at_s(failed_s));
        wait(&mut queues, PodId(pod), Plugin::NodeAffinity);
    }
    assert_eq!(queues.next_flush(), Some(at_s(330.0)), "the first check after 310 s");
    assert_eq!(queues.take_leftover(at_s(330.0)), [(PodId(0), 1)]);
    assert_eq!(queues.next_flush(), Some(at_s(360.0)));
}

#[test]
fn equal_events_of_a_pod_become_a_series() {
    let mut queues = queues();
    let written: Vec<bool> = (0..40).map(|nth| fail(&mut queues, PodId(0), at_s(60.0 * f64::from(nth)))).collect();
    let at: Vec<usize> = (0..40).filter(|nth| written[*nth]).collect();
    assert_eq!(at, [0, 1, 2, 32], "three Events, and an update of the series after 30 minutes");
    let other = queues.mark_unschedulable(PodId(0), TextId(1), 0, ContextMark::default());
    assert!(other.is_written && other.is_new_message, "another message");
}

#[test]
fn events_about_one_version_of_a_pod_keep_the_first_message() {
    let mut queues = queues();
    // Message, version of the pod, time; whether the Event is stored with this message, and the condition is patched.
    for (message, version, at, stored, patched) in [
        (0, 1, 0.0, true, true),
        (0, 2, 1.0, true, false),
        (0, 2, 2.0, false, false),
        (1, 2, 3.0, false, true),
        (2, 3, 4.0, true, true),
        (2, 4, 5.0, true, false),
        // The recorder forgets an Event that was not repeated for six minutes, at a check every six minutes.
        (3, 4, 719.0, false, true),
        (3, 4, 1_079.0, false, false),
        (3, 4, 1_800.0, true, false),
    ] {
        let mut mark = ContextMark::default();
        mark.at = at_s(at);
        let report = queues.mark_unschedulable(PodId(0), TextId(message), version, mark);
        assert_eq!((report.is_new_event, report.is_new_message), (stored, patched), "{message} at {at} s");
    }
}

#[test]
fn a_pod_whose_victims_are_being_deleted_stays_when_an_event_may_help() {
    let mut queues = queues();
    for pod in [0, 1] {
        fail(&mut queues, PodId(pod), at_s(0.0));
        wait(&mut queues, PodId(pod), Plugin::NodeResourcesFit);
    }
    assert_eq!(queues.take_helped(|pod| pod == PodId(0), |_, _| true), [(PodId(1), 1)]);
    assert_eq!(queues.take_helped(|_| false, |_, _| true), [(PodId(0), 1)]);
}

#[test]
fn a_pod_in_back_off_is_taken_early_when_nothing_else_waits() {
    let mut queues = queues();
    fail(&mut queues, PodId(5), at_s(0.0));
    queues.back_off(PodId(5), 0, at_s(0.0));
    queues.activate(PodId(6), 0, ContextMark::default());
    let order: Vec<u32> = std::iter::from_fn(|| queues.pop()).map(|(p, _)| p.0).collect();
    assert_eq!(order, [6, 5]);
}
