//! The settings of the levers on the control plane, the kubelets and the cluster: one function per lever, which
//! returns its overrides.

use super::edits::{EditSettings, non_empty, set, single};
use super::facts::{REPAIR_AFTER, RunFacts};
use crate::metrics::restarts::waits::WaitKind;
use serde_json::json;
use sim_api::spec::timing::KubeletTiming;
use sim_api::spec::{
    EXCLUSIVE_TOPOLOGY, FaultAction, JobSet, NodePool, PlacementRepair, RandomAction, RandomFaults, ReplicatedJob,
    TaintEffect, TaintSpec, TopologySpec,
};
use sim_base::{Duration, SimTime, time};
use sim_engine::record::{Call, LedgerResource, TicketWait};
use sim_inputs::written_topology;
use sim_policy::placement::TemplateFacts;
use sim_policy::topology::ClusterBuilder;

/// Sets the time until a detector ends a hang, or until wrong results are discovered, to a half and to a tenth.
pub fn detection_time(facts: &RunFacts) -> EditSettings {
    let (hang, corruption) =
        (facts.waits_for(TicketWait::HangDetection), facts.waits_for(TicketWait::CorruptionDetection));
    let processes = facts.fault_processes();
    let is_cause = |cause: &str| facts.random_cause.is_none_or(|known| known == cause);
    let detected = processes.filter(|(_, process)| is_cause(&process.cause)).filter_map(|(i, process)| {
        let (field, time) = match &process.action {
            RandomAction::Hang { detected_after, .. } if hang => ("detectedAfter", detected_after.as_ref()?),
            RandomAction::Corrupt { found_after } if corruption => ("foundAfter", found_after),
            _ => return None,
        };
        Some((format!("faultProcesses[{i}].{field}"), time.median()))
    });
    let mut all: Vec<(String, Duration)> = detected.collect();
    all.dedup_by(|a, b| a.0 == b.0);
    let setting =
        |part: u64| all.iter().map(|(path, now)| set(path.clone(), Duration(now.0 / part).to_string())).collect();
    non_empty([setting(2), setting(10)])
}

/// Lets a detector end the hangs that nothing detects, one minute after their begin.
pub fn hang_detection(facts: &RunFacts) -> EditSettings {
    let is_undetected = |(i, process): (u32, &RandomFaults)| {
        let is_hang = matches!(process.action, RandomAction::Hang { detected_after: None, .. });
        (is_hang && facts.undetected.contains(&process.cause.as_str())).then_some(i)
    };
    let mut entries: Vec<u32> = facts.fault_processes().filter_map(is_undetected).collect();
    entries.dedup();
    non_empty([entries.iter().map(|i| set(format!("faultProcesses[{i}].detectedAfter"), "1m")).collect()])
}

/// Repairs, deletes or replaces the unresponsive nodes, depending on `how`, 5 min after they were lost.
pub fn lost_nodes(facts: &RunFacts, how: &str) -> EditSettings {
    if facts.silent.is_empty() {
        return Vec::new();
    }
    let action = |(i, (node, since)): (usize, &(String, SimTime))| {
        let at = (*since + REPAIR_AFTER).0.div_ceil(time::NANOS_PER_SECOND);
        let value = format!("{{at: {at}s, {how}: {{node: {node}}}}}");
        set(facts.new_fault(i), value)
    };
    vec![facts.silent.iter().enumerate().map(action).collect()]
}

/// Uncordons the cordoned nodes 1 min later.
pub fn uncordoned_nodes(facts: &RunFacts) -> EditSettings {
    let concerned = facts.waits_for_nodes() || facts.blocked;
    let Some((nodes, since)) = facts.cordoned.filter(|_| concerned && !facts.of_manifests) else {
        return Vec::new();
    };
    let at = since.0.div_ceil(time::NANOS_PER_SECOND) + 60;
    let action = |(i, node): (usize, &String)| {
        let value = format!("{{at: {at}s, uncordonNode: {{node: {node}}}}}");
        set(facts.new_fault(i), value)
    };
    vec![nodes.iter().enumerate().map(action).collect()]
}

/// Waits of a path that a repair may end.
const FOR_REPAIR: [TicketWait; 3] = [TicketWait::Unschedulable, TicketWait::SilentNode, TicketWait::Script];

/// Adds a repair crew.
pub fn repair_crews(facts: &RunFacts) -> EditSettings {
    let crews = facts.scenario.node_repair.as_ref().and_then(|repair| repair.repair.crews);
    let crews = crews.filter(|_| facts.spends_time_in(|step| FOR_REPAIR.contains(&step.waited)));
    crews.map_or(Vec::new(), |crews| single("nodeRepair.crews", (crews + 1).to_string()))
}

/// Sets the repair time of random faults to a half and to a tenth of the longest wait for a repair; with `nodeRepair`,
/// each stage to a half and to a tenth.
pub fn repair_time(facts: &RunFacts) -> EditSettings {
    let for_repair = FOR_REPAIR;
    let steps = facts.path.steps.iter().filter(|s| for_repair.contains(&s.waited));
    let longest_s = steps.map(|s| s.duration().0 / time::NANOS_PER_SECOND).max().unwrap_or(0);
    let processes = facts.fault_processes();
    let mut repaired: Vec<u32> = processes.filter(|(_, p)| p.repair_time.is_some()).map(|(i, _)| i).collect();
    repaired.dedup();
    let setting = |part: u64| {
        let value = format!("{}s", longest_s / part);
        let one = |i: &u32| set(format!("faultProcesses[{i}].backAfter"), value.clone());
        repaired.iter().map(one).collect()
    };
    let is_significant = facts.spends_time_in(|s| for_repair.contains(&s.waited));
    if let Some(repair) = facts.scenario.node_repair.as_ref().filter(|_| is_significant) {
        let stages = || repair.repair.stages.iter().enumerate();
        let one = |i: usize, takes: Duration, part: u64| {
            set(format!("nodeRepair.stages[{i}].takes"), Duration(takes.0 / part).to_string())
        };
        let faster = |part| stages().map(|(i, stage)| one(i, stage.duration.median(), part)).collect();
        return vec![faster(2), faster(10)];
    }
    if is_significant && longest_s >= 10 && !repaired.is_empty() { vec![setting(2), setting(10)] } else { Vec::new() }
}

pub fn monitor_grace(facts: &RunFacts) -> EditSettings {
    let now = facts.scenario.control_plane.node_monitor_grace_period_s;
    if facts.waits_for(TicketWait::NodeMonitor) && now > 1 {
        single("controlPlane.nodeMonitorGracePeriodSeconds", (now / 2).to_string())
    } else {
        Vec::new()
    }
}

/// Doubles a rate limit, and multiplies it by 10.
pub fn rate(facts: &RunFacts, of: &[LedgerResource], field: &str, now: f64) -> EditSettings {
    if !facts.waits_in(of) {
        return Vec::new();
    }
    let setting = |factor: f64| vec![set(format!("controlPlane.{field}"), (now * factor).to_string())];
    vec![setting(2.0), setting(10.0)]
}

pub fn job_workers(facts: &RunFacts) -> EditSettings {
    let waits = facts.waits_in(&[LedgerResource::JobControllerWorkers]);
    workers(waits, "concurrentJobSyncs", facts.scenario.control_plane.concurrent_job_syncs)
}

/// Also applies if responses take long, because a worker sends its requests one after another.
pub fn collector_workers(facts: &RunFacts) -> EditSettings {
    let waits = facts.waits_in(&[LedgerResource::GarbageCollectorWorkers]);
    let waits = waits || facts.waits_for_responses(Call::CollectorPodGet.kind().client);
    workers(waits, "concurrentGcSyncs", facts.scenario.control_plane.concurrent_gc_syncs)
}

/// Doubles the number of workers, and multiplies it by 10.
fn workers(waits: bool, field: &str, now: u32) -> EditSettings {
    let path = format!("controlPlane.kubeControllerManager.{field}");
    let setting = |n: u32| vec![set(path.clone(), now.saturating_mul(n).to_string())];
    if waits { vec![setting(2), setting(10)] } else { Vec::new() }
}

/// Halves the time that the scheduler takes for a pod.
pub fn scheduler_time(facts: &RunFacts) -> EditSettings {
    if !facts.waits_in(&[LedgerResource::SchedulerCycle]) {
        return Vec::new();
    }
    let cost = facts.scenario.timing.scheduler;
    let half =
        |name: &str, now: Duration| (now.0 > 1).then(|| set(format!("timing.{name}"), Duration(now.0 / 2).to_string()));
    let all = [
        half("schedulerFixed", cost.fixed),
        half("schedulerPerNode", cost.per_node),
        half("schedulerPerFeasibleNode", cost.per_feasible_node),
        half("schedulerAffinityPerNode", cost.affinity_per_node),
        half("schedulerPreferredPerNode", cost.preferred_per_node),
        half("schedulerExistingTerm", cost.existing_term),
        half("schedulerNodeAffinity", cost.node_affinity),
        half("schedulerHardSpreadPerNode", cost.hard_spread_per_node),
        half("schedulerSoftSpreadPerNode", cost.soft_spread_per_node),
        half("schedulerPerClaim", cost.per_claim),
    ];
    non_empty([all.into_iter().flatten().collect()])
}

pub fn batch_period(facts: &RunFacts) -> EditSettings {
    let now = facts.scenario.timing.job_sync_batch_period;
    if facts.waits_for(TicketWait::JobBatch) && now > Duration::from_millis(100) {
        single("timing.jobSyncBatchPeriod", "100ms")
    } else {
        Vec::new()
    }
}

pub fn pleg(facts: &RunFacts) -> EditSettings {
    match &facts.scenario.timing.kubelet {
        KubeletTiming::Real(kubelet)
            if (facts.waits_for(TicketWait::Pleg) || facts.waits_for(TicketWait::PodWorker))
                && kubelet.pleg_period > Duration::from_millis(100) =>
        {
            single("timing.plegPeriod", "100ms")
        }
        _ => Vec::new(),
    }
}

/// Lets the pods tolerate the taints that keep them from nodes: each one, and all of them.
pub fn tolerated_taints(facts: &RunFacts) -> EditSettings {
    let Some(jobset) = facts.jobset().filter(|_| facts.waits_for_nodes() || facts.blocked) else {
        return Vec::new();
    };
    let pools = facts.scenario.topology.pools.iter();
    let of_pools = pools.flat_map(|pool| pool.taints.iter().chain(pool.nodes.iter().flat_map(|node| &node.taints)));
    let of_script = facts.scenario.faults.iter().filter_map(|fault| match &fault.action {
        FaultAction::TaintNode(_, taint) => Some(taint),
        _ => None,
    });
    let mut taints: Vec<&TaintSpec> = Vec::new();
    for taint in of_pools.chain(of_script).filter(|taint| taint.effect != TaintEffect::PreferNoSchedule) {
        if !taints.contains(&taint) {
            taints.push(taint);
        }
    }
    let jobs = || jobset.spec.replicated_jobs.iter().enumerate();
    let setting = |tolerated: &[&TaintSpec]| {
        let of_job = |(i, job): (usize, &ReplicatedJob)| {
            let known = &job.template.template.spec.tolerations;
            let is_new = |taint: &&&TaintSpec| !known.iter().any(|toleration| toleration.tolerates(taint));
            let new = tolerated.iter().filter(is_new).enumerate();
            let path = format!("spec.replicatedJobs[{i}].template.spec.template.spec.tolerations");
            let toleration = |(k, taint): (usize, &&TaintSpec)| {
                let TaintSpec { key, value, effect } = taint;
                let effect = effect.as_str();
                let value = json!({"key": key, "operator": "Equal", "value": value, "effect": effect});
                set(format!("{path}[{}]", known.len() + k), value.to_string())
            };
            new.map(toleration).collect::<Vec<_>>()
        };
        jobs().flat_map(of_job).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = taints.iter().map(|taint| setting(std::slice::from_ref(taint))).collect();
    all.retain(|sets| !sets.is_empty());
    if all.len() > 1 {
        all.push(setting(&taints));
    }
    all
}

/// Maximum number of pools to which spare nodes are added.
const POOLS_MAX: usize = 3;

/// Returns the pools on whose empty nodes a pod of the JobSet fits, or all pools if there are none.
fn serving_pools<'a>(facts: &RunFacts<'a>) -> impl Iterator<Item = (usize, &'a NodePool)> + use<'a> {
    let scenario = facts.scenario;
    let jobs = facts.jobset().map_or(&[][..], |jobset| &jobset.spec.replicated_jobs);
    let fits = |pool: &NodePool, rj: &ReplicatedJob| {
        let template = &rj.template.template;
        let names = std::iter::once("pods".to_owned()).chain(template.spec.requests().into_keys());
        let alone = TopologySpec { pools: vec![pool.clone()], ..TopologySpec::default() };
        let cluster = ClusterBuilder::build(&alone, &names.collect::<Vec<_>>());
        TemplateFacts::build(&cluster, template, 0).fits_somewhere(&cluster)
    };
    let serves = |pool: &NodePool| jobs.iter().any(|rj| fits(pool, rj));
    let serving: Vec<bool> = scenario.topology.pools.iter().map(serves).collect();
    let has_some = serving.contains(&true);
    scenario.topology.pools.iter().enumerate().filter(move |(i, _)| serving[*i] || !has_some)
}

/// Adds an island, and a copy of the pool, to each pool that serves the JobSet: by the field of the pool, or by a
/// complete topology if the cluster cannot be changed by fields.
pub fn spares(facts: &RunFacts) -> EditSettings {
    if !facts.waits_for_nodes() && !facts.blocked {
        return Vec::new();
    }
    let topology = &facts.scenario.topology;
    let mut all = Vec::new();
    for (i, pool) in serving_pools(facts).take(POOLS_MAX) {
        if pool.islands > 1 {
            all.push(vec![set(format!("topology.pools[{i}].islands"), (pool.islands + 1).to_string())]);
        }
        all.push(vec![set(format!("topology.pools[{i}].count"), (pool.count + 1).to_string())]);
        let mut more = topology.clone();
        more.pools[i].count += 1;
        all.push(vec![set("topology", written_topology(&more).to_string())]);
    }
    all
}

/// Adds a node to each island of a pool, if a pod waits for a node. `is_less` selects the pools in which these are
/// fewer nodes than another island has, or the other pools.
pub fn spares_in_domains(facts: &RunFacts, is_less: bool) -> EditSettings {
    let is_blocked = facts.blocked && !facts.failed;
    if !facts.waits_for_nodes() && !is_blocked {
        return Vec::new();
    }
    let topology = &facts.scenario.topology;
    let mut all = Vec::new();
    let has_domains = |pool: &NodePool| pool.nodes_per_island > 1;
    let selected = |pool: &NodePool| has_domains(pool) && is_less == (pool.count < pool.nodes_per_island);
    for (i, pool) in serving_pools(facts).filter(|(_, pool)| selected(pool)).take(POOLS_MAX) {
        all.push(vec![set(format!("topology.pools[{i}].nodesPerIsland"), (pool.nodes_per_island + 1).to_string())]);
        let mut more = topology.clone();
        more.pools[i].nodes_per_island += 1;
        all.push(vec![set("topology", written_topology(&more).to_string())]);
    }
    all
}

/// Cordons the domains with missing nodes, so that no leader pod is placed there.
pub fn cordoned_domains(facts: &RunFacts) -> EditSettings {
    let (Some(idle), Some(first)) = (facts.idle, facts.path.steps.first()) else {
        return Vec::new();
    };
    let at = first.from.0.div_ceil(time::NANOS_PER_SECOND);
    let cordon = |(i, domain): (usize, &String)| {
        let value = format!("{{at: {at}s, cordonNode: {{label: \"{}={domain}\"}}}}", idle.topology_key);
        set(facts.new_fault(i), value)
    };
    vec![idle.incomplete.iter().enumerate().map(cordon).collect()]
}

/// Lets spares take over at once, if pods wait for capacity.
pub fn take_over(facts: &RunFacts) -> EditSettings {
    let takes_time = facts.scenario.node_spares.as_ref().is_some_and(|spares| spares.take_over > Duration::ZERO);
    let is_concerned = takes_time && facts.waits_for_nodes();
    if is_concerned { single("nodeSpares.takeOver", "0s".to_owned()) } else { Vec::new() }
}

/// Selects a Kubernetes version with other rules: 1.31 changed those of kubernetes.md 1.4, and 1.32 those of 4.1.
pub fn kubernetes(facts: &RunFacts) -> EditSettings {
    let version = facts.scenario.control_plane.kubernetes;
    let concerned = facts.waits(|w| {
        matches!(w, WaitKind::Mechanism(TicketWait::Grace | TicketWait::NodeMonitor | TicketWait::SilentNode))
    });
    match (concerned, version.delays_terminal_condition()) {
        (false, _) => Vec::new(),
        (true, true) => single("controlPlane.kubernetes", "\"1.30\""),
        (true, false) => single("controlPlane.kubernetes", "\"1.36\""),
    }
}

/// Selects a JobSet version in which the repair of exclusive placement differs (EXC-16).
pub fn jobset_version(facts: &RunFacts) -> EditSettings {
    let exclusive = |j: &JobSet| j.annotations.contains_key(EXCLUSIVE_TOPOLOGY);
    let now = facts.scenario.control_plane.placement_repair;
    match (facts.jobset().is_some_and(exclusive) && facts.blocked && !facts.unplaced, now) {
        (false, _) => Vec::new(),
        (true, PlacementRepair::Fails) => single("controlPlane.jobset", "\"0.13\""),
        (true, _) => single("controlPlane.jobset", "\"0.12\""),
    }
}
