//! `budget`: how long maxRestarts lasts, who uses it, and what a rule that ignores some causes buys.

use super::{Lab, no_runs, unknown};
use crate::base::Duration;
use crate::cli::args::BudgetArgs;
use crate::cli::inputs::quoted;
use crate::cli::{Failure, interrupt};
use crate::experiment::{CountedRun, Subject, count_restarts, without_limit};
use crate::report::planning::budget::BudgetReport;
use crate::search::budget::{Budget, Question, SCHEMA};
use crate::spec::RandomAction;

/// Replications with pods, and of a Fleet, unless it is said.
const PODS: u64 = 200;
const FLEET: u64 = 2_000;

pub fn cli(args: &BudgetArgs) -> Result<(), Failure> {
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let jobset = whose(&lab, args.jobset.as_deref())?;
    let mut subject = lab.subject.clone();
    let until = args
        .until_day
        .map(|days| Duration::from_seconds_f64(days * 86_400.0));
    let (limit, horizon) = without_limit(&mut subject, jobset, until).map_err(Failure::Invalid)?;
    let n = args.seeds.unwrap_or(lab.by_level(PODS, FLEET));
    let told = |done: u64| lab.progress(&format!("{done}/{n} replications"));
    let on = (lab.play.threads(), &lab.limits);
    let runs = count_restarts((&subject, jobset), (lab.seed, 0..n), on, &told);
    lab.progress("");
    let runs: Vec<CountedRun> = runs.map_err(no_runs)?;
    lab.note(runs.iter().map(|r| r.digest));
    let question = Question {
        horizon_s: horizon.seconds(),
        limit,
        survive: args.survive,
        ignored: ignored(&subject, &args.ignore, &runs)?,
    };
    let Some(budget) = Budget::of(&question, &runs) else {
        return Err(interrupt::failure("no replication is finished"));
    };
    let name = subject.jobsets().get(jobset).cloned().unwrap_or_default();
    let report = BudgetReport::new(lab.provenance(SCHEMA), name, budget);
    lab.tell(&report, &args.tell, ("budget", n, &options(args)))?;
    match (runs.len() as u64) < n {
        true => lab.interrupted(&format!(
            "{} of {n} replications are finished, and these are reported",
            runs.len()
        )),
        false => Ok(()),
    }
}

fn whose(lab: &Lab<'_>, name: Option<&str>) -> Result<usize, Failure> {
    let all = lab.subject.jobsets();
    match (name, all.len()) {
        (None, 0 | 1) => Ok(0),
        (Some(name), _) => {
            let found = all.iter().position(|known| known == name);
            found.ok_or_else(|| unknown("--jobset", "JobSet", name, &all))
        }
        (None, _) => {
            let text = format!(
                "there are several JobSets; say which with --jobset: {}",
                all.join(", ")
            );
            Err(Failure::Invalid(text))
        }
    }
}

/// What was asked for; else what is planned: drains and reclaims.
fn ignored(
    subject: &Subject,
    asked: &[String],
    runs: &[CountedRun],
) -> Result<Vec<String>, Failure> {
    let known = Budget::cause_names(runs);
    for name in asked {
        let in_file = causes(subject).iter().any(|(cause, _)| cause == name);
        if !in_file && !known.contains(name) {
            let mut all: Vec<String> = causes(subject)
                .into_iter()
                .map(|(cause, _)| cause)
                .collect();
            all.extend(known.iter().cloned());
            all.sort();
            all.dedup();
            return Err(unknown("--ignore", "cause", name, &all));
        }
    }
    if !asked.is_empty() {
        return Ok(asked.to_vec());
    }
    let planned = causes(subject)
        .into_iter()
        .filter(|(cause, planned)| *planned && known.contains(cause));
    Ok(planned.map(|(cause, _)| cause).collect())
}

/// Causes of random faults, and whether they are planned.
fn causes(subject: &Subject) -> Vec<(String, bool)> {
    match subject {
        Subject::Fleet(fleet) => fleet
            .faults
            .iter()
            .map(|f| (f.cause.clone(), false))
            .collect(),
        Subject::Pods { scenario, .. } => {
            let planned =
                |does: &RandomAction| matches!(does, RandomAction::Drain | RandomAction::Reclaim);
            let all = scenario.fault_processes.iter();
            all.map(|p| (p.cause.clone(), planned(&p.does))).collect()
        }
    }
}

fn options(args: &BudgetArgs) -> String {
    let mut text = String::new();
    if let Some(name) = &args.jobset {
        text.push_str(&format!(" --jobset {}", quoted(name)));
    }
    if let Some(days) = args.until_day {
        text.push_str(&format!(" --until-day {days}"));
    }
    text.push_str(&format!(" --survive {}", args.survive));
    for cause in &args.ignore {
        text.push_str(&format!(" --ignore {}", quoted(cause)));
    }
    text
}
