//! `report`: a report of one run as HTML page or Markdown, a Perfetto trace, or OpenMetrics text.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{DEFAULT_SCRAPE, LoadedRun, StoredRun, model_defaults, quoted, stored_run};
use crate::cli::{bench, compare, output};
use crate::{cli::args::InputArgs, cli::sweep::args::SweepArgs, cli::sweep::stored::StoredSweep};
use clap::ValueEnum;
use sim_analysis::metrics::open_metrics::MetricsDetail;
use sim_base::Duration;
use sim_report::assumptions::provenance;
use sim_report::export;
use sim_report::export::ExportSubject;
use sim_report::files::openmetrics::MetricFamilies;
use sim_report::files::perfetto::PerfettoTrace;
use sim_report::page;
use sim_report::page::run::RunInputText;
use sim_report::page::{ReportPage, comparison};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Write an HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write Markdown to this file, and its charts to a directory next to it
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Write a Perfetto trace to this file, with tracks for JobSets, Jobs, nodes, pods and queues, and arrows from
    /// cause to effect
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write OpenMetrics text to this file, with the metric names of JobSet, kube-state-metrics and client-go
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
    /// Scrape interval of the OpenMetrics text [default: 15s, longer if that gives more than 200,000 samples]
    #[arg(long, value_name = "TIME", value_parser = scrape, requires = "openmetrics")]
    pub scrape: Option<Duration>,
    /// Objects in the OpenMetrics text
    #[arg(long, value_enum, default_value_t = MetricsObjects::JobSets, requires = "openmetrics")]
    pub detail: MetricsObjects,
    /// Do not print notices
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetricsObjects {
    /// JobSets and the control plane
    #[value(name = "jobsets")]
    JobSets,
    /// Also Jobs, pods and nodes
    Pods,
}

impl From<MetricsObjects> for MetricsDetail {
    fn from(objects: MetricsObjects) -> MetricsDetail {
        match objects {
            MetricsObjects::JobSets => MetricsDetail::JobSets,
            MetricsObjects::Pods => MetricsDetail::Pods,
        }
    }
}

fn scrape(text: &str) -> Result<Duration, String> {
    let every = text.parse::<Duration>().map_err(|e| e.to_string())?;
    if every >= Duration::from_millis(100) { Ok(every) } else { Err("must be at least 100ms".to_owned()) }
}

pub fn cli(args: &ReportArgs) -> Result<(), CommandFailure> {
    let request = [
        (&args.html, &["html", "htm"][..]),
        (&args.md, &["md"]),
        (&args.perfetto, &["perfetto-trace", "pftrace"]),
        (&args.openmetrics, &["om", "prom", "txt"]),
    ];
    if request.iter().all(|(path, _)| path.is_none()) {
        bail!("report needs an output file: --html FILE, --md FILE, --perfetto FILE or --openmetrics FILE");
    }
    for (path, endings) in request {
        let ending = path.as_ref().and_then(|p| p.extension()?.to_str());
        if let Some(path) = path
            && !ending.is_some_and(|e| endings.contains(&e))
        {
            let (path, ending) = (path.display(), endings[0]);
            bail!("{path}: the file name must end with .{ending}");
        }
    }
    if let Some(page) = other_page(args)? {
        if args.perfetto.is_some() || args.openmetrics.is_some() {
            bail!("--perfetto and --openmetrics need a single run; this is a comparison, a sweep or a benchmark");
        }
        return pages(args, &page);
    }
    let mut complete = LoadedRun::simulate(&args.input, "report")?;
    if let Some(path) = &args.perfetto {
        let kept = complete.kept()?;
        let trace = PerfettoTrace { run: complete.view(), blockers: &complete.witness, retained: &kept };
        write_page(args, path, ExportSubject::Trace(&trace))?;
    }
    if let Some(path) = &args.openmetrics {
        let (scraped, every) = complete.scraped(args.scrape, args.detail.into())?;
        if every > DEFAULT_SCRAPE && args.scrape.is_none() && !args.quiet {
            output::notice(&format!("scrape interval: {every} (--scrape sets another one)"));
        }
        let metrics = MetricFamilies { run: complete.view(), samples: &scraped };
        write_page(args, path, ExportSubject::Metrics(&metrics))?;
    }
    let words = complete.words();
    let report_view = RunInputText {
        run: complete.view(),
        blockers: &complete.witness,
        pods: &complete.pods,
        queued: &complete.queued,
        defaults: &model_defaults(),
        commands: &[format!("jobset-sim run{words}"), format!("jobset-sim report{words} --html report.html")],
        inputs: &provenance::inputs_digest(&complete.files),
        skipped: complete.skipped(),
    };
    let page = page::run::page(&report_view);
    pages(args, &page)
}

fn pages(args: &ReportArgs, page: &ReportPage) -> Result<(), CommandFailure> {
    for path in [&args.html, &args.md].into_iter().flatten() {
        write_page(args, path, ExportSubject::Page(page))?;
    }
    Ok(())
}

/// Returns the page of a directory of `compare` or `sweep`, or of a result of `bench ttr`; `None` for a run.
fn other_page(args: &ReportArgs) -> Result<Option<ReportPage>, CommandFailure> {
    let Some(path) = args.input.scenario.as_deref() else {
        return Ok(None);
    };
    let page = format!("jobset-sim report {} --html report.html", quoted(&path.to_string_lossy()));
    if path.is_dir() && stored_run::is_run(path) {
        let stored = stored_run::stored(path)?;
        let of = stored.command();
        if of != "run" && !(args.input.sets.is_empty() && args.input.fails.is_empty()) {
            bail!("--set and --fail apply to a single run: to change these results, run `{of}` again");
        }
        let inputs = quoted(&path.join("inputs").to_string_lossy());
        let command = sim_inputs::files::read_stored_text(&path.join("inputs/command.txt")).unwrap_or_default();
        let commands = [format!("cd {inputs} && {}", command.trim_end()), page];
        let mut stored = match stored {
            StoredRun::Run(_) => return Ok(None),
            StoredRun::Sweep(_) if args.input.seed.is_some() => {
                bail!("--seed applies to a single run: to change these results, run `sweep` again");
            }
            StoredRun::Sweep(stored) => return swept(path, &stored, &commands).map(Some),
            StoredRun::Compare(stored) => stored,
        };
        stored.input.seed = args.input.seed.or(stored.input.seed);
        stored.input.threads = args.input.threads;
        stored.quiet |= args.quiet;
        let (all, variants, assumptions) = compare::with_assumptions(&stored)?;
        let digest = inputs_digest(path)?;
        let repeat = (commands.as_slice(), digest.as_str());
        return Ok(Some(comparison::page(&all, &variants, &assumptions, repeat)));
    }
    if path.extension().is_some_and(|e| e == "json") {
        let report = bench::baseline(path)?;
        let commands = ["jobset-sim bench ttr --out bench.json".to_owned(), page];
        return Ok(Some(crate::bench::page::page(
            &report,
            (&bench::rates, &|case, preset| bench::decided(&report, case, preset)),
            &commands,
        )));
    }
    Ok(None)
}

/// Returns the digest of the input files in a directory of `compare` or `sweep`.
fn inputs_digest(dir: &Path) -> Result<String, CommandFailure> {
    let mut files = stored_run::stored_inputs(dir)?.files;
    files.retain(|(name, _)| !name.ends_with('/'));
    Ok(provenance::inputs_digest(&files))
}

fn swept(dir: &Path, stored: &SweepArgs, commands: &[String]) -> Result<ReportPage, CommandFailure> {
    let inputs = inputs_digest(dir)?;
    let sweep = StoredSweep::read(dir, stored)?;
    Ok(page::sweep::page(&page::sweep::SweepText {
        swept: sweep.swept(),
        sensitivities: &sweep.dominant_assumptions,
        closed_forms: &sweep.closed_forms,
        warnings: &sweep.warnings,
        commands,
        inputs: &inputs,
    }))
}

fn write_page(args: &ReportArgs, path: &Path, subject: ExportSubject<'_>) -> Result<(), CommandFailure> {
    export::save(subject, path)?;
    if !args.quiet {
        output::notice(&format!("written: {}", path.display()));
    }
    Ok(())
}
