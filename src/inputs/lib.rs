//! Text to spec: the only module that knows YAML, JSON, files and line numbers.
//!
//! A text becomes a tree of nodes with places (`yaml`, `node`), is checked against tables (`check`, `shape`,
//! `shapes`), and is then converted to `spec` types with Kubernetes' defaults (`kube`, `topology`, `scenario`,
//! `presets`). Every error is a `Diagnostic`. Nothing here may simulate anything, and nothing behind it may see a
//! text.

pub mod dist;
pub mod embedded_jobsets;
mod experiment;
pub mod files;
pub mod fleet;
pub mod kube;
mod node_repair;
mod object_list;
mod parameters;
pub mod presets;
pub mod read;
pub mod scaffold;
pub mod scenario;
pub mod schema;
pub mod server;
pub mod settings;
pub mod strategy;
pub mod text;
pub mod topology;
pub mod traces;
mod training;
pub mod used;
mod used_fleet;

pub use files::{STDIN, file_text, read_source};
pub use fleet::{LoadedFleet, is_fleet, parse_fleet, parse_fleet_with};
pub use kube::{
    DECODERS, Manifests, manifest_sources, of_jobsets, read_manifest_path, read_manifests,
    read_sources, stored_job, stored_jobset, stored_node, stored_pod, wrapped_documents,
};
pub use presets::preset_data::preset_names;
pub use presets::ranges::{SourcedRange, sourced};
pub use presets::shipped::{topology_names, topology_source};
pub use presets::{Assumption, DEFAULT_VERSION, assumptions, control_plane, timing};
pub use scenario::preset_file::{is_file as is_preset_file, read as read_preset};
pub use scenario::{
    LoadedScenario, parse_scenario, parse_scenario_of, read_scenario, scenario_from_manifests,
};
pub use schema::json_schema::json_schema;
pub use schema::reference::{FieldRow, fields as field_rows, markdown as reference_page};
pub use schema::shapes::common::API_VERSION;
pub use text::diagnostic::{Diagnostic, Diagnostics, Source};
pub use text::path::split_sets;
pub use text::print::yaml as print_yaml;
pub use text::suggest::nearest;
pub use topology::import::import_nodes;
pub use topology::{imported, read_noting, read_topology, written as written_topology};
pub use used::{Tried, Used, used};
pub use used_fleet::used_fleet;

/// All objects of a text as the API's JSON, those of lists one by one, unchecked.
pub fn documents(source: &Source) -> Result<Vec<serde_json::Value>, Diagnostics> {
    let documents = object_list::unlisted(text::yaml::parse(source)?);
    Ok(documents.iter().map(text::node::Node::to_json).collect())
}

/// A version of Kubernetes as people write it: `1.36`, `v1.36` or `1.36.2`.
pub fn kubernetes_version(text: &str) -> Result<sim_api::spec::Version, String> {
    let wrong = |e: scenario::NotSimulated| format!("{}\n  legal: {}", e.message, e.legal);
    scenario::kubernetes_version(text).map_err(wrong)
}

/// Whether `run` takes it from the command of the pod's only container that it ends; `pod`: a pod spec.
pub fn ends_by_its_command(pod: &serde_json::Value) -> bool {
    scenario::ends_by_its_command(pod)
}

/// The pods that a user may mean, by their names without the random suffix.
pub fn pods_meant(jobsets: &[sim_api::spec::SubmittedJobSet], name: &str) -> Vec<String> {
    scenario::pod_names::meant(jobsets, name)
}

/// The names of all pods in short.
pub fn pod_names(jobsets: &[sim_api::spec::SubmittedJobSet]) -> String {
    scenario::pod_names::describe(jobsets)
}

/// A cluster that is just large enough for JobSets given as texts with their overrides; those that cannot be read are
/// left out.
pub fn generated_topology(jobsets: &[(Source, Vec<(String, String)>)]) -> sim_api::spec::Topology {
    let read = |(source, sets): &(Source, Vec<_>)| kube::read_with_sets(source, "", sets).ok();
    let submitted = jobsets.iter().filter_map(read).flat_map(|m| m.jobsets);
    let submitted = submitted.map(|(jobset, source)| sim_api::spec::SubmittedJobSet {
        jobset,
        submit_at: sim_base::Duration::ZERO,
        source,
    });
    scenario::generated(&submitted.collect::<Vec<_>>())
}
