//! The request of a pod set for a placement by topology, from the annotations of the pod template
//! (`pkg/controller/jobframework/tas.go`).

use crate::tas::{LevelRequest, SliceConstraint, TopologyRequest};
use std::collections::BTreeMap;

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
    Unconstrained { value: String },
    SliceSize { value: String },
    Constraints { value: String },
}

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
        request.slices = read_constraints(&value).ok_or(TopologyRequestError::Constraints { value })?;
    } else if let (Some(topology), Some(value)) = (get(annotations::SLICE_REQUIRED), get(annotations::SLICE_SIZE)) {
        let size = value.parse::<i32>().ok().and_then(|size| u32::try_from(size).ok());
        let size = size.ok_or(TopologyRequestError::SliceSize { value })?;
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

fn read_constraints(text: &str) -> Option<Vec<SliceConstraint>> {
    let list: serde_json::Value = serde_json::from_str(text).ok()?;
    let read = |entry: &serde_json::Value| {
        let topology = entry["topology"].as_str()?.to_owned();
        Some(SliceConstraint { topology, size: u32::try_from(entry["size"].as_u64()?).ok()? })
    };
    let all: Vec<SliceConstraint> = list.as_array()?.iter().map(read).collect::<Option<_>>()?;
    (1..=3).contains(&all.len()).then_some(all)
}
