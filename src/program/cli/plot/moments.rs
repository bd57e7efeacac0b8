//! `plot map --at` and `plot film`: the state of each node at an instant, and during a restart.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{LoadedRun, model_defaults};
use crate::cli::plot::one::{chosen, only};
use crate::{cli::plot::args::PlotArgs, cli::plot::labels};
use sim_base::SimTime;
use sim_report::assumptions::provenance;
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::draw::scene::DrawScene;
use sim_report::draw::svg::Animation;
use sim_report::figures::nodes_figure;
use sim_report::figures::nodes_figure::NodeInterval;

/// Draws the state of every node at one instant.
pub fn map(args: &PlotArgs, runs: &mut [LoadedRun], at: SimTime) -> Result<DrawScene, CommandFailure> {
    only(args, runs)?;
    let [one] = runs else { unreachable!("`only` has checked the number of runs") };
    let end = one.view().outcome.end;
    if at > end {
        bail!("--at {}: the run ends at {end}", at.since(SimTime::ZERO));
    }
    let states = one.states((at, at));
    let run = one.view();
    let all: Vec<_> = run.restarts().iter().collect();
    let foot = provenance::footer_lines(&run, &all, &model_defaults());
    Ok(nodes_figure::map(&run, (&states, at), &foot, args.size()))
}

/// Default duration of a film in seconds.
const FILM_S: f64 = 10.0;

pub fn film(args: &PlotArgs, runs: &mut [LoadedRun]) -> Result<Animation, CommandFailure> {
    let mut states = Vec::new();
    for one in runs.iter_mut() {
        let (_, r) = chosen(args, &one.view())?;
        let segment = (r.start, r.end);
        states.push(one.states(segment));
    }
    let mut shown = Vec::new();
    for one in runs.iter() {
        shown.push(chosen(args, &one.view())?.1.clone());
    }
    let labels = labels::of_restarts(args, runs, &shown.iter().collect::<Vec<_>>());
    let (mut takes, mut named, mut longest) = (Vec::new(), Vec::new(), 0f64);
    let (mut assumptions, defaults) = (Vec::new(), model_defaults());
    for (one, states) in runs.iter().zip(states) {
        let run = one.view();
        let (_, restart) = chosen(args, &run)?;
        longest = longest.max(restart.total().seconds());
        let label = labels[takes.len()].clone();
        named.push((label.clone(), run));
        assumptions.push(SensitiveResult::from_restarts("", &run, &[restart], &defaults));
        takes.push(NodeInterval { label, run, restart, states });
    }
    let speed = args.speed.unwrap_or((longest / FILM_S).max(0.01));
    let mut foot = provenance::runs_provenance(&named);
    foot.extend(sensitivity::footer_lines(&assumptions));
    Ok(nodes_figure::restart_animation(&takes, speed, &foot, args.size()))
}
