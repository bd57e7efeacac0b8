//! Reads Nodes and Pods from the output of `kubectl get nodes,pods -A -o json` or `-o yaml`.
//!
//! Only the fields that an import needs are kept, and of Pods only what they hold. JSON is read as a stream, because a
//! dump of a large cluster has more than 100 MB.

use super::dump_fields::{DumpMetadata, DumpSpec, DumpStatus};
use super::occupancy::ClusterOccupancy;
use crate::text::diagnostic::{Diagnostic, Diagnostics, SourceText};
use crate::text::json_stream::JsonStream;
use crate::text::node::SourcePosition;
use crate::text::yaml;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

/// An object, or a list of objects.
#[derive(Debug, Default)]
pub(super) struct DumpObject {
    pub(super) kind: String,
    pub(super) metadata: DumpMetadata,
    pub(super) spec: DumpSpec,
    pub(super) status: DumpStatus,
    /// Of a list.
    items: ClusterDump,
}

impl<'de> Deserialize<'de> for DumpObject {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<DumpObject, D::Error> {
        reader.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum DumpField {
    Kind,
    Items,
    Metadata,
    Spec,
    Status,
    #[serde(other)]
    Other,
}

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = DumpObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DumpObject, A::Error> {
        let mut object = DumpObject::default();
        while let Some(field) = map.next_key::<DumpField>()? {
            //  Fields of other kinds may have the same names and other types. Items of a typed list have no kind.
            let is_read = ["Node", "Pod", ""].contains(&object.kind.as_str());
            match field {
                DumpField::Kind => object.kind = map.next_value::<Option<String>>()?.unwrap_or_default(),
                DumpField::Items => object.items = map.next_value::<Option<_>>()?.unwrap_or_default(),
                DumpField::Metadata if is_read => object.metadata = map.next_value::<Option<_>>()?.unwrap_or_default(),
                DumpField::Spec if is_read => object.spec = map.next_value::<Option<_>>()?.unwrap_or_default(),
                DumpField::Status if is_read => object.status = map.next_value::<Option<_>>()?.unwrap_or_default(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(object)
    }
}

/// The objects of one or several files, or of a list.
#[derive(Debug, Default)]
pub(super) struct ClusterDump {
    pub(super) nodes: Vec<DumpObject>,
    /// What the Pods hold.
    pub(super) pods: ClusterOccupancy,
    /// Number of other objects by kind.
    pub(super) others: BTreeMap<String, usize>,
    /// Objects without a kind: items of a typed list, whose kind is read after them.
    untyped: Vec<DumpObject>,
}

impl<'de> Deserialize<'de> for ClusterDump {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<ClusterDump, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = ClusterDump;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ClusterDump, A::Error> {
                let mut dump = ClusterDump::default();
                while let Some(object) = items.next_element()? {
                    dump.add(object);
                }
                Ok(dump)
            }
        }
        reader.deserialize_seq(ItemsVisitor)
    }
}

impl ClusterDump {
    /// Returns the objects of a file.
    pub(super) fn of_text(source: &SourceText) -> Result<ClusterDump, Diagnostics> {
        let mut dump = ClusterDump::default();
        objects(source)?.into_iter().for_each(|object| dump.add(object));
        match dump.pods.wrong.as_ref() {
            Some(wrong) => Err(Diagnostic::of_file(&source.file, wrong.as_str()).into()),
            None => Ok(dump),
        }
    }

    /// Reads JSON that contains Nodes or Pods, in parts. Returns `None` for other texts and for those with errors.
    pub(super) fn of_json(reader: impl Read) -> Option<ClusterDump> {
        let mut stream = JsonStream::new(reader);
        let mut dump = ClusterDump::default();
        while let Some(first) = stream.peek().ok()? {
            let object = (first == b'{').then(|| DumpObject::deserialize(&mut stream))?;
            dump.add(object.ok()?);
        }
        let is_read = !dump.nodes.is_empty() || dump.pods.count() > 0;
        (is_read && dump.pods.wrong.is_none()).then_some(dump)
    }

    /// Adds the objects of another file. Its Nodes are omitted.
    pub(super) fn with_pods_of(self, file: ClusterDump) -> ClusterDump {
        self.with(ClusterDump { nodes: Vec::new(), ..file })
    }

    /// Adds the objects of another dump.
    pub(super) fn with(mut self, file: ClusterDump) -> ClusterDump {
        self.extend(file);
        self
    }

    /// Returns the number of objects without a kind.
    pub(super) fn untyped(&self) -> usize {
        self.untyped.len()
    }

    fn extend(&mut self, file: ClusterDump) {
        self.nodes.extend(file.nodes);
        self.pods.extend(file.pods);
        self.untyped.extend(file.untyped);
        for (kind, number) in file.others {
            *self.others.entry(kind).or_default() += number;
        }
    }

    fn add(&mut self, mut object: DumpObject) {
        match object.kind.strip_suffix("List") {
            Some(of) => {
                let untyped = std::mem::take(&mut object.items.untyped);
                self.extend(object.items);
                for item in untyped {
                    self.add(DumpObject { kind: of.to_owned(), ..item });
                }
            }
            None if object.kind == "Node" => self.nodes.push(object),
            None if object.kind == "Pod" => self.pods.add(object.metadata, object.spec, &object.status.phase),
            None if object.kind.is_empty() => self.untyped.push(object),
            None => *self.others.entry(object.kind).or_default() += 1,
        }
    }
}

fn objects(source: &SourceText) -> Result<Vec<DumpObject>, Diagnostics> {
    if source.text.trim_start().starts_with('{') {
        match serde_json::Deserializer::from_str(&source.text).into_iter().collect() {
            Ok(objects) => return Ok(objects),
            Err(error) if error.is_eof() => return Err(incomplete(source, &error)),
            Err(error) if error.is_data() => return Err(unexpected(source, &error)),
            //  A flow mapping of YAML starts with the same character.
            Err(_) => {}
        }
    }
    let mut objects = Vec::new();
    for document in yaml::parse(source)? {
        match serde_json::from_value(document.to_json()) {
            Ok(object) => objects.push(object),
            Err(error) => {
                let mut problem = Diagnostic::at(source, document.at, error.to_string());
                problem.legal(LEGAL);
                return Err(problem.into());
            }
        }
    }
    Ok(objects)
}

/// Inputs that an import accepts.
pub(super) const LEGAL: &str = "the output of `kubectl get nodes -o json` or `-o yaml`";

fn place(error: &serde_json::Error) -> SourcePosition {
    let column = error.column().max(1) as u32;
    SourcePosition { line: error.line().max(1) as u32, column, len: 1, ..SourcePosition::default() }
}

fn incomplete(source: &SourceText, error: &serde_json::Error) -> Diagnostics {
    let mut problem = Diagnostic::at(source, place(error), "the JSON text ends too early: the file is incomplete");
    problem.suggest("save the output of kubectl again");
    problem.into()
}

fn unexpected(source: &SourceText, error: &serde_json::Error) -> Diagnostics {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or("").to_owned();
    let mut problem = Diagnostic::at(source, place(error), message);
    problem.legal(LEGAL);
    problem.into()
}
