//! Objects that no modelled controller creates: Nodes, Jobs and pods as the API server stores them.
//!
//! This module must not parse text. The caller provides `ObjectDecoders`.

use super::decode_error::ObjectDecodeError;
use super::job::JobSpec;
use super::jobset::JobSet;
use super::pod::{PodTemplate, TaintSpec};
use serde_json::Value;
use std::collections::BTreeMap;

/// A Node that is ready from the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeObject {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<TaintSpec>,
    pub unschedulable: bool,
    /// Quantity by resource name, in thousandths. `pods` defaults to 110.
    pub allocatable: BTreeMap<String, i64>,
    /// Declared node features (`status.declaredFeatures`).
    pub features: Vec<String>,
}

/// A Job that was not created by a JobSet.
#[derive(Clone, Debug, Default)]
pub struct JobObject {
    pub namespace: String,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    pub suspend: bool,
    pub spec: JobSpec,
}

/// A pod that was not created by a Job.
#[derive(Clone, Debug, Default)]
pub struct PodObject {
    pub namespace: String,
    pub name: String,
    /// Template with the labels, annotations and finalizers of the pod itself.
    pub template: PodTemplate,
}

/// Functions that convert stored objects to typed ones, because the engine does not parse objects. The errors name
/// the parts that are not modelled.
#[derive(Copy, Clone)]
pub struct ObjectDecoders {
    pub jobset: fn(&Value) -> Result<JobSet, ObjectDecodeError>,
    pub job: fn(&Value) -> Result<JobObject, ObjectDecodeError>,
    pub pod: fn(&Value) -> Result<PodObject, ObjectDecodeError>,
    pub node: fn(&Value) -> Result<NodeObject, ObjectDecodeError>,
}

impl std::fmt::Debug for ObjectDecoders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoders")
    }
}

impl ObjectDecoders {
    /// Decoders for scenarios without user-created objects. They always fail.
    pub const NONE: ObjectDecoders = ObjectDecoders {
        jobset: |_| Err(ObjectDecodeError::NoDecoder { objects: "JobSets" }),
        job: |_| Err(ObjectDecodeError::NoDecoder { objects: "Jobs" }),
        pod: |_| Err(ObjectDecodeError::NoDecoder { objects: "pods" }),
        node: |_| Err(ObjectDecodeError::NoDecoder { objects: "Nodes" }),
    };
}
