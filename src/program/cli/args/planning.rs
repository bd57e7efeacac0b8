//! The command lines of `plan` and `sensitivity`.

use super::{Look, PlayArgs, TableFormat};
use crate::cli::inputs::variants;
use clap::{Args, Subcommand, value_parser};
use sim_analysis::planning::{Range, Target, Unit};
use sim_base::Duration;
use std::path::PathBuf;

/// Output options.
#[derive(Debug, Args)]
pub struct TellArgs {
    /// Write summary.json, a table, charts and the inputs here; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct BudgetArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// JobSet whose maxRestarts is examined [default: the only JobSet]
    #[arg(long, value_name = "NAME")]
    pub jobset: Option<String>,
    /// Time that maxRestarts must last, a number of days or a duration [default: the end of the scenario]
    #[arg(long, value_name = "DAYS|DURATION", value_parser = days)]
    pub horizon: Option<f64>,
    /// Probability with which the smallest maxRestarts must last until the horizon
    #[arg(long, value_name = "P", default_value = "0.99", value_parser = probability)]
    pub probability: f64,
    /// Do not count restarts by this cause; repeatable [default: if pods are drained, a rule that ignores disruptions
    /// is simulated]
    #[arg(long, value_name = "CAUSE")]
    pub ignore: Vec<String>,
    /// Replications [default: 200 with pods, 2,000 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(subcommand)]
    pub command: PlanCommand,
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Find the smallest number of spares, or of any other field, that satisfies a target
    #[command(
        after_help = "Examples:\n  jobset-sim plan spares fleet.yaml --target 'effective_training_ratio.p10 >= 0.9' --path spares.nodes\n  jobset-sim plan spares scenario.yaml --target 'goodput.p10 >= 0.9' --path 'topology.pools[0].count' --min 16 --max 20\n  jobset-sim plan spares scenario.yaml --target 'goodput.p10 >= 0.9' --path 'topology.pools[0].count=16..20' --path 'topology.pools[0].nodesPerIsland=16..18'\n\nA target is METRIC.QUANTILE, >= or <=, and a limit: goodput.p10 >= 0.9 means that at most one run in ten is below 0.9.\nMetrics are those of `compare`. Exit code 3: no value satisfies the target."
    )]
    Spares(SparesArgs),
    /// Find the best checkpoint interval and compare it with the closed forms
    #[command(
        after_help = "Example: jobset-sim plan interval scenarios/published/llama3-405b.yaml --seeds 400 --out interval\n\nClosed forms: Young, Daly, and the exact interval of greatest availability for exponential failures; inputs that they\nignore are listed."
    )]
    Interval(IntervalArgs),
    /// Compute the probability that maxRestarts lasts, its use by cause, and the smallest limit
    #[command(
        after_help = "Examples:\n  jobset-sim plan budget scenarios/stories/restart-budget.yaml --seeds 50\n  jobset-sim plan budget fleet.yaml --horizon 30d --probability 0.999 --ignore planned --out budget\n\nReplications run without a limit, so one set of them gives the result for every limit."
    )]
    Budget(BudgetArgs),
    /// Find the value of an unknown at which one variant becomes better than another
    #[command(
        after_help = "Examples:\n  jobset-sim plan breakeven scenario.yaml --b 'in place: strategy=InPlaceRestart' --over 'training.checkpoint.every=2m..2h'\n  jobset-sim plan breakeven fleet.yaml --a 'none: spares.nodes=0' --b 'eight: spares.nodes=8' --over 'parameters.repair=1h..48h'\n\nThe result may be that one variant is better in the whole range."
    )]
    Breakeven(BreakEvenArgs),
    /// Estimate small probabilities of lost time or exhausted maxRestarts by splitting
    #[command(
        after_help = "Examples:\n  jobset-sim plan rare scenarios/published/bloom-176b.yaml --horizon 30d --restarts 20\n  jobset-sim plan rare fleet.yaml --loss-budget 10d --seeds 60 --out rare\n  jobset-sim plan rare scenario.yaml --level collapsed --loss-budget 5d\n\nMultilevel splitting: runs that reach a level are continued several times. Probabilities below 1e-6 are feasible."
    )]
    Rare(RareArgs),
}

/// A number that is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// As it was typed.
    pub text: String,
    pub path: String,
    pub bounds: Option<(u64, u64)>,
}

#[derive(Debug, Args)]
pub struct SparesArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Target, e.g. 'goodput.p10 >= 0.9'
    #[arg(long, value_name = "METRIC.QUANTILE >= LIMIT")]
    pub target: Target,
    /// Field to search, with its bounds; repeatable: with several fields, such as hosts, slices and racks, all minimal
    /// combinations and the cheapest one are printed
    #[arg(long = "path", value_name = "PATH[=MIN..MAX]", default_value = "parameters.spares", value_parser = searched)]
    pub paths: Vec<Searched>,
    /// Smallest value to try
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min: u64,
    /// Largest value to try
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub max: u64,
    /// Maximum number of replications of one candidate [default: 320 with pods, 2,560 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Price of a node-hour of a Fleet; without it costs are in node-hours
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub price_per_node_hour: Option<f64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct IntervalArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Field of the interval
    #[arg(long, value_name = "PATH", default_value = "training.checkpoint.every")]
    pub path: String,
    /// Metric to optimize [default: goodput, or effective_training_ratio of a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Maximum number of replications of each interval [default: 160 with pods, 1,600 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct BreakEvenArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// First variant [default: the unchanged inputs]
    #[arg(long, value_name = "NAME: PATH=VALUE, ...", value_parser = variants::parse_variant)]
    pub a: Option<variants::VariantArg>,
    /// Second variant
    #[arg(long, value_name = "NAME: PATH=VALUE, ...", value_parser = variants::parse_variant)]
    pub b: variants::VariantArg,
    /// Unknown and its range, in numbers or durations
    #[arg(long, value_name = "PATH=LOW..HIGH")]
    pub over: Range,
    /// Metric that decides [default: goodput, or effective_training_ratio of a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Maximum number of replications of each value and variant [default: 160 with pods, 1,280 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct SensitivityArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Metric [default: for elasticities goodput of a training job, else restartLatency_s.p50, else end.t_s; for ranges
    /// goodput, or effective_training_ratio of a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Replications of each value [default: 5; with --ranges or --input 40 with pods, 400 of a Fleet]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Change of each value for its elasticity, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = value_parser!(u8).range(1..=90))]
    pub step: u8,
    /// Print the parameters only; run no replications
    #[arg(long, conflicts_with_all = ["metric", "seeds", "ranges", "inputs"])]
    pub parameters_only: bool,
    /// Vary each input that has a published range over that range, one at a time
    #[arg(long, conflicts_with = "inputs")]
    pub ranges: bool,
    /// Vary this input over a range, one at a time; repeatable
    #[arg(long = "input", value_name = "PATH=LOW..HIGH")]
    pub inputs: Vec<Range>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct RareArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Limit of restarts that must not run out [default: maxRestarts of the inputs]
    #[arg(long, value_name = "N", conflicts_with = "loss_budget")]
    pub restarts: Option<u32>,
    /// Lost time that a run must not reach; all time that is not productive work is lost
    #[arg(long, value_name = "DURATION")]
    pub loss_budget: Option<Duration>,
    /// End of the observation, a number of days or a duration [default: the end of the scenario]
    #[arg(long, value_name = "DAYS|DURATION", value_parser = days)]
    pub horizon: Option<f64>,
    /// Number of runs from each level
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(4..=100_000))]
    pub runs: u32,
    /// Number of independent batches, from which the interval is computed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub seeds: u64,
    #[command(flatten)]
    pub tell: TellArgs,
}

fn searched(text: &str) -> Result<Searched, String> {
    let bare = Searched {
        text: text.to_owned(),
        path: text.to_owned(),
        bounds: None,
    };
    if !text.contains('=') {
        return Ok(bare);
    }
    let range: Range = text.parse()?;
    if range.unit != Unit::Whole || range.low < 0.0 {
        return Err("write PATH, or PATH=MIN..MAX with whole numbers from 0 on".to_owned());
    }
    Ok(Searched {
        path: range.path,
        bounds: Some((range.low as u64, range.high as u64)),
        ..bare
    })
}

/// Days from `30`, `30d` or any other duration.
fn days(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let days = match text.strip_suffix('d').unwrap_or(text).parse::<f64>() {
        Ok(days) => Some(days),
        Err(_) => text
            .parse::<Duration>()
            .ok()
            .map(|d| d.seconds() / 86_400.0),
    };
    match days {
        Some(days) if days > 0.0 && days <= 36_500.0 => Ok(days),
        _ => Err("write a number of days above 0 or a duration, e.g. 30 or 36h".to_owned()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    let (number, of) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(p) if p > 0.0 && p < of => Ok(p / of),
        _ => Err("write a probability between 0 and 1, e.g. 0.99 or 99%".to_owned()),
    }
}

fn price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok(price),
        _ => Err("write a number, e.g. 98.32".to_owned()),
    }
}
