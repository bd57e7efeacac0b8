//! dependsOn: only replicatedJobs at the same or an earlier position (VAL-2, VAL-21), never in a circle.

use crate::manifest::diagnostic::Report;
use crate::manifest::node::Node;
use crate::manifest::read;
use crate::spec::{JobSet, StartupPolicyOrder};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// CRD limit of one dependsOn list.
const DEPENDENCIES_MAX: usize = 5;

pub fn validate(jobset: &JobSet, spec: &Node, report: &mut Report) {
    let jobs = &jobset.spec.replicated_jobs;
    let nodes = read::list(spec, "replicatedJobs");
    let in_order = jobset.spec.startup_order == StartupPolicyOrder::InOrder;
    for (i, node) in nodes.iter().enumerate() {
        // An empty list counts as present, null does not.
        let Some(list) = node.get("dependsOn") else {
            continue;
        };
        if i == 0 {
            let message = "the first replicatedJob cannot have dependsOn (VAL-2)";
            report.error(list.at, message);
        }
        if in_order {
            let message = "dependsOn cannot be used with startupPolicyOrder InOrder (VAL-27)";
            report.error(list.at, message);
        }
        if list.items().len() > DEPENDENCIES_MAX {
            let message = format!("{} dependencies", list.items().len());
            report.error(list.at, message).legal("at most 5");
        }
    }
    if let Some(circle) = circle(jobset) {
        let at = nodes[circle[0]].get("dependsOn").map_or(spec.at, |d| d.at);
        let mut names: Vec<&str> = circle.iter().map(|i| jobs[*i].name.as_str()).collect();
        names.push(names[0]);
        let message = format!(
            "replicatedJobs depend on each other in a circle: {}",
            names.join(" -> ")
        );
        report.error(at, message);
        return;
    }
    for (i, node) in nodes.iter().enumerate() {
        entries(jobset, i, node, report);
    }
}

fn entries(jobset: &JobSet, position: usize, node: &Node, report: &mut Report) {
    let jobs = &jobset.spec.replicated_jobs;
    let mut seen: Vec<&str> = Vec::new();
    for entry in read::list(node, "dependsOn") {
        let Some(name) = entry.get("name") else {
            continue;
        };
        let text = name.as_str().unwrap_or("");
        if seen.contains(&text) {
            report.error(name.at, format!("dependency {text:?} is given twice"));
        }
        seen.push(text);
        let own = &jobs[position].name;
        match jobs.iter().position(|j| j.name == text) {
            None => super::validate::unknown_job(text, name.at, jobset, report),
            Some(found) if found > position => {
                let message = format!(
                    "replicatedJob {own:?} depends on {text:?}, which comes later in the list; \
                     a dependency must come earlier (VAL-21)"
                );
                report.error(name.at, message);
            }
            Some(_) => {}
        }
    }
}

/// Positions of a circle of two or more, in the order of dependence. A replicatedJob that depends on itself is
/// accepted by the webhook (C-21), and never starts.
fn circle(jobset: &JobSet) -> Option<Vec<usize>> {
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
        let mut next: Vec<NodeIndex> = graph
            .neighbors(last)
            .filter(|n| component.contains(n))
            .collect();
        next.retain(|n| *n != last);
        next.sort();
        let step = *next.first()?;
        if let Some(from) = walk.iter().position(|n| *n == step) {
            return Some(walk[from..].iter().map(|n| graph[*n]).collect());
        }
        walk.push(step);
    }
}
