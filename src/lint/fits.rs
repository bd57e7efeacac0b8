//! Traps that require a topology: labels, domains, capacity and node features.
//!
//! This module must not predict where a pod is placed. It only determines whether the pod fits into the empty
//! cluster.

use super::placement::key_at;
use super::subject::{Rj, Subject};
use super::trap::{Check, Hit, HitsOf, Severity, Trap, hit};
use sim_api::spec::keys::{NAMESPACED_JOB, NO_SCHEDULE, RESTART_ALL_CONTAINERS};
use sim_api::spec::{ContainerRestartAction, Toleration};
use sim_base::NodeId;
use sim_inputs::ends_by_its_command;
use sim_policy::placement::capacity;
use sim_policy::placement::capacity::{Demand, KeyDemand};
use sim_policy::placement::explain::Reasons;
use sim_policy::placement::template::TemplateFacts;
use sim_policy::topology::{Cluster, Domains};
use std::collections::BTreeMap;

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
        consequence: "One domain holds one Job. The leaders of the other Jobs stay Pending until a Job ends, so the JobSet is never ready as a whole.",
        fix: "Lower replicas, add domains, or use a finer topology key.",
        check: Check::Cluster(domains_few),
    },
    Trap {
        name: "no-spare-domain",
        severity: Severity::Warning,
        rules: &["C-65", "EXC-20"],
        title: "as many topology domains as Jobs, and no spare node in them",
        consequence: "When one node is lost, its domain no longer holds a Job: pods stay Pending until the node is repaired, and the JobSet waits for them.",
        fix: "Keep a spare node in every domain, or one spare domain (then see spare-domain-missed).",
        check: Check::Cluster(no_spare),
    },
    Trap {
        name: "spare-domain-missed",
        severity: Severity::Warning,
        rules: &["EXC-17", "EXC-19"],
        title: "a spare topology domain, but no spare node in any",
        consequence: "A domain that has lost a node still takes a leader: nobody looks at the room for its followers. The Job that enters it after a restart has Pending pods until the node is repaired, beside the spare domain.",
        fix: "Keep a spare node in every domain, or cordon all nodes of a domain while one of them is missing.",
        check: Check::Cluster(spare_missed),
    },
    Trap {
        name: "domain-too-small",
        severity: Severity::Error,
        rules: &["EXC-19"],
        title: "a Job does not fit into any topology domain",
        consequence: "The leader takes a domain, its followers are bound to it: those that find no room stay Pending until others of them end.",
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
        fix: "Compare nodeSelector, node affinity, tolerations and requests with the nodes' labels, taints and allocatable resources.",
        check: Check::Cluster(fits_nowhere),
    },
    Trap {
        name: "cluster-too-small",
        severity: Severity::Error,
        rules: &["REC-9"],
        title: "not all pods fit at once",
        consequence: "Some pods stay Pending until others end, so the JobSet is never ready as a whole; pods that wait for each other hang.",
        fix: "Give fewer replicas or pods, or a larger cluster.",
        check: Check::Cluster(cluster_small),
    },
    Trap {
        name: "cluster-too-small-together",
        severity: Severity::Warning,
        rules: &["REC-9", "EXC-17"],
        title: "not all JobSets fit at once",
        consequence: "Each of them finds room in the empty cluster, but not beside the others: if they run at the same time, pods of some stay Pending until others end.",
        fix: "Run them one after the other, queue them (Kueue), or give a larger cluster.",
        check: Check::ClusterTogether(together_small),
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

/// Returns the scheduler's view of the pod template as the Jobs will have it.
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

fn key_unknown(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for rj in s.rjs() {
        let Some(key) = s.webhook_key(&rj).filter(|_| rj.pods() > 0) else {
            continue;
        };
        let found = hit(key_at(s, &rj), format!("the key is {key:?}"));
        if Domains::build(cluster, key).nodes.is_empty() && !hits.contains(&found) {
            hits.push(found);
        }
    }
    hits
}

/// Returns the replicatedJob of a demand, with its positions in the manifest.
fn rj_of<'a>(s: &Subject<'a>, demand: &Demand) -> Option<Rj<'a>> {
    s.rjs().into_iter().find(|rj| rj.index == demand.index)
}

/// Returns a hit at the exclusive-topology key of a replicatedJob.
fn at_key(s: &Subject, demand: &Demand, detail: String) -> Option<Hit> {
    Some(hit(key_at(s, &rj_of(s, demand)?), detail))
}

/// Returns whether the containers finish, as far as `run` infers it from their commands.
fn ends(rj: &Rj) -> bool {
    ends_by_its_command(&rj.pod.to_json())
}

/// Returns the hits of replicatedJobs whose containers never finish as errors. If there are none, returns all hits
/// as warnings.
fn eased(s: &Subject, wrong: impl Fn(&dyn Fn(&Rj) -> bool) -> Vec<Hit>) -> Vec<Hit> {
    let errors = wrong(&|rj| !ends(rj));
    if !errors.is_empty() || s.rjs().iter().all(|rj| !ends(rj)) {
        return errors;
    }
    wrong(&|_| true).into_iter().map(Hit::eased).collect()
}

/// Returns a hit for each topology key for which `wrong` returns a message.
fn of_keys(
    s: &Subject,
    cluster: &Cluster,
    wrong: impl Fn(&KeyDemand) -> Option<String>,
) -> Vec<Hit> {
    let demands = capacity::demands(s.jobset, cluster);
    let found = |demand: &KeyDemand| at_key(s, demand.of.first()?, wrong(demand)?);
    capacity::by_key(&demands)
        .iter()
        .filter_map(found)
        .collect()
}

/// Returns a hit for each replicatedJob for which `wrong` returns a message.
fn of_demands(
    s: &Subject,
    cluster: &Cluster,
    wrong: impl Fn(&Demand) -> Option<String>,
) -> Vec<Hit> {
    let demands = capacity::demands(s.jobset, cluster);
    let found = |demand: &Demand| at_key(s, demand, wrong(demand)?);
    demands.iter().filter_map(found).collect()
}

fn counted(d: &KeyDemand) -> String {
    format!("{} Jobs, {} usable domains of {}", d.jobs, d.domains, d.key)
}

fn domains_few(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    // With no usable domain the pod fits on no node, which `pod-fits-nowhere` reports.
    let few = |d: &KeyDemand| d.domains > 0 && (d.domains as u64) < d.jobs;
    eased(s, |counts| {
        let mut demands = capacity::demands(s.jobset, cluster);
        demands.retain(|d| rj_of(s, d).is_some_and(|rj| counts(&rj)));
        let found = |d: &KeyDemand| at_key(s, d.of.first()?, counted(d)).filter(|_| few(d));
        capacity::by_key(&demands)
            .iter()
            .filter_map(found)
            .collect()
    })
}

/// Detects that losing a node makes a domain too small and that there is no spare domain.
fn no_spare(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let tight = |d: &&Demand| d.rooms.iter().any(|r| !r.spares_a_node(d.pods()));
    let exact = |d: &KeyDemand| d.domains as u64 == d.jobs && d.jobs > 0;
    of_keys(s, cluster, |d| {
        (exact(d) && d.of.iter().any(tight)).then(|| counted(d))
    })
}

/// Detects that a domain that has lost a node is too small but can still be chosen for a leader, despite a spare
/// domain.
fn spare_missed(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    of_keys(s, cluster, |d| {
        if (d.domains as u64) <= d.jobs {
            return None;
        }
        let trap = |of: &&&Demand| {
            let mut rooms = of.rooms.iter();
            rooms.any(|r| r.is_a_trap_without_a_node(of.pods()))
        };
        let of = d.of.iter().find(trap)?;
        Some(format!(
            "{}; a Job of {:?} has {} pods and needs every node of a domain",
            counted(d),
            of.rj.name,
            of.pods()
        ))
    })
}

/// Returns the number of domains of a replicatedJob that can hold a whole Job.
fn large_enough(d: &Demand) -> usize {
    d.rooms.iter().filter(|r| r.pods >= d.pods()).count()
}

fn domain_small(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let demands = capacity::demands(s.jobset, cluster);
    let small = |d: &Demand| {
        let most = d.rooms.iter().map(|r| r.pods).max()?;
        let (key, pods, rj) = (d.key, d.pods(), rj_of(s, d)?);
        let detail = format!(
            "{} has {pods} pods a Job, a domain of {key} holds {most}",
            of(&rj)
        );
        let found = hit(rj.job_at("parallelism"), detail);
        (most < pods).then(|| if ends(&rj) { found.eased() } else { found })
    };
    demands.iter().filter_map(small).collect()
}

fn domains_unequal(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    of_demands(s, cluster, |d| {
        let (large, usable) = (large_enough(d), d.rooms.len());
        (0 < large && large < usable).then(|| {
            format!(
                "{large} of {usable} domains of {} hold the {} pods of replicatedJob {:?}",
                d.key,
                d.pods(),
                d.rj.name
            )
        })
    })
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
            matches!(
                reason,
                Some(Reasons::Taint | Reasons::Selector | Reasons::NotNamed)
            )
        };
        let admitted: Vec<NodeId> = nodes().filter(|n| !refused(n)).collect();
        let fits = admitted.iter().any(|n| facts.room(cluster, *n) > 0);
        if rj.pods() == 0 || fits {
            continue;
        }
        let why = match admitted.len() {
            0 => {
                "no node has the labels of its nodeSelector and node affinity, and taints that it tolerates".to_owned()
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
        let room = capacity::of_cluster(&facts(s, &rj, cluster), cluster);
        // Exclusive placement has separate traps.
        if room > 0 && room < rj.pods() && s.webhook_key(&rj).is_none() {
            let detail = format!(
                "{} has {} pods, the cluster holds {room}",
                of(&rj),
                rj.pods()
            );
            let found = hit(rj.at("replicas"), detail);
            hits.push(if ends(&rj) { found.eased() } else { found });
        }
    }
    hits
}

/// Detects JobSets that each fit alone but not together: exclusive Jobs by their domains, all pods by their
/// requests.
fn together_small(all: &[Subject], cluster: &Cluster) -> HitsOf {
    let runs: Vec<usize> = (0..all.len())
        .filter(|i| !all[*i].jobset.spec.suspend)
        .collect();
    let mut hits = Vec::new();
    for &i in &runs {
        let few = |of: &[usize]| few_domains(of.iter().map(|i| &all[*i]), cluster);
        let much = |of: &[usize]| too_much(of.iter().map(|i| &all[*i]), cluster);
        let (alone, before) = ([i], runs.iter().take_while(|n| **n < i).copied());
        let with: Vec<usize> = before.chain([i]).collect();
        let found = [(few(&with), few(&alone)), (much(&with), much(&alone))];
        let found = found
            .into_iter()
            .find_map(|(with, alone)| with.filter(|_| alone.is_none()));
        if let Some(detail) = found {
            let names: Vec<&str> = with.iter().map(|n| all[*n].jobset.name.as_str()).collect();
            let detail = format!("{} together: {detail}", names.join(", "));
            hits.push((i, hit(all[i].metadata_at("name"), detail)));
            // Further JobSets only increase the shortage, so one hit suffices.
            return hits;
        }
    }
    hits
}

fn few_domains<'s>(of: impl Iterator<Item = &'s Subject<'s>>, cluster: &Cluster) -> Option<String> {
    let demands: Vec<Demand> = of
        .flat_map(|s| capacity::demands(s.jobset, cluster))
        .collect();
    let demands = capacity::by_key(&demands);
    let few = demands.iter().find(|d| (d.domains as u64) < d.jobs);
    few.map(counted)
}

/// Returns a message for the first resource of which all pods together request more than all nodes have.
fn too_much<'s>(of: impl Iterator<Item = &'s Subject<'s>>, cluster: &Cluster) -> Option<String> {
    let mut wanted: BTreeMap<String, u128> = BTreeMap::new();
    for rj in of.flat_map(Subject::rjs) {
        for (resource, milli) in rj.pod_spec().requests() {
            let all = u128::from(rj.pods()) * u128::from(milli.unsigned_abs());
            *wanted.entry(resource).or_default() += all;
        }
    }
    let columns = cluster.resources.len();
    let short = |(resource, wanted): (String, u128)| {
        let column = cluster.resources.iter().position(|r| *r == resource)?;
        let nodes = cluster.allocatable.chunks(columns);
        let there: u128 = nodes.map(|n| u128::from(n[column].unsigned_abs())).sum();
        let whole = |milli: u128| milli.div_ceil(1000);
        (there < wanted).then(|| {
            format!(
                "{} {resource} are requested, all nodes have {}",
                whole(wanted),
                whole(there)
            )
        })
    };
    wanted.into_iter().find_map(short)
}

fn selector_unlabeled(s: &Subject, cluster: &Cluster) -> Vec<Hit> {
    let mut hits = Vec::new();
    let known = Domains::build(cluster, NAMESPACED_JOB).values;
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
