//! `report`: one page of a run, as HTML or Markdown.

use super::args::PlayArgs;
use super::whole::{Whole, defaults};
use super::{Failure, output};
use crate::base::*;
use crate::report::export::{self, Subject};
use crate::report::openmetrics::Metrics;
use crate::report::page::run::{Told, page};
use crate::report::perfetto::Trace;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Write one HTML page here
    #[arg(long, value_name = "FILE", required_unless_present_any = ["md", "perfetto", "openmetrics"])]
    pub html: Option<PathBuf>,
    /// Write Markdown here, and its charts beside it
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Write a trace for Perfetto here: tracks for JobSets, Jobs, nodes and pods, queues, arrows from cause to effect
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write OpenMetrics text here, under the names that JobSet, kube-state-metrics and client-go have
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
    /// How often the metrics are scraped
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = scrape)]
    pub scrape: Duration,
    /// Print results only: no notices
    #[arg(long)]
    pub quiet: bool,
}

fn scrape(text: &str) -> Result<Duration, String> {
    let every: Duration = text.parse()?;
    match every >= Duration::from_millis(100) {
        true => Ok(every),
        false => Err("at least 100ms".to_owned()),
    }
}

pub fn cli(args: &ReportArgs) -> Result<(), Failure> {
    let asked = [
        (&args.html, &["html", "htm"][..]),
        (&args.md, &["md"]),
        (&args.perfetto, &["perfetto-trace", "pftrace"]),
        (&args.openmetrics, &["om", "prom", "txt"]),
    ];
    for (path, endings) in asked {
        let ending = path.as_ref().and_then(|p| p.extension()?.to_str());
        if let Some(path) = path
            && !ending.is_some_and(|e| endings.contains(&e))
        {
            let (path, ending) = (path.display(), endings[0]);
            return Err(Failure::Invalid(format!(
                "{path}: its name must end with .{ending}"
            )));
        }
    }
    let mut whole = Whole::of(&args.play, "report")?;
    if let Some(path) = &args.perfetto {
        let kept = whole.kept()?;
        let trace = Trace {
            run: whole.view(),
            witness: &whole.witness,
            kept: &kept,
        };
        written(args, path, Subject::Trace(&trace))?;
    }
    if let Some(path) = &args.openmetrics {
        let scraped = whole.scraped(args.scrape)?;
        let metrics = Metrics {
            run: whole.view(),
            scraped: &scraped,
        };
        written(args, path, Subject::Metrics(&metrics))?;
    }
    let words = whole.words(&args.play);
    let told = Told {
        run: whole.view(),
        witness: &whole.witness,
        pods: &whole.pods,
        queued: &whole.queued,
        defaults: &defaults(),
        commands: &[
            format!("jobset-sim run{words}"),
            format!("jobset-sim report{words} --html report.html"),
        ],
        skipped: whole.skipped(),
    };
    let page = page(&told);
    for path in [&args.html, &args.md].into_iter().flatten() {
        written(args, path, Subject::Page(&page))?;
    }
    Ok(())
}

fn written(args: &ReportArgs, path: &Path, subject: Subject<'_>) -> Result<(), Failure> {
    export::save(subject, path)?;
    if !args.quiet {
        output::notice(&format!("written: {}", path.display()));
    }
    Ok(())
}
