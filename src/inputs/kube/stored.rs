//! Converts stored objects to `spec` types. These are objects that were not created by the simulated controllers.
//!
//! Absent fields get the API's default. Fields that are not modelled must be reported as errors, never guessed.

use super::written::{PODS_MAX, pods_of};
use super::{job, jobset, pod};
use crate::schema::check::{UnmodelledFields, check};
use crate::text::diagnostic::{DiagnosticReport, SourceText};
use crate::{read, schema::definitions::objects::CREATED, schema::field_type::FieldType, text::node::YamlNode};
use crate::{text::path::YamlPath, topology::PODS_PER_NODE_MILLI, topology::taint::taint};
use serde_json::Value;
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{
    CompletionMode, JobObject, JobSet, NodeObject, ObjectDecodeError, ObjectDecoders, PodObject, RestartPolicy,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Converters for stored objects, used by `Scenario::decode`.
pub const DECODERS: ObjectDecoders =
    ObjectDecoders { jobset: stored_jobset, job: stored_job, pod: stored_pod, node: stored_node };

/// Converts a Job as stored by the API server.
pub fn stored_job(object: &Value) -> Result<JobObject, ObjectDecodeError> {
    let node = checked("Job", object)?;
    let metadata = StoredMetadata::read(&node)?;
    let empty = YamlNode::empty_map();
    let written = node.get("spec").unwrap_or(&empty);
    if read::boolean(written, "manualSelector") == Some(true) {
        return Err(ObjectDecodeError::ManualSelector);
    }
    let mut spec = job::spec(written);
    if written.get("completionMode").is_none() {
        spec.completion_mode = CompletionMode::NonIndexed;
    }
    let pods = u64::from(spec.pods());
    if pods > PODS_MAX {
        return Err(ObjectDecodeError::TooManyPods { pods, maximum: PODS_MAX });
    }
    Ok(JobObject {
        namespace: metadata.namespace,
        name: metadata.name,
        labels: metadata.labels,
        annotations: metadata.annotations,
        finalizers: metadata.finalizers,
        suspend: read::boolean(written, "suspend").unwrap_or(false),
        spec,
    })
}

/// Converts a pod as stored by the API server.
pub fn stored_pod(object: &Value) -> Result<PodObject, ObjectDecodeError> {
    let node = checked("Pod", object)?;
    let metadata = StoredMetadata::read(&node)?;
    let mut template = pod::template(&node);
    if node.at_path(&["spec", "restartPolicy"]).is_none() {
        template.spec.restart_policy = RestartPolicy::Always;
    }
    Ok(PodObject { namespace: metadata.namespace, name: metadata.name, template })
}

/// Converts a Node as printed by `kubectl get node -o json`.
pub fn stored_node(object: &Value) -> Result<NodeObject, ObjectDecodeError> {
    let node = checked("Node", object)?;
    let metadata = StoredMetadata::read(&node)?;
    let empty = YamlNode::empty_map();
    if node.at_path(&["metadata", "ownerReferences"]).is_some() {
        return Err(ObjectDecodeError::OwnerReferences);
    }
    let spec = node.get("spec").unwrap_or(&empty);
    let status = node.get("status").unwrap_or(&empty);
    for condition in read::list(status, "conditions") {
        let text = |key: &str| condition.get(key).and_then(YamlNode::as_str).unwrap_or("");
        if text("type") == "Ready" && text("status") != "True" {
            let status = text("status").to_owned();
            return Err(ObjectDecodeError::NotReady { status });
        }
    }
    let given = ["allocatable", "capacity"].into_iter().find(|key| status.get(key).is_some());
    let mut allocatable = read::quantities(status, given.unwrap_or("allocatable"));
    allocatable.entry("pods".to_owned()).or_insert(PODS_PER_NODE_MILLI);
    let mut labels = metadata.labels;
    // The kubelet maintains this label.
    labels.entry(HOSTNAME.to_owned()).or_insert_with(|| metadata.name.clone());
    Ok(NodeObject {
        name: metadata.name,
        labels,
        taints: read::list(spec, "taints").iter().map(taint).collect(),
        unschedulable: read::boolean(spec, "unschedulable").unwrap_or(false),
        allocatable,
        features: read::strings(status, "declaredFeatures"),
    })
}

struct StoredMetadata {
    namespace: String,
    name: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    finalizers: Vec<String>,
}

impl StoredMetadata {
    fn read(node: &YamlNode) -> Result<StoredMetadata, ObjectDecodeError> {
        let empty = YamlNode::empty_map();
        let metadata = node.get("metadata").unwrap_or(&empty);
        let text = |key: &str| read::string(metadata, key).filter(|t| !t.is_empty());
        Ok(StoredMetadata {
            namespace: text("namespace").unwrap_or_else(|| "default".to_owned()),
            name: text("name").ok_or(ObjectDecodeError::MissingName)?,
            labels: read::string_map(metadata, "labels"),
            annotations: read::string_map(metadata, "annotations"),
            finalizers: read::strings(metadata, "finalizers"),
        })
    }
}

/// Checks the object against the schema of its kind and returns the tree.
fn checked(kind: &'static str, object: &Value) -> Result<YamlNode, ObjectDecodeError> {
    if object["kind"] != kind {
        return Err(ObjectDecodeError::WrongKind { found: object["kind"].to_string(), expected: kind });
    }
    let node = YamlNode::from_json(object);
    match check_schema(&node).0 {
        Some(reason) => Err(ObjectDecodeError::Schema { reason }),
        None => Ok(node),
    }
}

/// Returns the first error, and the fields that are not modelled.
fn check_schema(node: &YamlNode) -> (Option<String>, UnmodelledFields) {
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&none, &none);
    let mut unmodelled = UnmodelledFields::new();
    let shape = FieldType::Kinds(&CREATED);
    check(node, &shape, &YamlPath::ROOT, &mut report, &mut unmodelled);
    let first = report.found.into_iter().next();
    (first.map(|e| e.message), unmodelled)
}

/// Returns the paths, without indexes, of the fields of an object that are not modelled.
pub fn unmodelled_fields(object: &Value) -> Vec<String> {
    check_schema(&YamlNode::from_json(object)).1.into_keys().collect()
}

/// Converts a JobSet as stored by the API server. Rules that the API server enforces are not checked again.
pub fn stored_jobset(object: &serde_json::Value) -> Result<JobSet, ObjectDecodeError> {
    let mut jobset = jobset::stored(&YamlNode::from_json(object));
    let pods = pods_of(&jobset);
    if pods > PODS_MAX {
        return Err(ObjectDecodeError::TooManyPods { pods, maximum: PODS_MAX });
    }
    jobset.object = Some(Arc::new(object.clone()));
    Ok(jobset)
}
