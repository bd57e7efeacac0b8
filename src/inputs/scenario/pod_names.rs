//! Pod names without their random suffix: `<jobset>-<replicatedJob>-<job index>-<completion index>`.
//!
//! For a NonIndexed Job, the last part is the position among the active pods, starting at 0. If it is omitted, the
//! first pod is meant.

use sim_api::spec::{CompletionMode, JobSpec, ReplicatedJob, SubmittedJobSet};

/// Returns whether a pod of that name can exist.
pub fn exists(jobsets: &[SubmittedJobSet], name: &str) -> bool {
    complete_name(jobsets, name).is_some()
}

/// Returns the full name of a pod, if the pod can exist.
pub fn complete_name(jobsets: &[SubmittedJobSet], name: &str) -> Option<String> {
    each(jobsets).find_map(|(prefix, rj)| {
        let rest = name.strip_prefix(prefix.as_str())?;
        let job = rest.split_once('-').map_or(rest, |(job, _)| job);
        let place = || of_job(&rj.template, &rest[job.len()..]);
        let pod = below(job, rj.replicas).then(place)??;
        Some(format!("{prefix}{job}-{pod}"))
    })
}

/// Returns the completion index or position of a Job's pod, from the part of the name after the Job's name.
pub fn of_job<'n>(job: &JobSpec, rest: &'n str) -> Option<&'n str> {
    if rest.is_empty() && job.completion_mode == CompletionMode::NonIndexed {
        return Some("0");
    }
    let place = rest.strip_prefix('-')?;
    below(place, places(job).max(1)).then_some(place)
}

/// Returns the pods that match a name given by the user. The JobSet's name may be omitted, and `/` may replace `-`.
pub fn meant(jobsets: &[SubmittedJobSet], name: &str) -> Vec<String> {
    let name = name.replace('/', "-");
    let long = jobsets.iter().map(|s| format!("{}-{name}", s.jobset.name));
    let names = std::iter::once(name.clone()).chain(long);
    names.filter_map(|name| complete_name(jobsets, &name)).collect()
}

fn each(jobsets: &[SubmittedJobSet]) -> impl Iterator<Item = (String, &ReplicatedJob)> {
    jobsets.iter().flat_map(|s| {
        let jobs = s.jobset.spec.replicated_jobs.iter();
        jobs.map(|job| (format!("{}-{}-", s.jobset.name, job.name), job))
    })
}

/// Returns whether `text` is a number below `count` in the format of Kubernetes names: no sign and no leading zeros.
pub fn below(text: &str, count: u32) -> bool {
    text.parse::<u32>().is_ok_and(|i| i < count && i.to_string() == text)
}

/// Returns the number of completion indexes of an Indexed Job, or the number of pods of a NonIndexed Job that run at
/// once.
pub fn places(job: &JobSpec) -> u32 {
    let (parallelism, completions) = (job.parallelism(), job.completions());
    match job.completion_mode {
        CompletionMode::Indexed => completions.unwrap_or(parallelism),
        CompletionMode::NonIndexed => completions.map_or(parallelism, |n| n.min(parallelism)),
    }
}

/// Returns short patterns for all pod names, such as `train-workers-{0..4}-{0..999}`.
pub fn describe(jobsets: &[SubmittedJobSet]) -> String {
    const SHOWN_MAX: usize = 8;
    let mut names: Vec<String> = each(jobsets)
        .filter(|(_, job)| job.replicas > 0)
        .map(|(prefix, job)| {
            let (jobs, pods) = (range(job.replicas), range(places(&job.template)));
            format!("{prefix}{jobs}-{pods}")
        })
        .collect();
    if names.len() > SHOWN_MAX {
        names.truncate(SHOWN_MAX);
        names.push("...".to_owned());
    }
    names.join(", ")
}

pub fn range(count: u32) -> String {
    match count {
        0 | 1 => "0".to_owned(),
        n => format!("{{0..{}}}", n - 1),
    }
}
