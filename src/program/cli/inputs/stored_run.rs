//! A run directory as what it was made from: the command line that repeats it, its paths inside `inputs/`.

use crate::cli::args::{Cli, Command, CompareArgs, PlayArgs, RunArgs, SweepArgs};
use crate::cli::{Failure, inputs};

use clap::Parser;
use std::path::Path;

/// Whether a path is a run directory.
pub fn is_run(path: &Path) -> bool {
    path.join("inputs/command.txt").is_file()
}

/// What a directory was made with; paths lead into it.
pub enum Stored {
    Run(Box<RunArgs>),
    Compare(Box<CompareArgs>),
    Sweep(Box<SweepArgs>),
}

impl Stored {
    pub fn command(&self) -> &'static str {
        match self {
            Stored::Run(_) => "run",
            Stored::Compare(_) => "compare",
            Stored::Sweep(_) => "sweep",
        }
    }
}

pub fn stored(dir: &Path) -> Result<Stored, Failure> {
    let base = dir.join("inputs");
    let file = base.join("command.txt");
    let shown = file.display();
    let text = std::fs::read_to_string(&file);
    let text = text.map_err(|e| Failure::Invalid(format!("cannot read {shown}: {e}")))?;
    let words = words(text.trim_end());
    let cli = Cli::try_parse_from(&words).map_err(|e| {
        let reason = e.render().to_string();
        let reason = reason.lines().next().unwrap_or_default();
        Failure::Invalid(format!("{shown} is no command of this version: {reason}"))
    })?;
    match cli.command {
        Command::Run(mut args) => {
            lead(&mut args.play, &base);
            Ok(Stored::Run(Box::new(args)))
        }
        Command::Compare(mut args) => {
            lead(&mut args.play, &base);
            Ok(Stored::Compare(Box::new(args)))
        }
        Command::Sweep(mut args) if args.command.is_none() => {
            lead(&mut args.play, &base);
            Ok(Stored::Sweep(args))
        }
        _ => {
            let other = words
                .iter()
                .skip(1)
                .take_while(|w| w.chars().all(|c| c.is_ascii_lowercase()));
            let other: Vec<&str> = other.take(2).map(String::as_str).collect();
            let (other, dir) = (other.join(" "), dir.display());
            let text = format!(
                "{dir} is of `{other}`; only what `run`, `compare` or `sweep` wrote can be played again"
            );
            Err(Failure::Invalid(text))
        }
    }
}

/// Paths of the command line, seen from outside.
fn lead(play: &mut PlayArgs, base: &Path) {
    play.scenario = play.scenario.as_deref().map(|path| base.join(path));
    // A name may be that of a topology of the program.
    let topology = play.topology.as_deref().map(|path| base.join(path));
    play.topology = topology
        .filter(|path| path.exists())
        .or(play.topology.take());
    for (path, value) in &mut play.sets {
        // Beside a scenario it is found from there.
        if !play.manifests.is_empty() && path == inputs::PRESET && sim_inputs::is_preset_file(value)
        {
            *value = base.join(&*value).to_string_lossy().into_owned();
        }
    }
    for path in &mut play.manifests {
        *path = base.join(&*path).to_string_lossy().into_owned();
    }
}

/// What `run` was called with; paths lead into the directory.
pub fn arguments(dir: &Path) -> Result<RunArgs, Failure> {
    match stored(dir)? {
        Stored::Run(args) => Ok(*args),
        other => {
            let (dir, of) = (dir.display(), other.command());
            let text = format!("{dir} is of `{of}`; only what `run` wrote can be played again");
            Err(Failure::Invalid(text))
        }
    }
}

/// Where a run directory stands for a scenario: its inputs instead, with what is added to them.
pub fn resolved(play: &PlayArgs) -> Result<PlayArgs, Failure> {
    let Some(dir) = play.scenario.as_deref().filter(|path| path.is_dir()) else {
        return Ok(play.clone());
    };
    if !is_run(dir) {
        let dir = dir.display();
        let text = format!("{dir} is a directory without inputs/command.txt: no run");
        return Err(Failure::Invalid(text));
    }
    let mut stored = arguments(dir)?.play;
    stored.sets.extend(play.sets.iter().cloned());
    stored.fails.extend(play.fails.iter().cloned());
    stored.seed = play.seed.or(stored.seed);
    Ok(stored)
}

/// The words of a line as a shell would see them; single quotes and backslashes, as `inputs::quoted` writes them.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::inputs::quoted;

    #[test]
    fn words_are_those_that_were_quoted() {
        let all = [
            "run",
            "a b",
            "it's",
            "",
            "x=[{a: 'b'}]",
            "two\nlines",
            r"back\slash",
        ];
        let line: Vec<String> = all.iter().map(|w| quoted(w)).collect();
        assert_eq!(words(&line.join(" ")), all);
    }
}
