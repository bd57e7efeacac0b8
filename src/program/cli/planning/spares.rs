//! `plan spares`: finds the smallest value that satisfies a target, and the cost of each candidate.

use crate::cli::args::{FieldOverride, InputArgs, OutputArgs, Verbosity};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::planning::trial_runner::{TrialRunner, rows};
use crate::{cli::inputs::LoadedInput, cli::inputs::options, cli::output};
use sim_analysis::planning::minimum_multi::find_minimums;
use sim_analysis::planning::{
    MetricTarget, ParameterRange as ValueRange, ParameterRangeError, RangeUnit, SampleMetric, SearchAnswer, SearchPlan,
    find_minimum,
};
use sim_report::planning::minimum_multi::MinimumMultiReport;
use sim_report::planning::spares::SparesReport;
use std::ops::Range;

#[derive(Debug, clap::Args)]
pub struct SparesArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Target to satisfy, e.g. 'goodput.p10 >= 0.9'
    #[arg(long, value_name = "METRIC.QUANTILE >= LIMIT")]
    pub target: MetricTarget,
    /// Field to search, with its bounds (repeatable); with several fields, such as hosts, slices and racks, all
    /// minimal combinations and the cheapest one are printed
    #[arg(long = "path", value_name = "PATH[=MIN..MAX]", default_value = "parameters.spares", value_parser = searched)]
    pub paths: Vec<SearchedSpares>,
    /// Smallest value to try
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min: u64,
    /// Largest value to try
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub max: u64,
    /// Maximum number of replications per candidate [default: 320 with pods, 2,560 for a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Price of a node-hour of a Fleet [default: costs are in node-hours]
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub price_per_node_hour: Option<f64>,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A field to search and its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchedSpares {
    /// Argument text as given on the command line.
    pub text: String,
    pub path: String,
    pub bounds: Option<(u64, u64)>,
}

fn searched(text: &str) -> Result<SearchedSpares, String> {
    let bare = SearchedSpares { text: text.to_owned(), path: text.to_owned(), bounds: None };
    if !text.contains('=') {
        return Ok(bare);
    }
    let range: ValueRange = text.parse().map_err(|e: ParameterRangeError| e.to_string())?;
    if range.unit != RangeUnit::Whole || range.low < 0.0 {
        return Err("expected PATH, or PATH=MIN..MAX with whole numbers of at least 0".to_owned());
    }
    Ok(SearchedSpares { path: range.path, bounds: Some((range.low as u64, range.high as u64)), ..bare })
}

fn price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok(price),
        _ => Err("expected a number of at least 0, e.g. 98.32".to_owned()),
    }
}

/// Schema name of the JSON output for one field.
const SCHEMA: &str = "jobset-sim/plan-spares/v1";
/// Schema name of the JSON output for several fields.
const SCHEMA_SEVERAL: &str = "jobset-sim/plan-spares-levels/v1";
/// Replications per candidate before the first check; the intervals of p10 and p90 need at least 36 values.
const FIRST_LOOK: u64 = 40;
/// Default maximum number of replications per candidate, with pods and for a Fleet.
const PODS: u64 = 320;
const FLEET: u64 = 2_560;

pub fn cli(args: &SparesArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(&args.input, &args.output)?.with_verbosity(args.verbosity);
    let plans = plans(&runner, args)?;
    if let Some(needed) = plans[0].too_few(&args.target) {
        output::note(&format!(
            "{} needs at least {needed} replications per candidate to be judged: increase --seeds",
            args.target.text
        ));
    }
    match plans.as_slice() {
        [plan] => single_search(&mut runner, args, plan),
        plans => several_levels(&mut runner, args, plans),
    }
}

fn plans(runner: &TrialRunner<'_>, args: &SparesArgs) -> Result<Vec<SearchPlan>, CommandFailure> {
    let most = args.seeds.unwrap_or(runner.by_level(PODS, FLEET));
    let mut plans = Vec::new();
    for (i, searched) in args.paths.iter().enumerate() {
        let (min, max) = searched.bounds.unwrap_or((args.min, args.max));
        if min > max {
            bail!("--min {min} is greater than --max {max}: the range is empty");
        }
        if args.paths[..i].iter().any(|other| other.path == searched.path) {
            bail!("--path {} is used twice", searched.path);
        }
        if sim_inputs::is_uncertain(runner.given.text(), &searched.path) {
            bail!(
                "--path {0} is an uncertainty that cannot be chosen; use plan breakeven --over {0} or sensitivity --input {0}",
                searched.path
            );
        }
        plans.push(SearchPlan { min, max, first_look: FIRST_LOOK.min(most), most });
    }
    Ok(plans)
}

fn single_search(runner: &mut TrialRunner<'_>, args: &SparesArgs, plan: &SearchPlan) -> Result<(), CommandFailure> {
    let result = {
        let mut play = |value: &u64, which: Range<u64>| candidate(runner, args, &[*value], which);
        find_minimum(plan, &args.target, &mut play)?
    };
    if result.candidates.is_empty() {
        return runner.interrupted("no replication was finished");
    }
    let currency = currency(&runner.loaded, args.price_per_node_hour);
    let of = runner.provenance(SCHEMA);
    let path = &args.paths[0].path;
    let report = SparesReport::new(of, path, &args.target, &result, &currency);
    let command = ("plan spares", plan.most, &*repeated(args));
    runner.print_report(&report, &args.output, command)?;
    if result.interrupted {
        return runner.interrupted("the results so far are reported");
    }
    match result.answer {
        SearchAnswer::Least { .. } | SearchAnswer::Between { .. } => Ok(()),
        SearchAnswer::Nothing | SearchAnswer::Open { .. } => {
            Err(CommandFailure::NotFound(report.conclusion[0].clone()))
        }
    }
}

fn several_levels(runner: &mut TrialRunner<'_>, args: &SparesArgs, plans: &[SearchPlan]) -> Result<(), CommandFailure> {
    let result = {
        let mut play = |values: &[u64], which: Range<u64>| candidate(runner, args, values, which);
        find_minimums(plans, &args.target, &mut play)?
    };
    if result.simulated == 0 {
        return runner.interrupted("no replication was finished");
    }
    let currency = currency(&runner.loaded, args.price_per_node_hour);
    let of = runner.provenance(SCHEMA_SEVERAL);
    let paths: Vec<String> = args.paths.iter().map(|p| p.path.clone()).collect();
    let report = MinimumMultiReport::new(of, paths, &args.target, &result, &currency);
    let command = ("plan spares", plans[0].most, &*repeated(args));
    runner.print_report(&report, &args.output, command)?;
    if result.interrupted {
        return runner.interrupted("the results so far are reported");
    }
    if result.least.is_empty() { Err(CommandFailure::NotFound(report.conclusion[0].clone())) } else { Ok(()) }
}

fn candidate(
    runner: &mut TrialRunner<'_>, args: &SparesArgs, values: &[u64], which: Range<u64>,
) -> Result<SampleMetric, CommandFailure> {
    let paths = args.paths.iter().map(|p| p.path.clone());
    let sets: Vec<FieldOverride> = paths.zip(values.iter().map(u64::to_string)).collect();
    let what: Vec<String> = sets.iter().map(|(p, v)| format!("{p}={v}")).collect();
    let what = what.join(", ");
    let replication = runner.replicate(&sets, which, &what);
    let (replication, jobsets) = replication.map_err(|why| with_min(why, &what))?;
    let metric = (args.target.metric.as_str(), "--target");
    rows(&replication, &jobsets, metric, args.price_per_node_hour)
}

/// Adds a hint about --path, --min and --max to an input error: values such as a total number of nodes cannot be 0.
fn with_min(why: CommandFailure, what: &str) -> CommandFailure {
    why.map_input_error(|m| {
        format!(
            "{m}\nwith {what}; set the field to search with --path, e.g. 'topology.pools[0].count', and its range with --min \
             and --max"
        )
    })
}

fn currency(loaded: &LoadedInput, price: Option<f64>) -> String {
    match loaded {
        LoadedInput::Pods(loaded) => loaded.scenario.topology.currency.clone(),
        LoadedInput::Fleet(_) if price.is_none() => "node-hours".to_owned(),
        LoadedInput::Fleet(_) => "USD".to_owned(),
    }
}

fn repeated(args: &SparesArgs) -> String {
    [
        options("target", [&args.target.text]),
        options("path", args.paths.iter().map(|searched| &searched.text)),
        options("min", [args.min]),
        options("max", [args.max]),
        options("price-per-node-hour", args.price_per_node_hour),
    ]
    .concat()
}
