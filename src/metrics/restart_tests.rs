//! Tests of the restart fold on hand-made streams.

use super::restart::*;
use super::spans::Phase;
use super::testing::*;
use crate::base::*;
use crate::record::{Body, Deleter, JobSetConditionType, NodeReady};

#[test]
fn a_recreate_runs_from_the_exit_to_all_ready_and_its_phases_add_up() {
    let restarts = fold(&recreate());
    assert_eq!(restarts.len(), 1);
    let r = &restarts[0];
    assert_eq!(
        (r.shape, r.attempt, r.ending),
        (Shape::Recreate, 1, Ending::Ready)
    );
    assert_eq!(r.cause.kind, CauseKind::ContainerExited { exit_code: 1 });
    assert_eq!((r.cause.pod, r.pods), (PodId(1), 2));
    assert_eq!((r.start, r.end), (s(100), s(130)));
    let of = |p: Phase| r.phases()[p as usize].seconds();
    assert_eq!(of(Phase::Detect), 1.0);
    assert_eq!(of(Phase::Terminate), 11.0);
    assert_eq!(of(Phase::Recreate), 8.0);
    assert_eq!(of(Phase::Schedule), 4.0);
    assert_eq!(of(Phase::Start), 6.0);
    assert_eq!(r.milestone(Milestone::JobsReady), Some(s(131)));
}

#[test]
fn an_in_place_restart_has_the_milestones_of_the_recordings() {
    let restarts = fold(&in_place());
    let r = &restarts[0];
    assert_eq!((r.shape, r.attempt), (Shape::InPlaceRestart, 1));
    let at = |m| r.milestone(m).map(Time::seconds);
    assert_eq!(at(Milestone::AttemptsFirst), Some(102.0));
    assert_eq!(at(Milestone::PreviousWritten), Some(103.0));
    assert_eq!(at(Milestone::AttemptsLast), Some(106.0));
    assert_eq!(at(Milestone::CurrentWritten), Some(107.0));
    assert_eq!(at(Milestone::LastReady), Some(109.0));
    assert_eq!(at(Milestone::LastPodCreated), None);
}

#[test]
fn success_suspension_and_mended_faults_are_no_restarts() {
    let succeeded = [
        (
            100,
            Body::ContainerExited {
                pod: PodId(0),
                incarnation: 0,
                exit_code: 0,
            },
        ),
        (
            101,
            Body::PodFinished {
                pod: PodId(0),
                incarnation: 0,
                succeeded: true,
                exit_code: 0,
            },
        ),
        (
            101,
            Body::AllReady {
                jobset: JobSetId(0),
                ready: false,
            },
        ),
        (102, condition(JobSetConditionType::Completed, true)),
    ];
    let suspended = [
        (
            100,
            Body::Fault {
                index: 0,
                node: NodeId::NONE,
                pod: PodId::NONE,
            },
        ),
        (100, condition(JobSetConditionType::Suspended, true)),
        (
            101,
            Body::PodDeleting {
                pod: PodId(0),
                incarnation: 0,
                by: Deleter::JobController,
            },
        ),
        (
            101,
            Body::PodNotReady {
                pod: PodId(0),
                incarnation: 0,
            },
        ),
        (
            101,
            Body::AllReady {
                jobset: JobSetId(0),
                ready: false,
            },
        ),
        (
            150,
            Body::AllReady {
                jobset: JobSetId(0),
                ready: true,
            },
        ),
    ];
    for body in [&succeeded[..], &suspended[..]] {
        let records: Vec<_> = started().into_iter().chain(body.iter().copied()).collect();
        assert_eq!(fold(&records), []);
    }
}

#[test]
fn a_node_crash_starts_the_restart_before_anybody_notices_and_a_dead_pod_leaves_it_unfinished() {
    let crash = [
        (
            100,
            Body::Fault {
                index: 0,
                node: NodeId(1),
                pod: PodId::NONE,
            },
        ),
        (
            140,
            Body::NodeState {
                node: NodeId(1),
                ready: NodeReady::Unknown,
            },
        ),
        (
            140,
            Body::PodNotReady {
                pod: PodId(1),
                incarnation: 0,
            },
        ),
        (
            140,
            Body::AllReady {
                jobset: JobSetId(0),
                ready: false,
            },
        ),
        (
            440,
            Body::PodDeleting {
                pod: PodId(1),
                incarnation: 0,
                by: Deleter::TaintEviction,
            },
        ),
    ];
    let records: Vec<_> = started().into_iter().chain(crash).collect();
    let restarts = fold(&records);
    let r = &restarts[0];
    assert_eq!(r.cause.kind, CauseKind::Fault { index: 0 });
    assert_eq!((r.start, r.ending), (s(100), Ending::Unfinished));
    assert_eq!(r.phases()[Phase::Detect as usize].seconds(), 340.0);
    assert_eq!(r.latency(), None);
}

#[test]
fn a_failed_jobset_is_the_end_and_no_restart() {
    let mut records = started();
    records.extend([
        (
            100,
            Body::ContainerExited {
                pod: PodId(1),
                incarnation: 0,
                exit_code: 1,
            },
        ),
        (
            101,
            Body::PodFinished {
                pod: PodId(1),
                incarnation: 0,
                succeeded: false,
                exit_code: 1,
            },
        ),
        (
            101,
            Body::AllReady {
                jobset: JobSetId(0),
                ready: false,
            },
        ),
        (102, condition(JobSetConditionType::Failed, true)),
    ]);
    assert_eq!(fold(&records), []);
}
