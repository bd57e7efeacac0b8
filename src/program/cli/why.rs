//! `why`: the critical path of a restart, a startup or a pod, and what-if runs.

use crate::cli::args::{DisplayStyle, InputArgs, OutputFormat, Verbosity};
use crate::cli::inputs::{ExperimentInput, note_not_modelled, quoted, stored_run};
use crate::{cli::failure::CommandFailure, cli::output};
use sim_analysis::why;
use sim_analysis::why::{OverrideSetter, WhyRequest};
use sim_base::Duration;

#[derive(Debug, clap::Args)]
pub struct WhyArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Number of the restart, as printed by `run`, or with --jobset among those of the JobSet [default: the last
    /// one of a JobSet that failed or is blocked, else an unfinished one, else the longest]
    #[arg(long, value_name = "N", conflicts_with = "pod")]
    pub restart: Option<usize>,
    /// Pod to explain; its name without the random suffix
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// JobSet to explain: its start, or its wait for admission by Kueue
    #[arg(long = "jobset", value_name = "NAME", conflicts_with = "pod")]
    pub jobset: Option<String>,
    /// End the run at this time, and explain the state then
    #[arg(long, value_name = "TIME")]
    pub at: Option<Duration>,
    /// Print the critical path only, without what-if runs
    #[arg(long)]
    pub path_only: bool,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    #[command(flatten)]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub display: DisplayStyle,
}

/// Exit code if no pod could be placed.
const NO_PLACE: u8 = 4;

pub fn cli(args: &WhyArgs) -> Result<u8, CommandFailure> {
    let input = stored_run::resolved(&args.input)?;
    let request = WhyRequest {
        restart: args.restart,
        pod: args.pod.clone(),
        jobset: args.jobset.clone(),
        at: args.at,
        seed: input.seed,
        threads: args.input.threads(),
        path_only: args.path_only,
        of_manifests: input.scenario.is_none(),
    };
    let given = ExperimentInput::read(&input)?;
    // Loaded here so that input errors determine the exit code.
    note_not_modelled(&given.pods(&[], "why")?.not_modelled());
    let load = |more: &[OverrideSetter]| given.pods(more, "why").map_err(|why| why.message().to_owned());
    let answer = why::explain(&load, &request);
    let answer = answer.map_err(|e| CommandFailure::Invalid(e.to_string()))?;
    match args.format {
        OutputFormat::Json => output::json(&why::json::WhyJson::new(&answer, &quoted))?,
        OutputFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            let text = sim_report::console::why::text(&answer, &style, &quoted);
            output::styled(&text, &style)?;
        }
    }
    Ok(if answer.unplaced { NO_PLACE } else { 0 })
}
