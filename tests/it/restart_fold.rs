//! Tests of the restart fold with handwritten record streams.

use sim_analysis::metrics::RestartFold;
use sim_analysis::metrics::restarts::path::{CriticalPath, PathPart};
use sim_analysis::metrics::restarts::phases::Phase;
use sim_analysis::metrics::restarts::restart::*;
use sim_analysis::metrics::restarts::root_cause::FaultHarm;
use sim_base::*;
use sim_engine::record::{
    Body, DeletionActor, JobName, JobSetConditionType, NO_CAUSE, NodeReady, RUN_ENDED, RecordNames, RecordSink,
    RunOutcome, SimulationRecord, TicketSubject, TicketWait, WorkTicket, WorkloadConditionType,
};
use sim_testkit::records::*;

#[test]
fn a_recreate_runs_from_the_exit_to_all_ready_and_its_phases_add_up() {
    let restarts = fold(&recreate());
    assert_eq!(restarts.len(), 1);
    let r = &restarts[0];
    assert_eq!((r.shape, r.attempt, r.ending), (RestartScope::Recreate, 1, RestartOutcome::Ready));
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
    assert_eq!((r.shape, r.attempt), (RestartScope::InPlaceRestart, 1));
    let at = |m| r.milestone(m).map(SimTime::seconds);
    assert_eq!(at(Milestone::AttemptsFirst), Some(102.0));
    assert_eq!(at(Milestone::PreviousWritten), Some(103.0));
    assert_eq!(at(Milestone::AttemptsLast), Some(106.0));
    assert_eq!(at(Milestone::CurrentWritten), Some(107.0));
    assert_eq!(at(Milestone::LastReady), Some(109.0));
    assert_eq!(at(Milestone::LastPodCreated), None);
}

#[test]
fn success_is_no_restart_and_a_suspension_is_one_with_its_own_cause() {
    let succeeded = [
        (100, Body::ContainerExited { pod: PodId(0), incarnation: 0, exit_code: 0 }),
        (101, Body::PodFinished { pod: PodId(0), incarnation: 0, succeeded: true, exit_code: Some(0) }),
        (101, Body::AllReady { jobset: JobSetId(0), ready: false }),
        (102, condition(JobSetConditionType::Completed, true)),
    ];
    let suspended = [
        (100, Body::Fault { index: 0, node: NodeId::NONE, pod: PodId::NONE }),
        (100, condition(JobSetConditionType::Suspended, true)),
        (101, Body::PodDeleting { pod: PodId(0), incarnation: 0, by: DeletionActor::JobController }),
        (101, Body::PodNotReady { pod: PodId(0), incarnation: 0 }),
        (101, Body::AllReady { jobset: JobSetId(0), ready: false }),
        (140, condition(JobSetConditionType::Suspended, false)),
        (150, Body::AllReady { jobset: JobSetId(0), ready: true }),
    ];
    let after_start = |body: &[LineFilter]| -> Vec<_> { started().into_iter().chain(body.iter().copied()).collect() };
    assert_eq!(fold(&after_start(&succeeded)), []);
    let restarts = fold(&after_start(&suspended));
    let [restart] = &restarts[..] else { panic!("one restart: {restarts:?}") };
    assert_eq!((restart.cause.kind, restart.shape), (CauseKind::Suspended, RestartScope::Resume));
    assert_eq!((restart.start, restart.end, restart.ending), (s(100), s(150), RestartOutcome::Ready));
    assert_eq!(restart.queue, [(s(100), s(140))]);
}

/// Containers that exit with 0: the JobSet is unready until the next pod is ready, and the status of the pod that
/// succeeded follows. Only a restart of the container is a restart, and a later failure has a start of its own.
#[test]
fn an_exit_with_code_0_begins_a_restart_only_if_the_container_restarts() {
    let exit =
        |at: u32, exit_code: i32| (u64::from(at), Body::ContainerExited { pod: PodId(0), incarnation: 0, exit_code });
    let unready = [
        (101, Body::AllReady { jobset: JobSetId(0), ready: false }),
        (102, Body::PodNotReady { pod: PodId(0), incarnation: 0 }),
    ];
    let ready = (110, Body::AllReady { jobset: JobSetId(0), ready: true });
    let succeeded = (111, Body::PodFinished { pod: PodId(0), incarnation: 0, succeeded: true, exit_code: Some(0) });
    let failed = (106, Body::PodFinished { pod: PodId(0), incarnation: 0, succeeded: false, exit_code: Some(1) });
    let restarting = (101, Body::ContainersRestarting { pod: PodId(0), incarnation: 0, restarts: 1 });
    let with = |first: &[LineFilter], rest: &[LineFilter]| {
        let all: Vec<_> = started().into_iter().chain(first.iter().copied()).chain(rest.iter().copied()).collect();
        fold(&all).iter().map(|r| (r.start, r.cause.kind)).collect::<Vec<_>>()
    };
    let exited = |exit_code: i32| CauseKind::ContainerExited { exit_code };
    assert_eq!(with(&[exit(100, 0), unready[0], unready[1]], &[ready, succeeded]), []);
    assert_eq!(with(&[exit(100, 0), restarting, unready[0]], &[ready]), [(s(100), exited(0))]);
    assert_eq!(with(&[exit(100, 0), unready[0], exit(105, 1)], &[failed, ready]), [(s(105), exited(1))]);
}

/// The control plane notices another failure before the crash of a node, which still begins the restart.
#[test]
fn a_crash_that_nobody_has_noticed_begins_the_restart() {
    let (jobset, none) = (JobSetId(0), TextId(0));
    let crash = (100, Body::Fault { index: 0, node: NodeId(1), pod: PodId::NONE });
    let exit = Body::ContainerExited { pod: PodId(0), incarnation: 0, exit_code: 1 };
    let evicted = Body::WorkloadCondition {
        jobset,
        kind: WorkloadConditionType::Evicted,
        status: true,
        reason: none,
        message: none,
    };
    let suspended = condition(JobSetConditionType::Suspended, true);
    for later in [exit, evicted, suspended] {
        let mut fold = RestartFold::from_parts(vec![FaultHarm::LosesProcesses]);
        let mut lines = started();
        // The pod is deleted before the restart is detected.
        let deleting = Body::PodDeleting { pod: PodId(1), incarnation: 0, by: DeletionActor::JobController };
        lines.extend([crash, (119, deleting), (120, later), (121, Body::AllReady { jobset, ready: false })]);
        play(&lines, &names(), &mut fold);
        let restarts = fold.finish(&ended(&[]), &names());
        let causes: Vec<_> = restarts.iter().map(|r| (r.start, r.cause.kind, r.cause.pod)).collect();
        assert_eq!(causes, [(s(100), CauseKind::Fault { index: 0 }, PodId(1))], "{later:?}");
    }
}

/// A pod on a crashed node never ends. Its JobSet is ready again without it, so later restarts have other causes.
#[test]
fn a_crash_is_not_the_cause_of_restarts_after_its_pod_was_replaced() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::LosesProcesses]);
    let mut lines = dead_node();
    let (job, incarnation, by) = (JobId(0), 0, DeletionActor::TaintEviction);
    let pod = PodId(2);
    lines.extend([
        (450, Body::PodCreated { pod, incarnation, job, index: 1, attempt: 0 }),
        (451, Body::PodBound { pod, incarnation, node: NodeId(2) }),
        (460, Body::PodReady { pod, incarnation }),
        (460, Body::AllReady { jobset: JobSetId(0), ready: true }),
        (600, Body::PodDeleting { pod, incarnation, by }),
        (600, Body::AllReady { jobset: JobSetId(0), ready: false }),
    ]);
    lines.sort_by_key(|line| line.0);
    play(&lines, &names(), &mut fold);
    let restarts = fold.finish(&ended(&[]), &names());
    let causes: Vec<_> = restarts.iter().map(|r| (r.start, r.cause.kind)).collect();
    assert_eq!(causes, [(s(100), CauseKind::Fault { index: 0 }), (s(600), CauseKind::PodDeleted { by })]);
}

/// Restarts do not heal corrupt checkpoints: the exit with which the corruption is detected is caused by it.
#[test]
fn a_corruption_is_the_cause_of_the_restart_that_ends_it_after_another_one() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::SpoilsProcesses]);
    let (jobset, none) = (JobSetId(0), Duration::ZERO);
    let mut lines = recreate();
    lines.push((60, Body::Fault { index: 0, node: NodeId(1), pod: PodId::NONE }));
    lines.push((500, Body::TrainingInterrupted { jobset, reached: none, kept: none }));
    lines.push((500, Body::ContainerExited { pod: PodId(0), incarnation: 1, exit_code: 1 }));
    lines.push((501, Body::AllReady { jobset, ready: false }));
    lines.sort_by_key(|line| line.0);
    let mut records = records(&lines);
    let number = |is: fn(&Body) -> bool, records: &[SimulationRecord]| {
        let found = records.iter().find(|record| is(&record.body));
        found.expect("it is in the list").seq
    };
    let fault = number(|body| matches!(body, Body::Fault { .. }), &records);
    let interruption = number(|body| matches!(body, Body::TrainingInterrupted { .. }), &records);
    for record in &mut records {
        match record.body {
            Body::TrainingInterrupted { .. } => record.cause = fault,
            Body::ContainerExited { pod: PodId(0), .. } => record.cause = interruption,
            Body::ContainerExited { .. } => record.cause = NO_CAUSE,
            _ => {}
        }
    }
    for record in &records {
        fold.record(record, &names());
    }
    let restarts = fold.finish(&ended(&[]), &names());
    let causes: Vec<_> = restarts.iter().map(|r| (r.start, r.cause.kind)).collect();
    let exit = CauseKind::ContainerExited { exit_code: 1 };
    assert_eq!(causes, [(s(100), exit), (s(130), CauseKind::Fault { index: 0 })]);
}

/// Pods that become ready in two attempts within a restart are counted once.
#[test]
fn the_pods_of_a_restart_that_is_suspended_are_counted_once() {
    let (jobset, job, incarnation, by) = (JobSetId(0), JobId(0), 2, DeletionActor::JobController);
    let mut lines = recreate();
    lines.retain(|(at, _)| *at < 130);
    lines.extend([
        (128, condition(JobSetConditionType::Suspended, true)),
        (128, Body::PodDeleting { pod: PodId(0), incarnation: 1, by }),
        (128, Body::PodDeleting { pod: PodId(1), incarnation: 1, by }),
        (129, Body::PodGone { pod: PodId(0), incarnation: 1 }),
        (129, Body::PodGone { pod: PodId(1), incarnation: 1 }),
        (200, condition(JobSetConditionType::Suspended, false)),
        (201, Body::PodCreated { pod: PodId(0), incarnation, job, index: 0, attempt: 1 }),
        (201, Body::PodCreated { pod: PodId(1), incarnation, job, index: 1, attempt: 1 }),
        (210, Body::PodReady { pod: PodId(0), incarnation }),
        (210, Body::PodReady { pod: PodId(1), incarnation }),
        (210, Body::AllReady { jobset, ready: true }),
    ]);
    let restarts = fold(&lines);
    assert_eq!((restarts.len(), restarts[0].pods, restarts[0].end), (1, 2, s(210)));
}

/// A dead node that returns removes its old pod after the new pods are bound: the restart did not wait for that.
#[test]
fn the_end_of_an_old_pod_after_the_binding_of_the_new_ones_is_no_step() {
    let (jobset, pod, incarnation) = (JobSetId(0), PodId(2), 1);
    let mut lines = dead_node();
    lines.extend([
        (450, Body::PodCreated { pod, incarnation, job: JobId(0), index: 1, attempt: 0 }),
        (460, Body::PodBound { pod, incarnation, node: NodeId(1) }),
        (470, Body::PodGone { pod: PodId(1), incarnation: 0 }),
        (490, Body::PodReady { pod, incarnation }),
        (490, Body::AllReady { jobset, ready: true }),
    ]);
    lines.sort_by_key(|line| line.0);
    let restarts = fold(&lines);
    let of = |phase: Phase| restarts[0].phases()[phase as usize].seconds();
    let phases = [Phase::Detect, Phase::Terminate, Phase::Schedule, Phase::Start].map(of);
    assert_eq!(phases, [340.0, 10.0, 10.0, 30.0]);
}

#[test]
fn a_node_crash_starts_the_restart_before_anybody_notices_and_a_dead_pod_leaves_it_unfinished() {
    let crash = [
        (100, Body::Fault { index: 0, node: NodeId(1), pod: PodId::NONE }),
        (140, Body::NodeState { node: NodeId(1), ready: NodeReady::Unknown }),
        (140, Body::PodNotReady { pod: PodId(1), incarnation: 0 }),
        (140, Body::AllReady { jobset: JobSetId(0), ready: false }),
        (440, Body::PodDeleting { pod: PodId(1), incarnation: 0, by: DeletionActor::TaintEviction }),
    ];
    let records: Vec<_> = started().into_iter().chain(crash).collect();
    let restarts = fold(&records);
    let r = &restarts[0];
    assert_eq!(r.cause.kind, CauseKind::Fault { index: 0 });
    assert_eq!((r.start, r.ending), (s(100), RestartOutcome::Unfinished));
    assert_eq!(r.phases()[Phase::Detect as usize].seconds(), 340.0);
    assert_eq!(r.latency(), None);
}

/// Returns a crash of the node of pod 1 at 500 s, after the restart of `recreate`.
fn crash_after_recreate(index: u32) -> Vec<LineFilter> {
    let (pod, incarnation, node) = (PodId(1), 1, NodeId(1));
    vec![
        (500, Body::Fault { index, node, pod: PodId::NONE }),
        (540, Body::NodeState { node, ready: NodeReady::Unknown }),
        (540, Body::PodNotReady { pod, incarnation }),
        (540, Body::AllReady { jobset: JobSetId(0), ready: false }),
    ]
}

/// A hang is the cause of the restart that ends it. It spoils the processes that ran, not the node.
#[test]
fn a_hang_is_the_cause_of_one_restart_only() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::SpoilsProcesses, FaultHarm::LosesProcesses]);
    let mut lines = recreate();
    lines.extend(crash_after_recreate(1));
    lines.push((60, Body::Fault { index: 0, node: NodeId(1), pod: PodId::NONE }));
    lines.sort_by_key(|line| line.0);
    play(&lines, &names(), &mut fold);
    let restarts = fold.finish(&ended(&[]), &names());
    let causes: Vec<_> = restarts.iter().map(|r| (r.start, r.cause.kind)).collect();
    assert_eq!(causes, [(s(60), CauseKind::Fault { index: 0 }), (s(500), CauseKind::Fault { index: 1 })]);
}

/// A cordon of a node that has crashed is no repair.
#[test]
fn a_cordon_does_not_hide_the_crash_that_causes_a_restart() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::LosesProcesses, FaultHarm::Harmless]);
    let mut lines = recreate();
    lines.extend(crash_after_recreate(0));
    lines.push((505, Body::Fault { index: 1, node: NodeId(1), pod: PodId::NONE }));
    lines.sort_by_key(|line| line.0);
    play(&lines, &names(), &mut fold);
    let restarts = fold.finish(&ended(&[]), &names());
    let causes: Vec<_> = restarts.iter().map(|r| (r.start, r.cause.kind)).collect();
    assert_eq!(causes[1..], [(s(500), CauseKind::Fault { index: 0 })]);
}

/// A node crashes while its JobSet restarts for another reason, and its pod still counts as ready.
#[test]
fn a_restart_begins_when_every_pod_was_ready_if_its_fault_is_older() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::LosesProcesses]);
    let mut lines = recreate();
    lines.extend(crash_after_recreate(0).into_iter().skip(1));
    lines.push((125, Body::Fault { index: 0, node: NodeId(1), pod: PodId::NONE }));
    lines.sort_by_key(|line| line.0);
    play(&lines, &names(), &mut fold);
    let restarts = fold.finish(&ended(&[]), &names());
    assert_eq!(restarts.len(), 2);
    assert_eq!((restarts[0].end, restarts[1].start), (s(130), s(130)));
    assert_eq!(restarts[1].cause.kind, CauseKind::Fault { index: 0 });
}

#[test]
fn reused_pod_row_does_not_affect_its_previous_jobset() {
    let mut names = names();
    let mut fold = RestartFold::from_parts(Vec::new());
    let feed = |fold: &mut RestartFold, lines: &[LineFilter], names: &RecordNames| {
        for r in records(lines) {
            fold.record(&r, names);
        }
    };
    feed(&mut fold, &started(), &names);
    names.jobs.push(JobName { jobset: JobSetId::NONE, name: "backup".into(), ..JobName::default() });
    let (job, pod, incarnation) = (JobId(1), PodId(0), 1);
    let other = [
        (50, Body::JobCreated { job, attempt: 0 }),
        (50, Body::PodCreated { pod, incarnation, job, index: 0, attempt: 0 }),
        (60, Body::ContainerExited { pod, incarnation, exit_code: 1 }),
        (61, Body::PodFinished { pod, incarnation, succeeded: false, exit_code: Some(1) }),
        (62, Body::JobGone { job }),
    ];
    feed(&mut fold, &other, &names);
    assert_eq!(fold.finish(&ended(&[]), &names), []);
}

#[test]
fn a_failed_jobset_is_the_end_and_no_restart() {
    let mut records = started();
    records.extend([
        (100, Body::ContainerExited { pod: PodId(1), incarnation: 0, exit_code: 1 }),
        (101, Body::PodFinished { pod: PodId(1), incarnation: 0, succeeded: false, exit_code: Some(1) }),
        (101, Body::AllReady { jobset: JobSetId(0), ready: false }),
        (102, condition(JobSetConditionType::Failed, true)),
    ]);
    assert_eq!(fold(&records), []);
}

#[test]
fn the_path_of_a_restart_is_what_it_waited_for_and_adds_up() {
    let restarts = fold(&recreate());
    let r = &restarts[0];
    assert_eq!(r.path.total(), r.total());
    let first = r.path.steps[0];
    assert_eq!((first.from, first.waited), (s(100), TicketWait::Pleg));
    let last = r.path.steps[r.path.steps.len() - 1];
    assert_eq!((last.to, last.waited), (s(130), TicketWait::ContainerStart));
    let mut plain = RestartFold::from_parts(vec![FaultHarm::MayBreakPods]).without_paths();
    assert!(!plain.receives_tickets());
    for record in records(&recreate()) {
        plain.record(&record, &names());
    }
    let plain = plain.finish(&ended(&[]), &names());
    assert_eq!(plain[0].path, CriticalPath::default());
}

#[test]
fn blocked_restart_waits_from_its_last_record_for_the_outcomes_reason() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::MayBreakPods]);
    play(&dead_node(), &names(), &mut fold);
    let why = "pod train-workers-0-1 is terminating on node node-1, which does not answer; it stays";
    let outcome = ended(&["JobSet train-2 is not ready: something else", &format!("JobSet train is not ready: {why}")]);
    assert_eq!(outcome.blocked_reason("train"), Some(why));
    let restarts = fold.finish(&outcome, &names());
    let r = &restarts[0];
    assert_eq!((r.ending, r.end), (RestartOutcome::Unfinished, s(1000)));
    assert_eq!(r.path.total(), r.total());
    let open = r.path.steps[r.path.steps.len() - 1];
    assert_eq!((open.from, open.to, open.part), (s(440), s(1000), PathPart::Open));
}

#[test]
fn restart_unfinished_at_the_time_limit_waits_for_pending_events() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::MayBreakPods]);
    let lines = dead_node();
    play(&lines, &names(), &mut fold);
    let pending = |id, waited, to| WorkTicket {
        id,
        parent: lines.len() as u32 - 2,
        from: s(440),
        granted: s(440),
        to,
        in_flight: 0,
        wait: waited,
        subject: TicketSubject::Pod(PodId(1)),
    };
    fold.ticket(&pending(100, TicketWait::ContainerStart, s(1200)));
    fold.ticket(&pending(101, TicketWait::Grace, s(1100)));
    fold.ticket(&pending(102, TicketWait::Running, SimTime::NEVER));
    let overtaken = format!("JobSet train is not ready: {RUN_ENDED}");
    let restarts = fold.finish(&ended(&[&overtaken]), &names());
    let r = &restarts[0];
    assert_eq!(r.path.total(), r.total());
    let last = r.path.steps[r.path.steps.len() - 1];
    assert_eq!((last.from, last.waited), (s(440), TicketWait::ContainerStart));
}

#[test]
fn tickets_do_not_pile_up_over_many_restarts() {
    let mut fold = RestartFold::from_parts(vec![FaultHarm::MayBreakPods]);
    let cycle: Vec<LineFilter> = recreate().into_iter().skip(started().len()).collect();
    let mut lines = started();
    for round in 0..2000 {
        lines.extend(cycle.iter().map(|&(at, body)| (at + 100 * round, body)));
    }
    let mut most = 0;
    let end = s(100 * 2000 + 100);
    struct Watch<'a>(&'a mut RestartFold, &'a mut usize);
    impl RecordSink for Watch<'_> {
        fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
            self.0.record(record, names);
        }
        fn ticket(&mut self, ticket: &WorkTicket) {
            self.0.ticket(ticket);
            *self.1 = (*self.1).max(self.0.kept_tickets());
        }
    }
    play(&lines, &names(), &mut Watch(&mut fold, &mut most));
    let outcome = RunOutcome { end, ..ended(&[]) };
    let restarts = fold.finish(&outcome, &names());
    assert_eq!(restarts.len(), 2000);
    for r in &restarts {
        assert_eq!(r.path.total(), Duration::from_secs(30), "from {}", r.start);
        assert_eq!(r.path.steps[0].waited, TicketWait::Pleg);
    }
    assert!(lines.len() > 40_000 && most <= 4096, "{most} tickets are kept of {} lines", lines.len());
}

/// A node that reboots within the grace period of the node monitor reports its lost containers when it returns. The
/// restart begins with the crash for every duration of the outage.
#[test]
fn restart_after_a_quick_reboot_begins_with_the_crash() {
    let jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train}\nspec:\n  failurePolicy: \
         {maxRestarts: 5}\n  replicatedJobs:\n  - name: w\n    template: {spec: {parallelism: 2, completions: 2, \
         backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: w, image: x, resources: {limits: \
         {a.com/chip: 1}}}]}}}}\n";
    for outage_s in [1_u64, 30, 44] {
        let scenario = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: reboot}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n  - {{name: \"h-{{node}}\", \
             nodesPerIsland: 2, accelerator: a.com/chip, allocatable: {{cpu: 8, a.com/chip: 1}}}}\njobSets: [{{manifest: \
             jobset.yaml}}]\nfaults:\n- {{at: 100s, crashNode: {{node: h-0}}}}\n- {{at: {}s, returnNode: {{node: \
             h-0}}}}\nstop: {{at: 1h, when: Time}}\n",
            100 + outage_s
        );
        let scenario = crate::support::parse(&scenario, jobset).unwrap_or_else(|e| panic!("{e}"));
        let mut simulation = crate::support::simulation(&scenario);
        let mut fold = RestartFold::new(simulation.scenario());
        let outcome = simulation.run(scenario.seed, 0, &mut fold);
        let restarts = fold.finish(&outcome, simulation.names());
        assert_eq!(restarts.len(), 1, "outage of {outage_s} s");
        assert_eq!(restarts[0].start, s(100), "outage of {outage_s} s");
        assert_eq!(restarts[0].cause.kind, CauseKind::Fault { index: 0 });
    }
}
