//! Traps that show when a cluster is given: labels, domains, capacity, features of nodes.
//!
//! Must never say where a pod goes; only whether it could go anywhere while the cluster is empty.

use super::placement::key_at;
use super::subject::{Rj, Subject};
use super::trap::{Check, Hit, Severity, Trap, hit};
use crate::base::NodeId;
use crate::placement::explain::Reasons;
use crate::placement::template::TemplateFacts;
use crate::spec::keys::{NAMESPACED_JOB, NO_SCHEDULE, RESTART_ALL_CONTAINERS};
use crate::spec::{ContainerRestartAction, DependsOnStatus, Toleration};
use crate::topology::Cluster;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "topology-key-unknown",
        severity: Severity::Error,
        rules: &["EXC-1", "C-60", "D-5"],
        title: "no node has the exclusive-topology key as a label",
        consequence: "The leaders' own affinity needs the label: they stay Pending (node(s) didn't match pod affinity rules), and followers are never created.",
        fix: "Use a label key that the nodes carry.",
        check: Check::Cluster(key_unknown),
    },
    Trap {
        name: "domains-fewer-than-jobs",
        severity: Severity::Error,
        rules: &["EXC-1", "EXC-17", "C-65"],
        title: "fewer topology domains than Jobs",
        consequence: "One domain holds one Job. The leaders of the other Jobs stay Pending, so the JobSet is never ready.",
        fix: "Lower replicas, add domains, or use a finer topology key.",
        check: Check::Cluster(domains_few),
    },
    Trap {
        name: "no-spare-domain",
        severity: Severity::Warning,
        rules: &["C-65", "EXC-20"],
        title: "as many topology domains as Jobs",
        consequence: "When one domain is lost, the Job that was in it stays Pending until the domain is repaired, and the JobSet waits for it.",
        fix: "Keep one spare domain.",
        check: Check::Cluster(no_spare),
    },
    Trap {
        name: "domain-too-small",
        severity: Severity::Error,
        rules: &["EXC-19"],
        title: "a Job does not fit into any topology domain",
        consequence: "The leader takes a domain, its followers are bound to it: those that find no room stay Pending for ever.",
        fix: "Give the Jobs fewer pods or smaller requests, or use a coarser topology key.",
        check: Check::Cluster(domain_small),
    },
    Trap {
        name: "domains-unequal",
        severity: Severity::Warning,
        rules: &["EXC-19"],
        title: "some topology domains are too small for a Job",
        consequence: "The leader is placed without a look at the room for its followers. In a domain that is too small they stay Pending, and the Job is not moved.",
        fix: "Select the larger domains with a nodeSelector.",
        check: Check::Cluster(domains_unequal),
    },
    Trap {
        name: "node-feature-missing",
        severity: Severity::Error,
        rules: &["AG-3"],
        title: "no node declares RestartAllContainersOnContainerExits",
        consequence: "A pod with RestartAllContainers rules needs nodes that declare this feature (kubelet 1.35 or newer, gate on): it stays Pending, node(s) didn't match Pod's required features.",
        fix: "Upgrade the kubelets or switch the gate on; in a topology file add the feature to the pool's features.",
        check: Check::Cluster(feature_missing),
    },
    Trap {
        name: "pod-fits-nowhere",
        severity: Severity::Error,
        rules: &["EXC-19"],
        title: "no node can take the pod",
        consequence: "Even in the empty cluster the pod stays Pending for ever.",
        fix: "Compare nodeSelector, tolerations and requests with the nodes' labels, taints and allocatable resources.",
        check: Check::Cluster(fits_nowhere),
    },
    Trap {
        name: "cluster-too-small",
        severity: Severity::Warning,
        rules: &["REC-9"],
        title: "not all pods fit at once",
        consequence: "Some pods stay Pending until others end, so the JobSet is never ready as a whole; pods that wait for each other hang.",
        fix: "Give fewer replicas or pods, or a larger cluster.",
        check: Check::Cluster(cluster_small),
    },
    Trap {
        name: "node-selector-unlabeled",
        severity: Severity::Error,
        rules: &["EXC-2", "C-67"],
        title: "no node is labelled for a Job of the node-selector strategy",
        consequence: "All pods of the Job stay Pending: its nodeSelector asks for alpha.jobset.sigs.k8s.io/namespaced-job=<namespace>_<job>.",
        fix: "Label the nodes (hack/label_nodes of JobSet), or leave the node-selector annotation out.",
        check: Check::Cluster(selector_unlabeled),
    },
];

fn of(rj: &Rj) -> String {
    format!("replicatedJob {:?}", rj.name())
}

fn needs_feature(rj: &Rj) -> bool {
    let pod = rj.pod_spec();
    let mut rules = pod
        .init_containers
        .iter()
        .chain(&pod.containers)
        .flat_map(|c| &c.restart_policy_rules);
    rules.any(|r| r.action == ContainerRestartAction::RestartAllContainers)
}

/// What the scheduler works out of the pod template, as the Jobs will have it.
fn facts(s: &Subject, rj: &Rj, cluster: &Cluster) -> TemplateFacts {
    let mut template = rj.spec.template.template.clone();
    if s.jobset.selects_labelled_nodes(rj.spec) {
        template.spec.tolerations.push(Toleration {
            key: Some(NO_SCHEDULE.to_owned()),
            exists: true,
            value: String::new(),
            effect: None,
            toleration_seconds: None,
        });
    }
    TemplateFacts::build(cluster, &template, 0)
}

/// Pods that each node could hold; 0 where it is not allowed.
fn rooms(s: &Subject, rj: &Rj, cluster: &Cluster) -> Vec<u64> {
    let facts = facts(s, rj, cluster);
    let one = |n: usize| {
        let node = NodeId(n as u32);
        match facts.allows(node) {
            true => facts.room(cluster, node),
            false => 0,
        }
    };
    (0..cluster.len()).map(one).collect()
}

/// Room for pods in each domain of the key that can take a leader.
fn domains(s: &Subject, rj: &Rj, cluster: &Cluster, key: &str) -> Vec<(usize, u64)> {
    let rooms = rooms(s, rj, cluster);
    let all = cluster.domains(key);
    let sum = |nodes: &Vec<NodeId>| {
        nodes
            .iter()
            .map(|n| rooms[n.ix()])
            .fold(0, u64::saturating_add)
    };
    let with_room = all.nodes.iter().map(sum).enumerate();
    with_room.filter(|(_, room)| *room > 0).collect()
}

/// A replicatedJob, its key, and (domain, room for its pods).
type Demand<'a> = (Rj<'a>, &'a str, Vec<(usize, u64)>);

/// Exclusive replicatedJobs whose key some node has.
fn exclusive<'a>(s: &Subject<'a>, cluster: &Cluster) -> Vec<Demand<'a>> {
    let mut found = Vec::new();
    for rj in s.rjs() {
        if let Some(key) = s.webhook_key(&rj).filter(|_| rj.pods() > 0)
            && !cluster.domains(key).nodes.is_empty()
        {
            let domains = domains(s, &rj, cluster, key);
            found.push((rj, key, domains));
        }
    }
    found
}

fn key_unknown(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for rj in s.rjs() {
        let Some(key) = s.webhook_key(&rj).filter(|_| rj.pods() > 0) else {
            continue;
        };
        let found = hit(key_at(s, &rj), format!("the key is {key:?}"));
        if cluster.domains(key).nodes.is_empty() && !hits.contains(&found) {
            hits.push(found);
        }
    }
    hits
}

/// (key, place, domains that can be used, Jobs that run at once) of each key.
fn demand(s: &Subject, cluster: &Cluster) -> Vec<(String, Hit, usize, u64)> {
    let all = exclusive(s, cluster);
    let mut found = Vec::new();
    let mut keys: Vec<&str> = all.iter().map(|(_, key, _)| *key).collect();
    keys.dedup();
    for key in keys {
        let same = || all.iter().filter(|(_, k, _)| *k == key);
        let waits = |rj: &Rj| {
            let complete = |d: &crate::spec::DependsOn| d.status == DependsOnStatus::Complete;
            rj.spec.depends_on.iter().any(complete)
        };
        let mut usable: Vec<usize> = same().flat_map(|(_, _, d)| d.iter().map(|d| d.0)).collect();
        usable.sort_unstable();
        usable.dedup();
        // Whatever waits for complete Jobs takes over their domains.
        let together: u64 = same()
            .filter(|(rj, _, _)| !waits(rj))
            .map(|(rj, _, _)| u64::from(rj.spec.replicas))
            .sum();
        let largest = same().map(|(rj, _, _)| u64::from(rj.spec.replicas)).max();
        let jobs = together.max(largest.unwrap_or(0));
        let Some((rj, _, _)) = same().next() else {
            continue;
        };
        let detail = format!("{jobs} Jobs, {} usable domains of {key}", usable.len());
        found.push((
            key.to_owned(),
            hit(key_at(s, rj), detail),
            usable.len(),
            jobs,
        ));
    }
    found
}

fn domains_few(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let few = |(_, hit, domains, jobs): (String, Hit, usize, u64)| {
        // No usable domain at all: the pod fits nowhere, which is said elsewhere.
        (domains > 0 && (domains as u64) < jobs).then_some(hit)
    };
    demand(s, cluster).into_iter().filter_map(few).collect()
}

fn no_spare(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let exact = |(_, hit, domains, jobs): (String, Hit, usize, u64)| {
        (domains as u64 == jobs && jobs > 0).then_some(hit)
    };
    demand(s, cluster).into_iter().filter_map(exact).collect()
}

/// Domains of a replicatedJob that hold a whole Job, and all usable ones.
fn large_enough(rj: &Rj, domains: &[(usize, u64)]) -> (usize, usize) {
    let pods = u64::from(rj.template().pods());
    let large = domains.iter().filter(|(_, room)| *room >= pods).count();
    (large, domains.len())
}

fn domain_small(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rj, key, domains) in exclusive(s, cluster) {
        let (large, usable) = large_enough(&rj, &domains);
        let most = domains.iter().map(|d| d.1).max().unwrap_or(0);
        if usable > 0 && large == 0 {
            let pods = rj.template().pods();
            let detail = format!(
                "{} has {pods} pods a Job, a domain of {key} holds {most}",
                of(&rj)
            );
            hits.push(hit(rj.job_at("parallelism"), detail));
        }
    }
    hits
}

fn domains_unequal(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rj, key, domains) in exclusive(s, cluster) {
        let (large, usable) = large_enough(&rj, &domains);
        if large > 0 && large < usable {
            let pods = rj.template().pods();
            let detail = format!(
                "{large} of {usable} domains of {key} hold the {pods} pods of {}",
                of(&rj)
            );
            hits.push(hit(key_at(s, &rj), detail));
        }
    }
    hits
}

fn feature_missing(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.pods() == 0 || !needs_feature(&rj) {
            continue;
        }
        let declared = (0..cluster.len())
            .any(|n| cluster.has_feature(NodeId(n as u32), RESTART_ALL_CONTAINERS));
        if !declared && !cluster.is_empty() {
            hits.push(hit(rj.pod_at("containers"), of(&rj)));
        }
    }
    hits
}

fn fits_nowhere(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let nodes = || (0..cluster.len()).map(|n| NodeId(n as u32));
        let facts = facts(s, &rj, cluster);
        let refused = |n: &NodeId| {
            let reason = facts.reason_against(cluster, *n);
            matches!(reason, Some(Reasons::Taint | Reasons::Selector))
        };
        let admitted: Vec<NodeId> = nodes().filter(|n| !refused(n)).collect();
        let fits = admitted.iter().any(|n| facts.room(cluster, *n) > 0);
        if rj.pods() == 0 || fits {
            continue;
        }
        let why = match admitted.len() {
            0 => {
                "no node has the labels of its nodeSelector and taints that it tolerates".to_owned()
            }
            n => format!("{n} nodes would be allowed, none has the resources it requests"),
        };
        hits.push(hit(rj.pod_at("containers"), format!("{}: {why}", of(&rj))));
    }
    hits
}

fn cluster_small(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let rooms = rooms(s, &rj, cluster);
        let room = rooms.iter().copied().fold(0, u64::saturating_add);
        // Domains have their own traps.
        if room > 0 && room < rj.pods() && s.webhook_key(&rj).is_none() {
            let detail = format!(
                "{} has {} pods, the cluster holds {room}",
                of(&rj),
                rj.pods()
            );
            hits.push(hit(rj.at("replicas"), detail));
        }
    }
    hits
}

fn selector_unlabeled(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    let known = cluster.domains(NAMESPACED_JOB).values;
    for rj in s.rjs() {
        if !s.jobset.selects_labelled_nodes(rj.spec) || rj.pods() == 0 {
            continue;
        }
        let value = |i: u32| format!("{}_{}-{}-{i}", s.jobset.namespace, s.jobset.name, rj.name());
        if let Some(missing) = (0..rj.spec.replicas)
            .map(value)
            .find(|v| !known.contains(v))
        {
            hits.push(hit(
                rj.at("name"),
                format!("no node has the value {missing:?}"),
            ));
        }
    }
    hits
}
