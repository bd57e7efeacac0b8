//! Generates Kueue's objects, the labels and annotations of JobSets that refer to them, existing Workloads, and user
//! actions on the labels. They are drawn from separate numbers, so that the rest of a seed does not change.

use super::draw::{Draw, set};
use super::jobset::{JobSet, RACK};
use super::objects::add_objects;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub const V1BETA1: &str = "kueue.x-k8s.io/v1beta1";
pub const V1BETA2: &str = "kueue.x-k8s.io/v1beta2";
/// Label of the pools, one value per flavor.
const KIND: &str = "example.com/kind";
pub const ACCELERATOR: &str = "example.com/accelerator";
const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";
pub const FILE: &str = "kueue.yaml";
const CHECK: &str = "provisioning";

/// Names that JobSets and actions refer to.
struct Names {
    queues: u32,
    flavors: u32,
    classes: Vec<&'static str>,
    levels: Vec<&'static str>,
    has_check: bool,
}

pub fn enrich(seed: u64, jobsets: &[JobSet], scenario: &mut Value, files: &mut Vec<(String, Value)>) {
    let d = &mut Draw::new(seed ^ 0x6b75_6575_6500);
    (d.wild, d.is_combined) = (true, true);
    if d.one_in(8) {
        return;
    }
    let levels = [vec![], vec![RACK], vec![RACK, HOSTNAME], vec![ZONE, RACK, HOSTNAME], vec![HOSTNAME]];
    let names = Names {
        queues: d.between(1, 3),
        flavors: d.between(1, 3),
        classes: ["mid", "top", "default"].into_iter().zip([2, 2, 10]).filter(|c| d.one_in(c.1)).map(|c| c.0).collect(),
        levels: d.pick(&levels),
        has_check: d.one_in(5),
    };
    label_pools(d, names.flavors, scenario);
    let namespaces: BTreeSet<&str> =
        jobsets.iter().map(|js| js.object["metadata"]["namespace"].as_str().unwrap_or("default")).collect();
    let mut objects = objects(d, &names, &namespaces);
    if d.one_in(2) {
        objects.push(configuration(d));
    }
    if d.one_in(5) {
        let count = d.between(1, 2);
        let workloads: Vec<Value> = (0..count).map(|number| existing_workload(d, &names, number)).collect();
        if !d.one_in(3) {
            let time = d.pick(&[json!("5m"), json!({"exponential": {"mean": "20m"}})]);
            let queue = workloads[0]["spec"]["queueName"].clone();
            let rule = d.pick(&[
                json!({"name": "w0", "namespace": "default", "runTime": "90s"}),
                json!({"localQueue": queue, "runTime": time}),
                json!({"runTime": time}),
            ]);
            scenario["existingWorkloads"] = json!([rule]);
        }
        objects.extend(workloads);
    }
    if names.has_check && !d.one_in(5) {
        let after = d.pick(&[json!("0s"), json!("45s"), json!({"exponential": {"mean": "3m"}})]);
        scenario["admissionChecks"] = json!([{"name": CHECK, "after": after, "message": "capacity",
            "state": d.pick(&["Ready", "Ready", "Rejected"]), "retries": d.pick(&[0, 0, 2])}]);
    }
    if d.one_in(2) {
        add_objects(scenario, objects);
    } else {
        files.push((FILE.to_owned(), json!({"apiVersion": "v1", "kind": "List", "items": objects})));
        add_objects(scenario, vec![json!({"manifest": FILE})]);
    }
    for js in jobsets {
        let file = format!("{}.yaml", js.name);
        let own = files.iter_mut().find(|(name, _)| *name == file);
        if let Some((_, object)) = own {
            submit_to_queue(d, &names, object);
        }
    }
    let actions: Vec<Value> = (0..d.below(4)).map(|_| action(d, &names, jobsets)).collect();
    match scenario["faults"].as_array_mut() {
        Some(faults) => faults.extend(actions),
        None => scenario["faults"] = actions.into(),
    }
    spread_submissions(d, scenario);
}

/// Gives each pool the label of a flavor, and sometimes adds a pool of another flavor.
fn label_pools(d: &mut Draw, flavors: u32, scenario: &mut Value) {
    let adds = flavors > 1 && d.one_in(2);
    let Some(pools) = scenario["topology"]["pools"].as_array_mut() else { return };
    if adds && let Some(mut pool) = pools.first().cloned() {
        pool["name"] = json!("more-{node:03}");
        pool["count"] = json!(d.between(1, 2));
        pool["labels"][RACK] = json!("more-{pool}");
        if let Some(fields) = pool.as_object_mut() {
            fields.remove("islands");
        }
        pools.push(pool);
    }
    for (at, pool) in pools.iter_mut().enumerate() {
        pool["labels"][KIND] = json!(format!("f{}", at as u32 % flavors));
    }
}

fn object(version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn objects(d: &mut Draw, names: &Names, namespaces: &BTreeSet<&str>) -> Vec<Value> {
    let version = d.pick(&[V1BETA2, V1BETA2, V1BETA1]);
    let mut all = Vec::new();
    if !names.levels.is_empty() {
        let levels: Vec<Value> = names.levels.iter().map(|label| json!({"nodeLabel": label})).collect();
        all.push(object(version, "Topology", "racks", json!({"levels": levels})));
    }
    for number in 0..names.flavors {
        all.push(flavor(d, version, number, !names.levels.is_empty()));
    }
    for number in 0..names.queues {
        all.push(cluster_queue(d, version, number, names));
        for namespace in namespaces {
            let queue = if number == 0 && d.one_in(10) { "default".to_owned() } else { format!("l{number}") };
            let mut local = object(version, "LocalQueue", &queue, json!({"clusterQueue": format!("c{number}")}));
            local["metadata"]["namespace"] = json!(namespace);
            if d.one_in(12) {
                local["spec"]["stopPolicy"] = json!(d.pick(&["None", "Hold", "HoldAndDrain"]));
            }
            if d.one_in(4) {
                local["spec"]["fairSharing"] = json!({"weight": d.pick(&["0", "2", "500m"])});
                let used = json!({"consumedResources": {ACCELERATOR: d.pick(&["0", "64"])}});
                local["status"] = json!({"fairSharing": {"admissionFairSharingStatus": used}});
            }
            all.push(local);
        }
    }
    for name in ["lab", "all"] {
        if d.one_in(3) {
            all.push(cohort(d, version, name, names));
        }
    }
    for class in &names.classes {
        let value = if *class == "top" { 100 } else { 10 };
        all.push(json!({"apiVersion": version, "kind": "WorkloadPriorityClass", "metadata": {"name": class},
            "value": value}));
    }
    if names.has_check {
        let spec = json!({"controllerName": "kueue.x-k8s.io/provisioning-request"});
        all.push(object(version, "AdmissionCheck", CHECK, spec));
    }
    all
}

fn flavor(d: &mut Draw, version: &str, number: u32, has_topology: bool) -> Value {
    let by_topology = has_topology && !d.one_in(4);
    let mut spec = json!({});
    if by_topology || !d.one_in(4) {
        spec["nodeLabels"] = json!({KIND: format!("f{number}")});
    }
    if by_topology {
        spec["topologyName"] = json!("racks");
    }
    if d.one_in(10) {
        spec["nodeTaints"] = json!([{"key": "example.com/broken", "value": "v", "effect": "NoSchedule"}]);
    }
    if d.one_in(6) {
        spec["tolerations"] = json!([{"key": "example.com/broken", "operator": "Exists"}]);
    }
    object(version, "ResourceFlavor", &format!("f{number}"), spec)
}

/// Draws the quota of one resource; limits are legal only below a cohort.
fn quota(d: &mut Draw, resource: &str, step: u32, limits: (bool, bool)) -> Value {
    let nominal = step * d.below(13);
    let mut quota = json!({"name": resource, "nominalQuota": nominal});
    if limits.0 && d.one_in(3) {
        quota["borrowingLimit"] = json!(step * d.below(6));
    }
    if limits.1 && d.one_in(4) {
        quota["lendingLimit"] = json!(d.between(0, nominal));
    }
    quota
}

fn resource_groups(d: &mut Draw, flavors: u32, limits: (bool, bool)) -> Value {
    let covered = match d.below(4) {
        0 => vec![(ACCELERATOR, 2), ("cpu", 1)],
        1 => vec![(ACCELERATOR, 2), ("pods", 1)],
        _ => vec![(ACCELERATOR, 2)],
    };
    let mut group = |flavors: std::ops::Range<u32>, covered: &[(&str, u32)]| {
        let quotas = |d: &mut Draw, flavor: u32| {
            let quotas: Vec<Value> = covered.iter().map(|(name, step)| quota(d, name, *step, limits)).collect();
            json!({"name": format!("f{flavor}"), "resources": quotas})
        };
        let flavors: Vec<Value> = flavors.map(|flavor| quotas(d, flavor)).collect();
        json!({"coveredResources": covered.iter().map(|c| c.0).collect::<Vec<_>>(), "flavors": flavors})
    };
    if covered.len() > 1 && flavors > 2 {
        return json!([group(0..flavors - 1, &covered[..1]), group(flavors - 1..flavors, &covered[1..])]);
    }
    json!([group(0..flavors, &covered)])
}

fn cluster_queue(d: &mut Draw, version: &str, number: u32, names: &Names) -> Value {
    let cohort = d.pick(&[None, Some("lab"), Some("lab"), Some("all")]);
    let flavors = if d.one_in(3) { 1 } else { names.flavors };
    let reclaim = d.pick(&["Never", "LowerPriority", "Any"]);
    let mut preemption = json!({"reclaimWithinCohort": reclaim,
        "withinClusterQueue": d.pick(&["Never", "LowerPriority", "LowerOrNewerEqualPriority"])});
    if reclaim != "Never" && d.one_in(3) {
        preemption["borrowWithinCohort"] = json!({"policy": d.pick(&["Never", "LowerPriority"])});
        if d.one_in(2) {
            preemption["borrowWithinCohort"]["maxPriorityThreshold"] = json!(50);
        }
    }
    let mut spec = json!({"queueingStrategy": d.pick(&["StrictFIFO", "BestEffortFIFO"]), "preemption": preemption,
        "resourceGroups": resource_groups(d, flavors, (cohort.is_some(), cohort.is_some()))});
    match d.below(20) {
        0 => {}
        1 => set(&mut spec, "namespaceSelector.matchLabels", json!({"kubernetes.io/metadata.name": "default"})),
        2 => {
            let rule = json!({"key": "kubernetes.io/metadata.name", "operator": "Exists"});
            set(&mut spec, "namespaceSelector.matchExpressions", json!([rule]));
        }
        _ => spec["namespaceSelector"] = json!({}),
    }
    let is_old = version == V1BETA1;
    if let Some(cohort) = cohort {
        spec[if is_old { "cohort" } else { "cohortName" }] = json!(cohort);
    }
    if d.one_in(3) {
        let words = if is_old { ["Borrow", "Preempt"] } else { ["MayStopSearch"; 2] };
        let when = [0, 1].map(|k| d.pick(&[words[k], "MayStopSearch", "TryNextFlavor"]));
        spec["flavorFungibility"] = json!({"whenCanBorrow": when[0], "whenCanPreempt": when[1]});
        if when == ["TryNextFlavor"; 2] {
            let preference = d.pick(&["BorrowingOverPreemption", "PreemptionOverBorrowing"]);
            spec["flavorFungibility"]["preference"] = json!(preference);
        }
    }
    if d.one_in(12) {
        spec["stopPolicy"] = json!(d.pick(&["None", "Hold", "HoldAndDrain"]));
    }
    if d.one_in(4) {
        spec["fairSharing"] = json!({"weight": d.pick(&["0", "2", "500m"])});
    }
    if d.one_in(6) {
        let mode = d.pick(&["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"]);
        spec["admissionScope"] = json!({"admissionMode": mode});
    }
    if names.has_check && d.one_in(2) {
        if is_old && d.one_in(2) {
            spec["admissionChecks"] = json!([CHECK]);
        } else {
            let on = d.pick(&[json!([]), json!(["f0"])]);
            spec["admissionChecksStrategy"] = json!({"admissionChecks": [{"name": CHECK, "onFlavors": on}]});
        }
    }
    object(version, "ClusterQueue", &format!("c{number}"), spec)
}

fn cohort(d: &mut Draw, version: &str, name: &str, names: &Names) -> Value {
    let has_parent = name == "lab" && d.one_in(2);
    let mut spec = json!({});
    if has_parent {
        spec["parentName"] = json!("all");
    }
    if d.one_in(2) {
        spec["resourceGroups"] = resource_groups(d, names.flavors, (has_parent, has_parent));
    }
    if d.one_in(3) {
        spec["fairSharing"] = json!({"weight": "3"});
    }
    object(version, "Cohort", name, spec)
}

fn configuration(d: &mut Draw) -> Value {
    let is_old = d.one_in(3);
    let version = if is_old { "config.kueue.x-k8s.io/v1beta1" } else { "config.kueue.x-k8s.io/v1beta2" };
    let mut all = json!({"apiVersion": version, "kind": "Configuration"});
    if d.one_in(2) {
        let mut wait = json!({"timeout": d.pick(&["30s", "3m", "30m"])});
        if is_old {
            wait["enable"] = json!(!d.one_in(4));
        }
        if d.one_in(2) {
            wait["blockAdmission"] = json!(d.one_in(2));
        }
        if d.one_in(2) {
            wait["recoveryTimeout"] = json!(d.pick(&["0s", "20s", "10m"]));
        }
        if d.one_in(2) {
            wait["requeuingStrategy"] = json!({"timestamp": d.pick(&["Eviction", "Creation"]),
                "backoffLimitCount": d.pick(&[0, 2, 10]), "backoffBaseSeconds": d.pick(&[1, 60]),
                "backoffMaxSeconds": 120});
        }
        all["waitForPodsReady"] = wait;
    }
    if d.one_in(3) {
        let strategies = [
            json!(["LessThanOrEqualToFinalShare", "LessThanInitialShare"]),
            json!(["LessThanInitialShare"]),
            json!(["LessThanOrEqualToFinalShare"]),
        ];
        all["fairSharing"] = json!({"preemptionStrategies": d.pick(&strategies)});
        if is_old {
            all["fairSharing"]["enable"] = json!(!d.one_in(4));
        }
    }
    if d.one_in(5) {
        all["admissionFairSharing"] = json!({"usageHalfLifeTime": d.pick(&["10m", "168h", "0s"]),
            "usageSamplingInterval": d.pick(&["10s", "5m"]), "resourceWeights": {ACCELERATOR: 2.0}});
    }
    if d.one_in(3) {
        let strategy = d.pick(&["BlockUndeclared", "IgnoreUndeclared", "IgnoreUndeclared"]);
        all["resources"] = json!({ "quotaCheckStrategy": strategy });
        if d.one_in(3) {
            // Kueue refuses prefixes beside the other strategy.
            all["resources"] = json!({"quotaCheckStrategy": "BlockUndeclared", "excludeResourcePrefixes": ["cpu"]});
        }
        if is_old && let Some(resources) = all["resources"].as_object_mut() {
            resources.remove("quotaCheckStrategy");
        }
        if d.one_in(3) {
            let mut change = json!({"input": "cpu", "outputs": {ACCELERATOR: d.pick(&["1", "2"])},
                "strategy": d.pick(&["Retain", "Replace"])});
            if d.one_in(3) {
                change["multiplyBy"] = json!(ACCELERATOR);
            }
            all["resources"]["transformations"] = json!([change]);
        }
    }
    if d.one_in(12) {
        all["integrations"] = json!({"frameworks": d.pick(&[json!(["batch/job"]), json!(["jobset.x-k8s.io/jobset"])])});
    }
    if d.one_in(8) {
        all["manageJobsWithoutQueueName"] = json!(d.one_in(2));
    }
    all
}

/// Draws a Workload of another team, admitted or pending, before the JobSets.
fn existing_workload(d: &mut Draw, names: &Names, number: u32) -> Value {
    let (queue, count) = (d.below(names.queues), d.between(1, 3));
    let container = json!({"name": "m", "image": "x", "resources": {"requests": {ACCELERATOR: "2"}}});
    let pods = json!({"name": "w", "count": count, "template": {"spec": {"containers": [container]}}});
    let spec = json!({"queueName": format!("l{queue}"), "priority": d.pick(&[0, 0, 50]), "podSets": [pods]});
    let mut workload = object(d.pick(&[V1BETA2, V1BETA1]), "Workload", &format!("w{number}"), spec);
    workload["metadata"] = json!({"name": format!("w{number}"), "namespace": "default", "uid": format!("u{number}"),
        "creationTimestamp": format!("2026-08-22T00:00:0{number}Z")});
    if d.one_in(2) {
        let condition = |kind: &str| {
            json!({"type": kind, "status": "True", "reason": kind, "message": "m",
                "lastTransitionTime": "2026-08-22T00:01:00Z"})
        };
        let usage = json!({"name": "w", "count": count, "flavors": {ACCELERATOR: "f0"},
            "resourceUsage": {ACCELERATOR: (2 * count).to_string()}});
        workload["status"] = json!({"conditions": [condition("QuotaReserved"), condition("Admitted")],
            "admission": {"clusterQueue": format!("c{queue}"), "podSetAssignments": [usage]}});
    }
    workload
}

/// Sets the labels of Kueue, and the topology requests of the pods.
fn submit_to_queue(d: &mut Draw, names: &Names, object: &mut Value) {
    if !d.one_in(8) {
        let queue = if d.one_in(20) { "none".to_owned() } else { format!("l{}", d.below(names.queues)) };
        object["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = json!(queue);
    }
    if !names.classes.is_empty() && d.one_in(2) {
        object["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = json!(d.pick(&names.classes));
    }
    if d.one_in(12) {
        object["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = json!(d.pick(&["60", "600"]));
    }
    if d.one_in(40) {
        object["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = json!(d.pick(&["w1", "absent"]));
    }
    for rj in object["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
        if !names.levels.is_empty() && !d.one_in(3) {
            let replicas = rj["replicas"].as_u64().unwrap_or(1);
            topology_request(d, names, replicas, &mut rj["template"]["spec"]);
        }
    }
}

/// Name of the WorkloadPriorityClass that preempts all others.
const FIRST: &str = "first";

/// Gives the ClusterQueue `c0` this quota of accelerators and no cohort, and lets it preempt by priority. Returns false
/// if there are no such queues.
pub fn narrow(quota: u64, scenario: &mut Value, files: &mut [(String, Value)]) -> bool {
    let of_file = files.iter_mut().filter(|(name, _)| name == FILE);
    let of_file = of_file.flat_map(|(_, content)| content["items"].as_array_mut().into_iter().flatten());
    let all = of_file.chain(scenario["objects"].as_array_mut().into_iter().flatten());
    let (mut version, mut has_local) = (None, false);
    for object in all {
        let is_named = |kind: &str, name: &str| object["kind"] == kind && object["metadata"]["name"] == name;
        has_local |= is_named("LocalQueue", "l0");
        if !is_named("ClusterQueue", "c0") {
            continue;
        }
        version = Some(object["apiVersion"].clone());
        let spec = &mut object["spec"];
        for field in ["cohort", "cohortName", "flavorFungibility", "admissionChecks", "admissionChecksStrategy"] {
            spec.as_object_mut().map(|fields| fields.remove(field));
        }
        spec["preemption"] = json!({"withinClusterQueue": "LowerPriority"});
        let resources = [(ACCELERATOR, json!(quota)), ("cpu", json!(1000)), ("memory", json!("1Ti"))];
        let quotas: Vec<Value> =
            resources.iter().map(|(name, quota)| json!({"name": name, "nominalQuota": quota})).collect();
        spec["resourceGroups"] =
            json!([{"coveredResources": resources.map(|r| r.0), "flavors": [{"name": "f0", "resources": quotas}]}]);
    }
    let Some(version) = version.filter(|_| has_local) else { return false };
    let class =
        json!({"apiVersion": version, "kind": "WorkloadPriorityClass", "metadata": {"name": FIRST}, "value": 500});
    add_objects(scenario, vec![class]);
    true
}

/// Submits a JobSet to the queue that [`narrow`] has changed.
pub fn submit_to_narrow_queue(jobset: &mut Value, is_first: bool) {
    take_from_queue(jobset);
    jobset["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = json!("l0");
    if is_first {
        jobset["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = json!(FIRST);
    }
}

/// Removes the labels of Kueue.
pub fn take_from_queue(jobset: &mut Value) {
    if let Some(labels) = jobset["metadata"]["labels"].as_object_mut() {
        labels.retain(|key, _| !key.starts_with("kueue.x-k8s.io/"));
    }
}

fn topology_request(d: &mut Draw, names: &Names, replicas: u64, job: &mut Value) {
    let level = d.pick(&names.levels);
    let size = |key: &str| job[key].as_u64();
    let pods = size("parallelism").unwrap_or(1).min(size("completions").unwrap_or(u64::MAX));
    let annotations = &mut job["template"]["metadata"]["annotations"];
    // The webhook refuses slices that are larger than the pod set.
    let kind = d.below(if pods * replicas > 0 { 4 } else { 3 });
    let key = ["podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology"];
    if kind < 3 {
        let value = if kind == 2 { "true" } else { level };
        annotations[format!("kueue.x-k8s.io/{}", key[kind as usize])] = json!(value);
        return;
    }
    annotations["kueue.x-k8s.io/podset-slice-required-topology"] = json!(level);
    annotations["kueue.x-k8s.io/podset-slice-size"] = json!(d.pick(&[1, pods]).to_string());
}

/// Draws an action of a user on a JobSet that Kueue manages.
fn action(d: &mut Draw, names: &Names, jobsets: &[JobSet]) -> Value {
    let js = &jobsets[d.below(jobsets.len() as u32) as usize];
    let label = |key: &str, value: Value| {
        let merge = json!({"metadata": {"labels": {format!("kueue.x-k8s.io/{key}"): value}}});
        json!({"patch": {"kind": "JobSet", "name": js.name, "merge": merge}})
    };
    let mut action = match d.below(8) {
        0 | 1 => label("queue-name", json!(format!("l{}", d.below(names.queues + 1)))),
        2 => label("priority-class", json!(d.pick(&["mid", "top"]))),
        3 => label("max-exec-time-seconds", d.pick(&[json!("120"), json!(null)])),
        4 => json!({"suspendJobSet": {"name": js.name}}),
        5 => json!({"resumeJobSet": {"name": js.name}}),
        6 => json!({"deleteJobSet": {"name": js.name}}),
        _ => {
            // As in upstream's documentation: a suspended JobSet moves to another queue.
            let merge = json!({"spec": {"suspend": true},
                "metadata": {"labels": {"kueue.x-k8s.io/queue-name": format!("l{}", d.below(names.queues))}}});
            json!({"patch": {"kind": "JobSet", "name": js.name, "merge": merge}})
        }
    };
    action["at"] = json!(format!("{}s", d.pick(&[1, 5, 60, 120]) * d.between(1, 9)));
    action
}

/// Submits the JobSets at different times.
fn spread_submissions(d: &mut Draw, scenario: &mut Value) {
    for entry in scenario["jobSets"].as_array_mut().into_iter().flatten() {
        if d.one_in(2) {
            entry["submitAt"] = json!(format!("{}s", d.pick(&[0, 1, 30, 200]) * d.between(1, 3)));
        }
    }
}
