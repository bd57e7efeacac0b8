//! Measures the performance budget on this machine: `cargo bench --bench budget [-- --only ROW,ROW] [--format md]`.
//!
//! Prints one row per item of the budget with its limit ("must"), its goal and the measured value. Without cargo's
//! `--bench` argument, as under `cargo test --bench budget`, and with `--trial` every row runs once with small inputs
//! and has no status. The exit code is 1 if a measurement fails and, with `--check`, 5 if a row misses its limit.

mod kueue;
mod limits;
mod measure;
mod workload;

use limits::{BUDGET, BudgetRow, Status};
use measure::{Bench, NoValue};
use serde_json::json;
use sim_analysis::experiment::ReplicationLimits;
use std::process::ExitCode;
use std::time::Duration;

/// Time after which no further row is started.
const MAX_TOTAL: Duration = Duration::from_secs(540);

struct Options {
    only: Vec<String>,
    format: OutputFormat,
    trial: bool,
    check: bool,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum OutputFormat {
    Text,
    Markdown,
    Json,
}

struct Measurement {
    row: &'static BudgetRow,
    value: Result<f64, NoValue>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let bench = Bench {
        cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
        trial: options.trial,
        limits: ReplicationLimits::unlimited(),
    };
    let begin = workload::now();
    let is_wanted = |row: &&BudgetRow| options.only.is_empty() || options.only.iter().any(|name| name == row.name);
    let measure = |row: &'static BudgetRow| {
        eprintln!("{}: {}", row.name, row.description);
        let value = if workload::now() - begin > MAX_TOTAL {
            Err(NoValue::Unsupported(
                "time limit of 9 min reached by earlier rows; measure it alone with --only".to_owned(),
            ))
        } else {
            bench.measure(row)
        };
        Measurement { row, value }
    };
    let all: Vec<Measurement> = BUDGET.iter().filter(is_wanted).map(measure).collect();
    print!("{}", render(&all, &bench, options.format));
    let missed = |m: &Measurement| m.status(&bench) == Some(Status::Missed);
    if all.iter().any(|m| matches!(m.value, Err(NoValue::Failed(_)))) {
        return ExitCode::from(1);
    }
    if options.check && all.iter().any(missed) { ExitCode::from(5) } else { ExitCode::SUCCESS }
}

fn options(arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { only: Vec::new(), format: OutputFormat::Text, trial: true, check: false };
    let mut is_trial = false;
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument, None),
        };
        let mut value = || {
            let value = value.clone().or_else(|| arguments.next());
            value.ok_or(format!("{name} requires a value"))
        };
        match name.as_str() {
            "--bench" => options.trial = false,
            "--trial" => is_trial = true,
            "--check" => options.check = true,
            "--only" => options.only.extend(value()?.split(',').map(str::to_owned)),
            "--format" => {
                options.format = match value()?.as_str() {
                    "text" => OutputFormat::Text,
                    "md" => OutputFormat::Markdown,
                    "json" => OutputFormat::Json,
                    other => return Err(format!("--format {other}: expected text, md or json")),
                }
            }
            other => {
                return Err(format!("unknown argument {other}; available: --only ROW,ROW, --format, --trial, --check"));
            }
        }
    }
    options.trial |= is_trial;
    let names: Vec<&str> = BUDGET.iter().map(|row| row.name).collect();
    match options.only.iter().find(|o| !names.contains(&o.as_str())) {
        Some(unknown) => Err(format!("--only {unknown}: unknown row; available: {}", names.join(", "))),
        None => Ok(options),
    }
}

impl Measurement {
    /// Returns the status, or `None` for a trial or a row that cannot be measured.
    fn status(&self, bench: &Bench) -> Option<Status> {
        let value = self.value.as_ref().ok().filter(|_| !bench.trial)?;
        Some(self.row.status(*value))
    }

    /// Returns name, description, limit, goal, measured value, and the status or the reason for a missing value.
    fn cells(&self, bench: &Bench) -> [String; 6] {
        let row = self.row;
        let (measured, remark) = match &self.value {
            Ok(value) => {
                let status = self.status(bench);
                let status = status.map_or(String::new(), |status| status.to_string());
                (row.unit.format(*value), status)
            }
            Err(NoValue::Unsupported(why)) => ("-".to_owned(), format!("not measured: {why}")),
            Err(NoValue::Failed(why)) => ("-".to_owned(), format!("FAILED: {why}")),
        };
        [
            row.name.to_owned(),
            row.description.to_owned(),
            row.unit.format(row.limit),
            row.unit.format(row.goal),
            measured,
            remark,
        ]
    }

    fn json(&self, bench: &Bench) -> serde_json::Value {
        json!({
            "name": self.row.name, "unit": self.row.unit.as_str(), "must": self.row.limit, "goal": self.row.goal,
            "value": self.value.as_ref().ok(),
            "status": self.status(bench).map(|s| s.to_string().to_lowercase()),
        })
    }
}

const HEAD: [&str; 6] = ["row", "what", "must", "goal", "measured", ""];

fn render(all: &[Measurement], bench: &Bench, format: OutputFormat) -> String {
    if format == OutputFormat::Json {
        let rows: Vec<_> = all.iter().map(|m| m.json(bench)).collect();
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"), "cores": bench.cores, "trial": bench.trial, "rows": rows,
        });
        return format!("{report:#}\n");
    }
    let rows = std::iter::once(HEAD.map(str::to_owned));
    let rows: Vec<[String; 6]> = rows.chain(all.iter().map(|m| m.cells(bench))).collect();
    if format == OutputFormat::Markdown {
        let mut lines: Vec<String> = rows.iter().map(|cells| format!("| {} |", cells.join(" | "))).collect();
        lines.insert(1, "|---|---|---|---|---|---|".to_owned());
        return format!("{}\n", lines.join("\n"));
    }
    let width = |column: usize| rows.iter().map(|cells| cells[column].len()).max();
    let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = format!(
        "jobset-sim {}, {} cores{}\n\n",
        env!("CARGO_PKG_VERSION"),
        bench.cores,
        if bench.trial { "; trial with small inputs, no status" } else { "" }
    );
    for [name, what, must, goal, measured, remark] in &rows {
        let line = format!(
            "{name:<0$}  {what:<1$}  {must:>2$}  {goal:>3$}  {measured:>4$}  {remark}",
            widths[0], widths[1], widths[2], widths[3], widths[4]
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
