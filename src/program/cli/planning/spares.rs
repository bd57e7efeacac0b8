//! `plan spares`: finds the smallest value that satisfies a target, and the cost of each candidate.

use crate::cli::args::{FieldOverride, InputArgs, OutputArgs, Verbosity};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::PlannedInputs;
use crate::cli::planning::trial_runner::{CheckArgs, TrialRunner, rows};
use crate::{cli::inputs::LoadedInput, cli::inputs::options, cli::output};
use sim_analysis::experiment::{ReplicatedJobSet, ReplicationOutcome, ReplicationResult};
use sim_analysis::format::count;
use sim_analysis::planning::minimum_multi::find_minimums;
use sim_analysis::planning::{
    MetricTarget, ParameterRange as ValueRange, ParameterRangeError, RangeUnit, SampleMetric, SearchAnswer, SearchPlan,
    find_minimum,
};
use sim_api::spec::SubmittedJobSet;
use sim_report::planning::minimum_multi::MinimumMultiReport;
use sim_report::planning::spares::SparesReport;
use std::collections::BTreeMap;
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
    /// Smallest value to try [default: 0]
    #[arg(long, value_name = "N")]
    pub min: Option<u64>,
    /// Largest value to try [default: 32]
    #[arg(long, value_name = "N")]
    pub max: Option<u64>,
    /// Maximum number of replications per candidate [default: 320 at level pods, 2,560 otherwise]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Price of a node-hour of a Fleet [default: costs are in node-hours]
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub price_per_node_hour: Option<f64>,
    #[command(flatten)]
    pub check: CheckArgs,
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

/// Default range of values.
const MIN: u64 = 0;
const MAX: u64 = 32;
/// Schema name of the JSON output for one field.
const SCHEMA: &str = "jobset-sim/plan-spares/v1";
/// Schema name of the JSON output for several fields.
const SCHEMA_SEVERAL: &str = "jobset-sim/plan-spares-levels/v1";
/// Replications per candidate before the first check; the intervals of p10 and p90 need at least 36 values.
const FIRST_LOOK: u64 = 40;
/// Default maximum number of replications per candidate, with pods and otherwise.
const PODS: u64 = 320;
const FLEET: u64 = 2_560;

pub fn cli(args: &SparesArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(&args.input, &args.output)?.with_verbosity(args.verbosity);
    if args.price_per_node_hour.is_some() && matches!(runner.loaded, LoadedInput::Pods(_)) {
        bail!("--price-per-node-hour applies to a Fleet; that of a Scenario is pricePerNodeHour of its pools");
    }
    let searched = args.paths.iter().flat_map(|searched| {
        let (min, max) = bounds(args, searched);
        [min, max].map(|value| {
            let set = (searched.path.clone(), value.to_string());
            (format!("{}={value}", searched.path), Ok(vec![set]))
        })
    });
    runner.try_candidates(&mut searched.collect::<Vec<PlannedInputs>>().into_iter())?;
    runner.check_levels_differ(&args.check)?;
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

/// Returns the smallest and the largest value to try.
fn bounds(args: &SparesArgs, searched: &SearchedSpares) -> (u64, u64) {
    searched.bounds.unwrap_or((args.min.unwrap_or(MIN), args.max.unwrap_or(MAX)))
}

fn plans(runner: &TrialRunner<'_>, args: &SparesArgs) -> Result<Vec<SearchPlan>, CommandFailure> {
    let most = args.seeds.unwrap_or(runner.by_level(PODS, FLEET));
    let mut plans = Vec::new();
    for (i, searched) in args.paths.iter().enumerate() {
        if searched.bounds.is_some() && args.paths.len() == 1 && (args.min.is_some() || args.max.is_some()) {
            bail!("--path {} has its own range: remove --min and --max", searched.text);
        }
        let (min, max) = bounds(args, searched);
        if min > max {
            bail!("--min {min} is greater than --max {max}: the range is empty");
        }
        if args.paths[..i].iter().any(|other| other.path == searched.path) {
            bail!("--path {} is used twice", searched.path);
        }
        runner.given.check_effect(&searched.path, &max.to_string())?;
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
    let mut endings = CandidateEndings::default();
    let result = {
        let mut play = |value: &u64, which: Range<u64>| candidate((&mut *runner, &mut endings), args, &[*value], which);
        find_minimum(plan, &args.target, &mut play)?
    };
    if result.candidates.is_empty() {
        return runner.interrupted("no replication was finished");
    }
    let recommended = match result.answer {
        SearchAnswer::Least { value } | SearchAnswer::Between { high: value, .. } => Some(overrides(args, &[value])),
        SearchAnswer::Nothing | SearchAnswer::Open { .. } => None,
    };
    runner.check(&args.check, recommended.as_deref())?;
    let currency = currency(&runner.loaded, args.price_per_node_hour);
    let of = runner.provenance(SCHEMA);
    let path = &args.paths[0].path;
    let mut report = SparesReport::new(of, path, &args.target, &result, &currency);
    let has_found = matches!(result.answer, SearchAnswer::Least { .. } | SearchAnswer::Between { .. });
    if let Some(last) = result.candidates.last().filter(|last| !has_found && last.excluded() > 0) {
        report.add_reasons(endings.reasons(&[last.value], path, &runner.loaded));
    }
    let command = ("plan spares", plan.most, &*repeated(args));
    runner.print_report(&report, &args.output, command)?;
    if result.interrupted {
        return runner.interrupted("the results so far are reported");
    }
    match result.answer {
        SearchAnswer::Least { .. } | SearchAnswer::Between { .. } => runner.check_result(),
        SearchAnswer::Nothing | SearchAnswer::Open { .. } => Err(CommandFailure::NotFound(report.conclusion.join(" "))),
    }
}

fn several_levels(runner: &mut TrialRunner<'_>, args: &SparesArgs, plans: &[SearchPlan]) -> Result<(), CommandFailure> {
    let mut endings = CandidateEndings::default();
    let result = {
        let mut play = |values: &[u64], which: Range<u64>| candidate((&mut *runner, &mut endings), args, values, which);
        find_minimums(plans, &args.target, &mut play)?
    };
    if result.simulated == 0 {
        return runner.interrupted("no replication was finished");
    }
    let cheapest = result.least.first().map(|cheapest| overrides(args, &cheapest.values));
    runner.check(&args.check, cheapest.as_deref())?;
    let currency = currency(&runner.loaded, args.price_per_node_hour);
    let of = runner.provenance(SCHEMA_SEVERAL);
    let paths: Vec<String> = args.paths.iter().map(|p| p.path.clone()).collect();
    let mut report = MinimumMultiReport::new(of, paths, &args.target, &result, &currency);
    let greatest = result.greatest.as_ref().filter(|one| result.least.is_empty() && one.candidate.excluded() > 0);
    if let Some(greatest) = greatest {
        report.add_reasons(endings.reasons(&greatest.values, "these fields", &runner.loaded));
    }
    for one in &result.least {
        let values: Vec<String> = one.values.iter().map(u64::to_string).collect();
        let of = one.candidate.sample.len();
        report.add_reasons(endings.unfinished(&one.values, &format!("the values {}", values.join(", ")), of));
    }
    let command = ("plan spares", plans[0].most, &*repeated(args));
    runner.print_report(&report, &args.output, command)?;
    if result.interrupted {
        return runner.interrupted("the results so far are reported");
    }
    if result.least.is_empty() {
        return Err(CommandFailure::NotFound(report.conclusion.join(" ")));
    }
    runner.check_result()
}

/// The reasons why replications did not complete their work, by candidate.
#[derive(Default)]
struct CandidateEndings(BTreeMap<Vec<u64>, BTreeMap<TrialEnding, usize>>);

impl CandidateEndings {
    fn add(&mut self, values: &[u64], (replications, loaded): (&[ReplicationResult], &LoadedInput)) {
        let own = self.0.entry(values.to_vec()).or_default();
        replications.iter().filter_map(|r| TrialEnding::of_replication(r, loaded)).for_each(|ending| {
            *own.entry(ending).or_insert(0) += 1;
        });
    }

    /// Returns a sentence with the number of replications of one candidate without completed work, if there are any.
    fn unfinished(&self, values: &[u64], place: &str, of: usize) -> Vec<String> {
        let n: usize = self.0.get(values).map_or(0, |endings| endings.values().sum());
        let sentence =
            || format!("With {place}, {n} of {} do not complete their work.", count(of as u64, "replication"));
        (n > 0).then(sentence).into_iter().collect()
    }

    /// Returns a sentence for each reason of one candidate.
    fn reasons(&self, values: &[u64], path: &str, loaded: &LoadedInput) -> Vec<String> {
        let own = self.0.get(values).into_iter().flatten();
        own.map(|(ending, n)| ending.sentence(count(*n as u64, "replication"), path, loaded)).collect()
    }
}

/// The reason why a replication did not complete its work.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum TrialEnding {
    MaxRestarts,
    TimeLimit,
    Blocked,
    TooFewNodes,
    Failed,
}

impl TrialEnding {
    fn of_replication(r: &ReplicationResult, loaded: &LoadedInput) -> Option<TrialEnding> {
        let is_used_up = |(jobset, own): (&SubmittedJobSet, &ReplicatedJobSet)| {
            let limit = jobset.jobset.spec.failure_policy.as_ref().map(|policy| i64::from(policy.max_restarts));
            own.terminal_state == "Failed" && limit.is_some_and(|max| i64::from(own.restart_budget_used) >= max)
        };
        match (r.outcome(), r.end_reason) {
            (ReplicationOutcome::Completed | ReplicationOutcome::Running, _) => None,
            (ReplicationOutcome::Unfinished, _) => has_open_work(r, loaded).then_some(TrialEnding::TimeLimit),
            (ReplicationOutcome::Blocked, _) => Some(TrialEnding::Blocked),
            (ReplicationOutcome::Failed, "Depleted") => Some(TrialEnding::TooFewNodes),
            // A Fleet fails only without restarts left.
            (ReplicationOutcome::Failed, "Failed") => Some(TrialEnding::MaxRestarts),
            _ if loaded.jobsets().iter().zip(&r.jobsets).any(is_used_up) => Some(TrialEnding::MaxRestarts),
            _ => Some(TrialEnding::Failed),
        }
    }

    fn sentence(self, who: String, path: &str, loaded: &LoadedInput) -> String {
        let (limit, field, end) = match loaded {
            LoadedInput::Fleet(fleet) => {
                let limit = fleet.fleet.job.max_restarts.map(i64::from);
                (limit, "job.maxRestarts", fleet.fleet.stop_at)
            }
            LoadedInput::Pods(pods) => {
                let policies = pods.scenario.jobsets.iter().filter_map(|j| j.jobset.spec.failure_policy.as_ref());
                let limit = policies.map(|policy| i64::from(policy.max_restarts)).min();
                (limit, "spec.failurePolicy.maxRestarts", pods.scenario.stop.at)
            }
        };
        let limit = limit.map_or(String::new(), |limit| format!(" {limit}"));
        match self {
            TrialEnding::MaxRestarts => format!(
                "The reason in {who}: maxRestarts{limit} is used up. A larger {path} does not raise the limit; raise {field} (plan budget)."
            ),
            TrialEnding::TimeLimit => {
                format!("The reason in {who}: the time limit stop.at {end} comes before the end of the work.")
            }
            TrialEnding::Blocked => format!("The reason in {who}: the run is blocked (jobset-sim run shows by what)."),
            TrialEnding::TooFewNodes => {
                format!("The reason in {who}: too few nodes are left, because failed nodes are not replaced.")
            }
            TrialEnding::Failed => {
                format!("The reason in {who}: a JobSet fails, not by maxRestarts (jobset-sim run shows why).")
            }
        }
    }
}

/// Returns whether the inputs state an amount of work or a run time that an unfinished replication does not complete.
fn has_open_work(r: &ReplicationResult, loaded: &LoadedInput) -> bool {
    match loaded {
        LoadedInput::Fleet(fleet) => fleet.fleet.work().is_some(),
        LoadedInput::Pods(_) => {
            r.has_open_work() || r.jobsets.iter().any(|j| j.has_run_time && j.completed_s.is_none())
        }
    }
}

/// Returns the settings of a candidate.
fn overrides(args: &SparesArgs, values: &[u64]) -> Vec<FieldOverride> {
    let paths = args.paths.iter().map(|p| p.path.clone());
    paths.zip(values.iter().map(u64::to_string)).collect()
}

fn candidate(
    (runner, endings): (&mut TrialRunner<'_>, &mut CandidateEndings), args: &SparesArgs, values: &[u64],
    which: Range<u64>,
) -> Result<SampleMetric, CommandFailure> {
    let sets = overrides(args, values);
    let what: Vec<String> = sets.iter().map(|(p, v)| format!("{p}={v}")).collect();
    let what = what.join(", ");
    let replication = runner.replicate(&sets, which, &what);
    let (replication, jobsets) = replication.map_err(|why| with_min(why, &what))?;
    endings.add(values, (&replication, &runner.loaded));
    let metric = (args.target.metric.as_str(), "--target");
    let mut sample = rows(&replication, &jobsets, metric, args.price_per_node_hour)?;
    // A ratio has a value up to the time limit, but a target is about the whole work.
    for (row, result) in sample.iter_mut().zip(&replication) {
        if TrialEnding::of_replication(result, &runner.loaded).is_some() {
            row.count_as_worst(&args.target.metric);
        }
    }
    Ok(sample)
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
        options("min", args.min),
        options("max", args.max),
        options("price-per-node-hour", args.price_per_node_hour),
        args.check.repeated(),
    ]
    .concat()
}
