//! Objects that no modelled controller creates: Nodes, Jobs and pods as the API server stores them.
//!
//! This module must not parse text. The caller provides `Decoders`.

use super::job::JobSpec;
use super::jobset::JobSet;
use super::pod::{PodTemplate, Taint};
use serde_json::Value;
use std::collections::BTreeMap;

/// A Node that is ready from the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeObject {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
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
pub struct Decoders {
    pub jobset: fn(&Value) -> Result<JobSet, String>,
    pub job: fn(&Value) -> Result<JobObject, String>,
    pub pod: fn(&Value) -> Result<PodObject, String>,
    pub node: fn(&Value) -> Result<NodeObject, String>,
}

impl std::fmt::Debug for Decoders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoders")
    }
}

impl Decoders {
    /// Decoders for scenarios without user-created objects. They always fail.
    pub const NONE: Decoders = Decoders {
        jobset: |_| Err("no reader of JobSets".to_owned()),
        job: |_| Err("no reader of Jobs".to_owned()),
        pod: |_| Err("no reader of pods".to_owned()),
        node: |_| Err("no reader of Nodes".to_owned()),
    };
}
