//! Fields of recorded objects that the model of the scheduler knows, with those that do not affect scheduling.
//!
//! A recording with any other field is not simulated, because the field may affect a decision.

use serde_json::Value;

/// Paths without list indexes. A path stands for everything below it; `a|b` stands for either key.
pub const NODE_FIELDS: [&str; 10] = [
    "apiVersion|kind|disruptionsAllowed",
    "metadata.name|uid|labels|annotations|creationTimestamp|resourceVersion|generation",
    "spec.unschedulable|podCIDR|podCIDRs|providerID",
    "spec.taints.key|value|effect|timeAdded",
    "status.allocatable|capacity|nodeInfo|addresses|conditions",
    "status.images.names|sizeBytes",
    "status.phase",
    "status.daemonEndpoints",
    "status.runtimeHandlers",
    "status.declaredFeatures",
];

const REQUIRED_TERMS: &str = "spec.affinity.podAffinity|podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.topologyKey|namespaces|\
     labelSelector|namespaceSelector|matchLabelKeys|mismatchLabelKeys";
const PREFERRED_TERMS: &str = "spec.affinity.podAffinity|podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.\
     topologyKey|namespaces|labelSelector|namespaceSelector|matchLabelKeys|mismatchLabelKeys";

pub const POD_FIELDS: [&str; 20] = [
    "apiVersion|kind|terminating",
    "metadata.name|namespace|uid|labels|annotations|finalizers|ownerReferences|generateName|creationTimestamp",
    "spec.containers|initContainers.name|image|command|args|env|workingDir|imagePullPolicy|restartPolicy|restartPolicyRules|\
     tty|stdin",
    "spec.containers|initContainers.livenessProbe|readinessProbe|startupProbe|lifecycle|securityContext",
    "spec.containers|initContainers.ports.name|containerPort|hostPort|hostIP|protocol",
    "spec.containers|initContainers.resources.requests|limits",
    "spec.containers|initContainers.volumeMounts|volumeDevices",
    "spec.volumes.name|persistentVolumeClaim|emptyDir|hostPath|configMap|secret|projected|downwardAPI|nfs|image",
    "spec.resources.requests|limits",
    "spec.overhead",
    "spec.restartPolicy|terminationGracePeriodSeconds|dnsPolicy|serviceAccountName|serviceAccount|securityContext",
    "spec.hostNetwork|nodeName|nodeSelector|schedulerName|priorityClassName|priority|preemptionPolicy",
    "spec.tolerations.key|operator|value|effect|tolerationSeconds",
    "spec.topologySpreadConstraints.maxSkew|topologyKey|whenUnsatisfiable|labelSelector|minDomains|matchLabelKeys|\
     nodeAffinityPolicy|nodeTaintsPolicy",
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.matchExpressions|matchFields",
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.weight",
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.preference.matchExpressions|matchFields",
    REQUIRED_TERMS,
    "spec.affinity.podAffinity|podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.weight",
    PREFERRED_TERMS,
];

pub const BUDGET_FIELDS: [&str; 4] = [
    "apiVersion|kind|disruptionsAllowed",
    "metadata.name|namespace|labels|annotations",
    "spec.selector",
    "spec.minAvailable|maxUnavailable|unhealthyPodEvictionPolicy",
];

/// A claim; the capacity of its volume and the progress of a resize do not affect scheduling.
pub const CLAIM_FIELDS: [&str; 4] = [
    "apiVersion|kind",
    "metadata.name|namespace|uid|labels|annotations|finalizers|ownerReferences|creationTimestamp|deletionTimestamp|\
     resourceVersion",
    "spec.accessModes|resources|storageClassName|volumeName|volumeMode|selector",
    "status.phase|accessModes|capacity",
];

/// A volume with a source that no plugin reads; those of in-tree drivers are translated to CSI.
pub const VOLUME_FIELDS: [&str; 5] = [
    "apiVersion|kind",
    "metadata.name|uid|labels|annotations|finalizers|creationTimestamp|deletionTimestamp|resourceVersion",
    "spec.accessModes|capacity|storageClassName|claimRef|volumeMode|nodeAffinity|mountOptions",
    "spec.persistentVolumeReclaimPolicy|hostPath|local|nfs",
    "status.phase|message|reason|lastPhaseTransitionTime",
];

pub const CLASS_FIELDS: [&str; 3] = [
    "apiVersion|kind|provisioner|volumeBindingMode|allowedTopologies|reclaimPolicy|parameters|mountOptions",
    "allowVolumeExpansion",
    "metadata.name|uid|labels|annotations|creationTimestamp|resourceVersion",
];

/// Fields of a step with a pod group.
pub const STEP_FIELDS: [&str; 2] = [
    "group.name|minCount|topology|priority|disruptionMode",
    "pods.name|cpu|tpu|priority|requests|nodeSelector|tolerations",
];

/// Returns the paths of an object that are not known, sorted and without duplicates.
pub fn unknown_fields(object: &Value, known: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    collect(object, &mut Vec::new(), known, &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect<'a>(value: &'a Value, path: &mut Vec<&'a str>, known: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, known, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                path.push(key);
                let matches = |pattern: &&str| {
                    let segments: Vec<&str> = pattern.split('.').collect();
                    let fits = path.iter().zip(&segments).all(|(key, segment)| segment.split('|').any(|s| s == *key));
                    fits.then_some(segments.len())
                };
                match known.iter().filter_map(matches).max() {
                    None => found.push(path.join(".")),
                    Some(length) if length > path.len() => collect(value, path, known, found),
                    Some(_) => {}
                }
                path.pop();
            }
        }
        _ => {}
    }
}
