//! `bench self`: how fast the program is on this machine, against its budget.

pub mod measure;

use super::args::{Look, TableFormat};
use super::bench::{GATE_FAILED, write};
use super::{Failure, interrupt, output};
use crate::base::condition::Condition;
use crate::bench::own::{self, BUDGET, Budget, SelfReport, SelfRow, print};
use measure::Bench;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No row begins later than that: the longest takes half a minute.
const LONGEST: Duration = Duration::from_secs(540);

#[derive(Debug, clap::Args)]
pub struct SelfArgs {
    /// Only these rows, e.g. queue.5000,collapsed.54d
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Each row small, without a standing, to see that it can be measured here
    #[arg(long)]
    pub trial: bool,
    /// A result of --format json, to compare with
    #[arg(long, value_name = "BASELINE.json")]
    pub against: Option<PathBuf>,
    /// Exit with code 5 if this is true, e.g. 'rows.missed > 0'; repeatable
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Write the JSON here as well, as the next baseline
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

pub fn cli(args: &SelfArgs) -> Result<u8, Failure> {
    let conditions = conditions(args)?;
    let before = args.against.as_deref().map(baseline).transpose()?;
    let wanted = wanted(&args.only)?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let bench = Bench {
        cores,
        trial: args.trial,
        limits: interrupt::limits(),
    };
    if cfg!(debug_assertions) && !args.trial {
        output::notice("this is no release build: its speed says nothing");
    }
    let rows = rows(&wanted, &bench, args.quiet);
    let finished = rows.len();
    if finished == 0 {
        return Err(interrupt::failure("no row is measured"));
    }
    let report = SelfReport::of(rows, (cores, args.trial));
    let json =
        serde_json::to_string_pretty(&report).map_err(|e| Failure::Internal(e.to_string()))?;
    if let Some(path) = &args.out {
        write(path, &format!("{json}\n"))?;
    }
    match args.format {
        TableFormat::Json => output::result(&format!("{json}\n"))?,
        TableFormat::Csv => output::bytes(&print::csv(&report)?)?,
        TableFormat::Md => output::result(&print::md(&report)?)?,
        TableFormat::Text => {
            let style = output::style(&args.look);
            output::styled(&print::text(&report, before.as_ref(), &style), &style)?;
        }
    }
    if finished < wanted.len() {
        let kept = format!("{finished} of {} rows are measured", wanted.len());
        return Err(interrupt::failure(&kept));
    }
    let mut failed = false;
    for condition in &conditions {
        if own::check(condition, &report, before.as_ref())? {
            output::notice(&format!("FAILED {condition}"));
            failed = true;
        }
    }
    Ok(if failed { GATE_FAILED } else { 0 })
}

/// As many as are measured before it is stopped.
fn rows(wanted: &[&Budget], bench: &Bench, quiet: bool) -> Vec<SelfRow> {
    let began = measure::now();
    let row = |budget: &&Budget| {
        if !quiet {
            output::progress(&format!("{}: {}", budget.name, budget.what));
        }
        if measure::now() - began > LONGEST {
            let why = "the rows before it took ten minutes; --only measures it alone";
            return Some(budget.row(Err(why.to_owned())));
        }
        measure::row(budget, bench)
    };
    let rows = wanted.iter().map_while(row).collect();
    if !quiet {
        output::progress("");
    }
    rows
}

fn conditions(args: &SelfArgs) -> Result<Vec<Condition>, Failure> {
    let read = |text: &String| -> Result<Condition, Failure> {
        let condition: Condition = text.parse()?;
        own::known(&condition, args.against.is_some())?;
        Ok(condition)
    };
    args.fail_if.iter().map(read).collect()
}

/// In the order of the budget.
fn wanted(only: &[String]) -> Result<Vec<&'static Budget>, Failure> {
    let names = || BUDGET.iter().map(|row| row.name);
    if let Some(unknown) = only
        .iter()
        .find(|name| !names().any(|known| known == **name))
    {
        let all: Vec<&str> = names().collect();
        let text = format!(
            "--only {unknown}: there is no such row; there are {}",
            all.join(", ")
        );
        return Err(Failure::Invalid(text));
    }
    let is_wanted = |row: &&Budget| only.is_empty() || only.iter().any(|name| name == row.name);
    Ok(BUDGET.iter().filter(is_wanted).collect())
}

fn baseline(path: &Path) -> Result<SelfReport, Failure> {
    let shown = path.display();
    let failed = |why: String| Failure::Invalid(format!("{shown}: {why}"));
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    SelfReport::read(&text)
        .map_err(|why| failed(format!("no result of `bench self --format json`: {why}")))
}
