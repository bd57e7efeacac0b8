//! `explain TERM`: explains a term. Commands and options are explained from the command line definition.

use crate::cli::args::{FieldOverride, OutputFormat};
use crate::glossary::{Glossary, GlossaryEntry, plain, text};
use crate::{cli::explain::args::ExplainArgs, cli::failure::CommandFailure, cli::output};
use clap::{Arg, Command};

/// Runs the command. `command_line` is the definition of all commands and options.
pub fn cli(args: &ExplainArgs, command_line: Command) -> Result<(), CommandFailure> {
    let book = Glossary::new(commands(command_line));
    let style = output::style(&args.display);
    if args.words.is_empty() && !args.list && args.kind.is_none() {
        return match args.format {
            OutputFormat::Text => output::styled(&text::overview(&book, &style), &style),
            OutputFormat::Json => output::json(&all(&book, None)?),
        };
    }
    if args.words.is_empty() {
        let displayed = all(&book, args.kind.as_deref())?;
        return match args.format {
            OutputFormat::Text => output::styled(&text::list(&displayed, &style), &style),
            OutputFormat::Json => output::json(&displayed),
        };
    }
    let request = args.words.join(" ");
    let mut matching = book.find(&request);
    if let Some(kind) = &args.kind {
        matching.entries.retain(|e| e.kind == *kind);
    }
    if matching.entries.is_empty() {
        return Err(unknown(&request, &matching));
    }
    match args.format {
        OutputFormat::Text => output::styled(&text::format_term(&matching, &style), &style),
        OutputFormat::Json => output::json(&text::found_json(&request, &matching)),
    }
}

fn unknown(request: &str, result: &crate::glossary::TermLookup<'_>) -> CommandFailure {
    let hint = match (result.near, result.also.as_slice()) {
        (Some(near), _) => format!("did you mean {near:?}?"),
        (None, [first, ..]) => format!("similar: {first:?}"),
        (None, []) => "`explain --list` lists all terms".to_owned(),
    };
    CommandFailure::Invalid(format!("unknown term {request:?}; {hint}"))
}

/// Returns all terms, or those of one kind.
fn all<'b>(book: &'b Glossary, kind: Option<&str>) -> Result<Vec<&'b GlossaryEntry>, CommandFailure> {
    let of_kind = |e: &&GlossaryEntry| kind.is_none_or(|kind| e.kind == kind);
    let result: Vec<&GlossaryEntry> = book.entries.iter().filter(of_kind).collect();
    match (result.is_empty(), kind) {
        (true, Some(kind)) => {
            let mut kinds: Vec<&str> = book.entries.iter().map(|e| e.kind.as_str()).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let legal = kinds.join(", ");
            Err(CommandFailure::Invalid(format!("unknown kind {kind:?}; legal: {legal}")))
        }
        _ => Ok(result),
    }
}

/// Returns an entry for every command and every option.
fn commands(mut command: Command) -> Vec<GlossaryEntry> {
    command.build();
    let mut all = Vec::new();
    of_command(&command, "", &mut all);
    all
}

fn of_command(command: &Command, path: &str, all: &mut Vec<GlossaryEntry>) {
    for inner in command.get_subcommands().filter(|c| c.get_name() != "help") {
        let name = format!("{path} {}", inner.get_name()).trim().to_owned();
        let about = inner.get_about().map(ToString::to_string);
        let options = inner.get_arguments().filter(|a| is_listed(a));
        let options: Vec<String> = options.map(typed).collect();
        let help = inner.get_after_help().map(ToString::to_string);
        let examples = help.unwrap_or_default();
        let examples = examples.lines().filter(|line| line.contains("jobset-sim "));
        let example = |line: &str| line.trim().trim_start_matches("Example: ").to_owned();
        let mut facts: Vec<FieldOverride> = examples.map(|line| ("example".to_owned(), example(line))).collect();
        facts.insert(0, ("arguments".to_owned(), options.join(", ")));
        facts.retain(|(_, text)| !text.is_empty());
        all.push(entry(&name, "command", "", about.unwrap_or_default(), facts));
        for arg in inner.get_arguments().filter(|a| is_listed(a)) {
            of_option(arg, &name, all);
        }
        of_command(inner, &name, all);
    }
}

fn of_option(arg: &Arg, command: &str, all: &mut Vec<GlossaryEntry>) {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
    let text = match (help.as_str(), values.as_slice()) {
        ("", []) => "an option".to_owned(),
        ("", values) => format!("one of {}", values.join(", ")),
        (help, _) => help.to_owned(),
    };
    let word = typed(arg);
    let word = word.split(' ').next().unwrap_or("").to_owned();
    let known = all.iter_mut().find(|e| e.word == word && e.text == plain(&text));
    if let Some(known) = known {
        known.of = format!("{}, {command}", known.of);
        return;
    }
    let mut facts = vec![("syntax".to_owned(), typed(arg))];
    if !values.is_empty() {
        facts.push(("values".to_owned(), values.join(", ")));
    }
    all.push(entry(&word, "option", command, text, facts));
}

fn entry(word: &str, kind: &str, of: &str, text: String, facts: Vec<FieldOverride>) -> GlossaryEntry {
    GlossaryEntry {
        word: word.to_owned(),
        kind: kind.to_owned(),
        of: of.to_owned(),
        text: plain(&text),
        facts,
        source: format!(
            "jobset-sim {}--help",
            match of {
                "" => format!("{word} "),
                of => format!("{of} "),
            }
        ),
        ..GlossaryEntry::default()
    }
}

fn is_listed(arg: &Arg) -> bool {
    !["help", "version"].contains(&arg.get_id().as_str())
}

/// Formats an option with its value names: `--seeds N`, `-f FILE`.
fn typed(arg: &Arg) -> String {
    let value = if arg.get_action().takes_values() {
        arg.get_value_names().unwrap_or_default().join(" ")
    } else {
        String::new()
    };
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => return value,
    };
    format!("{name} {value}").trim().to_owned()
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/explain/terms.rs"]
mod tests;
