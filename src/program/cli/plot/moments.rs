//! `plot map --at` and `plot film`: the state of each node at an instant, and during a restart.

use crate::cli::failure::{Failure, bail};
use crate::cli::inputs::{LoadedRun, model_defaults};
use crate::cli::plot::args::PlotArgs;
use crate::cli::plot::one::{chosen, only};
use sim_base::*;
use sim_report::assumptions::hanging;
use sim_report::assumptions::hanging::Hung;
use sim_report::assumptions::provenance;
use sim_report::draw::scene::Scene;
use sim_report::draw::svg::Film;
use sim_report::figures::nodes_figure;
use sim_report::figures::nodes_figure::Take;

/// Draws the state of every node at one instant.
pub fn map(args: &PlotArgs, runs: &mut [LoadedRun], at: Time) -> Result<Scene, Failure> {
    only(args, runs)?;
    let [one] = runs else {
        unreachable!("there is only one")
    };
    let end = one.view().outcome.end;
    if at > end {
        bail!("--at {}: the run ends at {end}", at.since(Time::ZERO));
    }
    let states = one.states((at, at));
    let run = one.view();
    let all: Vec<_> = run.restarts().iter().collect();
    let foot = provenance::foot(&run, &all, &model_defaults());
    Ok(nodes_figure::map(&run, (&states, at), &foot, args.size()))
}

/// Default duration of a film in seconds.
const FILM_S: f64 = 10.0;

pub fn film(args: &PlotArgs, runs: &mut [LoadedRun]) -> Result<Film, Failure> {
    let mut states = Vec::new();
    for one in runs.iter_mut() {
        let (_, r) = chosen(args, &one.view())?;
        let stretch = (r.start, r.end);
        states.push(one.states(stretch));
    }
    let (mut takes, mut named, mut longest) = (Vec::new(), Vec::new(), 0f64);
    let (mut hung, defaults) = (Vec::new(), model_defaults());
    for (one, states) in runs.iter().zip(states) {
        let run = one.view();
        let (_, restart) = chosen(args, &run)?;
        longest = longest.max(restart.total().seconds());
        let label = run.strategy(restart).to_owned();
        named.push((label.clone(), run));
        hung.push(Hung::of_restarts("", &run, &[restart], &defaults));
        takes.push(Take {
            label,
            run,
            restart,
            states,
        });
    }
    let speed = args.speed.unwrap_or((longest / FILM_S).max(0.01));
    let mut foot = provenance::of_runs(&named);
    foot.extend(hanging::foot(&hung));
    Ok(nodes_figure::film(&takes, speed, &foot, args.size()))
}
