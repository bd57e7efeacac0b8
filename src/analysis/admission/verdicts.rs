//! The verdict on each JobSet.

use super::change_search::ChangeSearch;
use super::placement::DRAWS_MAX;
use super::report::AdmissionReport;
use super::submission::{AdmissionInputs, FailedAttempt};
use super::wait;
use super::wait::WaitRequest;
use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::KueueObjects;
use sim_engine::CannotRun;
use sim_kueue::workload::Workload;

/// Tries the JobSets of a scenario one after the other on the state of the queues. JobSets whose Workload has quota
/// already are not tried. With `has_cluster`, the pods of admitted JobSets are placed on the nodes.
/// With `wait`, the wait of each JobSet that is not admitted is estimated.
pub fn admission_report(
    scenario: &ScenarioSpec, has_cluster: bool, wait: Option<&WaitRequest>,
) -> Result<AdmissionReport, CannotRun> {
    let inputs = AdmissionInputs::new(scenario, DRAWS_MAX)?;
    let submissions = inputs.submit_all(has_cluster)?;
    let mut report = submissions.report(notes(scenario, &inputs.objects, has_cluster, wait));
    for (at, verdict) in report.job_sets.iter_mut().enumerate() {
        if !verdict.starts() {
            let search = ChangeSearch::new(&inputs, &submissions, has_cluster, at);
            verdict.smallest_changes = search.smallest_changes(verdict);
            let pending = submissions.attempts[at].as_ref().filter(|_| verdict.verdict == "Pending");
            let estimate = |attempt: &FailedAttempt, request| wait::estimate(&attempt.state, attempt.key, request);
            verdict.wait = pending.zip(wait).map(|(attempt, request)| estimate(attempt, request));
        }
    }
    Ok(report)
}

/// Returns the report without changes that would start the JobSets, which takes much less time. At most `draws_max`
/// placements are tried if random numbers decide about them.
pub fn admission_verdicts(
    scenario: &ScenarioSpec, has_cluster: bool, draws_max: u64,
) -> Result<AdmissionReport, CannotRun> {
    let inputs = AdmissionInputs::new(scenario, draws_max)?;
    let submissions = inputs.submit_all(has_cluster)?;
    Ok(submissions.report(notes(scenario, &inputs.objects, has_cluster, None)))
}

fn notes(
    scenario: &ScenarioSpec, objects: &KueueObjects, has_cluster: bool, wait: Option<&WaitRequest>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if wait.is_some() {
        notes.push(
            "The wait assumes that nothing else is submitted, that no pod fails, and that a preempted Workload starts \
             again from the beginning."
                .to_owned(),
        );
    }
    let holding = objects.workloads.iter().map(Workload::from).filter(Workload::has_active_reservation).count();
    if !has_cluster {
        notes.push("Nodes are not examined without -t.".to_owned());
    } else if holding > 0 && !scenario.topology.is_occupied() {
        notes.push(format!(
            "No pods run on the nodes of {}; pass the nodes with their pods, as from `kubectl get nodes,pods -A -o \
             json`, so that the pods of existing Workloads count.",
            scenario.topology.name
        ));
    }
    notes
}
