//! Kueue in a run: admission, preemption, pending Workloads and changes of `suspend` by hand.

use crate::support;
use sim_engine::record::*;

/// One text per condition of a Workload, change of readiness and Event of Kueue, and the sentences about blocked
/// JobSets.
fn play(sets: &[(&str, &str)]) -> (Vec<String>, RunOutcome) {
    let scenario = support::scenario("kueue", sets);
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    let outcome = simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let text = |record: &SimulationRecord| match record.body {
        Body::WorkloadCondition { jobset, kind, status, reason, .. } => {
            Some(format!("{} {}={status} {}", names.jobset(jobset), kind.as_str(), names.text(reason)))
        }
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

/// Conditions of the Workload of a JobSet that needs an AdmissionCheck.
fn checked(rule: &str) -> Vec<String> {
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
    let scenario = support::parse_with(&scenario, &files).unwrap_or_else(|e| panic!("{e}"));
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
