//! Reads `training`: the training job of each JobSet.

mod communication;
mod model;

use crate::{dist, read, training};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::{
    Checkpoint, CheckpointSchedule, ContainerRule, ElasticTraining, JobSet, LossSpec, ProgressSpec, RegrowPolicy,
    SubmittedJobSet, TopologySpec, TrainingJob, WarmUp,
};
use sim_base::Duration;

/// Reads all training jobs. `jobsets` are all JobSets that may be submitted.
pub fn read(
    scenario: &YamlNode, jobsets: &[SubmittedJobSet], topology: &TopologySpec, report: &mut DiagnosticReport,
) -> Vec<TrainingJob> {
    let Some(node) = scenario.get("training") else {
        return Vec::new();
    };
    let nodes = match node.items() {
        [] => std::slice::from_ref(node),
        items => items,
    };
    let mut all: Vec<TrainingJob> = Vec::new();
    for node in nodes {
        let Some(jobset) = job_training(node, jobsets, report) else {
            continue;
        };
        if all.iter().any(|t| t.jobset == jobset) {
            let name = &jobsets[jobset].jobset.name;
            report.error(node.at, format!("JobSet {name:?} has a training already"));
            continue;
        }
        let mut job = job(node, jobset, report);
        job.elastic = elastic(node, &jobsets[jobset].jobset, &job.checkpoint_schedule, report);
        job.communication = communication::read(node, topology, report);
        all.push(job);
    }
    all
}

/// Returns the index of the JobSet that a training belongs to.
fn job_training(node: &YamlNode, jobsets: &[SubmittedJobSet], report: &mut DiagnosticReport) -> Option<usize> {
    let names = || jobsets.iter().map(|s| s.jobset.name.as_str());
    let known = || names().take(20).collect::<Vec<_>>().join(", ");
    let Some((place, name)) = node.get("jobSet").and_then(|n| Some((n, n.as_str()?))) else {
        if jobsets.len() != 1 {
            let message = format!("training.jobSet is required because there are {} JobSets", jobsets.len());
            let error = report.error(node.at, message);
            if let Some(first) = names().next() {
                error.suggest(format!("jobSet: {first}"));
            }
            error.legal(known());
        }
        return (jobsets.len() == 1).then_some(0);
    };
    let matching = names().position(|n| n == name);
    if matching.is_none() {
        let error = report.error(place.at, format!("JobSet {name:?} is not submitted"));
        error.nearest(name, names());
        error.legal(known());
    }
    matching
}

fn job(node: &YamlNode, jobset: usize, report: &mut DiagnosticReport) -> TrainingJob {
    let work = above_zero((node, "training"), "work", "the work must be positive", report);
    let rendezvous = "the processes could never meet";
    let rendezvous_timeout = above_zero((node, "training"), "rendezvousTimeout", rendezvous, report);
    let steps = dist::delay(Some(node), "step", report);
    let step = Duration::from_seconds_f64(steps.mean_s());
    if let (Duration::ZERO, Some(place)) = (step, node.get("step")) {
        let error = report.error(place.at, "training.step is 0: the duration of a step must be positive");
        error.suggest("remove step");
    }
    TrainingJob {
        jobset,
        work,
        step: (step > Duration::ZERO).then_some(step),
        step_sd_s: steps.sd_s(),
        warm_up: warm_up(node, report),
        checkpoint_schedule: saves(node, report),
        save_at_notice: node.at_path(&["checkpoint", "atNotice"]).and_then(YamlNode::as_bool) == Some(true),
        initialization: dist::delay(Some(node), "initialization", report),
        rendezvous_timeout,
        compile: dist::delay(Some(node), "compile", report),
        elastic: None,
        communication: None,
    }
}

/// Default of `lastCall`: time that a rendezvous with enough slices waits for more (TorchElastic's
/// `last_call_timeout`).
const LAST_CALL: Duration = Duration::from_secs(30);

fn elastic(
    node: &YamlNode, jobset: &JobSet, saves: &CheckpointSchedule, report: &mut DiagnosticReport,
) -> Option<ElasticTraining> {
    let elastic = node.get("elastic")?;
    let slices_of = slices(elastic, jobset, report)?;
    let replicas = jobset.spec.replicated_jobs[slices_of].replicas;
    let min = elastic.get("minSlices").and_then(YamlNode::as_int)?;
    if min > i64::from(replicas) {
        let name = &jobset.spec.replicated_jobs[slices_of].name;
        let message = format!("minSlices is {min}, but replicatedJob {name:?} has only {replicas} child Jobs");
        let place = elastic.get("minSlices").map_or(elastic.at, |n| n.at);
        report.error(place, message);
    }
    let word = elastic.get("regrow").and_then(YamlNode::as_str);
    let regrow = RegrowPolicy::ALL.into_iter().find(|r| Some(r.as_str()) == word);
    let regrow = regrow.unwrap_or(RegrowPolicy::NextCheckpoint);
    if (saves, regrow) == (&CheckpointSchedule::Never, RegrowPolicy::NextCheckpoint) {
        let message = "regrow: NextCheckpoint requires checkpoints, but checkpoint is Never";
        let error = report.error(elastic.at, message);
        error.suggest("regrow: AtOnce");
    }
    let again = elastic.get("reinitialization");
    Some(ElasticTraining {
        slice_job: slices_of as u32,
        min_slices: min as u32,
        factor: factor(elastic),
        regrow,
        last_call: read::duration(elastic, "lastCall").unwrap_or(LAST_CALL),
        reinitialization: again.map(|_| dist::delay(Some(elastic), "reinitialization", report)),
    })
}

/// Returns the index of the replicatedJob whose child Jobs are the slices.
fn slices(elastic: &YamlNode, jobset: &JobSet, report: &mut DiagnosticReport) -> Option<usize> {
    let all = &jobset.spec.replicated_jobs;
    let names = || all.iter().map(|rj| rj.name.as_str());
    let Some((place, name)) = elastic.get("replicatedJob").and_then(|n| Some((n, n.as_str()?))) else {
        if all.len() != 1 {
            let message = format!(
                "elastic.replicatedJob is required because JobSet {:?} has {} replicatedJobs",
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
    let matching = names().position(|n| n == name);
    if matching.is_none() {
        let message = format!("JobSet {:?} has no replicatedJob {name:?}", jobset.name);
        let error = report.error(place.at, message);
        error.nearest(name, names());
        error.legal(names().take(20).collect::<Vec<_>>().join(", "));
    }
    matching
}

fn above_zero(
    (node, path): (&YamlNode, &str), key: &str, message: &str, report: &mut DiagnosticReport,
) -> Option<Duration> {
    let result = read::duration(node, key);
    let Some(Duration::ZERO) = result else {
        return result;
    };
    let place = node.get(key).map_or(node.at, |n| n.at);
    let error = report.error(place, format!("{path}.{key} is 0: {message}"));
    error.suggest(format!("remove {key}"));
    None
}

fn warm_up(node: &YamlNode, report: &mut DiagnosticReport) -> Option<WarmUp> {
    let node = node.get("warmUp")?;
    Some(WarmUp {
        factor: factor(node)?,
        duration: above_zero((node, "training.warmUp"), "for", "the duration must be positive", report)?,
    })
}

/// Reads `factor` in units of 1e-9.
fn factor(node: &YamlNode) -> Option<u64> {
    let factor = node.get("factor").and_then(YamlNode::as_f64)?;
    Some((factor * 1e9).round() as u64)
}

/// Reads `checkpoint`. The checkpoints in `tiers` come before the durable one.
fn saves(node: &YamlNode, report: &mut DiagnosticReport) -> CheckpointSchedule {
    let durable = match training::progress(node, report) {
        ProgressSpec::Kept => return CheckpointSchedule::Always,
        ProgressSpec::FromScratch => return CheckpointSchedule::Never,
        ProgressSpec::Checkpoints { .. } => node.get("checkpoint"),
    };
    let tiers = durable.and_then(|d| d.get("tiers"));
    let tiers = tiers.map_or(&[][..], YamlNode::items).iter().map(|n| (n, "training.checkpoint.tiers"));
    let all = tiers.chain(durable.map(|node| (node, "training.checkpoint")));
    CheckpointSchedule::Checkpoints(all.filter_map(|(n, path)| checkpoint(n, path, report)).collect())
}

fn checkpoint(node: &YamlNode, path: &str, report: &mut DiagnosticReport) -> Option<Checkpoint> {
    let every = training::every(node, path, report)?;
    let word = node.get("survives").and_then(YamlNode::as_str);
    let survives = LossSpec::NAMED.into_iter().find(|loss| Some(loss.as_str()) == word);
    Some(Checkpoint {
        every,
        blocking: read::duration(node, "blocking").unwrap_or_default(),
        commit_delay: dist::delay(Some(node), "commitDelay", report),
        restore: dist::delay(Some(node), "restore", report),
        survives: survives.unwrap_or(LossSpec::All),
    })
}

/// Removes the container rules derived from commands for JobSets whose training has a fixed amount of work. Their
/// containers exit when the work is done.
pub fn replaces_commands(training: &[TrainingJob], jobsets: &[SubmittedJobSet], rules: &mut Vec<ContainerRule>) {
    let ends = training.iter().filter(|t| t.work.is_some());
    for name in ends.map(|t| &jobsets[t.jobset].jobset.name) {
        rules.retain(|r| r.from_command.is_none() || r.jobset.as_ref() != Some(name));
    }
}
