//! `topology fit` and `topology show --place`: the copies of JobSets that fit on a cluster, and the quality of their
//! placement.

use crate::cli::args::{FieldOverride, InputArgs, OutputFormat, path_value};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{ExperimentInput, fitting_topology, note_not_modelled};
use crate::cli::output;
use sim_analysis::capacity::{FitResult, GroupUse, JobUse, PlacementReport, fit};
use sim_analysis::format::{column, count, thousands};
use sim_api::spec::ScenarioSpec;
use sim_policy::topology::FreeNodes;
use sim_report::console::placement;
use sim_report::console::waterfall::WaterfallStyle;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Maximum number of Jobs and of names of domains in the text output. The JSON output contains all.
const MAX_JOBS: usize = 20;
const MAX_NAMES: usize = 4;

#[derive(Debug, clap::Args)]
pub struct FitArgs {
    /// Topology file, or name of a shipped topology
    #[arg(value_name = "TOPOLOGY")]
    pub file: PathBuf,
    /// Manifests whose JobSets are one copy: a file, a directory, or - for standard input (repeatable)
    #[arg(short = 'f', value_name = "FILE|DIR|-", required = true)]
    pub manifests: Vec<String>,
    /// Override a field of the JobSets or of the topology, e.g. spec.replicatedJobs[0].replicas=8 or
    /// topology.pools[0].count=2 (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<FieldOverride>,
    /// Largest number of copies to try
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub max: u64,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// Reads manifests on a topology.
pub fn read(file: &Path, manifests: &[String], sets: &[FieldOverride]) -> Result<ScenarioSpec, CommandFailure> {
    let args = InputArgs {
        scenario: None,
        manifests: manifests.to_vec(),
        topology: Some(file.to_owned()),
        sets: sets.to_vec(),
        fails: Vec::new(),
        seed: None,
        threads: None,
        level: None,
    };
    let loaded = ExperimentInput::read(&args)?.pods(&[], "topology")?;
    if !loaded.skipped.is_empty() {
        output::note(&format!("not simulated: {}", loaded.skipped.join(", ")));
    }
    note_not_modelled(&loaded.not_modelled());
    Ok(loaded.scenario)
}

pub fn fit_cli(args: &FitArgs) -> Result<(), CommandFailure> {
    let scenario = read(&args.file, &args.manifests, &args.sets)?;
    let result = fit(&scenario, args.max)?;
    let title = fit_title(&scenario.topology.name, &result);
    print(&scenario, &result, &title, (args.format, false))
}

pub fn place_cli(
    (file, manifests, sets): (&Path, &[String], &[FieldOverride]), format: OutputFormat,
) -> Result<(), CommandFailure> {
    let scenario = read(file, manifests, sets)?;
    let result = fit(&scenario, 1)?;
    let (topology, what) = (&scenario.topology.name, name_list(&result));
    let title = match result.copies {
        0 => format!("{topology}: {what} does not fit"),
        _ => format!("{topology}: placement of {what}"),
    };
    print(&scenario, &result, &title, (format, true))
}

fn name_list(result: &FitResult) -> String {
    let noun = if result.job_sets.len() == 1 { "JobSet" } else { "JobSets" };
    format!("{noun} {}", result.job_sets.join(", "))
}

fn fit_title(topology: &str, result: &FitResult) -> String {
    let (what, pods) = (name_list(result), count(result.pods_per_copy, "pod"));
    match (result.copies, result.at_limit) {
        (0, _) => format!("{topology}: {what} with {pods} does not fit"),
        (n, true) => format!("{topology}: at least {n} copies of {what} with {pods} fit"),
        (1, false) => format!("{topology}: 1 copy of {what} with {pods} fits"),
        (n, false) => format!("{topology}: {} copies of {what} with {pods} fit", thousands(n)),
    }
}

/// Prints the result. Returns an error with exit code 4 if no copy fits.
fn print(
    scenario: &ScenarioSpec, result: &FitResult, title: &str, (format, shows_jobs): (OutputFormat, bool),
) -> Result<(), CommandFailure> {
    match format {
        OutputFormat::Json => output::json(result)?,
        OutputFormat::Text => output::text(&text(result, title, shows_jobs))?,
    }
    if result.copies > 0 {
        return Ok(());
    }
    let why = result.blocked.first().map_or("the JobSet is not ready", String::as_str);
    Err(fitting_topology::refusal(scenario, why))
}

fn text(result: &FitResult, title: &str, shows_jobs: bool) -> String {
    let mut out = format!("{title}\n");
    if shows_jobs && result.copies > 0 {
        write_jobs(&mut out, &result.placement);
    }
    write_groups(&mut out, &result.placement.groups, result.copies);
    if let Some(mbits) = result.placement.bisection_mbits {
        let gbits = thousands(mbits / 1000);
        let _ = writeln!(out, "links between the first and the second half of the pods: {gbits} Gbit/s");
    }
    if !result.blocked.is_empty() {
        let _ = writeln!(out, "\n{} not fit:", if result.copies > 0 { "One more copy does" } else { "One copy does" });
        for sentence in &result.blocked {
            let _ = writeln!(out, "  {sentence}");
        }
    }
    if !result.pending.is_empty() {
        let _ = write!(out, "\n{}", placement::text(&result.pending, &WaterfallStyle::default()).trim_end());
        out.push('\n');
    }
    out
}

fn write_groups(out: &mut String, groups: &[GroupUse], copies: u64) {
    let titles: Vec<String> = groups.iter().map(group_title).collect();
    let width = column(titles.iter().map(String::as_str), 12);
    let head = ["free", "whole", "largest", "stranded"].map(|word| format!("{word:>9}")).concat();
    let _ = writeln!(out, "\n{:<width$} {:>8}  {:<6} {head}", "free nodes", "groups", "");
    for (group, title) in groups.iter().zip(&titles) {
        let mut row = |title: &str, groups: &str, when: &str, free: &FreeNodes| {
            let numbers = [free.nodes, free.whole_groups, free.largest, free.stranded];
            let numbers = numbers.map(|n| format!("{:>9}", thousands(n as u64))).concat();
            let _ = writeln!(out, "{title:<width$} {groups:>8}  {when:<6} {numbers}");
        };
        row(title, &thousands(group.groups as u64), "before", &group.before);
        if copies > 0 {
            row("", "", "after", &group.after);
        }
    }
    if copies > 0 {
        let _ = writeln!(out);
        for (group, title) in groups.iter().zip(&titles) {
            let (used, crossings) = (group.spread.groups as u64, group.spread.crossings as u64);
            let _ = writeln!(
                out,
                "{title}: {} of {} used; {} of consecutive pods in different groups",
                thousands(used),
                thousands(group.groups as u64),
                count(crossings, "pair")
            );
        }
    }
}

fn group_title(group: &GroupUse) -> String {
    match group.key.as_str() {
        key if key.is_empty() || key == group.level => group.level.clone(),
        key => format!("{} ({key})", group.level),
    }
}

fn write_jobs(out: &mut String, placement: &PlacementReport) {
    let jobs = &placement.jobs[..placement.jobs.len().min(MAX_JOBS)];
    let width = column(jobs.iter().map(|job| job.job.as_str()), 8);
    let _ = writeln!(out, "\n{:<width$} {:>7} {:>7}  domains", "Job", "pods", "nodes");
    for job in jobs {
        let _ = writeln!(out, "{:<width$} {:>7} {:>7}  {}", job.job, job.pods, job.nodes, domains(job, placement));
    }
    if placement.jobs.len() > jobs.len() {
        let _ = writeln!(out, "{} more", placement.jobs.len() - jobs.len());
    }
}

fn domains(job: &JobUse, placement: &PlacementReport) -> String {
    let parts = job.domains.iter().zip(&placement.groups).map(|(names, group)| {
        let shown = names[..names.len().min(MAX_NAMES)].join(", ");
        let more = match names.len().saturating_sub(MAX_NAMES) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let known = group.level == "island" && group.key.is_empty();
        if known { format!("{shown}{more}") } else { format!("{} {shown}{more}", group.level) }
    });
    parts.collect::<Vec<_>>().join("; ")
}
