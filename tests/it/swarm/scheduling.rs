//! Adds to JobSets what kube-scheduler decides on: PriorityClasses and preemption, host ports, terms about other pods,
//! nodes, tolerations, and the profile. It is drawn from separate numbers.

use super::draw::Draw;
use super::job;
use super::jobset::RACK;
use super::kueue;
use super::objects::{SECOND_PROFILE, add_objects};
use serde_json::{Value, json};

/// Names and values of the PriorityClasses.
const CLASSES: [(&str, i32); 2] = [("batch", -10), ("urgent", 1000)];

pub fn enrich(seed: u64, scenario: &mut Value, files: &mut [(String, Value)]) {
    let d = &mut Draw::new(seed ^ 0x7363_6865_6475);
    d.wild = true;
    let has_classes = !d.one_in(3);
    if has_classes {
        add_objects(scenario, CLASSES.iter().map(priority_class).collect());
    }
    // Urgent pods that arrive when the nodes are full preempt others.
    let is_late = has_classes && d.one_in(2);
    if let Some(last) = scenario["jobSets"].as_array_mut().and_then(|all| all.last_mut()).filter(|_| is_late) {
        last["submitAt"] = json!("40s");
    }
    let has_profile = scenario["objects"].to_string().contains(SECOND_PROFILE);
    let count = files.iter().filter(|(_, content)| content["kind"] == "JobSet").count();
    for (i, (_, content)) in files.iter_mut().filter(|(_, content)| content["kind"] == "JobSet").enumerate() {
        for rj in content["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
            let Some(pod) = rj.pointer_mut("/template/spec/template/spec") else { continue };
            restrict(d, pod);
            if is_late || has_classes && d.one_in(2) {
                let class = if is_late { CLASSES[usize::from(i + 1 == count)] } else { d.pick(&CLASSES) };
                pod["priorityClassName"] = json!(class.0);
                if let Some(fields) = pod.as_object_mut() {
                    fields.remove("priority");
                }
            }
            if has_profile && d.one_in(2) {
                pod["schedulerName"] = json!(SECOND_PROFILE);
            }
        }
    }
}

/// Lets the JobSets of some seeds compete for one rack or for the quota of one ClusterQueue, which suffices for one of
/// them at a time. The last JobSet has the highest priority and preempts the others.
pub fn contend(seed: u64, scenario: &mut Value, files: &mut [(String, Value)]) {
    let d = &mut Draw::new(seed ^ 0x63_6f6e_7465_6e64);
    let by_quota = d.one_in(2);
    let jobsets = || files.iter().filter(|(_, content)| content["kind"] == "JobSet").map(|(_, content)| content);
    let (count, demand) = (jobsets().count(), jobsets().map(accelerators).max().unwrap_or(0));
    if d.one_in(4) || count < 2 {
        return;
    }
    // The links of the busy rack are not known.
    if !by_quota && scenario["training"].to_string().contains("communication") {
        return;
    }
    if by_quota && !kueue::narrow(demand, scenario, files) {
        return;
    }
    let times = [json!("0s"), json!(d.pick(&["20s", "60s"]))];
    for (at, entry) in scenario["jobSets"].as_array_mut().into_iter().flatten().enumerate() {
        entry["submitAt"] = times[usize::from(at + 1 == count)].clone();
    }
    let all = files.iter_mut().filter(|(_, content)| content["kind"] == "JobSet").map(|(_, content)| content);
    for (at, jobset) in all.enumerate() {
        let is_last = at + 1 == count;
        if by_quota {
            kueue::submit_to_narrow_queue(jobset, is_last);
            continue;
        }
        kueue::take_from_queue(jobset);
        for rj in jobset["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
            let Some(pod) = rj.pointer_mut("/template/spec/template/spec") else { continue };
            pod["nodeSelector"] = json!({RACK: BUSY});
            pod["priorityClassName"] = json!(if is_last { CLASSES[1].0 } else { CALM });
            if let Some(fields) = pod.as_object_mut() {
                fields.remove("priority");
            }
        }
    }
    if !by_quota {
        add_busy_rack(demand, scenario);
        let known = scenario["objects"].to_string();
        let classes = [(CALM, 0), CLASSES[1]].into_iter().filter(|(name, _)| !known.contains(&format!("\"{name}\"")));
        add_objects(scenario, classes.map(|class| priority_class(&class)).collect());
    }
}

/// Label of the rack for which JobSets compete.
const BUSY: &str = "rack-busy";

/// Adds a rack with this number of accelerators.
fn add_busy_rack(accelerators: u64, scenario: &mut Value) {
    let Some(pools) = scenario["topology"]["pools"].as_array_mut() else { return };
    let Some(mut pool) = pools.first().cloned() else { return };
    pool["name"] = json!("busy-{node:03}");
    pool["labels"][RACK] = json!(BUSY);
    pool["count"] = json!(1);
    pool["nodesPerIsland"] = json!(accelerators.div_ceil(4).max(1));
    // These depend on the number of nodes.
    for field in ["islands", "islandKind", "interconnect"] {
        pool.as_object_mut().map(|fields| fields.remove(field));
    }
    pools.push(pool);
}

/// Name of the PriorityClass of pods that urgent ones preempt.
const CALM: &str = "calm";

fn priority_class((name, value): &(&str, i32)) -> Value {
    json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
}

/// Returns the number of accelerators that a JobSet requests.
fn accelerators(jobset: &Value) -> u64 {
    let of_job = |rj: &Value| {
        let job = &rj["template"]["spec"];
        let size = |key: &str| job[key].as_u64();
        let pods = size("parallelism").unwrap_or(1).min(size("completions").unwrap_or(u64::MAX));
        let containers = job["template"]["spec"]["containers"].as_array().into_iter().flatten();
        let each: u64 = containers.filter_map(|c| c["resources"]["limits"][kueue::ACCELERATOR].as_u64()).sum();
        rj["replicas"].as_u64().unwrap_or(1) * pods * each
    };
    jobset["spec"]["replicatedJobs"].as_array().into_iter().flatten().map(of_job).sum()
}

fn restrict(d: &mut Draw, pod: &mut Value) {
    if d.one_in(5) && pod.get("hostNetwork").is_none() {
        let port = d.pick(&[8080, 8080, 8081]);
        pod["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": port}]);
    }
    let has_terms = pod.get("affinity").is_some() || pod.get("topologySpreadConstraints").is_some();
    if d.one_in(5) && !has_terms {
        job::terms(d, pod);
    }
    if d.one_in(10) {
        pod["nodeSelector"] = json!({RACK: d.pick(&["rack-0", "rack-1"])});
    }
    if d.one_in(8) {
        pod["tolerations"] = json!([job::toleration(d)]);
    }
}
