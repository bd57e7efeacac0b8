//! `why`: the critical path of a restart, a start or a pod, and what would have been different.

use super::args::{Format, WhyArgs};
use super::fail::{self, Fail};
use super::inputs::quoted;
use super::load;
use super::origin::Origin;
use super::{Failure, output, replay};
use crate::manifest::LoadedScenario;
use crate::why::{self, Asked, NoAnswer, Set};

/// Nothing of it could be placed.
const NO_PLACE: u8 = 4;

pub fn cli(args: &WhyArgs) -> Result<u8, Failure> {
    let asked = Question::of(args)?;
    let load = |more: &[Set]| asked.load(more).map_err(|why| why.message().to_owned());
    let answer = why::explain(&load, &asked.asked);
    let answer = answer.map_err(|NoAnswer::Invalid(text)| Failure::Invalid(text))?;
    match args.format {
        Format::Json => output::json(&why::json::Json::of(&answer, &quoted))?,
        Format::Text => {
            let style = output::style(&args.look);
            let text = why::text::text(&answer, &style, &quoted);
            output::styled(&text, &style)?;
        }
    }
    Ok(match answer.subject.kind {
        "none" => NO_PLACE,
        _ => 0,
    })
}

/// The inputs, and what is asked about them.
struct Question {
    origin: Origin,
    sets: Vec<Set>,
    fails: Vec<Fail>,
    asked: Asked,
}

impl Question {
    fn of(args: &WhyArgs) -> Result<Question, Failure> {
        let run = args.scenario.as_deref().filter(|path| replay::is_run(path));
        let (mut sets, mut fails, mut seed) = (Vec::new(), Vec::new(), None);
        let (mut scenario, mut manifests) = (args.scenario.clone(), args.manifests.clone());
        let mut topology = args.topology.clone();
        if let Some(dir) = run {
            let of = replay::arguments(dir)?;
            (sets, fails, seed) = (of.sets, of.fails, of.seed);
            (scenario, manifests, topology) = (of.scenario, of.manifests, of.topology);
        } else if let Some(dir) = args.scenario.as_deref().filter(|path| path.is_dir()) {
            let text = format!(
                "{} is a directory without inputs/command.txt: no run",
                dir.display()
            );
            return Err(Failure::Invalid(text));
        }
        sets.extend(args.sets.iter().cloned());
        fails.extend(args.fails.iter().cloned());
        let places = (scenario.as_deref(), manifests.as_slice());
        Ok(Question {
            origin: Origin::read(places, topology.as_deref(), "why")?,
            asked: Asked {
                restart: args.restart,
                pod: args.pod.clone(),
                seed: args.seed.or(seed),
                extra_faults: fails.len(),
                threads: args.threads.map_or(0, usize::from),
                path_only: args.path_only,
                of_manifests: scenario.is_none(),
            },
            sets,
            fails,
        })
    }

    fn load(&self, more: &[Set]) -> Result<LoadedScenario, Failure> {
        let sets: Vec<Set> = self.sets.iter().chain(more).cloned().collect();
        let mut loaded = self.origin.load(&sets).map_err(load::invalid)?;
        fail::add(&self.fails, &mut loaded.scenario)?;
        Ok(loaded)
    }
}
