//! The provenance of a chart or page: program version, inputs, seeds and digest, and the assumptions its numbers
//! depend on.

use super::dominant::{self, AssumedDefaults};
use sim_analysis::format::count;
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_api::spec::ControlPlane;
use sim_base::Duration;

/// Returns the provenance line, for example `jobset-sim 0.1.0 · scenario … · preset scale-test, Kubernetes 1.36 ·
/// seed 42 · digest …`.
pub fn run_provenance(run: &RunView<'_>) -> String {
    [
        format!("jobset-sim {}", env!("CARGO_PKG_VERSION")),
        format!("scenario {}", run.scenario.name),
        preset(&run.scenario.control_plane),
        format!("seed {}", run.seed),
        format!("digest {}", run.digest()),
    ]
    .join("  ·  ")
}

/// Returns the FNV-1a digest of the contents of all input files, in order. File names and paths do not affect it.
pub fn inputs_digest(inputs: &[(String, String)]) -> String {
    let mut bytes = Vec::new();
    for (_, text) in inputs {
        bytes.extend_from_slice(text.as_bytes());
        //  Separates the files: the byte 0xff does not occur in UTF-8.
        bytes.push(0xff);
    }
    let (n, digest) = (inputs.len() as u64, sim_base::fnv::fnv1a(bytes));
    format!("digest {digest:016x} of {}", count(n, "file"))
}

/// Returns the preset and version, for example `preset scale-test, Kubernetes 1.36`.
pub fn preset(cp: &ControlPlane) -> String {
    let version = cp.kubernetes;
    format!("preset {}, Kubernetes {}.{}", cp.preset, version.major, version.minor)
}

/// Returns the footer lines of a chart of these restarts.
pub fn footer_lines(run: &RunView<'_>, restarts: &[&RestartMetrics], defaults: &AssumedDefaults) -> Vec<String> {
    let lines = [run_provenance(run), assumption_line(run, restarts, defaults)];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// Returns the footer line with the assumptions of these restarts; empty if there are none.
pub fn assumption_line(run: &RunView<'_>, restarts: &[&RestartMetrics], defaults: &AssumedDefaults) -> String {
    let total = restarts.iter().map(|r| r.path.total().0).sum();
    let result = dominant::dominant_assumptions(run, restarts, defaults);
    dominant::footer_line(&result, Duration(total))
}

/// Returns the provenance of several runs: one line with the common values, one with the scenario, seed and digest
/// of each.
pub fn runs_provenance(runs: &[(String, RunView<'_>)]) -> Vec<String> {
    match runs {
        [] => Vec::new(),
        [(_, one)] => vec![run_provenance(one)],
        many => {
            let each = |(name, run): &(String, RunView<'_>)| {
                let seed = run.seed;
                format!("{name}: {} seed {seed} {}", run.scenario.name, run.digest())
            };
            let mut presets: Vec<&str> = Vec::new();
            for preset in many.iter().map(|(_, run)| run.scenario.control_plane.preset.as_str()) {
                if !presets.contains(&preset) {
                    presets.push(preset);
                }
            }
            let all: Vec<String> = many.iter().map(each).collect();
            let program = format!("jobset-sim {}", env!("CARGO_PKG_VERSION"));
            vec![format!("{program}  ·  preset {}", presets.join(", ")), all.join("  ·  ")]
        }
    }
}
