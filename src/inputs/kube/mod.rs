//! Converts Kubernetes manifests to `spec::JobSet`, with the defaults of the API server and of the webhooks.
//!
//! Objects are accepted exactly if a cluster would accept them; refused objects are reported with the reason.

mod admitted;
mod depends;
pub mod inspect;
pub mod job;
mod jobset;
pub mod pod;
mod reader;
mod sources;
pub mod stored;
mod written;

pub use admitted::{kind_of, posted, scheduler_configuration, stored};
pub use reader::{ManifestSet, SETS, together};
pub use sources::{
    has_runtime, manifest_sources, of_jobsets, read_among, read_manifest_path, read_manifests, read_sources,
    read_with_sets, wrapped_documents,
};
pub use stored::{DECODERS, stored_job, stored_jobset, stored_node, stored_pod, unmodelled_fields};
pub use written::{WrittenManifest, error, no_jobset, place_of_kind, refused, too_large};
