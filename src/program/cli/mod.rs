//! The command line program: parses the arguments, runs one subcommand and returns its exit code.
//!
//! Results go to standard output, everything else to standard error. This module must never contain logic of the model.

mod admit;
mod args;
mod bench;
mod command_line;
mod compare;
mod demo;
mod diff;
mod explain;
mod failure;
mod inputs;
mod interrupt;
mod lint;
mod manual;
mod new;
mod output;
mod planning;
mod plot;
mod recording;
mod report;
mod run;
mod schema;
mod sensitivity;
mod step;
mod sweep;
mod topology;
mod validate;
mod why;

use clap::error::{ContextKind, ContextValue, ErrorKind as UsageError};
use clap::{CommandFactory, Parser};
use command_line::{CommandLine, TopLevelCommand};
use failure::CommandFailure;
use sim_analysis::format::thousands;
use sim_base::escape::for_terminal;
use sim_inputs::text::diagnostic::shortened;
use std::io::ErrorKind;
use std::process::ExitCode;

const REPORT: &str =
    "This is a bug in jobset-sim. Please report it with the command line, the inputs and the message above.";

/// Shortens each line of a message to 2000 bytes, because messages may quote input files of any size.
fn shortened_lines(message: &str) -> String {
    const LONGEST: usize = 2000;
    let line = |line: &str| {
        if line.len() > LONGEST { shortened(line.to_owned()) } else { line.to_owned() }
    };
    message.lines().map(line).collect::<Vec<_>>().join("\n")
}

pub fn main() -> ExitCode {
    // Invalid usage exits here with code 2, `--help` and `--version` with code 0.
    let cli = CommandLine::try_parse().unwrap_or_else(|refused| wrong_usage(&refused));
    // Release builds do not unwind, so the hook ends the program.
    std::panic::set_hook(Box::new(|panic| {
        let version = env!("CARGO_PKG_VERSION");
        output::notice(&format!("internal error: {panic}\njobset-sim {version}. {REPORT}"));
        sim_report::atomic_write::remove_partial_unless_locked();
        std::process::exit(i32::from(failure::INTERNAL))
    }));
    interrupt::install();
    let code = match dispatch(&cli.command) {
        Ok(code) => code,
        Err(failure) => {
            let bug = matches!(failure, CommandFailure::Internal(_));
            let message = failure.message().trim_end();
            let lead = if message.starts_with("error") { "" } else { "error: " };
            output::notice(&shortened_lines(&format!("{lead}{message}")));
            if bug {
                output::notice(REPORT);
            }
            failure.code()
        }
    };
    ExitCode::from(code)
}

/// Prints the error of the argument parser and exits. The error quotes the arguments, so control characters are
/// escaped.
fn wrong_usage(refused: &clap::Error) -> ! {
    let plain = refused.render().to_string();
    let text = usage_text(refused, &plain);
    if for_terminal(&text, false) == text && text == plain {
        let printed = refused.print();
        // The texts of `--help` and `--version` are results: a failure to write them must be reported.
        match printed.err().filter(|e| e.kind() != ErrorKind::BrokenPipe) {
            Some(e) if !refused.use_stderr() => {
                output::notice(&format!("error: cannot write to standard output: {e}"));
                std::process::exit(2);
            }
            _ => std::process::exit(refused.exit_code()),
        }
    }
    output::notice(text.trim_end());
    std::process::exit(refused.exit_code())
}

/// Replaces messages of the argument parser that do not say what to write.
fn usage_text(refused: &clap::Error, text: &str) -> String {
    let mut text = text.replace("invalid digit found in string", "expected a whole number of at least 0");
    text = text.replace("cannot parse integer from empty string", "expected a whole number");
    // The parser prints a range as `0 is not in 1..=10000000`.
    if let Some((before, rest)) = text.split_once(" is not in ")
        && let Some((low, rest)) = rest.split_once("..=")
    {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (high, after) = rest.split_at(digits);
        let number = before.rsplit(' ').next().unwrap_or_default();
        let lead = before.strip_suffix(number).unwrap_or(before);
        let high = high.parse().map_or(high.to_owned(), thousands);
        text = format!("{lead}expected a whole number from {low} to {high}{after}");
    }
    let unknown = match refused.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) if refused.kind() == UsageError::UnknownArgument => name.as_str(),
        _ => "",
    };
    if matches!(unknown, "--strategy" | "--strategies") {
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("tip: ")).collect();
        lines.insert(1, "\n  tip: --set spec.failurePolicy.restartStrategy=NAME sets the strategy, `compare --strategies NAMES` compares several");
        // The usage names the option that the parser suggested.
        text = lines.join("\n").replace("\n\n\n", "\n\n").replace(" --trace <TRACE>", "");
    }
    text
}

fn dispatch(command: &TopLevelCommand) -> Result<u8, CommandFailure> {
    match command {
        TopLevelCommand::Run(args) => run::cli(args).map(|()| 0),
        TopLevelCommand::Compare(args) => compare::cli(args).map(|()| 0),
        TopLevelCommand::Plan(args) => planning::cli(args).map(|()| 0),
        TopLevelCommand::Sensitivity(args) => sensitivity::cli(args).map(|()| 0),
        TopLevelCommand::Sweep(args) => sweep::cli(args).map(|()| 0),
        TopLevelCommand::Why(args) => why::cli(args),
        TopLevelCommand::Admit(args) => admit::cli(args),
        TopLevelCommand::Bench(args) => bench::cli(args),
        TopLevelCommand::Step(args) => step::cli(args),
        TopLevelCommand::Diff(args) => diff::cli(args),
        TopLevelCommand::Report(args) => report::cli(args).map(|()| 0),
        TopLevelCommand::Plot(args) => plot::cli(args).map(|()| 0),
        TopLevelCommand::Demo(args) => demo::cli(args).map(|()| 0),
        TopLevelCommand::Recording(args) => recording::cli(args).map(|()| 0),
        TopLevelCommand::Validate(args) => validate::cli(args),
        TopLevelCommand::Lint(args) => lint::cli(args),
        TopLevelCommand::Schema(args) => schema::cli(args).map(|()| 0),
        TopLevelCommand::Topology(args) => topology::cli(args).map(|()| 0),
        TopLevelCommand::New(args) => new::cli(args).map(|()| 0),
        TopLevelCommand::Explain(args) => explain::cli(args, CommandLine::command).map(|()| 0),
        TopLevelCommand::Completions { shell } => manual::completions(CommandLine::command(), *shell).map(|()| 0),
        TopLevelCommand::Man { out } => manual::cli(CommandLine::command(), out.as_deref()).map(|()| 0),
    }
}
