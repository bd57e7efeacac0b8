//! One version of one object as shown by a watch or a list, reduced to the fields that describe the life of a JobSet.
//!
//! Complete objects are never kept: a watch of thousands of pods shows hundreds of thousands of versions.

use super::facts::{self, ObservedFacts, ObservedKind};
use super::text::{self, TextProblem};
use super::timestamp::parse_nanoseconds;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// How a version was observed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum WatchEventKind {
    Added,
    Modified,
    Deleted,
    /// Read from a list after the event. Earlier changes are known only as far as the object's fields record them.
    Listed,
}

#[derive(Clone, Debug)]
pub struct ObjectVersion {
    pub kind: ObservedKind,
    pub event_kind: WatchEventKind,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// Resource version, which orders all writes to the cluster's store. Absent in output of other tools.
    pub resource_version: Option<u64>,
    /// Creation time. All times are in nanoseconds since 1970, as written.
    pub created: Option<u64>,
    /// Time at which the object was marked for deletion: the deletion deadline − the grace period.
    pub deleting: Option<u64>,
    /// Newest time that the API server recorded in the managed fields.
    pub written: Option<u64>,
    /// Whether the object is marked for deletion and nothing delays its removal, so that this is its last version.
    is_last_version: bool,
    pub facts: ObservedFacts,
}

/// Parses texts one after another and collects the object versions.
#[derive(Default)]
pub struct WatchReader {
    pub versions: Vec<ObjectVersion>,
    /// Number of objects of each kind that is not read.
    pub skipped: BTreeMap<String, u32>,
    /// Error messages of the server for watches that were interrupted.
    pub interrupted: Vec<String>,
}

/// Maximum accepted length of an object's name in bytes. The API allows 253 characters.
const NAME_MAX: usize = 1024;

/// Reason why a value is not a watch event, a list or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectReadError {
    UnknownEventType {
        name: String,
    },
    MissingKind,
    /// The name is missing or longer than `NAME_MAX`.
    InvalidName {
        kind: ObservedKind,
    },
}

impl fmt::Display for ObjectReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectReadError::UnknownEventType { name } => {
                write!(f, "{name:?} is not a watch event type")
            }
            ObjectReadError::MissingKind => f.write_str("not a Kubernetes object: kind is missing"),
            ObjectReadError::InvalidName { kind } => {
                write!(f, "{kind:?} with a missing name or a name longer than {NAME_MAX} bytes")
            }
        }
    }
}

impl std::error::Error for ObjectReadError {}

impl WatchReader {
    /// Reads a text of JSON values. YAML is parsed by the caller and passed as a value.
    pub fn read_json(&mut self, file: &str, text: &str) -> Result<(), TextProblem> {
        let from = self.versions.len();
        text::for_each_value(file, text, &mut |value| self.read_value(value))?;
        self.detect_plain_watch(from);
        Ok(())
    }

    /// Recognizes the output of a watch without `--output-watch-events`, which prints objects without an event type.
    /// A text with several versions of the same object is such a watch; the event types are inferred from the order
    /// of the versions.
    pub fn detect_plain_watch(&mut self, from: usize) {
        let mut versions: BTreeMap<&str, std::collections::BTreeSet<u64>> = BTreeMap::new();
        let bare = |s: &&ObjectVersion| s.event_kind == WatchEventKind::Listed && s.kind != ObservedKind::Event;
        for s in self.versions[from..].iter().filter(bare) {
            versions.entry(&s.uid).or_default().extend(s.resource_version);
        }
        if versions.values().all(|all| all.len() < 2) {
            return;
        }
        let mut met = std::collections::BTreeSet::new();
        for s in self.versions[from..].iter_mut().filter(|s| s.event_kind == WatchEventKind::Listed) {
            s.event_kind = match (met.insert(s.uid.clone()), s.is_last_version) {
                (true, _) => WatchEventKind::Added,
                (false, true) => WatchEventKind::Deleted,
                (false, false) => WatchEventKind::Modified,
            };
        }
    }

    /// Reads a watch event, a list or an object.
    pub fn read_value(&mut self, mut value: Value) -> Result<(), ObjectReadError> {
        if let (Some(how), Some(object)) = (value["type"].as_str(), value.get("object")) {
            let how = match how {
                "ADDED" => WatchEventKind::Added,
                "MODIFIED" => WatchEventKind::Modified,
                "DELETED" => WatchEventKind::Deleted,
                "BOOKMARK" => return Ok(()),
                "ERROR" => {
                    let why = object["message"].as_str().unwrap_or("no reason given");
                    self.interrupted.push(why.chars().take(200).collect());
                    return Ok(());
                }
                other => {
                    return Err(ObjectReadError::UnknownEventType { name: other.to_owned() });
                }
            };
            let object = value["object"].take();
            return self.read_object(object, how);
        }
        if let Some(Value::Array(items)) = value.get_mut("items").map(Value::take) {
            return items.into_iter().try_for_each(|item| self.read_value(item));
        }
        self.read_object(value, WatchEventKind::Listed)
    }

    fn read_object(&mut self, object: Value, how: WatchEventKind) -> Result<(), ObjectReadError> {
        let Some(name) = object["kind"].as_str() else {
            return Err(ObjectReadError::MissingKind);
        };
        let kind = match name {
            "JobSet" => ObservedKind::JobSet,
            "Job" => ObservedKind::Job,
            "Pod" => ObservedKind::Pod,
            "Node" => ObservedKind::Node,
            "Event" => ObservedKind::Event,
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
            return Err(ObjectReadError::InvalidName { kind });
        }
        let time = |key: &str| meta[key].as_str().and_then(parse_nanoseconds);
        let grace = meta["deletionGracePeriodSeconds"].as_u64().unwrap_or(0);
        let deadline = time("deletionTimestamp");
        let kept = meta["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        let fields = meta["managedFields"].as_array().into_iter().flatten();
        let sighting = ObjectVersion {
            kind,
            event_kind: how,
            namespace: text("namespace"),
            uid: match text("uid") {
                uid if uid.is_empty() => format!("{kind:?}/{}/{name}", text("namespace")),
                uid => uid,
            },
            name,
            resource_version: meta["resourceVersion"].as_str().and_then(|rv| rv.parse().ok()),
            created: time("creationTimestamp"),
            deleting: deadline.map(|d| d.saturating_sub(grace.saturating_mul(super::timestamp::SECOND))),
            written: fields.filter_map(|f| parse_nanoseconds(f["time"].as_str()?)).max(),
            is_last_version: deadline.is_some() && grace == 0 && !kept,
            facts: facts::from_object(kind, &object),
        };
        self.versions.push(sighting);
        Ok(())
    }
}
