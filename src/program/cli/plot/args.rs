//! Command line of `plot`.

use crate::cli::args::{FieldOverride, path_value};
use crate::cli::failure::CommandFailure;
use clap::ValueEnum;
use sim_base::Duration;
use sim_report::draw::chart;
use sim_report::draw::scene::DrawScene;
use sim_report::figures::map_figure::MapColoring;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct PlotArgs {
    #[arg(value_enum)]
    pub kind: ChartKind,
    /// Run directories written by `run --out`, or scenario files; a directory of `compare` or `sweep`; BENCH.json
    #[arg(value_name = "RUN|SCENARIO", required = true)]
    pub runs: Vec<PathBuf>,
    /// Number of the restart, as printed by `run` [default: an unfinished restart, else the longest]
    #[arg(long, value_name = "N")]
    pub restart: Option<usize>,
    /// Number of replications of each run, for cdf [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub seeds: Option<u64>,
    /// Case of a benchmark [default: the first]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Control plane of a benchmark [default: the first]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Instant of a map, e.g. 1h32m after the start
    #[arg(long, value_name = "TIME")]
    pub at: Option<Duration>,
    /// Colors of a map: job, state, stranded (free nodes in partly used islands), or the key of a node label, such as
    /// that of a failure domain [default: job; with --at, state]
    #[arg(long, value_name = "WHAT")]
    pub color_by: Option<String>,
    /// Time window FROM..TO, e.g. 30m..2h or 2d..3d, for charts over time (gantt, quota, workloads, queues,
    /// utilization, fragmentation, goodput, availability) [default: the longest restart, or the whole time]
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    pub window: Option<(Duration, Duration)>,
    /// Title of the chart [default: scenario and subject]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Playback speed of a film as a multiple of simulated time [default: the film lasts ten seconds]
    #[arg(long, value_name = "N", value_parser = speed)]
    pub speed: Option<f64>,
    /// Metric of a sweep [default: the first main metric in which points differ]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Field of the x axis of a sweep, for scaling [default: the first numeric field]
    #[arg(long, value_name = "PATH")]
    pub over: Option<String>,
    /// Override a field in all runs, as with `run --set` (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<FieldOverride>,
    /// Seed of all random numbers [default: the seed of the scenario]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Size in pixels: slide (1600x900), page (1280x720) or WIDTHxHEIGHT; charts of a comparison then show as many
    /// panels as fit [default: 1600 pixels wide, with the height that the content needs]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<(u32, u32)>,
    /// Write the chart to this file; the name must end with .svg or .png
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Do not print notices
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChartKind {
    /// Critical path of one restart, step by step
    Waterfall,
    /// One restart of each run, side by side
    Restarts,
    /// Pods of each Job over time, by state
    Gantt,
    /// Usage of Kueue's quotas over time, by ClusterQueue and flavor
    Quota,
    /// Workloads of Kueue over time, by state
    Workloads,
    /// Control plane: queue length of each shared resource over time
    Queues,
    /// Control plane: share of time with a non-empty queue, by shared resource
    Utilization,
    /// Free nodes over time: in free islands, stranded in used ones, and the largest number in one island
    Fragmentation,
    /// Node assignment by Job before and after a restart; with --at, the state of each node
    Map,
    /// State of each node from the fault until all pods are ready, for several runs side by side, as animated SVG
    Film,
    /// Restart latency by number of nodes, or a metric over a swept field, with the closed form; for BENCH.json,
    /// several runs, or a directory of `sweep`
    Scaling,
    /// Share of restarts that took at most this long, over --seeds replications of each run, or in a comparison
    Cdf,
    /// Paired differences (directory of `compare`)
    Differences,
    /// Accelerator time by category (directory of `compare`)
    Ledger,
    /// Mean step time: computation and exposed communication (directory of `compare`)
    Steps,
    /// Distribution over the replications (directory of `compare`)
    Distributions,
    /// Goodput over time (directory of `compare`)
    Goodput,
    /// Availability over time (directory of `compare`)
    Availability,
    /// Median and quantiles over a field (directory of `sweep`)
    Bands,
    /// Mean at each point of two fields (directory of `sweep`)
    Heat,
    /// Marginal benefit and cost of a field (directory of `sweep`)
    Knee,
    /// Points of a Latin hypercube (directory of `sweep`)
    Scatter,
}

/// Parses a time window, written as `1h..2h`.
fn window(text: &str) -> Result<(Duration, Duration), String> {
    let wrong = || "expected FROM..TO with FROM before TO, e.g. 30m..2h".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let time =
        |text: &str| if text == "0" { Ok(Duration::ZERO) } else { text.parse::<Duration>().map_err(|_| wrong()) };
    let (from, to) = (time(from)?, time(to)?);
    if from < to { Ok((from, to)) } else { Err(wrong()) }
}

/// Parses a speed, written as `30` or `30x`.
fn speed(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
    let legal = number.ok().filter(|n| (0.01..=1e6).contains(n));
    legal.ok_or_else(|| "expected a number between 0.01 and 1000000, e.g. 30x".to_owned())
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || "expected slide, page or WIDTHxHEIGHT between 640x360 and 7680x4320".to_owned();
    match text {
        "slide" => return Ok(chart::SLIDE),
        "page" => return Ok((1280, 720)),
        _ => {}
    }
    let (w, h) = text.split_once('x').ok_or_else(wrong)?;
    let (w, h): (u32, u32) = (w.parse().map_err(|_| wrong())?, h.parse().map_err(|_| wrong())?);
    if (640..=7680).contains(&w) && (360..=4320).contains(&h) { Ok((w, h)) } else { Err(wrong()) }
}

impl ChartKind {
    /// Returns whether the chart has a time axis of the whole run, of which a part can be shown.
    pub fn is_over_time(self) -> bool {
        use ChartKind::{Availability, Fragmentation, Gantt, Goodput, Queues, Quota, Utilization, Workloads};
        matches!(self, Gantt | Queues | Utilization | Fragmentation | Goodput | Availability | Quota | Workloads)
    }

    /// Returns the name on the command line, which is also the file name in a directory of charts.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or(String::new(), |value| value.get_name().to_owned())
    }
}

/// Returns the chart with a name, or an error that lists the available charts.
pub fn find_chart<N: AsRef<str>>(charts: Vec<(N, DrawScene)>, name: &str) -> Result<DrawScene, CommandFailure> {
    let names: Vec<&str> = charts.iter().map(|(own, _)| own.as_ref()).collect();
    let none = format!("this chart has no data here; available charts: {}", names.join(", "));
    let matching = charts.into_iter().find(|(own, _)| own.as_ref() == name);
    matching.map(|(_, scene)| scene).ok_or(CommandFailure::Invalid(none))
}

impl PlotArgs {
    /// Returns the requested colors of a map, if any.
    pub fn coloring(&self) -> Option<MapColoring> {
        self.color_by.as_deref().map(|what| match what {
            "job" => MapColoring::Job,
            "state" => MapColoring::State,
            "stranded" => MapColoring::Stranded,
            label => MapColoring::Domain(label.to_owned()),
        })
    }

    /// Draws a chart at the requested size, or for a slide whose height follows the content.
    pub fn fitted(&self, mut draw: impl FnMut((u32, u32)) -> DrawScene) -> Result<DrawScene, CommandFailure> {
        match self.size {
            Some(size) => Ok(chart::fitted(size, draw)?),
            None => Ok(draw(chart::SLIDE)),
        }
    }

    /// Draws a chart like `fitted`; `None` if there is nothing to draw.
    pub fn fitted_if_any(
        &self, draw: impl Fn((u32, u32)) -> Option<DrawScene>,
    ) -> Result<Option<DrawScene>, CommandFailure> {
        match draw(chart::SLIDE) {
            Some(_) => self.fitted(|size| draw(size).unwrap_or_else(|| DrawScene::new(size))).map(Some),
            None => Ok(None),
        }
    }

    /// Scales a chart with variable height to the requested size.
    pub fn sized(&self, scene: DrawScene) -> Result<DrawScene, CommandFailure> {
        match self.size {
            Some(size) => Ok(chart::scaled(&scene, size)?),
            None => Ok(scene),
        }
    }
}
