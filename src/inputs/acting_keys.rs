//! Labels, annotations and taints on which webhooks and controllers of real clusters act and which the simulation does
//! not follow, as data.
//!
//! This module must never list a key that the simulation follows: a prefix that ends with `*` must match no such key.
//! Each entry has a source.

mod table;

use serde_json::Value;
use sim_api::spec::{JobSet, RandomAction, ScenarioSpec};
use std::collections::BTreeSet;
pub use table::ACTING_KEYS;
use table::RECLAIMED;

/// Kind of the objects on which a key acts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    JobSet,
    Job,
    Pod,
    /// A label or an annotation of a Node.
    Node,
    /// The key of a taint of a Node.
    Taint,
    /// An existing Workload of Kueue.
    Workload,
    /// A Namespace with JobSets.
    Namespace,
}

impl KeyPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            KeyPlace::JobSet => "JobSet",
            KeyPlace::Job => "Job",
            KeyPlace::Pod => "pod",
            KeyPlace::Node => "node",
            KeyPlace::Taint => "taint",
            KeyPlace::Workload => "Workload",
            KeyPlace::Namespace => "Namespace",
        }
    }
}

/// A label or annotation with an effect outside the model.
#[derive(Debug)]
pub struct ActingKey {
    pub place: KeyPlace,
    /// The key, or its beginning if it ends with `*`.
    pub key: &'static str,
    /// Values without an effect.
    pub inert: &'static [&'static str],
    pub effect: &'static str,
    pub source: &'static str,
}

impl ActingKey {
    fn acts(&self, place: KeyPlace, key: &str, value: &str) -> bool {
        let is_named = match self.key.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => key == self.key,
        };
        self.place == place && is_named && !self.inert.contains(&value)
    }
}

/// A key of an object with an effect that is not simulated.
#[derive(Clone, Debug)]
pub struct FoundKey {
    pub entry: &'static ActingKey,
    /// `label` or `annotation`.
    pub list: &'static str,
    pub key: String,
    /// Field path in the JobSet, such as `metadata.labels[key]`.
    pub path: String,
    /// Name of the replicatedJob, or empty for a key of the JobSet.
    pub replicated_job: String,
}

impl FoundKey {
    /// Describes the key and its effect.
    pub fn describe(&self) -> String {
        let of = match &*self.replicated_job {
            "" => "JobSet".to_owned(),
            job => format!("{} of replicatedJob {job}", self.entry.place.as_str()),
        };
        format!("{} {} ({of}): {}", self.list, self.key, self.entry.effect)
    }
}

fn in_metadata(metadata: &Value, place: KeyPlace) -> impl Iterator<Item = (&'static ActingKey, &'static str, &str)> {
    let lists = [("label", "labels"), ("annotation", "annotations")];
    lists.into_iter().flat_map(move |(list, field)| {
        let pairs = metadata[field].as_object().into_iter().flatten();
        pairs.filter_map(move |(key, value)| {
            let value = value.as_str().unwrap_or("");
            Some((entry_of(place, key, value)?, list, key.as_str()))
        })
    })
}

/// Returns the keys of a JobSet and of its templates that act outside the model.
pub fn of_jobset(jobset: &JobSet) -> Vec<FoundKey> {
    jobset.object.as_ref().map_or_else(Vec::new, |object| of_object(object))
}

/// Returns the keys of a JobSet given as JSON.
pub fn of_object(object: &Value) -> Vec<FoundKey> {
    let mut found = Vec::new();
    let mut add = |metadata: &Value, place: KeyPlace, at: &str, job: &str| {
        found.extend(in_metadata(metadata, place).map(|(entry, list, key)| FoundKey {
            entry,
            list,
            key: key.to_owned(),
            path: format!("{at}.{list}s[{key}]"),
            replicated_job: job.to_owned(),
        }));
    };
    add(&object["metadata"], KeyPlace::JobSet, "metadata", "");
    for (i, job) in object["spec"]["replicatedJobs"].as_array().into_iter().flatten().enumerate() {
        let name = job["name"].as_str().unwrap_or("");
        let at = format!("spec.replicatedJobs[{i}].template");
        let template = &job["template"];
        add(&template["metadata"], KeyPlace::Job, &format!("{at}.metadata"), name);
        let pod = &template["spec"]["template"];
        add(&pod["metadata"], KeyPlace::Pod, &format!("{at}.spec.template.metadata"), name);
    }
    found
}

/// Returns the entry of a label or annotation of a node, or of the key of a taint.
fn entry_of(place: KeyPlace, key: &str, value: &str) -> Option<&'static ActingKey> {
    ACTING_KEYS.iter().find(|entry| entry.acts(place, key, value))
}

/// Returns whether some value of an annotation of a Node acts.
pub fn is_of_node(key: &str) -> bool {
    let is_named = |entry: &&ActingKey| entry.place == KeyPlace::Node && entry.key == key;
    ACTING_KEYS.iter().any(|entry| is_named(&entry))
}

/// Returns notes about annotations of nodes.
pub fn of_node_annotations<'a>(annotations: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    let note = |(key, value): (&String, &String)| {
        let entry = entry_of(KeyPlace::Node, key, value)?;
        Some(format!("annotation {key}={value} of nodes: {}", entry.effect))
    };
    annotations.filter_map(note).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns notes about labels and annotations of the Namespaces with JobSets that act outside the model.
pub fn of_namespaces(scenario: &ScenarioSpec) -> Vec<String> {
    let has_jobset = |name: &Value| scenario.jobsets.iter().any(|submitted| *name == submitted.jobset.namespace);
    let namespaces = scenario.objects.iter().filter(|object| object["kind"] == "Namespace");
    let own = namespaces.map(|object| &object["metadata"]).filter(|metadata| has_jobset(&metadata["name"]));
    let notes = own.flat_map(|metadata| {
        let name = metadata["name"].as_str().unwrap_or("");
        let found = in_metadata(metadata, KeyPlace::Namespace);
        found.map(move |(entry, list, key)| format!("{list} {key} (Namespace {name}): {}", entry.effect))
    });
    notes.collect()
}

/// Returns the labels and annotations of an existing Workload of Kueue that act outside the model.
pub fn of_workload(metadata: &Value) -> Vec<String> {
    let found = in_metadata(metadata, KeyPlace::Workload);
    found.map(|(entry, list, key)| format!("metadata.{list}s[{key}] ({})", entry.effect)).collect()
}

/// Returns the labels and annotations of the metadata of another object that acts like a JobSet, such as a TrainJob.
pub fn of_owner(metadata: &Value, kind: &str) -> Vec<String> {
    let found = in_metadata(metadata, KeyPlace::JobSet);
    found.map(|(entry, list, key)| format!("{list} {key} ({kind}): {}", entry.effect)).collect()
}

/// Returns notes about labels and taints of nodes that act outside the model. Machines that a fault process reclaims
/// are simulated.
pub fn of_nodes(scenario: &ScenarioSpec) -> Vec<String> {
    let pools = || scenario.topology.pools.iter();
    let listed = || pools().flat_map(|pool| &pool.nodes);
    let labels = pools().map(|pool| &pool.labels).chain(listed().map(|node| &node.labels));
    let taints = pools().flat_map(|pool| &pool.taints).chain(listed().flat_map(|node| &node.taints));
    let mut notes = BTreeSet::new();
    let mut add = |place: KeyPlace, what: &str, key: &str, value: &str| {
        if let Some(entry) = entry_of(place, key, value) {
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            notes.insert((entry.effect, format!("{what} {key}{value} of nodes: {}", entry.effect)));
        }
    };
    labels.flatten().for_each(|(key, value)| add(KeyPlace::Node, "label", key, value));
    taints.for_each(|taint| add(KeyPlace::Taint, "taint", &taint.key, &taint.value));
    let nodes = scenario.objects.iter().filter(|object| object["kind"] == "Node");
    for node in nodes {
        for (what, field) in [("label", "labels"), ("annotation", "annotations")] {
            let pairs = node["metadata"][field].as_object().into_iter().flatten();
            pairs.for_each(|(key, value)| add(KeyPlace::Node, what, key, value.as_str().unwrap_or("")));
        }
    }
    let reclaims = scenario.fault_processes.iter().any(|process| process.action == RandomAction::Reclaim);
    let is_left = |(effect, _): &(&str, String)| !(reclaims && *effect == RECLAIMED);
    let annotations = scenario.topology.acting_annotations.iter().cloned();
    notes.into_iter().filter(is_left).map(|(_, note)| note).chain(annotations).collect()
}
