//! Recordings of kind `children`: documents that were created, and the child objects some seconds later.
//!
//! Must never read a file: the documents of a shipped example are handed in.

use super::children_cluster::Cluster;
use super::children_compare::{self, masked};
use super::result::Difference;
use crate::admission::{self, Create, Gates};
use serde_json::{Value, json};

/// Compares one case; `documents` are those of the case, or of the example that it names.
pub fn compare(case: &Value, documents: &[Value]) -> Vec<Difference> {
    let id = case["id"].as_str().unwrap_or("");
    let on = case["gates"] == "on";
    let path = format!("{id}, gates {}", if on { "on" } else { "off" });
    let gates = Gates {
        in_place_restart: on,
        restart_job: on,
        elastic_job_set: on,
    };
    let mut cluster = Cluster::new(gates);
    let mut found = Vec::new();
    let jobsets = create(case, documents, &mut cluster, &path, &mut found);
    cluster.settle(&jobsets);
    let unnamed = |d: &&Value| d["metadata"]["name"].as_str().is_none_or(str::is_empty);
    let generated = documents
        .iter()
        .filter(unnamed)
        .any(|d| d["kind"] == "JobSet");
    let render = |objects: &[Value], form: fn(&Value) -> Value| -> Vec<Value> {
        objects
            .iter()
            .map(|o| masked(&form(o), generated))
            .collect()
    };
    let observed = &case["observed"];
    let kinds = [
        ("jobs", render(&cluster.jobs, children_compare::job)),
        (
            "services",
            render(&cluster.services, children_compare::service),
        ),
        ("pvcs", render(&cluster.claims, children_compare::claim)),
        ("pods", render(&cluster.pods, children_compare::pod)),
    ];
    for (kind, own) in kinds {
        let mut recorded = observed[kind].clone();
        children_compare::generate_names(&mut recorded);
        found.extend(children_compare::compare(
            &format!("{path}: {kind}"),
            &recorded,
            own,
        ));
    }
    found
}

/// Creates the documents in their order; the stored JobSets.
fn create(
    case: &Value,
    documents: &[Value],
    cluster: &mut Cluster,
    path: &str,
    found: &mut Vec<Difference>,
) -> Vec<Value> {
    let mut jobsets = Vec::new();
    let namespace = case["namespace"].as_str().unwrap_or("");
    let mut recorded = case["created"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|c| c["kind"] == "JobSet");
    for document in documents {
        let mut object = document.clone();
        match document["kind"].as_str().unwrap_or("") {
            "JobSet" => {
                let request = Create {
                    object: document,
                    namespace,
                    gates: cluster.gates,
                    existing_claims: &cluster.claims,
                };
                let answer = admission::create(&request);
                let recorded = recorded.next().unwrap_or(&Value::Null);
                found.extend(answer_difference(path, recorded, &answer));
                jobsets.extend(answer);
            }
            "PriorityClass" => cluster.priority_classes.push(object),
            "RuntimeClass" => {
                let name = document["metadata"]["name"].as_str().unwrap_or("");
                cluster.runtime_classes.push(name.to_owned());
            }
            "Service" => {
                object["metadata"]["namespace"] = json!(namespace);
                if object["spec"]["clusterIP"].is_null() {
                    object["spec"]["clusterIP"] = json!("<ip>");
                }
                cluster
                    .services
                    .extend(crate::objects::admit_service(&object));
            }
            "PersistentVolumeClaim" => {
                object["metadata"]["namespace"] = json!(namespace);
                cluster.claims.extend(crate::objects::admit_claim(&object));
            }
            _ => {}
        }
    }
    jobsets
}

/// Whether the code, and for a refusal by JobSet's webhook every word, is the recorded one.
fn answer_difference(
    path: &str,
    recorded: &Value,
    answer: &Result<Value, admission::Rejection>,
) -> Option<Difference> {
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
        Difference::new(format!("{path}: created"), recorded.clone(), own)
    })
}
