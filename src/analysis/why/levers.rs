//! The table of levers: the name of each, and its settings that concern a critical path.
//!
//! A setting consists of overrides in the syntax of `--set`. This module must never estimate the saving of a
//! setting.

use super::Set;
use super::facts::Facts;
use super::{edits, edits_cluster};
use sim_engine::record::Resource;
use sim_inputs::strategy;

/// One setting of a lever.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub lever: String,
    pub sets: Vec<Set>,
}

struct Lever {
    name: &'static str,
    /// Returns the settings for this case, the smallest change first; empty if the lever does not concern it.
    settings: fn(&Facts) -> Vec<Vec<Set>>,
}

/// Levers in ascending order of intervention. If several resolve a blocking condition, the first one is reported.
const LEVERS: &[Lever] = &[
    Lever {
        name: "suspend is taken back",
        settings: edits::resumed,
    },
    Lever {
        name: "maxRestarts",
        settings: edits::max_restarts,
    },
    Lever {
        name: "failurePolicy",
        settings: edits::failure_policy,
    },
    Lever {
        name: "action of the failure policy's rule",
        settings: edits::rule_action,
    },
    Lever {
        name: "an action of the script sooner",
        settings: edits::sooner,
    },
    Lever {
        name: "the lost node answers again",
        settings: |f| edits_cluster::lost_nodes(f, "returnNode"),
    },
    Lever {
        name: "the Node object is deleted",
        settings: |f| edits_cluster::lost_nodes(f, "deleteNode"),
    },
    Lever {
        name: "a new node takes the place of the lost one",
        settings: |f| edits_cluster::lost_nodes(f, "newNode"),
    },
    Lever {
        name: "podReplacementPolicy",
        settings: edits::replacement,
    },
    Lever {
        name: "node monitor grace period",
        settings: edits_cluster::monitor_grace,
    },
    Lever {
        name: "toleration of a lost node",
        settings: edits::toleration,
    },
    Lever {
        name: "termination grace period",
        settings: edits::grace,
    },
    Lever {
        name: "time to stop on SIGTERM",
        settings: edits::stop_time,
    },
    Lever {
        name: "imagePullPolicy IfNotPresent",
        settings: edits::image_pull,
    },
    Lever {
        name: "time to start",
        settings: edits::start_time,
    },
    Lever {
        name: "QPS of each controller of kube-controller-manager",
        settings: |f| {
            use Resource::*;
            let own = [
                JobControllerClient,
                GarbageCollectorClient,
                TaintEvictionClient,
            ];
            edits_cluster::rate(
                f,
                &own,
                "kubeControllerManager.qps",
                f.scenario.control_plane.kube_controller_manager.qps,
            )
        },
    },
    Lever {
        name: "QPS of kube-scheduler",
        settings: |f| {
            edits_cluster::rate(
                f,
                &[Resource::SchedulerBindClient],
                "kubeScheduler.qps",
                f.scenario.control_plane.kube_scheduler.qps,
            )
        },
    },
    Lever {
        name: "QPS of the JobSet manager",
        settings: |f| {
            use Resource::*;
            let own = [JobSetClient, JobSetStatusClient, JobSetPodClient];
            edits_cluster::rate(
                f,
                &own,
                "jobsetManager.qps",
                f.scenario.control_plane.jobset_manager.qps,
            )
        },
    },
    Lever {
        name: "requests of nodes per second",
        settings: |f| {
            edits_cluster::rate(
                f,
                &[Resource::NodeRequests],
                "nodeRequestsPerSecond",
                f.scenario.control_plane.node_requests_per_s,
            )
        },
    },
    Lever {
        name: "workers of the Job controller",
        settings: edits_cluster::job_workers,
    },
    Lever {
        name: "workers of the garbage collector",
        settings: edits_cluster::collector_workers,
    },
    Lever {
        name: "scheduler's time for a pod",
        settings: edits_cluster::scheduler_time,
    },
    Lever {
        name: "batch period of the Job controller",
        settings: edits_cluster::batch_period,
    },
    Lever {
        name: "PLEG period of kubelets",
        settings: edits_cluster::pleg,
    },
    Lever {
        name: "number of Jobs for the same pods",
        settings: edits::jobs,
    },
    Lever {
        name: "restart strategy",
        settings: edits::strategies,
    },
    Lever {
        name: "startupPolicy AnyOrder",
        settings: edits::any_order,
    },
    Lever {
        name: "what a predecessor waits for",
        settings: edits::predecessor,
    },
    Lever {
        name: "spare nodes",
        settings: edits_cluster::spares,
    },
    Lever {
        name: "without exclusive placement",
        settings: edits::not_exclusive,
    },
    Lever {
        name: "version of Kubernetes",
        settings: edits_cluster::kubernetes,
    },
    Lever {
        name: "version of JobSet",
        settings: edits_cluster::jobset_version,
    },
];

/// Returns all settings that concern the case, in the order of the table.
pub fn settings(facts: &Facts) -> Vec<Setting> {
    let of = |lever: &Lever| {
        let sets = (lever.settings)(facts);
        let setting = |sets: Vec<Set>| Setting {
            lever: match strategy::asked(&sets) {
                Some(strategy) => format!("{} {strategy}", lever.name),
                None => lever.name.to_owned(),
            },
            sets,
        };
        sets.into_iter().map(setting).collect::<Vec<_>>()
    };
    LEVERS.iter().flat_map(of).collect()
}

impl Setting {
    /// Returns true if this setting contains all overrides of the other one.
    pub fn contains(&self, other: &Setting) -> bool {
        other.sets.iter().all(|set| self.sets.contains(set))
    }
}

/// Combines settings of several levers.
pub fn together(parts: &[&Setting]) -> Setting {
    let names: Vec<&str> = parts.iter().map(|s| s.lever.as_str()).collect();
    Setting {
        lever: names.join(" + "),
        sets: parts.iter().flat_map(|s| s.sets.clone()).collect(),
    }
}

/// Formats overrides as arguments of `--set`; several are separated by ` --set `.
pub fn typed(sets: &[Set], quoted: impl Fn(&str) -> String) -> String {
    match sets {
        [(path, value)] => format!("{path}={value}"),
        several => {
            let all: Vec<String> = several
                .iter()
                .map(|(p, v)| quoted(&format!("{p}={v}")))
                .collect();
            all.join(" --set ")
        }
    }
}
