//! What is assumed where the inputs say nothing, in sentences.

use crate::base::JobSetId;
use crate::spec::{ReplicatedJob, Scenario};
use std::collections::BTreeMap;

/// How long containers run of which no rule of the scenario says it, and how to say it.
pub fn containers(scenario: &Scenario) -> Vec<String> {
    let mut lines = Vec::new();
    let mut endless: Vec<&str> = Vec::new();
    let mut by_command: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut all: Vec<&ReplicatedJob> = Vec::new();
    for (i, submitted) in scenario.jobsets.iter().enumerate() {
        let jobset = &submitted.jobset;
        let training = scenario.training_of(JobSetId(i as u32));
        let trains = training.is_some_and(|t| t.work.is_some());
        for rj in jobset
            .spec
            .replicated_jobs
            .iter()
            .filter(|r| r.replicas > 0)
        {
            let mut rules = scenario.containers.iter();
            match rules.find(|rule| rule.may_be_for(jobset, rj)) {
                None if trains => {}
                None => endless.push(&rj.name),
                Some(rule) => {
                    let (Some(command), Some(run_for)) = (&rule.from_command, rule.run_for) else {
                        continue;
                    };
                    let code = match rule.exit_code {
                        0 => String::new(),
                        code => format!(", exit code {code}"),
                    };
                    let told =
                        format!("run for {run_for}{code}, read from their command {command:?}");
                    by_command.entry(told).or_default().push(&rj.name);
                }
            }
            all.push(rj);
        }
    }
    for (told, of) in &by_command {
        lines.push(format!("those of {} {told}", list(of)));
    }
    if endless.len() == all.len() && !endless.is_empty() {
        lines.push("run for ever, as nothing says when they end".to_owned());
    } else if !endless.is_empty() {
        lines.push(format!(
            "those of {} run for ever, as nothing says when they end",
            list(&endless)
        ));
    }
    let first = by_command.values().next().unwrap_or(&endless).first();
    if let Some(name) = first {
        lines.push(format!(
            "(say it with --set 'containers=[{{replicatedJob: {name}, runFor: 1h}}]', or under containers of a scenario)"
        ));
    }
    lines
}

fn list(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len() {
        0..=SHOWN => shown,
        n => format!("{shown} and {} more", n - SHOWN),
    }
}
