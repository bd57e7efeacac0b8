//! Generates objects besides the JobSets: objects that exist at the start or are created later.

use super::draw::Draw;
use super::environment;
use super::job;
use super::jobset::{self, JobSet};
use serde_json::{Value, json};
use sim_scheduler::profile::PLUGIN_NAMES;

/// Draws an object of any kind, often with a name that a JobSet needs.
pub fn any(d: &mut Draw, jobsets: &[JobSet]) -> Value {
    let js = &jobsets[d.below(jobsets.len() as u32) as usize];
    let namespace = js.object["metadata"].get("namespace").cloned().unwrap_or(json!("default"));
    let meta = |name: &str| json!({"name": name, "namespace": namespace});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    match d.below(10) {
        0 => {
            let name = format!("extra-{}", d.below(2));
            environment::node(d, &name)
        }
        1 => job(d, js, &meta),
        2 => pod(d, js, &meta),
        3 => {
            let name = d.pick(&[js.name.as_str(), "shared", "else"]);
            json!({"apiVersion": "v1", "kind": "Service", "metadata": meta(name),
                "spec": {"clusterIP": "None", "selector": {"a": "b"}}})
        }
        4 => {
            let name = d.pick(&[format!("data-{}", js.name), "else".to_owned()]);
            let mut spec = claim;
            if d.one_in(3) {
                spec["storageClassName"] = json!("fast");
                if d.one_in(2) {
                    spec["volumeName"] = json!("volume");
                } else {
                    spec["selector"] = json!({"matchLabels": {"a": "b"}});
                }
                spec["volumeMode"] = json!(d.pick(&["Block", "Filesystem"]));
                spec["accessModes"] = d.pick(&[json!(["ReadWriteMany", "ReadOnlyMany"]), json!(["ReadWriteOncePod"])]);
            }
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(&name), "spec": spec})
        }
        5 if d.one_in(2) => storage_class(d),
        5 => {
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "volume"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}})
        }
        6 => {
            let mut class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": "high"}, "value": d.pick(&[0, 1000, -5])});
            if d.one_in(3) {
                class["globalDefault"] = json!(true);
                class["preemptionPolicy"] = json!(d.pick(&["PreemptLowerPriority", "Never"]));
            }
            class
        }
        8 => {
            let mut spec = json!({"selector": {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": js.name}}});
            match d.below(3) {
                0 => spec["maxUnavailable"] = d.pick(&[json!(1), json!("50%")]),
                _ => spec["minAvailable"] = json!(d.between(0, 4)),
            }
            if d.one_in(2) {
                spec["unhealthyPodEvictionPolicy"] = json!(d.pick(&["IfHealthyBudget", "AlwaysAllow"]));
            }
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta("budget"), "spec": spec})
        }
        7 => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}),
        _ => {
            let mut own = jobset::draw(d, "c").with_fixed_name();
            if let Some(metadata) = own["metadata"].as_object_mut() {
                metadata.entry("namespace").or_insert(json!("default"));
            }
            own
        }
    }
}

/// Draws the kind and name of an object that `any` or a JobSet may have created.
pub fn any_name(d: &mut Draw, jobsets: &[JobSet]) -> (&'static str, String) {
    let js = &jobsets[d.below(jobsets.len() as u32) as usize];
    let kinds = [
        "Service", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "PriorityClass", "PodDisruptionBudget",
        "Namespace",
    ];
    let kind = d.pick(&kinds);
    let name = match kind {
        "Service" => d.pick(&[js.name.as_str(), "shared", "else"]).to_owned(),
        "PersistentVolumeClaim" => d.pick(&[format!("data-{}", js.name), format!("keep-{}", js.name)]),
        "PersistentVolume" => "volume".to_owned(),
        "StorageClass" => "fast".to_owned(),
        "PriorityClass" => "high".to_owned(),
        "PodDisruptionBudget" => "budget".to_owned(),
        _ => d.pick(&["team", "default"]).to_owned(),
    };
    (kind, name)
}

/// Switches the feature gates of pod groups on, and adds a PodGroup with a request about it. The draws of other parts
/// stay unchanged.
pub fn group_pods((seed, one_in): (u64, u32), jobset: &JobSet, scenario: &mut Value, files: &mut [(String, Value)]) {
    let d = &mut Draw::new(seed ^ 0x706f_6467_726f_7570);
    if !d.one_in(one_in) {
        return;
    }
    for gate in ["GenericWorkload", "GangScheduling", "WorkloadAwarePreemption"] {
        scenario["controlPlane"]["featureGates"][gate] = json!(true);
    }
    scenario["controlPlane"]["featureGates"]["TopologyAwareWorkloadScheduling"] = json!(d.one_in(2));
    let group = pod_group(d, jobset);
    let request = match d.below(4) {
        0 => json!({"create": {"object": group}}),
        1 => json!({"delete": {"kind": "PodGroup", "name": "gang"}}),
        2 => json!({"show": {"kind": "PodGroup", "name": "gang", "fields": ["status"]}}),
        _ => {
            let merge = json!({"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}});
            json!({"patch": {"kind": "PodGroup", "name": "gang", "merge": merge}})
        }
    };
    let is_created_later = request.get("create").is_some();
    let mut fault = request;
    fault["at"] = json!(format!("{}s", d.between(1, 60)));
    let add = |list: &mut Value, item: Value| match list.as_array_mut() {
        Some(items) => items.push(item),
        None => *list = json!([item]),
    };
    add(&mut scenario["faults"], fault);
    if !is_created_later {
        add(&mut scenario["objects"], group);
    }
    for (_, content) in files {
        join_group(content);
    }
}

/// Puts the pods of all JobSets in the content into the group.
fn join_group(content: &mut Value) {
    for item in content.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        join_group(item);
    }
    let replicated = content.pointer_mut("/spec/replicatedJobs").and_then(Value::as_array_mut);
    for rj in replicated.into_iter().flatten() {
        if let Some(spec) = rj.pointer_mut("/template/spec/template/spec") {
            spec["schedulingGroup"] = json!({"podGroupName": "gang"});
        }
    }
}

fn pod_group(d: &mut Draw, jobset: &JobSet) -> Value {
    let policy = if d.one_in(3) { json!({"basic": {}}) } else { json!({"gang": {"minCount": d.between(1, 4)}}) };
    let mut spec = json!({"schedulingPolicy": policy, "disruptionMode": d.pick(&["Pod", "PodGroup"])});
    if d.one_in(2) {
        spec["schedulingConstraints"] = json!({"topology": [{"key": "kubernetes.io/hostname"}]});
    }
    match d.below(3) {
        0 => spec["priorityClassName"] = json!("high"),
        1 => spec["priority"] = json!(d.pick(&[0, 1000, -5])),
        _ => {}
    }
    let namespace = jobset.object["metadata"].get("namespace").cloned().unwrap_or(json!("default"));
    let metadata = json!({"name": "gang", "namespace": namespace});
    json!({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": metadata, "spec": spec})
}

fn storage_class(d: &mut Draw) -> Value {
    let mut class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
        "provisioner": d.pick(&["csi.example.com", "kubernetes.io/no-provisioner"]),
        "volumeBindingMode": d.pick(&["Immediate", "WaitForFirstConsumer"]),
        "reclaimPolicy": d.pick(&["Delete", "Retain"])});
    if d.one_in(2) {
        class["metadata"]["annotations"] = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    }
    if d.one_in(2) {
        let label = json!({"key": "kubernetes.io/hostname", "values": ["n-0-0", "n-0-1"]});
        class["allowedTopologies"] = json!([{"matchLabelExpressions": [label]}]);
    }
    class
}

/// Draws a standalone Job, or one with the name of a JobSet's Job.
fn job(d: &mut Draw, js: &JobSet, meta: &dyn Fn(&str) -> Value) -> Value {
    let name = if d.one_in(2) { js.any_job(d) } else { "own".to_owned() };
    let mut plain = plain_jobset(js);
    plain.in_place = false;
    let (_, mut spec) = job::draw(d, &mut plain);
    remove_rejected_fields(&mut spec["template"]["spec"]);
    if spec["template"]["spec"].get("restartPolicy").is_none() {
        spec["template"]["spec"]["restartPolicy"] = json!("OnFailure");
    }
    // Outside of a JobSet, the completion mode is NonIndexed by default.
    let indexed = spec.get("successPolicy").is_some() || spec.get("backoffLimitPerIndex").is_some();
    if (indexed || d.one_in(2)) && spec.get("completionMode").is_none() {
        spec["completionMode"] = json!("Indexed");
    }
    if d.one_in(4) {
        spec["suspend"] = json!(d.one_in(2));
    }
    let mut metadata = meta(&name);
    if d.one_in(4) {
        metadata["finalizers"] = json!(["example.com/hold"]);
    }
    if d.one_in(4) {
        metadata["labels"] = json!({"jobset.sigs.k8s.io/jobset-name": js.name});
    }
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
}

/// Draws a standalone pod, bound from the start or unbound.
fn pod(d: &mut Draw, js: &JobSet, meta: &dyn Fn(&str) -> Value) -> Value {
    let mut plain = plain_jobset(js);
    plain.in_place = d.one_in(4);
    let template = job::pod_template(d, &plain, false);
    let mut spec = template["spec"].clone();
    remove_rejected_fields(&mut spec);
    // The API server computes the priority and rejects other values, and an overhead requires a RuntimeClass.
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("priority");
        fields.remove("overhead");
    }
    if d.one_in(2) {
        spec["restartPolicy"] = json!(d.pick(&["Always", "OnFailure", "Never"]));
    }
    if d.one_in(3) && spec.get("schedulingGates").is_none() {
        spec["nodeName"] = json!("node-000");
    }
    let mut metadata = meta("lone");
    if d.one_in(4) {
        metadata["finalizers"] = json!(["example.com/hold"]);
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// Removes tolerations and affinity that the API server rejects.
fn remove_rejected_fields(pod: &mut Value) {
    if let Some(tolerations) = pod["tolerations"].as_array_mut() {
        tolerations.retain(|t| t["key"] != "example.com/level");
    }
    if pod["affinity"].to_string().contains("Like") {
        pod["affinity"] = json!({});
    }
    if pod["affinity"].is_null()
        && let Some(fields) = pod.as_object_mut()
    {
        fields.remove("affinity");
    }
    if pod["tolerations"].is_null()
        && let Some(fields) = pod.as_object_mut()
    {
        fields.remove("tolerations");
    }
}

/// Returns a JobSet with only the properties that templates depend on.
fn plain_jobset(js: &JobSet) -> JobSet {
    JobSet { name: js.name.clone(), object: json!({}), jobs: Vec::new(), ..*js }
}

fn any_plugin(d: &mut Draw) -> Value {
    json!({"name": d.pick(&PLUGIN_NAMES), "weight": 1})
}

/// Plugins that score nodes; one that is enabled twice is an error.
const SCORES: [&str; 6] = [
    "TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
];

fn score_plugin(d: &mut Draw) -> Value {
    json!({"name": d.pick(&SCORES), "weight": 3})
}

/// Name of the second profile of kube-scheduler.
pub const SECOND_PROFILE: &str = "packing";

/// Adds a configuration of kube-scheduler to the objects of some scenarios. Of combined cases, many have a second
/// profile.
pub fn configure_scheduler(seed: u64, is_combined: bool, scenario: &mut Value) {
    let d = &mut Draw::new(seed ^ 0x5c4e_d01e);
    if !d.one_in(if is_combined { 2 } else { 8 }) {
        return;
    }
    let mut profiles = vec![profile(d, "default-scheduler")];
    if is_combined && !d.one_in(3) {
        let mut second = profile(d, SECOND_PROFILE);
        if d.one_in(2) {
            second["plugins"]["filter"] = json!({"disabled": [{"name": d.pick(&FILTERS)}]});
        }
        profiles.push(second);
        if d.one_in(8) {
            profiles.remove(0);
        }
    }
    let configuration = json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 10, "podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 4,
        "clientConnection": {"qps": 40, "burst": 60}, "profiles": profiles});
    add_objects(scenario, vec![configuration]);
}

/// Adds objects that exist at the start.
pub fn add_objects(scenario: &mut Value, added: Vec<Value>) {
    match scenario["objects"].as_array_mut() {
        Some(objects) => objects.extend(added),
        None => scenario["objects"] = added.into(),
    }
}

/// Filters that a profile can disable.
const FILTERS: [&str; 8] = [
    "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread",
    "InterPodAffinity", "VolumeBinding",
];

fn profile(d: &mut Draw, name: &str) -> Value {
    let shape = json!([{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]);
    let strategy = d.pick(&[
        json!({"type": "LeastAllocated"}),
        json!({"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 2}]}),
        json!({"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}}),
    ]);
    let term = json!({"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]});
    let added = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
    let mode = d.pick(&["DoNotSchedule", "ScheduleAnyway"]);
    let spread = json!({"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": mode});
    let mut arguments = vec![json!({"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}})];
    for (name, args) in [
        ("NodeResourcesBalancedAllocation", json!({"resources": [{"name": "cpu"}]})),
        ("InterPodAffinity", json!({"hardPodAffinityWeight": 5})),
        ("NodeAffinity", json!({"addedAffinity": added})),
        (
            "PodTopologySpread",
            d.pick(&[
                json!({"defaultingType": "List", "defaultConstraints": [spread]}),
                json!({"defaultingType": "System"}),
            ]),
        ),
    ] {
        if d.one_in(2) {
            arguments.push(json!({"name": name, "args": args}));
        }
    }
    let other = d.pick(&PLUGIN_NAMES[..PLUGIN_NAMES.len() - 1]);
    if arguments.iter().all(|argument| argument["name"] != other) {
        arguments.push(json!({"name": other, "args": {}}));
    }
    let mut scored = vec![score_plugin(d), score_plugin(d)];
    scored.dedup();
    let mut plugins = json!({});
    for (point, set) in [
        ("multiPoint", json!({"disabled": [{"name": "ImageLocality"}]})),
        ("filter", json!({"disabled": [{"name": "NodeDeclaredFeatures"}]})),
        ("postFilter", json!({"disabled": [{"name": "DefaultPreemption"}]})),
        ("score", json!({"disabled": [any_plugin(d), any_plugin(d)], "enabled": scored})),
    ] {
        if point == "score" || d.one_in(3) {
            plugins[point] = set;
        }
    }
    json!({"schedulerName": name, "percentageOfNodesToScore": 50, "plugins": plugins, "pluginConfig": arguments})
}
