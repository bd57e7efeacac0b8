//! Objects that somebody else than the modelled controllers makes: Nodes, Jobs and pods as the API server stores them.
//!
//! Must never read a text: `Decoders` are given by whoever can.

use super::job::JobSpec;
use super::jobset::JobSet;
use super::pod::{PodTemplate, Taint};
use serde_json::Value;
use std::collections::BTreeMap;

/// A Node, ready from the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeObject {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    pub unschedulable: bool,
    /// Resource name → thousandths; `pods` defaults to 110.
    pub allocatable: BTreeMap<String, i64>,
    /// `status.declaredFeatures`.
    pub features: Vec<String>,
}

/// A Job that no JobSet has made.
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

/// A pod that no Job has made.
#[derive(Clone, Debug, Default)]
pub struct PodObject {
    pub namespace: String,
    pub name: String,
    /// Labels, annotations and finalizers are the pod's own.
    pub template: PodTemplate,
}

/// Stored objects → typed ones; the engine reads no text. The errors say what is not modelled.
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
    /// For scenarios in which nobody writes an object by hand.
    pub const NONE: Decoders = Decoders {
        jobset: |_| Err("no reader of JobSets".to_owned()),
        job: |_| Err("no reader of Jobs".to_owned()),
        pod: |_| Err("no reader of pods".to_owned()),
        node: |_| Err("no reader of Nodes".to_owned()),
    };
}
