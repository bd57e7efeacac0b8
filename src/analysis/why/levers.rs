//! The table of levers: the name of each, and its settings that concern a critical path.
//!
//! A setting consists of overrides in the syntax of `--set`. This module must never estimate the saving of a setting.

use super::OverrideSetter;
use super::facts::RunFacts;
use super::{edits, edits_cluster};
use sim_engine::record::LedgerResource;
use sim_inputs::{jobset_path, strategy};

#[derive(Clone, Debug, PartialEq)]
pub struct LeverSetting {
    pub lever: String,
    /// Alternatives, of which a cluster can have only one; for a combination, those of its parts.
    pub families: Vec<&'static str>,
    pub sets: Vec<OverrideSetter>,
}

struct TuningLever {
    name: &'static str,
    /// Returns the settings for this case, the smallest change first; empty if the lever does not concern it.
    settings: fn(&RunFacts) -> Vec<Vec<OverrideSetter>>,
}

/// Levers in ascending order of intervention. The first ones end the condition that blocks a JobSet, see
/// [`LAST_OF_BLOCKERS`]. If several of them resolve it, the one with the shortest duration is reported.
const LEVERS: &[TuningLever] = &[
    TuningLever { name: "resumption (suspend: false)", settings: edits::resumed },
    TuningLever { name: "resumption after the last suspension", settings: edits::resumption_action },
    TuningLever { name: "queue label of the JobSet", settings: edits::restored_queue },
    TuningLever { name: "report of the AdmissionCheck's controller", settings: edits::admission_checks },
    TuningLever { name: "time of AdmissionChecks", settings: edits::check_times },
    TuningLever { name: "maxRestarts", settings: edits::max_restarts },
    TuningLever { name: "failurePolicy", settings: edits::failure_policy },
    TuningLever { name: "action of the failure policy rule", settings: edits::rule_action },
    TuningLever { name: DEADLINE, settings: edits::job_deadline },
    TuningLever { name: MAX_EXECUTION_TIME, settings: edits::max_execution_time },
    TuningLever { name: HANG_DETECTION, settings: edits_cluster::hang_detection },
    TuningLever { name: "earlier end of failing image pulls", settings: edits::image_pulls },
    TuningLever { name: "earlier scripted action", settings: edits::move_actions_earlier },
    TuningLever { name: UNCORDON, settings: edits_cluster::uncordoned_nodes },
    TuningLever { name: "toleration of taints", settings: edits_cluster::tolerated_taints },
    TuningLever { name: "repair of the lost node", settings: |f| edits_cluster::lost_nodes(f, "returnNode") },
    TuningLever { name: "detection time of silent faults", settings: edits_cluster::detection_time },
    TuningLever { name: "repair time of random faults", settings: edits_cluster::repair_time },
    TuningLever { name: "repair crews", settings: edits_cluster::repair_crews },
    TuningLever { name: "deletion of the Node object", settings: |f| edits_cluster::lost_nodes(f, "deleteNode") },
    TuningLever { name: LAST_OF_BLOCKERS, settings: |f| edits_cluster::lost_nodes(f, "newNode") },
    TuningLever { name: "podReplacementPolicy", settings: edits::replacement },
    TuningLever { name: "node monitor grace period", settings: edits_cluster::monitor_grace },
    TuningLever { name: "maxFailedIndexes", settings: edits::max_failed_indexes },
    TuningLever { name: "backoffLimitPerIndex", settings: edits::failures_per_index },
    TuningLever { name: "toleration of a lost node", settings: edits::toleration },
    TuningLever { name: "tolerationSeconds of a taint", settings: edits::own_toleration },
    TuningLever { name: "termination grace period", settings: edits::grace },
    TuningLever { name: "time to stop on SIGTERM", settings: edits::stop_time },
    TuningLever { name: "imagePullPolicy IfNotPresent", settings: edits::image_pull },
    TuningLever { name: "container start delay", settings: edits::start_time },
    TuningLever { name: "time until containers are ready", settings: edits::ready_time },
    TuningLever {
        name: "QPS of each controller of kube-controller-manager",
        settings: |f| {
            use LedgerResource::*;
            let own = [JobControllerClient, GarbageCollectorClient, TaintEvictionClient];
            edits_cluster::rate(
                f, &own, "kubeControllerManager.qps", f.scenario.control_plane.kube_controller_manager.qps,
            )
        },
    },
    TuningLever {
        name: "QPS of kube-scheduler",
        settings: |f| {
            edits_cluster::rate(
                f,
                &[LedgerResource::SchedulerBindClient],
                "kubeScheduler.qps",
                f.scenario.control_plane.kube_scheduler.qps,
            )
        },
    },
    TuningLever {
        name: "QPS of the JobSet manager",
        settings: |f| {
            use LedgerResource::*;
            let own = [JobSetClient, JobSetStatusClient, JobSetPodClient];
            edits_cluster::rate(f, &own, "jobsetManager.qps", f.scenario.control_plane.jobset_manager.qps)
        },
    },
    TuningLever {
        name: "node requests per second",
        settings: |f| {
            edits_cluster::rate(
                f,
                &[LedgerResource::NodeRequests],
                "nodeRequestsPerSecond",
                f.scenario.control_plane.node_requests_per_s,
            )
        },
    },
    TuningLever { name: "workers of the Job controller", settings: edits_cluster::job_workers },
    TuningLever { name: "workers of the garbage collector", settings: edits_cluster::collector_workers },
    TuningLever { name: "scheduling time per pod", settings: edits_cluster::scheduler_time },
    TuningLever { name: "batch period of the Job controller", settings: edits_cluster::batch_period },
    TuningLever { name: "PLEG period of kubelets", settings: edits_cluster::pleg },
    TuningLever { name: "number of Jobs for the same pods", settings: edits::jobs },
    TuningLever { name: "restart strategy", settings: edits::strategies },
    TuningLever { name: "startupPolicy AnyOrder", settings: edits::any_order },
    TuningLever { name: "dependsOn", settings: edits::predecessor },
    TuningLever { name: "take-over time of spares", settings: edits_cluster::take_over },
    TuningLever { name: SPARE_IN_DOMAIN, settings: |f| edits_cluster::spares_in_domains(f, true) },
    TuningLever { name: SPARES, settings: edits_cluster::spares },
    TuningLever { name: SPARE_IN_DOMAIN, settings: |f| edits_cluster::spares_in_domains(f, false) },
    TuningLever { name: CORDON, settings: edits_cluster::cordoned_domains },
    TuningLever { name: "PriorityClass of the pods", settings: edits::priority_class },
    TuningLever { name: "no exclusive placement", settings: edits::not_exclusive },
    TuningLever { name: "Kubernetes version", settings: edits_cluster::kubernetes },
    TuningLever { name: "JobSet version", settings: edits_cluster::jobset_version },
];

const SPARE_IN_DOMAIN: &str = "spare node in each domain";
const SPARES: &str = "spare nodes";
const UNCORDON: &str = "uncordoning of nodes";
const CORDON: &str = "cordon of incomplete domains";
const HANG_DETECTION: &str = "detection of hangs";
const DEADLINE: &str = "activeDeadlineSeconds of Jobs";
const MAX_EXECUTION_TIME: &str = "maximum execution time in Kueue";
/// The last lever that ends the condition that blocks a JobSet: it and those before it in the table change the case
/// itself, and no other part of the system.
const LAST_OF_BLOCKERS: &str = "replacement of the lost node";

/// Levers that state what happens to a lost node. Only one of them can be true.
const OF_LOST_NODES: [&str; 4] = [
    "earlier scripted action", "repair of the lost node", "deletion of the Node object", "replacement of the lost node",
];

/// Levers that are tried for a JobSet that waits in Kueue at the end.
const OF_NODES: [&str; 10] = [
    OF_LOST_NODES[0], OF_LOST_NODES[1], OF_LOST_NODES[2], OF_LOST_NODES[3], UNCORDON, "take-over time of spares",
    SPARE_IN_DOMAIN, SPARES, HANG_DETECTION, MAX_EXECUTION_TIME,
];

/// Returns the family of a lever: its name, or the common one of the levers that exclude each other.
fn family(lever: &'static str) -> &'static str {
    if OF_LOST_NODES.contains(&lever) { OF_LOST_NODES[0] } else { lever }
}

/// Restricts overrides of JobSet fields to the explained JobSet if there are others.
fn of_jobset(facts: &RunFacts, sets: Vec<OverrideSetter>) -> Vec<OverrideSetter> {
    let Some(jobset) = facts.jobset().filter(|_| facts.scenario.jobsets.len() > 1) else {
        return sets;
    };
    let is_field = |path: &str| ["spec.", "metadata."].iter().any(|root| path.starts_with(root));
    let restrict = |(path, value): OverrideSetter| {
        if is_field(&path) { (jobset_path(&jobset.name, &path), value) } else { (path, value) }
    };
    sets.into_iter().map(restrict).collect()
}

/// Returns all settings that concern the case, in the order of the table.
pub fn settings(facts: &RunFacts) -> Vec<LeverSetting> {
    let of = |lever: &TuningLever| {
        let sets = (lever.settings)(facts);
        let setting = |sets: Vec<OverrideSetter>| LeverSetting {
            lever: match strategy::asked(&sets) {
                Some(strategy) => format!("{} {strategy}", lever.name),
                None => lever.name.to_owned(),
            },
            families: vec![family(lever.name)],
            sets: of_jobset(facts, sets),
        };
        sets.into_iter().map(setting).collect::<Vec<_>>()
    };
    let is_tried = |lever: &&TuningLever| !facts.only_nodes || OF_NODES.contains(&lever.name);
    LEVERS.iter().filter(is_tried).flat_map(of).collect()
}

impl LeverSetting {
    /// Returns whether the setting names nodes, domains or times of one placement, so that it means nothing in another.
    pub fn is_of_placement(&self) -> bool {
        self.families.iter().any(|family| [OF_LOST_NODES[0], CORDON, UNCORDON].contains(family))
    }

    /// Returns whether the setting raises or removes a time limit.
    pub fn is_time_limit(&self) -> bool {
        [DEADLINE, MAX_EXECUTION_TIME].contains(&self.lever.as_str())
    }

    /// Returns whether the setting ends the condition that blocks a JobSet, instead of a change elsewhere.
    pub fn ends_blocker(&self) -> bool {
        let last = LEVERS.iter().position(|lever| lever.name == LAST_OF_BLOCKERS);
        LEVERS[..=last.unwrap_or(0)].iter().any(|lever| self.families == [family(lever.name)])
    }

    /// Returns whether the setting is an action for each of several nodes.
    pub fn is_of_each_node(&self) -> bool {
        OF_LOST_NODES[1..].contains(&self.lever.as_str()) || self.lever == UNCORDON
    }

    /// Returns the setting with a value that is larger by a number; `None` if no value is searched for.
    pub fn larger(&self, by: u32) -> Option<LeverSetting> {
        Some(LeverSetting { sets: edits::larger(&self.sets, by)?, ..self.clone() })
    }

    /// Returns whether the setting adds nodes to a pool.
    pub fn adds_nodes(&self) -> bool {
        [SPARE_IN_DOMAIN, SPARES].contains(&self.lever.as_str())
    }

    /// Returns the setting without one of its actions. The paths of the others stay contiguous.
    pub fn without_node(&self, at: usize) -> LeverSetting {
        let paths = self.sets.iter().map(|(path, _)| path.clone());
        let values = self.sets.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, (_, value))| value.clone());
        LeverSetting { sets: paths.zip(values).collect(), ..self.clone() }
    }

    /// Returns true if this setting contains all overrides of the other one.
    pub fn contains(&self, other: &LeverSetting) -> bool {
        other.sets.iter().all(|set| self.sets.contains(set))
    }

    /// Returns true if both settings can be in effect: neither is an alternative to the other or overwrites it.
    pub fn is_compatible(&self, other: &LeverSetting) -> bool {
        let alternative = self.families.iter().any(|family| other.families.contains(family));
        let within =
            |a: &str, b: &str| b.strip_prefix(a).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let overwrites = |a: &str, b: &str| within(a, b) || within(b, a);
        let mut pairs = self.sets.iter().flat_map(|a| other.sets.iter().map(move |b| (a, b)));
        !alternative && !pairs.any(|(a, b)| a != b && overwrites(&a.0, &b.0))
    }
}

/// Combines settings of several levers.
pub fn together(parts: &[&LeverSetting]) -> LeverSetting {
    let names: Vec<&str> = parts.iter().map(|s| s.lever.as_str()).collect();
    LeverSetting {
        lever: names.join(" + "),
        families: parts.iter().flat_map(|s| s.families.clone()).collect(),
        sets: parts.iter().flat_map(|s| s.sets.clone()).collect(),
    }
}

/// Formats overrides as arguments of `--set`; several are separated by ` --set `.
pub fn typed(sets: &[OverrideSetter], quoted: impl Fn(&str) -> String) -> String {
    match sets {
        [(path, value)] => format!("{path}={value}"),
        several => {
            let all: Vec<String> = several.iter().map(|(p, v)| quoted(&format!("{p}={v}"))).collect();
            all.join(" --set ")
        }
    }
}
