//! `plan budget`: how long maxRestarts lasts, who uses it, and what a rule that ignores some causes buys.

use super::{Lab, no_runs, unknown};
use crate::cli::args::BudgetArgs;
use crate::cli::inputs::quoted;
use crate::cli::{Failure, interrupt, output};
use sim_analysis::experiment::{
    CountedRun, Subject, count_restarts, never_placed, with_maintenance_rule, without_limit,
};
use sim_analysis::planning::budget::{Budget, Question, Ruled, SCHEMA};
use sim_api::spec::RandomAction;
use sim_base::Duration;
use sim_report::planning::budget::BudgetReport;

/// Replications with pods, and of a Fleet, unless it is said.
const PODS: u64 = 200;
const FLEET: u64 = 2_000;

pub fn cli(args: &BudgetArgs) -> Result<(), Failure> {
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let jobset = whose(&lab, args.jobset.as_deref())?;
    let mut subject = lab.subject.clone();
    let until = args
        .horizon
        .map(|days| Duration::from_seconds_f64(days * 86_400.0));
    let (limit, horizon) = without_limit(&mut subject, jobset, until).map_err(Failure::Invalid)?;
    let n = args.seeds.unwrap_or(lab.by_level(PODS, FLEET));
    let runs = play(&mut lab, (&subject, jobset), n, "")?;
    if let Some(why) = never_placed(runs.iter().map(|r| r.never_placed.as_deref())) {
        return Err(Failure::CannotBePlaced(why));
    }
    let question = Question {
        horizon_s: horizon.seconds(),
        limit,
        probability: args.probability,
    };
    known(&subject, &args.ignore, &runs)?;
    let ruled = match args.ignore.as_slice() {
        [] => ruled(&mut lab, (&subject, jobset), runs.len() as u64)?,
        causes => Some(Ruled::ignoring(causes, &runs)),
    };
    let Some(budget) = Budget::of(&question, &runs, ruled.as_ref()) else {
        return Err(interrupt::failure("no replication is finished"));
    };
    let name = subject.jobsets().get(jobset).cloned().unwrap_or_default();
    let report = BudgetReport::new(lab.provenance(SCHEMA), name, budget);
    lab.tell(&report, &args.tell, ("plan budget", n, &options(args)))?;
    match (runs.len() as u64) < n || lab.limits.flag.is_raised() {
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

fn play(
    lab: &mut Lab<'_>,
    of: (&Subject, usize),
    n: u64,
    what: &str,
) -> Result<Vec<CountedRun>, Failure> {
    let told = lab.upwards(|done| format!("{what}{done}/{n} replications"));
    let on = (lab.play.threads(), &lab.limits);
    let runs = count_restarts(of, (lab.seed, 0..n), on, &told);
    lab.progress("");
    let runs = runs.map_err(no_runs)?;
    lab.note(runs.iter().map(|r| r.digest));
    Ok(runs)
}

/// The same runs with a rule that ignores disruptions, where there are drains that it could ignore.
fn ruled(
    lab: &mut Lab<'_>,
    (subject, jobset): (&Subject, usize),
    n: u64,
) -> Result<Option<Ruled>, Failure> {
    let Subject::Pods { scenario, .. } = subject else {
        return Ok(None);
    };
    let planned = |does: &RandomAction| matches!(does, RandomAction::Drain | RandomAction::Reclaim);
    if !scenario.fault_processes.iter().any(|p| planned(&p.does)) {
        return Ok(None);
    }
    let mut subject = subject.clone();
    let Some(what) = with_maintenance_rule(&mut subject, jobset) else {
        if !lab.quiet {
            output::note(
                "note: no Job has a podFailurePolicy with FailJob on DisruptionTarget, so no rule could tell maintenance from failures; --ignore CAUSE says what one would be worth",
            );
        }
        return Ok(None);
    };
    let runs = play(
        lab,
        (&subject, jobset),
        n,
        "with a rule that ignores disruptions: ",
    )?;
    let what = what.to_owned();
    Ok((runs.len() as u64 == n).then_some(Ruled { what, runs }))
}

/// Refuses causes that neither the inputs nor the runs know.
fn known(subject: &Subject, asked: &[String], runs: &[CountedRun]) -> Result<(), Failure> {
    let mut all = Budget::cause_names(runs);
    match subject {
        Subject::Fleet(fleet) => all.extend(fleet.faults.iter().map(|f| f.cause.clone())),
        Subject::Pods { scenario, .. } => {
            all.extend(scenario.fault_processes.iter().map(|p| p.cause.clone()));
        }
        Subject::Collapsed(collapsed) => {
            let processes = collapsed.scenario().fault_processes.iter();
            all.extend(processes.map(|p| p.cause.clone()));
        }
    }
    all.sort();
    all.dedup();
    match asked.iter().find(|name| !all.contains(name)) {
        Some(name) => Err(unknown("--ignore", "cause", name, &all)),
        None => Ok(()),
    }
}

fn options(args: &BudgetArgs) -> String {
    let mut text = String::new();
    if let Some(name) = &args.jobset {
        text.push_str(&format!(" --jobset {}", quoted(name)));
    }
    if let Some(days) = args.horizon {
        text.push_str(&format!(" --horizon {days}"));
    }
    text.push_str(&format!(" --probability {}", args.probability));
    for cause in &args.ignore {
        text.push_str(&format!(" --ignore {}", quoted(cause)));
    }
    text
}
