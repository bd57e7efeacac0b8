//! Rejections: the response of the API server to a creation, and the diagnostics of the manifest parser for it.

use super::finding::{Finding, Kind};
use super::subject::Target;
use super::trap::Severity;
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::{FieldError, FieldValidation, Gates, Rejection};
use sim_api::objects;
use sim_inputs::kube::inspect::{Inspected, Object};
use sim_inputs::server;
use sim_inputs::text::diagnostic::shortened;
use sim_inputs::text::diagnostic::{Diagnostic, Report, Source};

pub enum Verdict {
    /// The object is not a kind that is checked.
    Other,
    Accepted {
        stored: Value,
        /// For each replicatedJob, the reason why its Jobs are rejected.
        refused: Vec<Option<Rejection>>,
        /// For an update, the reason why the new object could not be created.
        creation: Option<Rejection>,
    },
    Rejected(Rejection),
    /// The manifest parser cannot determine the object. The object was not sent to the API server model.
    Unreadable,
}

pub fn gates(target: Target) -> Gates {
    Gates {
        in_place_restart: target.gates.in_place_restart,
        restart_job: target.gates.restart_job,
        elastic_job_set: target.gates.elastic_jobset,
    }
}

fn request(object: &Value, target: Target) -> admission::Create<'_> {
    let namespace = object["metadata"]["namespace"].as_str();
    admission::Create {
        object,
        namespace: namespace.filter(|n| !n.is_empty()).unwrap_or("default"),
        gates: gates(target),
        existing_claims: &[],
    }
}

/// Sends a POST request with the options of kubectl.
pub fn post(object: &Value, target: Target) -> Result<Value, Rejection> {
    admission::post(&request(object, target), FieldValidation::Strict, &[]).result
}

pub fn create(object: &Object, target: Target) -> Verdict {
    if object.jobset.is_none() {
        return match object.errors.is_empty() {
            true => Verdict::Other,
            false => Verdict::Unreadable,
        };
    }
    let json = object.node.to_json();
    match post(&json, target) {
        Ok(stored) => Verdict::Accepted {
            refused: refusals(&stored, target),
            stored,
            creation: None,
        },
        // Report the positions of all errors, not only those found before the API server stops validating.
        Err(rejection) => Verdict::Rejected(Rejection {
            errors: admission::every_error(&request(&json, target)),
            ..rejection
        }),
    }
}

/// Returns the errors of the API server for the first Job of each replicatedJob.
pub fn refusals(stored: &Value, target: Target) -> Vec<Option<Rejection>> {
    let rjs = stored["spec"]["replicatedJobs"].as_array();
    let places = objects::Places::of(stored);
    let one = |(replicated_job, rj): (usize, &Value)| {
        if rj["replicas"].as_i64() == Some(0) {
            return None;
        }
        let slot = objects::JobSlot {
            jobset: stored,
            replicated_job,
            index: 0,
            restarts: 0,
            job_restarts: target.gates.restart_job.then_some(0),
            places: Some(&places),
        };
        objects::admit_job(&objects::job(&slot)).err()
    };
    rjs.into_iter().flatten().enumerate().map(one).collect()
}

/// Returns the findings of a rejection: the parser's diagnostics with positions, and the message of the API server.
pub fn findings(file: &Inspected, object: &Object, verdict: &Verdict) -> Vec<Finding> {
    let (rejection, fix) = match verdict {
        Verdict::Rejected(rejection) => (Some(rejection), fix_of(rejection)),
        Verdict::Unreadable => (None, String::new()),
        _ => return Vec::new(),
    };
    let server = rejection.map(sentence);
    let mut diagnostics = object.errors.clone();
    if diagnostics.is_empty() {
        let errors = rejection.map_or(&[][..], |r| &r.errors);
        diagnostics = from_server(file, object, errors);
    }
    let jobset = object.jobset.as_ref();
    let finding = |(i, diagnostic): (usize, Diagnostic)| Finding {
        kind: Kind::Rejected,
        severity: Severity::Error,
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
fn sentence(rejection: &Rejection) -> String {
    match rejection.reason.as_str() {
        "" => format!("{}: {}", rejection.code, rejection.message),
        reason => format!("{} {reason}: {}", rejection.code, rejection.message),
    }
}

/// Returns one diagnostic for each field error, or one for the whole object if there are none.
fn from_server(file: &Inspected, object: &Object, errors: &[FieldError]) -> Vec<Diagnostic> {
    let none = Source::default();
    let mut report = Report::new(&file.source, &none);
    server::field_errors(&object.node, errors, &mut report);
    if report.is_clean() {
        report.error(object.node.at, "the API server refuses this JobSet");
    }
    report.found
}

fn fix_of(rejection: &Rejection) -> String {
    let contains = |text: &str| rejection.message.contains(text);
    if contains("field is immutable") {
        "Only suspend, ttlSecondsAfterFinished, coordinator and metadata can be changed freely. If nothing was changed, write completionMode and restartPolicy out, which JobSet sets at creation, or use kubectl apply --server-side.".to_owned()
    } else if contains("feature gate is disabled") {
        "Switch the feature gate on in the JobSet manager's configuration.".to_owned()
    } else {
        String::new()
    }
}
