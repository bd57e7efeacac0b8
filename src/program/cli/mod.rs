//! The command line program: parses the arguments, runs one subcommand and returns its exit code.
//!
//! Results go to standard output, everything else to standard error. This module must never contain logic of the
//! model.

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

use clap::{CommandFactory, Parser};
use command_line::{Cli, Command};
use failure::Failure;
use sim_base::plain::for_terminal;
use sim_inputs::text::diagnostic::shortened;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

const REPORT: &str = "This is a bug in jobset-sim. Please report it with the command line, the inputs and the lines above.";

/// Shortens each line of a message to 2000 bytes, because messages may quote input files of any size.
fn shortened_lines(message: &str) -> String {
    const LONGEST: usize = 2000;
    let line = |line: &str| match line.len() > LONGEST {
        true => shortened(line.to_owned()),
        false => line.to_owned(),
    };
    message.lines().map(line).collect::<Vec<_>>().join("\n")
}

pub fn main() -> ExitCode {
    // Invalid usage exits here with code 2, `--help` and `--version` with code 0.
    let cli = Cli::try_parse().unwrap_or_else(|refused| wrong_usage(&refused));
    std::panic::set_hook(Box::new(|panic| {
        let version = env!("CARGO_PKG_VERSION");
        output::notice(&format!(
            "internal error: {panic}\njobset-sim {version}. {REPORT}"
        ));
    }));
    interrupt::install();
    let code = match catch_unwind(AssertUnwindSafe(|| dispatch(&cli.command))) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            let bug = matches!(failure, Failure::Internal(_));
            let message = failure.message().trim_end();
            let lead = if message.starts_with("error") {
                ""
            } else {
                "error: "
            };
            output::notice(&shortened_lines(&format!("{lead}{message}")));
            if bug {
                output::notice(REPORT);
            }
            failure.code()
        }
        Err(_) => 1,
    };
    ExitCode::from(code)
}

/// Prints the error of the argument parser and exits. The error quotes the arguments, so control characters are
/// escaped.
fn wrong_usage(refused: &clap::Error) -> ! {
    let text = refused.render().to_string();
    if for_terminal(&text, false) == text {
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

fn dispatch(command: &Command) -> Result<u8, Failure> {
    match command {
        Command::Run(args) => run::cli(args).map(|()| 0),
        Command::Compare(args) => compare::cli(args).map(|()| 0),
        Command::Plan(args) => planning::cli(args).map(|()| 0),
        Command::Sensitivity(args) => sensitivity::cli(args).map(|()| 0),
        Command::Sweep(args) => sweep::cli(args).map(|()| 0),
        Command::Why(args) => why::cli(args),
        Command::Bench(args) => bench::cli(args),
        Command::Step(args) => step::cli(args),
        Command::Diff(args) => diff::cli(args),
        Command::Report(args) => report::cli(args).map(|()| 0),
        Command::Plot(args) => plot::cli(args).map(|()| 0),
        Command::Demo(args) => demo::cli(args).map(|()| 0),
        Command::Recording(args) => recording::cli(args).map(|()| 0),
        Command::Validate(args) => validate::cli(args),
        Command::Lint(args) => lint::cli(args),
        Command::Schema(args) => schema::cli(args).map(|()| 0),
        Command::Topology(args) => topology::cli(args).map(|()| 0),
        Command::New(args) => new::cli(args).map(|()| 0),
        Command::Explain(args) => explain::cli(args, Cli::command).map(|()| 0),
        Command::Completions { shell } => manual::completions(Cli::command(), *shell).map(|()| 0),
        Command::Man { out } => manual::cli(Cli::command(), out.as_deref()).map(|()| 0),
    }
}
