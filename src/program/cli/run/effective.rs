//! `run --show-effective`: prints the JobSets of the manifests as the API server would store them.
//!
//! This module must never run a simulation.

use crate::cli::failure::{CommandFailure, bail};
use crate::{cli::args::TableFormat, cli::output, cli::run::simulate::RunInput};

pub fn cli(format: TableFormat, loaded: &RunInput) -> Result<(), CommandFailure> {
    let mut documents = Vec::new();
    for submitted in &loaded.scenario.jobsets {
        if let Some(object) = &submitted.jobset.object {
            let stored = sim_inputs::server::stored(object).map_err(|r| r.message)?;
            documents.push(stored);
        }
    }
    match format {
        TableFormat::Json => output::json(&documents),
        TableFormat::Csv | TableFormat::Md => {
            bail!("--show-effective supports --format text (YAML) and json only")
        }
        TableFormat::Text => {
            let texts: Vec<String> = documents.iter().map(sim_inputs::print_yaml).collect();
            output::result(&texts.join("---\n"))
        }
    }
}
