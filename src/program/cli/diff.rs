//! `diff`: two run directories, inputs first, then the first record in which they part, then metrics. Against a
//! recording of a real control plane: `diff_recording.rs`.

pub(crate) mod diff_recording;

use super::args::{Format, Look};
use super::{Failure, output};
use serde_json::Value;
use sim_analysis::format::{exact_seconds, with_sign};
use sim_base::condition::Condition;
use sim_base::plain::for_terminal;
use sim_report::console::waterfall::Style;
use sim_report::rundiff;
use sim_report::rundiff::RunDiff;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Run directory that `run --out` wrote
    #[arg(value_name = "RUN")]
    pub a: PathBuf,
    /// Second run directory, also of another version of the program, or recording of a real control plane
    #[arg(value_name = "RUN|RECORDING")]
    pub b: PathBuf,
    /// Exit with code 5 if this is true, e.g. 'diff.records > 0'; repeatable
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
}

const GATE_FAILED: u8 = 5;
const NAMES: [&str; 3] = ["diff.inputs", "diff.records", "diff.metrics"];

pub fn cli(args: &DiffArgs) -> Result<u8, Failure> {
    let conditions = conditions(&args.fail_if)?;
    if args.a.is_file() {
        let a = args.a.display();
        let text = match args.b.is_file() {
            true => format!(
                "{a} is a file; what differs are run directories: run {a} --out DIR writes one"
            ),
            false => format!("{a} is a file; the run comes first, the recording second"),
        };
        return Err(Failure::Invalid(text));
    }
    if args.b.is_file() {
        return diff_recording::cli(args, &conditions);
    }
    let diff = rundiff::diff(&args.a, &args.b)?;
    match args.format {
        Format::Json => output::json(&diff)?,
        Format::Text => {
            let style = output::style(&args.look);
            output::styled(&text(&diff, &style), &style)?;
        }
    }
    gate(&conditions, |name| number(&diff, name))
}

/// The exit code of the conditions.
pub(super) fn gate(conditions: &[Condition], number: impl Fn(&str) -> f64) -> Result<u8, Failure> {
    let mut failed = false;
    for condition in conditions {
        let value = number(&condition.name);
        let verdict = condition.holds(value, None)?;
        if verdict.failed {
            output::notice(&format!("--fail-if {condition}: it is {value}"));
        }
        failed |= verdict.failed;
    }
    Ok(if failed { GATE_FAILED } else { 0 })
}

fn conditions(texts: &[String]) -> Result<Vec<Condition>, Failure> {
    let read = |text: &String| -> Result<Condition, Failure> {
        let condition: Condition = text.parse()?;
        match NAMES.contains(&condition.name.as_str()) {
            true => Ok(condition),
            false => Err(Failure::Invalid(condition.unknown(NAMES.into_iter()))),
        }
    };
    texts.iter().map(read).collect()
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

fn text(diff: &RunDiff, style: &Style) -> String {
    let mut out = String::new();
    if diff.equal {
        let _ = writeln!(
            out,
            "The same: inputs, every record (digest {}), every metric.",
            diff.digests[0]
        );
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
                shown(&m.a),
                shown(&m.b),
                by(&m.a, &m.b)
            );
        }
        if diff.more_metrics > 0 {
            let _ = writeln!(out, "  and {} more", diff.more_metrics);
        }
    }
    out
}

fn inputs(out: &mut String, diff: &RunDiff, style: &Style) {
    if diff.inputs.is_empty() {
        if !diff.equal {
            let _ = writeln!(out, "The inputs are the same.\n");
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
                let _ = writeln!(out, "  {}, first in line {line}", input.file);
                for (sign, text) in [('-', &input.a), ('+', &input.b)] {
                    let text = text.as_deref().unwrap_or("(end of the file)");
                    let _ = writeln!(out, "    {sign} {}", cut(text));
                }
            }
        }
    }
    out.push('\n');
}

fn first(out: &mut String, diff: &RunDiff, style: &Style) {
    let Some(first) = &diff.first else {
        if diff.digests[0] != diff.digests[1] {
            let _ = writeln!(
                out,
                "The records differ (digests {} and {}); a run without events.ndjson does not say where.\n",
                diff.digests[0], diff.digests[1]
            );
        }
        return;
    };
    let title = format!(
        "First record that differs: line {} of events.ndjson",
        first.line
    );
    let _ = writeln!(out, "{}", style.bold(&title));
    for record in &first.before {
        let _ = writeln!(out, "    {}", style.dim(&cut(&record_line(record))));
    }
    for (sign, record, causes, decision) in [
        ('-', &first.a, &first.causes_of_a, &first.decision_of_a),
        ('+', &first.b, &first.causes_of_b, &first.decision_of_b),
    ] {
        let text = record
            .as_ref()
            .map_or("(end of the log)".to_owned(), record_line);
        let _ = writeln!(out, "  {sign} {}", cut(&text));
        for cause in causes.iter().take(3) {
            let _ = writeln!(out, "      because of {}", cut(&record_line(cause)));
        }
        if let Some(decision) = decision {
            let _ = writeln!(out, "      decision   {}", cut(&record_line(decision)));
        }
    }
    out.push('\n');
}

/// A record or a decision on one line: when, who, then all else that it says.
pub(super) fn record_line(value: &Value) -> String {
    let Some(members) = value.as_object() else {
        return value.to_string();
    };
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = members.get("t_ns").and_then(Value::as_u64).unwrap_or(0);
    let kind = format!("{}{}", text("kind"), text("controller"));
    let number = members.get("seq").or(members.get("decision"));
    let number = number.map_or(String::new(), Value::to_string);
    let at = exact_seconds(u128::from(at));
    let mut line = format!("{number} {at}s {kind} {}", text("object"));
    const TOLD: [&str; 7] = [
        "seq",
        "decision",
        "t_ns",
        "cause",
        "kind",
        "controller",
        "object",
    ];
    for (key, value) in members
        .iter()
        .filter(|(key, _)| !TOLD.contains(&key.as_str()))
    {
        if value.as_str() != Some("") {
            let _ = write!(line, " {key}={value}");
        }
    }
    line
}

/// Records of hundreds of columns say what they say in their beginning.
pub(super) fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        shown.push_str("...");
    }
    for_terminal(&shown, false).into_owned()
}

pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

/// How much more, of numbers.
fn by(a: &Value, b: &Value) -> String {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) if a != 0.0 => {
            format!(" ({} %)", with_sign((b - a) / a.abs() * 100.0, 2))
        }
        _ => String::new(),
    }
}
