//! Adds to JobSets what kube-scheduler decides on: PriorityClasses and preemption, host ports, terms about other pods,
//! nodes, tolerations, and the profile. It is drawn from separate numbers.

use super::draw::Draw;
use super::job;
use super::jobset::RACK;
use super::objects::{SECOND_PROFILE, add_objects};
use serde_json::{Value, json};

/// Names and values of the PriorityClasses.
const CLASSES: [(&str, i32); 2] = [("batch", -10), ("urgent", 1000)];

pub fn enrich(seed: u64, scenario: &mut Value, files: &mut [(String, Value)]) {
    let d = &mut Draw::new(seed ^ 0x7363_6865_6475);
    d.wild = true;
    let has_classes = !d.one_in(3);
    if has_classes {
        let class = |(name, value): &(&str, i32)| {
            json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                "value": value})
        };
        add_objects(scenario, CLASSES.iter().map(class).collect());
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
