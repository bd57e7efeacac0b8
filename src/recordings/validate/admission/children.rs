//! Compares recordings of kind `children`: created documents, and their child objects a few seconds later.
//!
//! The engine simulates the eight nodes of the recordings, where no kubelet starts a container. Files are not read
//! here; the caller passes the documents of an example.

use super::children_case::ChildrenCase;
use super::children_compare::{self, mask_texts};
use crate::{validate::result::RecordedDifference, validate::simulate};
use serde_json::{Value, json};
use sim_api::admission;
use sim_api::admission::{AdmissionGates, CreateRequest};
use sim_api::objects;

/// Converts an object to its form in the recordings.
type ChildForm = fn(&Value) -> Value;

/// Compares one case. `documents` are those of the case, or of the example that it names.
pub fn compare(case: &Value, documents: &[Value]) -> Vec<RecordedDifference> {
    let id = case["id"].as_str().unwrap_or("");
    let on = case["gates"] == "on";
    let path = format!("{id}, gates {}", if on { "on" } else { "off" });
    let mut result = Vec::new();
    let replication = create_documents(case, documents, &path, &mut result);
    let all = match simulate::child_objects(&replication) {
        Ok(all) => all,
        Err(reason) => {
            result.push(RecordedDifference::new(path, "played", reason.to_string()));
            return result;
        }
    };
    let unnamed = |d: &&Value| d["metadata"]["name"].as_str().is_none_or(str::is_empty);
    let jobsets = documents.iter().filter(|d| d["kind"] == "JobSet");
    let generated = jobsets.filter(unnamed).count() > 0;
    let kinds: [(&str, &str, ChildForm); 4] = [
        ("jobs", "Job", children_compare::job),
        ("services", "Service", children_compare::service),
        ("pvcs", "PersistentVolumeClaim", children_compare::claim),
        ("pods", "Pod", children_compare::pod),
    ];
    for (key, kind, form) in kinds {
        let own = all.iter().filter(|o| o["kind"] == kind);
        let own = own.map(|o| mask_texts(&form(o), generated)).collect();
        let mut recorded = case["observed"][key].clone();
        children_compare::mask_generated_names(&mut recorded);
        let path = format!("{path}: {key}");
        result.extend(children_compare::compare(&path, &recorded, own));
    }
    result
}

/// Returns the documents as stored by the API server, in order.
fn create_documents(
    case: &Value, documents: &[Value], path: &str, result: &mut Vec<RecordedDifference>,
) -> ChildrenCase {
    let on = case["gates"] == "on";
    let mut replication = ChildrenCase {
        namespace: case["namespace"].as_str().unwrap_or("").to_owned(),
        gates: AdmissionGates { in_place_restart: on, restart_job: on, elastic_job_set: on },
        jobsets: Vec::new(),
        objects: Vec::new(),
    };
    let created = case["created"].as_array().into_iter().flatten();
    let mut recorded = created.filter(|c| c["kind"] == "JobSet");
    for document in documents {
        let mut object = document.clone();
        match document["kind"].as_str().unwrap_or("") {
            "JobSet" => {
                let claims = replication.objects.iter();
                let claims = claims.filter(|o| o["kind"] == "PersistentVolumeClaim");
                let answer = admission::create(&CreateRequest {
                    object: document,
                    namespace: &replication.namespace,
                    gates: replication.gates,
                    existing_claims: &claims.cloned().collect::<Vec<Value>>(),
                });
                let recorded = recorded.next().unwrap_or(&Value::Null);
                result.extend(response_difference(path, recorded, &answer));
                replication.jobsets.extend(answer);
            }
            "PriorityClass" => replication.objects.push(object),
            "Service" | "PersistentVolumeClaim" => {
                object["metadata"]["namespace"] = json!(replication.namespace);
                let around = objects::ObjectContext::default();
                replication.objects.extend(objects::admit_any(&object, &around));
            }
            _ => {}
        }
    }
    replication
}

/// Compares the response code and, for a rejection by JobSet's webhook, the exact message.
fn response_difference(
    path: &str, recorded: &Value, answer: &Result<Value, admission::AdmissionRejection>,
) -> Option<RecordedDifference> {
    let (code, message) = match answer {
        Ok(_) => (201, ""),
        Err(refused) => (refused.code, refused.message.as_str()),
    };
    let same_words = match recorded["message"].as_str() {
        Some(said) if said.contains("vjobset.kb.io") => said == message,
        _ => true,
    };
    let same = recorded["code"] == code && same_words;
    (!same).then(|| {
        let own = json!({"code": code, "message": message});
        RecordedDifference::new(format!("{path}: created"), recorded.clone(), own)
    })
}
