//! `plan budget`: how long maxRestarts lasts, which causes use it, and the effect of a rule that ignores some causes.

use crate::cli::args::{InputArgs, OutputArgs, Verbosity, days};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::{interrupt, output};
use crate::{
    cli::inputs::node_level,
    cli::inputs::options,
    cli::output::ProgressLine,
    cli::planning::trial_runner::{CheckArgs, TrialRunner},
};
use sim_analysis::experiment::{
    CountedRun, ExperimentSubject, NodesExperiment, count_restarts, never_placed, with_maintenance_rule, without_limit,
};
use sim_analysis::planning::budget::{BudgetQuestion, LossBudget, RuleMatch, RuledBudget, SCHEMA};
use sim_api::spec::RandomAction;
use sim_base::Duration;
use sim_report::planning::budget::BudgetReport;

#[derive(Debug, clap::Args)]
pub struct BudgetArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// JobSet whose maxRestarts is examined [default: the only JobSet]
    #[arg(long, value_name = "NAME")]
    pub jobset: Option<String>,
    /// Time that maxRestarts must last, as a number of days or a duration [default: the end of the scenario]
    #[arg(long, value_name = "DAYS|DURATION", value_parser = days)]
    pub horizon: Option<f64>,
    /// Probability with which the smallest maxRestarts must last until the horizon
    #[arg(long, value_name = "P", default_value = "0.99", value_parser = probability)]
    pub probability: f64,
    /// Do not count restarts by this cause (repeatable) [default: if pods are drained, a rule that ignores
    /// disruptions is simulated]
    #[arg(long, value_name = "CAUSE")]
    pub ignore: Vec<String>,
    /// Number of replications [default: 200 at level pods, 2,000 otherwise]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub check: CheckArgs,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn probability(text: &str) -> Result<f64, String> {
    let (number, of) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(p) if p > 0.0 && p < of => Ok(p / of),
        _ => Err("expected a probability between 0 and 1, e.g. 0.99 or 99%".to_owned()),
    }
}

/// Default number of replications, with pods and otherwise.
const PODS: u64 = 200;
const FLEET: u64 = 2_000;

pub fn cli(args: &BudgetArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(&args.input, &args.output)?.with_verbosity(args.verbosity);
    runner.check_levels_differ(&args.check)?;
    let jobset = owner_text(&runner, args.jobset.as_deref())?;
    let mut subject = runner.subject.clone();
    let until = args.horizon.map(|days| Duration::from_seconds_f64(days * 86_400.0));
    let (limit, horizon) = without_limit(&mut subject, jobset, until).map_err(|e| e.to_string())?;
    let n = args.seeds.unwrap_or(runner.by_level(PODS, FLEET));
    let runs = simulate(&mut runner, (&subject, jobset), n, "")?;
    if let Some(why) = never_placed(runs.iter().map(|r| r.never_placed.as_deref())) {
        return Err(CommandFailure::CannotBePlaced(why));
    }
    let question = BudgetQuestion {
        horizon_s: horizon.seconds(),
        limit,
        probability: args.probability,
        node_failures: node_failures(&subject),
    };
    known(&subject, &args.ignore, &runs)?;
    let ruled = match args.ignore.as_slice() {
        [] => ruled(&mut runner, (&subject, jobset), runs.len() as u64)?,
        causes => Some(RuledBudget::ignoring(causes, &runs)),
    };
    let Some(budget) = LossBudget::from_runs(&question, &runs, ruled.as_ref()) else {
        return Err(interrupt::failure("no replication was finished"));
    };
    let recommended = match (&subject, budget.least.high) {
        (ExperimentSubject::Nodes(nodes), Some(limit)) => Some(with_limit(nodes, (jobset, limit), runner.quiet)?),
        _ => None,
    };
    runner.check_nodes(&args.check, recommended.as_ref())?;
    let name = subject.jobsets().get(jobset).cloned().unwrap_or_default();
    let report = BudgetReport::new(runner.provenance(SCHEMA), name, budget);
    runner.print_report(&report, &args.output, ("plan budget", n, &repeated(args)))?;
    if (runs.len() as u64) < n || runner.limits.flag.is_raised() {
        return runner.interrupted(&format!("{} of {n} replications were finished and are reported", runs.len()));
    }
    runner.check_result()
}

/// Returns the experiment with this `maxRestarts` of a JobSet.
fn with_limit(
    nodes: &NodesExperiment, (jobset, limit): (usize, u32), quiet: bool,
) -> Result<NodesExperiment, CommandFailure> {
    let mut scenario = nodes.scenario().clone();
    if let Some(policy) = scenario.jobsets[jobset].jobset.spec.failure_policy.as_mut() {
        policy.max_restarts = i32::try_from(limit).unwrap_or(i32::MAX);
    }
    node_level::measured(&scenario, quiet)
}

fn owner_text(runner: &TrialRunner<'_>, name: Option<&str>) -> Result<usize, CommandFailure> {
    let all = runner.subject.jobsets();
    match (name, all.len()) {
        (None, 0 | 1) => Ok(0),
        (Some(name), _) => {
            let matching = all.iter().position(|known| known == name);
            matching.ok_or_else(|| unknown("--jobset", "JobSet", name, &all))
        }
        (None, _) => {
            bail!("there are several JobSets; select one with --jobset: {}", all.join(", "))
        }
    }
}

fn simulate(
    runner: &mut TrialRunner<'_>, of: (&ExperimentSubject, usize), n: u64, what: &str,
) -> Result<Vec<CountedRun>, CommandFailure> {
    let text = |done| format!("{what}{done}/{n} replications");
    let progress = ProgressLine::new(runner.quiet, text);
    let reach = |done| progress.reach(done);
    let on = (runner.input.threads(), &runner.limits);
    let runs = count_restarts(of, (runner.seed, 0..n), on, &reach);
    drop(progress);
    let runs = runs?;
    runner.note(runs.iter().map(|r| r.digest));
    Ok(runs)
}

/// Simulates the runs again with a rule that ignores disruptions; `None` if there are no drains that the rule could
/// ignore.
fn ruled(
    runner: &mut TrialRunner<'_>, (subject, jobset): (&ExperimentSubject, usize), n: u64,
) -> Result<Option<RuledBudget>, CommandFailure> {
    let Some(scenario) = subject.scenario() else {
        return Ok(None);
    };
    let planned = |does: &RandomAction| matches!(does, RandomAction::Drain | RandomAction::Reclaim);
    if !scenario.fault_processes.iter().any(|p| planned(&p.action)) {
        return Ok(None);
    }
    let mut subject = subject.clone();
    let Some(what) = with_maintenance_rule(&mut subject, jobset) else {
        if !runner.quiet {
            output::note(
                "note: no Job has a podFailurePolicy with FailJob on DisruptionTarget, so no rule can distinguish maintenance from failures; --ignore CAUSE shows the effect of such a rule",
            );
        }
        return Ok(None);
    };
    let runs = simulate(runner, (&subject, jobset), n, "with a rule that ignores disruptions: ")?;
    let what = what.to_owned();
    let matches = RuleMatch::PodFailurePolicy;
    Ok((runs.len() as u64 == n).then_some(RuledBudget { what, runs, matches }))
}

/// Returns the causes of nodes that stop without a notice; empty for a Fleet.
fn node_failures(subject: &ExperimentSubject) -> Vec<String> {
    let Some(scenario) = subject.scenario() else {
        return Vec::new();
    };
    let fails = |does: &RandomAction| matches!(does, RandomAction::Crash | RandomAction::Partition);
    let own = scenario.fault_processes.iter().filter(|p| fails(&p.action));
    let mut causes: Vec<String> = own.map(|p| p.cause.clone()).collect();
    causes.sort();
    causes.dedup();
    causes
}

/// Returns an error for causes that occur neither in the inputs nor in the runs.
fn known(subject: &ExperimentSubject, request: &[String], runs: &[CountedRun]) -> Result<(), CommandFailure> {
    let mut all = LossBudget::cause_names(runs);
    match subject {
        ExperimentSubject::Fleet(fleet) => all.extend(fleet.faults.iter().map(|f| f.cause.clone())),
        ExperimentSubject::Pods { .. } | ExperimentSubject::Nodes(_) => {
            let processes = subject.scenario().into_iter().flat_map(|scenario| &scenario.fault_processes);
            all.extend(processes.map(|p| p.cause.clone()));
        }
    }
    all.sort();
    all.dedup();
    match request.iter().find(|name| !all.contains(name)) {
        Some(name) => Err(unknown("--ignore", "cause", name, &all)),
        None => Ok(()),
    }
}

fn unknown(option: &str, kind: &str, name: &str, known: &[String]) -> CommandFailure {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    CommandFailure::unknown_name(option, kind, name, &known)
}

fn repeated(args: &BudgetArgs) -> String {
    [
        options("jobset", &args.jobset),
        options("horizon", args.horizon),
        options("probability", [args.probability]),
        options("ignore", &args.ignore),
        args.check.repeated(),
    ]
    .concat()
}
