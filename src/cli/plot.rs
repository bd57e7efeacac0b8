//! `plot`: one chart of runs, as SVG or PNG.

use super::args::PlayArgs;
use super::replay::{self, Stored};
use super::subject::Given;
use super::whole::{Whole, defaults};
use super::{Failure, bench, compare, interrupt, output};
use crate::base::{Duration, Time};
use crate::experiment::{Comparison, PlayedVariant};
use crate::metrics::{Restart, RunView};
use crate::report::export::{self, Subject};
use crate::report::nodes_figure::Take;
use crate::report::scaling_figure::{self, Line, token_bucket};
use crate::report::scene::Scene;
use crate::report::svg::Film;
use crate::report::{
    chart, compare_figure, figure, map_figure, nodes_figure, provenance, timeline, timeline_figure,
};
use crate::report::{waterfall_figure, words};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

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
    /// Replications of each run, for cdf [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub seeds: Option<u64>,
    /// Of a benchmark: which case [default: the first]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Of a benchmark: which control plane [default: the first]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Of a map: the instant, e.g. 1h32m after the start
    #[arg(long, value_name = "TIME")]
    pub at: Option<Duration>,
    /// Of a film: how many times as fast as it was [default: ten seconds long]
    #[arg(long, value_name = "N", value_parser = speed)]
    pub speed: Option<f64>,
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
    /// The nodes of the cluster by Job, before and after a restart; with --at what each does then
    Map,
    /// What each node does from the fault until all are ready, of several runs side by side: an SVG that moves
    Film,
    /// Seconds against nodes with the closed form beside them: of BENCH.json, or of several runs
    Scaling,
    /// The share of restarts that took at most so long, over --seeds replications of each run, or of a comparison
    Cdf,
    /// Of a directory of `compare`: paired differences
    Differences,
    /// Of a directory of `compare`: where the accelerators' time went
    Ledger,
    /// Of a directory of `compare`: how the replications differ
    Distributions,
    /// Of a directory of `compare`: goodput so far
    Goodput,
    /// Of a directory of `compare`: time with all pods at work
    Availability,
}

/// `30` or `30x`.
fn speed(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
    let legal = number.ok().filter(|n| (0.01..=1e6).contains(n));
    legal.ok_or_else(|| "write a number between 0.01 and 1000000, e.g. 30x".to_owned())
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
    for (given, option, kind) in [
        (args.at.is_some(), "--at", Kind::Map),
        (args.speed.is_some(), "--speed", Kind::Film),
    ] {
        if given && args.kind != kind {
            let kind = kind.to_possible_value();
            let kind = kind.as_ref().map_or("", |k| k.get_name());
            let text = format!("{option} is of `plot {kind}`");
            return Err(Failure::Invalid(text));
        }
    }
    if let Some(scene) = many(args)? {
        return save(args, &scene);
    }
    let mut runs: Vec<Whole> = args
        .runs
        .iter()
        .map(|p| whole(args, p))
        .collect::<Result<_, _>>()?;
    if args.kind == Kind::Film {
        let film = film(args, &mut runs)?;
        return write(args, Subject::Film(&film));
    }
    let scene = match (args.kind, args.at) {
        (Kind::Map, Some(at)) => at_once(args, &mut runs, Time::ZERO + at)?,
        _ => of_runs(args, &runs)?,
    };
    save(args, &scene)
}

fn of_runs(args: &PlotArgs, runs: &[Whole]) -> Result<Scene, Failure> {
    Ok(match args.kind {
        Kind::Waterfall => waterfall(args, runs)?,
        Kind::Restarts => restarts(args, runs)?,
        Kind::Gantt => over_time(args, runs, "gantt")?,
        Kind::Queues => over_time(args, runs, "queues")?,
        Kind::Utilization => over_time(args, runs, "utilization")?,
        Kind::Map => map(args, runs)?,
        _ => scaling(args, runs)?,
    })
}

fn save(args: &PlotArgs, scene: &Scene) -> Result<(), Failure> {
    write(args, Subject::Chart(scene))
}

fn write(args: &PlotArgs, subject: Subject<'_>) -> Result<(), Failure> {
    export::save(subject, &args.out)?;
    if !args.quiet {
        output::notice(&format!("written: {}", args.out.display()));
    }
    Ok(())
}

fn whole(args: &PlotArgs, path: &Path) -> Result<Whole, Failure> {
    Whole::of(&of_path(args, path), "plot")
}

fn of_path(args: &PlotArgs, path: &Path) -> PlayArgs {
    PlayArgs {
        level: None,
        scenario: Some(path.to_owned()),
        manifests: Vec::new(),
        topology: None,
        sets: args.sets.clone(),
        fails: Vec::new(),
        seed: args.seed,
        threads: None,
    }
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

/// What every node does at one instant.
fn at_once(args: &PlotArgs, runs: &mut [Whole], at: Time) -> Result<Scene, Failure> {
    only(args, runs)?;
    let [one] = runs else {
        unreachable!("there is only one")
    };
    let end = one.view().outcome.end;
    if at > end {
        let text = format!("--at {}: the run ends at {end}", at.since(Time::ZERO));
        return Err(Failure::Invalid(text));
    }
    let states = one.states((at, at));
    let run = one.view();
    let foot = [provenance::of_run(&run)];
    Ok(nodes_figure::map(&run, (&states, at), &foot, args.size))
}

/// How long a film lasts where nobody says how fast it is.
const FILM_S: f64 = 10.0;

fn film(args: &PlotArgs, runs: &mut [Whole]) -> Result<Film, Failure> {
    let mut states = Vec::new();
    for one in runs.iter_mut() {
        let (_, r) = chosen(args, &one.view())?;
        let stretch = (r.start, r.end);
        states.push(one.states(stretch));
    }
    let (mut takes, mut named, mut longest) = (Vec::new(), Vec::new(), 0f64);
    for (one, states) in runs.iter().zip(states) {
        let run = one.view();
        let (_, restart) = chosen(args, &run)?;
        longest = longest.max(restart.total().seconds());
        let label = run.strategy(restart).to_owned();
        named.push((label.clone(), run));
        takes.push(Take {
            label,
            run,
            restart,
            states,
        });
    }
    let speed = args.speed.unwrap_or((longest / FILM_S).max(0.01));
    let foot = provenance::of_runs(&named);
    Ok(nodes_figure::film(&takes, speed, &foot, args.size))
}

/// The charts of many runs; `None`: it is of single ones.
fn many(args: &PlotArgs) -> Result<Option<Scene>, Failure> {
    let name = match args.kind {
        Kind::Cdf => "restarts",
        Kind::Differences => "differences",
        Kind::Ledger => "ledger",
        Kind::Distributions => "distributions",
        Kind::Goodput => "goodput",
        Kind::Availability => "availability",
        Kind::Scaling => return benchmark(args),
        _ => return Ok(None),
    };
    let (all, played) = match args.runs.as_slice() {
        [dir] if replay::is_run(dir) => match replay::stored(dir)? {
            Stored::Compare(mut stored) => {
                stored.quiet |= args.quiet;
                stored.play.seed = args.seed.or(stored.play.seed);
                compare::again(&stored)?
            }
            Stored::Run(_) => replicated(args)?,
        },
        _ => replicated(args)?,
    };
    let drawn = compare_figure::figures(&all, &played);
    let has: Vec<&str> = drawn.iter().map(|(own, _)| *own).collect();
    let text = format!(
        "there is nothing for that chart here; there is for: {}",
        has.join(", ")
    );
    let found = drawn.into_iter().find(|(own, _)| *own == name);
    found
        .map(|(_, scene)| Some(scene))
        .ok_or(Failure::Invalid(text))
}

/// Each of the runs as a variant, under one seed.
fn replicated(args: &PlotArgs) -> Result<(Comparison, Vec<PlayedVariant>), Failure> {
    let (n, limits) = (args.seeds.unwrap_or(20), interrupt::limits());
    let mut played: Vec<PlayedVariant> = Vec::new();
    let mut seed = args.seed;
    for path in &args.runs {
        let play = replay::resolved(&of_path(args, path))?;
        let subject = Given::read(&play)?.load(&[])?.subject()?;
        let seed = *seed.get_or_insert(play.seed.unwrap_or(subject.seed()));
        let more = subject.replicate((seed, 0..n), (0, &limits), &|_| {});
        let replications = more.map_err(|why| Failure::CannotBePlaced(why.to_string()))?;
        if limits.flag.is_raised() {
            return Err(interrupt::failure("nothing is kept"));
        }
        let name = match played.iter().any(|p| p.name == subject.name()) {
            true => path.display().to_string(),
            false => subject.name().to_owned(),
        };
        played.push(PlayedVariant {
            name,
            changes: Vec::new(),
            jobsets: subject.jobsets(),
            replications,
        });
    }
    let name = played.first().map_or("", |p| p.name.as_str()).to_owned();
    let all = Comparison::of((&name, seed.unwrap_or(0)), &played);
    Ok((all, played))
}

fn benchmark(args: &PlotArgs) -> Result<Option<Scene>, Failure> {
    let [path] = args.runs.as_slice() else {
        return Ok(None);
    };
    if path.extension().is_none_or(|e| e != "json") {
        return Ok(None);
    }
    let report = bench::baseline(path)?;
    let cases = crate::bench::page::cases(&report.rows);
    let case = args
        .case
        .clone()
        .or(cases.first().cloned())
        .unwrap_or_default();
    let own = report.rows.iter().find(|r| r.key.case == case);
    let preset = own.map_or(String::new(), |r| r.key.preset.clone());
    let preset = args.preset.clone().unwrap_or(preset);
    let drawn = crate::bench::page::chart(&report, (&case, &preset), &bench::rates, args.size);
    let text = format!(
        "{}: no two sizes of case {case:?} under preset {preset:?}; its cases are {}",
        path.display(),
        cases.join(", ")
    );
    drawn.map(Some).ok_or(Failure::Invalid(text))
}

/// The longest restart of each run against its nodes, a line for each strategy.
fn scaling(args: &PlotArgs, runs: &[Whole]) -> Result<Scene, Failure> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut named, mut rates) = (Vec::new(), Vec::new());
    for one in runs {
        let run = one.view();
        let (_, r) = chosen(args, &run)?;
        let (name, nodes) = (run.strategy(r), run.scenario.topology.nodes() as f64);
        let at = lines
            .iter()
            .position(|l| l.name == name)
            .unwrap_or_else(|| {
                lines.push(Line {
                    name: name.to_owned(),
                    points: Vec::new(),
                    closed: false,
                });
                lines.len() - 1
            });
        lines[at].points.push((nodes, r.total().seconds()));
        let rate = run.scenario.control_plane.kube_controller_manager;
        rates.push((nodes, rate.qps, f64::from(rate.burst)));
        named.push((format!("{nodes} nodes"), run));
    }
    lines
        .iter_mut()
        .for_each(|l| l.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let mut foot = provenance::of_runs(&named);
    let (_, rate, burst) = rates[0];
    if rates.iter().all(|r| (r.1, r.2) == (rate, burst)) {
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.push(Line {
            name: "one token a node".to_owned(),
            points: rates
                .iter()
                .map(|r| (r.0, token_bucket(r.0, rate, burst)))
                .collect(),
            closed: true,
        });
        foot.push(format!(
            "closed form: (nodes - {burst}) / {rate} s, one request of the Job controller for each node (calibration.md 6.6)"
        ));
    }
    let names = (
        "Time to recover",
        "the longest restart of each run",
        "nodes",
    );
    Ok(scaling_figure::scaling(names, &lines, &foot, args.size))
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
