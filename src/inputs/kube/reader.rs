//! Reads the objects of a text: JobSets with their overrides applied, PriorityClasses and PodDisruptionBudgets, and the
//! names of all other objects.

use super::written::{
    JOBSETS_MAX, WrittenManifest, is_typo, no_kind_of_ours, place_of_kind, too_large, too_many, too_many_jobsets,
};
use super::{admitted, depends, jobset, written};
use crate::kueue::is_of_kueue;
use crate::schema::check::{UnmodelledFields, check};
use crate::schema::definitions::jobset::{API_VERSION, GROUP, JOBSET};
use crate::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use crate::{embedded_jobsets, server};
use crate::{object_list::adopt, schema::definitions::control_plane::SCHEDULER_CONFIGURATION};
use crate::{
    schema::definitions::objects::IN_FILE,
    schema::field_type::FieldType,
    text::node::{YamlNode, YamlValue},
    text::path,
};
use crate::{text::path::YamlPath, text::yaml};
use sim_api::spec;
use sim_api::spec::ObjectKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Name of the overrides in messages.
pub const SETS: &str = "--set";

/// The contents of a file, directory or stream of manifests.
#[derive(Clone, Debug, Default)]
pub struct ManifestSet {
    /// JobSets, each with the place it was read from (`file:line`).
    pub jobsets: Vec<(spec::JobSet, String)>,
    /// The original documents of the JobSets, by the same place.
    pub written: BTreeMap<String, WrittenManifest>,
    /// `kind/name` of each object that is not simulated, for example `Service/web`.
    pub skipped: Vec<String>,
    /// PriorityClasses, PodDisruptionBudgets, PodGroups, claims and volumes, which are created before the JobSets.
    pub companions: Vec<serde_json::Value>,
    /// Position of each configuration of kube-scheduler, without a message.
    pub schedulers: Vec<Diagnostic>,
    /// Namespaces and names of the ServiceAccounts.
    pub service_accounts: Vec<(String, String)>,
    /// Files of a directory that do not have the extension of a manifest.
    pub not_tried: Vec<String>,
    /// Known fields that are present but not modelled, each with its number of occurrences.
    pub unmodelled: Vec<(String, usize)>,
    /// Texts with objects of Kueue.
    pub kueue: Vec<SourceText>,
    /// Names by which overrides address the JobSets.
    pub addressed: BTreeSet<String>,
    /// Position of the first object that is not a JobSet.
    pub other: Option<Diagnostic>,
}

/// Reads one text after applying `path=value` overrides to each of its JobSets; `sets_name` names the overrides in
/// messages. Objects in `used` were rendered to JobSets in other texts and are not reported as skipped.
pub fn read_text(
    source: &SourceText, used: &BTreeSet<String>, sets_name: &str, sets: &[(String, String)],
) -> Result<ManifestSet, Diagnostics> {
    let documents = yaml::parse(source)?;
    if documents.is_empty() {
        let message = "the file is empty: it contains no objects";
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let overrides = Arc::new(path::overrides_source(sets_name, sets));
    let mut reader = ManifestReader {
        report: DiagnosticReport::new(source, &overrides),
        texts: (Arc::new(source.clone()), Arc::clone(&overrides)),
        sets,
        used,
        jobsets: 0,
        found: ManifestSet::default(),
        skipped: BTreeSet::new(),
        unmodelled: UnmodelledFields::new(),
    };
    for document in documents {
        reader.object(document);
    }
    let ManifestReader { mut report, mut found, unmodelled, .. } = reader;
    check_together(&found, &mut report);
    report.finish()?;
    found.unmodelled = unmodelled.into_iter().collect();
    Ok(found)
}

impl ManifestSet {
    /// Merges several sets of manifests. Counts for the same path are added.
    pub fn merge(all: Vec<ManifestSet>) -> ManifestSet {
        let mut merged = ManifestSet::default();
        let mut unmodelled: BTreeMap<String, usize> = BTreeMap::new();
        let mut skipped = BTreeSet::new();
        for manifests in all {
            merged.jobsets.extend(manifests.jobsets);
            merged.not_tried.extend(manifests.not_tried);
            merged.companions.extend(manifests.companions);
            for place in manifests.schedulers {
                // Several entries of a scenario may read the same text.
                if !merged.schedulers.contains(&place) {
                    merged.schedulers.push(place);
                }
            }
            merged.service_accounts.extend(manifests.service_accounts);
            merged.addressed.extend(manifests.addressed);
            for source in manifests.kueue {
                if !merged.kueue.contains(&source) {
                    merged.kueue.push(source);
                }
            }
            merged.other = merged.other.or(manifests.other);
            merged.written.extend(manifests.written);
            for name in manifests.skipped {
                if skipped.insert(name.clone()) {
                    merged.skipped.push(name);
                }
            }
            for (path, count) in manifests.unmodelled {
                *unmodelled.entry(path).or_default() += count;
            }
        }
        merged.unmodelled = unmodelled.into_iter().collect();
        merged
    }

    /// Returns an error for each configuration of kube-scheduler after `known` others: one file configures it.
    pub fn further_schedulers(&self, known: usize) -> Vec<Diagnostic> {
        let further = self.schedulers.iter().skip(1_usize.saturating_sub(known));
        let message = format!("{} is defined twice", SCHEDULER_CONFIGURATION.kind);
        further.map(|place| Diagnostic { message: message.clone(), ..place.clone() }).collect()
    }
}

struct ManifestReader<'a> {
    report: DiagnosticReport<'a>,
    texts: (Arc<SourceText>, Arc<SourceText>),
    sets: &'a [(String, String)],
    used: &'a BTreeSet<String>,
    /// Number of JobSets read so far.
    jobsets: usize,
    found: ManifestSet,
    /// Names that are already in `found.skipped`.
    skipped: BTreeSet<String>,
    unmodelled: UnmodelledFields,
}

/// Kinds of the objects that are created before the JobSets of the same files.
const COMPANIONS: [(&str, &str); 7] = [
    ("Namespace", "v1"),
    ("PriorityClass", "scheduling.k8s.io/v1"),
    ("PodDisruptionBudget", "policy/v1"),
    ("PersistentVolumeClaim", "v1"),
    ("PersistentVolume", "v1"),
    ("StorageClass", "storage.k8s.io/v1"),
    ("PodGroup", "scheduling.k8s.io/v1alpha2"),
];

/// An object that acts on pods or nodes and is not simulated.
struct ActingKind {
    /// API group of the kind.
    group: &'static str,
    kind: &'static str,
    /// Fields of which one has an effect.
    fields: &'static [&'static str],
    effect: &'static str,
}

const fn acting(
    group: &'static str, kind: &'static str, fields: &'static [&'static str], effect: &'static str,
) -> ActingKind {
    ActingKind { group, kind, fields, effect }
}

const WEBHOOKS: &str = "changes and refusals of objects by its webhooks";
const POLICY: &str = "changes and refusals of objects by the policy";
const OTHER_PODS: &str = "pods that hold resources of nodes";

const OTHER_JOBS: &str = "its pods, which hold resources of nodes";
const OF_KUBELETS: &str = "the configuration of the kubelets";

const ACTING_KINDS: [ActingKind; 46] = [
    acting("", "LimitRange", &["spec"], "defaults and limits of the resources of pods, also in Kueue's Workloads"),
    acting("", "ResourceQuota", &["spec"], "refusal of pods beyond the quota of the namespace"),
    acting("node.k8s.io", "RuntimeClass", &["overhead", "scheduling"], "overhead and node selection of its pods"),
    acting("", "Pod", &["spec"], OTHER_PODS),
    acting("", "ReplicationController", &["spec"], OTHER_PODS),
    acting("apps", "DaemonSet", &["spec"], OTHER_PODS),
    acting("apps", "Deployment", &["spec"], OTHER_PODS),
    acting("apps", "ReplicaSet", &["spec"], OTHER_PODS),
    acting("apps", "StatefulSet", &["spec"], OTHER_PODS),
    acting("batch", "CronJob", &["spec"], OTHER_PODS),
    acting("batch", "Job", &["spec"], OTHER_PODS),
    acting("", "Node", &["metadata"], "the node (-t reads nodes)"),
    acting("admissionregistration.k8s.io", "MutatingWebhookConfiguration", &["webhooks"], WEBHOOKS),
    acting("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", &["webhooks"], WEBHOOKS),
    acting("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", &["spec"], POLICY),
    acting("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", &["spec"], POLICY),
    acting("admissionregistration.k8s.io", "MutatingAdmissionPolicy", &["spec"], POLICY),
    acting("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", &["spec"], POLICY),
    acting("kyverno.io", "ClusterPolicy", &["spec"], POLICY),
    acting("kyverno.io", "Policy", &["spec"], POLICY),
    acting("templates.gatekeeper.sh", "ConstraintTemplate", &["spec"], POLICY),
    acting("scheduling.x-k8s.io", "PodGroup", &["spec"], "gang scheduling by the plugin Coscheduling"),
    acting("scheduling.volcano.sh", "PodGroup", &["spec"], "gang scheduling by Volcano"),
    acting("scheduling.volcano.sh", "Queue", &["spec"], "quotas of Volcano"),
    acting("scheduling.run.ai", "Queue", &["spec"], "quotas of the KAI scheduler"),
    acting("scheduling.k8s.io", "Workload", &["spec"], "the pod groups of the Workload"),
    acting("batch.volcano.sh", "Job", &["spec"], OTHER_JOBS),
    acting("leaderworkerset.x-k8s.io", "LeaderWorkerSet", &["spec"], OTHER_JOBS),
    acting("ray.io", "RayCluster", &["spec"], OTHER_JOBS),
    acting("ray.io", "RayJob", &["spec"], OTHER_JOBS),
    acting("ray.io", "RayService", &["spec"], OTHER_JOBS),
    acting("kubeflow.org", "JAXJob", &["spec"], OTHER_JOBS),
    acting("kubeflow.org", "MPIJob", &["spec"], OTHER_JOBS),
    acting("kubeflow.org", "PyTorchJob", &["spec"], OTHER_JOBS),
    acting("kubeflow.org", "TFJob", &["spec"], OTHER_JOBS),
    acting("kubeflow.org", "XGBoostJob", &["spec"], OTHER_JOBS),
    acting("karpenter.sh", "NodePool", &["spec"], "nodes that Karpenter creates and deletes"),
    acting("cloud.google.com", "ComputeClass", &["spec"], "nodes that GKE creates and deletes"),
    acting("autoscaling.k8s.io", "VerticalPodAutoscaler", &["spec"], "changes of the requests of pods"),
    acting("descheduler", "DeschedulerPolicy", &["profiles"], "evictions of pods by the descheduler"),
    acting("remediation.medik8s.io", "NodeHealthCheck", &["spec"], "remediation of nodes by medik8s"),
    acting("accelerator.gke.io", "Slice", &["spec"], "slices that GKE forms (-t has them under topology.slices)"),
    acting("resource.k8s.io", "ResourceSlice", &["spec"], "devices that dynamic resource allocation assigns to claims"),
    acting("storage.k8s.io", "CSINode", &["spec"], "limits of volumes per node"),
    acting(
        "config.jobset.x-k8s.io",
        "Configuration",
        &["clientConnection", "controller"],
        "the configuration of the JobSet manager; controlPlane.jobsetManager sets its client rate",
    ),
    acting("kubelet.config.k8s.io", "KubeletConfiguration", &["apiVersion"], OF_KUBELETS),
];

impl ManifestReader<'_> {
    fn object(&mut self, mut node: YamlNode) {
        let kind = node.get("kind").and_then(YamlNode::as_str).map(str::to_owned);
        let version = node.get("apiVersion").and_then(YamlNode::as_str);
        let version = version.unwrap_or("").to_owned();
        let Some(kind) = kind else {
            let message = "this is not a Kubernetes object: it has no kind";
            self.report.error(node.at, message).suggest(format!("apiVersion: {API_VERSION}, kind: JobSet"));
            return;
        };
        match kind.as_str() {
            "Scenario" | "Topology" if version.starts_with("jobset-sim/") => {
                let message = format!("a {kind} is not a manifest");
                self.report.error(node.at, message).suggest(match kind.as_str() {
                    "Scenario" => "pass it to run as the scenario, without -f",
                    _ => "pass it with -t",
                });
            }
            "JobSet" if version.starts_with(GROUP) => {
                fill_nulls(&mut node);
                self.jobset(node);
            }
            "JobSet" => {
                let message = format!("apiVersion of a JobSet must be {API_VERSION}");
                let at = node.get("apiVersion").map_or(node.at, |v| v.at);
                self.report.error(at, message);
            }
            list if list.ends_with("List") => {
                let kind = list.trim_end_matches("List").to_owned();
                for mut item in node.take_items() {
                    adopt(&mut item, &version, &kind, &mut node);
                    self.object(item);
                }
            }
            "ServiceAccount" if version == "v1" => {
                self.other(&node);
                let of = |key| node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
                let (namespace, name) = (of("namespace").unwrap_or("default"), of("name").unwrap_or_default());
                self.found.service_accounts.push((namespace.to_owned(), name.to_owned()));
            }
            kind if kind == SCHEDULER_CONFIGURATION.kind => {
                self.found.schedulers.push(place_of_kind(self.report.source, &node));
                self.companion(&node, ObjectKind::Other);
            }
            kind if COMPANIONS.contains(&(kind, version.as_str())) => {
                fill_nulls(&mut node);
                self.companion(&node, ObjectKind::from_kind(kind));
            }
            _ if is_of_kueue(&node) => {
                self.other(&node);
                if self.found.kueue.is_empty() {
                    self.found.kueue.push(self.report.source.clone());
                }
            }
            _ if is_typo(&kind, &version) => no_kind_of_ours(&node, &mut self.report),
            _ => {
                self.note_effect(&version, &kind, &node);
                self.skip(&kind, &node);
                for jobset in embedded_jobsets::nested(&node) {
                    self.object(jobset);
                }
            }
        }
    }

    /// Records the position of the first object that is not a JobSet.
    fn other(&mut self, node: &YamlNode) {
        let source = self.report.source;
        let other = &mut self.found.other;
        other.get_or_insert_with(|| place_of_kind(source, node));
    }

    /// Keeps an object that is created before the JobSets.
    fn companion(&mut self, node: &YamlNode, kind: ObjectKind) {
        self.other(node);
        let before = self.report.found.len();
        let shape = FieldType::Kinds(&IN_FILE);
        let unmodelled = &mut self.unmodelled;
        check(node, &shape, &YamlPath::ROOT, &mut self.report, unmodelled);
        if self.report.found.len() == before {
            let stored = match kind {
                ObjectKind::Other => Some(super::scheduler_configuration(node, &mut self.report)),
                kind => admitted::stored(node, kind, &mut self.report),
            };
            self.found.companions.extend(stored);
        }
    }

    /// Notes the effect of an object that would change or refuse pods, or hold resources.
    fn note_effect(&mut self, version: &str, kind: &str, node: &YamlNode) {
        let group = version.rsplit_once('/').map_or("", |(group, _)| group);
        let acting = ACTING_KINDS.iter().find(|known| (known.group, known.kind) == (group, kind));
        let has_effect = |acting: &&ActingKind| acting.fields.iter().any(|field| node.get(field).is_some());
        if let Some(acting) = acting.filter(has_effect) {
            let name = node.at_path(&["metadata", "name"]).and_then(YamlNode::as_str).unwrap_or("");
            *self.unmodelled.entry(format!("{kind} {name}: {}", acting.effect)).or_default() += 1;
        }
    }

    fn skip(&mut self, kind: &str, node: &YamlNode) {
        self.other(node);
        let name =
            ["name", "generateName"].iter().find_map(|key| node.at_path(&["metadata", key]).and_then(YamlNode::as_str));
        if too_large(node, &mut self.report) {
            return;
        }
        let name = format!("{kind}/{}", name.unwrap_or(""));
        if !self.used.contains(&name) && self.skipped.insert(name.clone()) {
            self.found.skipped.push(name);
        }
    }

    fn jobset(&mut self, mut node: YamlNode) {
        self.jobsets += 1;
        if self.jobsets > JOBSETS_MAX {
            if self.jobsets == JOBSETS_MAX + 1 {
                too_many_jobsets(&node, &mut self.report);
            }
            return;
        }
        let name = path::addressed_name(&node, self.report.overrides, self.sets);
        if let Err(errors) = path::apply_sets_to(&mut node, name.as_deref(), self.report.overrides, self.sets) {
            self.report.found.extend(errors.0);
            return;
        }
        self.found.addressed.extend(name);
        if let Some(kind) = node.get("kind").filter(|k| k.as_str() != Some("JobSet")) {
            let error = self.report.error(kind.at, "an override must not change the kind of a JobSet");
            error.legal("JobSet");
            return;
        }
        let version = node.get("apiVersion");
        if version.and_then(YamlNode::as_str) != Some(API_VERSION) {
            let result = version.and_then(YamlNode::as_str).unwrap_or("");
            let message = format!("apiVersion {result:?} of JobSet is not supported");
            let at = version.map_or(node.at, |v| v.at);
            self.report.error(at, message).legal(API_VERSION);
            return;
        }
        if too_large(&node, &mut self.report) {
            return;
        }
        let before = self.report.found.len();
        let shape = FieldType::Object(&JOBSET);
        check(&node, &shape, &YamlPath::ROOT, &mut self.report, &mut self.unmodelled);
        let object = node.to_json();
        let stored = server::stored_or_refused(&node, &object, before, &mut self.report);
        let mut jobset = jobset::convert(&node);
        if self.report.found.len() > before {
            let errors = &mut self.report.found[before..];
            return depends::name_dependency_cycle(&jobset, &node, errors);
        }
        jobset.object = stored.map(Arc::new);
        let place = format!("{}:{}", self.report.source.file, node.at.line);
        let (source, overrides) = self.texts.clone();
        let written = WrittenManifest::new(source, overrides, node);
        self.found.written.insert(place.clone(), written);
        self.found.jobsets.push((jobset, place));
    }
}

/// Gives nulls in maps of strings and amounts and in lists of strings the empty value, as Go's decoder of JSON does.
fn fill_nulls(node: &mut YamlNode) {
    let fill = |values: &mut dyn Iterator<Item = &mut YamlNode>, empty: &YamlValue| {
        values.filter(|value| value.is_null()).for_each(|value| value.value = empty.clone());
    };
    match &mut node.value {
        YamlValue::Seq(items) => items.iter_mut().for_each(fill_nulls),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                let text = YamlValue::Str(String::new());
                match (key.name.as_str(), &mut value.value) {
                    ("labels" | "annotations" | "matchLabels" | "nodeSelector", YamlValue::Map(entries)) => {
                        fill(&mut entries.iter_mut().map(|(_, value)| value), &text);
                    }
                    ("limits" | "requests", YamlValue::Map(entries)) => {
                        fill(&mut entries.iter_mut().map(|(_, value)| value), &YamlValue::Int(0));
                    }
                    ("command" | "args", YamlValue::Seq(items)) => fill(&mut items.iter_mut(), &text),
                    _ => fill_nulls(value),
                }
            }
        }
        _ => {}
    }
}

/// Checks constraints between JobSets: unique names and total size.
fn check_together(result: &ManifestSet, report: &mut DiagnosticReport) {
    let jobsets = || result.jobsets.iter().map(|(jobset, place)| (jobset, place.as_str()));
    let errors = together(jobsets(), &result.written);
    let twice = errors.iter().filter(|(_, size)| !size);
    // A size error is only shown alone: a typing error is better explained by the other errors.
    let clean = report.is_clean() && twice.clone().next().is_none();
    let errors = errors.iter().filter(|(_, size)| clean || !size);
    report.found.extend(errors.map(|(error, _)| error.clone()));
}

/// Returns the errors between JobSets. The flag marks errors about the total size.
pub fn together<'j>(
    jobsets: impl Iterator<Item = (&'j spec::JobSet, &'j str)> + Clone, written: &BTreeMap<String, WrittenManifest>,
) -> Vec<(Diagnostic, bool)> {
    let mut errors = Vec::new();
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (jobset, place) in jobsets.clone() {
        let name = (jobset.namespace.as_str(), jobset.name.as_str());
        let first = *seen.entry(name).or_insert(place);
        if !std::ptr::eq(first, place) {
            let message = format!("JobSet {}/{} is defined twice", name.0, name.1);
            let mut error = written::error(written, place, "metadata.name", message);
            error.suggest(format!("first defined at {first}"));
            errors.push((error, false));
        }
    }
    errors.extend(too_many(jobsets, written).map(|error| (error, true)));
    errors
}
