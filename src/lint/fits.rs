//! Traps that require a topology: labels, domains, capacity and node features.
//!
//! This module must not predict where a pod is placed. It only determines whether the pod fits into the empty cluster.

use super::lint_subject::{LintSubject, ReplicatedJobText};
use super::placement::key_at;
use super::trap::{JobSetHits, TrapCheck, TrapHit, hit};
use sim_api::spec::keys::{NAMESPACED_JOB, NO_SCHEDULE, RESTART_ALL_CONTAINERS};
use sim_api::spec::{ContainerRestartAction, PodTemplate, TolerationSpec};
use sim_base::NodeId;
use sim_inputs::ends_by_its_command;
use sim_policy::placement::capacity;
use sim_policy::placement::capacity::{KeyDemand, SliceDemand};
use sim_policy::placement::template::TemplateFacts;
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use sim_scheduler::explain::explain_template;
use std::collections::BTreeMap;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("topology-key-unknown", TrapCheck::Cluster(key_unknown)),
    ("domains-fewer-than-jobs", TrapCheck::Cluster(domains_few)),
    ("no-spare-domain", TrapCheck::Cluster(no_spare)),
    ("spare-domain-missed", TrapCheck::Cluster(spare_missed)),
    ("domain-too-small", TrapCheck::Cluster(domain_small)),
    ("domains-unequal", TrapCheck::Cluster(domains_unequal)),
    ("node-feature-missing", TrapCheck::Cluster(feature_missing)),
    ("pod-fits-nowhere", TrapCheck::Cluster(fits_nowhere)),
    ("cluster-too-small", TrapCheck::Cluster(cluster_small)),
    ("cluster-too-small-together", TrapCheck::ClusterTogether(together_small)),
    ("node-selector-unlabeled", TrapCheck::Cluster(selector_unlabeled)),
];

fn name_text(rj: &ReplicatedJobText) -> String {
    format!("replicatedJob {:?}", rj.name())
}

fn needs_feature(rj: &ReplicatedJobText) -> bool {
    let pod = rj.pod_spec();
    let mut rules = pod.init_containers.iter().chain(&pod.containers).flat_map(|c| &c.restart_policy_rules);
    rules.any(|r| r.action == ContainerRestartAction::RestartAllContainers)
}

/// Returns the scheduler's view of the pod template as the Jobs will have it.
fn facts(s: &LintSubject, rj: &ReplicatedJobText, cluster: &ClusterBuilder) -> (PodTemplate, TemplateFacts) {
    let mut template = rj.spec.template.template.clone();
    if s.jobset.selects_labelled_nodes(rj.spec) {
        template.spec.tolerations.push(TolerationSpec {
            key: Some(NO_SCHEDULE.to_owned()),
            exists: true,
            value: String::new(),
            effect: None,
            toleration_seconds: None,
        });
    }
    let facts = TemplateFacts::build(cluster, &template, 0);
    (template, facts)
}

fn key_unknown(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let mut hits: Vec<TrapHit> = Vec::new();
    for rj in s.rjs() {
        let Some(key) = s.webhook_key(&rj).filter(|_| rj.pods() > 0) else {
            continue;
        };
        let result = hit(key_at(s, &rj), format!("the topology key is {key:?}"));
        if TopologyDomains::build(cluster, key).nodes.is_empty() && !hits.contains(&result) {
            hits.push(result);
        }
    }
    hits
}

/// Returns the replicatedJob of a demand, with its positions in the manifest.
fn rj_of<'a>(s: &LintSubject<'a>, demand: &SliceDemand) -> Option<ReplicatedJobText<'a>> {
    s.rjs().into_iter().find(|rj| rj.index == demand.index)
}

/// Returns a hit at the exclusive-topology key of a replicatedJob.
fn at_key(s: &LintSubject, demand: &SliceDemand, detail: String) -> Option<TrapHit> {
    Some(hit(key_at(s, &rj_of(s, demand)?), detail))
}

/// Returns whether the containers finish, as far as `run` infers it from their commands.
fn containers_finish(rj: &ReplicatedJobText) -> bool {
    ends_by_its_command(&rj.pod.to_json())
}

/// Returns the hits of replicatedJobs whose containers never finish as errors. If there are none, returns all hits
/// as warnings.
fn relax_if_unfinished(
    s: &LintSubject, wrong: impl Fn(&dyn Fn(&ReplicatedJobText) -> bool) -> Vec<TrapHit>,
) -> Vec<TrapHit> {
    let errors = wrong(&|rj| !containers_finish(rj));
    if !errors.is_empty() || s.rjs().iter().all(|rj| !containers_finish(rj)) {
        return errors;
    }
    wrong(&|_| true).into_iter().map(TrapHit::as_warning).collect()
}

/// Returns a hit for each topology key for which `wrong` returns a message.
fn of_keys(s: &LintSubject, cluster: &ClusterBuilder, wrong: impl Fn(&KeyDemand) -> Option<String>) -> Vec<TrapHit> {
    let demands = capacity::demands(s.jobset, cluster);
    let result = |demand: &KeyDemand| at_key(s, demand.of.first()?, wrong(demand)?);
    capacity::by_key(&demands).iter().filter_map(result).collect()
}

/// Returns a hit for each replicatedJob for which `wrong` returns a message.
fn of_demands(
    s: &LintSubject, cluster: &ClusterBuilder, wrong: impl Fn(&SliceDemand) -> Option<String>,
) -> Vec<TrapHit> {
    let demands = capacity::demands(s.jobset, cluster);
    let result = |demand: &SliceDemand| at_key(s, demand, wrong(demand)?);
    demands.iter().filter_map(result).collect()
}

fn counted(d: &KeyDemand) -> String {
    format!("{} Jobs, {} usable domains of {}", d.jobs, d.domains, d.key)
}

fn domains_few(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    // With no usable domain the pod fits on no node, which `pod-fits-nowhere` reports.
    let few = |d: &KeyDemand| d.domains > 0 && (d.domains as u64) < d.jobs;
    relax_if_unfinished(s, |counts| {
        let mut demands = capacity::demands(s.jobset, cluster);
        demands.retain(|d| rj_of(s, d).is_some_and(|rj| counts(&rj)));
        let result = |d: &KeyDemand| at_key(s, d.of.first()?, counted(d)).filter(|_| few(d));
        capacity::by_key(&demands).iter().filter_map(result).collect()
    })
}

/// Detects that losing a node makes a domain too small and that there is no spare domain.
fn no_spare(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let tight = |d: &&SliceDemand| d.rooms.iter().any(|r| !r.spares_a_node(d.pods()));
    let exact = |d: &KeyDemand| d.domains as u64 == d.jobs && d.jobs > 0;
    of_keys(s, cluster, |d| (exact(d) && d.of.iter().any(tight)).then(|| counted(d)))
}

/// Detects that a domain that has lost a node is too small but can still be chosen for a leader, despite a spare
/// domain.
fn spare_missed(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    of_keys(s, cluster, |d| {
        if (d.domains as u64) <= d.jobs {
            return None;
        }
        let trap = |of: &&&SliceDemand| {
            let mut rooms = of.rooms.iter();
            rooms.any(|r| r.is_a_trap_without_a_node(of.pods()))
        };
        let of = d.of.iter().find(trap)?;
        Some(format!(
            "{}; a Job of replicatedJob {:?} has {} pods and needs every node of a domain",
            counted(d),
            of.rj.name,
            of.pods()
        ))
    })
}

/// Returns the number of domains of a replicatedJob that can hold a whole Job.
fn large_enough(d: &SliceDemand) -> usize {
    d.rooms.iter().filter(|r| r.pods >= d.pods()).count()
}

fn domain_small(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let demands = capacity::demands(s.jobset, cluster);
    let small = |d: &SliceDemand| {
        let most = d.rooms.iter().map(|r| r.pods).max()?;
        let (key, pods, rj) = (d.key, d.pods(), rj_of(s, d)?);
        let detail = format!("{} has {pods} pods per Job, but a domain of {key} holds at most {most}", name_text(&rj));
        let result = hit(rj.job_at("parallelism"), detail);
        (most < pods).then(|| if containers_finish(&rj) { result.as_warning() } else { result })
    };
    demands.iter().filter_map(small).collect()
}

fn domains_unequal(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
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

fn feature_missing(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.pods() == 0 || !needs_feature(&rj) {
            continue;
        }
        let declared = (0..cluster.len()).any(|n| cluster.has_feature(NodeId(n as u32), RESTART_ALL_CONTAINERS));
        if !declared && !cluster.is_empty() {
            hits.push(hit(rj.pod_at("containers"), name_text(&rj)));
        }
    }
    hits
}

fn fits_nowhere(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs().into_iter().filter(|rj| rj.pods() > 0) {
        let (template, mut facts) = facts(s, &rj, cluster);
        // A missing feature has its own trap.
        facts.needs_feature = false;
        let facts = facts.look_at_all(cluster);
        let spec = rj.pod.to_json();
        if !facts.fits_somewhere(cluster) || !spec["topologySpreadConstraints"].is_null() {
            let explanation = explain_template(cluster, &template, &facts, &spec);
            if explanation.is_feasible() {
                continue;
            }
            let change = explanation.change.map(|change| format!(" Smallest change: {}", change.text()));
            let detail = format!("{}: {}{}", name_text(&rj), explanation.message, change.unwrap_or_default());
            hits.push(hit(rj.pod_at("containers"), detail));
        }
    }
    hits
}

fn cluster_small(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let room = capacity::of_cluster(&facts(s, &rj, cluster).1, cluster);
        // Exclusive placement has separate traps.
        if room > 0 && room < rj.pods() && s.webhook_key(&rj).is_none() {
            let detail = format!("{} has {} pods, but the cluster can hold only {room}", name_text(&rj), rj.pods());
            let result = hit(rj.at("replicas"), detail);
            hits.push(if containers_finish(&rj) { result.as_warning() } else { result });
        }
    }
    hits
}

/// Detects JobSets that each fit alone but not together: exclusive Jobs by their domains, all pods by their requests.
fn together_small(all: &[LintSubject], cluster: &ClusterBuilder) -> JobSetHits {
    let runs: Vec<usize> = (0..all.len()).filter(|i| !all[*i].jobset.spec.suspend).collect();
    let mut hits = Vec::new();
    for &i in &runs {
        let few = |of: &[usize]| few_domains(of.iter().map(|i| &all[*i]), cluster);
        let much = |of: &[usize]| too_much(of.iter().map(|i| &all[*i]), cluster);
        let (alone, before) = ([i], runs.iter().take_while(|n| **n < i).copied());
        let with: Vec<usize> = before.chain([i]).collect();
        let result = [(few(&with), few(&alone)), (much(&with), much(&alone))];
        let result = result.into_iter().find_map(|(with, alone)| with.filter(|_| alone.is_none()));
        if let Some(detail) = result {
            let names: Vec<&str> = with.iter().map(|n| all[*n].jobset.name.as_str()).collect();
            let detail = format!("JobSets {} together: {detail}", names.join(", "));
            hits.push((i, hit(all[i].metadata_at("name"), detail)));
            // Further JobSets only increase the shortage, so one hit suffices.
            return hits;
        }
    }
    hits
}

fn few_domains<'s>(of: impl Iterator<Item = &'s LintSubject<'s>>, cluster: &ClusterBuilder) -> Option<String> {
    let demands: Vec<SliceDemand> = of.flat_map(|s| capacity::demands(s.jobset, cluster)).collect();
    let demands = capacity::by_key(&demands);
    let few = demands.iter().find(|d| (d.domains as u64) < d.jobs);
    few.map(counted)
}

/// Returns a message for the first resource of which all pods together request more than all nodes have.
fn too_much<'s>(of: impl Iterator<Item = &'s LintSubject<'s>>, cluster: &ClusterBuilder) -> Option<String> {
    let mut wanted: BTreeMap<String, u128> = BTreeMap::new();
    for rj in of.flat_map(LintSubject::rjs) {
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
        let complete = |milli: u128| milli.div_ceil(1000);
        (there < wanted).then(|| {
            format!("the pods request {} {resource}, but all nodes together have {}", complete(wanted), complete(there))
        })
    };
    wanted.into_iter().find_map(short)
}

fn selector_unlabeled(s: &LintSubject, cluster: &ClusterBuilder) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    let known = TopologyDomains::build(cluster, NAMESPACED_JOB).values;
    for rj in s.rjs() {
        if !s.jobset.selects_labelled_nodes(rj.spec) || rj.pods() == 0 {
            continue;
        }
        let value = |i: u32| format!("{}_{}-{}-{i}", s.jobset.namespace, s.jobset.name, rj.name());
        if let Some(missing) = (0..rj.spec.replicas).map(value).find(|v| !known.contains(v)) {
            hits.push(hit(rj.at("name"), format!("no node has the label value {missing:?}")));
        }
    }
    hits
}
