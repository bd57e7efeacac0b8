//! Features that level `nodes` does not simulate. Scenarios that use them are refused with the names of the features.

use super::faults::{LOST_EXIT_CODE, MISSING_EXIT_CODE};
use super::model::{JobSetModel, NodesModel};
use sim_api::objects::refuses_job;
use sim_api::spec::keys::{UNREACHABLE, UNSCHEDULABLE};
use sim_api::spec::{
    ClaimController, ConditionOperator, DependsOnStatus, FaultsOn, JobSetSpec, PodFailurePolicyAction, PodTerms,
    RandomAction, RandomFaults, RestartStrategy, ScenarioSpec, ScriptedFault, SilentFaults, StopWhen, SuccessPolicy,
    TaintEffect, TaintSpec, TolerationSpec,
};
use sim_base::{Duration, NodeId};
use sim_engine::MONITOR_PERIOD;
use sim_reliability::faults::{FaultOperation, ScriptTarget, scripted_operation};
use sim_reliability::training::ERROR_EXIT_CODE;
use sim_scheduler::SchedulerConfiguration;
use std::collections::{BTreeMap, BTreeSet};

/// Returns all reasons why level `nodes` does not simulate a scenario; empty if it does.
pub fn why_not(scenario: &ScenarioSpec) -> Vec<String> {
    let mut all = Vec::new();
    let mut refuse = |is: bool, why: &str| {
        if is && !all.iter().any(|known| known == why) {
            all.push(why.to_owned());
        }
    };
    refuse(scenario.jobsets.is_empty(), "no JobSet");
    refuse(
        scenario.training.len() != scenario.jobsets.len(),
        "a JobSet without a training job, because it has no goodput",
    );
    let is_known = |fault: &ScriptedFault| scripted_operation(&fault.action).is_some();
    refuse(
        !scenario.faults.iter().all(is_known),
        "scripted actions other than faults of nodes, exits and silent faults (faults)",
    );
    refuse(exit_codes(scenario).any(|code| code == 0), "exits with code 0, after which pods have succeeded");
    refuse(
        !scenario.faults.is_empty() && scenario.stop.when == StopWhen::Settled,
        "scripted faults with stop.when Settled; set AllJobSetsFinished or Time",
    );
    refuse(!scenario.objects.is_empty(), "other objects in the cluster (objects)");
    refuse(
        scenario.containers.iter().any(|rule| rule.exits() || rule.pod_fails),
        "rules for the run time of containers (containers)",
    );
    refuse(
        scenario.containers.iter().any(|rule| rule.selects_attempts()),
        "container rules that select restarts or attempts (containers)",
    );
    refuse(scenario.kueue.is_some(), "objects of Kueue");
    refuse(scenario.slice_formation.is_some(), "slices that are formed again (sliceFormation)");
    let priorities: Vec<i32> = pod_specs(scenario).map(|pod| pod.priority).collect();
    refuse(priorities.iter().any(|priority| Some(priority) != priorities.first()), "pods with different priorities");
    for submitted in &scenario.jobsets {
        let (jobset, spec) = (&submitted.jobset, &submitted.jobset.spec);
        refuse(submitted.submit_at == sim_api::spec::BY_SCRIPT, "a JobSet that an action submits");
        let mut dependencies = spec.replicated_jobs.iter().flat_map(|rj| &rj.depends_on);
        refuse(
            dependencies.any(|on| on.status == DependsOnStatus::Complete),
            "dependsOn with status Complete, because Jobs do not complete before the training does",
        );
        refuse(spec.suspend, "a suspended JobSet");
        refuse(spec.managed_by.is_some(), "managedBy");
        let mut rjs = spec.replicated_jobs.iter();
        refuse(rjs.any(|rj| refuses_job(jobset, rj)), "Jobs that the API server refuses");
        let is_in_place = spec.strategy() == RestartStrategy::InPlaceRestart;
        refuse(
            is_in_place && distinguishes_exits(scenario, spec),
            "InPlaceRestart with container rules that treat the exit codes of the faults differently",
        );
        refuse(
            is_in_place && ends_pods(scenario, spec),
            "InPlaceRestart with exits for which no rule restarts the containers",
        );
        refuse(is_in_place && jobset.restarts_jobs(), "InPlaceRestart with restarts of single Jobs (RestartJob)");
        refuse(spec.volume_claim_templates > 0, "volumeClaimPolicies");
        for rj in spec.replicated_jobs.iter().filter(|_| !is_in_place || takes_nodes(scenario)) {
            refuse(jobset.selects_labelled_nodes(rj), "exclusive placement by node selectors");
            let job = &rj.template;
            refuse(job.pods() == 0 && rj.replicas > 0, "Jobs without pods (parallelism 0)");
            let rules = job.pod_failure_policy.as_deref().unwrap_or_default();
            let fails = rules.iter().any(|rule| rule.action == PodFailurePolicyAction::FailJob);
            refuse(is_in_place && fails, "InPlaceRestart with podFailurePolicy rules that fail a Job");
            refuse(job.backoff_limit_per_index.is_some(), "backoffLimitPerIndex");
            refuse(job.active_deadline_seconds.is_some(), "activeDeadlineSeconds");
            refuse(job.success_policy.is_some() || job.managed_by.is_some(), "successPolicy or managedBy of a Job");
        }
    }
    for pod in pod_specs(scenario) {
        let ports = PodTerms { host_ports: pod.terms.host_ports, ..PodTerms::default() };
        refuse(pod.node_name.is_some() || pod.terms != ports, "pods with nodeName or terms about other pods");
        // Claims without objects are bound at once to volumes that all nodes can use.
        let are_assumed = scenario.claim_controller == ClaimController::Assumed;
        refuse(!pod.claims.is_empty() && !are_assumed, "pods with volume claims and storage objects");
        refuse(!pod.resource_claims.is_empty(), "pods with resource claims");
        refuse(pod.scheduling_gates > 0, "pods with scheduling gates");
    }
    refuse_training(scenario, &mut refuse);
    refuse_faults(scenario, &mut refuse);
    all
}

/// Returns why level `nodes` does not simulate a prepared scenario, if it does not.
pub fn why_not_placed(model: &NodesModel) -> Option<String> {
    if let Some(why) = unequal_nodes(model) {
        return Some(why.to_owned());
    }
    let uses_ports = pod_specs(&model.scenario).any(|pod| pod.terms.host_ports > 0);
    // A pod that leaves no room for another one needs no port that another one uses.
    let shares = uses_ports && !model.takes_nodes_alone;
    shares.then(|| "pods that use ports of the node (hostPort, hostNetwork) and share nodes with other pods".to_owned())
}

/// Returns why the scheduler prefers some of the nodes on which a pod fits to others, if it does: nodes without pods
/// have equal scores at this level.
fn unequal_nodes(model: &NodesModel) -> Option<&'static str> {
    let configuration = SchedulerConfiguration::read(&model.scenario.scheduler);
    if configuration.profile("").is_some_and(|profile| !profile.has_default_filters()) {
        return Some("a KubeSchedulerConfiguration that changes the plugins of pods");
    }
    let pools = &model.scenario.topology.pools;
    let are_alike = pools.len() == 1 && pools[0].nodes.is_empty();
    let of = |jobset: &'_ JobSetModel| {
        vec![jobset.spec.spec.network.enable_dns_hostnames; jobset.spec.spec.replicated_jobs.len()]
    };
    for (kind, has_service) in model.templates.iter().zip(model.jobsets.iter().flat_map(of)) {
        let nodes = (0..model.cluster.len()).map(|node| NodeId(node as u32));
        let fitting: Vec<NodeId> =
            nodes.filter(|node| kind.fits[node.ix() / 64] >> (node.ix() % 64) & 1 == 1).collect();
        let Some(first) = fitting.first().copied() else { continue };
        let room = |node: NodeId| {
            let object = model.cluster.object(node);
            let of = |amounts: &BTreeMap<String, i64>| ["cpu", "memory"].map(|name| amounts.get(name).copied());
            (of(&object.allocatable), of(&model.cluster.occupied(node)))
        };
        let first_room = room(first);
        if !are_alike && fitting.iter().any(|node| room(*node) != first_room) {
            return Some(
                "nodes with different amounts of cpu or memory on which the same pods fit: the scheduler prefers some",
            );
        }
        let soft = |node: NodeId| {
            let taints =
                model.cluster.taints(node).iter().filter(|taint| taint.effect == TaintEffect::PreferNoSchedule);
            taints.filter(|taint| !kind.facts.tolerations.iter().any(|toleration| toleration.tolerates(taint))).count()
        };
        if fitting.iter().any(|node| soft(*node) != soft(first)) {
            return Some("taints PreferNoSchedule on some of the nodes on which a pod fits");
        }
        let limited = |node: NodeId| {
            model.cluster.taints(node).iter().filter(|taint| taint.effect == TaintEffect::NoExecute).any(|taint| {
                kind.facts.tolerations.iter().any(|t| t.tolerates(taint) && t.toleration_seconds.is_some())
            })
        };
        if fitting.iter().any(|node| limited(*node)) {
            return Some("taints NoExecute of the topology that pods tolerate for a limited time");
        }
        let tolerations = &kind.facts.tolerations;
        let of_control_plane = |key: &str, effect| TaintSpec { key: key.to_owned(), value: String::new(), effect };
        let kept_off = [UNSCHEDULABLE, UNREACHABLE].map(|key| of_control_plane(key, TaintEffect::NoSchedule));
        if tolerations.iter().any(|toleration| kept_off.iter().any(|taint| toleration.tolerates(taint))) {
            return Some("pods that tolerate the taints of cordoned or unreachable nodes");
        }
        let evicting = of_control_plane(UNREACHABLE, TaintEffect::NoExecute);
        let is_short = |t: &TolerationSpec| {
            t.toleration_seconds.is_some_and(|s| Duration::from_secs(s.max(0) as u64) < MONITOR_PERIOD)
        };
        if tolerations.iter().any(|toleration| toleration.tolerates(&evicting) && is_short(toleration)) {
            return Some("pods that tolerate unreachable nodes for less than the 5 s of a monitor period");
        }
        let zone = |node: NodeId| model.cluster.zone[node.ix()];
        if has_service && fitting.iter().any(|node| zone(*node) != zone(first)) {
            return Some(
                "nodes in several zones on which the same pods fit: the scheduler spreads the pods of a Service over them",
            );
        }
    }
    None
}

/// Returns whether faults take pods away from their nodes.
pub fn takes_nodes(scenario: &ScenarioSpec) -> bool {
    use RandomAction::{Corrupt, Degrade, Hang, Slow};
    let is_silent =
        |process: &RandomFaults| matches!(process.action, Hang { .. } | Slow(_) | Degrade { .. } | Corrupt { .. });
    let is_scripted =
        scenario.faults.iter().filter_map(|fault| scripted_operation(&fault.action)).any(|(target, operation)| {
            matches!(target, ScriptTarget::Node(_)) && !matches!(operation, FaultOperation::Silent(_))
        });
    is_scripted || scenario.fault_processes.iter().any(|process| process.on != FaultsOn::Pod && !is_silent(process))
}

/// Exit codes of containers because of faults, in the order of the fault processes and of the script.
pub fn exit_codes(scenario: &ScenarioSpec) -> impl Iterator<Item = i32> {
    let drawn = scenario.fault_processes.iter().filter_map(|process| match process.action {
        RandomAction::Exit(code) | RandomAction::Hang { exit_code: code, .. } => Some(code),
        RandomAction::Corrupt { .. } => Some(ERROR_EXIT_CODE),
        _ => None,
    });
    let scripted = scenario.faults.iter().filter_map(|fault| match scripted_operation(&fault.action)?.1 {
        FaultOperation::Exit(code) | FaultOperation::Silent(SilentFaults::Hang { exit_code: code, .. }) => Some(code),
        FaultOperation::Silent(SilentFaults::Corrupt { .. }) => Some(ERROR_EXIT_CODE),
        _ => None,
    });
    drawn.chain(scripted)
}

/// Returns whether restart rules of containers treat exits because of faults differently: only one is measured.
fn distinguishes_exits(scenario: &ScenarioSpec, spec: &JobSetSpec) -> bool {
    let lost: &[i32] = if takes_nodes(scenario) { &[LOST_EXIT_CODE, MISSING_EXIT_CODE] } else { &[] };
    let codes: BTreeSet<i32> = exit_codes(scenario).chain(lost.iter().copied()).collect();
    let pods = spec.replicated_jobs.iter().map(|rj| &rj.template.template.spec);
    let mut containers = pods.flat_map(|pod| pod.containers.iter().chain(&pod.init_containers));
    containers.any(|container| {
        let mut actions = codes.iter().map(|code| container.matching_rule(*code));
        let first = actions.next();
        actions.any(|action| Some(action) != first)
    })
}

/// Returns whether an exit because of a fault ends a pod: no rule restarts a container.
fn ends_pods(scenario: &ScenarioSpec, spec: &JobSetSpec) -> bool {
    let mut pods = spec.replicated_jobs.iter().map(|rj| &rj.template.template.spec);
    pods.any(|pod| {
        let has_rule = |code: i32| pod.containers.iter().any(|container| container.matching_rule(code).is_some());
        exit_codes(scenario).any(|code| !has_rule(code))
    })
}

fn pod_specs(scenario: &ScenarioSpec) -> impl Iterator<Item = &sim_api::spec::PodSpec> {
    let jobs = scenario.jobsets.iter().flat_map(|submitted| &submitted.jobset.spec.replicated_jobs);
    jobs.map(|rj| &rj.template.template.spec)
}

fn refuse_training(scenario: &ScenarioSpec, refuse: &mut dyn FnMut(bool, &str)) {
    for training in &scenario.training {
        refuse(training.rendezvous_timeout.is_some(), "training.rendezvousTimeout");
        let jobset = &scenario.jobsets[training.jobset].jobset;
        let is_exclusive = jobset.spec.replicated_jobs.iter().all(|rj| jobset.webhook_key(rj).is_some());
        refuse(
            training.communication.is_some() && !is_exclusive,
            "step times that depend on the order of pods on nodes (training.communication without exclusive placement)",
        );
        if training.elastic.is_some() {
            let spec = &scenario.jobsets[training.jobset].jobset.spec;
            let is_in_place = spec.strategy() == RestartStrategy::InPlaceRestart;
            refuse(is_in_place, "elastic jobs (training.elastic) with InPlaceRestart");
            refuse(training.communication.is_some(), "elastic jobs (training.elastic) with communication");
            let policy = spec.success_policy.as_ref();
            let waits_for_all =
                |p: &SuccessPolicy| p.operator == ConditionOperator::All && p.target_replicated_jobs.is_empty();
            refuse(
                policy.is_some_and(|policy| !waits_for_all(policy)),
                "elastic jobs (training.elastic) with a successPolicy that does not wait for all Jobs",
            );
        }
    }
}

fn refuse_faults(scenario: &ScenarioSpec, refuse: &mut dyn FnMut(bool, &str)) {
    for process in &scenario.fault_processes {
        let cause = &process.cause;
        let ages = format!("faults {cause:?}: aging with use (ages)");
        refuse(!process.is_calendar_based(), &ages);
    }
}
