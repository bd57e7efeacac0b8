//! Topologies that are shipped with the program.

use crate::files;
use crate::text::diagnostic::{Diagnostic, Diagnostics, SourceText};
use sim_base::suggest::nearest;
use std::path::Path;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each topology, sorted by name.
        const TOPOLOGIES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../topologies/", $name, ".yaml")))),*
        ];
    };
}

shipped!(
    "aks-gb300", "eks-p5", "eks-p6-b200", "flat-5000", "gke-a3-high", "gke-a3-mega", "gke-a3-ultra", "gke-a4",
    "gke-a4x", "gke-a4x-max", "gke-tpu-7x", "gke-tpu-v5e", "gke-tpu-v5p", "gke-tpu-v6e", "gpu-h100-15k",
    "gpu-h100-256", "gpu-nvl72-1152", "gpu-nvl72-5000", "small-16", "tpu-18x16", "tpu-5000", "tpu-65k", "tpu-68x64",
    "tpu-v5p-17x64", "tpu-v6e-64", "tpu7x-5000", "tpu7x-65k",
);

pub fn topology_names() -> Vec<&'static str> {
    TOPOLOGIES.iter().map(|(name, _)| *name).collect()
}

pub fn shipped_topology(name: &str) -> Option<SourceText> {
    let (name, text) = TOPOLOGIES.iter().find(|(known, _)| *known == name)?;
    Some(SourceText { file: format!("{name}.yaml"), text: (*text).to_owned() })
}

/// Reads a topology file. If the file does not exist, returns the shipped topology of that name.
pub fn topology_source(path: &Path) -> Result<SourceText, Diagnostics> {
    let name = path.to_string_lossy();
    if !path.exists()
        && let Some(source) = shipped_topology(&name)
    {
        return Ok(source);
    }
    files::read_source(path).map_err(|errors| {
        let plain = !path.exists() && !name.contains(['/', '.']);
        if plain { unknown(&name).into() } else { errors }
    })
}

fn unknown(name: &str) -> Diagnostic {
    let message = format!("{name:?} is neither a file nor a shipped topology");
    let mut error = Diagnostic::of_file("", message);
    if let Some(near) = nearest(name, topology_names()) {
        error.suggest(format!("did you mean {near:?}?"));
    }
    error.legal(topology_names().join(", "));
    error
}
