//! Reads `training`: the training job of each JobSet.

use crate::text::diagnostic::Report;
use crate::text::node::Node;
use crate::{dist, read, training};
use sim_api::spec::{
    Checkpoint, ContainerRule, Elastic, JobSet, Loss, Progress, Regrow, Saves, SubmittedJobSet,
    TrainingJob, WarmUp,
};
use sim_base::Duration;

/// Reads all training jobs. `jobsets` are all JobSets that may be submitted.
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
        let mut job = job(node, jobset, report);
        job.elastic = elastic(node, &jobsets[jobset].jobset, &job.saves, report);
        all.push(job);
    }
    all
}

/// Returns the index of the JobSet that a training belongs to.
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
    let work = above_zero((node, "training"), "work", "there is nothing to do", report);
    let rendezvous = "no process would meet another";
    let rendezvous_timeout =
        above_zero((node, "training"), "rendezvousTimeout", rendezvous, report);
    let steps = dist::delay(Some(node), "step", report);
    let step = Duration::from_seconds_f64(steps.mean_s());
    if let (Duration::ZERO, Some(place)) = (step, node.get("step")) {
        let error = report.error(place.at, "training.step is 0: a step takes some time");
        error.suggest("leave step away");
    }
    TrainingJob {
        jobset,
        work,
        step: (step > Duration::ZERO).then_some(step),
        step_sd_s: steps.sd_s(),
        warm_up: warm_up(node, report),
        saves: saves(node, report),
        save_at_notice: node
            .at_path(&["checkpoint", "atNotice"])
            .and_then(Node::as_bool)
            == Some(true),
        initialization: dist::delay(Some(node), "initialization", report),
        rendezvous_timeout,
        compile: dist::delay(Some(node), "compile", report),
        elastic: None,
    }
}

/// Default of `lastCall`: time that a rendezvous with enough slices waits for more (TorchElastic's
/// `last_call_timeout`).
const LAST_CALL: Duration = Duration::from_secs(30);

fn elastic(node: &Node, jobset: &JobSet, saves: &Saves, report: &mut Report) -> Option<Elastic> {
    let elastic = node.get("elastic")?;
    let slices_of = slices(elastic, jobset, report)?;
    let replicas = jobset.spec.replicated_jobs[slices_of].replicas;
    let min = elastic.get("minSlices").and_then(Node::as_int)?;
    if min > i64::from(replicas) {
        let name = &jobset.spec.replicated_jobs[slices_of].name;
        let message =
            format!("minSlices is {min}: replicatedJob {name:?} has {replicas} child Jobs");
        let place = elastic.get("minSlices").map_or(elastic.at, |n| n.at);
        report.error(place, message);
    }
    let word = elastic.get("regrow").and_then(Node::as_str);
    let regrow = Regrow::ALL.into_iter().find(|r| Some(r.as_str()) == word);
    let regrow = regrow.unwrap_or(Regrow::NextCheckpoint);
    if (saves, regrow) == (&Saves::Never, Regrow::NextCheckpoint) {
        let message =
            "with checkpoint: Never there is no checkpoint after which slices take part again";
        let error = report.error(elastic.at, message);
        error.suggest("regrow: AtOnce");
    }
    let again = elastic.get("reinitialization");
    Some(Elastic {
        slices_of: slices_of as u32,
        min_slices: min as u32,
        factor: factor(elastic),
        regrow,
        last_call: read::duration(elastic, "lastCall").unwrap_or(LAST_CALL),
        reinitialization: again.map(|_| dist::delay(Some(elastic), "reinitialization", report)),
    })
}

/// Returns the index of the replicatedJob whose child Jobs are the slices.
fn slices(elastic: &Node, jobset: &JobSet, report: &mut Report) -> Option<usize> {
    let all = &jobset.spec.replicated_jobs;
    let names = || all.iter().map(|rj| rj.name.as_str());
    let Some((place, name)) = elastic
        .get("replicatedJob")
        .and_then(|n| Some((n, n.as_str()?)))
    else {
        if all.len() != 1 {
            let message = format!(
                "JobSet {:?} has {} replicatedJobs: of which one are the child Jobs slices?",
                jobset.name,
                all.len()
            );
            let error = report.error(elastic.at, message);
            if let Some(first) = names().next() {
                error.suggest(format!("replicatedJob: {first}"));
            }
        }
        return (all.len() == 1).then_some(0);
    };
    let found = names().position(|n| n == name);
    if found.is_none() {
        let message = format!("JobSet {:?} has no replicatedJob {name:?}", jobset.name);
        let error = report.error(place.at, message);
        error.nearest(name, names());
        error.legal(names().take(20).collect::<Vec<_>>().join(", "));
    }
    found
}

fn above_zero(
    (node, path): (&Node, &str),
    key: &str,
    message: &str,
    report: &mut Report,
) -> Option<Duration> {
    let found = read::duration(node, key);
    let Some(Duration::ZERO) = found else {
        return found;
    };
    let place = node.get(key).map_or(node.at, |n| n.at);
    let error = report.error(place, format!("{path}.{key} is 0: {message}"));
    error.suggest(format!("leave {key} away"));
    None
}

fn warm_up(node: &Node, report: &mut Report) -> Option<WarmUp> {
    let node = node.get("warmUp")?;
    Some(WarmUp {
        factor: factor(node)?,
        lasts: above_zero((node, "training.warmUp"), "for", "there is none", report)?,
    })
}

/// Reads `factor` in units of 1e-9.
fn factor(node: &Node) -> Option<u64> {
    let factor = node.get("factor").and_then(Node::as_f64)?;
    Some((factor * 1e9).round() as u64)
}

/// Reads `checkpoint`. The checkpoints in `tiers` come before the durable one.
fn saves(node: &Node, report: &mut Report) -> Saves {
    let durable = match training::progress(node, report) {
        Progress::Kept => return Saves::Always,
        Progress::FromScratch => return Saves::Never,
        Progress::Checkpoints { .. } => node.get("checkpoint"),
    };
    let tiers = durable.and_then(|d| d.get("tiers"));
    let tiers = tiers
        .map_or(&[][..], Node::items)
        .iter()
        .map(|n| (n, "training.checkpoint.tiers"));
    let all = tiers.chain(durable.map(|node| (node, "training.checkpoint")));
    Saves::Checkpoints(
        all.filter_map(|(n, path)| checkpoint(n, path, report))
            .collect(),
    )
}

fn checkpoint(node: &Node, path: &str, report: &mut Report) -> Option<Checkpoint> {
    let every = training::every(node, path, report)?;
    let word = node.get("survives").and_then(Node::as_str);
    let survives = Loss::NAMED
        .into_iter()
        .find(|loss| Some(loss.as_str()) == word);
    Some(Checkpoint {
        every,
        blocking: read::duration(node, "blocking").unwrap_or_default(),
        commit_delay: dist::delay(Some(node), "commitDelay", report),
        restore: dist::delay(Some(node), "restore", report),
        survives: survives.unwrap_or(Loss::All),
    })
}

/// Removes the container rules derived from commands for JobSets whose training has a fixed amount of work. Their
/// containers exit when the work is done.
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
