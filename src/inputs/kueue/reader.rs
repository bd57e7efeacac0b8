//! Finds the objects of Kueue in texts and converts them.

use super::configuration::{self, configuration};
use super::{quotas, stored_workload, validate, workload_rules};
use crate::acting_keys;
use crate::object_list::unlisted;
use crate::schema::check::{UnmodelledFields, check};
use crate::schema::definitions::kueue::{GROUPS, KINDS, KINDS_NOT_MODELLED, V1BETA1, V1BETA2, has_kind, table};
use crate::schema::field_type::{FieldType, ObjectSchema};
use crate::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use crate::text::node::YamlNode;
use crate::text::path::YamlPath;
use crate::text::yaml;
use crate::{kube::pod, read, topology::taint::taint};
use sim_api::spec::kueue::{
    AdmissionCheck, KueueObjects, KueueTopology, LocalQueue, ResourceFlavor, WorkloadPriorityClass,
};
use std::collections::BTreeSet;

/// Key of the configuration in the ConfigMap that Kueue's manager mounts.
const CONFIGURATION_FILE: &str = "controller_manager_config.yaml";
/// JobSet's ConfigMap has the same key.
const CONFIGURATION_GROUP: &str = "config.kueue.x-k8s.io/";
const DEFAULT_NAMESPACE: &str = "default";

/// The objects of Kueue in a set of texts.
#[derive(Clone, Debug, Default)]
pub struct KueueManifests {
    pub objects: KueueObjects,
    /// Known fields that are present but not modelled, as `Kind.path`, each with its number of occurrences.
    pub unmodelled: Vec<(String, usize)>,
    /// `kind/name` of objects of Kueue whose kind is not modelled.
    pub unmodelled_objects: Vec<String>,
    /// `kind/name` of objects that are not Kueue's.
    pub other_objects: Vec<String>,
}

/// Objects of Kueue inside another document.
#[derive(Copy, Clone, Default)]
pub struct InlineObjects<'a> {
    pub nodes: &'a [YamlNode],
    /// The document and its overrides, to which the positions refer.
    pub texts: Option<(&'a SourceText, &'a SourceText)>,
}

/// Reads all objects of the texts, and the configuration in a ConfigMap of the manager. An object that is defined twice
/// is an error.
pub fn read_kueue(sources: &[SourceText]) -> Result<KueueManifests, Diagnostics> {
    read_with_inline(sources, InlineObjects::default())
}

/// Reads the inline objects and those of the texts.
pub fn read_with_inline(sources: &[SourceText], inline: InlineObjects) -> Result<KueueManifests, Diagnostics> {
    let mut manifests = KueueManifests::default();
    let mut errors = Vec::new();
    let mut unmodelled = UnmodelledFields::new();
    let mut names = BTreeSet::new();
    let none = SourceText::default();
    let (source, overrides) = inline.texts.unwrap_or((&none, &none));
    let mut report = DiagnosticReport::new(source, overrides);
    for node in inline.nodes {
        read_object(node, &mut manifests, &mut names, &mut report, &mut unmodelled);
    }
    errors.extend(report.finish().err().into_iter().flat_map(|Diagnostics(found)| found));
    let mut sources = sources.to_vec();
    let mut at = 0;
    while let Some(source) = sources.get(at).cloned() {
        let mut report = DiagnosticReport::new(&source, &none);
        for document in unlisted(yaml::parse(&source)?) {
            match manager_configuration(&document, &source.file) {
                Some(configuration) => sources.push(configuration),
                None => read_object(&document, &mut manifests, &mut names, &mut report, &mut unmodelled),
            }
        }
        errors.extend(report.finish().err().into_iter().flat_map(|Diagnostics(found)| found));
        at += 1;
    }
    sort_by_name(&mut manifests.objects);
    manifests.unmodelled = unmodelled.into_iter().collect();
    if errors.is_empty() { Ok(manifests) } else { Err(Diagnostics(errors)) }
}

/// Sorts the objects as the API server lists them, so that their order in the files decides nothing: Kueue takes equal
/// heads of ClusterQueues in no fixed order.
fn sort_by_name(objects: &mut KueueObjects) {
    objects.cluster_queues.sort_by(|a, b| a.name.cmp(&b.name));
    objects.cohorts.sort_by(|a, b| a.name.cmp(&b.name));
    objects.local_queues.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    objects.flavors.sort_by(|a, b| a.name.cmp(&b.name));
    objects.topologies.sort_by(|a, b| a.name.cmp(&b.name));
    objects.admission_checks.sort_by(|a, b| a.name.cmp(&b.name));
    objects.priority_classes.sort_by(|a, b| a.name.cmp(&b.name));
    objects.workloads.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
}

/// Returns whether a document is an object of Kueue that the simulation has, or the configuration of Kueue's manager in
/// a ConfigMap.
pub fn is_of_kueue(node: &YamlNode) -> bool {
    let text = |key: &str| node.get(key).and_then(YamlNode::as_str).unwrap_or("");
    has_kind(text("apiVersion"), text("kind")) || manager_configuration(node, "").is_some()
}

/// Returns the configuration of the manager in a ConfigMap.
fn manager_configuration(node: &YamlNode, file: &str) -> Option<SourceText> {
    let is_config_map = node.get("kind").and_then(YamlNode::as_str) == Some("ConfigMap");
    let text = node.get("data").filter(|_| is_config_map)?.get(CONFIGURATION_FILE)?.as_str()?.to_owned();
    let is_own = text.contains(CONFIGURATION_GROUP);
    is_own.then(|| SourceText { file: format!("{file}, {CONFIGURATION_FILE}"), text })
}

fn read_object(
    node: &YamlNode, manifests: &mut KueueManifests, names: &mut BTreeSet<(String, String, String)>,
    report: &mut DiagnosticReport, unmodelled: &mut UnmodelledFields,
) {
    let text = |key: &str| read::string(node, key).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let metadata = |key: &str| node.at_path(&["metadata", key]).and_then(YamlNode::as_str).unwrap_or("").to_owned();
    let name = metadata("name");
    if kind.is_empty() {
        report.error(node.at, "this is not a Kubernetes object: it has no kind").legal(KINDS.join(", "));
        return;
    }
    if !GROUPS.iter().any(|group| version.starts_with(group)) {
        return manifests.other_objects.push(format!("{kind}/{name}"));
    }
    if KINDS_NOT_MODELLED.contains(&kind.as_str()) {
        return manifests.unmodelled_objects.push(format!("{kind}/{name}"));
    }
    let Some(schema) = table(&version, &kind) else { return report_unknown(node, &version, &kind, report) };
    if !is_valid(node, schema, report, unmodelled) {
        return;
    }
    let namespace = Some(metadata("namespace")).filter(|n| !n.is_empty()).unwrap_or(DEFAULT_NAMESPACE.to_owned());
    if kind != "Configuration" && name.is_empty() {
        report.error(node.at, format!("metadata.name of the {kind} is required"));
    }
    let is_namespaced = ["LocalQueue", "Workload"].contains(&kind.as_str());
    let namespace_of_key = if is_namespaced { namespace.clone() } else { String::new() };
    if !names.insert((kind.clone(), namespace_of_key, name.clone())) {
        report.error(node.at, format!("{kind} {name:?} is defined twice"));
    }
    let objects = &mut manifests.objects;
    let empty = YamlNode::empty_map();
    let spec = node.get("spec").unwrap_or(&empty);
    match kind.as_str() {
        "ClusterQueue" => objects.cluster_queues.push(quotas::cluster_queue(name, spec)),
        "Cohort" => objects.cohorts.push(quotas::cohort(name, spec)),
        "LocalQueue" => objects.local_queues.push(LocalQueue {
            namespace,
            name,
            cluster_queue: read::string(spec, "clusterQueue").unwrap_or_default(),
            stop_policy: quotas::stop_policy(spec),
            fair_weight: quotas::fair_weight(spec),
            consumed: quotas::consumed(node),
        }),
        "ResourceFlavor" => objects.flavors.push(resource_flavor(name, spec)),
        "Topology" => {
            let levels = read::list(spec, "levels").iter().filter_map(|level| read::string(level, "nodeLabel"));
            objects.topologies.push(KueueTopology { name, levels: levels.collect() });
        }
        "WorkloadPriorityClass" => {
            let value = read::i32_of(node, "value").unwrap_or(0);
            objects.priority_classes.push(WorkloadPriorityClass { name, value });
        }
        "AdmissionCheck" => {
            let controller_name = read::string(spec, "controllerName").unwrap_or_default();
            objects.admission_checks.push(AdmissionCheck { name, controller_name, outcome: None });
        }
        "Workload" => {
            let acting = node.get("metadata").map(|metadata| acting_keys::of_workload(&metadata.to_json()));
            for key in acting.into_iter().flatten() {
                *unmodelled.entry(format!("Workload.{key}")).or_default() += 1;
            }
            for field in workload_rules::unknown_fields(node, version == V1BETA1) {
                let note = format!("Workload.{field} (not a field of {version})");
                *unmodelled.entry(note).or_default() += 1;
            }
            objects.workloads.push(stored_workload::read((namespace, name), node));
        }
        _ => {
            for framework in configuration::frameworks_of_children(node) {
                let note = format!(
                    "Configuration.integrations.frameworks: {framework} without JobSet, which lets Kueue \
                     queue children of JobSets one by one"
                );
                *unmodelled.entry(note).or_default() += 1;
            }
            objects.configuration = configuration(node);
        }
    }
}

/// Reports why the API server or Kueue's webhooks refuse an object of Kueue.
pub fn check_object(node: &YamlNode, report: &mut DiagnosticReport) {
    let text = |key: &str| read::string(node, key).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    match table(&version, &kind) {
        Some(schema) => _ = is_valid(node, schema, report, &mut UnmodelledFields::new()),
        None => report_unknown(node, &version, &kind, report),
    }
}

fn is_valid(
    node: &YamlNode, schema: &'static ObjectSchema, report: &mut DiagnosticReport, unmodelled: &mut UnmodelledFields,
) -> bool {
    let before = report.found.len();
    let mut fields = UnmodelledFields::new();
    check(node, &FieldType::Object(schema), &YamlPath::ROOT, report, &mut fields);
    for (path, count) in fields {
        *unmodelled.entry(format!("{}.{path}", schema.kind)).or_default() += count;
    }
    if report.found.len() == before {
        let refusals = validate::refusals(node, schema.kind);
        for (at, refusal) in refusals {
            report.error(at, format!("the {} is refused: {refusal}", schema.kind));
        }
    }
    report.found.len() == before
}

fn report_unknown(node: &YamlNode, version: &str, kind: &str, report: &mut DiagnosticReport) {
    let is_known = KINDS.contains(&kind);
    let (at, message) = if is_known {
        let at = node.get("apiVersion").map_or(node.at, |version| version.at);
        (at, format!("apiVersion {version:?} of {kind} is not supported"))
    } else {
        (node.get("kind").map_or(node.at, |kind| kind.at), format!("kind {kind} does not exist in {version}"))
    };
    let error: &mut Diagnostic = report.error(at, message);
    if is_known {
        error.legal(if kind == "Configuration" { format!("config.{V1BETA2}") } else { V1BETA2.to_owned() });
    } else {
        error.nearest(kind, KINDS.iter().copied()).legal(KINDS.join(", "));
    }
}

fn resource_flavor(name: String, spec: &YamlNode) -> ResourceFlavor {
    ResourceFlavor {
        name,
        node_labels: read::string_map(spec, "nodeLabels"),
        node_taints: read::list(spec, "nodeTaints").iter().map(taint).collect(),
        tolerations: read::list(spec, "tolerations").iter().map(pod::toleration).collect(),
        topology: read::string(spec, "topologyName").filter(|name| !name.is_empty()),
    }
}
