//! Derives the run time of a container from its command, such as `sleep 10`, if no rule specifies it.
//!
//! This module must never guess: only commands that sleep and then exit are recognized.

use serde_json::Value;
use sim_api::spec::{ContainerRule, ReplicatedJob, SubmittedJobSet};
use sim_base::Duration;

/// Returns a rule for each replicatedJob that has no explicit rule and whose only container sleeps.
pub fn rules(jobsets: &[SubmittedJobSet], given: &[ContainerRule]) -> Vec<ContainerRule> {
    let mut result = Vec::new();
    for submitted in jobsets {
        let jobset = &submitted.jobset;
        let Some(object) = &jobset.object else {
            continue;
        };
        for (i, rj) in jobset.spec.replicated_jobs.iter().enumerate() {
            if given.iter().any(|rule| rule.may_apply_to(jobset, rj)) {
                continue;
            }
            let pod = format!("/spec/replicatedJobs/{i}/template/spec/template/spec");
            if let Some(rule) = object.pointer(&pod).and_then(of_pod) {
                result.push(ContainerRule { jobset: Some(jobset.name.clone()), ..named(rule, rj) });
            }
        }
    }
    result
}

/// Returns whether the run time of a pod follows from the command of its only container; `pod` is a pod spec.
pub fn containers_finish(pod: &Value) -> bool {
    of_pod(pod).is_some()
}

fn named(rule: ContainerRule, rj: &ReplicatedJob) -> ContainerRule {
    ContainerRule { replicated_job: Some(rj.name.clone()), ..rule }
}

fn of_pod(pod: &Value) -> Option<ContainerRule> {
    let [container] = pod["containers"].as_array()?.as_slice() else {
        return None;
    };
    let list = |key: &str| {
        let words = container[key].as_array().cloned().unwrap_or_default();
        words.into_iter().map(|w| w.as_str().map(str::to_owned))
    };
    let words: Option<Vec<String>> = list("command").chain(list("args")).collect();
    let (words, has_command) = (words?, container["command"].is_array());
    let (run_for, exit_code) = read(&words).filter(|_| has_command)?;
    Some(ContainerRule {
        run_for: Some(run_for),
        exit_code,
        from_command: Some(on_one_line(&words)),
        ..ContainerRule::default()
    })
}

/// Formats the command on one line. The lines of a script are joined with semicolons.
fn on_one_line(words: &[String]) -> String {
    let text = words.join(" ");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|l| !l.is_empty()).collect();
    lines.join("; ")
}

/// Returns the sleep time and the exit code of a command; `None` if it does anything else.
fn read(words: &[String]) -> Option<(Duration, i32)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let program = |path: &str| path.rsplit('/').next().unwrap_or("").to_owned();
    match words.as_slice() {
        [sleep, times @ ..] if program(sleep) == "sleep" => Some((slept(times)?, 0)),
        [shell, flags, script]
            if ["sh", "bash", "ash", "dash"].contains(&program(shell).as_str())
                && flags.starts_with('-')
                && flags.ends_with('c') =>
        {
            of_script(script)
        }
        _ => None,
    }
}

fn of_script(script: &str) -> Option<(Duration, i32)> {
    let (mut total, mut sleeps, mut code) = (Duration::ZERO, false, 0);
    let lines = script.replace("&&", "\n").replace(';', "\n");
    for line in lines.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] | ["true"] => {}
            // An `echo` without substitution or redirection only prints.
            ["echo", ..] if !line.contains(['|', '`', '$', '&', '<', '(']) => {}
            ["sleep", times @ ..] => {
                total = Duration(total.0.checked_add(slept(times)?.0)?);
                sleeps = true;
            }
            ["exit", n] => {
                code = n.parse::<u8>().ok()?;
                break;
            }
            _ => return None,
        }
    }
    sleeps.then_some((total, i32::from(code)))
}

/// Sums the arguments of `sleep` like GNU sleep: numbers with suffix s, m, h, d or none.
fn slept(times: &[&str]) -> Option<Duration> {
    let one = |text: &&str| {
        let unit = text.chars().next_back()?;
        let (number, factor) = match "smhd".find(unit) {
            Some(at) => (&text[..text.len() - 1], [1.0, 60.0, 3600.0, 86_400.0][at]),
            None => (*text, 1.0),
        };
        let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        let seconds = number.parse::<f64>().ok().filter(|_| plain)? * factor;
        (seconds < LONGEST_S).then_some(seconds)
    };
    let each: Option<Vec<f64>> = times.iter().map(one).collect();
    let each = each.filter(|each| !each.is_empty())?;
    Some(Duration::from_seconds_f64(each.iter().sum()))
}

/// Upper limit of a recognized sleep, in seconds (10 years). Longer sleeps are treated as running indefinitely.
const LONGEST_S: f64 = 315_360_000.0;

#[cfg(test)]
#[path = "../../../tests/inside/inputs/scenario/commands.rs"]
mod tests;
