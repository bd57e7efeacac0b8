//! `plot map --at` and `plot film`: the state of each node at an instant, and during a restart.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{LoadedRun, model_defaults};
use crate::cli::plot::one::{chosen, only};
use crate::{cli::plot::args::PlotArgs, cli::plot::labels};
use sim_analysis::format;
use sim_analysis::metrics::RunView;
use sim_base::SimTime;
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use sim_report::assumptions::provenance;
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::draw::chart;
use sim_report::draw::scene::DrawScene;
use sim_report::draw::svg::Animation;
use sim_report::figures::map_figure::{MapColoring, MapNodes};
use sim_report::figures::nodes_figure::NodeInterval;
use sim_report::figures::{fragmentation_figure, map_figure, nodes_figure};
use sim_report::timeline;

/// Draws every node at one instant.
pub fn map(args: &PlotArgs, runs: &mut [LoadedRun], at: SimTime) -> Result<DrawScene, CommandFailure> {
    only(args, runs)?;
    let [one] = runs else { unreachable!("`only` has checked the number of runs") };
    let end = one.view().outcome.end;
    if at > end {
        bail!("--at {}: the run ends at {end}", at.since(SimTime::ZERO));
    }
    let coloring = args.coloring().unwrap_or(MapColoring::State);
    check_label(&one.view(), &coloring)?;
    if coloring == MapColoring::State {
        let states = one.states((at, at));
        let run = one.view();
        let foot = footer_lines(&run);
        return args.fitted(|size| nodes_figure::map(&run, (&states, at), &foot, size));
    }
    let occupants = one.occupants(at);
    let run = one.view();
    let Some(nodes) = occupants.at(at) else { bail!("--at {}: no nodes", at.since(SimTime::ZERO)) };
    let what = match &coloring {
        MapColoring::Domain(label) => format!("nodes by {label}"),
        MapColoring::Stranded => "free nodes".to_owned(),
        MapColoring::Job | MapColoring::State => "nodes by Job".to_owned(),
    };
    let title = format!("{}: {what}", run.scenario.name);
    let subtitle = run.with_failures(&format::count(nodes.len() as u64, "node"));
    let sides = [(format!("at {}", format::seconds(at.since(SimTime::ZERO))), MapNodes::Occupants(nodes))];
    let foot = footer_lines(&run);
    args.fitted(|size| map_figure::node_map(&run, &coloring, (&title, &subtitle), &sides, (&foot, size)))
}

/// Draws every node before and after a restart.
pub fn restart_map(args: &PlotArgs, runs: &mut [LoadedRun]) -> Result<DrawScene, CommandFailure> {
    only(args, runs)?;
    let [one] = runs else { unreachable!("`only` has checked the number of runs") };
    let coloring = args.coloring().unwrap_or(MapColoring::Job);
    check_label(&one.view(), &coloring)?;
    let (i, r) = chosen(args, &one.view()).map(|(i, r)| (i, r.clone()))?;
    let states = (coloring == MapColoring::State).then(|| one.states((r.start, r.end)));
    let run = one.view();
    let foot = provenance::footer_lines(&run, &[&r], &model_defaults());
    let nodes = (&coloring, &one.pods, states.as_ref());
    let drawn = args.fitted_if_any(|size| map_figure::restart_map(&run, nodes, (i, &r), &foot, size))?;
    let close = timeline::MAX_HIGHLIGHTED;
    let text = format!("restart {} is not among the {close} longest; only these have data over time", i + 1);
    drawn.ok_or(CommandFailure::Invalid(text))
}

/// Draws the free nodes over time.
pub fn fragmentation(args: &PlotArgs, runs: &mut [LoadedRun]) -> Result<DrawScene, CommandFailure> {
    only(args, runs)?;
    let [one] = runs else { unreachable!("`only` has checked the number of runs") };
    let states = one.states((SimTime::ZERO, one.view().outcome.end));
    let run = one.view();
    let (foot, window) = (footer_lines(&run), one.window);
    let drawn = args.fitted_if_any(|size| fragmentation_figure::fragmentation(&run, &states, window, &foot, size))?;
    let none = || CommandFailure::Invalid("no island, network level or exclusive domain has several nodes".to_owned());
    drawn.ok_or_else(none)
}

fn footer_lines(run: &RunView<'_>) -> Vec<String> {
    let all: Vec<_> = run.restarts().iter().collect();
    provenance::footer_lines(run, &all, &model_defaults())
}

/// Returns an error if no node has the label of the coloring.
fn check_label(run: &RunView<'_>, coloring: &MapColoring) -> Result<(), CommandFailure> {
    let MapColoring::Domain(label) = coloring else {
        return Ok(());
    };
    let cluster = ClusterBuilder::build(&run.scenario.topology, &["pods".to_owned()]);
    if TopologyDomains::build(&cluster, label).values.is_empty() {
        bail!("--color-by {label}: no node has this label; other values are job, state and stranded");
    }
    Ok(())
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
    // The squares are laid out for the size of the page, which the viewer scales.
    let mut page = chart::SLIDE;
    let scene = args.fitted(|size| {
        page = size;
        nodes_figure::restart_animation(&takes, speed, &foot, size).scene
    })?;
    let mut film = nodes_figure::restart_animation(&takes, speed, &foot, page);
    film.shown = (scene.width, scene.height);
    Ok(film)
}
