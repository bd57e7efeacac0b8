//! Reads the checkpoint settings, which determine how much work an interruption loses, in Fleets and in scenarios.

use super::read;
use super::schema::shapes::training::WITHOUT;
use super::text::diagnostic::Report;
use super::text::node::Node;
use sim_api::spec::Progress;
use sim_base::Duration;

/// Reads `checkpoint` of a `training`.
pub fn progress(training: &Node, report: &mut Report) -> Progress {
    let checkpoint = training.get("checkpoint");
    match checkpoint.and_then(Node::as_str) {
        Some(word) if word == WITHOUT[1] => return Progress::FromScratch,
        Some(_) => return Progress::Kept,
        None => {}
    }
    let every = checkpoint.and_then(|c| every(c, "training.checkpoint", report));
    match (checkpoint, every) {
        (Some(checkpoint), Some(every)) => Progress::Checkpoints {
            every,
            blocking: read::duration(checkpoint, "blocking").unwrap_or_default(),
        },
        _ => Progress::Kept,
    }
}

/// Reads the amount of work between two checkpoints.
pub fn every(checkpoint: &Node, path: &str, report: &mut Report) -> Option<Duration> {
    let every = read::duration(checkpoint, "every")?;
    if every == Duration::ZERO {
        let message = format!("{path}.every is 0: the job would never work");
        let error = report.error(checkpoint.at, message);
        error.suggest("checkpoint: Continuous");
        return None;
    }
    Some(every)
}
