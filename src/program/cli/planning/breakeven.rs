//! `plan breakeven`: finds the value of a parameter at which one variant becomes better than another.

use crate::cli::args::{FieldOverride, InputArgs, OutputArgs, VariantArg, Verbosity, parse_variant};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{PlannedInputs, options};
use crate::cli::planning::trial_runner::TrialRunner;
use sim_analysis::planning::breakeven::{SearchEffort, SearchPoint, break_even};
use sim_analysis::planning::{ParameterRange as ValueRange, SampleMetric};
use sim_report::planning::breakeven::BreakEvenReport;
use std::ops::Range;

#[derive(Debug, clap::Args)]
pub struct BreakEvenArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// First variant [default: the unchanged inputs]
    #[arg(long, value_name = "NAME: PATH=VALUE, ...", value_parser = parse_variant)]
    pub a: Option<VariantArg>,
    /// Second variant of the comparison
    #[arg(long, value_name = "NAME: PATH=VALUE, ...", value_parser = parse_variant)]
    pub b: VariantArg,
    /// Parameter to vary and its range, in numbers or durations
    #[arg(long, value_name = "PATH=LOW..HIGH")]
    pub over: ValueRange,
    /// Metric to compare [default: goodput, or effective_training_ratio for a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Maximum number of replications per value and variant [default: 160 at level pods, 1,280 otherwise]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Schema name of the JSON output.
const SCHEMA: &str = "jobset-sim/plan-breakeven/v1";
/// Replications per value before the first check of the precision.
const FIRST_LOOK: u64 = 20;
/// Default maximum number of replications per value, with pods and otherwise.
const PODS: u64 = 160;
const FLEET: u64 = 1_280;

pub fn cli(args: &BreakEvenArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(&args.input, &args.output)?.with_verbosity(args.verbosity);
    let ends = [args.over.low, args.over.high].into_iter();
    let ends = ends.flat_map(|value| [false, true].map(|is_b| SearchPoint { value, is_b }));
    let named = |point: SearchPoint| {
        let value = args.over.written(point.value);
        (format!("{} at {}={value}", name(args, point.is_b), args.over.path), sets(&runner, args, &point))
    };
    let candidates: Vec<PlannedInputs> = ends.clone().map(named).collect();
    runner.try_candidates(&mut candidates.into_iter())?;
    let metric = runner.metric(args.metric.as_deref());
    let most = args.seeds.unwrap_or(runner.by_level(PODS, FLEET));
    let of_variants = args.a.iter().chain([&args.b]);
    if let Some(variant) = of_variants.clone().find(|v| v.sets.iter().any(|(path, _)| *path == args.over.path)) {
        bail!("variant {} sets {}, which --over varies", variant.name, args.over.path);
    }
    if args.a.as_ref().is_some_and(|a| a.name == args.b.name) {
        bail!("the variant name {} is used twice", args.b.name);
    }
    let effort = SearchEffort { first_look: FIRST_LOOK.min(most), most };
    // Invalid paths must fail before the first simulation.
    for point in ends {
        let loaded = sets(&runner, args, &point).and_then(|sets| runner.given.load(&sets));
        loaded.map_err(|why| why.in_variant(name(args, point.is_b)))?;
    }
    let result = {
        let mut play = |point: &SearchPoint, which: Range<u64>| -> Result<SampleMetric, CommandFailure> {
            let value = args.over.written(point.value);
            let what = format!("{} at {}={value}", name(args, point.is_b), args.over.path);
            let sets = sets(&runner, args, point)?;
            runner.sample(&sets, which, (&metric, &what))
        };
        break_even((&args.over, &metric), effort, &mut play)?
    };
    // No replication has a value, and all complete their work.
    if result.points.iter().all(|p| p.difference.is_none() && p.completed == [p.replications; 2]) {
        runner.interrupted("no value was simulated with both variants")?;
        bail!(
            "--metric: {metric} is undefined in both variants at all values of {}; choose another metric",
            args.over.path
        );
    }
    let interrupted = result.interrupted;
    let names = (name(args, false), name(args, true));
    let of = runner.provenance(SCHEMA);
    let report = BreakEvenReport::new(of, names, (&args.over, &metric), result);
    runner.print_report(&report, &args.output, ("plan breakeven", most, &repeated(args, &metric)))?;
    if interrupted { runner.interrupted("the results so far are reported") } else { Ok(()) }
}

fn name(args: &BreakEvenArgs, is_b: bool) -> &str {
    match (is_b, &args.a) {
        (true, _) => &args.b.name,
        (false, Some(a)) => &a.name,
        (false, None) => "current setting",
    }
}

/// Returns the overrides of a point. The varied parameter comes first, because a variant may override it.
fn sets(
    runner: &TrialRunner<'_>, args: &BreakEvenArgs, point: &SearchPoint,
) -> Result<Vec<FieldOverride>, CommandFailure> {
    let unknown = (args.over.path.clone(), args.over.written(point.value));
    let own = |v: &VariantArg| v.sets.clone();
    let choice = if point.is_b { own(&args.b) } else { args.a.as_ref().map(own).unwrap_or_default() };
    runner.loaded.with_companions(&[unknown].into_iter().chain(choice).collect::<Vec<_>>())
}

fn repeated(args: &BreakEvenArgs, metric: &str) -> String {
    [
        options("a", args.a.iter().map(|a| &a.text)),
        options("b", [&args.b.text]),
        options("over", [&args.over.text]),
        options("metric", [metric]),
    ]
    .concat()
}
