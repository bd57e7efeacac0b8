//! Reads the checkpoint settings, which determine how much work an interruption loses, in Fleets and in scenarios.

use super::read;
use super::schema::definitions::training::WITHOUT;
use super::text::diagnostic::DiagnosticReport;
use super::text::node::YamlNode;
use sim_api::spec::ProgressSpec;
use sim_base::Duration;

/// Reads `checkpoint` of a `training`.
pub fn progress(training: &YamlNode, report: &mut DiagnosticReport) -> ProgressSpec {
    let checkpoint = training.get("checkpoint");
    match checkpoint.and_then(YamlNode::as_str) {
        Some(word) if word == WITHOUT[1] => return ProgressSpec::FromScratch,
        Some(_) => return ProgressSpec::Kept,
        None => {}
    }
    let every = checkpoint.and_then(|c| every(c, "training.checkpoint", report));
    match (checkpoint, every) {
        (Some(checkpoint), Some(every)) => {
            ProgressSpec::Checkpoints { every, blocking: read::duration(checkpoint, "blocking").unwrap_or_default() }
        }
        _ => ProgressSpec::Kept,
    }
}

/// Reads the amount of work between two checkpoints.
pub fn every(checkpoint: &YamlNode, path: &str, report: &mut DiagnosticReport) -> Option<Duration> {
    let every = read::duration(checkpoint, "every")?;
    if every == Duration::ZERO {
        let message = format!("{path}.every is 0: the interval must be positive");
        let error = report.error(checkpoint.at, message);
        error.suggest("checkpoint: Continuous");
        return None;
    }
    Some(every)
}
