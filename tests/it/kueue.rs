//! Kueue in a run: admission, preemption, pending Workloads and changes of `suspend` by hand.

use crate::program::{program, scratch};
use crate::support;
use sim_analysis::experiment::{SimulatedReplication, simulate_replication};
use sim_analysis::metrics::Phase;
use sim_analysis::metrics::admission::{AdmissionHistory, JobSetAdmission, WaitCause, WorkloadOfRun, preemption_loops};
use sim_analysis::metrics::restarts::bottleneck::span_bottlenecks;
use sim_analysis::metrics::summary::RunSummary;
use sim_analysis::metrics::view::RunView;
use sim_analysis::metrics::{MetricFolds, RestartBlocker};
use sim_api::spec::ScenarioSpec;
use sim_base::{JobSetId, SimTime};
use sim_engine::record::*;
use sim_inputs::SourceText;

/// One text per condition of a Workload, change of readiness and Event of Kueue, and the sentences about blocked
/// JobSets.
fn play(sets: &[(&str, &str)]) -> (Vec<String>, RunOutcome) {
    play_scenario("kueue", sets)
}

fn play_scenario(scenario: &str, sets: &[(&str, &str)]) -> (Vec<String>, RunOutcome) {
    let scenario = support::scenario(scenario, sets);
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    let outcome = simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let text = |record: &SimulationRecord| match record.body {
        Body::WorkloadCondition { jobset, kind, status, reason, .. } => {
            Some(format!("{} {}={status} {}", names.jobset(jobset), kind.as_str(), names.text(reason)))
        }
        Body::PodBound { node, .. } => Some(format!("bound to {}", names.nodes[node.ix()])),
        Body::AllReady { jobset, ready } => Some(format!("{} ready={ready}", names.jobset(jobset))),
        Body::KubeEvent { object: ObjectRef::JobSet(jobset), reason, .. } => {
            Some(format!("{} {}", names.jobset(jobset), names.text(reason)))
        }
        _ => None,
    };
    let texts = checker.records.iter().filter_map(text).collect();
    (texts, outcome)
}

/// Returns the position of a text.
fn at(texts: &[String], text: &str) -> usize {
    let found = texts.iter().position(|t| t == text);
    found.unwrap_or_else(|| panic!("{text:?} is missing in\n{}", texts.join("\n")))
}

#[test]
fn a_preempted_jobset_frees_its_quota_after_its_pods_and_runs_again_without_a_restart() {
    let (texts, outcome) = play(&[]);
    let order = [
        "train QuotaReserved=true QuotaReserved", "train Started", "train ready=true", "train Evicted=true Preempted",
        "train Stopped", "train QuotaReserved=false PendingEvaluation", "urgent QuotaReserved=true QuotaReserved",
        "urgent ready=true", "urgent Finished=true Succeeded", "train Evicted=false QuotaReserved",
        "train AllJobsCompleted",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(&texts, text)).collect();
    assert!(places.is_sorted(), "{places:?}\n{}", texts.join("\n"));
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
    assert_eq!(outcome.jobsets.iter().map(|j| j.restarts).sum::<u32>(), 0);
}

#[test]
fn a_jobset_beyond_the_quota_is_blocked_with_the_message_of_its_workload() {
    let (texts, outcome) = play(&[("spec.replicatedJobs[0].replicas", "5")]);
    assert!(!texts.iter().any(|text| text.ends_with("Started")), "{}", texts.join("\n"));
    let message = "its Workload waits for admission in LocalQueue training";
    assert!(outcome.blocked.iter().all(|blocked| blocked.contains(message)), "{:?}", outcome.blocked);
    let quota = "insufficient quota for example.com/accelerator in flavor zone-a";
    assert!(outcome.blocked.iter().any(|blocked| blocked.contains(quota)), "{:?}", outcome.blocked);
}

#[test]
fn kueue_undoes_a_suspension_by_hand() {
    let (texts, outcome) = play(&[("faults", "[{at: 30s, suspendJobSet: {name: train}}]")]);
    assert!(texts.iter().filter(|text| *text == "train Started").count() >= 3, "{}", texts.join("\n"));
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
}

#[test]
fn the_workload_of_a_deleted_jobset_is_finished_without_an_event() {
    let (texts, _) = play(&[("faults", "[{at: 30s, deleteJobSet: {name: train}}]")]);
    at(&texts, "train Finished=true OwnerNotFound");
    assert!(!texts.iter().any(|text| text == "train FinishedWorkload"), "{}", texts.join("\n"));
}

#[test]
fn the_pods_of_a_topology_assignment_are_bound_to_its_nodes_and_to_the_replacement_of_a_lost_one() {
    let (texts, outcome) = play_scenario("topology-node-lost", &[]);
    let mut bound: Vec<&str> = texts.iter().filter_map(|text| text.strip_prefix("bound to ")).collect();
    bound[..3].sort_unstable();
    bound[3..].sort_unstable();
    assert_eq!(bound, ["node-00", "node-01", "node-02", "node-00", "node-02", "node-03"]);
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
    assert!(!texts.iter().any(|text| text.contains("Evicted=true")), "{}", texts.join("\n"));
}

#[test]
fn a_lost_node_without_a_replacement_evicts_the_jobset_which_preempts_the_work_on_spare_nodes() {
    let (texts, outcome) = play_scenario("topology-warm-spares", &[]);
    let order = [
        "warm ready=true", "pool Evicted=true NodeFailures", "warm Evicted=true Preempted",
        "pool Evicted=false QuotaReserved", "pool AllJobsCompleted", "warm Evicted=false QuotaReserved",
        "warm AllJobsCompleted",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(&texts, text)).collect();
    assert!(places.is_sorted(), "{places:?}\n{}", texts.join("\n"));
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
}

#[test]
fn pods_wait_for_the_topology_ungater_for_a_second() {
    let ready_after_s = |scenario: &str| {
        let scenario = support::scenario(scenario, &[]);
        let mut simulation = support::simulation(&scenario);
        let mut kept = KeepSink::default();
        simulation.run(1, 0, &mut kept);
        let time = |wanted: fn(&Body) -> bool| kept.0.iter().find(|r| wanted(&r.body)).expect("a record").at.seconds();
        time(|body| matches!(body, Body::PodBound { .. })) - time(|body| matches!(body, Body::PodCreated { .. }))
    };
    assert!(ready_after_s("kueue") < 0.5);
    assert!((1.0..1.5).contains(&ready_after_s("topology-node-lost")));
}

/// A JobSet that needs an AdmissionCheck.
fn checked_scenario(rule: &str) -> ScenarioSpec {
    let queues = std::fs::read_to_string(support::root().join("scenarios/manifests/kueue-queues.yaml"))
        .unwrap_or_else(|e| panic!("{e}"));
    let queues = queues.replace(
        "  namespaceSelector: {}\n",
        "  namespaceSelector: {}\n  admissionChecksStrategy: {admissionChecks: [{name: capacity}]}\n",
    );
    let check = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: capacity}\nspec: \
                 {controllerName: example.com/capacity}\n---\n";
    let train = std::fs::read_to_string(support::root().join("scenarios/manifests/kueue-train.yaml"))
        .unwrap_or_else(|e| panic!("{e}"));
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: checked}}\ntopology: small-16\n\
         objects: [{{manifest: queues.yaml}}]\njobSets: [{{manifest: train.yaml}}]\n{rule}\n\
         containers: [{{runFor: 1m}}]\nstop: {{at: 30m, when: AllJobSetsFinished}}\nseed: 1\n"
    );
    let files = [("queues.yaml", format!("{check}{queues}")), ("train.yaml", train)];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    support::parse_with(&scenario, &files).unwrap_or_else(|e| panic!("{e}"))
}

/// Conditions of the Workload of a JobSet that needs an AdmissionCheck.
fn checked(rule: &str) -> Vec<String> {
    let scenario = checked_scenario(rule);
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let text = |record: &SimulationRecord| match record.body {
        Body::WorkloadCondition { kind, status, reason, .. } => {
            let second = record.at.0 / 1_000_000_000;
            Some(format!("{second} {}={status} {}", kind.as_str(), names.text(reason)))
        }
        _ => None,
    };
    checker.records.iter().filter_map(text).collect()
}

#[test]
fn an_admission_check_delays_the_admission() {
    let texts = checked("admissionChecks: [{name: capacity, after: 3m}]");
    at(&texts, "0 QuotaReserved=true QuotaReserved");
    at(&texts, "180 Admitted=true Admitted");
}

#[test]
fn the_wait_for_an_admission_check_is_a_wait_for_admission_and_not_a_loss_of_goodput() {
    let training = "training: [{jobSet: train, work: 50s, checkpoint: {every: 30s, blocking: 0s}}]";
    let scenario = checked_scenario(&format!("admissionChecks: [{{name: capacity, after: 20m}}]\n{training}"));
    let folds = MetricFolds::new(&scenario, false);
    let mut simulation = support::simulation(&scenario);
    let replication = simulate_replication(&mut simulation, (1, 0), folds, RestartBlocker::default()).0;
    let run = replication.view(1, &[]);
    let own = run.admission_of(JobSetId(0)).expect("Kueue manages it");
    let [quota, check] = &own.waits[..] else { panic!("two waits: {own:?}") };
    assert_eq!((quota.cause, check.cause), (WaitCause::Quota, WaitCause::AdmissionChecks));
    assert_eq!(check.message, "capacity");
    let (first, total) = (own.first_wait().expect("it is admitted"), own.total_wait(run.outcome.end));
    assert!((1200.0..1201.0).contains(&first.seconds()) && first == total, "{first} {total}");
    let summary = RunSummary::from_run(&run);
    let training = summary.job_sets[0].training.as_ref().expect("it trains");
    let (goodput, ettr) = (training.goodput.expect("it was ready"), training.ettr.expect("it was submitted"));
    // No failure: productive from the first readiness on, but only for a part of the time since the submission.
    assert!(goodput > 0.9 && ettr < 0.1, "goodput {goodput}, ETTR {ettr}");
}

#[test]
fn a_check_in_the_state_retry_evicts_the_workload_until_it_is_ready() {
    let texts = checked("admissionChecks: [{name: capacity, after: 3m, retries: 1}]");
    at(&texts, "180 Evicted=true AdmissionCheck");
    assert!(texts.iter().any(|text| text.ends_with("Admitted=true Admitted")), "{}", texts.join("\n"));
}

#[test]
fn a_rejected_check_deactivates_the_workload() {
    let texts = checked("admissionChecks: [{name: capacity, after: 3m, state: Rejected, message: no capacity}]");
    at(&texts, "180 Evicted=true DeactivatedDueToAdmissionCheck");
    assert!(!texts.iter().any(|text| text.ends_with("Admitted=true Admitted")), "{}", texts.join("\n"));
}

#[test]
fn without_a_controller_an_admission_check_stays_pending() {
    let texts = checked("");
    assert!(!texts.iter().any(|text| text.ends_with("Admitted=true Admitted")), "{}", texts.join("\n"));
}

/// Simulates the scenario with another configuration of Kueue's manager.
fn replicated(configuration: &str, sets: &[(&str, &str)]) -> SimulatedReplication {
    replicated_with(configuration, str::to_owned, sets)
}

/// As [`replicated`], with a change of the text of the queues.
fn replicated_with(
    configuration: &str, change: impl Fn(&str) -> String, sets: &[(&str, &str)],
) -> SimulatedReplication {
    let read = |name: &str| std::fs::read_to_string(support::root().join("scenarios").join(name)).expect("a file");
    let queues = format!("{}---\n{configuration}", change(&read("manifests/kueue-queues.yaml")));
    let loader = |name: &str| if name == "manifests/kueue-queues.yaml" { Ok(queues.clone()) } else { Ok(read(name)) };
    let source = SourceText { file: "kueue.yaml".to_owned(), text: read("kueue.yaml") };
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let loaded = sim_inputs::parse_scenario(&source, &sets, &loader).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&loaded.scenario);
    let folds = MetricFolds::new(&loaded.scenario, false);
    simulate_replication(&mut simulation, (1, 0), folds, RestartBlocker::default()).0
}

const DEFAULTS: &str = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

#[test]
fn the_admission_of_a_jobset_has_its_waits_quota_and_preemptor() {
    let replication = replicated(DEFAULTS, &[]);
    let run = replication.view(1, &[]);
    let summary = RunSummary::from_run(&run);
    let [train, urgent] = &summary.job_sets[..] else { panic!("two JobSets") };
    let of_train = train.admission.as_ref().expect("Kueue manages it");
    assert_eq!((of_train.waits.len(), of_train.reservations.len(), of_train.evictions.len()), (2, 2, 1));
    assert_eq!(of_train.evictions[0].preemptor.as_deref(), Some("urgent"));
    assert_eq!(of_train.reservations[0].quota[0].amount, "64");
    let sum: f64 = of_train.waits.iter().map(|w| w.until.unwrap_or(0.0) - w.from).sum();
    assert!((of_train.wait - sum).abs() < 1e-6, "{of_train:?}");
    let of_urgent = urgent.admission.as_ref().expect("Kueue manages it");
    assert_eq!(of_urgent.preempted.iter().map(|p| p.job_set.as_deref()).collect::<Vec<_>>(), [Some("train")]);
    assert!(run.preemption_loops().is_empty());
    let peak = run.folded.admission.quota.iter().map(|change| change.used).max();
    assert_eq!(peak, Some(64_000), "the usage never exceeds the quota");
}

#[test]
fn a_restart_that_waits_for_admission_has_this_time_in_the_phase_queue_and_keeps_its_cause() {
    let exit = "[{at: 58s, containerExit: {pod: train-slices-0-0, exitCode: 1}}]";
    let late_exit = "[{at: 63s, containerExit: {pod: urgent-slices-0-0, exitCode: 1}}]";
    let suspension = "[{at: 58s, containerExit: {pod: train-slices-0-0, exitCode: 1}}, \
                      {at: 58s, suspendJobSet: {name: train}}, {at: 200s, resumeJobSet: {name: train}}]";
    let evicted = "Kueue evicted the JobSet (Preempted)";
    let exits = "the container of pod train-slices-0-0 exits with code 1";
    let cases: [(&str, &str, &str); 4] = [
        ("[]", evicted, "Resume"),
        (exit, exits, "Recreate"),
        (late_exit, evicted, "Resume"),
        (suspension, exits, "Resume"),
    ];
    for (faults, cause, shape) in cases {
        let replication = replicated(DEFAULTS, &[("faults", faults), ("stop.at", "20m")]);
        let run = replication.view(1, &[]);
        let [restart] = run.restarts_of(JobSetId(0)).collect::<Vec<_>>()[..] else { panic!("one restart: {faults}") };
        assert_eq!(sim_analysis::format::cause(&run, &restart.cause), cause, "{faults}");
        assert_eq!(run.strategy(restart), shape, "{faults}");
        let phases = restart.phases();
        let queue = phases[Phase::Queue as usize];
        let waited: u64 = restart.queue.iter().map(|(from, to)| to.since(*from).0).sum();
        assert_eq!(queue.0, waited, "{faults}");
        assert!((8.0..150.0).contains(&queue.seconds()), "{faults}: {queue}");
        assert!(restart.total().0 - waited < 10_000_000_000, "{faults}: {}", restart.total());
        let sum: u64 = phases.iter().map(|phase| phase.0).sum();
        assert_eq!(sum, restart.total().0, "{faults}");
    }
}

/// Each part of the phase `queue` names what the Workload waits for, with its time.
#[test]
fn the_parts_of_a_queue_name_the_back_off_the_deactivation_and_the_admission_check() {
    let parts = |run: &RunView<'_>| -> Vec<(String, u64)> {
        let restarts = run.restarts_of(JobSetId(0)).collect::<Vec<_>>();
        let [restart] = restarts[..] else { panic!("one restart: {}", restarts.len()) };
        let sum: u64 = restart.queue.iter().map(|(from, to)| to.since(*from).0).sum();
        assert_eq!(restart.phases()[Phase::Queue as usize].0, sum);
        assert_eq!(restart.path.total(), restart.total());
        let mut parts: Vec<(String, u64)> = Vec::new();
        for share in span_bottlenecks(run, restart) {
            let time = share.span.duration().seconds().round() as u64;
            if share.span.phase() == Phase::Queue && time > 0 {
                parts.push((share.gate.expect("a path").name, time));
            }
        }
        parts
    };
    let readiness = format!(
        "{DEFAULTS}waitForPodsReady: {{timeout: 3m, recoveryTimeout: 3m, requeuingStrategy: {{backoffLimitCount: 2, \
         backoffBaseSeconds: 60}}}}\n"
    );
    let crash = "[{at: 60s, crashNode: {ofPod: train-slices-0-1, alias: lost}}]";
    let jobs = "[{manifest: manifests/kueue-train.yaml}]";
    let sets = [("faults", crash), ("jobSets", jobs), ("stop", "{at: 30m, when: Time}"), ("containers", "[]")];
    let replication = replicated(&readiness, &sets);
    let found = parts(&replication.view(1, &[]));
    let back_off = "back-off after PodsReadyTimeout".to_owned();
    let deactivated = "deactivated: exceeding the maximum number of re-queuing retries".to_owned();
    let [first, second, last] = &found[..] else { panic!("{found:?}") };
    assert_eq!((first, second), (&(back_off.clone(), 60), &(back_off, 120)));
    assert!(last.0 == deactivated && last.1 > 900, "{last:?}");

    let check = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: prov}\nspec: \
                 {controllerName: example.com/prov}\n";
    let rule = "spec:\n  namespaceSelector: {}\n";
    let with_check = |text: &str| {
        text.replace(rule, &format!("{rule}  admissionChecksStrategy: {{admissionChecks: [{{name: prov}}]}}\n"))
    };
    let sets = [
        ("admissionChecks", "[{name: prov, after: 5m}]"),
        (
            "jobSets",
            "[{manifest: manifests/kueue-train.yaml}, {manifest: manifests/kueue-urgent.yaml, submitAt: 400s}]",
        ),
        ("stop.at", "2h"),
    ];
    let replication = replicated_with(check, with_check, &sets);
    let found = parts(&replication.view(1, &[]));
    let [quota, check] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&*check.0, check.1), ("AdmissionCheck prov", 300));
    assert!(quota.0 == "quota of ClusterQueue research" && quota.1 > 400, "{quota:?}");
}

#[test]
fn a_jobset_that_is_evicted_again_and_again_before_it_is_ready_is_reported_as_a_loop() {
    let timeout = "waitForPodsReady: {timeout: 15s, requeuingStrategy: {backoffBaseSeconds: 3}}\n";
    let replication = replicated(&format!("{DEFAULTS}{timeout}"), &[("containers[0].startAfter", "60s")]);
    let loops = replication.view(1, &[]).preemption_loops();
    let is_named = |text: &String| text.starts_with("eviction loop: JobSet train was evicted ");
    assert!(loops.iter().any(is_named), "{loops:?}");
    assert!(loops[0].contains("last reason: PodsReadyTimeout"), "{loops:?}");
}

/// A history in which JobSets, by number, preempted others, and some have finished.
fn preemptions(counts: &[(u32, u32, usize)], finished: &[u32]) -> AdmissionHistory {
    let preempted = |own: u32| {
        let by_own = counts.iter().filter(|(preemptor, ..)| *preemptor == own);
        by_own
            .flat_map(|(_, other, count)| vec![(SimTime::ZERO, WorkloadOfRun::JobSet(JobSetId(*other))); *count])
            .collect()
    };
    let job_set = |own: u32| JobSetAdmission {
        jobset: JobSetId(own),
        preempted: preempted(own),
        finished: finished.contains(&own).then_some(SimTime::ZERO),
        ..JobSetAdmission::default()
    };
    AdmissionHistory { job_sets: (0..3).map(job_set).collect(), ..AdmissionHistory::default() }
}

/// Preemptions as (preemptor, victim, number), the finished JobSets, and the loops that are reported.
type LoopRow = (&'static [(u32, u32, usize)], &'static [u32], Vec<String>);

#[test]
fn jobsets_that_preempt_each_other_three_times_without_an_end_are_reported_as_a_loop() {
    let loop_of = |a: &str, b: &str, ab: usize, ba: usize| {
        format!(
            "preemption loop: JobSet {a} preempted JobSet {b} {ab} times and was preempted by it {ba} times, and \
             neither has finished"
        )
    };
    let table: [LoopRow; 7] = [
        (&[(0, 1, 3), (1, 0, 3)], &[], vec![loop_of("a", "b", 3, 3)]),
        (&[(1, 0, 5), (0, 1, 4)], &[], vec![loop_of("a", "b", 4, 5)]),
        (&[(0, 1, 3), (1, 0, 2)], &[], vec![]),
        (&[(0, 1, 9)], &[], vec![]),
        (&[(0, 1, 3), (1, 0, 3)], &[1], vec![]),
        (&[(0, 2, 3), (2, 0, 3), (1, 2, 3), (2, 1, 4)], &[], vec![loop_of("a", "c", 3, 3), loop_of("b", "c", 3, 4)]),
        // A circle of three is not a loop of two.
        (&[(0, 1, 9), (1, 2, 9), (2, 0, 9)], &[], vec![]),
    ];
    for (counts, finished, expected) in table {
        let found = preemption_loops(&preemptions(counts, finished));
        let names = |jobset: JobSetId| ["a", "b", "c"][jobset.ix()].to_owned();
        let texts: Vec<String> = found.iter().map(|found| found.describe(names)).collect();
        assert_eq!(texts, expected, "{counts:?} {finished:?}");
    }
}

/// A JobSet of one Job in a LocalQueue, with one pod per 4 accelerators.
fn job(name: &str, queue: &str, accelerators: u32) -> String {
    let pods = accelerators / 4;
    let containers = "[{name: main, image: i, resources: {limits: {example.com/accelerator: 4}}}]";
    let pod = format!("{{spec: {{restartPolicy: Never, containers: {containers}}}}}");
    let job = format!("{{parallelism: {pods}, completions: {pods}, backoffLimit: 0, template: {pod}}}");
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}, labels: \
         {{kueue.x-k8s.io/queue-name: {queue}}}}}\nspec: {{replicatedJobs: [{{name: w, template: {{spec: {job}}}}}]}}\n"
    )
}

/// Returns each admission with its second for JobSets that run for 20 minutes.
fn shared(sharing: &str, scope: &str, past_usage_of_b: &str, jobs: &[(&str, &str, u32)]) -> Vec<(String, u64)> {
    shared_run(sharing, scope, past_usage_of_b, jobs, "[{runFor: 20m}]").0
}

/// JobSets (name, LocalQueue, accelerators), submitted 10 s apart, in a ClusterQueue with 64 accelerators, the
/// LocalQueues a and b, and admission fair sharing. Returns each admission with its second, and the outcome.
fn shared_run(
    sharing: &str, scope: &str, past_usage_of_b: &str, jobs: &[(&str, &str, u32)], containers: &str,
) -> (Vec<(String, u64)>, RunOutcome) {
    let queues = std::fs::read_to_string(support::root().join("scenarios/manifests/kueue-queues.yaml"))
        .unwrap_or_else(|e| panic!("{e}"));
    let queues = queues.replace("  namespaceSelector: {}\n", &format!("  namespaceSelector: {{}}\n{scope}"));
    let local = |name: &str, status: &str| {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {{name: {name}}}\nspec: \
             {{clusterQueue: research}}\n{status}"
        )
    };
    let status = format!(
        "status: {{fairSharing: {{weightedShare: 0, admissionFairSharingStatus: {{consumedResources: \
         {{example.com/accelerator: {past_usage_of_b}}}, lastUpdate: 2026-01-01T00:00:00Z}}}}}}\n"
    );
    let queues = format!("{queues}{}{}---\n{DEFAULTS}{sharing}", local("a", ""), local("b", &status));
    let mut files = vec![("queues.yaml".to_owned(), queues)];
    let mut submitted = String::new();
    for (k, (name, queue, accelerators)) in jobs.iter().enumerate() {
        files.push((format!("{name}.yaml"), job(name, queue, *accelerators)));
        submitted += &format!("  - {{manifest: {name}.yaml, submitAt: {}s}}\n", 10 * k);
    }
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: shared}}\ntopology: small-16\n\
         objects: [{{manifest: queues.yaml}}]\njobSets:\n{submitted}\
         containers: {containers}\nstop: {{at: 3h, when: AllJobSetsFinished}}\nseed: 1\n"
    );
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let scenario = support::parse_with(&scenario, &files).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    let outcome = simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let admission = |record: &SimulationRecord| match record.body {
        Body::WorkloadCondition { jobset, kind, status: true, .. } if kind.as_str() == "Admitted" => {
            Some((names.jobset(jobset).to_string(), record.at.0 / 1_000_000_000))
        }
        _ => None,
    };
    (checker.records.iter().filter_map(admission).collect(), outcome)
}

const USAGE_BASED: &str = "  admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}\n";

#[test]
fn under_admission_fair_sharing_the_heavy_user_waits_for_the_light_one() {
    let jobs = [("heavy-1", "a", 64), ("heavy-2", "a", 64), ("light", "b", 64)];
    let sharing = "admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: 1m}\n";
    let reset = "admissionFairSharing: {usageHalfLifeTime: 0s}\n";
    let table = [
        ("usage of a", sharing, USAGE_BASED, "0", ["heavy-1", "light", "heavy-2"]),
        ("no mode", sharing, "", "0", ["heavy-1", "heavy-2", "light"]),
        ("no configuration", "", USAGE_BASED, "0", ["heavy-1", "heavy-2", "light"]),
        ("no half-life", reset, USAGE_BASED, "0", ["heavy-1", "heavy-2", "light"]),
        // After 20 min: 1000 · 0.5^(1/3) = 794 of b against 64 · (1 − 0.5^(1/3)) = 13 of a.
        ("past usage of b", sharing, USAGE_BASED, "1k", ["heavy-1", "heavy-2", "light"]),
    ];
    for (name, sharing, scope, past_usage, expected) in table {
        let order: Vec<String> = shared(sharing, scope, past_usage, &jobs).into_iter().map(|(job, _)| job).collect();
        assert_eq!(order, expected, "{name}");
    }
}

#[test]
fn a_sample_of_the_usage_lets_the_scheduler_try_the_workload_of_another_local_queue() {
    // The job of a uses 32, so 64 more do not fit, and StrictFIFO keeps this Workload at the head. Its LocalQueue has
    // the usage 32 · (1 − 0.5^(n + 1)) after the sample n, and b has 100 · 0.5^n: 24 and 50 after 60 s, 28 and 25
    // after 120 s. Then the job of b is the head, and fits.
    let jobs = [("running", "a", 32), ("blocked", "a", 64), ("small", "b", 16)];
    let sharing = "admissionFairSharing: {usageHalfLifeTime: 1m, usageSamplingInterval: 1m}\n";
    let scope = format!("  queueingStrategy: StrictFIFO\n{USAGE_BASED}");
    let admissions = shared(sharing, &scope, "100", &jobs);
    assert_eq!(admissions[1], ("small".to_owned(), 120), "{admissions:?}");
}

#[test]
fn a_run_continues_while_samples_of_the_usage_will_change_the_order_of_local_queues() {
    // As above with a half-life of 1 h: the usages 32 · (1 − 0.5^t) and past · 0.5^t cross after t hours.
    let jobs = [("running", "a", 32), ("blocked", "a", 64), ("small", "b", 16)];
    let sharing = "admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: 5m}\n";
    let scope = format!("  queueingStrategy: StrictFIFO\n{USAGE_BASED}");
    let table = [
        ("they cross after log2(132/32) = 2.04 h", "100", "a", Some(7_500), EndReason::Stuck),
        ("they cross after log2(332/32) = 3.4 h, after the time limit", "300", "a", None, EndReason::TimeLimit),
        ("one LocalQueue has no order", "100", "b", None, EndReason::Stuck),
    ];
    for (name, past_usage, of_running, admitted, end) in table {
        let mut jobs = jobs;
        if of_running == "b" {
            jobs = jobs.map(|(job, _, size)| (job, "b", size));
        }
        let (admissions, outcome) = shared_run(sharing, &scope, past_usage, &jobs, "[]");
        let small = admissions.iter().find(|(job, _)| job == "small").map(|(_, second)| *second);
        assert_eq!((small, outcome.end_reason), (admitted, end), "{name}: {admissions:?}");
        assert!(outcome.blocked.iter().any(|blocked| blocked.contains("JobSet blocked")), "{name}");
    }
}

#[test]
fn inline_objects_of_kueue_have_the_effect_of_those_in_a_file() {
    let read = |name: &str| std::fs::read_to_string(support::root().join("scenarios").join(name)).expect("a file");
    let queues = read("manifests/kueue-queues.yaml");
    let item = |object: &str| format!("  - {}\n", object.trim().replace('\n', "\n    "));
    let inline: String = queues.split("\n---\n").map(item).collect();
    let scenario = read("kueue.yaml").replace("../topologies/small-16.yaml", "small-16");
    let with_inline = scenario.replace("  - manifest: manifests/kueue-queues.yaml\n", &inline);
    assert!(with_inline.contains("kind: LocalQueue"), "{with_inline}");
    let files = ["kueue-queues", "kueue-train", "kueue-urgent"].map(|name| format!("manifests/{name}.yaml"));
    let files: Vec<(String, String)> = files.into_iter().map(|name| (name.clone(), read(&name))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let digest = |text: &str| {
        let scenario = support::parse_with(text, &files).unwrap_or_else(|e| panic!("{e}"));
        support::simulation(&scenario).run(1, 0, &mut DiscardSink).digest
    };
    assert_eq!(digest(&with_inline), digest(&scenario));
}

#[test]
fn a_jobset_without_a_queue_gets_the_running_local_queue_named_default_in_its_namespace() {
    let queues = std::fs::read_to_string(support::root().join("scenarios/manifests/kueue-queues.yaml"))
        .unwrap_or_else(|e| panic!("{e}"));
    let with_label = job("j", "training", 4);
    let without = with_label.replace(", labels: {kueue.x-k8s.io/queue-name: training}", "");
    let with_empty = with_label.replace("queue-name: training", "queue-name: \"\"");
    let local = |metadata: &str, stop: &str| {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {{name: default{metadata}}}\nspec: \
             {{clusterQueue: research{stop}}}\n"
        )
    };
    let table = [
        ("no default queue", &without, String::new(), None),
        ("default queue", &without, local("", ""), Some("default")),
        ("empty label", &with_empty, local("", ""), Some("default")),
        ("own queue", &with_label, local("", ""), Some("training")),
        ("other namespace", &without, local(", namespace: other", ""), None),
        ("stopped", &without, local("", ", stopPolicy: Hold"), None),
    ];
    for (name, jobset, local, expected) in table {
        let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: defaults}\ntopology: \
                        small-16\nobjects: [{manifest: queues.yaml}]\njobSets: [{manifest: job.yaml}]\n";
        let queues = format!("{queues}{local}");
        let files = [("queues.yaml", queues.as_str()), ("job.yaml", jobset.as_str())];
        let scenario = support::parse_with(scenario, &files).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(scenario.jobsets[0].jobset.kueue_queue(), expected, "{name}");
        let mut simulation = support::simulation(&scenario);
        let mut kept = KeepSink::default();
        simulation.run(1, 0, &mut kept);
        let has_workload = kept.0.iter().any(|record| matches!(record.body, Body::WorkloadCondition { .. }));
        assert_eq!(has_workload, expected.is_some(), "{name}");
    }
}

/// Without objects of Kueue, its webhook does not run.
#[test]
fn a_run_with_kueue_refuses_what_its_webhook_for_jobsets_refuses() {
    let dir = scratch("kueue-webhook");
    let train = std::fs::read_to_string("scenarios/manifests/kueue-train.yaml").unwrap();
    let size =
        "metadata: {annotations: {kueue.x-k8s.io/podset-slice-size: \"2\"}}\n            spec:\n              restart";
    let wrong = train.replace("spec:\n              restart", size);
    assert_ne!(wrong, train);
    let file = dir.join("train.yaml");
    std::fs::write(&file, wrong).unwrap();
    let file = file.to_str().unwrap();
    let message = "admission webhook \"vjobset.kb.io\" denied the request: \
                   spec.replicatedJobs[0].template.spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: \
                   Forbidden: may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is not specified";
    for command in ["lint", "run"] {
        let output = program(&[command, "-f", "scenarios/manifests/kueue-queues.yaml", "-f", file]).output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && text.contains(message), "{command}: {text}");
        let output = program(&[command, "-f", file]).output().unwrap();
        assert!(!String::from_utf8(output.stdout).unwrap().contains("denied"), "{command} without Kueue");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// A JobSet of four pods, with its metadata besides the name.
fn four_pods(name: &str, metadata: &str, pod: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}, {metadata}}}\nspec:\n  \
         replicatedJobs:\n    - name: w\n      template:\n        spec: {{parallelism: 4, completions: 4, backoffLimit: 0, \
         template: {{spec: {{{pod}restartPolicy: Never, containers: [{{name: c, image: x, resources: {{requests: {{cpu: \
         1}}}}}}]}}}}}}\n"
    )
}

const IN_QUEUE: &str = "labels: {kueue.x-k8s.io/queue-name: l}";

const TWO_QUEUES: &str = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\n\
    apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  namespaceSelector: {}\n  \
    preemption: {withinClusterQueue: LowerPriority}\n  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, \
    resources: [{name: cpu, nominalQuota: 4}]}]}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: \
    {name: l, namespace: default}\nspec: {clusterQueue: cq}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: \
    ClusterQueue\nmetadata: {name: cq2}\nspec:\n  namespaceSelector: {}\n  resourceGroups: [{coveredResources: [cpu], \
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]\n---\napiVersion: \
    kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l2, namespace: default}\nspec: {clusterQueue: cq2}\n---\n\
    apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: top}\nvalue: 500\n";

/// Returns what `run` prints in a directory with these files.
fn print_files(name: &str, files: &[(&str, &str)], arguments: &[&str]) -> String {
    let dir = scratch(name);
    files.iter().for_each(|(file, text)| std::fs::write(dir.join(file), text).unwrap());
    let output = program(&[&["run"], arguments].concat()).current_dir(&dir).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Inputs of a run with the JobSet `low`, which fills the ClusterQueue `cq`, and the JobSet `later` after 20 s.
#[derive(Default)]
struct TwoJobSets<'a> {
    /// Metadata of `later` besides the name; its queue if empty.
    metadata: &'a str,
    /// Further fields of its pods, with a comma at the end.
    pod: &'a str,
    /// Documents before the queues, each with its separator.
    objects: &'a str,
    /// Script of the scenario.
    faults: &'a str,
}

impl TwoJobSets<'_> {
    /// Returns the conditions of Workloads, changes of readiness and Events, and why JobSets are blocked.
    fn play(&self) -> Result<(Vec<String>, RunOutcome), String> {
        let metadata = if self.metadata.is_empty() { IN_QUEUE } else { self.metadata };
        self.play_manifest(&four_pods("later", metadata, self.pod))
    }

    /// Returns the scenario and its files.
    fn files(&self, later: &str) -> (String, Vec<(&'static str, String)>) {
        let low = four_pods("low", IN_QUEUE, "");
        let objects = format!("{}{TWO_QUEUES}", self.objects);
        let faults = if self.faults.is_empty() { "[]" } else { self.faults };
        let scenario = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: two}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: eight}}\n  pools: [{{name: \"n-{{node}}\", \
             nodesPerIsland: 8, labels: {{pool: one}}, allocatable: {{cpu: 2, memory: 64Gi}}}}]\nobjects: [{{manifest: objects.yaml}}]\njobSets: [{{manifest: \
             low.yaml}}, {{manifest: later.yaml, submitAt: 20s}}]\nfaults: {faults}\nstop: {{at: 3m}}\nseed: 1\n"
        );
        (scenario, vec![("low.yaml", low), ("later.yaml", later.to_owned()), ("objects.yaml", objects)])
    }

    /// Returns what `run` prints, on one line.
    fn print(&self, name: &str) -> String {
        let metadata = if self.metadata.is_empty() { IN_QUEUE } else { self.metadata };
        self.print_manifest(name, &four_pods("later", metadata, self.pod))
    }

    fn print_manifest(&self, name: &str, later: &str) -> String {
        let (scenario, files) = self.files(later);
        let files = files.iter().map(|(file, text)| (*file, text.as_str())).chain([("scenario.yaml", &*scenario)]);
        print_files(name, &files.collect::<Vec<_>>(), &["scenario.yaml"])
    }

    fn play_manifest(&self, later: &str) -> Result<(Vec<String>, RunOutcome), String> {
        let (scenario, files) = self.files(later);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let scenario = support::parse_with(&scenario, &files).map_err(|e| e.to_string())?;
        let mut simulation = support::simulation(&scenario);
        simulation.set_paranoid(true);
        let mut sink = KeepSink::default();
        let outcome = simulation.run(1, 0, &mut sink);
        let names = simulation.names();
        let text = |record: &SimulationRecord| match record.body {
            Body::ExistingCondition { workload, kind, status, reason, .. } => {
                let name = names.text(workload).trim_start_matches("default/");
                Some(format!("{name} {}={status} {}", kind.as_str(), names.text(reason)))
            }
            Body::WorkloadCondition { jobset, kind, status, reason, .. } => {
                Some(format!("{} {}={status} {}", names.jobset(jobset), kind.as_str(), names.text(reason)))
            }
            Body::AllReady { jobset, ready } => Some(format!("{} ready={ready}", names.jobset(jobset))),
            Body::KubeEvent { object: ObjectRef::JobSet(jobset), reason, message, .. } => {
                Some(format!("{} {}: {}", names.jobset(jobset), names.text(reason), names.text(message)))
            }
            Body::KubeEvent { object: ObjectRef::Pod(_), reason, message, .. } => {
                Some(format!("pod {}: {}", names.text(reason), names.text(message)))
            }
            _ => None,
        };
        Ok((sink.0.iter().filter_map(text).collect(), outcome))
    }
}

/// Returns whether the second JobSet preempts the first.
fn is_preempted_by(pod: &str, classes: &str) -> bool {
    let inputs = TwoJobSets { pod, objects: classes, ..TwoJobSets::default() };
    let (texts, _) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
    texts.iter().any(|text| text == "low Evicted=true Preempted")
}

/// `ensureOneWorkload`, `UpdateWorkloadPriority` and `handleQueueNameChange` of Kueue's reconciler.
#[test]
fn labels_of_kueue_that_change_during_a_run_take_effect() {
    let patch = |name: &str, metadata: &str| {
        format!("[{{at: 30s, patch: {{kind: JobSet, name: {name}, merge: {{metadata: {metadata}}}}}}}]")
    };
    let label =
        |name: &str, key: &str, value: &str| patch(name, &format!("{{labels: {{kueue.x-k8s.io/{key}: {value}}}}}"));
    let gated = "labels: {kueue.x-k8s.io/queue-name: l2}, annotations: {kueue.x-k8s.io/admission-gated-by: acme.io/a}";
    let limited = "labels: {kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/max-exec-time-seconds: '9'}";
    type Texts<'t> = &'t [&'t str];
    let cases: [(&str, &str, String, Texts, Texts); 8] = [
        (
            "a class raises the priority of a pending Workload",
            "",
            label("later", "priority-class", "top"),
            &[
                "later UpdatedWorkload: Updated workload priority class", "low Evicted=true Preempted",
                "later ready=true",
            ],
            &[],
        ),
        (
            "a class that does not exist stops the reconciler",
            "",
            label("later", "priority-class", "other"),
            &["later WorkloadPriorityClassNotFound: WorkloadPriorityClass \"other\" not found"],
            &["low Evicted=true", "later ready=true"],
        ),
        (
            "a pending Workload changes its queue",
            "",
            label("later", "queue-name", "l2"),
            &["later QuotaReserved=true QuotaReserved", "later ready=true"],
            &["low Evicted=true"],
        ),
        (
            "a queue that does not exist",
            "",
            label("later", "queue-name", "nowhere"),
            &["later QuotaReserved=false Misconfigured"],
            &["later ready=true"],
        ),
        (
            "a running JobSet keeps its queue, because the webhook refuses the change",
            "",
            label("low", "queue-name", "l2"),
            &[],
            &["low Evicted=true", "low Stopped", "later ready=true"],
        ),
        (
            "a running JobSet without a class gets none",
            "",
            label("low", "priority-class", "top"),
            &[],
            &["low UpdatedWorkload"],
        ),
        (
            "the last gate is removed",
            gated,
            patch("later", "{annotations: {kueue.x-k8s.io/admission-gated-by: null}}"),
            &[
                "later QuotaReserved=false AdmissionGated", "later UpdatedWorkload: Updated workload AdmissionGatedBy",
                "later ready=true",
            ],
            &[],
        ),
        (
            "the execution time of a pending Workload changes its spec",
            limited,
            label("later", "max-exec-time-seconds", "'90'"),
            &["later UpdatedWorkload: Updated not matching Workload for suspended job"],
            &["later DeletedWorkload"],
        ),
    ];
    for (situation, metadata, faults, expected, absent) in cases {
        let inputs = TwoJobSets { metadata, faults: &faults, ..TwoJobSets::default() };
        let (texts, _) = inputs.play().unwrap_or_else(|e| panic!("{situation}: {e}"));
        let place = |text: &&str| texts.iter().position(|t| t.starts_with(*text));
        let places: Vec<Option<usize>> = expected.iter().map(place).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{situation}: {}", texts.join("\n"));
        assert!(absent.iter().all(|text| place(text).is_none()), "{situation}: {}", texts.join("\n"));
    }
}

#[test]
fn kueue_creates_no_workload_that_its_webhook_refuses() {
    let cases = [
        (
            "an annotation of the pods without a valid key",
            IN_QUEUE,
            "",
            Some("metadata: {annotations: {Bad_key/x y: z}}, spec"),
            "admission webhook \"vworkload.kb.io\" denied the request: [spec.podSets[0].template.metadata.annotations: Invalid \
             value: \"Bad_key/x y\"",
        ),
        (
            "a prebuilt Workload that does not exist",
            "labels: {kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/prebuilt-workload-name: pre}",
            "",
            None,
            "it waits for Workload pre",
        ),
        (
            "a class that does not exist",
            "labels: {kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/priority-class: other}",
            "",
            None,
            "WorkloadPriorityClass other does not exist",
        ),
    ];
    for (situation, metadata, pod, template, why) in cases {
        let later = four_pods("later", metadata, pod);
        let later = template
            .map_or(later.clone(), |template| later.replacen("template: {spec", &format!("template: {{{template}"), 1));
        let inputs = TwoJobSets { metadata, ..TwoJobSets::default() };
        let (texts, outcome) = inputs.play_manifest(&later).unwrap_or_else(|e| panic!("{situation}: {e}"));
        assert!(!texts.iter().any(|text| text.starts_with("later Quota")), "{situation}: {}", texts.join("\n"));
        let blocked = outcome.blocked.join("\n");
        assert!(blocked.contains(&format!("Kueue creates no Workload for it: {why}")), "{situation}: {blocked}");
    }
}

#[test]
fn a_jobset_waits_in_the_place_of_its_prebuilt_workload() {
    let metadata = "labels: {kueue.x-k8s.io/queue-name: l2, kueue.x-k8s.io/prebuilt-workload-name: pre}";
    let prebuilt = |count: u32| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: pre, namespace: default, uid: u, \
             creationTimestamp: \"2026-01-01T00:00:00Z\"}}\nspec: {{queueName: l2, podSets: [{{name: w, count: {count}, \
             template: {{spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}]}}\n---\n"
        )
    };
    for (count, is_equal) in [(4, true), (3, false)] {
        let objects = prebuilt(count);
        let inputs = TwoJobSets { metadata, objects: &objects, ..TwoJobSets::default() };
        let (texts, outcome) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(texts.iter().any(|text| text == "later ready=true"), is_equal, "{}", texts.join("\n"));
        assert!(!texts.iter().any(|text| text.starts_with("later CreatedWorkload")), "{}", texts.join("\n"));
        let blocked = outcome.blocked.join("\n");
        assert_eq!(blocked.contains("the prebuilt Workload pre is out of sync"), !is_equal, "{blocked}");
        let ended = "pre Finished=true OutOfSync";
        assert_eq!(texts.iter().any(|text| text == ended), !is_equal, "{}", texts.join("\n"));
    }
}

/// `comparePodTemplate`: containers as Go compares them, also the fields without an effect on the model.
#[test]
fn a_prebuilt_workload_with_other_containers_is_out_of_sync() {
    let metadata = "labels: {kueue.x-k8s.io/queue-name: l2, kueue.x-k8s.io/prebuilt-workload-name: pre}";
    let requests = "resources: {requests: {cpu: 1}}";
    let cases = [
        (format!("containers: [{{name: c, image: x, {requests}}}]"), "", true),
        ("containers: [{name: c, image: x, resources: {requests: {cpu: 1000m}}}]".to_owned(), "", true),
        (format!("initContainers: [], containers: [{{name: c, image: x, env: [], tty: false, {requests}}}]"), "", true),
        (format!("hostNetwork: true, containers: [{{name: c, image: x, {requests}}}]"), "", true),
        ("containers: [{name: c, image: x, resources: {requests: {cpu: 2}}}]".to_owned(), "", false),
        ("containers: [{name: c, image: x, resources: {requests: {cpu: 1}, limits: {cpu: 1}}}]".to_owned(), "", false),
        (format!("containers: [{{name: c, image: other, {requests}}}]"), "", false),
        (format!("containers: [{{name: d, image: x, {requests}}}]"), "", false),
        (format!("containers: [{{name: c, image: x, command: [run], {requests}}}]"), "", false),
        (format!("containers: [{{name: c, image: x, ports: [{{containerPort: 1}}], {requests}}}]"), "", false),
        (format!("initContainers: [{{name: i}}], containers: [{{name: c, image: x, {requests}}}]"), "", false),
        (format!("containers: [{{name: c, image: x, {requests}}}]"), "minCount: 2, ", false),
        // The Workload is admitted before the JobSet is submitted, and Kueue then ignores tolerations.
        (
            format!("tolerations: [{{key: a, operator: Exists}}], containers: [{{name: c, image: x, {requests}}}]"),
            "",
            true,
        ),
    ];
    for (spec, field, is_equal) in cases {
        let objects = format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: pre, namespace: default}}\nspec: \
             {{queueName: l2, podSets: [{{name: w, count: 4, {field}template: {{spec: {{{spec}}}}}}}]}}\n---\n"
        );
        let inputs = TwoJobSets { metadata, objects: &objects, ..TwoJobSets::default() };
        let (texts, outcome) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(texts.iter().any(|text| text == "later ready=true"), is_equal, "{spec}: {}", texts.join("\n"));
        let blocked = outcome.blocked.join("\n");
        assert_eq!(blocked.contains("the prebuilt Workload pre is out of sync"), !is_equal, "{spec}: {blocked}");
    }
}

/// `ensurePrebuiltWorkloadInSync` ends the Workload; other Workloads of a changed JobSet are updated.
#[test]
fn a_waiting_jobset_that_changes_ends_its_prebuilt_workload() {
    let objects = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq3}\nspec: {namespaceSelector: {}, \
                   resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: \
                   3}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l3, namespace: \
                   default}\nspec: {clusterQueue: cq3}\n---\n\
                   apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: pre, namespace: default}\nspec: \
                   {queueName: l3, podSets: [{name: w, count: 4, template: {spec: {containers: [{name: c, image: x, \
                   resources: {requests: {cpu: 1}}}]}}}]}\n---\n";
    let faults = "[{at: 40s, patch: {kind: JobSet, name: later, merge: {metadata: {labels: \
                  {kueue.x-k8s.io/max-exec-time-seconds: \"60\"}}}}}]";
    let metadata = "labels: {kueue.x-k8s.io/queue-name: l3, kueue.x-k8s.io/prebuilt-workload-name: pre}";
    let inputs = TwoJobSets { metadata, objects, faults, ..TwoJobSets::default() };
    let (texts, outcome) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
    assert!(texts.iter().any(|text| text == "later Finished=true OutOfSync"), "{}", texts.join("\n"));
    let silent =
        |text: &String| !["later DeletedWorkload", "later FinishedWorkload"].iter().any(|e| text.starts_with(e));
    assert!(texts.iter().all(silent), "{}", texts.join("\n"));
    let blocked = outcome.blocked.join("\n");
    assert!(blocked.contains("the prebuilt Workload pre is out of sync with it"), "{blocked}");
}

/// Kueue adds the gate of its topology to the pod template, and the API server refuses a pod with gates and `nodeName`.
#[test]
fn pods_with_a_node_name_are_refused_in_a_flavor_with_a_topology() {
    let objects = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: {levels: [{nodeLabel: \
                   kubernetes.io/hostname}]}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: \
                   {name: ft}\nspec: {nodeLabels: {pool: one}, topologyName: t}\n---\napiVersion: \
                   kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq3}\nspec: {namespaceSelector: {}, \
                   resourceGroups: [{coveredResources: [cpu], flavors: [{name: ft, resources: [{name: cpu, nominalQuota: \
                   4}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l3, namespace: \
                   default}\nspec: {clusterQueue: cq3}\n---\n";
    let jobset = four_pods("later", "labels: {kueue.x-k8s.io/queue-name: l3}", "nodeName: n-0, ");
    let annotated = |level: &str| {
        let metadata =
            format!("template: {{metadata: {{annotations: {{kueue.x-k8s.io/podset-{level}}}}}, spec: {{nodeName");
        jobset.replace("template: {spec: {nodeName", &metadata)
    };
    for later in [
        jobset.clone(),
        annotated("required-topology: kubernetes.io/hostname"),
        annotated("unconstrained-topology: \"true\""),
    ] {
        let inputs = TwoJobSets { objects, ..TwoJobSets::default() };
        let (texts, outcome) = inputs.play_manifest(&later).unwrap_or_else(|e| panic!("{e}"));
        let admitted = "later Admitted=true Admitted";
        let is_admitted = texts.iter().any(|text| text == admitted);
        let blocked = outcome.blocked.join("\n");
        let why = "is invalid: spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared";
        let is_placeable = !later.contains("required");
        assert!(!is_placeable || is_admitted && blocked.contains(why), "{later}: {blocked}\n{}", texts.join("\n"));
        assert!(!texts.iter().any(|text| text == "later ready=true"), "{}", texts.join("\n"));
    }
}

#[test]
fn the_reason_of_a_wait_names_the_admission_check_without_an_object_or_a_controller() {
    let queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq3}\nspec:\n  namespaceSelector: \
                 {}\n  admissionChecksStrategy: {admissionChecks: [{name: prov}]}\n  resourceGroups: [{coveredResources: \
                 [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]\n---\napiVersion: \
                 kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l3, namespace: default}\nspec: {clusterQueue: \
                 cq3}\n---\n";
    let check = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: prov}\nspec: {controllerName: \
                 example.com/prov}\n---\n";
    let unchecked = queue.replace("  admissionChecksStrategy: {admissionChecks: [{name: prov}]}\n", "");
    let flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: ft}\nspec: {nodeLabels: {pool: \
                  one}, topologyName: zz}\n---\n";
    let cohort = |name: &str, parent: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {{name: {name}}}\nspec: {{parentName: \
             {parent}}}\n---\n"
        )
    };
    for (objects, why) in [
        (
            queue.to_owned(),
            "ClusterQueue cq3 is inactive; it refers to AdmissionCheck prov, which the inputs do not contain",
        ),
        (format!("{queue}{check}"), "waits for AdmissionCheck prov: its controller example.com/prov is not simulated"),
        (
            format!("{}{flavor}", unchecked.replace("name: f,", "name: ft,")),
            "ClusterQueue cq3 is inactive; it refers to Topology zz (of ResourceFlavor ft), which the inputs do not contain",
        ),
        (
            format!(
                "{}{}{}",
                cohort("c", "d"),
                cohort("d", "c"),
                unchecked.replace("Selector: {}", "Selector: {}\n  cohortName: c")
            ),
            "ClusterQueue cq3 is inactive; the parents of its Cohorts form a cycle: c, d",
        ),
    ] {
        let metadata = "labels: {kueue.x-k8s.io/queue-name: l3}";
        let inputs = TwoJobSets { metadata, objects: &objects, ..TwoJobSets::default() };
        let (_, outcome) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        let blocked = outcome.blocked.join("\n");
        assert!(blocked.contains(why), "{why}: {blocked}");
    }
}

#[test]
fn without_jobset_among_the_frameworks_kueue_ignores_jobsets() {
    let configuration = |frameworks: &str| {
        format!(
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {{frameworks: \
             [{frameworks}]}}\n---\n"
        )
    };
    for (frameworks, is_managed) in [("batch/job", false), ("batch/job, jobset.x-k8s.io/jobset", true)] {
        let objects = configuration(frameworks);
        let inputs = TwoJobSets { objects: &objects, ..TwoJobSets::default() };
        let (texts, _) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        let has = |text: &str| texts.iter().any(|t| t.starts_with(text));
        assert_eq!(
            (has("low QuotaReserved"), has("later ready=true")),
            (is_managed, !is_managed),
            "{}",
            texts.join("\n")
        );
    }
}

/// JobSets of TrainJobs are managed by the framework of TrainJobs: Trainer does not copy the labels of a TrainJob.
#[test]
fn the_framework_of_train_jobs_decides_about_their_jobsets() {
    let train_job = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t, labels: \
                     {kueue.x-k8s.io/queue-name: l}}\nspec:\n  runtimeRef: {name: rt}\n  trainer: {numNodes: 5, image: \
                     'x:1', resourcesPerNode: {requests: {cpu: 1}}}\n---\napiVersion: \
                     trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: rt}\nspec:\n  mlPolicy: \
                     {numNodes: 1, torch: {}}\n  template: {spec: {replicatedJobs: [{name: node, template: {metadata: \
                     {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: \
                     [{name: node, image: 'x:1'}]}}}}}]}}\n";
    let (of_jobset, of_train_job) = ("jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob");
    let both = format!("{of_jobset}, {of_train_job}");
    for (frameworks, is_managed) in [(of_jobset, false), (of_train_job, true), (&both, true)] {
        let configuration = format!(
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {{frameworks: \
             [{frameworks}]}}\n---\n{TWO_QUEUES}"
        );
        let files = [("t.yaml", train_job), ("q.yaml", &configuration)];
        let printed = print_files("train-job", &files, &["-f", "t.yaml", "-f", "q.yaml"]);
        // The quota is 4 CPUs.
        assert_eq!(printed.contains("JobSet t: every pod is ready"), !is_managed, "{frameworks}: {printed}");
        assert_eq!(printed.contains("ExceedsMaxQuota"), is_managed, "{frameworks}: {printed}");
        let ignores = "ignores TrainJobs: integrations.frameworks of its Configuration lacks trainer";
        assert_eq!(printed.contains(ignores), !is_managed, "{frameworks}: {printed}");
    }
}

#[test]
fn the_class_named_default_counts_for_jobsets_that_name_none() {
    let class = |name: &str, value: u32| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n---\n"
        )
    };
    for (later, is_preempted) in [("top", false), ("highest", true)] {
        // `low` has the default class.
        let objects = format!("{}{}", class("default", 500), class("highest", 900));
        let metadata = format!("labels: {{kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/priority-class: {later}}}");
        let inputs = TwoJobSets { metadata: &metadata, objects: &objects, ..TwoJobSets::default() };
        let (texts, _) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(texts.iter().any(|text| text == "low Evicted=true Preempted"), is_preempted, "{}", texts.join("\n"));
    }
}

/// Rules of the CRDs and of the webhooks for objects other than Workloads.
#[test]
fn the_api_server_refuses_objects_of_kueue_that_break_the_rules_of_their_crds() {
    let object = |kind: &str, name: &str, spec: &str| {
        format!("apiVersion: kueue.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}}}\n{spec}\n---\n")
    };
    let groups =
        "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]";
    let flavor = |spec: &str| object("ResourceFlavor", "other", &format!("spec: {{{spec}}}"));
    let labels: Vec<String> = (0..9).map(|n| format!("l{n}: v")).collect();
    let queue = |spec: &str| object("ClusterQueue", "q", &format!("spec: {{{spec}, {groups}}}"));
    let selected = |selector: &str| queue(&format!("namespaceSelector: {{{selector}}}"));
    let checked = |checks: &str| queue(&format!("admissionChecksStrategy: {{admissionChecks: {checks}}}"));
    let cases = [
        (object("ClusterQueue", "\"A b\"", &format!("spec: {{{groups}}}")), "metadata.name: Invalid value: \"A b\""),
        (object("Cohort", "Bad_Name", ""), "metadata.name: Invalid value: \"Bad_Name\""),
        (
            object("ClusterQueue", "q", &format!("spec: {{cohortName: Bad_Name, {groups}}}")),
            "spec.cohortName in body should match",
        ),
        (object("Cohort", "c", "spec: {parentName: Bad_Name}"), "spec.parentName in body should match"),
        (object("LocalQueue", "q", "spec: {clusterQueue: Bad_Name}"), "spec.clusterQueue in body should match"),
        (
            object("ClusterQueue", "q", &format!("spec: {{{}}}", groups.replace("name: f,", "name: Bad_Name,"))),
            "spec.resourceGroups[0].flavors[0].name in body should match",
        ),
        (flavor("nodeLabels: {a: b}, topologyName: Bad_Name"), "spec.topologyName in body should match"),
        (
            flavor("tolerations: [{operator: Exists, key: a, value: b}]"),
            "a value must be empty when 'operator' is 'Exists'",
        ),
        (flavor("tolerations: [{operator: Equal, value: b}]"), "operator must be Exists when 'key' is empty"),
        (flavor("tolerations: [{key: a, operator: Exists, tolerationSeconds: 5}]"), "effect must be 'NoExecute'"),
        (flavor("tolerations: [{key: a, operator: Gt, value: '5'}]"), "supported toleration values"),
        (flavor("tolerations: [{key: a b, operator: Exists}]"), "spec.tolerations[0].key: Invalid value: \"a b\""),
        (flavor("nodeTaints: [{key: a b, effect: NoSchedule}]"), "spec.nodeTaints[0].key: Invalid value: \"a b\""),
        (
            flavor("nodeTaints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]"),
            "taints must be unique by key and effect pair",
        ),
        (flavor("nodeLabels: {a: b c}"), "spec.nodeLabels: Invalid value: \"b c\""),
        (
            flavor(&format!("nodeLabels: {{{}}}", labels.join(", "))),
            "spec.nodeLabels: Too many: 9: must have at most 8 items",
        ),
        (
            object("Topology", "t", "spec: {levels: [{nodeLabel: a b}]}"),
            "spec.levels[0].nodeLabel in body should match",
        ),
        (
            selected("matchExpressions: [{key: a, operator: In}]"),
            "spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' \
             or 'NotIn'",
        ),
        (
            selected("matchExpressions: [{key: a, operator: NotIn, values: []}]"),
            "spec.namespaceSelector.matchExpressions[0].values: Required value",
        ),
        (
            selected("matchExpressions: [{key: a, operator: DoesNotExist, values: [x]}]"),
            "spec.namespaceSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is \
             'Exists' or 'DoesNotExist'",
        ),
        (
            selected("matchExpressions: [{key: a, operator: Within, values: [x]}]"),
            "spec.namespaceSelector.matchExpressions[0].operator: Invalid value: \"Within\": not a valid selector operator",
        ),
        (
            selected("matchLabels: {a b: c}"),
            "spec.namespaceSelector.matchLabels: Invalid value: \"a b\": name part must",
        ),
        (
            object("ClusterQueue", "q", &format!("spec: {{{}}}", groups.replace("cpu", "Bad Resource"))),
            "spec.resourceGroups[0].coveredResources[0]: Invalid value: \"Bad Resource\": name part must",
        ),
        (checked("[]"), "spec.admissionChecksStrategy.admissionChecks in body should have at least 1 items"),
        (
            checked("[{name: a}, {name: a}]"),
            "spec.admissionChecksStrategy.admissionChecks[1]: Duplicate value: {\"name\":\"a\"}",
        ),
        (
            checked("[{name: a, onFlavors: [f, f]}]"),
            "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Duplicate value: \"f\"",
        ),
        (
            object(
                "AdmissionCheck",
                "a",
                "spec: {controllerName: x, parameters: {apiGroup: a.b, kind: bad kind, name: n}}",
            ),
            "spec.parameters.kind: Invalid value: \"bad kind\": spec.parameters.kind in body should match \
             '^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$'",
        ),
    ];
    for (objects, message) in cases {
        let inputs = TwoJobSets { objects: &objects, ..TwoJobSets::default() };
        let error = inputs.play().err().unwrap_or_else(|| panic!("accepted: {objects}"));
        assert!(error.contains(message), "{message}: {error}");
    }
}

/// Rules of the CRD and of the webhooks for Workloads, which users write as prebuilt ones.
#[test]
fn the_api_server_refuses_workloads_that_break_its_rules() {
    let template = "template: {spec: {containers: [{name: c, image: x}]}}";
    let with = |spec: &str, status: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: pre, namespace: default}}\nspec: \
             {{queueName: l2{spec}}}\n{status}\n---\n"
        )
    };
    let sets = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| format!("{{{set}, {template}}}")).collect();
        with(&format!(", podSets: [{}]", sets.join(", ")), "")
    };
    let one = |spec: &str| with(&format!(", podSets: [{{{template}}}]{spec}"), "");
    let status = |status: &str| {
        let reserved = "{type: QuotaReserved, status: 'True', reason: QuotaReserved, message: m, lastTransitionTime: \
                        2026-01-01T00:00:00Z}";
        with(
            &format!(", podSets: [{{name: w, count: 2, {template}}}]"),
            &format!("status: {{conditions: [{reserved}]{status}}}"),
        )
    };
    let many: Vec<String> = (0..19).map(|n| format!("name: a{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let refused = [
        (sets(&["count: -1"]), "spec.podSets[0].count in body should be greater than or equal to 0"),
        (
            sets(&["count: \"4\""]),
            "admission webhook \"mworkload.kb.io\" denied the request: json: cannot unmarshal string into Go struct field \
             PodSet.spec.podSets.count of type int32",
        ),
        (
            sets(&["name: a, minCount: 3, count: 2"]),
            "spec.podSets[0]: Invalid value: minCount should be positive and less",
        ),
        (sets(&["minCount: 0"]), "spec.podSets[0].minCount in body should be greater than or equal to 1"),
        (
            sets(&["name: a, minCount: 1", "name: b, minCount: 1"]),
            "spec.podSets: Invalid value: 2: at most one podSet can use minCount",
        ),
        (sets(&["name: a", "name: a"]), "spec.podSets[1]: Duplicate value: {\"name\":\"a\"}"),
        (sets(&["name: A"]), "spec.podSets[0].name in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'"),
        (sets(&many), "spec.podSets: Too many: 19: must have at most 18 items"),
        (
            with(", podSets: []", ""),
            "spec.podSets: Invalid value: 0: spec.podSets in body should have at least 1 items",
        ),
        (with(", podSets: [{count: 2}]", ""), "spec.podSets[0].template.spec.containers: Required value"),
        (one(", foo: 1"), "strict decoding error: unknown field \"spec.foo\""),
        (sets(&["cuont: 1"]), "strict decoding error: unknown field \"spec.podSets[0].cuont\""),
        (
            one(", priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: top}"),
            "spec: Invalid value: priority should not be nil when priorityClassRef is set",
        ),
        (
            one(", priority: 1, priorityClassRef: {group: kueue.x-k8s.io, kind: PriorityClass, name: top}"),
            "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group",
        ),
        (
            one(", priority: 1, priorityClassRef: {group: x, kind: PriorityClass, name: top}"),
            "spec.priorityClassRef.group: Unsupported value: \"x\"",
        ),
        (one(", maximumExecutionTimeSeconds: 0"), "should be greater than or equal to 1"),
        (one("").replace("queueName: l2", "queueName: L_2"), "spec.queueName in body should match"),
        (
            sets(&["topologyRequest: {podSetSliceSize: 2}"]),
            "spec.podSets[0].topologyRequest.podSetSliceSize: Forbidden: may not be set when podSetSliceRequiredTopology",
        ),
        (
            sets(&["count: 1"]).replace("image: x", "image: x, resources: {requests: {pods: 1}}"),
            "spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: \"pods\": the key is reserved",
        ),
        (
            one("").replace(
                "namespace: default",
                "namespace: default, annotations: {kueue.x-k8s.io/admission-gated-by: foo}",
            ),
            "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: \"foo\"",
        ),
        (status(""), "status.admission: Required value: must be set while the QuotaReserved condition is true"),
        (
            status(", admission: {clusterQueue: cq2, podSetAssignments: [{name: v, count: 2}]}"),
            "status.admission.podSetAssignments[0].name: Not found: \"v\"",
        ),
        (
            status(", admission: {clusterQueue: cq2}"),
            "podSetAssignments must have the same number of podSets as the spec",
        ),
        (
            status(
                ", admission: {clusterQueue: cq2, podSetAssignments: [{name: w}]}, reclaimablePods: [{name: w, count: 3}]",
            ),
            "status.reclaimablePods[w].count: Invalid value: 3: should be less or equal to 2",
        ),
    ];
    for (objects, message) in refused {
        let inputs = TwoJobSets { objects: &objects, ..TwoJobSets::default() };
        let error = inputs.play().err().unwrap_or_else(|| panic!("accepted: {objects}"));
        assert!(error.contains(message), "{message}: {error}");
    }
    let old = one(", priority: 1, priorityClassName: top, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass");
    let dumped = one(", foo: 1").replace("name: pre", "name: pre, uid: u");
    for objects in [one(""), dumped, old.replace("v1beta2", "v1beta1")] {
        let inputs = TwoJobSets { objects: &objects, ..TwoJobSets::default() };
        inputs.play().unwrap_or_else(|e| panic!("{objects}: {e}"));
    }
}

#[test]
fn unknown_fields_of_a_workload_in_a_dump_are_named() {
    let later = four_pods("later", IN_QUEUE, "");
    let template = "template: {spec: {containers: [{name: c, image: x}]}}";
    for (uid, field, is_named) in [(", uid: u", ", foo: 1", true), (", uid: u", "", false)] {
        let objects = format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: pre, namespace: default{uid}}}\nspec: \
             {{queueName: l2, podSets: [{{{template}{field}}}]}}\n---\n"
        );
        let printed = TwoJobSets { objects: &objects, ..TwoJobSets::default() }.print_manifest("unknown", &later);
        let note = "Workload.spec.podSets.foo (not a field of kueue.x-k8s.io/v1beta2)";
        assert_eq!(printed.contains(note), is_named, "{printed}");
    }
}

/// Inputs with a configuration of the manager.
fn configured(fields: &str) -> String {
    format!("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{fields}\n---\n")
}

/// The functions of `pkg/config/validation.go` with an effect on admissions.
#[test]
fn the_manager_refuses_what_upstreams_validation_of_its_configuration_refuses() {
    let own = "namespace: mine\nmanagedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, \
               operator: NotIn, values: [kube-system]}]}";
    let cases = [
        (
            "integrations: {frameworks: [jobset.x-k8s.io/jobset, nope]}",
            "integrations.frameworks[1]: Unsupported value: \"nope\": supported values: \"batch/job\", \"deployment\", \
             \"jobset.x-k8s.io/jobset\"",
        ),
        (
            "integrations: {frameworks: [jobset.x-k8s.io/jobset, jobset.x-k8s.io/jobset]}",
            "integrations.frameworks[1]: Duplicate value: \"jobset.x-k8s.io/jobset\"",
        ),
        (
            "fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanInitialShare]}",
            "fairSharing.preemptionStrategies: Unsupported value: [\"LessThanInitialShare\",\"LessThanInitialShare\"]: \
             supported values: \"LessThanOrEqualToFinalShare\", \"LessThanInitialShare\", \
             \"LessThanOrEqualToFinalShare,LessThanInitialShare\"",
        ),
        (
            "resources: {transformations: [{input: cpu, outputs: {x: 1}}, {input: cpu, outputs: {y: 1}}]}",
            "resources.transformations[1].input: Duplicate value: \"cpu\"",
        ),
        (
            "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}",
            "resources.quotaCheckStrategy: Invalid value: \"IgnoreUndeclared\": excludeResourcePrefixes is not allowed",
        ),
        (
            "managedJobsNamespaceSelector: {}",
            "managedJobsNamespaceSelector: Invalid value: {}: should not match the \"kube-system\" namespace",
        ),
        (own, "should not match the \"mine\" namespace"),
        (
            "managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: In}]}",
            "managedJobsNamespaceSelector.matchExpressions[0].values: Required value",
        ),
        (
            "integrations: {frameworks: [jobset.x-k8s.io/jobset], externalFrameworks: [a.b]}",
            "integrations.externalFrameworks[0]: Invalid value: \"a.b\": must be format, 'Kind.version.group.com'",
        ),
        ("featureGates: [a]", "featureGates must be a mapping"),
        ("featureGates: {PartialAdmission: \"yes\"}", "featureGates.PartialAdmission must be true or false"),
        (
            "featureGates: {PartialAdmission: false, Nope: true}",
            "featureGates: Invalid value: {\"Nope\":true,\"PartialAdmission\":false}: unrecognized feature gate: Nope",
        ),
        ("featureGates: {TLSOptions: false}", "cannot set feature gate TLSOptions to false, feature is locked to true"),
        (
            "featureGates: {TopologyAwareScheduling: false, TASProfileMixed: false}",
            "featureGates: Invalid value: {\"TASProfileMixed\":false,\"TopologyAwareScheduling\":false}: \
             [TASFailedNodeReplacement is enabled, but depends on features that are disabled: \
             [TopologyAwareScheduling], TASFailedNodeReplacementFailFast is enabled",
        ),
        (
            "featureGates: {FlavorFungibility: false}",
            ": FlavorFungibilityPreserveScanProgress is enabled, but depends on features that are disabled: \
             [FlavorFungibility]",
        ),
        (
            "featureGates: {AllBeta: false, TASBalancedPlacement: true}",
            "TASBalancedPlacement is enabled, but depends on features that are disabled: [TopologyAwareScheduling]",
        ),
        (
            "featureGates: {TASReplaceNodeDueToNotReadyOverFixedTime: true, TASFailedNodeReplacement: false, \
             TASFailedNodeReplacementFailFast: false, TASReplaceNodeOnPodTermination: false}",
            "OverFixedTime is enabled, but depends on features that are disabled: [TASFailedNodeReplacement]",
        ),
        (
            "waitForPodsReady: {enable: true, timeout: 0s}",
            "waitForPodsReady.timeout: Required value: must be specified",
        ),
    ];
    for (fields, message) in cases {
        // Only v1beta1 has `enable`.
        let version = if fields.contains("enable") { "v1beta1" } else { "v1beta2" };
        let objects = configured(fields).replace("v1beta2", version);
        let inputs = TwoJobSets { objects: &objects, ..TwoJobSets::default() };
        let error = inputs.play().err().unwrap_or_else(|| panic!("accepted: {fields}"));
        assert!(error.contains(message), "{message}: {error}");
    }
}

#[test]
fn the_manager_accepts_known_gates_and_replaces_empty_values_by_defaults() {
    for (version, fields) in [
        ("v1beta2", "featureGates: {AllAlpha: true, PartialAdmission: false}"),
        ("v1beta2", "featureGates: {FlavorFungibility: false, FlavorFungibilityPreserveScanProgress: false}"),
        ("v1beta2", "featureGates: {AllBeta: false}"),
        ("v1beta2", "resources: {transformations: [{input: cpu, strategy: \"\", outputs: {x: 1}}]}"),
        ("v1beta2", "waitForPodsReady: {timeout: 0s}"),
        ("v1beta1", "waitForPodsReady: {enable: false, timeout: 0s}"),
    ] {
        let objects = configured(fields).replace("v1beta2", version);
        let inputs = TwoJobSets { objects: &objects, ..TwoJobSets::default() };
        inputs.play().unwrap_or_else(|e| panic!("{fields}: {e}"));
    }
}

/// `ValidateResources`: the message of upstream's test of the scheduler.
#[test]
fn a_workload_whose_requests_exceed_its_limits_gets_no_quota() {
    let pod = four_pods("later", "labels: {kueue.x-k8s.io/queue-name: l2}", "");
    for (limits, names) in
        [("cpu: 500m", "[\"cpu\"]"), ("cpu: 1", ""), ("cpu: 500m, memory: 1Gi", "[\"cpu\",\"memory\"]")]
    {
        let limits = format!("requests: {{cpu: 1, memory: 2Gi}}, limits: {{{limits}}}");
        let later = pod.replace("requests: {cpu: 1}", if names.is_empty() { "limits: {cpu: 1}" } else { &limits });
        let (texts, outcome) = TwoJobSets::default().play_manifest(&later).unwrap_or_else(|e| panic!("{e}"));
        let is_refused = texts.iter().any(|text| text == "later QuotaReserved=false Misconfigured");
        assert_eq!(is_refused, !names.is_empty(), "{}", texts.join("\n"));
        let message = format!(
            "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid value: {names}: requests \
             must not exceed its limits"
        );
        let blocked = outcome.blocked.join("\n");
        assert_eq!(blocked.contains(&message), !names.is_empty(), "{blocked}");
    }
}

/// `managedJobsNamespaceSelector`: the webhook suspends a JobSet with a queue in any namespace, but the reconciler
/// ignores it.
#[test]
fn kueue_manages_only_jobsets_in_namespaces_that_its_selector_selects() {
    let all = configured("manageJobsWithoutQueueName: true");
    let selector = "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team}}";
    let team = configured(&format!("manageJobsWithoutQueueName: true\n{selector}"));
    let mine = configured("namespace: mine");
    let ignored = "Kueue ignores it: managedJobsNamespaceSelector does not select its namespace";
    let waits = "its Workload waits for admission";
    // Namespace, configuration, whether the JobSet has a queue, and why it does not run.
    let cases = [
        ("kube-system", "", true, ignored),
        ("kueue-system", "", true, ignored),
        ("kueue-system", &*mine, true, waits),
        ("mine", &*mine, true, ignored),
        ("kube-system", &*all, false, ""),
        ("team", &*all, false, waits),
        ("team", &*team, false, waits),
        ("other", &*team, false, ""),
        ("other", &*team, true, ignored),
    ];
    for (namespace, objects, has_queue, why) in cases {
        let queue = if has_queue { ", labels: {kueue.x-k8s.io/queue-name: l}" } else { "" };
        let metadata = format!("namespace: {namespace}{queue}");
        let inputs = TwoJobSets { metadata: &metadata, objects, ..TwoJobSets::default() };
        let (texts, outcome) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        let blocked = outcome.blocked.join("\n");
        assert!(!inputs.print("kueue-namespace").contains("Kueue is not simulated"));
        let is_ready = texts.iter().any(|text| text == "later ready=true");
        assert!(is_ready == why.is_empty() && blocked.contains(why), "{namespace} {has_queue}: {blocked}");
    }
}

#[test]
fn the_report_names_the_present_queue_and_the_owner_of_a_prebuilt_workload() {
    let moved = |queue: &str| {
        format!(
            "[{{at: 30s, patch: {{kind: JobSet, name: later, merge: {{metadata: {{labels: {{kueue.x-k8s.io/queue-name: \
             {queue}}}}}}}}}}}]"
        )
    };
    let (to_second, to_none) = (moved("l2"), moved("nope"));
    let prebuilt = |owner: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: pre, namespace: default, uid: u, \
             creationTimestamp: \"2026-01-01T00:00:00Z\"{owner}}}\nspec: {{queueName: l2, podSets: [{{name: zz, count: 4, \
             template: {{spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}]}}\n---\n"
        )
    };
    let named = "labels: {kueue.x-k8s.io/queue-name: l2, kueue.x-k8s.io/prebuilt-workload-name: pre}";
    let owned = prebuilt(", ownerReferences: [{apiVersion: v1, kind: Job, name: boss, uid: b, controller: true}]");
    let (unowned, all) = (prebuilt(""), configured("manageJobsWithoutQueueName: true"));
    let cases = [
        ("", &*to_second, "", "of ClusterQueue cq2 (LocalQueue l2)"),
        ("", &*to_none, "", "for quota of LocalQueue nope, and still waits"),
        ("namespace: default", "", &*all, "for quota without a LocalQueue, and still waits"),
        (named, "", &*unowned, "for quota of ClusterQueue cq2 (LocalQueue l2) quota: 4 cpu in flavor f"),
        (named, "", &*owned, "which its kueue.x-k8s.io/prebuilt-workload-name names and which Job boss controls"),
    ];
    for (at, (metadata, faults, objects, text)) in cases.into_iter().enumerate() {
        let printed = TwoJobSets { metadata, faults, objects, ..TwoJobSets::default() }.print(&format!("queue-{at}"));
        assert!(printed.contains(text), "{text}: {printed}");
    }
}

/// Its admission has no flavors, so that no quota names the ClusterQueue.
#[test]
fn the_report_of_a_jobset_without_requests_names_its_cluster_queue() {
    let later = four_pods("later", IN_QUEUE, "").replace("{requests: {cpu: 1}}", "{}");
    let printed = TwoJobSets::default().print_manifest("no-requests", &later);
    let sentence = printed.split("JobSet later: waited").nth(1).unwrap_or_default();
    let sentence: String = sentence.chars().take(60).collect();
    assert!(sentence.contains("for quota of ClusterQueue cq (LocalQueue l)"), "{printed}");
}

#[test]
fn a_jobset_that_lost_its_queue_while_suspended_is_reported() {
    let removed = "{at: 30s, patch: {kind: JobSet, name: later, merge: {metadata: {labels: {kueue.x-k8s.io/queue-name: \
                   null}}}}}";
    for (faults, state) in [
        (format!("[{removed}]"), "waits in LocalQueue l"),
        (format!("[{removed}, {{at: 40s, deleteJobSet: {{name: low}}}}]"), "holds 4 cpu"),
    ] {
        let inputs = TwoJobSets { faults: &faults, ..TwoJobSets::default() };
        let (_, outcome) = inputs.play().unwrap_or_else(|e| panic!("{e}"));
        let blocked = outcome.blocked.join("\n");
        let why = format!("Kueue ignores it: it has no queue (label kueue.x-k8s.io/queue-name); its Workload {state}");
        assert!(blocked.contains(&why), "{blocked}");
    }
}

#[test]
fn pods_with_the_topology_of_a_dynamic_slice_are_refused_in_a_queue() {
    for list in ["annotation", "label"] {
        let metadata =
            format!("template: {{metadata: {{{list}s: {{cloud.google.com/gke-tpu-slice-topology: 4x4x4}}}}, spec");
        let later = four_pods("later", IN_QUEUE, "").replacen("template: {spec", &metadata, 1);
        let error = TwoJobSets::default().play_manifest(&later).expect_err("a refusal");
        let refusal = format!("GKE dynamic slicing is not modelled with Kueue: {list} cloud.google.com");
        assert!(error.contains(&refusal) && error.contains(&format!("remove the {list}")), "{error}");
    }
}

/// The rules are in `pkg/kubelet/lifecycle/predicate.go`.
#[test]
fn the_kubelet_admits_pods_with_a_node_name_by_resources_and_affinity() {
    for (situation, metadata, pod, reason) in [
        ("four pods of one cpu on one node", "labels: {}", "nodeName: n-0, ", "pod OutOfcpu: Node didn't"),
        (
            "a label that the node lacks",
            "labels: {}",
            "nodeName: n-7, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n-0, n-1, n-2, n-3]}]}]}}}, ",
            "pod NodeAffinity",
        ),
    ] {
        let objects = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmanageJobsWithoutQueueName: \
                       false\n---\n";
        let inputs = TwoJobSets { metadata, pod, objects, ..TwoJobSets::default() };
        let (texts, _) = inputs.play().unwrap_or_else(|e| panic!("{situation}: {e}"));
        assert!(texts.iter().any(|text| text.starts_with(reason)), "{situation}: {}", texts.join("\n"));
        assert!(!texts.iter().any(|text| text == "later ready=true"), "{situation}: {}", texts.join("\n"));
    }
}

/// `ExtractPriority`: a WorkloadPriorityClass, then the class of the pods, then the default class. The number in a
/// template belongs to the pod and not to the Workload.
#[test]
fn the_priority_of_a_workload_is_that_of_a_class() {
    let class = |name: &str, rest: &str| {
        format!(
            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: 1000\n{rest}---\n"
        )
    };
    for (situation, pod, classes, expected) in [
        ("no class", "", String::new(), false),
        ("a declared class of the pods", "priorityClassName: everyone, ", class("everyone", ""), true),
        (
            "a class that is not declared has the value of priority",
            "priorityClassName: everyone, priority: 1000, ",
            String::new(),
            true,
        ),
        ("a number without a class", "priority: 1000, ", String::new(), false),
        ("a declared class that no template names", "", class("everyone", ""), false),
    ] {
        assert_eq!(is_preempted_by(pod, &classes), expected, "{situation}");
    }
}

/// Pods of a Workload with a topology assignment, decided by kube-scheduler's plugins, because a pod has a host port.
#[test]
fn the_plugins_read_the_node_selector_of_the_topology_ungater() {
    let read = |name: &str| {
        std::fs::read_to_string(support::root().join("scenarios/manifests").join(name))
            .unwrap_or_else(|e| panic!("{e}"))
    };
    let (queues, slice) = (read("kueue-topology.yaml"), read("kueue-slice.yaml"));
    let other = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: aaa}\nspec: {replicatedJobs: [{name: w, \
                 template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1', ports: \
                 [{containerPort: 80, hostPort: 80}]}]}}}}}]}\n";
    let scenario = "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {name: t}\ntopology: small-16\nobjects: \
                    [{manifest: queues.yaml}]\njobSets: [{manifest: slice.yaml}, {manifest: other.yaml}]\nstop: {at: 1h}\n";
    let files = [("queues.yaml", &*queues), ("slice.yaml", &*slice), ("other.yaml", other)];
    let scenario = support::parse_with(scenario, &files).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let bound = checker.records.iter().filter_map(|record| match record.body {
        Body::PodBound { node, .. } => Some(names.nodes[node.ix()].clone()),
        _ => None,
    });
    let mut bound: Vec<String> = bound.collect();
    bound.sort();
    let pool: Vec<&str> = bound.iter().map(String::as_str).filter(|node| *node < "node-04").collect();
    assert!(pool.len() >= 3, "the three pods of the slice are in one node pool: {bound:?}");
}
