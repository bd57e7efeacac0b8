//! The verdict on each JobSet.

use super::queue_state::{in_order, queue_state};
use super::report::{
    AdmissionReport, AttemptRow, BorrowedRow, JobSetVerdict, NodeFit, PlacedDomain, PodSetPlacement, RemedyRow,
    WorkloadRow,
};
use super::wait;
use super::wait::WaitRequest;
use crate::capacity::fit;
use sim_api::spec::kueue::{KueueObjects, StoredWorkload};
use sim_api::spec::{JobSet, ScenarioSpec, SubmittedJobSet};
use sim_base::SimTime;
use sim_engine::{CannotRun, SimulationInput, describe_workload_error, started_jobset};
use sim_kueue::verdict::{
    AdmissionVerdict, PreemptedWorkload, QueueState, Remedy, VerdictKind, smallest_changes, try_admission,
};
use sim_kueue::workload::conditions::whole_seconds;
use sim_kueue::workload::jobset::{PriorityClasses, workload};
use sim_kueue::workload::{PodSetAdmission, Workload, WorkloadKey};

/// Maximum number of other Workloads in a list.
const LISTED_MAX: usize = 100;

/// Tries the JobSets of a scenario one after the other on the state of the queues. JobSets whose Workload has quota
/// already are not tried. With `has_cluster`, the pods of admitted JobSets are placed on the nodes.
/// With `wait`, the wait of each JobSet that is not admitted is estimated.
pub fn admission_report(
    scenario: &ScenarioSpec, has_cluster: bool, wait: Option<&WaitRequest>,
) -> Result<AdmissionReport, CannotRun> {
    let base = ScenarioSpec { kueue: None, admit_unplaceable: true, ..scenario.clone() };
    let objects = scenario.kueue.clone().unwrap_or_default();
    let simulation = SimulationInput::new(&base)?;
    let mut trial = SubmissionTrial {
        scenario: &base,
        state: queue_state(scenario, &objects, simulation.cluster()),
        objects: &objects,
        has_cluster,
        wait,
        started: Vec::new(),
    };
    let mut report =
        AdmissionReport { notes: notes(scenario, &trial.state, has_cluster, wait), ..AdmissionReport::default() };
    for submitted in &scenario.jobsets {
        let verdict = trial.submit(submitted)?;
        report.job_sets.push(verdict);
    }
    report.admitted = report.job_sets.iter().all(JobSetVerdict::starts);
    Ok(report)
}

fn notes(scenario: &ScenarioSpec, state: &QueueState, has_cluster: bool, wait: Option<&WaitRequest>) -> Vec<String> {
    let mut notes = Vec::new();
    if wait.is_some() {
        notes.push(
            "The wait assumes that nothing else is submitted, that no pod fails, and that a preempted Workload starts \
             again from the beginning."
                .to_owned(),
        );
    }
    let holding = state.workloads.iter().flatten().filter(|w| w.has_active_reservation()).count();
    if !has_cluster {
        notes.push("Nodes are not examined without -t.".to_owned());
    } else if holding > 0 && scenario.topology.accelerators().1 == 0 {
        notes.push(format!(
            "No pods run on the nodes of {}; pass the nodes with their pods, as from `kubectl get nodes,pods -A -o \
             json`, so that the pods of existing Workloads count.",
            scenario.topology.name
        ));
    }
    notes
}

struct SubmissionTrial<'a> {
    scenario: &'a ScenarioSpec,
    state: QueueState,
    objects: &'a KueueObjects,
    has_cluster: bool,
    wait: Option<&'a WaitRequest>,
    /// JobSets of the inputs that run, as Kueue started them.
    started: Vec<SubmittedJobSet>,
}

impl SubmissionTrial<'_> {
    fn submit(&mut self, submitted: &SubmittedJobSet) -> Result<JobSetVerdict, CannotRun> {
        let jobset = &submitted.jobset;
        let mut result = JobSetVerdict {
            name: jobset.name.clone(),
            namespace: jobset.namespace.clone(),
            local_queue: jobset.kueue_queue().unwrap_or_default().to_owned(),
            ..JobSetVerdict::default()
        };
        if !self.objects.manages(jobset)
            || self.objects.cluster_queues.is_empty() && self.objects.local_queues.is_empty()
        {
            result.verdict = "Unmanaged";
            self.place(&mut result, submitted.clone())?;
            return Ok(result);
        }
        if self.is_finished(jobset) {
            result.verdict = "Finished";
            return Ok(result);
        }
        let key = match self.key_of(jobset) {
            Ok(key) => key,
            Err(why) => {
                (result.verdict, result.cause, result.message) = ("Pending", Some("queue"), why);
                return Ok(result);
            }
        };
        if let Some(own) = self.state.workload(key) {
            result.cluster_queue = self.state.cluster_queue(own).unwrap_or_default().to_owned();
            if own.has_active_reservation() {
                (result.verdict, result.pod_sets) = ("AlreadyAdmitted", placements(own));
                return Ok(result);
            }
        }
        let Some(verdict) = try_admission(&self.state, key) else { return Ok(result) };
        self.describe(&mut result, &verdict);
        if !verdict.is_admitted() {
            let remedies = smallest_changes(&self.state, key);
            result.smallest_changes = remedy_rows(&self.state, &remedies);
            result.wait = self.wait.map(|request| wait::estimate(&self.state, key, request));
            return Ok(result);
        }
        self.admit(key, &verdict);
        let decoders = &self.scenario.decoders;
        let flavors = self.objects.flavors.iter().map(|f| (f.name.as_str().into(), f.clone())).collect();
        let started = started_jobset(jobset, &verdict.workload, &flavors, decoders);
        let submitted = SubmittedJobSet { jobset: started, ..submitted.clone() };
        let is_placed = placements(&verdict.workload).iter().all(|set| !set.domains.is_empty());
        if is_placed {
            self.started.push(submitted);
        } else {
            self.place(&mut result, submitted)?;
        }
        Ok(result)
    }

    /// Returns whether the Workload of the JobSet has finished in the cluster.
    fn is_finished(&self, jobset: &JobSet) -> bool {
        let own = |w: &&StoredWorkload| w.is_of(jobset);
        self.objects.workloads.iter().find(own).is_some_and(|w| Workload::from(w).is_finished())
    }

    /// Returns the key of the JobSet's Workload. A pending one keeps its creation time and its conditions.
    fn key_of(&mut self, jobset: &JobSet) -> Result<WorkloadKey, String> {
        let stored = in_order(self.objects);
        let existing = stored.iter().position(|w| w.is_of(jobset));
        if let Some(key) = existing.filter(|key| self.state.workload(*key).is_some()) {
            return Ok(key);
        }
        let now = whole_seconds(self.state.now);
        let declared = self.scenario.objects.iter().filter(|object| object["kind"] == "PriorityClass");
        let classes = PriorityClasses {
            of_workloads: &self.objects.priority_classes,
            of_pods: &declared.cloned().collect::<Vec<_>>(),
            requires_declared: self.scenario.requires_listed_classes,
        };
        let new = workload(jobset, &classes, now).map_err(|error| describe_workload_error(&error))?;
        Ok(self.state.add(new))
    }

    /// Stores the admission and the preemptions, so that the next JobSet finds them.
    fn admit(&mut self, key: WorkloadKey, verdict: &AdmissionVerdict) {
        self.state.workloads[key] = Some(verdict.workload.clone());
        for target in &verdict.preempted {
            self.state.workloads[target.key] = None;
        }
        let latest = verdict.workload.status.conditions.iter().map(|c| c.since).max();
        self.state.now = self.state.now.max(latest.unwrap_or(SimTime::ZERO));
    }

    fn describe(&self, result: &mut JobSetVerdict, verdict: &AdmissionVerdict) {
        (result.verdict, result.cause) = match verdict.kind {
            VerdictKind::Admitted => ("Admitted", None),
            VerdictKind::ChecksPending => ("ChecksPending", Some("checks")),
            VerdictKind::Pending(cause) => ("Pending", Some(cause.as_str())),
        };
        (result.reason, result.message) = (verdict.reason.clone(), verdict.message.clone());
        result.pod_sets = placements(&verdict.workload);
        result.borrowed = verdict
            .borrowed
            .iter()
            .map(|borrowed| BorrowedRow {
                flavor: borrowed.flavor.to_string(),
                resource: borrowed.resource.to_string(),
                amount: borrowed.amount.text(&borrowed.resource),
            })
            .collect();
        result.preempted = preempted_rows(&self.state, &verdict.preempted);
        let rows = |keys: &[WorkloadKey]| {
            keys.iter().take(LISTED_MAX).filter_map(|key| workload_row(&self.state, *key, "")).collect()
        };
        result.admitted_first = rows(&verdict.admitted_first);
        result.ahead = rows(&verdict.ahead);
        result.attempts = verdict
            .attempts
            .iter()
            .map(|attempt| AttemptRow {
                pod_set: attempt.pod_set.clone(),
                flavor: attempt.flavor.to_string(),
                reasons: attempt.reasons.clone(),
            })
            .collect();
    }

    /// Places the pods of the JobSets that run on the nodes.
    fn place(&mut self, result: &mut JobSetVerdict, submitted: SubmittedJobSet) -> Result<(), CannotRun> {
        if !self.has_cluster {
            return Ok(());
        }
        let is_preempted = |s: &SubmittedJobSet| {
            result.preempted.iter().any(|w| w.namespace == s.jobset.namespace && w.name == s.jobset.name)
        };
        self.started.retain(|submitted| !is_preempted(submitted));
        let jobsets: Vec<SubmittedJobSet> = self.started.iter().cloned().chain([submitted.clone()]).collect();
        let scenario = ScenarioSpec { jobsets, ..self.scenario.clone() };
        let placed = fit(&scenario, 1)?;
        let fits = placed.copies > 0;
        // Preempted pods are still on their nodes here, so that a failure proves nothing.
        if !fits && !result.preempted.is_empty() {
            return Ok(());
        }
        if fits {
            self.started.push(submitted);
        } else {
            result.cause = Some("node");
        }
        result.nodes = Some(NodeFit { fits, blocked: if fits { Vec::new() } else { placed.blocked } });
        Ok(())
    }
}

fn placements(workload: &Workload) -> Vec<PodSetPlacement> {
    let placement = |admitted: &PodSetAdmission| PodSetPlacement {
        name: admitted.name.clone(),
        count: admitted.count,
        flavors: admitted.flavors.iter().map(|(resource, flavor)| (resource.to_string(), flavor.to_string())).collect(),
        levels: admitted.topology.as_ref().map(|t| t.levels.clone()).unwrap_or_default(),
        domains: admitted
            .topology
            .iter()
            .flat_map(|t| &t.domains)
            .map(|domain| PlacedDomain { values: domain.values.clone(), count: domain.count })
            .collect(),
    };
    workload.status.admission.iter().flat_map(|a| &a.pod_sets).map(placement).collect()
}

fn workload_row(state: &QueueState, key: WorkloadKey, reason: &str) -> Option<WorkloadRow> {
    let workload = state.workload(key)?;
    Some(WorkloadRow {
        name: workload.name.clone(),
        namespace: workload.namespace.clone(),
        local_queue: workload.queue.clone(),
        priority: workload.priority,
        reason: reason.to_owned(),
    })
}

fn preempted_rows(state: &QueueState, preempted: &[PreemptedWorkload]) -> Vec<WorkloadRow> {
    preempted.iter().filter_map(|target| workload_row(state, target.key, target.reason)).collect()
}

/// Returns the remedies as texts.
pub fn remedy_rows(state: &QueueState, remedies: &[Remedy]) -> Vec<RemedyRow> {
    let row = |remedy: &Remedy| RemedyRow {
        changes: remedy.changes.iter().map(ToString::to_string).collect(),
        preempted: preempted_rows(state, &remedy.preempted),
    };
    remedies.iter().map(row).collect()
}
