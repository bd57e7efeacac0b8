//! `recording import`: creates a recording from the output of `kubectl`.

use crate::{cli::failure::CommandFailure, cli::output};
use serde_json::Value;
use sim_analysis::format::wrap;
use sim_base::escape::for_terminal;
use sim_inputs::text::node::SourcePosition;
use sim_inputs::{Diagnostic, SourceText};
use sim_recordings::observe;
use sim_recordings::observe::{
    ImportedRecording, ObjectReadError, TextProblem, WatchReader, anonymizer, lifecycle, milestones, recording, text,
};
use std::fmt::Write;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Watches and lists printed by `kubectl`, as JSON or YAML, in any order; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Name of the JobSet, if the files contain several
    #[arg(long, value_name = "NAME")]
    pub jobset: Option<String>,
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Number of the restart, starting at 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub restart: u32,
    /// Remove names, images, nodes, labels and messages
    #[arg(long, alias = "anonymise")]
    pub anonymize: bool,
    /// Control-plane preset whose rates are used until they are calibrated
    #[arg(long, value_name = "NAME", default_value = sim_inputs::presets::DEFAULT_PRESET)]
    pub preset: String,
    /// Write the recording to this new file; - for standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

pub fn cli(args: &ImportArgs) -> Result<(), CommandFailure> {
    let defaults = sim_inputs::control_plane(&args.preset).ok_or_else(|| {
        let names = sim_inputs::preset_names().join(", ");
        CommandFailure::Invalid(format!("--preset: unknown preset {:?}; known: {names}", args.preset))
    })?;
    let mut reader = WatchReader::default();
    for file in &args.files {
        read(file, &mut reader)?;
    }
    let (jobset, namespace) = (args.jobset.as_deref(), args.namespace.as_deref());
    let chosen = lifecycle::select_jobset(&reader.versions, jobset, namespace).map_err(|e| e.to_string())?;
    let mut observed = lifecycle::observed_lifecycle(&reader.versions, &chosen);
    let notes = std::mem::take(&mut reader.interrupted).into_iter();
    observed.notes.extend(notes.map(|why| format!("a watch ended early: {why}")));
    let imported = observe::import(&observed, args.restart, &defaults).map_err(|e| e.to_string())?;
    let json = if args.anonymize { anonymizer::anonymize(&imported.json) } else { imported.json.clone() };
    write(&args.out, &json)?;
    let summary_text = summary(&observed, &imported, &reader, args);
    if args.out.as_os_str() == "-" {
        output::notice(summary_text.trim_end());
        Ok(())
    } else {
        output::text(&summary_text)
    }
}

fn read(file: &str, reader: &mut WatchReader) -> Result<(), CommandFailure> {
    let source = source(file)?;
    if text::is_json(&source.text) {
        let read = reader.read_json(&source.file, &source.text);
        return read.map_err(|problem| placed(&source, &problem));
    }
    let documents = sim_inputs::documents(&source)?;
    let of_file =
        |e: ObjectReadError| CommandFailure::Invalid(Diagnostic::of_file(&source.file, e.to_string()).to_string());
    let from = reader.versions.len();
    let read = documents.into_iter().try_for_each(|document| reader.read_value(document));
    read.map_err(of_file)?;
    reader.detect_plain_watch(from);
    Ok(())
}

/// Reads a file or standard input. The size limit is higher than for manifests, because a watch may cover thousands
/// of pods.
pub fn source(file: &str) -> Result<SourceText, CommandFailure> {
    let complete = |message: String| CommandFailure::Invalid(Diagnostic::of_file(file, message).to_string());
    let mut bytes = Vec::new();
    let most = text::TEXT_MAX + 1;
    let read = match file {
        "-" => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|f| f.take(most).read_to_end(&mut bytes)),
    };
    read.map_err(|e| complete(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > text::TEXT_MAX {
        let mib = text::TEXT_MAX >> 20;
        return Err(complete(format!("the file is too large; the limit is {mib} MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let before = &e.as_bytes()[..at];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
        complete(format!("not a text file: invalid UTF-8 in line {line}, byte {column}"))
    })?;
    let file = match file {
        "-" => sim_inputs::STDIN,
        file => file,
    };
    Ok(SourceText { file: file.to_owned(), text })
}

/// Returns an error at a line and byte of an input text.
pub fn error_at(source: &SourceText, line: usize, column: usize, message: String) -> CommandFailure {
    let problem = TextProblem { file: source.file.clone(), line, column, message };
    placed(source, &problem)
}

fn placed(source: &SourceText, problem: &TextProblem) -> CommandFailure {
    let line = source.text.lines().nth(problem.line.saturating_sub(1));
    // `serde_json` counts columns in bytes, diagnostics count characters.
    let bytes = problem.column.saturating_sub(1);
    let column = line.map_or(1, |line| {
        let before = line.char_indices().take_while(|(i, _)| *i < bytes);
        before.count() + 1
    });
    let before = source.text.lines().take(problem.line.saturating_sub(1));
    let byte: usize = before.map(|l| l.len() + 1).sum::<usize>() + bytes;
    let at = SourcePosition {
        line: u32::try_from(problem.line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
        len: 1,
        byte: u32::try_from(byte.min(source.text.len())).unwrap_or(0),
        ..SourcePosition::default()
    };
    CommandFailure::Invalid(Diagnostic::at(source, at, problem.message.clone()).to_string())
}

fn write(path: &Path, json: &Value) -> Result<(), CommandFailure> {
    let mut text = serde_json::to_string(json).map_err(|e| CommandFailure::Internal(e.to_string()))?;
    text.push('\n');
    if path.as_os_str() == "-" {
        return output::result(&text);
    }
    new_file(path, text.as_bytes())
}

/// Creates a new file with the given content. No partial file remains after an error.
pub fn new_file(path: &Path, bytes: &[u8]) -> Result<(), CommandFailure> {
    let display_path = path.display();
    let refuse = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AlreadyExists => CommandFailure::Invalid(format!(
            "{display_path} already exists; remove it or choose another name for --out"
        )),
        _ => CommandFailure::Invalid(format!("cannot write {display_path}: {e}")),
    };
    let mut file = std::fs::File::create_new(path).map_err(refuse)?;
    let written = file.write_all(bytes).and_then(|()| file.flush());
    written.map_err(|e| {
        // Removes the partial file.
        let _ = std::fs::remove_file(path);
        refuse(e)
    })
}

/// Summarizes the milestones with their uncertainty, the assumptions, and the parts that were not read.
fn summary(
    life: &observe::ObservedLifecycle, imported: &ImportedRecording, reader: &WatchReader, args: &ImportArgs,
) -> String {
    let mut out = String::new();
    let restart = &imported.restart;
    let name = for_terminal(&life.jobset.name, false).into_owned();
    let (wanted, counted) = (milestones::specified_pods(life), milestones::restart_count(life));
    let _ = writeln!(
        out,
        "JobSet {name}: {wanted} pods, {counted} restart{} in these files; restart {}",
        if counted == 1 { "" } else { "s" },
        restart.number
    );
    if let Some((origin, at)) = restart.origin {
        let how = match (&restart.first_pod, restart.derived) {
            (_, true) => ", derived".to_owned(),
            (Some(pod), _) => format!(", pod {}", for_terminal(pod, false)),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "\n  {:<18}{:>10}   after {}{how}",
            "milestone",
            "seconds",
            recording::milestone_name(restart, origin)
        );
        for (milestone, when) in &restart.at {
            let s = when.ms_after(at) as f64 / 1e3;
            let off = when.uncertainty_with(at);
            let _ = writeln!(out, "  {:<18}{s:>10.3}   ± {off:.2}", recording::milestone_name(restart, *milestone));
        }
    }
    for (milestone, why) in &restart.unknown {
        let _ = writeln!(out, "  {:<18}{:>10}   {why}", recording::milestone_name(restart, *milestone), "unknown");
    }
    let mut list = |title: &str, items: &[String]| {
        if items.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n{title}:");
        for item in items {
            let lines = wrap(&for_terminal(item, false), 96);
            let _ = writeln!(out, "  {}", lines.join("\n    "));
        }
    };
    list("Assumed, because the files do not contain it", &imported.assumed);
    list("Notes", &imported.notes);
    let skipped = reader.skipped.iter().map(|(kind, n)| format!("{n} {kind}"));
    list("Not read", &skipped.collect::<Vec<_>>());
    if args.out.as_os_str() != "-" {
        let display_path = args.out.display();
        let _ = writeln!(out, "\nWritten to {display_path}; next: jobset-sim validate {display_path}");
    }
    out
}
