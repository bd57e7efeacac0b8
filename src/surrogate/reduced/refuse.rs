//! Checks for features that the reduced model does not support. Scenarios that use them are rejected with the names
//! of the features.

use super::slots::SlotTable;
use sim_api::spec::{
    AcceleratorPrice, FailurePolicyAction, LossSpec, MachineBilling, NodePool, RandomAction, RandomFaults,
    RestartStrategy, ScenarioSpec, SchedulerTies, StartupPolicyOrder, StopWhen,
};
use sim_base::Duration;
use sim_reliability::faults::FaultModel;

/// Returns all reasons why the reduced model does not support a scenario; empty if it can be measured.
pub fn why_not(scenario: &ScenarioSpec) -> Vec<String> {
    let mut all = Vec::new();
    let mut refuse = |is: bool, why: &str| {
        if is {
            all.push(why.to_owned());
        }
    };
    let [submitted] = scenario.jobsets.as_slice() else {
        return vec![if scenario.jobsets.is_empty() {
            "no JobSet".to_owned()
        } else {
            "several JobSets, because they compete for nodes and for the control plane".to_owned()
        }];
    };
    let (jobset, spec) = (&submitted.jobset, &submitted.jobset.spec);
    refuse(scenario.training.len() != 1, "a JobSet without a training job, because it has no goodput");
    refuse(!scenario.faults.is_empty(), "scripted faults and requests (faults)");
    refuse(!scenario.objects.is_empty(), "other objects in the cluster (objects)");
    refuse(!scenario.containers.is_empty(), "rules for the run time of containers (containers)");
    refuse(spec.replicated_jobs.len() != 1, "several replicatedJobs");
    refuse(spec.startup_order == StartupPolicyOrder::InOrder, "startupPolicy InOrder");
    refuse(spec.suspend || jobset.kueue_queue().is_some(), "a suspended or queued JobSet");
    refuse(spec.ttl_seconds_after_finished.is_some(), "ttlSecondsAfterFinished");
    refuse(spec.managed_by.is_some(), "managedBy");
    refuse(scenario.stop.when == StopWhen::Settled, "stop.when Settled");
    refuse(
        scenario.fault_processes.is_empty(),
        "a scenario without random faults, because one run at pod level suffices",
    );
    let rules = spec.failure_policy.iter().flat_map(|p| &p.rules);
    use FailurePolicyAction::{RestartJob, RestartJobAndIgnoreMaxRestarts};
    let single = |a: FailurePolicyAction| matches!(a, RestartJob | RestartJobAndIgnoreMaxRestarts);
    refuse(rules.clone().any(|rule| single(rule.action)), "restarts of single Jobs (RestartJob)");
    refuse_training(scenario, &mut refuse);
    refuse_faults(scenario, &mut refuse);
    if all.is_empty() {
        refuse_places(scenario, &mut all);
    }
    if all.is_empty() {
        refuse_partial_domains(scenario, &mut all);
    }
    all
}

/// Adds a reason per fault process that takes only a part of a domain of exclusive placement.
fn refuse_partial_domains(scenario: &ScenarioSpec, all: &mut Vec<String>) {
    let (slots, faults) = (SlotTable::new(scenario), FaultModel::new(scenario));
    if slots.width() == 1 {
        return;
    }
    for (i, process) in scenario.fault_processes.iter().enumerate() {
        let is_partial = |entity: usize| {
            let mut taken: Vec<usize> = faults.entity_nodes(i, entity).iter().map(|node| slots.of[node.ix()]).collect();
            taken.sort_unstable();
            taken.chunk_by(|a, b| a == b).any(|nodes| nodes.len() < slots.nodes[nodes[0]].len())
        };
        if (0..faults.entity_count(i)).any(is_partial) {
            all.push(format!(
                "faults {:?} of a part of a domain with exclusive placement, because the scheduler may choose a domain \
                 with a failed node (use takesAlong)",
                process.cause
            ));
        }
    }
}

fn refuse_training(scenario: &ScenarioSpec, refuse: &mut dyn FnMut(bool, &str)) {
    let Some(training) = scenario.training.first() else {
        return;
    };
    let local = training.checkpoints().iter().any(|kind| kind.survives < LossSpec::All);
    refuse(local, "checkpoints stored on hosts (training.checkpoints with survives)");
    refuse(training.rendezvous_timeout.is_some(), "training.rendezvousTimeout");
    refuse(training.elastic.is_some(), "elastic jobs (training.elastic)");
    refuse(training.communication.is_some(), "step times that depend on the placement (training.communication)");
}

fn refuse_faults(scenario: &ScenarioSpec, refuse: &mut dyn FnMut(bool, &str)) {
    for process in &scenario.fault_processes {
        let ages = format!("faults {:?}: aging with use (ages)", process.cause);
        refuse(!process.is_calendar_based(), &ages);
        let what = match process.action {
            RandomAction::Hang { .. } => "Hang",
            RandomAction::Slow(_) => "Slow",
            RandomAction::Degrade { .. } => "Degrade",
            RandomAction::Corrupt { .. } => "Corrupt",
            RandomAction::Reclaim => "Reclaim",
            _ => continue,
        };
        let cause = &process.cause;
        refuse(true, &format!("faults {cause:?} (does {what})"));
    }
    let in_place = (scenario.jobsets.iter()).any(|js| js.jobset.restarts_in_place());
    let takes_nodes = |p: &RandomFaults| !matches!(p.action, RandomAction::Exit(_));
    refuse(
        in_place && scenario.fault_processes.iter().any(takes_nodes),
        "InPlaceRestart with faults of nodes, because pods that wait for a lost pod may be lost as well",
    );
    let spares = scenario.node_spares.as_ref();
    refuse(spares.is_some_and(|s| s.hand_back), "nodeSpares.handBack");
    refuse(scenario.slice_formation.is_some(), "slices that are formed again (sliceFormation)");
}

/// Adds reasons about placement: features that affect which nodes the pods use.
fn refuse_places(scenario: &ScenarioSpec, all: &mut Vec<String>) {
    let jobset = &scenario.jobsets[0].jobset;
    let rj = &jobset.spec.replicated_jobs[0];
    let pod = &rj.template.template.spec;
    let mut refuse = |is: bool, why: &str| {
        if is {
            all.push(why.to_owned());
        }
    };
    refuse(
        pod.restricts_nodes() || pod.node_name.is_some() || !pod.terms.is_empty(),
        "pods with node constraints (nodeSelector, nodeName, affinity)",
    );
    refuse(jobset.selects_labelled_nodes(rj), "exclusive placement by node selectors");
    refuse(!pod.claims.is_empty() || !pod.resource_claims.is_empty(), "pods with volume or resource claims");
    let requests = pod.requests();
    let one = |pool: &NodePool| {
        let holds = |(name, milli): (&String, &i64)| {
            let occupied = pool.occupied.get(name).copied().unwrap_or(0);
            *milli > 0 && pool.allocatable.get(name).is_some_and(|all| (all - occupied) / milli == 1)
        };
        requests.iter().any(holds)
    };
    refuse(!scenario.topology.pools.iter().all(one), "nodes with room for several pods or for none");
    let pools = &scenario.topology.pools;
    let is_similar = |a: &NodePool, b: &NodePool| {
        let same = (&a.allocatable, &a.occupied) == (&b.allocatable, &b.occupied)
            && a.taints == b.taints
            && a.price == b.price;
        same && a.accelerator == b.accelerator && a.features == b.features && a.billing == b.billing
    };
    refuse(
        pools.iter().any(|pool| !is_similar(pool, &pools[0])),
        "node pools that differ in resources, taints, prices, billing, accelerators or features",
    );
    let on_demand =
        pools.iter().any(|pool| pool.billing == MachineBilling::OnDemand && pool.price != AcceleratorPrice::default());
    let is_cold = scenario.node_spares.as_ref().is_some_and(|spares| spares.take_over > Duration::ZERO);
    let deletes = scenario.fault_processes.iter().any(|process| process.deleted_after.is_some());
    refuse(
        on_demand && (is_cold || deletes),
        "billing onDemand with deleted Nodes or with spares that take over later",
    );
    let mut listed = pools.iter().flat_map(|pool| &pool.nodes);
    refuse(
        listed.any(|node| !node.taints.is_empty() || !node.allocatable.is_empty() || !node.occupied.is_empty()),
        "nodes that differ from their pool in taints or resources",
    );
    let slots = SlotTable::new(scenario);
    refuse(
        slots.nodes.len() > slots.needed && scenario.control_plane.ties == SchedulerTies::Draw,
        "a random choice between equal nodes, because the cluster has more nodes than the JobSet needs; set \
         controlPlane.kubeScheduler.ties to InOrder",
    );
    let jobs = rj.replicas;
    let in_turn = jobset.spec.strategy() == RestartStrategy::Recreate && jobs > 1;
    refuse(
        in_turn,
        "several Jobs under Recreate, because each Job is created when its predecessor is removed, so that the free \
         nodes and the attempt affected by a second fault are random; use BlockingRecreate",
    );
}
