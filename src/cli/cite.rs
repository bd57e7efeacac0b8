//! `cite`: what belongs below a figure, so that a reader can check it and make it again.

use super::args::{Format, PlayArgs};
use super::replay::{self, Stored};
use super::whole::{Whole, defaults};
use super::{Failure, compare, output};
use crate::metrics::Restart;
use crate::report::compare_figure;
use crate::report::deciding::{self, Decider};
use crate::report::hanging;
use crate::report::provenance;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct CiteArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// One figure's paragraph.
struct Citation {
    /// Program, scenario, preset, seed, digest.
    made_by: Vec<String>,
    /// Over the texts of everything that was read.
    inputs: String,
    hangs_on: Vec<Decider>,
    command: String,
}

pub fn cli(args: &CiteArgs) -> Result<(), Failure> {
    let cited = match stored_comparison(&args.play)? {
        Some(cited) => cited,
        None => of_run(&args.play)?,
    };
    match args.format {
        Format::Json => output::json(&cited.json()),
        Format::Text => output::text(&cited.text()),
    }
}

fn of_run(play: &PlayArgs) -> Result<Citation, Failure> {
    let whole = Whole::of(play, "cite")?;
    let run = whole.view();
    let all: Vec<&Restart> = run.restarts().iter().collect();
    Ok(Citation {
        made_by: vec![provenance::of_run(&run)],
        inputs: hash(&whole.files),
        hangs_on: deciding::deciders(&run, &all, &defaults()),
        command: format!("jobset-sim run{}", whole.words(play)),
    })
}

fn stored_comparison(play: &PlayArgs) -> Result<Option<Citation>, Failure> {
    let dir = play.scenario.as_deref().filter(|path| replay::is_run(path));
    let Some(dir) = dir else { return Ok(None) };
    let Stored::Compare(mut stored) = replay::stored(dir)? else {
        return Ok(None);
    };
    if !play.sets.is_empty() || !play.fails.is_empty() || play.seed.is_some() {
        let text = "--set, --fail and --seed change a run; a comparison is cited as it is";
        return Err(Failure::Invalid(text.to_owned()));
    }
    stored.play.threads = play.threads;
    stored.quiet = true;
    let (all, _, hung) = compare::again(&stored)?;
    let command = std::fs::read_to_string(dir.join("inputs/command.txt")).unwrap_or_default();
    Ok(Some(Citation {
        made_by: compare_figure::provenance(&all),
        inputs: hash(&files(&dir.join("inputs"))?),
        hangs_on: hanging::together(&hung),
        command: format!("cd inputs && {}", command.trim_end()),
    }))
}

/// Names and texts of the files that a directory keeps, by name.
fn files(dir: &Path) -> Result<Vec<(String, String)>, Failure> {
    let failed =
        |e: std::io::Error| Failure::Invalid(format!("cannot read {}: {e}", dir.display()));
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_none_or(|name| name != "command.txt") {
                let text = std::fs::read_to_string(&path).map_err(failed)?;
                let name = path.strip_prefix(dir).unwrap_or(&path);
                found.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// FNV-1a over the texts, each followed by a byte that no text has; so a copy elsewhere has the same.
fn hash(inputs: &[(String, String)]) -> String {
    let mut bytes = Vec::new();
    for (_, text) in inputs {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0xff);
    }
    let (n, hash) = (inputs.len(), crate::base::fnv::fnv1a(bytes));
    format!(
        "{hash:016x} ({})",
        crate::report::words::count(n as u64, "file")
    )
}

impl Citation {
    fn text(&self) -> String {
        let mut text = String::new();
        for (i, line) in self.made_by.iter().enumerate() {
            let head = if i == 0 { "Made by " } else { "" };
            text.push_str(&format!("{head}{}.\n", line.replace("  ·  ", ", ")));
        }
        text.push_str(&format!("Inputs {}.\n", self.inputs));
        if !self.hangs_on.is_empty() {
            text.push_str("It hangs on:\n");
        }
        for d in &self.hangs_on {
            let (name, value) = (d.name, &d.value);
            text.push_str(&format!(
                "- {name}: {value} ({}; {})\n",
                d.confidence, d.source
            ));
        }
        text.push_str(&format!("Again: {}\n", self.command));
        text
    }

    fn json(&self) -> Value {
        let one = |d: &Decider| {
            json!({
                "name": d.name, "value": d.value, "id": d.id, "source": d.source, "confidence": d.confidence,
            })
        };
        json!({
            "schema": "jobset-sim/cite/v1",
            "madeBy": self.made_by.iter().map(|line| line.replace("  ·  ", ", ")).collect::<Vec<_>>(),
            "inputs": self.inputs,
            "hangsOn": self.hangs_on.iter().map(one).collect::<Vec<_>>(),
            "command": self.command,
        })
    }
}
