//! The pending Workloads of a ClusterQueue while a cycle has its head.

use super::{PendingQueue, RequeueReason};
use crate::workload::{Info, Workload, WorkloadKey, WorkloadStatus};
use sim_api::spec::kueue::{KueueBehavior, KueueConfiguration, QueueingStrategy, RequeuingTimestamp};
use sim_base::SimTime;
use std::sync::Arc;

fn info(key: WorkloadKey, priority: i32) -> Info {
    let workload = Workload {
        namespace: "default".to_owned(),
        name: format!("w{key}"),
        uid: format!("{key:08}"),
        job_uid: String::new(),
        queue: "queue".to_owned(),
        priority,
        priority_class: None,
        created: SimTime::ZERO,
        active: true,
        admission_gates: String::new(),
        max_execution_s: None,
        pod_sets: Vec::new().into(),
        status: WorkloadStatus::default(),
    };
    Info::new(key, Arc::new(workload), 0, &KueueConfiguration::default().resources)
}

/// A queue whose head, Workload 0, is in a cycle.
fn in_cycle() -> (PendingQueue, Info) {
    let mut queue = PendingQueue::new(QueueingStrategy::BestEffortFifo, RequeuingTimestamp::default());
    queue.push_or_update(info(0, 0), SimTime::ZERO);
    let head = queue.pop().expect("a head");
    (queue, head.info)
}

#[test]
fn a_change_of_the_head_during_its_cycle_does_not_return_it_to_the_queue() {
    let (mut queue, head) = in_cycle();
    queue.push_or_update(info(0, 5), SimTime::ZERO);
    assert_eq!((queue.len(), queue.has_active()), (0, false));
    queue.requeue(head, RequeueReason::NoFit, "", SimTime::ZERO);
    assert_eq!((queue.len(), queue.has_active()), (1, false), "it waits for an event");
    queue.push_or_update(info(0, 7), SimTime::ZERO);
    assert!(queue.has_active(), "it returned, and a changed priority makes it active");
}

#[test]
fn before_2026_03_02_a_change_of_the_head_returns_it_during_its_cycle() {
    let (mut queue, _) = in_cycle();
    queue.behavior = KueueBehavior::on("2026-03-01");
    queue.push_or_update(info(0, 5), SimTime::ZERO);
    assert!(queue.has_active());
}

#[test]
fn workloads_with_the_shape_of_one_that_failed_are_tried_on_days_without_equivalence_hashing() {
    let cases = [("2026-03-05", true), ("2026-03-18", false), ("2026-03-19", true), ("2026-05-13", false)];
    for (day, is_tried) in cases {
        let (mut queue, head) = in_cycle();
        queue.behavior = KueueBehavior::on(day);
        queue.push_or_update(info(1, 0), SimTime::ZERO);
        queue.requeue(head, RequeueReason::NoFit, "", SimTime::ZERO);
        assert_eq!(queue.has_active(), is_tried, "{day}");
    }
}

#[test]
fn other_workloads_and_a_removed_head_enter_the_queue_during_a_cycle() {
    let (mut queue, _) = in_cycle();
    queue.push_or_update(info(1, 0), SimTime::ZERO);
    assert_eq!(queue.len(), 1);
    queue.remove(0);
    queue.push_or_update(info(0, 0), SimTime::ZERO);
    assert_eq!(queue.len(), 2);
}

#[test]
fn the_next_head_replaces_the_preceding_one() {
    let (mut queue, _) = in_cycle();
    queue.push_or_update(info(1, 0), SimTime::ZERO);
    assert_eq!(queue.pop().map(|head| head.info.key), Some(1));
    queue.push_or_update(info(0, 0), SimTime::ZERO);
    assert_eq!(queue.len(), 1);
}
