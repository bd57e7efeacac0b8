//! `step`: simulates record by record, with commands from standard input.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, note_not_modelled, stored_run};
use crate::step::{self, Console};
use crate::{cli::args::InputArgs, cli::output, step::breakpoints::Breakpoint};
use sim_engine::SimulationInput;
use sim_reliability::faults;
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

#[derive(Debug, clap::Args)]
pub struct StepArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Stop at a kind of record, e.g. PodFinished, RestartCounted.restarts=2, jobset.condition=RestartingJobSet
    /// (repeatable)
    #[arg(long = "break", value_name = "KIND[.MEMBER=VALUE]")]
    pub breaks: Vec<Breakpoint>,
}

/// Exit code after an invalid command if standard input is not a terminal.
const WRONG: u8 = 2;

pub fn cli(args: &StepArgs) -> Result<u8, CommandFailure> {
    let play = stored_run::resolved(&args.input)?;
    if play.manifests.iter().any(|path| path == "-") {
        bail!("standard input is used for commands: pass the manifests as a file with -f");
    }
    let loaded = ExperimentInput::read(&play)?.pods(&[], "step")?;
    note_not_modelled(&loaded.not_modelled());
    let seed = play.seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario)?;
    let second = SimulationInput::new(&scenario)?;
    let mut talk = StepTerminal { asks: stdin().is_terminal() && stderr().is_terminal(), wrong: false, failed: None };
    step::run(&mut simulation, second, (seed, args.breaks.clone()), &mut talk);
    match talk.failed {
        Some(failure) => Err(failure),
        None if talk.wrong && !talk.asks => Ok(WRONG),
        None => Ok(0),
    }
}

struct StepTerminal {
    /// Whether standard input and standard error are terminals.
    asks: bool,
    /// Whether a command was invalid.
    wrong: bool,
    /// First error of reading commands or writing output.
    failed: Option<CommandFailure>,
}

impl Console for StepTerminal {
    fn read_command(&mut self) -> Option<String> {
        if self.failed.is_some() {
            return None;
        }
        if self.asks {
            let _ = write!(stderr().lock(), "(step) ");
            let _ = stderr().lock().flush();
        }
        let mut line = String::new();
        match stdin().lock().read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line),
            Err(e) => {
                self.failed = Some(CommandFailure::Invalid(format!("cannot read commands: {e}")));
                None
            }
        }
    }

    fn print_text(&mut self, text: &str) {
        if let Err(failure) = output::text(text) {
            self.failed.get_or_insert(failure);
        }
    }

    fn report_error(&mut self, text: &str) {
        self.wrong = true;
        output::notice(&format!("error: {text}"));
    }
}
