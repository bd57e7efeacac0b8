//! `step`: a run record by record, with commands from standard input.

use super::args::StepArgs;
use super::inputs::stored_run;
use super::inputs::subject::Given;
use super::{Failure, output};
use crate::step::{self, Talk};
use sim_engine::Simulation;
use sim_engine::faults;
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

/// Exit code where a command was wrong and nobody could type it again.
const WRONG: u8 = 2;

pub fn cli(args: &StepArgs) -> Result<u8, Failure> {
    let play = stored_run::resolved(&args.play)?;
    if play.manifests.iter().any(|path| path == "-") {
        let text = "commands come from standard input, so manifests cannot: give -f a file";
        return Err(Failure::Invalid(text.to_owned()));
    }
    let loaded = Given::read(&play)?.pods(&[], "step")?;
    let seed = play.seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::drawn(&loaded.scenario, seed, 0);
    let made = || Simulation::new(&scenario).map_err(|e| Failure::CannotBePlaced(e.to_string()));
    let (mut simulation, second) = (made()?, made()?);
    let mut talk = Terminal {
        asks: stdin().is_terminal() && stderr().is_terminal(),
        wrong: false,
        failed: None,
    };
    step::run(
        &mut simulation,
        second,
        (seed, args.breaks.clone()),
        &mut talk,
    );
    match talk.failed {
        Some(failure) => Err(failure),
        None if talk.wrong && !talk.asks => Ok(WRONG),
        None => Ok(0),
    }
}

struct Terminal {
    /// Somebody types.
    asks: bool,
    /// A command was.
    wrong: bool,
    /// Answers could not be written.
    failed: Option<Failure>,
}

impl Talk for Terminal {
    fn ask(&mut self) -> Option<String> {
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
                self.failed = Some(Failure::Invalid(format!("cannot read commands: {e}")));
                None
            }
        }
    }

    fn tell(&mut self, text: &str) {
        if let Err(failure) = output::text(text) {
            self.failed.get_or_insert(failure);
        }
    }

    fn complain(&mut self, text: &str) {
        self.wrong = true;
        output::notice(&format!("error: {text}"));
    }
}
