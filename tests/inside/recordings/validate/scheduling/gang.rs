//! Replays of steps with pod groups.

use super::super::*;
use serde_json::json;

/// Returns a recording of two nodes with four CPUs and the given steps, each with its result.
fn recording(steps: &[(Value, Value)]) -> Value {
    let node = |name: &str| {
        let allocatable = json!({"cpu": "4", "memory": "64Gi", "pods": "110"});
        json!({"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}})
    };
    let all = |at: fn(&(Value, Value)) -> &Value| steps.iter().map(|step| at(step).clone()).collect::<Vec<Value>>();
    json!({
        "schema": SCHEMA, "kind": "gang", "name": "g", "kubernetes": "1.36.3",
        "gates": ["GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"],
        "nodes": [node("a"), node("b")],
        "steps": all(|step| &step.0),
        "results": all(|step| &step.1),
    })
}

fn differences(steps: &[(Value, Value)]) -> Vec<String> {
    differences_of(&recording(steps))
}

fn differences_of(recording: &Value) -> Vec<String> {
    let file = read(&recording.to_string()).expect("a recording of scheduling decisions");
    let found = validate("g.json", &file).differences.expect("a compared recording");
    found.into_iter().map(|difference| difference.path).collect()
}

/// A group with pods of these CPUs.
fn group(min_count: Value, priority: &str, cpus: &[&str]) -> Value {
    let pod = |(k, cpu): (usize, &&str)| json!({"name": format!("g0-{k}"), "cpu": cpu, "priority": priority});
    json!({
        "group": {"name": "g0", "minCount": min_count, "topology": null, "priority": priority, "disruptionMode": null},
        "pods": cpus.iter().enumerate().map(pod).collect::<Vec<Value>>(),
    })
}

fn bound(nodes: Value) -> Value {
    let pods: serde_json::Map<String, Value> =
        nodes.as_object().into_iter().flatten().map(|(name, node)| (name.clone(), json!({"node": node}))).collect();
    let scheduled = json!([{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled", "message": ""}]);
    json!({"pods": pods, "groups": {"g0": scheduled}})
}

#[test]
fn pods_that_remain_of_a_scheduled_group_are_attempted_again_and_preempt_others() {
    let single = json!({"group": null, "pods": [{"name": "single-0", "cpu": "2", "priority": "low"}]});
    let placed = json!({"pods": {"single-0": {"node": "a"}}, "groups": {}});
    let basic = group(Value::Null, "high", &["2"; 4]);
    let all = bound(json!({"g0-0": "b", "g0-1": "b", "g0-2": "a", "g0-3": "a"}));
    assert_eq!(differences(&[(single.clone(), placed.clone()), (basic.clone(), all)]), [""; 0]);
    let three = bound(json!({"g0-0": "b", "g0-1": "b", "g0-2": "a", "g0-3": null, "single-0": "a"}));
    let found = differences(&[(single, placed), (basic, three)]);
    assert!(found.contains(&"1.pods".to_owned()), "{found:?}");
}

#[test]
fn the_order_of_the_pods_of_a_group_may_decide_whether_it_fits() {
    let gang = || group(json!(3), "high", &["1", "1", "4"]);
    let fits = bound(json!({"g0-0": "b", "g0-1": "b", "g0-2": "a"}));
    let message = "0/1 placements are available, first placement status: pod group is unschedulable, No preemption \
                   victims found for incoming preemptor";
    let refused = json!([{"type": "PodGroupScheduled", "status": "False", "reason": "Unschedulable",
        "message": message}]);
    let fails = json!({"pods": {"g0-0": {"node": null}, "g0-1": {"node": null}, "g0-2": {"node": null}},
        "groups": {"g0": refused}});
    assert_eq!(differences(&[(gang(), fits)]), [""; 0]);
    assert_eq!(differences(&[(gang(), fails.clone())]), [""; 0]);
    // Pods of equal size fit in every order.
    assert_eq!(differences(&[(group(json!(3), "high", &["2"; 3]), fails)]), ["0.g0.bound", "0.g0"]);
}

/// Returns a recording of nodes in racks (name, rack and CPUs), whose groups have the topology key `rack`.
fn recording_in_racks(nodes: &[(&str, &str, &str)], steps: &[(Value, Value)]) -> Value {
    let node = |(name, rack, cpu): &(&str, &str, &str)| {
        let allocatable = json!({"cpu": cpu, "memory": "64Gi", "pods": "110"});
        json!({"kind": "Node", "metadata": {"name": name, "labels": {"rack": rack}},
            "status": {"allocatable": allocatable}})
    };
    let mut recording = recording(steps);
    recording["nodes"] = nodes.iter().map(node).collect();
    for step in recording["steps"].as_array_mut().into_iter().flatten() {
        if step["group"].is_object() {
            step["group"]["topology"] = json!("rack");
        }
    }
    recording
}

#[test]
fn a_group_is_equal_only_in_the_domain_with_the_highest_score() {
    let single = json!({"group": null, "pods": [{"name": "single-0", "cpu": "4", "priority": null}]});
    let nodes = [("a", "r0", "8"), ("b", "r0", "8"), ("c", "r1", "8"), ("d", "r1", "8")];
    let found = |[first, second]: [&str; 2]| {
        let placed = json!({"pods": {"single-0": {"node": "c"}}, "groups": {}});
        let mut all = bound(json!({"g0-0": first, "g0-1": second}));
        all["pods"]["single-0"] = json!({"node": "c"});
        let steps = [(single.clone(), placed), (group(json!(2), "mid", &["2", "2"]), all)];
        differences_of(&recording_in_racks(&nodes, &steps))
    };
    // MostAllocated: the rack of the single pod is fuller.
    assert_eq!(found(["c", "d"]), [""; 0]);
    assert_eq!(found(["a", "b"]), ["1.g0.domain"]);
}

#[test]
fn the_first_cycle_of_a_group_that_exists_before_its_pods_takes_only_those_that_complete_it() {
    let nodes = [("a", "r0", "8"), ("b", "r0", "8"), ("c", "r1", "4")];
    let gang = |cpus: &[&str]| group(json!(1), "mid", cpus);
    let in_r0 = bound(json!({"g0-0": "a", "g0-1": "b"}));
    let in_r1 = bound(json!({"g0-0": "c", "g0-1": null}));
    let together = |result: &Value| differences_of(&recording_in_racks(&nodes, &[(gang(&["4", "4"]), result.clone())]));
    assert_eq!(together(&in_r0), [""; 0]);
    assert_ne!(together(&in_r1), [""; 0]);
    let none = json!({"pods": {}, "groups": {"g0": []}});
    let later = |result: &Value| {
        let steps = [(gang(&[]), none.clone()), (gang(&["4", "4"]), result.clone())];
        differences_of(&recording_in_racks(&nodes, &steps))
    };
    assert_eq!(later(&in_r1), [""; 0]);
    assert_ne!(later(&in_r0), [""; 0]);
}

#[test]
fn selectors_and_other_requests_of_the_pods_of_a_group_decide_where_it_fits() {
    let nodes = [("a", "r0", "4"), ("b", "r1", "4")];
    let found = |field: &str, value: Value, node: &str| {
        let mut step = group(json!(1), "mid", &["1"]);
        step["pods"][0][field] = value;
        let mut recording = recording_in_racks(&nodes, &[(step, bound(json!({"g0-0": node})))]);
        recording["nodes"][0]["status"]["allocatable"]["nvidia.com/gpu"] = json!("4");
        differences_of(&recording)
    };
    for (field, value) in [("nodeSelector", json!({"rack": "r0"})), ("requests", json!({"nvidia.com/gpu": "2"}))] {
        assert_eq!(found(field, value.clone(), "a"), [""; 0], "{field}");
        assert_eq!(found(field, value, "b")[0], "0.g0.domain", "{field}");
    }
}
