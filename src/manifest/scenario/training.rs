//! Reads `training`: what the JobSets of a scenario train.

use crate::base::Duration;
use crate::manifest::diagnostic::Report;
use crate::manifest::node::Node;
use crate::manifest::{dist, read, training};
use crate::spec::{ContainerRule, SubmittedJobSet, TrainingJob};

/// `jobsets`: all that may be submitted.
pub fn read(scenario: &Node, jobsets: &[SubmittedJobSet], report: &mut Report) -> Vec<TrainingJob> {
    let Some(node) = scenario.get("training") else {
        return Vec::new();
    };
    let nodes = match node.items() {
        [] => std::slice::from_ref(node),
        items => items,
    };
    let mut all: Vec<TrainingJob> = Vec::new();
    for node in nodes {
        let Some(jobset) = of(node, jobsets, report) else {
            continue;
        };
        if all.iter().any(|t| t.jobset == jobset) {
            let name = &jobsets[jobset].jobset.name;
            report.error(node.at, format!("JobSet {name:?} has a training already"));
            continue;
        }
        all.push(job(node, jobset, report));
    }
    all
}

/// Which JobSet trains.
fn of(node: &Node, jobsets: &[SubmittedJobSet], report: &mut Report) -> Option<usize> {
    let names = || jobsets.iter().map(|s| s.jobset.name.as_str());
    let known = || names().take(20).collect::<Vec<_>>().join(", ");
    let Some((place, name)) = node.get("jobSet").and_then(|n| Some((n, n.as_str()?))) else {
        if jobsets.len() != 1 {
            let message = format!("there are {} JobSets: which one trains?", jobsets.len());
            let error = report.error(node.at, message);
            if let Some(first) = names().next() {
                error.suggest(format!("jobSet: {first}"));
            }
            error.legal(known());
        }
        return (jobsets.len() == 1).then_some(0);
    };
    let found = names().position(|n| n == name);
    if found.is_none() {
        let error = report.error(place.at, format!("no JobSet {name:?} is submitted"));
        error.nearest(name, names());
        error.legal(known());
    }
    found
}

fn job(node: &Node, jobset: usize, report: &mut Report) -> TrainingJob {
    let mut above_zero = |key: &str, message: &str| {
        let found = read::duration(node, key);
        let Some(Duration::ZERO) = found else {
            return found;
        };
        let place = node.get(key).map_or(node.at, |n| n.at);
        let error = report.error(place, format!("training.{key} is 0: {message}"));
        error.suggest(format!("leave {key} away"));
        None
    };
    let work = above_zero("work", "there is nothing to do");
    let step = above_zero("step", "a step takes some time");
    let rendezvous_timeout = above_zero("rendezvousTimeout", "no process would meet another");
    let checkpoint = node.get("checkpoint");
    TrainingJob {
        jobset,
        work,
        step,
        progress: training::progress(node, report),
        commit_delay: checkpoint
            .and_then(|c| read::duration(c, "commitDelay"))
            .unwrap_or_default(),
        restore: dist::delay(checkpoint, "restore", report),
        initialization: dist::delay(Some(node), "initialization", report),
        rendezvous_timeout,
        compile: dist::delay(Some(node), "compile", report),
    }
}

/// What trains until its work is done does not also end when the command of its manifest would: training stands for it.
pub fn replaces_commands(
    training: &[TrainingJob],
    jobsets: &[SubmittedJobSet],
    rules: &mut Vec<ContainerRule>,
) {
    let ends = training.iter().filter(|t| t.work.is_some());
    for name in ends.map(|t| &jobsets[t.jobset].jobset.name) {
        rules.retain(|r| r.from_command.is_none() || r.jobset.as_ref() != Some(name));
    }
}
