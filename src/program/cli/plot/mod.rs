//! `plot`: draws one chart of runs as SVG or PNG.

pub mod args;
mod many;
mod moments;
mod one;
mod scaling;
mod swept;

use crate::cli::failure::{Failure, bail};
use crate::cli::inputs::LoadedRun;
use crate::cli::output;
use crate::cli::plot::args::{ChartKind, PlotArgs};
use sim_base::Time;
use sim_report::draw::scene::Scene;
use sim_report::export;
use sim_report::export::Subject;

pub fn cli(args: &PlotArgs) -> Result<(), Failure> {
    for (given, option, kind) in [
        (args.at.is_some(), "--at", ChartKind::Map),
        (args.speed.is_some(), "--speed", ChartKind::Film),
    ] {
        if given && args.kind != kind {
            bail!("{option} is of `plot {}`", kind.name());
        }
    }
    let of_many = match args.kind {
        ChartKind::Bands | ChartKind::Heat | ChartKind::Knee | ChartKind::Scatter => {
            Some(args.sized(swept::drawn(args)?))
        }
        ChartKind::Scaling => scaling::stored(args)?,
        _ => many::drawn(args)?.map(|scene| args.sized(scene)),
    };
    if let Some(scene) = of_many {
        return save(args, &scene);
    }
    let runs = args.runs.iter().map(|p| one::whole(args, p));
    let mut runs: Vec<LoadedRun> = runs.collect::<Result<_, _>>()?;
    if args.kind == ChartKind::Film {
        let film = moments::film(args, &mut runs)?;
        return write(args, Subject::Film(&film));
    }
    let scene = match (args.kind, args.at) {
        (ChartKind::Map, Some(at)) => moments::map(args, &mut runs, Time::ZERO + at)?,
        _ => of_runs(args, &runs)?,
    };
    save(args, &scene)
}

fn of_runs(args: &PlotArgs, runs: &[LoadedRun]) -> Result<Scene, Failure> {
    Ok(match args.kind {
        ChartKind::Waterfall => one::waterfall(args, runs)?,
        ChartKind::Restarts => one::restarts(args, runs)?,
        ChartKind::Gantt => one::over_time(args, runs, "gantt")?,
        ChartKind::Queues => one::over_time(args, runs, "queues")?,
        ChartKind::Utilization => one::over_time(args, runs, "utilization")?,
        ChartKind::Map => one::map(args, runs)?,
        _ => scaling::of_runs(args, runs)?,
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
