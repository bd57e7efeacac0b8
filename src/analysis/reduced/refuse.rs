//! Checks for features that the reduced model does not support. Scenarios that use them are rejected with the names
//! of the features.

use sim_api::spec::{
    FailurePolicyAction, Loss, NodePool, RandomAction, RandomFaults, RestartStrategy, Scenario,
    StartupPolicyOrder, StopWhen,
};

/// Returns all reasons why the reduced model does not support a scenario; empty if it can be measured.
pub fn why_not(scenario: &Scenario) -> Vec<String> {
    let mut all = Vec::new();
    let mut refuse = |is: bool, why: &str| {
        if is {
            all.push(why.to_owned());
        }
    };
    let [submitted] = scenario.jobsets.as_slice() else {
        return vec![match scenario.jobsets.is_empty() {
            true => "no JobSet".to_owned(),
            false => {
                "several JobSets, which compete for nodes and for the control plane".to_owned()
            }
        }];
    };
    let (jobset, spec) = (&submitted.jobset, &submitted.jobset.spec);
    refuse(
        scenario.training.len() != 1,
        "a JobSet that does not train: there is no goodput to tell",
    );
    refuse(
        !scenario.faults.is_empty(),
        "faults and requests of a script",
    );
    refuse(
        !scenario.objects.is_empty(),
        "objects of others in the cluster",
    );
    refuse(
        !scenario.containers.is_empty(),
        "containers with a behavior of their own (containers)",
    );
    refuse(spec.replicated_jobs.len() != 1, "several replicatedJobs");
    refuse(
        spec.startup_order == StartupPolicyOrder::InOrder,
        "startupPolicy InOrder",
    );
    refuse(
        spec.suspend || jobset.kueue_queue().is_some(),
        "a suspended or queued JobSet",
    );
    refuse(
        spec.ttl_seconds_after_finished.is_some(),
        "ttlSecondsAfterFinished",
    );
    refuse(spec.managed_by.is_some(), "managedBy");
    refuse(scenario.stop.when == StopWhen::Settled, "stop.when Settled");
    refuse(
        scenario.fault_processes.is_empty(),
        "a scenario without random faults: one run tells all",
    );
    let rules = spec.failure_policy.iter().flat_map(|p| &p.rules);
    use FailurePolicyAction::{RestartJob, RestartJobAndIgnoreMaxRestarts};
    let single = |a: FailurePolicyAction| matches!(a, RestartJob | RestartJobAndIgnoreMaxRestarts);
    refuse(
        rules.clone().any(|rule| single(rule.action)),
        "restarts of single Jobs (RestartJob)",
    );
    refuse_training(scenario, &mut refuse);
    refuse_faults(scenario, &mut refuse);
    if all.is_empty() {
        refuse_places(scenario, &mut all);
    }
    all
}

fn refuse_training(scenario: &Scenario, refuse: &mut dyn FnMut(bool, &str)) {
    let Some(training) = scenario.training.first() else {
        return;
    };
    let local = training
        .checkpoints()
        .iter()
        .any(|kind| kind.survives < Loss::All);
    refuse(
        local,
        "checkpoints that hosts keep (training.checkpoints with survives)",
    );
    refuse(
        training.rendezvous_timeout.is_some(),
        "training.rendezvousTimeout",
    );
    refuse(
        training.elastic.is_some(),
        "elastic jobs (training.elastic)",
    );
}

fn refuse_faults(scenario: &Scenario, refuse: &mut dyn FnMut(bool, &str)) {
    for process in &scenario.fault_processes {
        let ages = format!("faults of {:?}: ages with use (ages)", process.cause);
        refuse(!process.is_of_calendar(), &ages);
        let what = match process.does {
            RandomAction::Hang { .. } => "Hang",
            RandomAction::Slow(_) => "Slow",
            RandomAction::Corrupt { .. } => "Corrupt",
            RandomAction::Reclaim => "Reclaim",
            _ => continue,
        };
        let cause = &process.cause;
        refuse(true, &format!("faults of {cause:?}: does {what}"));
    }
    let in_place = (scenario.jobsets.iter()).any(|js| js.jobset.restarts_in_place());
    let takes_nodes = |p: &RandomFaults| !matches!(p.does, RandomAction::Exit(_));
    refuse(
        in_place && scenario.fault_processes.iter().any(takes_nodes),
        "InPlaceRestart where nodes are lost: the pods that wait for a lost one may be lost, too",
    );
    let spares = scenario.node_spares.as_ref();
    refuse(spares.is_some_and(|s| s.hand_back), "nodeSpares.handBack");
}

/// Adds reasons about placement: features that affect which nodes the pods use.
fn refuse_places(scenario: &Scenario, all: &mut Vec<String>) {
    let jobset = &scenario.jobsets[0].jobset;
    let rj = &jobset.spec.replicated_jobs[0];
    let pod = &rj.template.template.spec;
    let mut refuse = |is: bool, why: &str| {
        if is {
            all.push(why.to_owned());
        }
    };
    refuse(
        pod.chooses_nodes() || pod.node_name.is_some() || !pod.required_pod_affinity.is_empty(),
        "pods that choose their nodes (nodeSelector, nodeName, affinity)",
    );
    refuse(
        jobset.selects_labelled_nodes(rj),
        "exclusive placement by node selectors",
    );
    refuse(
        !pod.claims.is_empty() || !pod.resource_claims.is_empty(),
        "pods with claims",
    );
    let requests = pod.requests();
    let one = |pool: &NodePool| {
        let holds = |(name, milli): (&String, &i64)| {
            *milli > 0
                && pool
                    .allocatable
                    .get(name)
                    .is_some_and(|all| all / milli == 1)
        };
        requests.iter().any(holds)
    };
    refuse(
        !scenario.topology.pools.iter().all(one),
        "nodes that hold another number of pods than one",
    );
    let pools = &scenario.topology.pools;
    let alike = |a: &NodePool, b: &NodePool| {
        let same = a.allocatable == b.allocatable && a.taints == b.taints && a.price == b.price;
        same && a.accelerator == b.accelerator && a.features == b.features
    };
    refuse(
        pools.iter().any(|pool| !alike(pool, &pools[0])),
        "pools of nodes that are not alike",
    );
    let jobs = rj.replicas;
    let in_turn = jobset.spec.strategy() == RestartStrategy::Recreate && jobs > 1;
    refuse(
        in_turn,
        "several Jobs under Recreate: each is created as soon as the one before it is gone, so chance decides which \
         nodes stay free and which attempt a second fault hits; BlockingRecreate does it at once",
    );
}
