//! `compare` of a Fleet: variants of it under the same random numbers.

use super::args::CompareArgs;
use super::compare::Job;
use super::load::invalid;
use super::variants::named;
use super::{Failure, inputs, interrupt};
use crate::experiment::{Change, PlayedVariant, compared, replicate_fleet};
use crate::manifest::{self, Source};
use crate::spec::BASELINE;

pub fn cli(args: &CompareArgs, source: &Source) -> Result<(), Failure> {
    refuse(args)?;
    let baseline = manifest::parse_fleet(source, &args.sets).map_err(invalid)?;
    let mut fleets = vec![baseline.fleet.clone()];
    let mut played = vec![unplayed(BASELINE, &[])];
    for variant in &args.variants {
        if played.iter().any(|known| known.name == variant.name) {
            let text = format!("there are two variants {:?}", variant.name);
            return Err(Failure::Invalid(text));
        }
        let own = variant.sets.iter().cloned();
        let sets: Vec<(String, String)> = args.sets.iter().cloned().chain(own).collect();
        let loaded = manifest::parse_fleet(source, &sets).map_err(invalid);
        fleets.push(loaded.map_err(|why| named(&variant.name, why))?.fleet);
        played.push(unplayed(&variant.name, &variant.sets));
    }
    let seed = args.seed.unwrap_or(baseline.fleet.seed);
    let limits = interrupt::limits();
    let job = Job {
        args,
        name: &baseline.fleet.name,
        seed,
        replications: None,
        limits: &limits,
        play: &|at, which, progress| {
            let threads = (args.threads.map_or(0, usize::from), &limits.flag);
            let from = which.start;
            let rows = replicate_fleet(&fleets[at], (seed, which), threads, progress);
            let rows = rows.map_err(|why| Failure::Invalid(why.to_string()))?;
            Ok(rows
                .iter()
                .zip(from..)
                .map(|(row, i)| compared(row, i))
                .collect())
        },
        inputs: &|wanted| {
            let mut tail = inputs::tail(&args.sets, &[], seed, Some(wanted));
            for variant in &args.variants {
                tail.push_str(&format!(" --variant {}", inputs::quoted(&variant.text)));
            }
            inputs::of_scenario(&baseline.inputs, &tail).of_compare()
        },
    };
    job.run(played)
}

fn unplayed(name: &str, sets: &[(String, String)]) -> PlayedVariant {
    let change = |(path, value): &(String, String)| Change {
        path: path.clone(),
        value: value.clone(),
        because: String::new(),
    };
    PlayedVariant {
        name: name.to_owned(),
        changes: sets.iter().map(change).collect(),
        jobsets: Vec::new(),
        replications: Vec::new(),
    }
}

/// What only makes sense with pods, or for a comparison with nothing.
fn refuse(args: &CompareArgs) -> Result<(), Failure> {
    let text = match args {
        a if !a.strategies.is_empty() => {
            "--strategies is of scenarios with pods; this file is a Fleet, which has none"
        }
        a if !a.fails.is_empty() => {
            "--fail is of scenarios with pods; this file is a Fleet, which has none"
        }
        a if a.variants.is_empty() => {
            "there is nothing to compare: give --variant 'NAME: PATH=VALUE', e.g. --variant 'more: parameters.spares=80'"
        }
        _ => return Ok(()),
    };
    Err(Failure::Invalid(text.to_owned()))
}
