//! Unit tests of `sim_recordings::validate::steps`.

use super::super::read::{read, tests::shared};
use super::*;

fn node_steps(name: &str) -> Option<Vec<String>> {
    let files = shared("nodes");
    let (file, text) = files.iter().find(|(f, _)| f.ends_with(name))?;
    let steps = recorded_steps(&read(file, text).ok()?);
    let nodes = steps.iter().filter(|s| matches!(s.object, StepObject::Node(_)));
    Some(nodes.map(|s| format!("{:.1} {s}", s.at_s)).collect())
}

#[test]
fn node_states_become_steps_of_the_alias() {
    let Some(steps) = node_steps("n-partition-60.json") else {
        return;
    };
    assert_eq!(
        steps,
        [
            "47.1 node a Ready=Unknown",
            "47.2 node a tainted node.kubernetes.io/unreachable:NoExecute",
            "65.0 node a Ready=True",
            "67.3 node a untainted node.kubernetes.io/unreachable:NoExecute",
        ]
    );
}

#[test]
fn taints_rewritten_on_a_dead_node_are_not_steps() {
    let Some(steps) = node_steps("n-crash-out-of-service.json") else {
        return;
    };
    assert_eq!(
        steps,
        [
            "49.3 node a Ready=Unknown",
            "49.4 node a tainted node.kubernetes.io/unreachable:NoExecute",
            "95.0 node a tainted node.kubernetes.io/out-of-service:NoExecute",
        ]
    );
}
