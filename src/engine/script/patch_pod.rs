//! Merge patches of pods and their status by a user, validated like the API server (`pkg/apis/core/validation`,
//! ValidatePodUpdate).
//! Must never apply a part of a rejected patch; changes that the model does not have are rejected by name.

use super::finalizers::{check_labels, check_name, patched_finalizers};
use super::object_json;
use super::patch_error::PodPatchError;
use super::request_error::ScriptRequestError;
use crate::store::{BAD_ATTEMPT, NO_ATTEMPT, flag};
use crate::{apiserver, ctx::EngineContext};
use serde_json::Value;
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::field::FieldPath;
use sim_api::admission::merge_patch;
use sim_api::admission::meta_check::update_errors;
use sim_api::spec::keys::IN_PLACE_RESTART_ATTEMPT;
use sim_base::PodId;

/// Fields of a stored pod that its update may not change. The other known ones may change in some cases.
const IMMUTABLE_SPEC_FIELDS: [&str; 35] = [
    "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "ephemeralContainers",
    "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname", "hostnameOverride",
    "imagePullSecrets", "nodeName", "os", "overhead", "preemptionPolicy", "priority", "priorityClassName",
    "readinessGates", "resourceClaims", "resources", "restartPolicy", "runtimeClassName", "schedulerName",
    "schedulingGroup", "securityContext", "serviceAccount", "serviceAccountName", "setHostnameAsFQDN",
    "shareProcessNamespace", "subdomain", "terminationGracePeriodSeconds", "topologySpreadConstraints", "volumes",
];

/// Fields that a pod may change while it has scheduling gates.
const GATED_SPEC_FIELDS: [&str; 2] = ["affinity", "nodeSelector"];

/// The message of ValidatePodUpdate, without the differences.
const SPEC_FORBIDDEN: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
    tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Domains whose annotations a component reads. Other annotations have no meaning, so that their change is only an
/// update of the pod.
const READ_DOMAINS: [&str; 4] = ["k8s.io", "x-k8s.io", "kubernetes.io", "cloud.google.com"];

pub(super) fn patch_pod(
    ctx: &mut EngineContext<'_>, pod: PodId, body: &Value, status: bool,
) -> Result<(), ScriptRequestError> {
    let patched = if status { "status" } else { "spec" };
    for section in body.as_object().into_iter().flatten().map(|(name, _)| name) {
        let is_legal = match section.as_str() {
            "apiVersion" | "kind" => true,
            "metadata" => !status,
            name => name == patched,
        };
        if !is_legal {
            let section = section.clone();
            return Err(PodPatchError::SectionNotPatchable { section }.into());
        }
    }
    if status {
        check_status(ctx, pod, &body["status"])?;
        apiserver::touch_pod(ctx, pod);
        return Ok(());
    }
    let (pods, job) = (&ctx.store.pods, ctx.store.pods.job[pod.ix()]);
    let name = ctx.store.names.pod(job, pods.index[pod.ix()], pod, pods.incarnation[pod.ix()]);
    let is_gated = pods.has(pod, flag::GATED);
    let deleting = pods.has(pod, flag::DELETING);
    // Scripts name pods without their random suffix.
    let base = ctx.store.names.pod_base_name(job, pods.index[pod.ix()]);
    if body["metadata"]["name"] != base.as_str() {
        check_name(&name, body)?;
    }
    let old = object_json::pod_object(ctx, pod);
    let mut new = old.clone();
    merge_patch(&mut new, body);
    new["metadata"]["name"] = old["metadata"]["name"].clone();
    let left = patched_finalizers(body, deleting, &object_json::finalizers_of_pod(ctx, pod))?;
    check_metadata(&name, body, &old["metadata"], &new["metadata"])?;
    check_spec((&name, is_gated), body, &old["spec"], &new["spec"])?;
    if let Some(value) = body["metadata"]["annotations"].get(IN_PLACE_RESTART_ATTEMPT) {
        let text = value.as_str().unwrap_or("");
        let attempt = match text.parse::<u32>() {
            _ if value.is_null() => NO_ATTEMPT,
            Ok(n) if n < BAD_ATTEMPT => n,
            _ => BAD_ATTEMPT,
        };
        apiserver::set_attempt(ctx, pod, attempt);
    }
    let gates = body["spec"].get("schedulingGates");
    if gates.is_some_and(|gates| gates.is_null() || gates.as_array().is_some_and(Vec::is_empty)) {
        apiserver::set_pod_flag(ctx, pod, flag::GATED, false);
    }
    match left {
        Some(left) => apiserver::set_pod_finalizers(ctx, pod, left),
        None => apiserver::touch_pod(ctx, pod),
    }
    Ok(())
}

fn check_metadata(name: &str, body: &Value, old: &Value, new: &Value) -> Result<(), ScriptRequestError> {
    check_labels("Pod", name, body)?;
    for (field, value) in body["metadata"].as_object().into_iter().flatten() {
        if old[field] == new[field] {
            continue;
        }
        let unsupported =
            |path: String| -> Result<(), ScriptRequestError> { Err(PodPatchError::UnsupportedField { path }.into()) };
        match field.as_str() {
            "name" | "finalizers" => {}
            "namespace" | "uid" | "deletionTimestamp" | "deletionGracePeriodSeconds" => {
                let only = |metadata: &Value| serde_json::json!({ field: metadata[field] });
                let errors = update_errors(&only(old), &only(new));
                ErrorList { errors, ..ErrorList::default() }.into_rejection("Pod", name)?;
                return unsupported(format!("metadata.{field}"));
            }
            "annotations" => {
                let mut keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
                let changed = |key: &&String| old[field][key.as_str()] != new[field][key.as_str()];
                if let Some(key) = keys.find(|key| changed(key) && !is_free_annotation(key)) {
                    return unsupported(format!("metadata.annotations[{key}]"));
                }
            }
            _ => return unsupported(format!("metadata.{field}")),
        }
    }
    Ok(())
}

/// Returns true for the attempt of the in-place restart agent and for annotations that no component reads.
fn is_free_annotation(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_in = |read: &&str| domain.strip_suffix(*read).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    key == IN_PLACE_RESTART_ATTEMPT || !READ_DOMAINS.iter().any(is_in)
}

fn check_spec(
    (name, is_gated): (&str, bool), body: &Value, old: &Value, new: &Value,
) -> Result<(), ScriptRequestError> {
    for (field, value) in body["spec"].as_object().into_iter().flatten() {
        if old[field] == new[field] {
            continue;
        }
        let mut errors = ErrorList::default();
        let is_frozen = !is_gated && GATED_SPEC_FIELDS.contains(&field.as_str());
        let path = FieldPath::new("spec");
        if field == "schedulingGates" {
            let gates = value.as_array().map_or(&[][..], Vec::as_slice);
            let known = old[field].as_array().map_or(&[][..], Vec::as_slice);
            for (at, gate) in gates.iter().enumerate() {
                if !known.iter().any(|other| other["name"] == gate["name"]) {
                    let gate = gate["name"].as_str().unwrap_or_default();
                    let detail = format!("only deletion is allowed, but found new scheduling gate '{gate}'");
                    errors.forbidden(&path.child(field).index(at).child("name"), &detail);
                }
            }
            errors.into_rejection("Pod", name)?;
            if gates.is_empty() {
                continue;
            }
        } else if is_frozen || IMMUTABLE_SPEC_FIELDS.contains(&field.as_str()) {
            errors.forbidden(&path, SPEC_FORBIDDEN);
            errors.into_rejection("Pod", name)?;
        }
        let path = format!("spec.{field}");
        return Err(PodPatchError::UnsupportedField { path }.into());
    }
    Ok(())
}

/// A condition that was never written and is written as False changes nothing but the version of the pod.
fn check_status(ctx: &EngineContext<'_>, pod: PodId, status: &Value) -> Result<(), PodPatchError> {
    for (field, value) in status.as_object().into_iter().flatten() {
        if field != "conditions" {
            let path = format!("status.{field}");
            return Err(PodPatchError::UnsupportedField { path });
        }
        let is_set = ctx.store.pods.has(pod, flag::DISRUPTION_TARGET);
        let is_inert = |c: &&Value| c["type"] == "DisruptionTarget" && c["status"] != "True" && !is_set;
        if let Some(condition) = value.as_array().into_iter().flatten().find(|c| !is_inert(c)) {
            let condition = condition["type"].clone();
            return Err(PodPatchError::UnsupportedCondition { condition });
        }
    }
    Ok(())
}
