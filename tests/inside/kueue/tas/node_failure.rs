//! Responses to the state of a node, with the situations of upstream's `node_controller_test.go`.

use crate::tas::node_failure::{NodeFailureResponse, UnhealthyNodeChange, WorkloadOnNode, respond};
use crate::tas::{NodeConstraints, TasNode};
use sim_api::spec::{TaintEffect, TaintSpec, TolerationSpec};
use std::collections::BTreeMap;

#[derive(Copy, Clone)]
struct Case {
    is_ready: bool,
    taint: Option<TaintEffect>,
    /// Seconds of the toleration, 0 for unlimited, or no toleration.
    toleration: Option<i64>,
    is_assigned: bool,
    has_running_pod: bool,
    unhealthy: &'static [&'static str],
}

const CASE: Case =
    Case { is_ready: true, taint: None, toleration: None, is_assigned: true, has_running_pod: false, unhealthy: &[] };

fn response(case: Case) -> NodeFailureResponse {
    let taint = |effect| TaintSpec { key: "maintenance".to_owned(), value: String::new(), effect };
    let node =
        TasNode { is_ready: case.is_ready, taints: case.taint.into_iter().map(taint).collect(), ..TasNode::default() };
    decide(case, Some(&node))
}

fn decide(case: Case, node: Option<&TasNode>) -> NodeFailureResponse {
    let tolerations: Vec<TolerationSpec> = case.toleration.into_iter().map(tolerate).collect();
    let selector = BTreeMap::new();
    let pod_set = NodeConstraints { node_selector: &selector, node_affinity: None, tolerations: &tolerations };
    let unhealthy: Vec<String> = case.unhealthy.iter().map(|name| (*name).to_owned()).collect();
    let workload = WorkloadOnNode {
        is_assigned: case.is_assigned,
        pod_sets: &[pod_set],
        has_running_pod: case.has_running_pod,
        unhealthy_nodes: &unhealthy,
    };
    respond("x", node, &workload)
}

fn tolerate(seconds: i64) -> TolerationSpec {
    TolerationSpec {
        key: Some("maintenance".to_owned()),
        exists: true,
        value: String::new(),
        effect: None,
        toleration_seconds: (seconds > 0).then_some(seconds),
    }
}

fn answer(change: UnhealthyNodeChange, fails_pending_pods: bool) -> NodeFailureResponse {
    NodeFailureResponse { change, fails_pending_pods }
}

#[test]
fn a_node_without_running_pods_becomes_unhealthy() {
    let (none, add) = (UnhealthyNodeChange::None, UnhealthyNodeChange::Add);
    assert_eq!(response(CASE), answer(none.clone(), false), "a healthy node");
    assert_eq!(response(Case { is_ready: false, ..CASE }), answer(add.clone(), true), "not ready");
    assert_eq!(
        response(Case { is_ready: false, has_running_pod: true, ..CASE }),
        answer(none.clone(), true),
        "pods run"
    );
    for effect in [TaintEffect::NoSchedule, TaintEffect::NoExecute] {
        let tainted = Case { taint: Some(effect), ..CASE };
        assert_eq!(response(tainted), answer(add.clone(), true), "an untolerated taint");
        assert_eq!(response(Case { toleration: Some(5), ..tainted }), answer(add.clone(), true), "tolerated for 5 s");
        assert_eq!(response(Case { toleration: Some(0), ..tainted }), answer(none.clone(), false), "tolerated");
        assert_eq!(response(Case { has_running_pod: true, ..tainted }), answer(none.clone(), true), "pods run");
    }
    let soft = Case { taint: Some(TaintEffect::PreferNoSchedule), ..CASE };
    assert_eq!(response(soft), answer(none.clone(), false));
    let late = Case { is_assigned: false, ..CASE };
    assert_eq!(response(late), answer(none.clone(), true), "late pods of an assignment that has changed");
    assert_eq!(decide(Case { has_running_pod: true, ..CASE }, None), answer(add, false), "no node");
    assert_eq!(decide(late, None), answer(none, false));
}

#[test]
fn a_second_node_evicts_and_a_recovered_node_is_removed() {
    let known = Case { unhealthy: &["x"], ..CASE };
    assert_eq!(response(known), answer(UnhealthyNodeChange::Remove, false));
    assert_eq!(response(Case { is_ready: false, ..known }), answer(UnhealthyNodeChange::None, true));
    let message = "Workload eviction triggered due to multiple TAS assigned node failures, including: y, x".to_owned();
    let second = Case { is_ready: false, unhealthy: &["y"], ..CASE };
    assert_eq!(response(second), answer(UnhealthyNodeChange::Evict { message }, false));
}
