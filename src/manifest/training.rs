//! Reads what an interruption takes back of a training job, in Fleets and in scenarios alike.

use super::diagnostic::Report;
use super::node::Node;
use super::read;
use super::shapes::training::WITHOUT;
use crate::base::Duration;
use crate::spec::Progress;

/// `checkpoint` of a `training`.
pub fn progress(training: &Node, report: &mut Report) -> Progress {
    let checkpoint = training.get("checkpoint");
    let every = checkpoint.and_then(|c| read::duration(c, "every"));
    if let (Some(Duration::ZERO), Some(place)) = (every, checkpoint) {
        let error = report.error(
            place.at,
            "training.checkpoint.every is 0: the job would never work",
        );
        error.suggest("checkpoint: Continuous");
    }
    match (checkpoint.and_then(Node::as_str), every) {
        (Some(word), _) if word == WITHOUT[1] => Progress::FromScratch,
        (_, Some(every)) => Progress::Checkpoints {
            every,
            blocking: checkpoint
                .and_then(|c| read::duration(c, "blocking"))
                .unwrap_or_default(),
        },
        _ => Progress::Kept,
    }
}
