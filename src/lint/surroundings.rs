//! Traps that depend on other objects in the manifests: PriorityClasses and queues.

use super::lint_subject::{LintSubject, ReplicatedJobText, place, text};
use super::trap::{TrapCheck, TrapHit, hit};
use sim_api::spec::keys::KUEUE_QUEUE;
use sim_base::quantity;
use sim_inputs::acting_keys;
use sim_inputs::kube::inspect::InspectedObject;
use sim_inputs::text::locate::locate;
use sim_inputs::text::node::YamlNode;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("priority-negative", TrapCheck::JobSet(priority_negative)),
    ("quota-not-whole-slices", TrapCheck::JobSet(quota_broken)),
    ("queue-on-child-template", TrapCheck::JobSet(queue_on_child)),
    ("pod-sets-over-kueue-limit", TrapCheck::JobSet(too_many_pod_sets)),
    ("too-large-for-apply", TrapCheck::JobSet(too_large_for_apply)),
    ("effect-not-simulated", TrapCheck::JobSet(effect_not_simulated)),
];

/// Maximum number of pod sets of a Kueue Workload (`WorkloadSpec.podSets`) in releases before the limit was 18.
const POD_SETS_MAX: usize = 8;
/// Maximum total size of the annotations of an object (`TotalAnnotationSizeLimitB`).
const ANNOTATIONS_MAX: usize = 256 << 10;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn queue_on_child(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs().iter().filter(|_| s.jobset.kueue_queue().is_none()) {
        let templates = [rj.node.get("template"), rj.job.get("template")];
        for template in templates.into_iter().flatten() {
            if let Some(queue) = template.at_path(&["metadata", "labels", KUEUE_QUEUE]) {
                let name = queue.as_str().unwrap_or("");
                hits.push(hit(queue.at, format!("queue {name:?}, replicatedJob {:?}", rj.name())));
            }
        }
    }
    hits
}

fn effect_not_simulated(s: &LintSubject) -> Vec<TrapHit> {
    let found = acting_keys::of_object(&s.node.to_json()).into_iter();
    let place = |path: &str| locate(s.node, path).map_or(s.node.at, |place| place.key);
    found
        .map(|found| hit(place(&found.path), format!("{}; source: {}", found.describe(), found.entry.source)))
        .collect()
}

fn too_many_pod_sets(s: &LintSubject) -> Vec<TrapHit> {
    let count = s.rjs().len();
    if s.jobset.kueue_queue().is_none() || count <= POD_SETS_MAX {
        return Vec::new();
    }
    vec![hit(s.at(&["replicatedJobs"]), format!("{count} replicatedJobs"))]
}

fn too_large_for_apply(s: &LintSubject) -> Vec<TrapHit> {
    // The annotation ends with a newline.
    let applied = LAST_APPLIED.len() + s.node.json_size() + 1;
    let own = s.jobset.annotations.iter().filter(|(key, _)| *key != LAST_APPLIED);
    let total = applied + own.map(|(key, value)| key.len() + value.len()).sum::<usize>();
    if total <= ANNOTATIONS_MAX {
        return Vec::new();
    }
    vec![hit(s.node.at, format!("the annotations would have {total} bytes"))]
}

pub fn metadata<'n>(node: &'n YamlNode, key: &str) -> Option<&'n str> {
    node.at_path(&["metadata", key]).and_then(YamlNode::as_str)
}

fn named<'a>(s: &LintSubject<'a>, kind: &str, name: &str) -> Option<&'a InspectedObject> {
    let mut objects = s.objects.iter().copied();
    objects.find(|o| o.kind == kind && metadata(&o.node, "name") == Some(name))
}

pub(super) fn priority_negative(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
        let Some(name) = text(rj.pod, "priorityClassName") else {
            continue;
        };
        let class = named(s, "PriorityClass", name);
        let value = class.and_then(|c| c.node.get("value")?.as_int());
        if let Some(value) = value.filter(|v| *v < 0) {
            let detail = format!("{name:?} has the value {value}, used by replicatedJob {:?}", rj.name());
            hits.push(hit(rj.pod_at("priorityClassName"), detail));
        }
    }
    hits
}

/// Returns the ClusterQueues that may admit the JobSet: the one of its LocalQueue, or all of them if the LocalQueue
/// is not in the manifests.
fn cluster_queues<'a>(s: &LintSubject<'a>) -> Vec<&'a InspectedObject> {
    let Some(queue) = s.jobset.kueue_queue() else {
        return Vec::new();
    };
    let local = named(s, "LocalQueue", queue);
    let of_local = local.and_then(|l| l.node.at_path(&["spec", "clusterQueue"])?.as_str());
    let wanted = |o: &&&InspectedObject| {
        let name = metadata(&o.node, "name");
        o.kind == "ClusterQueue" && of_local.is_none_or(|wanted| name == Some(wanted))
    };
    s.objects.iter().filter(wanted).copied().collect()
}

/// Returns each (resource, nominalQuota) of a ClusterQueue, in thousandths.
fn quotas(queue: &YamlNode) -> Vec<(String, i64)> {
    let items = |node: &YamlNode, key: &str| node.get(key).map_or(Vec::new(), |n| n.items().to_vec());
    let spec = queue.get("spec").cloned();
    let groups = spec.iter().flat_map(|s| items(s, "resourceGroups"));
    let flavors = groups.flat_map(|g| items(&g, "flavors"));
    let resources = flavors.flat_map(|f| items(&f, "resources"));
    let quota = |r: YamlNode| {
        let amount = r.get("nominalQuota")?.scalar_text()?;
        let milli = quantity::parse_milli(&amount).ok()?;
        Some((text(&r, "name")?.to_owned(), milli))
    };
    resources.filter_map(quota).collect()
}

/// Returns the extended resources that one Job requests, in thousandths.
fn slice(rj: &ReplicatedJobText) -> Vec<(String, i64)> {
    let pods = i64::from(rj.template().pods());
    let requests = rj.pod_spec().requests().into_iter();
    let devices = requests.filter(|(name, milli)| name.contains('/') && *milli > 0);
    devices.map(|(name, milli)| (name, milli.saturating_mul(pods))).collect()
}

fn quota_broken(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for queue in cluster_queues(s) {
        let name = metadata(&queue.node, "name").unwrap_or("");
        for (resource, quota) in quotas(&queue.node) {
            for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
                if s.webhook_key(rj).is_none() {
                    continue;
                }
                let one = slice(rj).into_iter().find(|(r, _)| *r == resource);
                let Some((_, one)) = one.filter(|(_, one)| quota % one != 0) else {
                    continue;
                };
                let detail = format!(
                    "ClusterQueue {name:?} has {} {resource}; a Job of replicatedJob {:?} requests {}",
                    quota / 1000,
                    rj.name(),
                    one / 1000
                );
                hits.push(hit(place(rj.node, "name"), detail));
            }
        }
    }
    hits
}
