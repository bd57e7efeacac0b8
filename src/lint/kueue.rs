//! Traps of JobSets in a queue of Kueue: missing queues, topology-aware scheduling, and readiness.

use super::lint_subject::{LintSubject, ReplicatedJobText, template_annotation_at, text};
use super::placement::key_at;
use super::surroundings::metadata;
use super::trap::{TrapCheck, TrapHit, hit};
use sim_api::spec::DependsOnStatus;
use sim_api::spec::keys::{self, KUEUE_QUEUE};
use sim_base::{Duration, suggest};
use sim_inputs::kube::inspect::InspectedObject;
use sim_inputs::schema::definitions::kueue::CONFIGURATION_V1BETA1;
use sim_inputs::text::node::YamlNode;
use sim_kueue::workload::jobset::pods;
use sim_kueue::workload::topology;
use sim_kueue::workload::topology::annotations::{SLICE_CONSTRAINTS, SLICE_SIZE};

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("queue-missing", TrapCheck::JobSet(queue_missing)),
    ("tas-with-exclusive-topology", TrapCheck::JobSet(topology_twice)),
    ("pods-ready-depends-on-complete", TrapCheck::JobSet(depends_on_complete)),
    ("recovery-timeout-below-eviction", TrapCheck::JobSet(short_recovery)),
    ("queue-as-annotation", TrapCheck::JobSet(queue_as_annotation)),
    ("key-without-effect", TrapCheck::JobSet(key_without_effect)),
    ("topology-request-without-queue", TrapCheck::JobSet(topology_without_queue)),
    ("topology-request-misplaced", TrapCheck::JobSet(topology_misplaced)),
    ("slice-size-with-remainder", TrapCheck::JobSet(slice_remainder)),
];

/// Beginning of the annotations for topologies on pod templates.
const TOPOLOGY_PREFIX: &str = "kueue.x-k8s.io/podset-";

/// Annotations that request a placement by topology (`kueue.x-k8s.io/podset-*-topology`).
const TOPOLOGY_REQUESTS: [&str; 4] = [
    "kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-unconstrained-topology", "kueue.x-k8s.io/podset-slice-required-topology",
];

/// Time from the loss of a node to the deletion of its pods: node-monitor-grace-period (50 s) and the default
/// toleration of the taints not-ready and unreachable (300 s).
const EVICTION: Duration = Duration::from_secs(350);

fn objects<'a>(s: &LintSubject<'a>, kind: &'static str) -> impl Iterator<Item = &'a YamlNode> {
    let of_kind = move |object: &&&InspectedObject| object.kind == kind;
    s.objects.iter().filter(of_kind).map(|object| &object.node)
}

fn queue_missing(s: &LintSubject) -> Vec<TrapHit> {
    let Some(queue) = s.jobset.kueue_queue() else { return Vec::new() };
    let has_queues = objects(s, "LocalQueue").chain(objects(s, "ClusterQueue")).next().is_some();
    let is_own = |node: &&YamlNode| {
        let namespace = metadata(node, "namespace").unwrap_or("default");
        metadata(node, "name") == Some(queue) && namespace == s.jobset.namespace
    };
    let at = s.metadata_at("labels");
    let Some(local) = objects(s, "LocalQueue").find(is_own) else {
        let namespace = &s.jobset.namespace;
        let missing = || vec![hit(at, format!("LocalQueue {queue:?} in namespace {namespace:?}"))];
        return if has_queues { missing() } else { Vec::new() };
    };
    let cluster = local.get("spec").and_then(|spec| text(spec, "clusterQueue")).unwrap_or_default();
    let exists = objects(s, "ClusterQueue").any(|node| metadata(node, "name") == Some(cluster));
    let has_cluster_queues = objects(s, "ClusterQueue").next().is_some();
    if exists || !has_cluster_queues {
        return Vec::new();
    }
    vec![hit(at, format!("ClusterQueue {cluster:?} of LocalQueue {queue:?}"))]
}

fn topology_twice(s: &LintSubject) -> Vec<TrapHit> {
    let requests = |rj: &ReplicatedJobText| {
        let annotations = &rj.template().template.annotations;
        TOPOLOGY_REQUESTS.into_iter().find(|key| annotations.contains_key(*key))
    };
    let of_rj = |rj: ReplicatedJobText| {
        let request = requests(&rj)?;
        s.webhook_key(&rj)?;
        let at = template_annotation_at(&rj, request).unwrap_or_else(|| key_at(s, &rj));
        Some(hit(at, format!("{request} in replicatedJob {:?}", rj.name())))
    };
    s.rjs().into_iter().filter_map(of_rj).collect()
}

/// Returns `waitForPodsReady` of the configuration in the manifests.
fn readiness<'a>(s: &LintSubject<'a>) -> Option<&'a YamlNode> {
    objects(s, "Configuration").find_map(|node| node.get("waitForPodsReady"))
}

/// Returns whether Kueue ignores readiness, as a configuration of v1beta1 does by default.
fn ignores_readiness(s: &LintSubject) -> bool {
    let is_old = objects(s, "Configuration").any(|node| text(node, "apiVersion") == Some(CONFIGURATION_V1BETA1));
    is_old && readiness(s).and_then(|node| node.get("enable")?.as_bool()) != Some(true)
}

fn depends_on_complete(s: &LintSubject) -> Vec<TrapHit> {
    if s.label(KUEUE_QUEUE).is_none() || ignores_readiness(s) {
        return Vec::new();
    }
    let of_rj = |rj: ReplicatedJobText| {
        let waits = rj.spec.depends_on.iter().find(|on| on.status == DependsOnStatus::Complete)?;
        Some(hit(rj.at("dependsOn"), format!("{:?} waits for {:?}", rj.name(), waits.name)))
    };
    s.rjs().into_iter().filter_map(of_rj).collect()
}

fn short_recovery(s: &LintSubject) -> Vec<TrapHit> {
    let Some(queue) = s.label(KUEUE_QUEUE) else { return Vec::new() };
    let written = readiness(s).and_then(|node| text(node, "recoveryTimeout"));
    let Some(timeout) = written.and_then(|text| text.parse::<Duration>().ok()) else { return Vec::new() };
    if timeout == Duration::ZERO || timeout >= EVICTION {
        return Vec::new();
    }
    vec![hit(s.metadata_at("labels"), format!("queue {queue:?}, recoveryTimeout {timeout}"))]
}

fn queue_as_annotation(s: &LintSubject) -> Vec<TrapHit> {
    let queue = s.jobset.annotations.get(KUEUE_QUEUE).filter(|_| s.label(KUEUE_QUEUE).is_none());
    queue.map(|queue| hit(s.annotation_at(KUEUE_QUEUE), format!("queue {queue:?}"))).into_iter().collect()
}

/// Where a component reads a key.
#[derive(Copy, Clone, PartialEq, Eq)]
enum KeyUse {
    Label,
    Annotation,
    /// A controller sets it, or another trap covers its use.
    Any,
}

/// Prefixes of which only the keys of [`KEYS`] have a meaning.
const OWN_PREFIXES: [&str; 3] = ["kueue.x-k8s.io/", keys::JOBSET_PREFIX, keys::JOBSET_ALPHA_PREFIX];

/// Keys of Kueue (`pkg/controller/constants/constants.go`, `apis/kueue/v1beta2`) and of JobSet
/// (`api/jobset/v1alpha2/jobset_types.go`).
const KEYS: &[(KeyUse, &[&str])] = &[
    (KeyUse::Label, &["kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/max-exec-time-seconds"]),
    (
        KeyUse::Annotation,
        &[
            keys::EXCLUSIVE_TOPOLOGY,
            keys::NODE_SELECTOR_STRATEGY,
            "kueue.x-k8s.io/podset-required-topology",
            "kueue.x-k8s.io/podset-preferred-topology",
            "kueue.x-k8s.io/podset-unconstrained-topology",
            "kueue.x-k8s.io/podset-slice-required-topology",
            "kueue.x-k8s.io/podset-slice-size",
            "kueue.x-k8s.io/podset-slice-required-topology-constraints",
            "kueue.x-k8s.io/podset-group-name",
            "kueue.x-k8s.io/elastic-job",
            "kueue.x-k8s.io/safe-to-forcefully-delete",
            "kueue.x-k8s.io/job-min-parallelism",
            "kueue.x-k8s.io/job-completions-equal-parallelism",
            "kueue.x-k8s.io/admission-gated-by",
        ],
    ),
    (
        KeyUse::Any,
        &[
            "kueue.x-k8s.io/queue-name",
            "kueue.x-k8s.io/prebuilt-workload-name",
            "kueue.x-k8s.io/pod-group-name",
            "kueue.x-k8s.io/managed",
            "kueue.x-k8s.io/workload",
            "kueue.x-k8s.io/podset",
            "kueue.x-k8s.io/topology",
            "kueue.x-k8s.io/admission",
            "kueue.x-k8s.io/cluster-queue-name",
            "kueue.x-k8s.io/local-queue-name",
            "kueue.x-k8s.io/priority-boost",
            "kueue.x-k8s.io/pod-index-offset",
            "kueue.x-k8s.io/component-workload-index",
            "kueue.x-k8s.io/concurrent-admission",
            "kueue.x-k8s.io/concurrent-admission-parent",
            "kueue.x-k8s.io/is-group-workload",
            "kueue.x-k8s.io/job-owner-gvk",
            "kueue.x-k8s.io/job-owner-name",
            "kueue.x-k8s.io/job-uid",
            "kueue.x-k8s.io/multikueue-origin",
            "kueue.x-k8s.io/multikueue-origin-uid",
            "kueue.x-k8s.io/pod-group-fast-admission",
            "kueue.x-k8s.io/pod-group-pod-index",
            "kueue.x-k8s.io/pod-group-pod-index-label",
            "kueue.x-k8s.io/pod-group-serving",
            "kueue.x-k8s.io/pod-group-total-count",
            "kueue.x-k8s.io/pod-suspending-parent",
            "kueue.x-k8s.io/raycluster-generation",
            "kueue.x-k8s.io/raycluster-podset-replica-sizes",
            "kueue.x-k8s.io/retriable-in-group",
            "kueue.x-k8s.io/role-hash",
            "kueue.x-k8s.io/stopping",
            "kueue.x-k8s.io/workload-allowed-resource-flavors",
            "kueue.x-k8s.io/workload-slice-name",
            "kueue.x-k8s.io/workload-slice-replacement-for",
            keys::JOBSET_NAME,
            keys::JOBSET_UID,
            keys::REPLICATED_JOB_NAME,
            keys::REPLICATED_JOB_REPLICAS,
            keys::JOB_INDEX,
            keys::JOB_GLOBAL_INDEX,
            keys::GLOBAL_REPLICAS,
            keys::JOB_KEY,
            keys::RESTART_ATTEMPT,
            keys::JOB_RESTART_ATTEMPT,
            keys::GROUP_NAME,
            keys::GROUP_REPLICAS,
            keys::JOB_GROUP_INDEX,
            keys::COORDINATOR,
            keys::PRIORITY,
            keys::IN_PLACE_RESTART_ATTEMPT,
            keys::DISABLE_IN_PLACE_RESTART,
            keys::NAMESPACED_JOB,
            keys::NO_SCHEDULE,
        ],
    ),
];

fn key_without_effect(s: &LintSubject) -> Vec<TrapHit> {
    let mut objects = vec![("the JobSet".to_owned(), s.node)];
    let rjs = s.rjs();
    for rj in &rjs {
        for (level, template) in [("Job", rj.node.get("template")), ("pod", rj.job.get("template"))] {
            objects
                .extend(template.map(|node| (format!("the {level} template of replicatedJob {:?}", rj.name()), node)));
        }
    }
    let mut hits = Vec::new();
    for (object, node) in objects {
        for (map, own) in [("labels", KeyUse::Label), ("annotations", KeyUse::Annotation)] {
            let entries = node.at_path(&["metadata", map]).map_or(&[][..], YamlNode::entries);
            let ours = entries.iter().filter(|(key, _)| OWN_PREFIXES.iter().any(|p| key.name.starts_with(p)));
            hits.extend(ours.filter_map(|(key, _)| Some(hit(key.at, wrong_key(&key.name, own, &object)?))));
        }
    }
    hits
}

/// Describes the defect of a key in the labels or annotations of an object, if there is one.
fn wrong_key(key: &str, own: KeyUse, object: &str) -> Option<String> {
    let used = KEYS.iter().find(|(_, keys)| keys.contains(&key)).map(|(used, _)| *used);
    let word = |used: KeyUse| if used == KeyUse::Label { "a label" } else { "an annotation" };
    match used {
        Some(used) if used == KeyUse::Any || used == own => None,
        Some(used) => Some(format!("{key} is {} of {object}, but is read as {}", word(own), word(used))),
        None => {
            let all = KEYS.iter().flat_map(|(_, keys)| keys.iter().copied());
            let nearest = suggest::nearest(key, all).map(|known| format!("; did you mean {known}?"));
            let map = if own == KeyUse::Label { "labels" } else { "annotations" };
            Some(format!("unknown key {key} in the {map} of {object}{}", nearest.unwrap_or_default()))
        }
    }
}

fn topology_without_queue(s: &LintSubject) -> Vec<TrapHit> {
    if s.jobset.kueue_queue().is_some() {
        return Vec::new();
    }
    let of_rj = |rj: ReplicatedJobText| {
        let key = rj.template().template.annotations.keys().find(|key| key.starts_with(TOPOLOGY_PREFIX))?;
        let at = template_annotation_at(&rj, key).unwrap_or_else(|| key_at(s, &rj));
        Some(hit(at, format!("{key} in replicatedJob {:?}", rj.name())))
    };
    s.rjs().into_iter().filter_map(of_rj).collect()
}

fn topology_misplaced(s: &LintSubject) -> Vec<TrapHit> {
    let is_request = |key: &&String| key.starts_with(TOPOLOGY_PREFIX);
    let of_jobset = s.jobset.annotations.keys().find(is_request);
    let mut hits: Vec<TrapHit> =
        of_jobset.map(|key| hit(s.annotation_at(key), format!("{key} on the JobSet"))).into_iter().collect();
    for rj in s.rjs() {
        if let Some(key) = rj.spec.annotations.keys().find(is_request) {
            let at = template_annotation_at(&rj, key).unwrap_or_else(|| key_at(s, &rj));
            hits.push(hit(at, format!("{key} on the Job template of replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn slice_remainder(s: &LintSubject) -> Vec<TrapHit> {
    let of_rj = |rj: ReplicatedJobText| {
        let annotations = &rj.template().template.annotations;
        let size = topology::read(annotations).ok()?.slices.first().map(|slice| slice.size).filter(|size| *size > 0)?;
        let count = pods(rj.spec);
        let rest = count % size;
        if rest == 0 || size > count {
            return None;
        }
        let key = if annotations.contains_key(SLICE_SIZE) { SLICE_SIZE } else { SLICE_CONSTRAINTS };
        let at = template_annotation_at(&rj, key).unwrap_or_else(|| key_at(s, &rj));
        Some(hit(at, format!("{count} pods in replicatedJob {:?}, slices of {size}: {rest} pods are left", rj.name())))
    };
    s.rjs().into_iter().filter_map(of_rj).collect()
}
