//! Reconstructs the life of one JobSet, its Jobs and its pods from observed object versions.
//!
//! This module does not decide what a restart is; `milestones` does.

mod maker;
mod nodes;
mod told;

use super::facts::Kind;
use super::facts::{Condition, Pod};
use super::sighting::{How, Sighting};
use super::stamp::At;
use super::when;
use maker::Maker;
pub use nodes::{Change, NodeLife};
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct JobSetLife {
    pub namespace: String,
    pub name: String,
    /// The manifest as last observed.
    pub manifest: Value,
    pub created: Option<At>,
    /// The status after each change.
    pub statuses: Vec<(At, Value)>,
    pub conditions: Vec<(At, Condition)>,
    pub deleted: Option<At>,
}

#[derive(Clone, Debug, Default)]
pub struct JobLife {
    pub name: String,
    pub attempt: String,
    pub created: Option<At>,
    pub deleting: Option<At>,
    pub gone: Option<At>,
    pub suspended: bool,
    pub conditions: Vec<(At, Condition)>,
    pub counts: [Option<u32>; 5],
    /// Times at which the Job controller wrote the Job's status.
    pub statuses: Vec<At>,
}

#[derive(Clone, Debug, Default)]
pub struct PodLife {
    pub name: String,
    /// Fields as last observed. For pods known only from Events, the fields derived from the name.
    pub last: Pod,
    pub created: Option<At>,
    pub bound: Option<At>,
    /// Changes of readiness, in order.
    pub ready: Vec<(At, bool)>,
    pub finished: Option<At>,
    pub deleting: Option<At>,
    pub gone: Option<At>,
    /// When the Job controller removed the tracking finalizer.
    pub counted: Option<At>,
    pub in_place: Vec<(At, u32)>,
    /// Whether the pod is known only from Events.
    pub only_told: bool,
}

impl PodLife {
    /// Returns the name without its random suffix, as used in scripts.
    pub fn short(&self) -> &str {
        let name = self.name.as_str();
        name.rsplit_once('-').map_or(name, |(short, _)| short)
    }
}

#[derive(Clone, Debug)]
pub struct Told {
    pub by: String,
    pub object: String,
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub at: Option<At>,
}

/// The observed history of one JobSet.
#[derive(Clone, Debug, Default)]
pub struct Life {
    pub jobset: JobSetLife,
    pub jobs: Vec<JobLife>,
    pub pods: Vec<PodLife>,
    pub events: Vec<Told>,
    pub nodes: Vec<NodeLife>,
    /// Whether the creation of the JobSet was watched. False if it was only listed afterwards.
    pub watched: bool,
    pub notes: Vec<String>,
}

/// Returns namespace and name of the selected JobSet. Exactly one JobSet must match.
pub fn choose(
    seen: &[Sighting],
    name: Option<&str>,
    namespace: Option<&str>,
) -> Result<(String, String), String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for s in seen.iter().filter(|s| s.kind == Kind::JobSet) {
        let key = (s.namespace.clone(), s.name.clone());
        if !found.contains(&key) {
            found.push(key);
        }
    }
    let list = |found: &[(String, String)]| {
        let shown = found
            .iter()
            .take(10)
            .map(|(ns, name)| format!("{ns}/{name}"));
        shown.collect::<Vec<_>>().join(", ")
    };
    let meant = |(ns, n): &(String, String)| {
        name.is_none_or(|name| name == n) && namespace.is_none_or(|own| own == ns)
    };
    let of: Vec<(String, String)> = found.iter().filter(|key| meant(key)).cloned().collect();
    match of.as_slice() {
        [one] => Ok(one.clone()),
        [] if found.is_empty() => {
            Err("no JobSet in these files; `recording commands` prints what to save".to_owned())
        }
        [] => Err(format!(
            "no such JobSet in these files; there are: {}",
            list(&found)
        )),
        many => Err(format!(
            "{} JobSets in these files: {}; choose with --jobset and -n",
            many.len(),
            list(many)
        )),
    }
}

/// Returns the life of the JobSet with this namespace and name.
pub fn read(seen: &[Sighting], (namespace, name): &(String, String)) -> Life {
    let when = when::solve(seen);
    let mut life = Life::default();
    life.jobset.namespace = namespace.clone();
    life.jobset.name = name.clone();
    for kind in &when.apart {
        life.notes.push(format!(
            "the numbers of {kind:?} writes do not fit the others': they are in a store of their own, and their times are \
             known to the second only"
        ));
    }
    let mine = |s: &Sighting| s.namespace == *namespace || s.kind == Kind::Node;
    let mut order: Vec<usize> = (0..seen.len()).filter(|i| mine(&seen[*i])).collect();
    // Lists are read before watches of the same object, because they contain less information.
    order.sort_by_key(|i| (seen[*i].how != How::Listed, seen[*i].rv, *i));
    let watched = order
        .iter()
        .filter(|i| seen[**i].how != How::Listed)
        .map(|i| seen[*i].uid.as_str())
        .collect();
    let mut maker = Maker::new(life, watched);
    for i in order {
        maker.sighting(&seen[i], when.at[i]);
    }
    maker.finish()
}
