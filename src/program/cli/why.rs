//! `why`: the critical path of a restart, a start or a pod, and what would have been different.

use super::args::{Format, WhyArgs};
use super::inputs::quoted;
use super::inputs::stored_run;
use super::inputs::subject::Given;
use super::{Failure, output};
use sim_analysis::why;
use sim_analysis::why::{Asked, NoAnswer, Set};
use sim_inputs::LoadedScenario;

/// Nothing of it could be placed.
const NO_PLACE: u8 = 4;

pub fn cli(args: &WhyArgs) -> Result<u8, Failure> {
    let asked = Question::of(args)?;
    // What the inputs themselves are refused for decides the exit code.
    asked.load(&[])?;
    let load = |more: &[Set]| asked.load(more).map_err(|why| why.message().to_owned());
    let answer = why::explain(&load, &asked.asked);
    let answer = answer.map_err(|NoAnswer::Invalid(text)| Failure::Invalid(text))?;
    match args.format {
        Format::Json => output::json(&why::json::Json::of(&answer, &quoted))?,
        Format::Text => {
            let style = output::style(&args.look);
            let text = sim_report::console::why::text(&answer, &style, &quoted);
            output::styled(&text, &style)?;
        }
    }
    Ok(if answer.unplaced { NO_PLACE } else { 0 })
}

/// The inputs, and what is asked about them.
struct Question {
    given: Given,
    asked: Asked,
}

impl Question {
    fn of(args: &WhyArgs) -> Result<Question, Failure> {
        let play = stored_run::resolved(&args.play)?;
        Ok(Question {
            given: Given::read(&play)?,
            asked: Asked {
                restart: args.restart,
                pod: args.pod.clone(),
                seed: play.seed,
                extra_faults: play.fails.len(),
                threads: args.play.threads(),
                path_only: args.path_only,
                of_manifests: play.scenario.is_none(),
            },
        })
    }

    fn load(&self, more: &[Set]) -> Result<LoadedScenario, Failure> {
        self.given.pods(more, "why")
    }
}
