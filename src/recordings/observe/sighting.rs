//! One version of one object as shown by a watch or a list, reduced to the fields that describe the life of a
//! JobSet.
//!
//! Complete objects are never kept: a watch of thousands of pods shows hundreds of thousands of versions.

use super::facts::{self, Facts, Kind};
use super::stamp::nanos;
use super::text::{self, Problem};
use serde_json::Value;
use std::collections::BTreeMap;

/// How a version was observed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum How {
    Added,
    Modified,
    Deleted,
    /// Read from a list after the event. Earlier changes are known only as far as the object's fields record them.
    Listed,
}

#[derive(Clone, Debug)]
pub struct Sighting {
    pub kind: Kind,
    pub how: How,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// Resource version, which orders all writes to the cluster's store. Absent in output of other tools.
    pub rv: Option<u64>,
    /// Creation time. All times are in nanoseconds since 1970, as written.
    pub created: Option<u64>,
    /// Time at which the object was marked for deletion: the deletion deadline − the grace period.
    pub deleting: Option<u64>,
    /// Newest time that the API server recorded in the managed fields.
    pub written: Option<u64>,
    /// Whether the object is marked for deletion and nothing delays its removal, so that this is its last version.
    ending: bool,
    pub facts: Facts,
}

/// Parses texts one after another and collects the object versions.
#[derive(Default)]
pub struct Reader {
    pub seen: Vec<Sighting>,
    /// Number of objects of each kind that is not read.
    pub skipped: BTreeMap<String, u32>,
    /// Error messages of the server for watches that were interrupted.
    pub broken: Vec<String>,
}

/// Maximum accepted length of an object's name in bytes. The API allows 253 characters.
const NAME_MAX: usize = 1024;

impl Reader {
    /// Reads a text of JSON values. YAML is parsed by the caller and passed as a value.
    pub fn json(&mut self, file: &str, text: &str) -> Result<(), Problem> {
        let from = self.seen.len();
        text::values(file, text, &mut |value| self.value(value))?;
        self.end_of_text(from);
        Ok(())
    }

    /// Recognizes the output of a watch without `--output-watch-events`, which prints objects without an event type.
    /// A text with several versions of the same object is such a watch; the event types are inferred from the order
    /// of the versions.
    pub fn end_of_text(&mut self, from: usize) {
        let mut versions: BTreeMap<&str, std::collections::BTreeSet<u64>> = BTreeMap::new();
        let bare = |s: &&Sighting| s.how == How::Listed && s.kind != Kind::Event;
        for s in self.seen[from..].iter().filter(bare) {
            versions.entry(&s.uid).or_default().extend(s.rv);
        }
        if versions.values().all(|all| all.len() < 2) {
            return;
        }
        let mut met = std::collections::BTreeSet::new();
        for s in self.seen[from..]
            .iter_mut()
            .filter(|s| s.how == How::Listed)
        {
            s.how = match (met.insert(s.uid.clone()), s.ending) {
                (true, _) => How::Added,
                (false, true) => How::Deleted,
                (false, false) => How::Modified,
            };
        }
    }

    /// Reads a watch event, a list or an object.
    pub fn value(&mut self, mut value: Value) -> Result<(), String> {
        if let (Some(how), Some(object)) = (value["type"].as_str(), value.get("object")) {
            let how = match how {
                "ADDED" => How::Added,
                "MODIFIED" => How::Modified,
                "DELETED" => How::Deleted,
                "BOOKMARK" => return Ok(()),
                "ERROR" => {
                    let why = object["message"].as_str().unwrap_or("no reason given");
                    self.broken.push(why.chars().take(200).collect());
                    return Ok(());
                }
                other => return Err(format!("{other:?} is no type of a watch event")),
            };
            let object = value["object"].take();
            return self.object(object, how);
        }
        if let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) {
            return items.into_iter().try_for_each(|item| self.value(item));
        }
        self.object(value, How::Listed)
    }

    fn object(&mut self, object: Value, how: How) -> Result<(), String> {
        let Some(name) = object["kind"].as_str() else {
            return Err("no Kubernetes object: it has no kind".to_owned());
        };
        let kind = match name {
            "JobSet" => Kind::JobSet,
            "Job" => Kind::Job,
            "Pod" => Kind::Pod,
            "Node" => Kind::Node,
            "Event" => Kind::Event,
            other => {
                let name: String = other.chars().take(NAME_MAX).collect();
                *self.skipped.entry(name).or_default() += 1;
                return Ok(());
            }
        };
        let meta = &object["metadata"];
        let text = |key: &str| meta[key].as_str().unwrap_or("").to_owned();
        let name = text("name");
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(format!(
                "a {kind:?} without a name of at most {NAME_MAX} bytes"
            ));
        }
        let time = |key: &str| meta[key].as_str().and_then(nanos);
        let grace = meta["deletionGracePeriodSeconds"].as_u64().unwrap_or(0);
        let deadline = time("deletionTimestamp");
        let kept = meta["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        let fields = meta["managedFields"].as_array().into_iter().flatten();
        let sighting = Sighting {
            kind,
            how,
            namespace: text("namespace"),
            uid: match text("uid") {
                uid if uid.is_empty() => format!("{kind:?}/{}/{name}", text("namespace")),
                uid => uid,
            },
            name,
            rv: meta["resourceVersion"]
                .as_str()
                .and_then(|rv| rv.parse().ok()),
            created: time("creationTimestamp"),
            deleting: deadline
                .map(|d| d.saturating_sub(grace.saturating_mul(super::stamp::SECOND))),
            written: fields.filter_map(|f| nanos(f["time"].as_str()?)).max(),
            ending: deadline.is_some() && grace == 0 && !kept,
            facts: facts::of(kind, &object)?,
        };
        self.seen.push(sighting);
        Ok(())
    }
}
