//! The request of a pod set for a placement by topology, from the annotations of the pod template
//! (`pkg/controller/jobframework/tas.go`).

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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyRequest {
    pub required: Option<String>,
    pub preferred: Option<String>,
    pub unconstrained: Option<bool>,
    /// Levels in which a slice of the given number of pods must be together, outermost first.
    pub slices: Vec<SliceRequest>,
    /// Whether `slices` come from the annotation with several constraints.
    pub has_constraint_list: bool,
    /// Pod sets of one group are placed together.
    pub group: Option<String>,
    /// Replicas of the replicatedJob.
    pub sub_groups: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceRequest {
    pub topology: String,
    pub size: u32,
}

/// Reasons for which the annotations cannot be read. Kueue then creates no Workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyRequestError {
    Unconstrained { value: String },
    SliceSize { value: String },
    Constraints { value: String },
}

impl TopologyRequest {
    /// Reads the annotations of a pod template.
    pub fn read(
        annotations: &BTreeMap<String, String>, replicas: u32,
    ) -> Result<TopologyRequest, TopologyRequestError> {
        let get = |key: &str| annotations.get(key).cloned();
        let mut request = TopologyRequest { sub_groups: replicas, ..TopologyRequest::default() };
        if let Some(required) = get(annotations::REQUIRED) {
            request.required = Some(required);
        } else if let Some(preferred) = get(annotations::PREFERRED) {
            request.preferred = Some(preferred);
        } else if let Some(value) = get(annotations::UNCONSTRAINED) {
            request.unconstrained = match parse_bool(&value) {
                Some(value) => Some(value),
                None => return Err(TopologyRequestError::Unconstrained { value }),
            };
        }
        if let Some(value) = get(annotations::SLICE_CONSTRAINTS) {
            request.slices = read_constraints(&value).ok_or(TopologyRequestError::Constraints { value })?;
            request.has_constraint_list = true;
        } else if let (Some(topology), Some(value)) = (get(annotations::SLICE_REQUIRED), get(annotations::SLICE_SIZE)) {
            let size = value.parse::<i32>().ok().and_then(|size| u32::try_from(size).ok());
            let size = size.ok_or(TopologyRequestError::SliceSize { value })?;
            request.slices = vec![SliceRequest { topology, size }];
        }
        request.group = get(annotations::GROUP).filter(|_| request.required.is_some() || request.preferred.is_some());
        Ok(request)
    }

    /// Returns whether any annotation asks for a placement by topology.
    pub fn is_explicit(&self) -> bool {
        self.unconstrained.is_some() || self.required.is_some() || self.preferred.is_some() || !self.slices.is_empty()
    }
}

/// Parses a boolean like Go's `strconv.ParseBool`.
fn parse_bool(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

fn read_constraints(text: &str) -> Option<Vec<SliceRequest>> {
    let list: serde_json::Value = serde_json::from_str(text).ok()?;
    let read = |entry: &serde_json::Value| {
        let topology = entry["topology"].as_str()?.to_owned();
        Some(SliceRequest { topology, size: u32::try_from(entry["size"].as_u64()?).ok()? })
    };
    let all: Vec<SliceRequest> = list.as_array()?.iter().map(read).collect::<Option<_>>()?;
    (1..=3).contains(&all.len()).then_some(all)
}
