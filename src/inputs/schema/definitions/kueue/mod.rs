//! Field tables of Kueue's objects (`kueue.x-k8s.io`) and of the configuration of its manager
//! (`config.kueue.x-k8s.io`), v1beta1 and v1beta2.

mod cluster_queue;
mod configuration;
pub mod load_test;
mod objects;

use crate::schema::field_type::FieldType::{Any, Object, OneOf};
use crate::schema::field_type::{FieldSchema, ObjectSchema, field, inert};

use super::metadata::METADATA;

pub const V1BETA1: &str = "kueue.x-k8s.io/v1beta1";
pub const V1BETA2: &str = "kueue.x-k8s.io/v1beta2";
pub const CONFIGURATION_V1BETA1: &str = "config.kueue.x-k8s.io/v1beta1";
pub const CONFIGURATION_V1BETA2: &str = "config.kueue.x-k8s.io/v1beta2";

/// Kinds of `kueue.x-k8s.io` that do not affect a simulation.
pub const KINDS_NOT_MODELLED: &[&str] = &["MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig"];

const VERSION: FieldSchema = field("apiVersion", OneOf(&[V1BETA1, V1BETA2])).required();
const METADATA_FIELD: FieldSchema = field("metadata", Object(&METADATA)).doc("{name: ...}").required();
const STATUS: FieldSchema = inert("status", Any);

/// API groups of Kueue's objects and of its configuration.
pub const GROUPS: [&str; 2] = ["kueue.x-k8s.io/", "config.kueue.x-k8s.io/"];

/// Returns whether the simulation has objects of this kind of Kueue, in some version.
pub fn has_kind(api_version: &str, kind: &str) -> bool {
    GROUPS.iter().any(|group| api_version.starts_with(group)) && KINDS.contains(&kind)
}

/// Returns the table of a kind, or `None` if the version has no such kind.
pub fn table(api_version: &str, kind: &str) -> Option<&'static ObjectSchema> {
    let is_old = api_version == V1BETA1 || api_version == CONFIGURATION_V1BETA1;
    match api_version {
        V1BETA1 | V1BETA2 => match kind {
            "ClusterQueue" if is_old => Some(&cluster_queue::CLUSTER_QUEUE_V1BETA1),
            "ClusterQueue" => Some(&cluster_queue::CLUSTER_QUEUE),
            "Cohort" => Some(&cluster_queue::COHORT),
            "LocalQueue" => Some(&objects::LOCAL_QUEUE),
            "ResourceFlavor" => Some(&objects::RESOURCE_FLAVOR),
            "Topology" => Some(&objects::TOPOLOGY),
            "WorkloadPriorityClass" => Some(&objects::WORKLOAD_PRIORITY_CLASS),
            "AdmissionCheck" => Some(&objects::ADMISSION_CHECK),
            "Workload" => Some(&objects::WORKLOAD),
            _ => None,
        },
        CONFIGURATION_V1BETA1 | CONFIGURATION_V1BETA2 => match kind {
            "Configuration" if is_old => Some(&configuration::CONFIGURATION_V1BETA1_TABLE),
            "Configuration" => Some(&configuration::CONFIGURATION),
            _ => None,
        },
        _ => None,
    }
}

/// Returns all tables with their versions.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static ObjectSchema)> {
    let versions = [V1BETA1, V1BETA2, CONFIGURATION_V1BETA1, CONFIGURATION_V1BETA2];
    versions.into_iter().flat_map(|version| KINDS.iter().filter_map(move |kind| Some((version, table(version, kind)?))))
}

/// Kinds with a table.
pub const KINDS: &[&str] = &[
    "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology", "WorkloadPriorityClass", "AdmissionCheck",
    "Workload", "Configuration",
];
