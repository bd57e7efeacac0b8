//! The command lines of a planner's questions: `search`, `budget`, `breakeven`, `tornado`.

use super::{Look, PlayArgs, TableFormat};
use crate::base::Duration;
use crate::cli::variants;
use crate::search::{Range, Target, Unit};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// How an answer is told.
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
    /// Whose maxRestarts [default: that of the only JobSet]
    #[arg(long, value_name = "NAME")]
    pub jobset: Option<String>,
    /// Until which day it is to last [default: the end of the scenario's time]
    #[arg(long, value_name = "N", value_parser = days)]
    pub until_day: Option<f64>,
    /// The chance with which the least maxRestarts is to last
    #[arg(long, value_name = "P", default_value = "0.99", value_parser = chance)]
    pub survive: f64,
    /// As if restarts by this cause were not counted; repeatable [default: with pods that are drained, a rule that
    /// ignores disruptions is played]
    #[arg(long, value_name = "CAUSE")]
    pub ignore: Vec<String>,
    /// Replications [default: 200 with pods, 2,000 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    #[command(subcommand)]
    pub command: SearchCommand,
}

#[derive(Debug, Subcommand)]
pub enum SearchCommand {
    /// The least number of spares, or of anything else, that meets a target
    #[command(
        after_help = "Examples:\n  jobset-sim search spares fleet.yaml --target 'effective_training_ratio.p10 >= 0.9' --path spares.nodes\n  jobset-sim search spares scenario.yaml --target 'goodput.p10 >= 0.9' --path 'topology.pools[0].count' --min 16 --max 20\n  jobset-sim search spares scenario.yaml --target 'goodput.p10 >= 0.9' --path 'topology.pools[0].count=16..20' --path 'topology.pools[0].nodesPerIsland=16..18'\n\nA target is METRIC.QUANTILE, >= or <=, and a limit: goodput.p10 >= 0.9 means that at most one run in ten is below 0.9.\nMetrics are those of `compare`. Exit code 3: nothing meets the target."
    )]
    Spares(SparesArgs),
    /// The best checkpoint interval, beside what formulas say
    #[command(
        after_help = "Example: jobset-sim search interval scenarios/published/llama3-405b.yaml --seeds 400 --out interval\n\nBeside it: Young, Daly, and the exact interval of greatest availability for exponential failures, with what they do not\nknow of the inputs."
    )]
    Interval(IntervalArgs),
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
    /// What is to be reached, e.g. 'goodput.p10 >= 0.9'
    #[arg(long, value_name = "METRIC.QUANTILE >= LIMIT")]
    pub target: Target,
    /// The number that is searched, as --set names it, and from where to where; repeatable: the least of several levels
    /// at once, such as hosts, slices and racks, and the cheapest combination
    #[arg(long = "path", value_name = "PATH[=MIN..MAX]", default_value = "parameters.spares", value_parser = searched)]
    pub paths: Vec<Searched>,
    /// The least value that is tried
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min: u64,
    /// The greatest value that is tried
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub max: u64,
    /// The most replications of one candidate; those that can be told from fewer get fewer [default: 320 with pods,
    /// 2,560 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Price of a node-hour, for a Fleet, which knows none: then costs are money instead of node-hours
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub price_per_node_hour: Option<f64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct IntervalArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// The interval, as --set names it
    #[arg(long, value_name = "PATH", default_value = "training.checkpoint.every")]
    pub path: String,
    /// What is to be best [default: goodput, or effective_training_ratio of a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// The most replications of each interval [default: 160 with pods, 1,600 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct BreakEvenArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// The first choice [default: the inputs as they are]
    #[arg(long, value_name = "NAME: PATH=VALUE, ...", value_parser = variants::parse_variant)]
    pub a: Option<variants::VariantArg>,
    /// The second choice
    #[arg(long, value_name = "NAME: PATH=VALUE, ...", value_parser = variants::parse_variant)]
    pub b: variants::VariantArg,
    /// The unknown and its range, with numbers or durations
    #[arg(long, value_name = "PATH=LOW..HIGH")]
    pub over: Range,
    /// What decides [default: goodput, or effective_training_ratio of a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// The most replications of each value and choice [default: 160 with pods, 1,280 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct TornadoArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// The answer [default: goodput, or effective_training_ratio of a Fleet]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// An input and its range; repeatable [default: inputs of the file with a published range]
    #[arg(long = "input", value_name = "PATH=LOW..HIGH")]
    pub inputs: Vec<Range>,
    /// Replications of each end [default: 40 with pods, 400 of a Fleet]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    #[command(flatten)]
    pub tell: TellArgs,
}

#[derive(Debug, Args)]
pub struct RareArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// A limit of restarts runs out [default: the file's maxRestarts]
    #[arg(long, value_name = "N", conflicts_with = "lost")]
    pub restarts: Option<u32>,
    /// A run loses so much time or more: all that is not work that counts
    #[arg(long, value_name = "DURATION")]
    pub lost: Option<Duration>,
    /// Until which day [default: the end of the file's time]
    #[arg(long, value_name = "N", value_parser = days)]
    pub until_day: Option<f64>,
    /// Runs from each level
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(4..=100_000))]
    pub runs: u32,
    /// Batches, over which the interval is
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

fn days(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('d').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(days) if days > 0.0 && days <= 36_500.0 => Ok(days),
        _ => Err("write a number of days above 0, e.g. 30".to_owned()),
    }
}

fn chance(text: &str) -> Result<f64, String> {
    let (number, of) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(p) if p > 0.0 && p < of => Ok(p / of),
        _ => Err("write a chance between 0 and 1, e.g. 0.99 or 99%".to_owned()),
    }
}

fn price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok(price),
        _ => Err("write a number, e.g. 98.32".to_owned()),
    }
}
