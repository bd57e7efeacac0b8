//! Rejections: the response of the API server to a creation, and the diagnostics of the manifest parser for it.

use super::finding::{FindingKind, LintFinding};
use super::lint_subject::{LintSubject, NodeTarget};
use super::trap::TrapSeverity;
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::{AdmissionGates, AdmissionRejection, FieldError, FieldValidation};
use sim_api::objects;
use sim_api::spec::kueue::KueueObjects;
use sim_inputs::kube::inspect::{InspectedManifest, InspectedObject};
use sim_inputs::server;
use sim_inputs::text::diagnostic::shortened;
use sim_inputs::text::diagnostic::{Diagnostic, DiagnosticReport, SourceText};
use sim_kueue::workload::webhook::refusal;

pub enum RejectionVerdict {
    /// The object is not a kind that is checked.
    Other,
    Accepted {
        stored: Value,
        /// For each replicatedJob, the reason why its Jobs are rejected.
        refused: Vec<Option<AdmissionRejection>>,
        /// For an update, the reason why the new object could not be created.
        creation: Option<AdmissionRejection>,
    },
    Rejected(AdmissionRejection),
    /// The manifest parser cannot determine the object. The object was not sent to the API server model.
    Unreadable,
}

pub fn gates(target: NodeTarget) -> AdmissionGates {
    AdmissionGates {
        in_place_restart: target.gates.in_place_restart,
        restart_job: target.gates.restart_job,
        elastic_job_set: target.gates.elastic_jobset,
    }
}

fn request(object: &Value, target: NodeTarget) -> admission::CreateRequest<'_> {
    let namespace = object["metadata"]["namespace"].as_str();
    admission::CreateRequest {
        object,
        namespace: namespace.filter(|n| !n.is_empty()).unwrap_or("default"),
        gates: gates(target),
        existing_claims: &[],
    }
}

/// Sends a POST request with the options of kubectl.
pub fn post(object: &Value, target: NodeTarget) -> Result<Value, AdmissionRejection> {
    admission::post(&request(object, target), FieldValidation::Strict, &[]).result
}

/// Creates the object. With `has_kueue`, the webhook of Kueue validates JobSets after that of JobSet.
pub fn create(object: &InspectedObject, target: NodeTarget, has_kueue: bool) -> RejectionVerdict {
    let Some(jobset) = &object.jobset else {
        return if object.errors.is_empty() { RejectionVerdict::Other } else { RejectionVerdict::Unreadable };
    };
    let json = object.node.to_json();
    match post(&json, target) {
        Ok(stored) => match refusal(jobset, &KueueObjects::default()).filter(|_| has_kueue) {
            Some(rejection) => RejectionVerdict::Rejected(rejection),
            None => RejectionVerdict::Accepted { refused: refusals(&stored, target), stored, creation: None },
        },
        // Report the positions of all errors, not only those found before the API server stops validating.
        Err(rejection) => RejectionVerdict::Rejected(AdmissionRejection {
            errors: admission::all_errors(&request(&json, target)),
            ..rejection
        }),
    }
}

/// Returns the errors of the API server for the first Job of each replicatedJob.
pub fn refusals(stored: &Value, target: NodeTarget) -> Vec<Option<AdmissionRejection>> {
    let rjs = stored["spec"]["replicatedJobs"].as_array();
    let one = |(replicated_job, rj): (usize, &Value)| {
        if rj["replicas"].as_i64() == Some(0) {
            return None;
        }
        objects::admit_job(&job(stored, replicated_job, target)).err()
    };
    rjs.into_iter().flatten().enumerate().map(one).collect()
}

/// Returns the first Job of a replicatedJob.
fn job(stored: &Value, replicated_job: usize, target: NodeTarget) -> Value {
    objects::job_of_slot(&objects::JobSlot {
        jobset: stored,
        replicated_job,
        index: 0,
        restarts: 0,
        job_restarts: target.gates.restart_job.then_some(0),
        global_indexes: Some(&objects::GlobalJobIndexes::for_jobset(stored)),
    })
}

/// Returns the errors of the API server for the first pod of each replicatedJob, with the index of the replicatedJob.
/// Jobs that are refused have no pods.
pub fn pod_refusals(s: &LintSubject) -> Vec<(usize, AdmissionRejection)> {
    let Ok(stored) = post(&s.node.to_json(), s.target) else { return Vec::new() };
    let class = |o: &&InspectedObject| {
        let mut class = o.node.to_json();
        if class["preemptionPolicy"].is_null() {
            class["preemptionPolicy"] = "PreemptLowerPriority".into();
        }
        class
    };
    let declared: Vec<Value> = s.objects.iter().filter(|o| o.kind == "PriorityClass").map(class).collect();
    let refusal = |index: usize| {
        let admitted = objects::admit_job(&job(&stored, index, s.target)).ok()?;
        let is_indexed = admitted["spec"]["completionMode"] == "Indexed";
        let pod = objects::pod_of_index(&admitted, is_indexed.then_some(0));
        let name = pod["spec"]["priorityClassName"].as_str().unwrap_or_default();
        // The manifests need not contain all classes of the cluster.
        let is_declared = name.is_empty() || declared.iter().any(|class| class["metadata"]["name"] == name);
        let classes = if is_declared { declared.clone() } else { Vec::new() };
        let runtime = pod["spec"]["runtimeClassName"].as_str().map(str::to_owned);
        let around = objects::ObjectContext {
            priority_classes: &objects::existing_priority_classes(&pod["spec"], classes, false),
            runtime_classes: runtime.as_slice(),
            ..objects::ObjectContext::default()
        };
        Some((index, objects::stored_pod(&pod, "00000", &around).err()?))
    };
    let with_pods = s.rjs().into_iter().filter(|rj| rj.pods() > 0 && s.refused[rj.index].is_none());
    with_pods.filter_map(|rj| refusal(rj.index)).collect()
}

/// Returns the findings of a rejection: the parser's diagnostics with positions, and the message of the API server.
pub fn findings(file: &InspectedManifest, object: &InspectedObject, verdict: &RejectionVerdict) -> Vec<LintFinding> {
    let (rejection, fix) = match verdict {
        RejectionVerdict::Rejected(rejection) => (Some(rejection), fix_of(rejection)),
        RejectionVerdict::Unreadable => (None, String::new()),
        _ => return Vec::new(),
    };
    let server = rejection.map(sentence);
    let mut diagnostics = object.errors.clone();
    if diagnostics.is_empty() {
        let errors = rejection.map_or(&[][..], |r| &r.errors);
        diagnostics = from_server(file, object, errors);
    }
    let jobset = object.jobset.as_ref();
    let finding = |(i, diagnostic): (usize, Diagnostic)| LintFinding {
        kind: FindingKind::Rejected,
        severity: TrapSeverity::Error,
        name: "rejected",
        rules: &[],
        jobset: jobset.map_or(String::new(), |j| j.name.clone()),
        diagnostic,
        consequence: String::new(),
        fix: if i == 0 { fix.clone() } else { String::new() },
        // The server's message covers all errors, so only the first finding carries it.
        server: server.clone().filter(|_| i == 0).map(shortened),
    };
    diagnostics.into_iter().enumerate().map(finding).collect()
}

/// Formats the rejection as `422 Invalid: <message>`.
fn sentence(rejection: &AdmissionRejection) -> String {
    match rejection.reason.as_str() {
        "" => format!("{}: {}", rejection.code, rejection.message),
        reason => format!("{} {reason}: {}", rejection.code, rejection.message),
    }
}

/// Returns one diagnostic for each field error, or one for the whole object if there are none.
fn from_server(file: &InspectedManifest, object: &InspectedObject, errors: &[FieldError]) -> Vec<Diagnostic> {
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&file.source, &none);
    server::field_errors(&object.node, errors, &mut report);
    if report.is_clean() {
        report.error(object.node.at, "the API server rejects this JobSet");
    }
    report.found
}

fn fix_of(rejection: &AdmissionRejection) -> String {
    let contains = |text: &str| rejection.message.contains(text);
    if contains("field is immutable") {
        "Change only suspend, ttlSecondsAfterFinished, coordinator or metadata. If nothing else was changed, set completionMode and restartPolicy explicitly, because JobSet sets their defaults at creation, or use kubectl apply --server-side.".to_owned()
    } else if contains("feature gate is disabled") {
        "Enable the feature gate in the configuration of the JobSet manager.".to_owned()
    } else {
        String::new()
    }
}
