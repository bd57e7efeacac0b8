//! `diff`: compares two run directories: inputs, first record that differs, metrics. `diff_recording.rs` compares a
//! run with a recording of a real control plane.

pub mod args;
mod diff_recording;
mod record_text;

use crate::cli::diff::record_text::{cut, format_value, gate, record_line};
use crate::cli::inputs::stored_run::{self, StoredRun};
use crate::cli::output;
use crate::{cli::args::OutputFormat, cli::diff::args::DiffArgs, cli::failure::CommandFailure, cli::inputs::fail_if};
use serde_json::Value;
use sim_analysis::format::with_sign;
use sim_base::condition::FieldCondition;
use sim_report::console::waterfall::WaterfallStyle;
use sim_report::rundiff;
use sim_report::rundiff::RunDiff;
use std::fmt::Write;

const NAMES: [&str; 3] = ["diff.inputs", "diff.records", "diff.metrics"];

pub fn cli(args: &DiffArgs) -> Result<u8, CommandFailure> {
    let conditions = fail_if::read(&args.fail_if)?;
    let unknown = |c: &&FieldCondition| !NAMES.contains(&c.name.as_str());
    if let Some(condition) = conditions.iter().find(unknown) {
        return Err(condition.unknown_name_error(NAMES.into_iter()).into());
    }
    if args.a.is_file() {
        let a = args.a.display();
        let text = if args.b.is_file() {
            format!("{a} is a file, not a run directory: create one with run {a} --out DIR")
        } else {
            format!("{a} is a file: the first argument must be a run directory, the second a recording")
        };
        return Err(CommandFailure::Invalid(text));
    }
    for dir in [&args.a, &args.b].into_iter().filter(|path| path.is_dir()) {
        // The command of another version may not be legal in this one.
        let other = stored_run::stored(dir).ok().filter(|stored| !matches!(stored, StoredRun::Run(_)));
        if let Some(other) = other {
            let (dir, of) = (dir.display(), other.command());
            return Err(CommandFailure::Invalid(format!(
                "{dir} was written by `{of}`; diff compares directories of `run`"
            )));
        }
    }
    if args.b.is_file() {
        return diff_recording::cli(args, &conditions);
    }
    let diff = rundiff::diff(&args.a, &args.b)?;
    match args.format {
        OutputFormat::Json => output::json(&diff)?,
        OutputFormat::Text => {
            let style = output::style(&args.display);
            output::styled(&text(&diff, &style), &style)?;
        }
    }
    gate(&conditions, |name| number(&diff, name))
}

fn number(diff: &RunDiff, name: &str) -> f64 {
    let digests_differ = diff.digests[0] != diff.digests[1];
    let n = match name {
        "diff.inputs" => diff.inputs.len(),
        "diff.metrics" => diff.metrics.len() + diff.more_metrics,
        _ => usize::from(diff.first.is_some() || digests_differ),
    };
    n as f64
}

fn text(diff: &RunDiff, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    if diff.equal {
        let _ = writeln!(out, "No differences in inputs, records (digest {}) and metrics.", diff.digests[0]);
    }
    let [a, b] = &diff.versions;
    if a != b {
        let _ = writeln!(out, "versions of the program: {a} and {b}\n");
    }
    inputs(&mut out, diff, style);
    first(&mut out, diff, style);
    if !diff.metrics.is_empty() {
        let _ = writeln!(out, "{}", style.bold("Metrics that differ"));
        for m in &diff.metrics {
            let _ = writeln!(
                out,
                "  {}: {} -> {}{}",
                m.metric,
                format_value(&m.a),
                format_value(&m.b),
                difference_text(&m.a, &m.b)
            );
        }
        if diff.more_metrics > 0 {
            let _ = writeln!(out, "  and {} more", diff.more_metrics);
        }
    }
    out
}

fn inputs(out: &mut String, diff: &RunDiff, style: &WaterfallStyle) {
    if diff.inputs.is_empty() {
        if !diff.equal {
            let _ = writeln!(out, "The inputs are equal.\n");
        }
        return;
    }
    let _ = writeln!(out, "{}", style.bold("Inputs that differ"));
    for input in &diff.inputs {
        match input.line {
            None => {
                let side = if input.a.is_some() { "first" } else { "second" };
                let _ = writeln!(out, "  {}: only in the {side}", input.file);
            }
            Some(line) => {
                let _ = writeln!(out, "  {}, first difference in line {line}", input.file);
                for (sign, text) in [('-', &input.a), ('+', &input.b)] {
                    let text = text.as_deref().unwrap_or("(end of the file)");
                    let _ = writeln!(out, "    {sign} {}", cut(text));
                }
            }
        }
    }
    out.push('\n');
}

fn first(out: &mut String, diff: &RunDiff, style: &WaterfallStyle) {
    let Some(first) = &diff.first else {
        if diff.digests[0] != diff.digests[1] {
            let _ = writeln!(
                out,
                "The records differ (digests {} and {}); the first difference is unknown because events.ndjson is missing.\n",
                diff.digests[0], diff.digests[1]
            );
        }
        return;
    };
    let title = format!("First record that differs: line {} of events.ndjson", first.line);
    let _ = writeln!(out, "{}", style.bold(&title));
    for record in &first.before {
        let _ = writeln!(out, "    {}", style.dim(&cut(&record_line(record))));
    }
    for (sign, record, causes, decision) in [
        ('-', &first.a, &first.causes_of_a, &first.decision_of_a),
        ('+', &first.b, &first.causes_of_b, &first.decision_of_b),
    ] {
        let text = record.as_ref().map_or("(end of the log)".to_owned(), record_line);
        let _ = writeln!(out, "  {sign} {}", cut(&text));
        for cause in causes.iter().take(3) {
            let _ = writeln!(out, "      cause      {}", cut(&record_line(cause)));
        }
        if let Some(decision) = decision {
            let _ = writeln!(out, "      decision   {}", cut(&record_line(decision)));
        }
    }
    out.push('\n');
}

/// Formats the relative change between two numbers in percent.
fn difference_text(a: &Value, b: &Value) -> String {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) if a != 0.0 => {
            format!(" ({} %)", with_sign((b - a) / a.abs() * 100.0, 2))
        }
        _ => String::new(),
    }
}
