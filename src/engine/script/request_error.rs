//! Error responses of the API server to requests of the script, and requests that the model does not support.

use super::patch_error::{JobPatchError, PodPatchError, StatusPatchError};
use sim_api::admission::AdmissionRejection;
use sim_api::spec::ObjectKind;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptRequestError {
    NotFound {
        kind: ObjectKind,
        name: String,
    },
    AlreadyExists {
        kind: ObjectKind,
        name: String,
    },
    /// A patch names another resourceVersion.
    Conflict {
        kind: ObjectKind,
        name: String,
    },
    UidImmutable {
        kind: ObjectKind,
        name: String,
        uid: String,
    },
    /// The name belongs to a JobSet that is being deleted.
    JobSetBeingDeleted {
        name: String,
    },
    WebhookUnavailable {
        webhook: &'static str,
    },
    Rejected(AdmissionRejection),
    /// The object cannot be converted to the types of the model.
    CannotDecode {
        reason: String,
    },
    UnsupportedKind {
        kind: String,
    },
    NodeOfPodMissing {
        pod: String,
        node: String,
    },
    /// Finalizers were added to an object that is being deleted.
    NewFinalizers {
        names: Vec<String>,
    },
    /// The scenario contains the JobSet without its object.
    ObjectMissing,
    ReplicatedJobsImmutable,
    JobPatch(JobPatchError),
    PodPatch(PodPatchError),
    StatusPatch(StatusPatchError),
}

impl ScriptRequestError {
    pub(super) fn cannot_decode(error: impl fmt::Display) -> ScriptRequestError {
        let reason = error.to_string();
        ScriptRequestError::CannotDecode { reason }
    }
}

/// Returns the resource name of a kind, as used in Kubernetes messages.
fn resource_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::JobSet => "jobsets.jobset.x-k8s.io",
        ObjectKind::Job => "jobs.batch",
        ObjectKind::Pod => "pods",
        ObjectKind::Node => "nodes",
        ObjectKind::Service => "services",
        ObjectKind::PersistentVolumeClaim => "persistentvolumeclaims",
        ObjectKind::PersistentVolume => "persistentvolumes",
        ObjectKind::StorageClass => "storageclasses.storage.k8s.io",
        ObjectKind::PriorityClass => "priorityclasses.scheduling.k8s.io",
        ObjectKind::PodDisruptionBudget => "poddisruptionbudgets.policy",
        ObjectKind::Namespace => "namespaces",
        ObjectKind::PodGroup => "podgroups.scheduling.k8s.io",
        ObjectKind::Lease => "leases.coordination.k8s.io",
        ObjectKind::Other => "objects",
    }
}

impl fmt::Display for ScriptRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptRequestError::NotFound { kind: ObjectKind::Pod, .. } => f.write_str("no such pod"),
            ScriptRequestError::NotFound { kind, name } => {
                write!(f, "{} {name:?} not found", resource_name(*kind))
            }
            ScriptRequestError::AlreadyExists { kind, name } => {
                write!(f, "{} {name:?} already exists", resource_name(*kind))
            }
            ScriptRequestError::Conflict { kind, name } => {
                let resource = resource_name(*kind);
                write!(
                    f,
                    "Operation cannot be fulfilled on {resource} {name:?}: the object has been modified; please apply \
                     your changes to the latest version and try again"
                )
            }
            ScriptRequestError::UidImmutable { kind, name, uid } => {
                let kind = if *kind == ObjectKind::JobSet { "JobSet.jobset.x-k8s.io" } else { kind.as_str() };
                write!(f, "{kind} {name:?} is invalid: metadata.uid: Invalid value: {uid:?}: field is immutable")
            }
            ScriptRequestError::JobSetBeingDeleted { name } => {
                let resource = resource_name(ObjectKind::JobSet);
                write!(f, "object is being deleted: {resource} {name:?} already exists")
            }
            ScriptRequestError::WebhookUnavailable { webhook } => {
                write!(f, "Internal error occurred: failed calling webhook \"{webhook}\"")
            }
            ScriptRequestError::Rejected(rejection) => f.write_str(&rejection.message),
            ScriptRequestError::CannotDecode { reason } => f.write_str(reason),
            ScriptRequestError::UnsupportedKind { kind } => {
                write!(f, "kind {kind} has no effect in the simulation")
            }
            ScriptRequestError::NodeOfPodMissing { pod, node } => {
                write!(f, "pod {pod:?} is bound to no Node: {node:?}")
            }
            ScriptRequestError::NewFinalizers { names } => {
                let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
                write!(
                    f,
                    "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, \
                     found new finalizers []string{{{}}}",
                    names.join(", ")
                )
            }
            ScriptRequestError::ObjectMissing => f.write_str("the JobSet was given without its object"),
            ScriptRequestError::ReplicatedJobsImmutable => f.write_str("spec.replicatedJobs: field is immutable"),
            ScriptRequestError::JobPatch(error) => error.fmt(f),
            ScriptRequestError::PodPatch(error) => error.fmt(f),
            ScriptRequestError::StatusPatch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ScriptRequestError {}

impl From<AdmissionRejection> for ScriptRequestError {
    fn from(rejection: AdmissionRejection) -> ScriptRequestError {
        ScriptRequestError::Rejected(rejection)
    }
}

impl From<JobPatchError> for ScriptRequestError {
    fn from(error: JobPatchError) -> ScriptRequestError {
        ScriptRequestError::JobPatch(error)
    }
}

impl From<PodPatchError> for ScriptRequestError {
    fn from(error: PodPatchError) -> ScriptRequestError {
        ScriptRequestError::PodPatch(error)
    }
}

impl From<StatusPatchError> for ScriptRequestError {
    fn from(error: StatusPatchError) -> ScriptRequestError {
        ScriptRequestError::StatusPatch(error)
    }
}
