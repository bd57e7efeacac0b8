//! `plot`: draws one chart of runs as SVG or PNG.

pub mod args;
mod labels;
mod many;
mod moments;
mod one;
mod scaling;
mod swept;

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::plot::args::{ChartKind, PlotArgs};
use crate::{cli::inputs::LoadedRun, cli::output};
use sim_base::SimTime;
use sim_report::draw::scene::DrawScene;
use sim_report::export;
use sim_report::export::ExportSubject;

pub fn cli(args: &PlotArgs) -> Result<(), CommandFailure> {
    use ChartKind::{Bands, Cdf, Film, Heat, Knee, Map, Scaling, Scatter};
    for (given, option, kinds) in [
        (args.at.is_some(), "--at", &[Map][..]),
        (args.color_by.is_some(), "--color-by", &[Map]),
        (args.speed.is_some(), "--speed", &[Film]),
        (args.seeds.is_some(), "--seeds", &[Cdf]),
        (args.case.is_some(), "--case", &[Scaling]),
        (args.preset.is_some(), "--preset", &[Scaling]),
        (args.over.is_some(), "--over", &[Scaling]),
        (args.metric.is_some(), "--metric", &[Bands, Heat, Knee, Scatter, Scaling]),
    ] {
        if given && !kinds.contains(&args.kind) {
            let names: Vec<String> = kinds.iter().map(|kind| kind.name()).collect();
            bail!("{option} applies to `plot {}` only", names.join(", "));
        }
    }
    if args.restart.is_some() && (args.window.is_some() || args.at.is_some()) {
        bail!("--restart chooses the restart to draw, and --window or --at the time: use one of them");
    }
    if args.window.is_some() && !args.kind.is_over_time() {
        bail!(
            "--window applies to charts over time only: gantt, quota, workloads, queues, utilization, fragmentation, \
             goodput, availability"
        );
    }
    let of_many = match args.kind {
        ChartKind::Bands | ChartKind::Heat | ChartKind::Knee | ChartKind::Scatter => {
            Some(args.sized(titled(args, swept::drawn(args)?))?)
        }
        ChartKind::Scaling => scaling::stored(args)?.map(|scene| titled(args, scene)),
        _ => match many::drawn(args)? {
            Some(scene) => Some(args.sized(titled(args, scene))?),
            None => None,
        },
    };
    if let Some(scene) = of_many {
        return save(args, &scene);
    }
    let runs = args.runs.iter().map(|p| one::load_run(args, p));
    let mut runs: Vec<LoadedRun> = runs.collect::<Result<_, _>>()?;
    if args.kind == ChartKind::Film {
        let mut film = moments::film(args, &mut runs)?;
        film.scene = titled(args, film.scene);
        return write(args, ExportSubject::Animation(&film));
    }
    let scene = match (args.kind, args.at) {
        (ChartKind::Map, Some(at)) => moments::map(args, &mut runs, SimTime::ZERO + at)?,
        _ => of_runs(args, &mut runs)?,
    };
    save(args, &titled(args, scene))
}

fn titled(args: &PlotArgs, scene: DrawScene) -> DrawScene {
    match &args.title {
        Some(title) => scene.with_title(title),
        None => scene,
    }
}

fn of_runs(args: &PlotArgs, runs: &mut [LoadedRun]) -> Result<DrawScene, CommandFailure> {
    Ok(match args.kind {
        ChartKind::Waterfall => one::waterfall(args, runs)?,
        ChartKind::Restarts => one::restarts(args, runs)?,
        ChartKind::Gantt => one::over_time(args, runs, "gantt")?,
        ChartKind::Quota | ChartKind::Workloads => one::admission(args, runs)?,
        ChartKind::Queues => one::over_time(args, runs, "queues")?,
        ChartKind::Utilization => one::over_time(args, runs, "utilization")?,
        ChartKind::Fragmentation => moments::fragmentation(args, runs)?,
        ChartKind::Map => moments::restart_map(args, runs)?,
        _ => scaling::of_runs(args, runs)?,
    })
}

fn save(args: &PlotArgs, scene: &DrawScene) -> Result<(), CommandFailure> {
    write(args, ExportSubject::Chart(scene))
}

fn write(args: &PlotArgs, subject: ExportSubject<'_>) -> Result<(), CommandFailure> {
    export::save(subject, &args.out)?;
    if !args.quiet {
        output::notice(&format!("written: {}", args.out.display()));
    }
    Ok(())
}
