//! Reads the objects of Kueue, v1beta1 and v1beta2: manifests, and the output of
//! `kubectl get clusterqueues,localqueues,resourceflavors,cohorts,topologies,workloads -A -o yaml`.
//!
//! Objects are converted like Kueue's conversion webhooks do, with the defaults of v1beta2, and refused like its CRDs
//! and validation webhooks do.

mod admission_checks;
mod configuration;
mod existing_workloads;
mod jobset_webhook;
mod quotas;
mod reader;
mod stored_workload;
mod validate;
mod workload_rules;

pub use admission_checks::add_outcomes;
pub use existing_workloads::add_run_times;
pub use jobset_webhook::{admit, namespace_labels};
pub use reader::{InlineObjects, KueueManifests, check_object, is_of_kueue, read_kueue, read_with_inline};
pub use validate::update_refusals;
