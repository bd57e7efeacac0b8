//! Generates the environment of the JobSets: cluster, rates, delays, container behavior.

use super::draw::{Draw, set};
use super::jobset::{JobSet, RACK};
use serde_json::{Value, json};

const ACCELERATOR: &str = "example.com/accelerator";

pub struct Cluster {
    pub topology: Value,
    pub nodes: Vec<String>,
}

impl Cluster {
    /// Draws a cluster. With `room`, its capacity suffices even if six nodes and racks are lost.
    pub fn draw(d: &mut Draw, jobsets: &[JobSet], room: bool) -> Cluster {
        let widest = jobsets.iter().flat_map(|j| &j.jobs);
        let widest = widest.map(|j| j.pods).max().unwrap_or(1);
        let exclusive_jobs: u32 =
            jobsets.iter().filter(|j| j.exclusive).flat_map(|j| &j.jobs).map(|j| j.replicas).sum();
        let pods: u32 = jobsets.iter().map(JobSet::pods).sum();
        let (rack, mut racks) =
            if room { (widest + 7, exclusive_jobs + 7) } else { (d.between(1, 8), d.between(1, 8)) };
        if room {
            racks += pods.div_ceil(rack);
        }
        let zone = d.pick(&["zone-a", "zone-{pool}"]);
        let mut pool = json!({"name": "node-{node:03}", "count": racks, "nodesPerIsland": rack,
            "accelerator": ACCELERATOR, "allocatable": {"cpu": 8, ACCELERATOR: 4}, "pricePerNodeHour": 3.2,
            "labels": {"topology.kubernetes.io/zone": zone, RACK: "rack-{pool}"},
            "features": ["RestartAllContainersOnContainerExits"]});
        if d.one_in(4) {
            pool["islandKind"] = json!(d.pick(&["None", "Ici", "NvLink"]));
        }
        if d.rare(4) && racks > 1 {
            pool["islands"] = json!(1);
        }
        let mut topology = json!({"apiVersion": "jobset-sim/v1alpha1", "kind": "Topology",
            "metadata": {"name": "drawn"}, "pools": [pool]});
        let mut nodes: Vec<String> = (0..rack * racks).map(|n| format!("node-{n:03}")).collect();
        if d.rare(3) {
            add_minor_parts(d, &mut topology, &mut nodes);
        }
        Cluster { topology, nodes }
    }
}

/// Adds a second pool, with taints or without the feature, and fields that only reports use.
fn add_minor_parts(d: &mut Draw, topology: &mut Value, nodes: &mut Vec<String>) {
    let count = d.between(1, 4);
    let mut pool = json!({"name": "other-{node:03}", "nodesPerIsland": count,
        "labels": {"topology.kubernetes.io/zone": "zone-b", RACK: "rack-other"},
        "allocatable": {"cpu": d.pick(&["500m", "16"]), ACCELERATOR: d.pick(&[0, 2, 8]), "pods": d.pick(&[1, 110])},
        "pricePerAcceleratorHour": 1.25});
    if d.one_in(2) {
        let effect = d.pick(&["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        pool["taints"] = json!([{"key": "example.com/broken", "value": "v", "effect": effect}]);
    }
    if let Some(pools) = topology["pools"].as_array_mut() {
        pools.push(pool);
    }
    nodes.extend((0..count).map(|n| format!("other-{n:03}")));
    set(topology, "metadata.description", "two pools");
    topology["pools"][0]["labels"]["cloud.google.com/gke-tpu-partition-4x4x4-id"] = json!("cube-{pool}");
    topology["slices"] = json!([{"name": "slice-a", "shape": "4x4x4", "cubes": ["cube-0"]}]);
    topology["currency"] = json!("EUR");
    topology["extendedResourceToleration"] = json!(true);
    topology["dcnLevels"] = json!([{"name": "rack", "label": RACK, "gbitsPerSecond": 100}]);
}

/// Draws a process of random faults with a few faults per hour.
pub fn process(d: &mut Draw) -> Value {
    let on = d.pick(&[json!("Node"), json!("Pod"), json!({"label": RACK})]);
    let pods = on == "Pod";
    let mut process = json!({"cause": d.pick(&["host", "software"]), "on": on, "times": d.pick(&[0.5, 2.0])});
    match d.below(3) {
        0 => process["mtbf"] = json!(d.pick(&["10m", "5h"])),
        1 => process["perMinute"] = json!(0.01),
        _ => process["per1000NodeDays"] = json!(8000),
    }
    match d.below(3) {
        0 => process["distribution"] = json!({"weibull": {"shape": d.pick(&[0.7, 2.0])}}),
        1 => process["distribution"] = json!({"logNormal": {"sigma": 1}}),
        _ => {}
    }
    if pods {
        process["does"] = json!("Exit");
        process["exitCode"] = json!(d.pick(&[1, 137]));
    } else {
        let does = d.pick(&["Crash", "Partition", "Drain"]);
        process["does"] = json!(does);
        if does != "Drain" {
            process["asNew"] = json!(d.one_in(2));
            if d.one_in(4) {
                process["deletedAfter"] = json!(d.pick(&["0s", "10m"]));
            }
        }
        let back =
            [json!("5m"), json!({"exponential": {"mean": "20m"}}), json!({"logNormal": {"median": "1h", "sigma": 1}})];
        process["backAfter"] = d.pick(&back);
    }
    process
}

/// Draws a Node as a user would write it, with the properties of the pool's nodes.
pub fn node(d: &mut Draw, name: &str) -> Value {
    let mut node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
        "labels": {"topology.kubernetes.io/zone": "zone-a", RACK: format!("rack-{}", d.below(3))}},
        "status": {"allocatable": {"cpu": "8", ACCELERATOR: d.pick(&["4", "4", "0"])}}});
    if d.one_in(3) {
        let effect = d.pick(&["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        set(&mut node, "spec.taints", json!([{"key": "example.com/broken", "value": "v", "effect": effect}]));
    }
    if d.one_in(4) {
        set(&mut node, "spec.unschedulable", d.one_in(2));
    }
    if d.one_in(2) {
        node["status"]["declaredFeatures"] = json!(["RestartAllContainersOnContainerExits"]);
        node["status"]["conditions"] = json!([{"type": "Ready", "status": "True"},
            {"type": "DiskPressure", "status": d.pick(&["False", "Unknown"])}]);
    }
    if d.one_in(6) {
        let capacity = node["status"]["allocatable"].take();
        node["status"] = json!({"capacity": capacity});
    }
    node
}

pub fn control_plane(d: &mut Draw) -> Value {
    let preset = d.pick(&["stock", "scale-test", "kops"]);
    let version = d.pick(&["1.36", "1.36", "1.31", "1.30"]);
    let old = d.pick(&["1.24", "1.28", "1.36", "1.33"]);
    let version = if d.rare(6) { old } else { version };
    let mut plane = json!({"preset": preset, "kubernetes": version});
    if d.one_in(4) {
        let (qps, burst) = (d.pick(&[1, 5, 5000]), d.pick(&[1, 10]));
        plane["kubeControllerManager"] = json!({"qps": qps, "burst": burst,
            "concurrentJobSyncs": d.between(1, 6), "concurrentGcSyncs": d.between(1, 6)});
    }
    for client in ["kubeScheduler", "jobsetManager"] {
        if d.rare(6) {
            plane[client] = json!({"qps": d.pick(&[0.5, 3.0, 1e6]), "burst": d.pick(&[1, 20])});
        }
    }
    if let Some(scheduler) = plane.get_mut("kubeScheduler") {
        // Without a draw of its own, so that the other draws of a seed stay as they are.
        scheduler["ties"] = json!(if scheduler["burst"] == 1 { "InOrder" } else { "Draw" });
    }
    if d.one_in(8) {
        plane["nodeRequestsPerSecond"] = json!(d.between(2, 50));
        plane["apiServerConcurrency"] = json!(d.between(1, 20));
    }
    if d.rare(6) {
        plane["nodeMonitorGracePeriodSeconds"] = json!(d.pick(&[1, 10, 3600]));
    }
    if d.rare(6) {
        plane["heartbeatSeconds"] = json!(d.pick(&[1, 60, 3600]));
    }
    if d.rare(6) {
        plane["jobset"] = json!(d.pick(&["0.12", "0.13"]));
    }
    if plane["jobset"] != "0.12" && d.rare(3) {
        plane["jobsetManager"]["mayWritePodStatus"] = json!(!d.one_in(6));
    }
    if d.rare(2) {
        plane["featureGates"]["ElasticJobSet"] = json!(!d.one_in(4));
    }
    if d.rare(6) {
        plane["featureGates"]["InPlaceRestart"] = json!(true);
        plane["featureGates"]["RestartJob"] = json!(true);
    }
    plane
}

/// Draws delays: usually those of the profile, sometimes none at all so that everything happens at once, sometimes
/// long ones.
pub fn timing(d: &mut Draw) -> Value {
    match d.between(0, 5) {
        0 => json!({"apiRead": "0s", "apiWrite": "0s", "apiPodCreate": "0s", "watchLag": "0s"}),
        1 => {
            json!({"apiRead": "5ms", "apiWrite": "5ms", "apiPodCreate": "5ms", "watchLag": "5ms", "volumes": "0s",
            "sandbox": "0s", "containerStart": "1s", "statusWrite": "0s", "containerStop": "1s", "cleanup": "0s",
            "agentFanout": "5ms", "agentBoot": "0s"})
        }
        2 => json!({"watchLag": {"uniform": ["0s", "2s"]}, "apiWrite": {"uniform": ["0s", "3s"]},
            "cleanup": {"uniform": ["0s", "20s"]}, "containerStop": "25s", "sandbox": {"uniform": ["0s", "30s"]},
            "agentFanout": {"uniform": ["0s", "20s"]}}),
        3 if d.wild => extreme_timing(d),
        4 if d.rare(2) => scripted(d),
        _ => json!({}),
    }
}

/// Draws extreme delays, from zero to far above realistic values.
fn extreme_timing(d: &mut Draw) -> Value {
    let mut timing = json!({});
    for id in [
        "apiRead", "apiWrite", "apiPodCreate", "watchLag", "agentFanout", "volumes", "sandbox", "containerStart",
        "imageCheck", "statusWrite", "containerStop", "cleanup", "containerRemove", "agentBoot",
    ] {
        if d.one_in(4) {
            timing[id] = match d.below(6) {
                0 => json!("0s"),
                1 => json!("1ns"),
                2 => json!({"exponential": {"mean": "2s"}}),
                3 => json!({"logNormal": {"median": 1, "sigma": 2}}),
                4 => json!({"logNormal": {"p50": "1s", "p95": "1m"}}),
                _ => json!(d.pick(&["45s", "2m", "1h"])),
            };
        }
    }
    for (id, values) in [
        ("plegPeriod", ["1ms", "1s", "1m"]),
        ("jobSyncBatchPeriod", ["1ms", "1s", "10s"]),
        ("unmountPoll", ["0s", "300ms", "1m"]),
        ("minimumGrace", ["0s", "2s", "1m"]),
        ("schedulerFixed", ["0s", "1ms", "10s"]),
        ("schedulerPerNode", ["0s", "1us", "100ms"]),
        ("schedulerPerFeasibleNode", ["0s", "1us", "100ms"]),
        ("schedulerAffinityPerNode", ["0s", "1us", "100ms"]),
        ("jobsetListPerPod", ["0s", "1ms", "1s"]),
    ] {
        if d.one_in(4) {
            timing[id] = json!(d.pick(&values));
        }
    }
    timing
}

/// Draws a scripted kubelet with fixed times, as in recordings.
fn scripted(d: &mut Draw) -> Value {
    let mut times = json!({"start": d.pick(&["0s", "1s"]), "stop": d.pick(&["0s", "1s", "1m"]),
        "stopExitCode": d.pick(&[0, 143, 1])});
    if d.one_in(2) {
        times["restart"] = json!(d.pick(&["0s", "1s"]));
    }
    let mut timing = json!({"watchLag": "5ms"});
    set(&mut timing, "kubelet.scripted", times);
    timing
}

/// Draws container rules. Returns them, and whether a rule makes containers fail.
pub fn containers(d: &mut Draw, jobsets: &[JobSet]) -> (Vec<Value>, bool) {
    if d.one_in(3) {
        return (Vec::new(), false);
    }
    let mut rules = Vec::new();
    let mut fails = false;
    for _ in 0..d.between(1, if d.wild { 4 } else { 2 }) {
        let code = d.pick(&[0, 0, 0, 1, 3]);
        let js = &jobsets[d.below(jobsets.len() as u32) as usize];
        let job = &js.jobs[d.below(js.jobs.len() as u32) as usize];
        let run = format!("{}s", d.between(1, 1200));
        let extreme = d.pick(&["0s", "1ns", "100ms", "1d"]).to_owned();
        let run = if d.rare(4) { extreme } else { run };
        let mut rule = json!({"runFor": run, "exitCode": code, "jobSet": js.name});
        fails |= code != 0;
        if d.one_in(2) {
            rule["replicatedJob"] = json!(job.name);
            if d.one_in(2) && job.replicas > 0 {
                rule["jobIndex"] = json!(d.below(job.replicas));
            }
            let indexes = job.indexes.unwrap_or(0);
            if d.one_in(2) && indexes > 0 {
                rule["podIndex"] = json!(d.below(indexes));
            }
        }
        if d.one_in(3) {
            rule["restartAttempt"] = json!(d.between(0, 1));
        }
        if d.wild {
            unusual_rule(d, js, &mut rule);
        }
        rules.push(rule);
    }
    rules.push(json!({"runFor": "20m"}));
    (rules, fails)
}

/// Collects the names of containers in a value.
fn container_names(value: &Value, result: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        if key.ends_with("ontainers") {
            let names = value.as_array().into_iter().flatten();
            result.extend(names.filter_map(|c| Some(c["name"].as_str()?.to_owned())));
        }
        container_names(value, result);
    }
    for item in value.as_array().into_iter().flatten() {
        container_names(item, result);
    }
}

fn unusual_rule(d: &mut Draw, js: &JobSet, rule: &mut Value) {
    for key in ["jobRestart", "jobTry", "inPlaceAttempt", "containerRun"] {
        if d.one_in(8) {
            rule[key] = json!(d.below(3));
        }
    }
    if d.one_in(6) {
        let template = match rule["replicatedJob"].as_str() {
            Some(name) => {
                let rjs = js.object["spec"]["replicatedJobs"].as_array();
                rjs.into_iter().flatten().find(|rj| rj["name"] == name)
            }
            None => Some(&js.object),
        };
        let mut names = Vec::new();
        container_names(template.unwrap_or(&js.object), &mut names);
        rule["container"] = json!(d.pick(&names));
    }
    if d.one_in(8) {
        rule["podFails"] = json!(true);
    }
    let probed =
        js.object.to_string().contains("Probe") && rule["container"].is_null() && rule["replicatedJob"].is_null();
    let ready_after = if probed { 4 } else { u32::MAX };
    for (key, one_in) in [("atBarrierFor", 8), ("startAfter", 6), ("stopAfter", 6), ("readyAfter", ready_after)] {
        if d.one_in(one_in) {
            rule[key] = json!(d.pick(&["0s", "1s", "90s"]));
        }
    }
}
