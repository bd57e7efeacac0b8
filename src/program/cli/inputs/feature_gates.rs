//! `--feature-gates`: JobSet's feature gates for `lint` and `explain`.

use crate::cli::failure::{CommandFailure, bail};
use sim_api::spec::FeatureGates;

const NAMES: [&str; 3] = ["InPlaceRestart", "RestartJob", "ElasticJobSet"];

/// Returns the feature gates that the manifests need, changed by the settings. A setting is `NAME`, `NAME=BOOL`, or
/// a comma-separated list of them.
pub fn read(needed: FeatureGates, settings: &[String]) -> Result<FeatureGates, CommandFailure> {
    let mut gates = needed;
    for assignment in settings.iter().flat_map(|g| g.split(',')) {
        let (name, value) = assignment.split_once('=').unwrap_or((assignment, "true"));
        let value: bool = value.parse().map_err(|_| {
            CommandFailure::Invalid(format!("--feature-gates {assignment:?}: expected NAME=true or NAME=false"))
        })?;
        match name {
            "InPlaceRestart" => gates.in_place_restart = value,
            "RestartJob" => gates.restart_job = value,
            "ElasticJobSet" => gates.elastic_jobset = value,
            other => {
                let legal = NAMES.join(", ");
                bail!("--feature-gates: unknown gate {other:?}; legal: {legal}");
            }
        }
    }
    Ok(gates)
}
