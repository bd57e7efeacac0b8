//! Detects cycles in dependsOn. The webhook only reports each forward reference separately (VAL-21); this module
//! names the whole cycle.
//!
//! This module must never refuse input.

use crate::{read, text::diagnostic::Diagnostic, text::node::YamlNode};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use sim_api::spec::JobSet;

/// Adds the whole dependency cycle to the errors about one of its references.
pub fn name_dependency_cycle(jobset: &JobSet, node: &YamlNode, errors: &mut [Diagnostic]) {
    let Some(dependency_cycle) = dependency_cycle(jobset) else {
        return;
    };
    let jobs = &jobset.spec.replicated_jobs;
    let mut names: Vec<&str> = dependency_cycle.iter().map(|i| jobs[*i].name.as_str()).collect();
    names.push(names[0]);
    let words = format!("these replicatedJobs form a dependency cycle: {}", names.join(" -> "));
    let nodes = node.get("spec").map_or(&[][..], |s| read::list(s, "replicatedJobs"));
    let members = dependency_cycle.iter().filter_map(|i| nodes.get(*i));
    for name in members.flat_map(|n| read::list(n, "dependsOn")).filter_map(|d| d.get("name")) {
        let here = |e: &&mut Diagnostic| (e.line, e.column) == (name.at.line, name.at.column);
        for error in errors.iter_mut().filter(here) {
            error.suggest(&words);
        }
    }
}

/// Returns the indices of the replicatedJobs in a dependency cycle of at least two, in order of dependence.
///
/// A replicatedJob that depends on itself is accepted by the webhook (C-21) and never starts. It is not reported here.
fn dependency_cycle(jobset: &JobSet) -> Option<Vec<usize>> {
    let jobs = &jobset.spec.replicated_jobs;
    let mut graph: DiGraph<usize, ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..jobs.len()).map(|i| graph.add_node(i)).collect();
    for (i, job) in jobs.iter().enumerate() {
        for dependency in &job.depends_on {
            if let Some(j) = jobs.iter().position(|other| other.name == dependency.name) {
                graph.add_edge(nodes[i], nodes[j], ());
            }
        }
    }
    let component = tarjan_scc(&graph).into_iter().find(|c| c.len() > 1)?;
    let start = *component.iter().min()?;
    let mut walk = vec![start];
    loop {
        let last = walk[walk.len() - 1];
        let mut next: Vec<NodeIndex> = graph.neighbors(last).filter(|n| component.contains(n)).collect();
        next.retain(|n| *n != last);
        next.sort();
        let step = *next.first()?;
        if let Some(from) = walk.iter().position(|n| *n == step) {
            return Some(walk[from..].iter().map(|n| graph[*n]).collect());
        }
        walk.push(step);
    }
}
