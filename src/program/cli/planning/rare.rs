//! `plan rare`: estimates small probabilities by splitting, for a Fleet or a scenario at level `nodes`.

use crate::cli::args::{InputArgs, OutputArgs, Verbosity, days};
use crate::cli::failure::{CommandFailure, bail};
use crate::{cli::inputs::options, cli::output::ProgressLine, cli::planning::trial_runner::TrialRunner};
use sim_analysis::experiment::{ExperimentSubject, without_limit};
use sim_analysis::planning::rare::{RareQuestion, SCHEMA, of_fleet, of_nodes};
use sim_base::{Duration, time};
use sim_report::planning::rare::RareReport;
use sim_surrogate::fleet::SplitExcess;

#[derive(Debug, clap::Args)]
pub struct RareArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Number of restarts that must not be exceeded [default: maxRestarts of the inputs]
    #[arg(long, value_name = "N", conflicts_with = "loss_budget")]
    pub restarts: Option<u32>,
    /// Lost time that a run must not reach; all time without productive work counts as lost
    #[arg(long, value_name = "DURATION")]
    pub loss_budget: Option<Duration>,
    /// End of the observation, as a number of days or a duration [default: the end of the scenario]
    #[arg(long, value_name = "DAYS|DURATION", value_parser = days)]
    pub horizon: Option<f64>,
    /// Number of runs from each level
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(4..=100_000))]
    pub runs: u32,
    /// Number of independent batches for the confidence interval
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub seeds: u64,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn cli(args: &RareArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(&args.input, &args.output)?.with_verbosity(args.verbosity);
    let mut subject = runner.subject.clone();
    let jobsets = subject.jobsets();
    if jobsets.len() > 1 {
        bail!("plan rare is about one JobSet, and the inputs have {}: {}", jobsets.len(), jobsets.join(", "));
    }
    let (limit, horizon) = boundless(&mut subject, args.horizon)?;
    let (excess, at) = match (args.loss_budget, args.restarts.or(limit)) {
        (Some(lost), _) => (SplitExcess::LostTime, lost.0),
        (None, Some(restarts)) => (SplitExcess::Restarts, u64::from(restarts) + 1),
        (None, None) => {
            bail!("the inputs have no maxRestarts: use --restarts N or --loss-budget DURATION, e.g. 5d");
        }
    };
    if at == 0 {
        bail!("--loss-budget must be greater than 0s");
    }
    let question = RareQuestion { excess, limit: at, runs: args.runs, batches: args.seeds };
    let batches = args.seeds;
    let progress = ProgressLine::new(runner.quiet, |done| format!("{done}/{batches} batches"));
    let reach = |done| progress.reach(done);
    let on = (runner.input.threads(), &runner.limits);
    let result = match &subject {
        ExperimentSubject::Fleet(fleet) => of_fleet((fleet, runner.seed), &question, on, &reach),
        ExperimentSubject::Nodes(nodes) => of_nodes((nodes, runner.seed), &question, on, &reach),
        ExperimentSubject::Pods { .. } => return Err(refused()),
    };
    drop(progress);
    let Some(rare) = result? else {
        return runner.interrupted("fewer than two batches were finished");
    };
    let (word, limit) = match excess {
        SplitExcess::Restarts => ("restarts", at as f64),
        SplitExcess::LostTime => ("lost_s", at as f64 / 1e9),
    };
    let batches = rare.batches as u64;
    runner.note(rare.estimates.iter().map(|p| p.to_bits()));
    let mut of = runner.provenance(SCHEMA);
    of.replications_played = rare.simulated;
    let report = RareReport::new(of, (word, limit, horizon.seconds()), rare);
    runner.print_report(&report, &args.output, ("plan rare", args.seeds, &repeated(args)))?;
    if batches < args.seeds {
        runner.interrupted(&format!("{batches} of {} batches are reported", args.seeds))
    } else {
        Ok(())
    }
}

/// Removes the restart limit. Returns the previous limit and the end time of runs.
fn boundless(subject: &mut ExperimentSubject, horizon: Option<f64>) -> Result<(Option<u32>, Duration), CommandFailure> {
    let until = horizon.map(|days| Duration::from_seconds_f64(days * 86_400.0));
    match subject {
        // The end of the work may end the run before the time limit.
        ExperimentSubject::Fleet(fleet) if until.is_none() && fleet.training.work < time::MAX_INPUT_DURATION => {
            Ok((fleet.job.max_restarts.take(), fleet.stop_at))
        }
        ExperimentSubject::Pods { .. } => Err(refused()),
        _ => without_limit(subject, 0, until).map_err(|e| CommandFailure::Invalid(e.to_string())),
    }
}

fn refused() -> CommandFailure {
    let text = "plan rare simulates hundreds of thousands of runs: it needs a Fleet, or a scenario that level nodes supports (docs/levels.md)";
    CommandFailure::Invalid(text.to_owned())
}

fn repeated(args: &RareArgs) -> String {
    [
        options("runs", [args.runs]),
        options("restarts", args.restarts),
        options("loss-budget", args.loss_budget),
        options("horizon", args.horizon),
    ]
    .concat()
}
