//! Traps of exclusive placement that require a topology: labels and domains.
//!
//! This module must not predict where a pod is placed: whether pods stay Pending is decided by the run of the cluster.

use super::LintCluster;
use crate::lint_subject::{LintSubject, ReplicatedJobText};
use crate::placement::key_at;
use crate::trap::{TrapCheck, TrapHit, hit};
use sim_policy::placement::capacity;
use sim_policy::placement::capacity::{KeyDemand, SliceDemand};
use sim_policy::topology::TopologyDomains;
use std::collections::BTreeSet;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("topology-key-unknown", TrapCheck::Cluster(key_unknown)),
    ("domains-fewer-than-jobs", TrapCheck::Cluster(domains_few)),
    ("no-spare-domain", TrapCheck::Cluster(no_spare)),
    ("spare-domain-missed", TrapCheck::Cluster(spare_missed)),
    ("domain-too-small", TrapCheck::Cluster(domain_small)),
    ("domains-unequal", TrapCheck::Cluster(domains_unequal)),
];

/// Returns whether no node has the topology key of the replicatedJob as a label.
fn has_unknown_key(s: &LintSubject, rj: &ReplicatedJobText, cluster: &LintCluster) -> bool {
    let key = s.webhook_key(rj).filter(|_| rj.pods() > 0);
    key.is_some_and(|key| TopologyDomains::build(&cluster.nodes, key).nodes.is_empty())
}

fn key_unknown(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
    let Some(condition) = cluster.pending_condition(s) else { return Vec::new() };
    let mut hits: Vec<TrapHit> = Vec::new();
    for rj in s.rjs().into_iter().filter(|rj| has_unknown_key(s, rj, cluster)) {
        let key = s.webhook_key(&rj).unwrap_or_default();
        let result = hit(key_at(s, &rj), format!("the topology key is {key:?}")).under(condition);
        if !hits.contains(&result) {
            hits.push(result);
        }
    }
    hits
}

/// Returns the replicatedJobs whose Pending pods are explained by the domains of their topology key.
pub fn without_domains(s: &LintSubject, cluster: &LintCluster) -> BTreeSet<usize> {
    let rjs = s.rjs().into_iter();
    let unknown = rjs.filter(|rj| has_unknown_key(s, rj, cluster)).map(|rj| rj.index);
    let demands = capacity::demands(s.jobset, &cluster.nodes);
    let small = demands.iter().filter(|d| too_small(d).is_some()).map(|d| d.index);
    let of_keys = capacity::by_key(&demands);
    let few = of_keys.iter().filter(|d| has_few_domains(d)).flat_map(|d| d.of.iter().map(|d| d.index));
    unknown.chain(small).chain(few).collect()
}

/// Returns the replicatedJob of a demand, with its positions in the manifest.
fn rj_of<'a>(s: &LintSubject<'a>, demand: &SliceDemand) -> Option<ReplicatedJobText<'a>> {
    s.rjs().into_iter().find(|rj| rj.index == demand.index)
}

/// Returns a hit at the exclusive-topology key of a replicatedJob.
fn at_key(s: &LintSubject, demand: &SliceDemand, detail: String) -> Option<TrapHit> {
    Some(hit(key_at(s, &rj_of(s, demand)?), detail))
}

/// Returns a hit for each topology key for which `wrong` returns a message.
fn of_keys(s: &LintSubject, cluster: &LintCluster, wrong: impl Fn(&KeyDemand) -> Option<String>) -> Vec<TrapHit> {
    let demands = capacity::demands(s.jobset, &cluster.nodes);
    let result = |demand: &KeyDemand| at_key(s, demand.of.first()?, wrong(demand)?);
    capacity::by_key(&demands).iter().filter_map(result).collect()
}

/// Returns a hit for each replicatedJob for which `wrong` returns a message.
fn of_demands(s: &LintSubject, cluster: &LintCluster, wrong: impl Fn(&SliceDemand) -> Option<String>) -> Vec<TrapHit> {
    let demands = capacity::demands(s.jobset, &cluster.nodes);
    let result = |demand: &SliceDemand| at_key(s, demand, wrong(demand)?);
    demands.iter().filter_map(result).collect()
}

fn counted(d: &KeyDemand) -> String {
    format!("{} Jobs, {} usable domains of {}", d.jobs, d.domains, d.key)
}

fn has_few_domains(d: &KeyDemand) -> bool {
    // With no usable domain the pod fits on no node, which `pods-stay-pending` reports.
    d.domains > 0 && (d.domains as u64) < d.jobs
}

fn domains_few(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
    let Some(condition) = cluster.pending_condition(s) else { return Vec::new() };
    let hits = of_keys(s, cluster, |d| has_few_domains(d).then(|| counted(d)));
    hits.into_iter().map(|hit| hit.under(condition)).collect()
}

/// Detects that losing a node makes a domain too small and that there is no spare domain.
fn no_spare(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
    let tight = |d: &&SliceDemand| d.rooms.iter().any(|r| !r.spares_a_node(d.pods()));
    let exact = |d: &KeyDemand| d.domains as u64 == d.jobs && d.jobs > 0;
    of_keys(s, cluster, |d| (exact(d) && d.of.iter().any(tight)).then(|| counted(d)))
}

/// Detects that a domain that has lost a node is too small but can still be chosen for a leader, despite a spare
/// domain.
fn spare_missed(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
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

/// Returns the number of pods that the largest domain can hold, if that is not a whole Job.
fn too_small(d: &SliceDemand) -> Option<u64> {
    d.rooms.iter().map(|r| r.pods).max().filter(|most| *most < d.pods())
}

fn domain_small(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
    let Some(condition) = cluster.pending_condition(s) else { return Vec::new() };
    let demands = capacity::demands(s.jobset, &cluster.nodes);
    let small = |d: &SliceDemand| {
        let (most, key, pods, rj) = (too_small(d)?, d.key, d.pods(), rj_of(s, d)?);
        let detail = format!(
            "replicatedJob {:?} has {pods} pods per Job, but a domain of {key} holds at most {most}",
            rj.name()
        );
        Some(hit(rj.job_at("parallelism"), detail).under(condition))
    };
    demands.iter().filter_map(small).collect()
}

fn domains_unequal(s: &LintSubject, cluster: &LintCluster) -> Vec<TrapHit> {
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
