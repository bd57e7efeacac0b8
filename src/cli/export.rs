//! `export`: a scenario for other programs.

use super::args::{ExportCommand, KwokArgs};
use super::subject::Given;
use super::{Failure, output, replay};
use crate::engine::Simulation;
use crate::faults;
use crate::kwok;
use crate::report::rundir::RunDir;

pub fn cli(command: &ExportCommand) -> Result<(), Failure> {
    match command {
        ExportCommand::Kwok(args) => kwok(args),
    }
}

fn kwok(args: &KwokArgs) -> Result<(), Failure> {
    let play = replay::resolved(&args.play)?;
    let given = Given::read(&play)?;
    let loaded = given.pods(&[], "export kwok")?;
    let seed = play.seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::drawn(&loaded.scenario, seed, 0);
    let placed = Simulation::new(&scenario);
    let mut simulation = placed.map_err(|e| Failure::CannotBePlaced(e.to_string()))?;
    let what = match (&play.scenario, play.manifests.as_slice()) {
        (Some(path), _) => format!(" {}", super::inputs::quoted(&path.to_string_lossy())),
        (None, all) => all
            .iter()
            .map(|path| format!(" -f {}", super::inputs::quoted(path)))
            .collect(),
    };
    let tail = super::inputs::tail(&play.sets, &play.fails, seed, None);
    let command = format!("jobset-sim export kwok{what}{tail}");
    let folder = kwok::folder(&mut simulation, seed, &command);
    let dir = RunDir::create(&args.out)?;
    for (name, text) in &folder.files {
        dir.write(name, text.as_bytes())?;
    }
    let shown = dir.commit()?;
    let mut text = format!(
        "{} files in {}; README.md there says how to run them\n",
        folder.files.len(),
        shown.display()
    );
    text.push_str("Not expressed:\n");
    for line in &folder.missing {
        text.push_str(&format!("  - {line}\n"));
    }
    output::text(&text)
}
