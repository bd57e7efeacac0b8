//! Validation of volume claims in the validating webhook (VAL-14…VAL-20).
//!
//! This module is pure: the caller passes existing claims. It must not build claims, which `objects` does.

use super::object::{items, text_field};
use crate::admission::field::{FieldError, go_quote};
use crate::admission::types::{FieldKind, SchemaType, tables};
use crate::{admission::go, admission::names};
use serde_json::{Value, json};

const CLAIM_NAME_MAX: usize = 63;
const CLAIM_SPEC: &str = "v1.PersistentVolumeClaimSpec";

pub struct PodVolumes<'a> {
    pub object: &'a Value,
    pub name: &'a str,
    pub namespace: &'a str,
    /// Spec as decoded by Go.
    pub spec: &'a Value,
    /// Existing claims of the namespace.
    pub claims: &'a [Value],
}

impl PodVolumes<'_> {
    pub fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (p, policy) in items(&self.spec["volumeClaimPolicies"]).iter().enumerate() {
            for (t, template) in items(&policy["templates"]).iter().enumerate() {
                let path = format!("spec.volumeClaimPolicies[{p}]");
                let name = text_field(&template["metadata"], "name");
                let name_path = format!("{path}.template[{t}].name");
                // The server's path has a mistake: `template` instead of `templates`.
                let template_path = format!("{path}.templates[{t}]");
                let mut wrong = |words: &str| {
                    let error = FieldError::invalid(&name_path, go_quote(name), words);
                    errors.push(error.with_actual_path(format!("{template_path}.metadata.name")));
                };
                if seen.contains(&name) {
                    wrong("names must be unique for VolumeClaimPolicies template");
                }
                names::dns1123_subdomain(name).iter().for_each(|w| wrong(w));
                let claim = format!("{name}-{}", self.name);
                if claim.len() > CLAIM_NAME_MAX {
                    wrong("VolumeClaimPolicies template name is too long");
                }
                self.mounts(name, &template_path, &mut errors);
                self.check_existing_claim(&path, t, policy, template, &claim, &mut errors);
                seen.push(name);
            }
        }
        errors
    }

    /// Checks that the template's name conflicts with no volume and that a container mounts it (VAL-17, VAL-18).
    fn mounts(&self, name: &str, template: &str, errors: &mut Vec<FieldError>) {
        let mut mounted = false;
        for (i, rj) in items(&self.spec["replicatedJobs"]).iter().enumerate() {
            let pod = &rj["template"]["spec"]["template"]["spec"];
            for (k, volume) in items(&pod["volumes"]).iter().enumerate() {
                if text_field(volume, "name") == name {
                    errors.push(FieldError::invalid(
                        format!("spec.replicatedJobs[{i}].template.spec.template.spec.volumes[{k}].name"),
                        go_quote(name),
                        format!("volume name conflicts with VolumeClaimPolicy template name: {name}"),
                    ));
                }
            }
            let containers = ["initContainers", "containers"].map(|c| items(&pod[c]));
            let mut mounts = containers.iter().copied().flatten().flat_map(|c| items(&c["volumeMounts"]));
            mounted |= mounts.any(|m| text_field(m, "name") == name);
        }
        if !mounted {
            let error = FieldError::invalid(
                "spec.replicatedJobs",
                replicated_jobs_json(self.object, self.spec),
                format!("replicatedJob containers don't have a matching volumeMount: {name} from VolumeClaimPolicies"),
            );
            errors.push(error.with_actual_path(format!("{template}.metadata.name")));
        }
    }

    /// Checks an existing claim of the same name (VAL-19, VAL-20).
    fn check_existing_claim(
        &self, path: &str, index: usize, policy: &Value, template: &Value, name: &str, errors: &mut Vec<FieldError>,
    ) {
        let named = |c: &&Value| c["metadata"]["name"] == name;
        let Some(existing) = self.claims.iter().find(named) else {
            return;
        };
        if stored_claim_spec(&existing["spec"]) != template["spec"] {
            let ty = SchemaType { name: CLAIM_SPEC, kind: FieldKind::Struct(CLAIM_SPEC) };
            let error = FieldError::invalid(
                format!("{path}.template[{index}].spec"),
                go::go_json(&ty, &template["spec"]),
                format!("spec does not match existing PVC {name} in namespace {}", self.namespace),
            );
            errors.push(error.with_actual_path(format!("{path}.templates[{index}].spec")));
        }
        let retention = &policy["retentionPolicy"];
        if retention.is_object() && retention["whenDeleted"] != "Retain" {
            errors.push(FieldError::invalid(
                format!("{path}.retentionPolicy.whenDeleted"),
                go::go_json_untyped(&retention["whenDeleted"]),
                "retentionPolicy must be retain when PVC exists",
            ));
        }
    }
}

/// Returns a claim's spec with the defaults that the API server sets in every claim (C-69).
fn stored_claim_spec(spec: &Value) -> Value {
    let mut spec = go::round_trip(CLAIM_SPEC, spec).unwrap_or_else(|_| spec.clone());
    if let Some(fields) = spec.as_object_mut() {
        fields.entry("volumeMode").or_insert("Filesystem".into());
        if let Some(source) = fields.get("dataSource").cloned() {
            fields.entry("dataSourceRef").or_insert(source);
        }
    }
    spec
}

/// Returns `spec.replicatedJobs` as serialized by Go. An empty list differs from a missing one.
pub fn replicated_jobs_json(object: &Value, read: &Value) -> String {
    // Go's serialization omits nil and empty lists. Only the stored object distinguishes them.
    let list = match &object["spec"]["replicatedJobs"] {
        Value::Array(items) if items.is_empty() => &json!([]),
        Value::Array(_) => &read["replicatedJobs"],
        _ => &Value::Null,
    };
    let ty = tables().struct_named("v1alpha2.JobSetSpec").field("replicatedJobs").map(|f| &f.ty);
    ty.map_or_else(|| go::go_json_untyped(list), |ty| go::go_json(ty, list))
}
