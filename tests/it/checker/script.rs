//! Invariants that hold under a script: objects that a user changes by hand may differ from what was submitted.

use sim_api::spec::{
    FaultAction, GateChanges, ObjectKind, RequestVerb, ScenarioSpec, ScriptedFault, SubmittedJobSet, UserRequest,
};
use sim_base::NodeId;
use std::collections::BTreeMap;

pub type Labels = BTreeMap<String, String>;

/// Kinds of objects that the script changes or deletes as a user, so that they may differ from the submitted ones.
#[derive(Clone, Copy, Default)]
pub struct ByHand {
    pub anything: bool,
    pub job_specs: bool,
    pub jobset_status: bool,
    pub jobset_specs: bool,
    /// REC-6: while the gate RestartJob is off, the restart counts of single Jobs are discarded.
    pub gates: bool,
    /// A JobSet is deleted, by the script or by its TTL: the garbage collector deletes a Job whose pods it does not
    /// know in the background.
    pub jobset_deletions: bool,
    /// The priority of a pod depends on the PriorityClasses at the time of its creation.
    pub priorities: bool,
}

/// Returns the labels of the topology's nodes, without the nodes that the script changes.
pub fn labels(scenario: &ScenarioSpec) -> BTreeMap<String, Labels> {
    let resources: Vec<String> = vec!["pods".to_owned()];
    let cluster = sim_policy::topology::ClusterBuilder::build(&scenario.topology, &resources);
    let pools = scenario.topology.pools.iter();
    let mut keys: Vec<String> = pools.flat_map(|p| p.labels.keys().cloned()).collect();
    keys.push("kubernetes.io/hostname".to_owned());
    let own = |node: usize| {
        let value = |key: &String| Some((key.clone(), cluster.label(NodeId(node as u32), key)?));
        keys.iter().filter_map(value).collect()
    };
    let all = cluster.names.iter().enumerate();
    let mut labels: BTreeMap<String, Labels> = all.map(|(node, name)| (name.clone(), own(node))).collect();
    for request in requests(scenario) {
        if request.object.kind == ObjectKind::Node && !matches!(request.verb, RequestVerb::Show { .. }) {
            labels.remove(&request.object.name);
        }
    }
    labels
}

fn requests(scenario: &ScenarioSpec) -> impl Iterator<Item = &UserRequest> {
    scenario.faults.iter().filter_map(|f| match &f.action {
        FaultAction::Request(request) => Some(request),
        _ => None,
    })
}

pub fn by_hand(scenario: &ScenarioSpec) -> ByHand {
    let gates = |f: &ScriptedFault| match &f.action {
        FaultAction::StopManager(stop) => stop.gates != GateChanges::default(),
        _ => false,
    };
    let deletes = |f: &ScriptedFault| matches!(f.action, FaultAction::DeleteJobSet(_));
    let expires = |s: &SubmittedJobSet| s.jobset.spec.ttl_seconds_after_finished.is_some();
    let expiring = |object: &serde_json::Value| !object["spec"]["ttlSecondsAfterFinished"].is_null();
    let expires = scenario.jobsets.iter().any(expires) || scenario.objects.iter().any(expiring);
    let mut result = ByHand {
        gates: scenario.faults.iter().any(gates),
        jobset_deletions: scenario.faults.iter().any(deletes) || expires,
        ..ByHand::default()
    };
    for UserRequest { object, verb } in requests(scenario) {
        result.anything |= !matches!(verb, RequestVerb::Show { .. });
        result.priorities |= object.kind == ObjectKind::PriorityClass;
        let RequestVerb::Patch { status, .. } = verb else {
            continue;
        };
        match object.kind {
            ObjectKind::Job => result.job_specs = true,
            ObjectKind::JobSet if *status => result.jobset_status = true,
            ObjectKind::JobSet => result.jobset_specs = true,
            _ => {}
        }
    }
    result
}

/// Returns the largest number of active pods that a patch of the script gives to any Job.
pub fn scaled_to(scenario: &ScenarioSpec) -> u32 {
    let bodies = requests(scenario).filter_map(|request| match &request.verb {
        RequestVerb::Patch { body, .. } => Some(body),
        _ => None,
    });
    let rjs = bodies.flat_map(|b| b["spec"]["replicatedJobs"].as_array().into_iter().flatten());
    let sizes = rjs.filter_map(|r| r["template"]["spec"]["parallelism"].as_u64());
    sizes.max().map_or(0, |n| n as u32)
}
