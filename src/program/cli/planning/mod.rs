//! `plan`: simulates candidate values and prints recommendations.

mod breakeven;
mod budget;
mod formula;
mod interval;
mod rare;
mod spares;
pub mod trial_runner;

use crate::{cli::failure::CommandFailure, cli::planning::breakeven::BreakEvenArgs, cli::planning::budget::BudgetArgs};
use crate::{cli::planning::interval::IntervalArgs, cli::planning::rare::RareArgs, cli::planning::spares::SparesArgs};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(subcommand)]
    pub command: PlanCommand,
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Find the smallest number of spares, or of another field, that satisfies a target
    #[command(
        after_help = "Examples:\n  jobset-sim plan spares fleet.yaml --target 'effective_training_ratio.p10 >= 0.9' --path spares.nodes\n  jobset-sim plan spares scenario.yaml --target 'goodput.p10 >= 0.9' --path 'topology.pools[0].count' --min 16 --max 20\n  jobset-sim plan spares scenario.yaml --target 'goodput.p10 >= 0.9' --path 'topology.pools[0].count=16..20' --path 'topology.pools[0].nodesPerIsland=16..18'\n\nA target is METRIC.QUANTILE, >= or <=, and a limit: goodput.p10 >= 0.9 means that at most one run in ten is below 0.9.\nMetrics are the same as for `compare`. Exit code 3: no value satisfies the target."
    )]
    Spares(SparesArgs),
    /// Find the best checkpoint interval and compare it with the closed forms
    #[command(
        after_help = "Example: jobset-sim plan interval scenarios/published/llama3-405b.yaml --seeds 400 --out interval\n\nClosed forms: Young, Daly, and the exact optimum for exponential failures. Features of the inputs that they ignore are\nlisted."
    )]
    Interval(IntervalArgs),
    /// Compute the probability that maxRestarts lasts, its use by cause, and the smallest limit
    #[command(
        after_help = "Examples:\n  jobset-sim plan budget scenarios/stories/restart-budget.yaml --seeds 50\n  jobset-sim plan budget fleet.yaml --horizon 30d --probability 0.999 --ignore planned --out budget\n\nReplications run without a limit, so one set of them gives the result for every limit."
    )]
    Budget(BudgetArgs),
    /// Find the value of a parameter at which one variant becomes better than another
    #[command(
        after_help = "Examples:\n  jobset-sim plan breakeven scenario.yaml --b 'in place: strategy=InPlaceRestart' --over 'training.checkpoint.every=2m..2h'\n  jobset-sim plan breakeven fleet.yaml --a 'none: spares.nodes=0' --b 'eight: spares.nodes=8' --over 'parameters.repair=1h..48h'\n\nThe result may be that one variant is better in the whole range."
    )]
    Breakeven(BreakEvenArgs),
    /// Estimate small probabilities of lost time or exhausted maxRestarts by splitting
    #[command(
        after_help = "Examples:\n  jobset-sim plan rare scenarios/published/bloom-176b.yaml --horizon 30d --restarts 20\n  jobset-sim plan rare fleet.yaml --loss-budget 10d --seeds 60 --out rare\n  jobset-sim plan rare scenario.yaml --loss-budget 5d\n\nMultilevel splitting: runs that reach a level are continued several times. Probabilities below 1e-6 are feasible."
    )]
    Rare(RareArgs),
}

pub fn cli(args: &PlanArgs) -> Result<(), CommandFailure> {
    match &args.command {
        PlanCommand::Spares(args) => spares::cli(args),
        PlanCommand::Interval(args) => interval::cli(args),
        PlanCommand::Budget(args) => budget::cli(args),
        PlanCommand::Breakeven(args) => breakeven::cli(args),
        PlanCommand::Rare(args) => rare::cli(args),
    }
}
