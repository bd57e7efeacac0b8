//! `plot`: one chart of runs, as SVG or PNG.

use super::args::PlayArgs;
use super::whole::{Whole, defaults};
use super::{Failure, output};
use crate::metrics::{Restart, RunView};
use crate::report::export::{self, Subject};
use crate::report::scene::Scene;
use crate::report::{chart, figure, map_figure, provenance, timeline, timeline_figure};
use crate::report::{waterfall_figure, words};
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct PlotArgs {
    #[arg(value_enum)]
    pub kind: Kind,
    /// Run directories that `run --out` wrote, or scenario files
    #[arg(value_name = "RUN|SCENARIO", required = true)]
    pub runs: Vec<PathBuf>,
    /// Which restart, as `run` numbers them [default: the one that never ended, or the longest]
    #[arg(long, value_name = "N")]
    pub restart: Option<usize>,
    /// Override any field in all runs, as `run --set` does; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = super::args::path_value)]
    pub sets: Vec<(String, String)>,
    /// Seed of every random number [default: the scenario's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Pixels: slide (1600x900), page (1280x720) or WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", default_value = "slide", value_parser = size)]
    pub size: (u32, u32),
    /// Write the chart here: a name that ends with .svg or .png
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Print results only: no notices
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One restart, step by step
    Waterfall,
    /// A restart of each run beside each other
    Restarts,
    /// Pods of each Job over time, by state
    Gantt,
    /// How many wait for each shared resource of the control plane over time
    Queues,
    /// The share of the time in which somebody waits for each shared resource
    Utilization,
    /// The nodes of the cluster by Job, before and after a restart
    Map,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || "write slide, page or WIDTHxHEIGHT between 640x360 and 7680x4320".to_owned();
    match text {
        "slide" => return Ok(chart::SLIDE),
        "page" => return Ok((1280, 720)),
        _ => {}
    }
    let (w, h) = text.split_once('x').ok_or_else(wrong)?;
    let (w, h): (u32, u32) = (
        w.parse().map_err(|_| wrong())?,
        h.parse().map_err(|_| wrong())?,
    );
    match (640..=7680).contains(&w) && (360..=4320).contains(&h) {
        true => Ok((w, h)),
        false => Err(wrong()),
    }
}

pub fn cli(args: &PlotArgs) -> Result<(), Failure> {
    let runs: Vec<Whole> = args
        .runs
        .iter()
        .map(|p| whole(args, p))
        .collect::<Result<_, _>>()?;
    let scene = match args.kind {
        Kind::Waterfall => waterfall(args, &runs)?,
        Kind::Restarts => restarts(args, &runs)?,
        Kind::Gantt => over_time(args, &runs, "gantt")?,
        Kind::Queues => over_time(args, &runs, "queues")?,
        Kind::Utilization => over_time(args, &runs, "utilization")?,
        Kind::Map => map(args, &runs)?,
    };
    export::save(Subject::Chart(&scene), &args.out)?;
    if !args.quiet {
        output::notice(&format!("written: {}", args.out.display()));
    }
    Ok(())
}

fn whole(args: &PlotArgs, path: &std::path::Path) -> Result<Whole, Failure> {
    let play = PlayArgs {
        scenario: Some(path.to_owned()),
        manifests: Vec::new(),
        topology: None,
        sets: args.sets.clone(),
        fails: Vec::new(),
        seed: args.seed,
        threads: None,
    };
    Whole::of(&play, "plot")
}

/// The restart that is asked for, and its number from 0.
fn chosen<'r>(args: &PlotArgs, run: &RunView<'r>) -> Result<(usize, &'r Restart), Failure> {
    let all = run.restarts();
    let there = words::count(all.len() as u64, "restart");
    let name = &run.scenario.name;
    let found = match args.restart {
        Some(n) => n.checked_sub(1).filter(|i| *i < all.len()),
        None => crate::metrics::restart::longest(all),
    };
    let none = || Failure::Invalid(format!("{name} has {there}; they are numbered from 1"));
    found.map(|i| (i, &all[i])).ok_or_else(none)
}

fn only<'w>(args: &PlotArgs, runs: &'w [Whole]) -> Result<&'w Whole, Failure> {
    let [one] = runs else {
        let kind = args.kind.to_possible_value();
        let kind = kind.as_ref().map_or("this", |k| k.get_name());
        let text = format!("{kind} is of one run; `plot restarts` puts several beside each other");
        return Err(Failure::Invalid(text));
    };
    Ok(one)
}

fn waterfall(args: &PlotArgs, runs: &[Whole]) -> Result<Scene, Failure> {
    let run = only(args, runs)?.view();
    let (i, r) = chosen(args, &run)?;
    let foot = provenance::foot(&run, &[r], &defaults());
    Ok(waterfall_figure::waterfall(
        &run,
        r,
        i + 1,
        &foot,
        args.size,
    ))
}

fn over_time(args: &PlotArgs, runs: &[Whole], name: &str) -> Result<Scene, Failure> {
    let one = only(args, runs)?;
    let run = one.view();
    let mut lanes = timeline::timeline(&run, &one.pods, &one.queued);
    if let Some(n) = args.restart {
        let (i, _) = chosen(args, &run)?;
        let asked = format!("restart {}", i + 1);
        let at = lanes.windows.iter().position(|w| w.name == asked);
        let at = at.ok_or_else(|| {
            let close = timeline::CLOSELY;
            Failure::Invalid(format!(
                "restart {n} is none of the {close} longest, which are kept over time"
            ))
        })?;
        lanes.windows.swap(0, at);
    }
    let all: Vec<&Restart> = run.restarts().iter().collect();
    let foot = provenance::foot(&run, &all, &defaults());
    let charts = timeline_figure::charts(&run, &lanes, &foot, args.size);
    let found = charts.into_iter().find(|(own, _)| *own == name);
    let none = || {
        Failure::Invalid(format!(
            "{}: nothing to draw, nobody ever waits",
            run.scenario.name
        ))
    };
    found.map(|(_, scene)| scene).ok_or_else(none)
}

fn map(args: &PlotArgs, runs: &[Whole]) -> Result<Scene, Failure> {
    let one = only(args, runs)?;
    let run = one.view();
    let (i, r) = chosen(args, &run)?;
    let foot = provenance::foot(&run, &[r], &defaults());
    let drawn = map_figure::of_restart(&run, &one.pods, (i, r), &foot, args.size);
    let close = timeline::CLOSELY;
    let text = format!(
        "restart {} is none of the {close} longest, which are kept over time",
        i + 1
    );
    drawn.ok_or(Failure::Invalid(text))
}

fn restarts(args: &PlotArgs, runs: &[Whole]) -> Result<Scene, Failure> {
    let views: Vec<RunView<'_>> = runs.iter().map(Whole::view).collect();
    let mut bars = Vec::new();
    for run in &views {
        let (_, r) = chosen(args, run)?;
        bars.push((run.strategy(r).to_owned(), r.clone()));
    }
    let alike =
        |(i, (name, _)): (usize, &(String, Restart))| bars[..i].iter().any(|b| b.0 == *name);
    if bars.iter().enumerate().any(alike) {
        for (bar, run) in bars.iter_mut().zip(&views) {
            bar.0 = format!("{}: {}", run.scenario.name, bar.0);
        }
    }
    let named: Vec<_> = bars
        .iter()
        .map(|b| b.0.clone())
        .zip(views.iter().copied())
        .collect();
    let mut foot = provenance::of_runs(&named);
    let defaults = defaults();
    for ((run, bar), name) in views.iter().zip(&bars).zip(&named) {
        let hangs = provenance::hangs(run, &[&bar.1], &defaults);
        foot.push(match views.len() {
            1 => hangs,
            _ => format!("{} {hangs}", name.0),
        });
    }
    let title = "From the fault until every pod is ready again";
    let cause = words::cause(&views[0], &bars[0].1.cause);
    Ok(figure::restarts(title, &cause, &bars, &foot, args.size))
}
