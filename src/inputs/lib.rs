//! Converts input texts to `spec` types. This is the only crate that handles YAML, JSON, files and line numbers.
//!
//! A text is parsed to a tree of nodes with positions (`text`), validated against tables (`schema`), and converted to
//! `spec` types with Kubernetes' defaults (`kube`, `topology`, `scenario`, `presets`). Every error is a `Diagnostic`.
//! This crate must not simulate anything, and the crates that use it must not handle texts.

pub mod acting_keys;
pub mod dist;
pub mod effective_defaults;
pub mod embedded_jobsets;
mod experiment;
pub mod files;
pub mod fleet;
mod fleet_defaults;
mod gates;
pub mod kube;
pub mod kueue;
mod kueue_load;
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

pub use dist::parse_distribution;
pub use effective_defaults::{EffectiveDefault, TriedValue, effective_defaults_of};
pub use files::{STDIN, file_text, read_source};
pub use fleet::{LoadedFleet, is_fleet, parse_fleet, parse_fleet_with};
pub use fleet_defaults::effective_fleet_defaults;
pub use gates::{parse_gates, read_gates};
pub use kube::{
    DECODERS, ManifestSet, manifest_sources, of_jobsets, read_manifest_path, read_manifests, read_sources, stored_job,
    stored_jobset, stored_node, stored_pod, unmodelled_fields, wrapped_documents,
};
pub use kueue_load::{is_kueue_load, parse_kueue_load};
pub use presets::preset_data::preset_names;
pub use presets::ranges::{SourcedRange, is_decision, sourced, without_range};
pub use presets::shipped::{topology_names, topology_source};
pub use presets::uncertain::is_uncertain;
pub use presets::{DEFAULT_VERSION, PresetAssumption, assumptions, control_plane, timing};
pub use scenario::preset_file::{is_file as is_preset_file, read as read_preset};
pub use scenario::{
    EXISTING_WORKLOADS, LoadedScenario, parse_scenario, parse_scenario_of, read_scenario, scenario_from_manifests,
    scenario_with_unplaceable,
};
pub use schema::definitions::common::API_VERSION;
pub use schema::json_schema::json_schema;
pub use schema::reference::{FieldRow, fields as field_rows, markdown as reference_page};
pub use sim_base::suggest::nearest;
pub use text::diagnostic::{Diagnostic, Diagnostics, SourceText};
pub use text::file_error::FileTextError;
pub use text::path::{jobset_path, split_sets};
pub use text::print::yaml as print_yaml;
pub use topology::import::{ImportRequest, ImportedTopology, import_nodes};
pub use topology::{
    NotedTopology, imported, quantity as written_quantity, read_noting, read_topology, written as written_topology,
};

/// Returns all objects of a text as API JSON, without validation. Lists are replaced by their items.
pub fn documents(source: &SourceText) -> Result<Vec<serde_json::Value>, Diagnostics> {
    let documents = object_list::unlisted(text::yaml::parse(source)?);
    Ok(documents.iter().map(text::node::YamlNode::to_json).collect())
}

/// Parses a Kubernetes version such as `1.36`, `v1.36` or `1.36.2`.
pub fn kubernetes_version(text: &str) -> Result<sim_api::spec::KubeVersion, scenario::UnmodelledSetting> {
    scenario::kubernetes_version(text)
}

/// Returns whether the run time of a pod follows from the command of its only container; `pod` is a pod spec.
pub fn ends_by_its_command(pod: &serde_json::Value) -> bool {
    scenario::ends_by_its_command(pod)
}

/// Returns the pods that match a name given by the user, without their random suffix.
pub fn pods_meant(jobsets: &[sim_api::spec::SubmittedJobSet], name: &str) -> Vec<String> {
    scenario::pod_names::meant(jobsets, name)
}

/// Returns a short pattern for the names of all pods.
pub fn pod_names(jobsets: &[sim_api::spec::SubmittedJobSet]) -> String {
    scenario::pod_names::describe(jobsets)
}

/// Generates a cluster that is just large enough for JobSets given as texts with their overrides. Texts that cannot
/// be read are skipped. With `spare`, the cluster has spare nodes for random faults.
pub fn generated_topology(jobsets: &[(SourceText, Vec<(String, String)>)], spare: bool) -> sim_api::spec::TopologySpec {
    let read = |(source, sets): &(SourceText, Vec<_>)| kube::read_with_sets(source, "", sets).ok();
    let submitted = jobsets.iter().filter_map(read).flat_map(|m| m.jobsets);
    let submitted = submitted.map(|(jobset, source)| sim_api::spec::SubmittedJobSet {
        jobset,
        submit_at: sim_base::Duration::ZERO,
        source,
    });
    scenario::generated(&submitted.collect::<Vec<_>>(), spare)
}
