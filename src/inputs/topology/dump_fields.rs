//! The fields of Nodes and Pods that an import reads.

use crate::acting_keys;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use sim_api::spec::ResourceAmounts;
use sim_base::quantity::{QuantityError, parse_milli};
use std::collections::BTreeMap;
use std::fmt;

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
    pub(super) annotations: DumpAnnotations,
    #[serde(deserialize_with = "or_default")]
    pub(super) owner_references: Vec<DumpOwner>,
}

/// The annotations that an import uses.
#[derive(Debug, Default)]
pub(super) struct DumpAnnotations {
    /// Name of Kueue's Workload of a pod.
    pub(super) workload: String,
    /// Annotations of a Node on which other components act.
    pub(super) acting: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for DumpAnnotations {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<DumpAnnotations, D::Error> {
        struct AnnotationsVisitor;
        impl<'de> Visitor<'de> for AnnotationsVisitor {
            type Value = DumpAnnotations;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DumpAnnotations, A::Error> {
                let mut annotations = DumpAnnotations::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == KUEUE_WORKLOAD {
                        annotations.workload = map.next_value::<Option<String>>()?.unwrap_or_default();
                    } else if acting_keys::is_of_node(&key) {
                        let value = map.next_value::<Option<String>>()?.unwrap_or_default();
                        annotations.acting.insert(key, value);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(annotations)
            }
        }
        reader.deserialize_map(AnnotationsVisitor)
    }
}

const KUEUE_WORKLOAD: &str = "kueue.x-k8s.io/workload";

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
    #[serde(deserialize_with = "or_default")]
    pub(super) affinity: DumpAffinity,
}

/// The terms of a Pod about other pods.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DumpAffinity {
    #[serde(deserialize_with = "or_default")]
    pod_affinity: DumpTerms,
    #[serde(deserialize_with = "or_default")]
    pod_anti_affinity: DumpTerms,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DumpTerms {
    #[serde(deserialize_with = "or_default", rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: Vec<IgnoredAny>,
    #[serde(deserialize_with = "or_default", rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: Vec<IgnoredAny>,
}

impl DumpAffinity {
    pub(super) fn has_terms(&self) -> bool {
        let kinds = [&self.pod_affinity, &self.pod_anti_affinity];
        kinds.iter().any(|terms| !terms.required.is_empty() || !terms.preferred.is_empty())
    }
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
    #[serde(deserialize_with = "or_default")]
    pub(super) ports: Vec<DumpPort>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DumpPort {
    #[serde(deserialize_with = "or_default")]
    host_port: u32,
}

impl DumpSpec {
    /// Returns whether NodePorts counts a port of the node (`GetHostPorts` in `framework/types.go`).
    pub(super) fn has_host_ports(&self) -> bool {
        let sidecars = self.init_containers.iter().filter(|container| container.restart_policy == "Always");
        self.containers.iter().chain(sidecars).flat_map(|container| &container.ports).any(|port| port.host_port > 0)
    }
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

/// Quantities by resource name.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct DumpAmounts(BTreeMap<String, DumpQuantity>);

/// An amount in thousandths, or the text that is none.
#[derive(Debug)]
struct DumpQuantity(Result<i64, WrongQuantity>);

impl DumpQuantity {
    fn of_text(written: &str) -> DumpQuantity {
        DumpQuantity(match parse_milli(written) {
            Ok(milli) if milli < 0 => Err(WrongQuantity::Negative { written: written.to_owned() }),
            Ok(milli) => Ok(milli),
            Err(error) => Err(WrongQuantity::NoQuantity { error }),
        })
    }
}

impl DumpAmounts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the amounts in thousandths.
    pub(super) fn milli(self) -> Result<ResourceAmounts, AmountError> {
        let read = |(resource, DumpQuantity(amount))| match amount {
            Ok(milli) => Ok((resource, milli)),
            Err(quantity) => Err(AmountError { resource, quantity }),
        };
        self.0.into_iter().map(read).collect()
    }
}

/// A resource whose text is not a quantity.
#[derive(Debug)]
pub(super) struct AmountError {
    resource: String,
    quantity: WrongQuantity,
}

#[derive(Debug)]
enum WrongQuantity {
    NoQuantity { error: QuantityError },
    Negative { written: String },
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = &self.resource;
        match &self.quantity {
            WrongQuantity::NoQuantity { error } => write!(f, "{resource}: {error}"),
            WrongQuantity::Negative { written } => write!(f, "{resource}: {written} is negative"),
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
                Ok(DumpQuantity::of_text(text))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity::of_text(&number.to_string()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity::of_text(&number.to_string()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<DumpQuantity, E> {
                Ok(DumpQuantity::of_text(&number.to_string()))
            }
        }
        reader.deserialize_any(QuantityVisitor)
    }
}
