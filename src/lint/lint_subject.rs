//! Input of a check: the typed JobSet, its syntax tree, and the other objects of the manifests.

use serde_json::Value;
use sim_api::admission::AdmissionRejection;
use sim_api::spec::{FeatureGates, JobSet, JobSpec, KubeVersion, PodSpec, ReplicatedJob};
use sim_inputs::kube::inspect::InspectedObject;
use sim_inputs::text::diagnostic::SourceText;
use sim_inputs::text::node::{SourcePosition, YamlNode};

/// Cluster version and feature gates that the manifest is checked for.
#[derive(Copy, Clone, Debug)]
pub struct NodeTarget {
    pub kubernetes: KubeVersion,
    pub gates: FeatureGates,
}

/// A JobSet under check.
pub struct LintSubject<'a> {
    pub jobset: &'a JobSet,
    pub node: &'a YamlNode,
    pub source: &'a SourceText,
    /// All objects of the manifests, including JobSets.
    pub objects: &'a [&'a InspectedObject],
    pub target: NodeTarget,
    /// For each replicatedJob, the reason why the API server would reject its Jobs.
    pub refused: Vec<Option<AdmissionRejection>>,
}

/// An update: a JobSet and the stored JobSet that it replaces.
pub struct TextChange<'a> {
    pub old: &'a LintSubject<'a>,
    pub new: &'a LintSubject<'a>,
    /// The stored object before the update.
    pub before: &'a Value,
    pub after: &'a Value,
    /// Reason why the new object could not be created, if creation would be rejected.
    pub creation_refused: Option<&'a AdmissionRejection>,
}

/// A replicatedJob with its syntax nodes. A node of a missing field is the node of its nearest ancestor.
#[derive(Copy, Clone)]
pub struct ReplicatedJobText<'a> {
    pub index: usize,
    pub spec: &'a ReplicatedJob,
    pub node: &'a YamlNode,
    /// Node of `template.spec`.
    pub job: &'a YamlNode,
    /// Node of `template.spec.template.spec`.
    pub pod: &'a YamlNode,
}

impl ReplicatedJobText<'_> {
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    pub fn template(&self) -> &JobSpec {
        &self.spec.template
    }

    pub fn pod_spec(&self) -> &PodSpec {
        &self.spec.template.template.spec
    }

    pub fn pods(&self) -> u64 {
        u64::from(self.spec.replicas) * u64::from(self.spec.template.pods())
    }

    /// Returns the position of a field of the Job spec, or the position of the Job spec if the field is missing.
    pub fn job_at(&self, key: &str) -> SourcePosition {
        place(self.job, key)
    }

    pub fn pod_at(&self, key: &str) -> SourcePosition {
        place(self.pod, key)
    }

    pub fn at(&self, key: &str) -> SourcePosition {
        place(self.node, key)
    }

    /// Returns the nodes of the init containers and containers.
    pub fn containers(&self) -> impl Iterator<Item = &YamlNode> {
        ["initContainers", "containers"].into_iter().flat_map(|key| self.pod.get(key).map_or(&[][..], YamlNode::items))
    }
}

impl<'a> LintSubject<'a> {
    pub fn rjs(&self) -> Vec<ReplicatedJobText<'a>> {
        let nodes = list(self.spec_node(), "replicatedJobs");
        let of = |(index, (spec, node)): (usize, (&'a ReplicatedJob, &'a YamlNode))| {
            let job = node.at_path(&["template", "spec"]).unwrap_or(node);
            let pod = job.at_path(&["template", "spec"]).unwrap_or(job);
            ReplicatedJobText { index, spec, node, job, pod }
        };
        let specs = &self.jobset.spec.replicated_jobs;
        specs.iter().zip(nodes).enumerate().map(of).collect()
    }

    pub fn rj(&self, name: &str) -> Option<ReplicatedJobText<'a>> {
        self.rjs().into_iter().find(|rj| rj.spec.name == name)
    }

    pub fn spec_node(&self) -> &'a YamlNode {
        self.node.get("spec").unwrap_or(self.node)
    }

    pub fn at_path(&self, keys: &[&str]) -> Option<&'a YamlNode> {
        self.spec_node().at_path(keys)
    }

    /// Returns the position of a field of `spec`, or of its nearest existing ancestor.
    pub fn at(&self, keys: &[&str]) -> SourcePosition {
        let mut node = self.spec_node();
        for key in keys {
            match node.get(key) {
                Some(next) => node = next,
                None => break,
            }
        }
        match self.at_path(keys) {
            Some(_) => key_at(self.spec_node(), keys).unwrap_or(node.at),
            None => node.at,
        }
    }

    /// Returns the position of `metadata.<key>`.
    pub fn metadata_at(&self, key: &str) -> SourcePosition {
        match self.node.get("metadata") {
            Some(metadata) => place(metadata, key),
            None => self.node.at,
        }
    }

    /// Returns the position of an annotation of the JobSet.
    pub fn annotation_at(&self, key: &str) -> SourcePosition {
        annotation_at(self.node, key).unwrap_or(self.node.at)
    }

    pub fn label(&self, key: &str) -> Option<&str> {
        self.jobset.labels.get(key).map(String::as_str)
    }

    /// Returns the name of the headless Service (SVC-1).
    pub fn subdomain(&self) -> &str {
        match self.jobset.spec.network.subdomain.as_str() {
            "" => &self.jobset.name,
            subdomain => subdomain,
        }
    }

    /// Returns the topology key if the pod webhook places the pods of this replicatedJob (EXC-2, strategy A).
    pub fn webhook_key(&self, rj: &ReplicatedJobText<'a>) -> Option<&'a str> {
        self.jobset.webhook_key(rj.spec)
    }
}

/// Returns the position of `metadata.annotations.<key>` of an object.
pub fn annotation_at(object: &YamlNode, key: &str) -> Option<SourcePosition> {
    let annotations = object.at_path(&["metadata", "annotations"])?;
    let entries = annotations.entries();
    entries.iter().find(|(k, _)| k.name == key).map(|e| e.0.at)
}

fn key_at(node: &YamlNode, keys: &[&str]) -> Option<SourcePosition> {
    let (last, parents) = keys.split_last()?;
    let parent = node.at_path(parents)?;
    let entry = parent.entries().iter().find(|(k, _)| k.name == *last)?;
    Some(entry.0.at)
}

/// Returns the position of a key, or of its parent node if the key is missing.
pub fn place(node: &YamlNode, key: &str) -> SourcePosition {
    key_at(node, &[key]).unwrap_or(node.at)
}

pub fn list<'n>(node: &'n YamlNode, key: &str) -> &'n [YamlNode] {
    node.get(key).map_or(&[], YamlNode::items)
}

pub fn int(node: &YamlNode, key: &str) -> Option<i64> {
    node.get(key).and_then(YamlNode::as_int)
}

pub fn text<'n>(node: &'n YamlNode, key: &str) -> Option<&'n str> {
    node.get(key).and_then(YamlNode::as_str)
}

/// Returns the position of an annotation of the Job template, or else of the pod template.
pub fn template_annotation_at(rj: &ReplicatedJobText, key: &str) -> Option<sim_inputs::text::node::SourcePosition> {
    let job = rj.node.get("template").and_then(|t| annotation_at(t, key));
    job.or_else(|| rj.job.get("template").and_then(|t| annotation_at(t, key)))
}
