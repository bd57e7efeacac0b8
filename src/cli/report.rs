//! `report`: one page of a run, as HTML or Markdown.

use super::args::PlayArgs;
use super::whole::{Whole, defaults};
use super::{Failure, output};
use crate::report::export::{self, Subject};
use crate::report::page::run::{Told, page};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    /// Write one HTML page here
    #[arg(long, value_name = "FILE", required_unless_present = "md")]
    pub html: Option<PathBuf>,
    /// Write Markdown here, and its charts beside it
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Print results only: no notices
    #[arg(long)]
    pub quiet: bool,
}

pub fn cli(args: &ReportArgs) -> Result<(), Failure> {
    for (path, endings) in [(&args.html, &["html", "htm"][..]), (&args.md, &["md"])] {
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
    let whole = Whole::of(&args.play, "report")?;
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
        export::save(Subject::Page(&page), path)?;
        if !args.quiet {
            output::notice(&format!("written: {}", path.display()));
        }
    }
    Ok(())
}
