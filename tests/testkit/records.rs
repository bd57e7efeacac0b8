//! Hand-written record streams: one JobSet `train` with one Job of two pods on nodes 0 and 1.

use sim_analysis::metrics::restarts::fold::RestartFold;
use sim_analysis::metrics::restarts::restart::RestartMetrics;
use sim_analysis::metrics::restarts::root_cause::FaultHarm;
use sim_base::{JobId, JobSetId, NodeId, PodId, TextId};
use sim_engine::record::{Body, DeletionActor, JobConditionType, JobSetConditionType, NodeReady, RunOutcome};

pub use super::lines::*;
pub use super::run::{with_outcome, with_view};

/// Returns the outcome of a run that ended at 1000 s.
pub fn ended(stuck: &[&str]) -> RunOutcome {
    RunOutcome { end: s(1000), blocked: stuck.iter().map(|s| (*s).to_owned()).collect(), ..super::run::outcome() }
}

pub fn fold(lines: &[LineFilter]) -> Vec<RestartMetrics> {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::MayBreakPods]);
    play(lines, &names(), &mut fold);
    fold.finish(&ended(&[]), &names())
}

pub fn condition(kind: JobSetConditionType, status: bool) -> Body {
    let is_restart_over = kind == JobSetConditionType::RestartingJobSet && !status;
    let reason = if is_restart_over { JOBS_READY } else { TextId(0) };
    Body::JobSetCondition { jobset: JobSetId(0), kind, status, reason, message: TextId(0) }
}

fn pod_up(lines: &mut Vec<LineFilter>, pod: u32, attempt: u32, created: u64, bound: u64, ready: u64) {
    let (incarnation, pod) = (attempt, PodId(pod));
    let created_body = Body::PodCreated { pod, incarnation, job: JobId(0), index: pod.0, attempt };
    let node = NodeId(pod.0);
    lines.push((created, created_body));
    lines.push((bound, Body::PodBound { pod, incarnation, node }));
    lines.push((ready, Body::PodRunning { pod, incarnation }));
    lines.push((ready, Body::PodReady { pod, incarnation }));
}

/// Returns a start in which everything is ready at 10 s.
pub fn started() -> Vec<LineFilter> {
    let jobset = JobSetId(0);
    let job = JobId(0);
    let mut lines = vec![(0, Body::JobSetCreated { jobset }), (0, Body::JobCreated { job, attempt: 0 })];
    pod_up(&mut lines, 0, 0, 1, 2, 9);
    pod_up(&mut lines, 1, 0, 1, 2, 10);
    lines.push((10, Body::AllReady { jobset, ready: true }));
    lines.sort_by_key(|l| l.0);
    lines
}

/// Returns a restart: pod 1 fails at 100 s, and all pods are ready again at 130 s.
pub fn recreate() -> Vec<LineFilter> {
    let jobset = JobSetId(0);
    let job = JobId(0);
    let pod = PodId(1);
    let none = TextId(0);
    let job_condition = |kind| Body::JobCondition { job, kind, status: true, reason: none, message: none };
    let mut lines = started();
    lines.extend([
        (100, Body::ContainerExited { pod, incarnation: 0, exit_code: 1 }),
        (101, Body::PodFinished { pod, incarnation: 0, succeeded: false, exit_code: Some(1) }),
        (101, Body::AllReady { jobset, ready: false }),
        (102, Body::PodDeleting { pod: PodId(0), incarnation: 0, by: DeletionActor::JobController }),
        (102, job_condition(JobConditionType::FailureTarget)),
        (105, Body::PodGone { pod: PodId(0), incarnation: 0 }),
        (106, job_condition(JobConditionType::Failed)),
        (107, Body::RestartCounted { jobset, restarts: 1, counted: 1, failed_job: job }),
        (107, condition(JobSetConditionType::RestartingJobSet, true)),
        (108, Body::JobDeleting { job }),
        (110, Body::PodGone { pod, incarnation: 0 }),
        (112, Body::JobGone { job }),
        (114, Body::JobCreated { job, attempt: 1 }),
        (115, Body::PodCreated { pod: PodId(0), incarnation: 1, job, index: 0, attempt: 1 }),
        (120, Body::PodCreated { pod, incarnation: 1, job, index: 1, attempt: 1 }),
        (122, Body::PodBound { pod: PodId(0), incarnation: 1, node: NodeId(0) }),
        (124, Body::PodBound { pod, incarnation: 1, node: NodeId(1) }),
        (127, Body::PodReady { pod: PodId(0), incarnation: 1 }),
        (130, Body::PodReady { pod, incarnation: 1 }),
        (130, Body::AllReady { jobset, ready: true }),
        (131, condition(JobSetConditionType::RestartingJobSet, false)),
    ]);
    lines
}

/// Returns an in-place restart: pod 1's container exits at 100 s, and all pods are ready again at 109 s.
pub fn in_place() -> Vec<LineFilter> {
    let jobset = JobSetId(0);
    let pod = PodId(1);
    let (p0, incarnation) = (PodId(0), 0);
    let mut lines = started();
    lines.extend([
        (100, Body::ContainerExited { pod, incarnation, exit_code: 1 }),
        (101, Body::ContainersRestarting { pod, incarnation, restarts: 1 }),
        (101, Body::PodNotReady { pod, incarnation }),
        (101, Body::AllReady { jobset, ready: false }),
        (102, Body::AttemptWritten { pod, incarnation, attempt: 1 }),
        (103, Body::PreviousAttempt { jobset, attempt: 0 }),
        (104, Body::ContainersRestarting { pod: p0, incarnation, restarts: 1 }),
        (104, Body::PodNotReady { pod: p0, incarnation }),
        (106, Body::AttemptWritten { pod: p0, incarnation, attempt: 1 }),
        (107, Body::CurrentAttempt { jobset, attempt: 1 }),
        (108, Body::BarrierLifted { pod, incarnation, attempt: 1 }),
        (108, Body::PodReady { pod, incarnation }),
        (109, Body::PodReady { pod: p0, incarnation }),
        (109, Body::AllReady { jobset, ready: true }),
    ]);
    lines
}

/// Returns a node failure: pod 1's node crashes at 100 s, and its pod is deleted at 440 s and never ends.
pub fn dead_node() -> Vec<LineFilter> {
    let (node, pod, incarnation) = (NodeId(1), PodId(1), 0);
    let crash = Body::Fault { index: 0, node, pod: PodId::NONE };
    let unknown = Body::NodeState { node, ready: NodeReady::Unknown };
    let not_ready = Body::AllReady { jobset: JobSetId(0), ready: false };
    let by = DeletionActor::TaintEviction;
    let deleting = Body::PodDeleting { pod, incarnation, by };
    let retry = Body::PodCreateRejected { job: JobId(0), index: 1, reason: TextId(0) };
    let mut lines = started();
    lines.extend([
        (100, crash),
        (140, unknown),
        (140, Body::PodNotReady { pod, incarnation }),
        (140, not_ready),
        (440, deleting),
        (700, retry),
    ]);
    lines
}
