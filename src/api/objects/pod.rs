//! A pod as posted by the Job controller, and as stored after defaulting, admission plugins and JobSet's webhooks.
//!
//! This module must not decide which indexes are needed and must not schedule pods.

use super::check::pod;
use super::context::ObjectContext;
use super::job::uid;
use super::value_access::{array_mut, has_value, int, items_mut, list, object_mut, set_default, text};
use super::{defaults, pod_webhook};
use crate::spec::keys::{JOB_COMPLETION_INDEX, JOB_INDEX_FAILURE_COUNT, JOB_TRACKING, LOST_NODE_TAINTS};
use crate::{admission::AdmissionRejection, admission::error_list::ErrorList, admission::field::FieldPath};
use crate::{admission::meta_check::object_meta, admission::names::dns1123_subdomain};
use serde_json::{Value, json};

const INDEX_ENV: &str = "JOB_COMPLETION_INDEX";
const GENERATED_PREFIX_MAX: usize = 58;
const PREEMPT_LOWER_PRIORITY: &str = "PreemptLowerPriority";

/// Returns the pod of a completion index. The index is `None` for a NonIndexed Job.
pub fn pod_of_index(job: &Value, index: Option<u32>) -> Value {
    let (template, name) = (&job["spec"]["template"], text(&job["metadata"], "name"));
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": generate_name(name, index),
            "namespace": job["metadata"]["namespace"],
            "labels": template["metadata"]["labels"],
            "annotations": template["metadata"]["annotations"],
            "finalizers": list(&template["metadata"], "finalizers"),
            "ownerReferences": [{
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": name,
                "uid": uid(job),
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": template["spec"],
    });
    let finalizers = array_mut(&mut pod["metadata"], "finalizers");
    if !finalizers.contains(&JOB_TRACKING.into()) {
        finalizers.push(JOB_TRACKING.into());
    }
    if let Some(index) = index {
        for kind in ["annotations", "labels"] {
            let target = object_mut(&mut pod["metadata"], kind);
            target.insert(JOB_COMPLETION_INDEX.to_owned(), index.to_string().into());
        }
        if has_value(&job["spec"], "backoffLimitPerIndex") {
            let key = JOB_INDEX_FAILURE_COUNT.to_owned();
            object_mut(&mut pod["metadata"], "annotations").insert(key, "0".into());
        }
        let spec = &mut pod["spec"];
        object_insert(spec, "hostname", format!("{name}-{index}").into());
        for kind in ["containers", "initContainers"] {
            items_mut(spec, kind).for_each(add_index_variable);
        }
    }
    pod
}

fn object_insert(value: &mut Value, name: &str, to: Value) {
    super::value_access::as_object(value).insert(name.to_owned(), to);
}

/// Returns the name prefix. Pods of an Indexed Job differ by index; a long Job name is truncated before the index.
fn generate_name(job: &str, index: Option<u32>) -> String {
    match index {
        Some(index) => {
            let suffix = format!("-{index}-");
            let most = GENERATED_PREFIX_MAX.saturating_sub(suffix.len());
            format!("{}{suffix}", utf8_prefix(job, most))
        }
        None => format!("{job}-"),
    }
}

/// Returns the longest prefix of at most `most` bytes that ends at a character boundary.
fn utf8_prefix(name: &str, most: usize) -> &str {
    let fits = |end: &usize| *end <= most && name.is_char_boundary(*end);
    let end = (0..=name.len()).rev().find(fits).unwrap_or(0);
    &name[..end]
}

fn add_index_variable(container: &mut Value) {
    let env = array_mut(container, "env");
    if !env.iter().any(|var| text(var, "name") == INDEX_ENV) {
        let field = format!("metadata.labels['{JOB_COMPLETION_INDEX}']");
        let from = json!({"fieldRef": {"apiVersion": "v1", "fieldPath": field}});
        env.push(json!({"name": INDEX_ENV, "valueFrom": from}));
    }
}

/// Returns the stored pod, with `suffix` as the random end of its name, or the error.
pub fn admit_pod(pod: &Value, suffix: &str, around: &ObjectContext) -> Result<Value, AdmissionRejection> {
    let stored = stored_pod(pod, suffix, around)?;
    pod_webhook::validate_pod(&stored, around)?;
    Ok(stored)
}

/// Returns the stored pod like [`admit_pod`], but without the validating webhook, for callers that check followers.
pub fn stored_pod(pod: &Value, suffix: &str, around: &ObjectContext) -> Result<Value, AdmissionRejection> {
    let mut stored = pod.clone();
    let prefix = text(&pod["metadata"], "generateName");
    let name = match text(&pod["metadata"], "name") {
        "" => format!("{}{suffix}", utf8_prefix(prefix, GENERATED_PREFIX_MAX)),
        given => given.to_owned(),
    };
    object_insert(&mut stored["metadata"], "name", name.clone().into());
    defaults::pod(&mut stored["spec"]);
    admit_service_account(&stored, prefix, around)?;
    admit_priority(&mut stored["spec"], prefix, around)?;
    admit_runtime_class(&stored["spec"], prefix, around)?;
    add_default_tolerations(&mut stored["spec"]);
    pod_webhook::mutate_pod(&mut stored, around)?;
    merge_match_label_keys(&mut stored);
    let mut errors = ErrorList::default();
    object_meta(&stored["metadata"], dns1123_subdomain, &mut errors);
    let (path, annotations) = (FieldPath::new("spec"), FieldPath::new("metadata.annotations"));
    pod::specific_annotations(&stored, &annotations, &mut errors);
    pod::spec(&stored["spec"], &path, &mut errors);
    for kind in ["containers", "initContainers"] {
        images(list(&stored["spec"], kind), &path.child(kind), &mut errors);
    }
    pod::creation(&stored["spec"], &path, &mut errors);
    errors.into_rejection("Pod", &name)?;
    Ok(stored)
}

/// Adds `matchLabelKeys` and `mismatchLabelKeys` of affinity terms and spread constraints to their label selectors,
/// with the pod's own values (`applyLabelKeysToLabelSelector` in `pkg/registry/core/pod/strategy.go`).
fn merge_match_label_keys(pod: &mut Value) {
    let labels = pod["metadata"]["labels"].clone();
    for kind in ["podAffinity", "podAntiAffinity"] {
        if !has_value(&pod["spec"]["affinity"], kind) {
            continue;
        }
        let terms = &mut pod["spec"]["affinity"][kind];
        items_mut(terms, "requiredDuringSchedulingIgnoredDuringExecution").for_each(|t| merge_term(t, &labels));
        for weighted in items_mut(terms, "preferredDuringSchedulingIgnoredDuringExecution") {
            merge_term(&mut weighted["podAffinityTerm"], &labels);
        }
    }
    items_mut(&mut pod["spec"], "topologySpreadConstraints").for_each(|constraint| merge_term(constraint, &labels));
}

fn merge_term(term: &mut Value, labels: &Value) {
    if !has_value(term, "labelSelector") {
        return;
    }
    for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        let keys = list(term, field).iter().filter_map(Value::as_str);
        let known = keys.filter(|key| has_value(labels, key));
        let added: Vec<Value> =
            known.map(|key| json!({"key": key, "operator": operator, "values": [labels[key]]})).collect();
        if !added.is_empty() {
            array_mut(&mut term["labelSelector"], "matchExpressions").extend(added);
        }
    }
}

fn images(containers: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    for (k, container) in containers.iter().enumerate() {
        let image = text(container, "image");
        if image.trim() != image {
            let at = path.index(k).child("image");
            errors.invalid_text(&at, image, "must not have leading or trailing whitespace");
        }
    }
}

fn forbidden(name: &str, why: &str) -> AdmissionRejection {
    AdmissionRejection::new(403, "Forbidden", format!("pods \"{name}\" is forbidden: {why}"))
}

/// PriorityClasses that exist in every cluster, with their values.
pub const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Implements the lookup of the admission plugin ServiceAccount. Each namespace has the account `default`.
fn admit_service_account(pod: &Value, name: &str, around: &ObjectContext) -> Result<(), AdmissionRejection> {
    let (namespace, account) = (text(&pod["metadata"], "namespace"), text(&pod["spec"], "serviceAccountName"));
    let mut known = around.service_accounts.iter();
    if matches!(account, "" | "default") || known.len() == 0 || known.any(|(n, a)| n == namespace && a == account) {
        return Ok(());
    }
    let why = format!("error looking up service account {namespace}/{account}: serviceaccount \"{account}\" not found");
    Err(forbidden(name, &why))
}

/// Returns the class that `priorityClassName` names, or the default class.
fn priority_class<'c>(spec: &Value, classes: &'c [Value]) -> Option<&'c Value> {
    let mut all = classes.iter();
    match text(spec, "priorityClassName") {
        "" => all.filter(|c| c["globalDefault"] == true).min_by_key(|c| int(c, "value")),
        class => all.find(|c| text(&c["metadata"], "name") == class),
    }
}

/// Returns the PriorityClasses that exist for a pod or PodGroup. If none is declared, the one that it names exists,
/// with the value of its `priority`; with `requires_declared`, only the declared ones exist.
pub fn existing_priority_classes(spec: &Value, mut declared: Vec<Value>, requires_declared: bool) -> Vec<Value> {
    let class = text(spec, "priorityClassName");
    if !requires_declared && declared.is_empty() && !class.is_empty() && !class.starts_with("system-") {
        declared.push(json!({"metadata": {"name": class}, "value": int(spec, "priority").unwrap_or(0)}));
    }
    declared
}

/// Returns the name of the PriorityClass of a pod or PodGroup, or an empty text, and the priority; `None` if the class
/// does not exist.
pub fn priority_of(spec: &Value, classes: &[Value]) -> Option<(String, i64)> {
    let named = text(spec, "priorityClassName");
    if let Some(class) = priority_class(spec, classes) {
        return Some((text(&class["metadata"], "name").to_owned(), int(class, "value").unwrap_or(0)));
    }
    let system = SYSTEM_CLASSES.iter().find(|(known, _)| *known == named).map(|(_, value)| *value);
    system.or(named.is_empty().then_some(0)).map(|value| (named.to_owned(), value))
}

/// Implements the admission plugin Priority.
pub fn admit_priority(pod: &mut Value, name: &str, around: &ObjectContext) -> Result<(), AdmissionRejection> {
    let class = text(pod, "priorityClassName").to_owned();
    let result = priority_class(pod, around.priority_classes);
    let Some((_, value)) = priority_of(pod, around.priority_classes) else {
        let why = format!("no PriorityClass with name {class} was found");
        return Err(forbidden(name, &why));
    };
    if let Some(requested) = int(pod, "priority")
        && requested != value
    {
        let why = format!(
            "the integer value of priority ({requested}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
        );
        return Err(forbidden(name, &why));
    }
    object_insert(pod, "priority", value.into());
    // A class that is assumed to exist has the policy of the pod.
    let policy = result.map_or(PREEMPT_LOWER_PRIORITY, |c| text(c, "preemptionPolicy"));
    let requested = text(pod, "preemptionPolicy");
    if !policy.is_empty() && !["", policy].contains(&requested) {
        let why = format!(
            "the string value of PreemptionPolicy ({requested}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        );
        return Err(forbidden(name, &why));
    }
    if let (Some(result), "") = (result, class.as_str()) {
        let name = result["metadata"]["name"].clone();
        object_insert(pod, "priorityClassName", name);
    }
    set_default(pod, "preemptionPolicy", if policy.is_empty() { PREEMPT_LOWER_PRIORITY } else { policy });
    Ok(())
}

/// Implements the admission plugin RuntimeClass.
fn admit_runtime_class(pod: &Value, name: &str, around: &ObjectContext) -> Result<(), AdmissionRejection> {
    let class = text(pod, "runtimeClassName");
    if class.is_empty() && pod["overhead"].as_object().is_some_and(|overhead| !overhead.is_empty()) {
        let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(forbidden(name, why));
    }
    if class.is_empty() || around.runtime_classes.iter().any(|known| known == class) {
        return Ok(());
    }
    let why = format!("pod rejected: RuntimeClass \"{class}\" not found");
    Err(forbidden(name, &why))
}

/// Implements the admission plugin DefaultTolerationSeconds.
fn add_default_tolerations(pod: &mut Value) {
    for key in LOST_NODE_TAINTS {
        let tolerated = list(pod, "tolerations").iter().any(|t| {
            let effect = text(t, "effect");
            (text(t, "key") == key || text(t, "key").is_empty()) && matches!(effect, "" | "NoExecute")
        });
        if !tolerated {
            array_mut(pod, "tolerations").push(json!({
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }));
        }
    }
}
