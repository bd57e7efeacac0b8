//! The request of a pod set for a placement by topology, from the annotations of the pod template
//! (`pkg/controller/jobframework/tas.go`).

use crate::tas::{LevelRequest, SliceConstraint, TopologyRequest};
use serde_json::{Map, Value};
use sim_api::admission::{go, json_text};
use std::collections::BTreeMap;
use std::fmt;

/// Annotations of Kueue on pod templates.
pub mod annotations {
    pub const REQUIRED: &str = "kueue.x-k8s.io/podset-required-topology";
    pub const PREFERRED: &str = "kueue.x-k8s.io/podset-preferred-topology";
    pub const UNCONSTRAINED: &str = "kueue.x-k8s.io/podset-unconstrained-topology";
    pub const SLICE_REQUIRED: &str = "kueue.x-k8s.io/podset-slice-required-topology";
    pub const SLICE_SIZE: &str = "kueue.x-k8s.io/podset-slice-size";
    pub const SLICE_CONSTRAINTS: &str = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
    pub const GROUP: &str = "kueue.x-k8s.io/podset-group-name";
}

/// Reasons for which the annotations cannot be read. Kueue then creates no Workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyRequestError {
    Unconstrained {
        value: String,
    },
    SliceSize {
        value: String,
    },
    Constraints(ConstraintsError),
    /// A layer of slices has less than one pod.
    LayerSize,
}

/// Reasons for which the annotation of slice layers cannot be read, with Kueue's messages (`Build`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintsError {
    /// The text is no JSON list of layers, with Go's message.
    Unreadable(String),
    /// The number of layers is not between 1 and 3.
    LayerCount(usize),
}

impl fmt::Display for ConstraintsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstraintsError::Unreadable(error) => {
                write!(f, "failed to parse multi-layer topology constraints annotation: {error}")
            }
            ConstraintsError::LayerCount(count) => {
                write!(f, "topology constraints must contain between 1 and 3 entries: got {count}")
            }
        }
    }
}

impl std::error::Error for ConstraintsError {}

/// Reads the annotations of a pod template.
pub fn read(annotations: &BTreeMap<String, String>) -> Result<TopologyRequest, TopologyRequestError> {
    let get = |key: &str| annotations.get(key).cloned();
    let mut request = TopologyRequest::default();
    if let Some(required) = get(annotations::REQUIRED) {
        request.level = Some(LevelRequest::Required(required));
    } else if let Some(preferred) = get(annotations::PREFERRED) {
        request.level = Some(LevelRequest::Preferred(preferred));
    } else if let Some(value) = get(annotations::UNCONSTRAINED) {
        match parse_bool(&value) {
            // Kueue only looks at whether the value is set.
            Some(_) => request.level = Some(LevelRequest::Unconstrained),
            None => return Err(TopologyRequestError::Unconstrained { value }),
        }
    }
    if let Some(value) = get(annotations::SLICE_CONSTRAINTS) {
        let layers = layers(&value).map_err(TopologyRequestError::Constraints)?;
        let slice = |layer: WrittenLayer| {
            let size = u32::try_from(layer.size).ok().filter(|size| *size > 0)?;
            Some(SliceConstraint { topology: layer.topology, size })
        };
        let slices = layers.into_iter().map(slice).collect::<Option<_>>();
        request.slices = slices.ok_or(TopologyRequestError::LayerSize)?;
    } else if let (Some(topology), Some(value)) = (get(annotations::SLICE_REQUIRED), get(annotations::SLICE_SIZE)) {
        let size = value.parse::<i32>().ok().and_then(|size| u32::try_from(size).ok());
        let size = size.filter(|size| *size > 0).ok_or(TopologyRequestError::SliceSize { value })?;
        request.slices = vec![SliceConstraint { topology, size }];
    }
    let has_level = matches!(request.level, Some(LevelRequest::Required(_) | LevelRequest::Preferred(_)));
    request.group = get(annotations::GROUP).filter(|_| has_level);
    Ok(request)
}

/// Parses a boolean like Go's `strconv.ParseBool`.
fn parse_bool(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// A layer of slices as written. A missing field is empty or zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLayer {
    pub topology: String,
    pub size: i32,
}

/// Number of layers of slices.
const LAYERS_MAX: usize = 3;

/// Reads the annotation of slice layers like Go's `json.Unmarshal`, which ignores the case of keys.
pub fn layers(text: &str) -> Result<Vec<WrittenLayer>, ConstraintsError> {
    let (mut written, _) = json_text::parse(text).map_err(|error| ConstraintsError::Unreadable(error.to_string()))?;
    if let Some(size) = fraction(text) {
        return Err(ConstraintsError::Unreadable(format!(
            "json: cannot unmarshal number {size} into Go struct field \
             PodsetSliceRequiredTopologyConstraint.size of type int32"
        )));
    }
    written.as_array_mut().into_iter().flatten().for_each(fold_keys);
    let read =
        go::round_trip_field("v1beta2.PodSetTopologyRequest", "podsetSliceRequiredTopologyConstraints", &written)
            .map_err(|error| ConstraintsError::Unreadable(error.to_string()))?;
    let layer = |layer: &Value| WrittenLayer {
        topology: layer["topology"].as_str().unwrap_or_default().to_owned(),
        size: layer["size"].as_i64().and_then(|size| i32::try_from(size).ok()).unwrap_or(0),
    };
    let layers: Vec<WrittenLayer> = read.as_array().into_iter().flatten().map(layer).collect();
    match layers.len() {
        1..=LAYERS_MAX => Ok(layers),
        count => Err(ConstraintsError::LayerCount(count)),
    }
}

/// The first size that is written with a fraction or exponent, which Go does not read as a whole number.
fn fraction(text: &str) -> Option<Value> {
    let layers: Value = serde_json::from_str(text).ok()?;
    let sizes = layers.as_array()?.iter().flat_map(|layer| layer.as_object().into_iter().flatten());
    let is_size = |(key, value): &(&String, &Value)| key.eq_ignore_ascii_case("size") && value.is_f64();
    sizes.filter(is_size).map(|(_, value)| value.clone()).next()
}

/// Gives the keys of a layer the case of the fields.
fn fold_keys(layer: &mut Value) {
    let Value::Object(fields) = layer else { return };
    let name = |key: String| {
        let field = ["topology", "size"].into_iter().find(|field| key.eq_ignore_ascii_case(field));
        field.map_or(key, str::to_owned)
    };
    *fields = std::mem::take(fields).into_iter().map(|(key, value)| (name(key), value)).collect::<Map<_, _>>();
}
