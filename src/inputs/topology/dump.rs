//! Reads Nodes and Pods from the output of `kubectl get nodes,pods -A -o json` or `-o yaml`.
//!
//! Only the fields that an import needs are kept. JSON is read as a stream, because a dump of a large cluster has more
//! than 100 MB.

use crate::text::diagnostic::{Diagnostic, Diagnostics, SourceText};
use crate::text::json_stream::JsonStream;
use crate::text::node::SourcePosition;
use crate::text::yaml;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use sim_api::spec::ResourceAmounts;
use sim_base::quantity::{QuantityError, parse_milli};
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
    items: Vec<DumpObject>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DumpMetadata {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) namespace: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) owner_references: Vec<DumpOwner>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DumpOwner {
    pub(super) kind: String,
}

/// The `spec` of a Node or a Pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DumpSpec {
    #[serde(deserialize_with = "or_default")]
    pub(super) unschedulable: bool,
    #[serde(deserialize_with = "or_default")]
    pub(super) taints: Vec<DumpTaint>,
    #[serde(deserialize_with = "or_default")]
    pub(super) node_name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) containers: Vec<DumpContainer>,
    #[serde(deserialize_with = "or_default")]
    pub(super) init_containers: Vec<DumpContainer>,
    #[serde(deserialize_with = "or_default")]
    pub(super) resources: DumpResources,
    #[serde(deserialize_with = "or_default")]
    pub(super) overhead: DumpAmounts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DumpTaint {
    pub(super) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) value: String,
    pub(super) effect: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DumpContainer {
    #[serde(deserialize_with = "or_default")]
    pub(super) restart_policy: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) resources: DumpResources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DumpResources {
    #[serde(deserialize_with = "or_default")]
    pub(super) requests: DumpAmounts,
    #[serde(deserialize_with = "or_default")]
    pub(super) limits: DumpAmounts,
}

/// The `status` of a Node or a Pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DumpStatus {
    #[serde(deserialize_with = "or_default")]
    pub(super) phase: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) allocatable: DumpAmounts,
    #[serde(deserialize_with = "or_default")]
    pub(super) capacity: DumpAmounts,
    #[serde(deserialize_with = "or_default")]
    pub(super) conditions: Vec<DumpCondition>,
    #[serde(deserialize_with = "or_default")]
    pub(super) declared_features: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DumpCondition {
    #[serde(rename = "type")]
    pub(super) name: String,
    pub(super) status: String,
}

/// Quantities by resource name, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct DumpAmounts(BTreeMap<String, DumpQuantity>);

#[derive(Debug)]
struct DumpQuantity(String);

impl DumpAmounts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the amounts in thousandths.
    pub(super) fn milli(&self) -> Result<ResourceAmounts, AmountError> {
        let read = |(name, DumpQuantity(written)): (&String, &DumpQuantity)| match parse_milli(written) {
            Ok(milli) if milli < 0 => Err(AmountError::Negative { resource: name.clone(), written: written.clone() }),
            Ok(milli) => Ok((name.clone(), milli)),
            Err(error) => Err(AmountError::NoQuantity { resource: name.clone(), error }),
        };
        self.0.iter().map(read).collect()
    }
}

/// A text that is not the quantity of a resource.
#[derive(Debug)]
pub(super) enum AmountError {
    NoQuantity { resource: String, error: QuantityError },
    Negative { resource: String, written: String },
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AmountError::NoQuantity { resource, error } => write!(f, "{resource}: {error}"),
            AmountError::Negative { resource, written } => write!(f, "{resource}: {written} is negative"),
        }
    }
}

/// Reads null as the default.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(reader: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(reader)?.unwrap_or_default())
}

impl<'de> Deserialize<'de> for DumpQuantity {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<DumpQuantity, D::Error> {
        struct QuantityVisitor;
        impl Visitor<'_> for QuantityVisitor {
            type Value = DumpQuantity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity(text.to_owned()))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity(number.to_string()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity(number.to_string()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity(number.to_string()))
            }
        }
        reader.deserialize_any(QuantityVisitor)
    }
}

impl<'de> Deserialize<'de> for DumpObject {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<DumpObject, D::Error> {
        reader.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = DumpObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DumpObject, A::Error> {
        let mut object = DumpObject::default();
        while let Some(key) = map.next_key::<String>()? {
            //  Fields of other kinds may have the same names and other types. Items of a typed list have no kind.
            let is_read = ["Node", "Pod", ""].contains(&object.kind.as_str());
            match key.as_str() {
                "kind" => object.kind = map.next_value::<Option<String>>()?.unwrap_or_default(),
                "items" => object.items = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "metadata" if is_read => object.metadata = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "spec" if is_read => object.spec = map.next_value::<Option<_>>()?.unwrap_or_default(),
                "status" if is_read => object.status = map.next_value::<Option<_>>()?.unwrap_or_default(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(object)
    }
}

/// The objects of one or several files.
#[derive(Debug, Default)]
pub(super) struct ClusterDump {
    pub(super) nodes: Vec<DumpObject>,
    pub(super) pods: Vec<DumpObject>,
    /// Number of other objects by kind.
    pub(super) others: BTreeMap<String, usize>,
}

impl ClusterDump {
    /// Adds the objects of a file.
    pub(super) fn read(&mut self, source: &SourceText) -> Result<(), Diagnostics> {
        for object in objects(source)? {
            self.add(object, "");
        }
        Ok(())
    }

    /// Reads JSON that contains Nodes or Pods, in parts. Returns `None` for other texts and for those with errors.
    pub(super) fn of_json(reader: impl Read) -> Option<ClusterDump> {
        let mut stream = JsonStream::new(reader);
        let mut dump = ClusterDump::default();
        while let Some(first) = stream.peek().ok()? {
            let object = (first == b'{').then(|| DumpObject::deserialize(&mut stream))?;
            dump.add(object.ok()?, "");
        }
        (!dump.nodes.is_empty() || !dump.pods.is_empty()).then_some(dump)
    }

    /// Adds the objects of another file. Its Nodes are omitted.
    pub(super) fn with_pods_of(self, file: ClusterDump) -> ClusterDump {
        self.with(ClusterDump { nodes: Vec::new(), ..file })
    }

    /// Adds the objects of another dump.
    pub(super) fn with(mut self, file: ClusterDump) -> ClusterDump {
        self.nodes.extend(file.nodes);
        self.pods.extend(file.pods);
        for (kind, number) in file.others {
            *self.others.entry(kind).or_default() += number;
        }
        self
    }

    fn add(&mut self, object: DumpObject, list: &str) {
        let kind = if object.kind.is_empty() { list } else { object.kind.as_str() };
        match kind.strip_suffix("List") {
            Some(of) => {
                let of = of.to_owned();
                object.items.into_iter().for_each(|item| self.add(item, &of));
            }
            None if kind == "Node" => self.nodes.push(object),
            None if kind == "Pod" => self.pods.push(object),
            None => *self.others.entry(kind.to_owned()).or_default() += 1,
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
