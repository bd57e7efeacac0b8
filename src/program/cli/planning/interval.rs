//! `plan interval`: finds the best checkpoint interval and compares it with the closed forms.

use crate::cli::args::{InputArgs, OutputArgs, Verbosity};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::planning::trial_runner::{CheckArgs, TrialRunner, rows};
use crate::{cli::inputs::options, cli::planning::formula};
use sim_analysis::planning::interval::{IntervalSearch, best};
use sim_analysis::planning::{ClosedForm, SampleMetric};
use sim_base::Duration;
use sim_report::planning::interval::IntervalReport;
use std::ops::Range;

#[derive(Debug, clap::Args)]
pub struct IntervalArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Path of the interval field
    #[arg(long, value_name = "PATH", default_value = "training.checkpoint.every")]
    pub path: String,
    /// Metric to optimize [default: goodput, or effective_training_ratio for a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Maximum number of replications per interval [default: 160 at level pods, 1,600 otherwise]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub check: CheckArgs,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Schema name of the JSON output.
const SCHEMA: &str = "jobset-sim/plan-interval/v1";
/// Initial number of replications per interval.
const FIRST: u64 = 40;
/// Default maximum number of replications per interval, with pods and otherwise.
const PODS: u64 = 160;
const FLEET: u64 = 1_600;

pub fn cli(args: &IntervalArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(&args.input, &args.output)?.with_verbosity(args.verbosity);
    runner.check_levels_differ(&args.check)?;
    let is_interval = args.path.starts_with("parameters.") || args.path.rsplit('.').next() == Some("every");
    if !is_interval {
        bail!("--path {} is no interval of checkpoints: its name ends with .every, or it is a parameter", args.path);
    }
    let now = formula::checkpoints(&runner.subject, &args.path)?;
    if now.blocking.0 == 0 {
        bail!(
            "checkpoints do not block work (blocking 0s), so the shortest interval that the storage supports is best"
        );
    }
    let metric = runner.metric(args.metric.as_deref());
    let most = args.seeds.unwrap_or(runner.by_level(PODS, FLEET));
    let first = FIRST.min(most);
    // The interruption rate at the current interval determines where the search starts.
    let set = |seconds: f64| {
        let every = format!("{}ms", (seconds * 1e3).round() as u64);
        vec![(args.path.clone(), every)]
    };
    let base = runner.replicate(&set(now.every.seconds()), 0..first, "current setting")?;
    let mut work = formula::at_work(&runner.subject, &base.0);
    if base.0.is_empty() {
        return runner.interrupted("no replication was finished");
    }
    if work.1 == 0.0 {
        bail!("no interruptions in {first} replications: without failures, no checkpoints are needed");
    }
    let search = IntervalSearch {
        start_s: ClosedForm::new(now.blocking.seconds(), work.0 / work.1).exact_s,
        now_s: Some(now.every.seconds()),
        bounds_s: [now.blocking.seconds().max(0.1), 30.0 * 86_400.0],
        first,
        most,
    };
    let result = {
        let mut play = |every: &u64, which: Range<u64>| -> Result<SampleMetric, CommandFailure> {
            let seconds = *every as f64 / 1e3;
            let what = format!("every {}", Duration::from_millis(*every));
            let (replication, jobsets) = runner.replicate(&set(seconds), which, &what)?;
            let (seconds, times) = formula::at_work(&runner.subject, &replication);
            work = (work.0 + seconds, work.1 + times);
            rows(&replication, &jobsets, (&metric, "--metric"), None)
        };
        best(&search, &metric, &mut play)?
    };
    let closed = ClosedForm::new(now.blocking.seconds(), work.0 / work.1);
    let interrupted = result.interrupted;
    runner.check(&args.check, result.every_s.map(&set).as_deref())?;
    let labels = (args.path.as_str(), metric.as_str(), now.every.seconds());
    let unknown = formula::unknown_to_them(&runner.subject, &args.path);
    let report = IntervalReport::new(runner.provenance(SCHEMA), labels, result, closed, unknown);
    let more = options("path", [&args.path]) + &options("metric", [&metric]) + &args.check.repeated();
    runner.print_report(&report, &args.output, ("plan interval", most, &more))?;
    if interrupted {
        return runner.interrupted("the results so far are reported");
    }
    runner.check_result()
}
