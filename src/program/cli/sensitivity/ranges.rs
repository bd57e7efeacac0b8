//! `sensitivity --ranges` and `--input`: the change of a metric when each input is varied over its range, one at a
//! time.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::planning::trial_runner::{TrialRunner, rows};
use crate::cli::sensitivity::args::SensitivityArgs;
use crate::{cli::args::InputArgs, cli::inputs::options};
use sim_analysis::experiment::{OutcomeCounts, ReplicationResult};
use sim_analysis::planning::SampleMetric;
use sim_analysis::planning::sample::mean_estimate;
use sim_analysis::planning::tornado::{TornadoBar, sorted};
use sim_inputs::SourcedRange;
use sim_report::planning::tornado::TornadoReport;

/// Schema name of the JSON output.
const SCHEMA: &str = "jobset-sim/sensitivity-ranges/v1";
/// Default number of replications per end of a range, with pods and otherwise.
const PODS: u64 = 40;
const FLEET: u64 = 400;

pub fn cli(input: &InputArgs, args: &SensitivityArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(input, &args.output)?;
    let inputs = inputs(&runner, args)?;
    let values = |input: &SourcedRange| [&input.low, &input.high].map(|value| (input.path.clone(), value.clone()));
    runner.try_candidates(&mut inputs.iter().flat_map(values).map(|(path, value)| {
        let name = format!("{path}={value}");
        (name, Ok(vec![(path, value)]))
    }))?;
    let n = args.seeds.unwrap_or(runner.by_level(PODS, FLEET));
    if n < 2 {
        bail!("--seeds: --ranges and --input need at least 2 replications");
    }
    let metric = runner.metric(args.metric.as_deref());
    // Invalid paths must fail before the first simulation.
    for input in &inputs {
        for value in [&input.low, &input.high] {
            runner.given.load(&[(input.path.clone(), value.clone())])?;
        }
    }
    let (unchanged, jobsets) = runner.replicate(&[], 0..n, "unchanged inputs")?;
    let as_is = rows(&unchanged, &jobsets, (&metric, "--metric"), None)?;
    let outcomes = OutcomeCounts::new(unchanged.iter().map(ReplicationResult::outcome));
    if !as_is.is_empty() && as_is.iter().all(|row| row.value.is_none()) {
        bail!("--metric: {metric} is undefined in all replications of the unchanged inputs; choose another metric");
    }
    let mut bars = Vec::new();
    for input in &inputs {
        let mut end = |value: &String| -> Result<SampleMetric, CommandFailure> {
            let sets = vec![(input.path.clone(), value.clone())];
            runner.sample(&sets, 0..n, (&metric, &format!("{}={value}", input.path)))
        };
        let (low, high) = (end(&input.low)?, end(&input.high)?);
        if runner.limits.flag.is_raised() {
            break;
        }
        let of = (input.path.clone(), input.low.clone(), input.high.clone());
        let labels = (input.shown.clone(), input.source.clone(), input.is_decision);
        bars.push(TornadoBar::compare(of, labels, &metric, [&as_is, &low, &high]));
    }
    let (request, labels) = (inputs.len(), bars.len());
    if as_is.is_empty() || labels == 0 {
        return runner.interrupted("no input was simulated at both ends of its range");
    }
    let excluded = as_is.iter().filter(|row| row.is_worst).count();
    let base = (mean_estimate(&metric, &as_is), outcomes, excluded);
    let mut report = TornadoReport::new(runner.provenance(SCHEMA), &metric, base, sorted(bars));
    let varied: Vec<&str> = inputs.iter().map(|input| input.path.as_str()).collect();
    let text = runner.given.text();
    let ranged = text.map(sim_inputs::sourced).unwrap_or_default().into_iter().map(|range| range.path);
    let others = text.map(sim_inputs::without_range).unwrap_or_default().into_iter().chain(ranged);
    report.set_not_varied(others.into_iter().filter(|path| !varied.contains(&path.as_str())).collect());
    let mut more = options("metric", [&metric]);
    if args.ranges {
        more.push_str(" --ranges");
    }
    more += &options("input", args.inputs.iter().map(|input| &input.text));
    runner.print_report(&report, &args.output, ("sensitivity", n, &more))?;
    if labels < request {
        runner.interrupted(&format!("{labels} of {request} inputs were finished and are reported"))
    } else {
        Ok(())
    }
}

/// Returns the given inputs, or those of the file that have a published range.
fn inputs(runner: &TrialRunner<'_>, args: &SensitivityArgs) -> Result<Vec<SourcedRange>, CommandFailure> {
    let result = runner.given.text().map(sim_inputs::sourced).unwrap_or_default();
    if !args.inputs.is_empty() {
        let is_known = |path: &String| result.iter().any(|range| range.path == *path && range.is_decision);
        let is_decision = |path: &String| is_known(path) || sim_inputs::is_decision(path);
        let given = |range: &sim_analysis::planning::ParameterRange| SourcedRange {
            path: range.path.clone(),
            low: written(&range.text, 0),
            high: written(&range.text, 1),
            shown: [0, 1].map(|end| written(&range.text, end)),
            source: "as given".to_owned(),
            is_decision: is_decision(&range.path),
        };
        return Ok(args.inputs.iter().map(given).collect());
    }
    if result.is_empty() {
        Err(CommandFailure::Invalid(
            "no field of these inputs has a published range; give ranges with --input 'PATH=LOW..HIGH'".to_owned(),
        ))
    } else {
        Ok(result)
    }
}

/// Returns a bound as given on the command line: `5m` is easier to read than a number of milliseconds.
fn written(text: &str, which: usize) -> String {
    let bounds = text.rsplit_once('=').map_or("", |(_, bounds)| bounds);
    bounds.split("..").nth(which).unwrap_or("").trim().to_owned()
}
