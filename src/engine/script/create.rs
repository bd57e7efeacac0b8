//! POST requests of the script for all kinds of objects that have an effect; other kinds are rejected by name.

use super::request_error::ScriptRequestError;
use super::state::ScriptRunner;
use super::webhooks::{CREATE_WEBHOOK, admission_gates, admit_to_kueue, check_webhook_available};
use crate::apiserver::{NewPod, ObjectOwner};
use crate::record::{JobName, JobSetName};
use crate::{apiserver, ctx::EngineContext};
use serde_json::Value;
use sim_api::admission::{self, AdmissionRejection};
use sim_api::objects::{ObjectContext, admit_priority};
use sim_api::spec::{BY_SCRIPT, ObjectDecodeError, ObjectKind, PodObject};
use sim_base::{DomainId, JobSetId};
use std::sync::Arc;

impl ScriptRunner {
    /// `announced` is the row of a JobSet declared by the scenario.
    pub(super) fn create(
        &mut self, ctx: &mut EngineContext<'_>, object: &Value, announced: Option<JobSetId>,
    ) -> Result<(), ScriptRequestError> {
        let kind = object["kind"].as_str().unwrap_or("");
        let read = &ctx.scenario.decoders;
        check_namespace_exists(ctx, object)?;
        match kind {
            "JobSet" => self.create_jobset(ctx, object, announced),
            "Job" => {
                let job = (read.job)(object).map_err(ScriptRequestError::cannot_decode)?;
                let name = job.name.clone();
                match apiserver::create_foreign_job(ctx, job, object) {
                    Some(_) => Ok(()),
                    None => Err(already_exists(ObjectKind::Job, &name)),
                }
            }
            "Pod" => {
                let pod = (read.pod)(object).map_err(ScriptRequestError::cannot_decode)?;
                let owner = apiserver::owner_of(ctx, object);
                if matches!(owner, ObjectOwner::JobSet(_) | ObjectOwner::Other) {
                    return Err(ScriptRequestError::cannot_decode(ObjectDecodeError::OwnerReferences));
                }
                create_pod(ctx, pod, object, owner == ObjectOwner::Missing)
            }
            "Node" => {
                let node = (read.node)(object).map_err(ScriptRequestError::cannot_decode)?;
                if apiserver::create_node(ctx, &node) {
                    Ok(())
                } else {
                    Err(already_exists(ObjectKind::Node, &node.name))
                }
            }
            _ => {
                let kind = document_kind(kind)?;
                check_default_class(ctx, kind, object)?;
                let name = object["metadata"]["name"].as_str().unwrap_or("");
                let namespace = object_namespace(kind, object);
                let at = (namespace, name);
                let owner = match apiserver::owner_of(ctx, object) {
                    ObjectOwner::JobSet(jobset) => jobset,
                    _ => JobSetId::NONE,
                };
                if apiserver::create_other(ctx, kind, at, object.clone(), owner) {
                    Ok(())
                } else {
                    Err(already_exists(kind, name))
                }
            }
        }
    }

    /// Adds a Node that was ready long before the run.
    pub(super) fn add_node(&mut self, ctx: &mut EngineContext<'_>, object: &Value) -> Result<(), ScriptRequestError> {
        let node = (ctx.scenario.decoders.node)(object);
        let node = node.map_err(ScriptRequestError::cannot_decode)?;
        if apiserver::add_node(ctx, &node) { Ok(()) } else { Err(already_exists(ObjectKind::Node, &node.name)) }
    }

    fn create_jobset(
        &mut self, ctx: &mut EngineContext<'_>, object: &Value, announced: Option<JobSetId>,
    ) -> Result<(), ScriptRequestError> {
        let new = match announced {
            Some(id) => ctx.store.names.jobsets[id.ix()].clone(),
            None => JobSetName {
                namespace: object["metadata"]["namespace"].as_str().unwrap_or("default").to_owned(),
                name: object["metadata"]["name"].as_str().unwrap_or("").to_owned(),
            },
        };
        check_webhook_available(ctx, CREATE_WEBHOOK)?;
        check_jobset_absent(ctx, &new)?;
        let manifest = match announced {
            Some(id) => self.manifests[id.ix()].clone(),
            None => {
                let jobset = (ctx.scenario.decoders.jobset)(object);
                Arc::new(jobset.map_err(ScriptRequestError::cannot_decode)?)
            }
        };
        if let Some(object) = &manifest.object {
            let claims: Vec<Value> = existing_claims(ctx, &manifest.namespace);
            let request = admission::CreateRequest {
                object,
                namespace: &manifest.namespace,
                gates: admission_gates(ctx),
                existing_claims: &claims,
            };
            admission::create(&request)?;
        }
        let manifest = admit_to_kueue(ctx, manifest)?;
        match announced.filter(|id| !ctx.store.jobsets[id.ix()].created) {
            Some(id) => apiserver::create_jobset(ctx, id, manifest),
            None => drop(apiserver::create_new_jobset(ctx, manifest)),
        }
        Ok(())
    }
}

/// The admission plugin Priority accepts one default PriorityClass.
fn check_default_class(ctx: &EngineContext<'_>, kind: ObjectKind, object: &Value) -> Result<(), ScriptRequestError> {
    let is_default = |object: &Value| object["globalDefault"] == true;
    let is_concerned = kind == ObjectKind::PriorityClass && is_default(object);
    let mut classes = ctx.store.others.objects_of_kind(kind).filter(|_| is_concerned);
    let Some((_, known, _)) = classes.find(|(_, _, class)| is_default(&class.object)) else { return Ok(()) };
    let name = object["metadata"]["name"].as_str().unwrap_or("");
    let message = format!(
        "priorityclasses.scheduling.k8s.io {name:?} is forbidden: PriorityClass {known} is already marked as default. Only \
         one default can exist"
    );
    Err(ScriptRequestError::Rejected(AdmissionRejection::new(403, "Forbidden", message)))
}

fn already_exists(kind: ObjectKind, name: &str) -> ScriptRequestError {
    let name = name.to_owned();
    ScriptRequestError::AlreadyExists { kind, name }
}

/// Namespaces that exist in every cluster.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The admission plugin NamespaceLifecycle, which precedes webhooks. The namespaces of objects in the scenario are
/// assumed to exist.
fn check_namespace_exists(ctx: &EngineContext<'_>, object: &Value) -> Result<(), ScriptRequestError> {
    let kind = ObjectKind::from_kind(object["kind"].as_str().unwrap_or(""));
    let name = object["metadata"]["namespace"].as_str().unwrap_or("default");
    let stored = ctx.store.others.get(ObjectKind::Namespace, "", name);
    if !kind.is_namespaced() || NAMESPACES.contains(&name) || stored.is_some() {
        return Ok(());
    }
    let mut objects = ctx.scenario.objects.iter();
    let mut jobsets = ctx.scenario.jobsets.iter();
    let known = objects.any(|o| o["metadata"]["namespace"] == name)
        || jobsets.any(|s| s.submit_at != BY_SCRIPT && s.jobset.namespace == name);
    if known {
        Ok(())
    } else {
        Err(ScriptRequestError::NotFound { kind: ObjectKind::Namespace, name: name.to_owned() })
    }
}

/// The API server's error for a second JobSet of a namespace with the same name.
pub(super) fn check_jobset_absent(ctx: &EngineContext<'_>, new: &JobSetName) -> Result<(), ScriptRequestError> {
    let Some(old) = ctx.store.jobset_in(&new.namespace, &new.name) else {
        return Ok(());
    };
    let name = &new.name;
    Err(if ctx.store.jobsets[old.ix()].is_deleting() {
        let name = name.to_owned();
        ScriptRequestError::JobSetBeingDeleted { name }
    } else {
        already_exists(ObjectKind::JobSet, name)
    })
}

fn existing_claims(ctx: &EngineContext<'_>, namespace: &str) -> Vec<Value> {
    let all = ctx.store.others.objects_of_kind(ObjectKind::PersistentVolumeClaim);
    let own = all.filter(|(n, _, _)| *n == namespace);
    own.map(|(_, _, other)| other.object.clone()).collect()
}

/// Adds a pod without a Job, in its own row without a Job object.
fn create_pod(
    ctx: &mut EngineContext<'_>, mut pod: PodObject, object: &Value, owner_missing: bool,
) -> Result<(), ScriptRequestError> {
    let object = &with_priority(ctx, object)?;
    pod.template.spec.priority = object["spec"]["priority"].as_i64().and_then(|p| i32::try_from(p).ok()).unwrap_or(0);
    let node = pod.template.spec.node_name.as_ref();
    if let Some(name) = node.filter(|name| ctx.store.nodes.find_by_name(name).is_none()) {
        return Err(ScriptRequestError::NodeOfPodMissing { node: name.clone(), pod: pod.name });
    }
    let held = !pod.template.finalizers.is_empty();
    let name = JobName {
        jobset: JobSetId::NONE,
        namespace: pod.namespace.clone(),
        name: pod.name.clone(),
        replicated_job: String::new(),
        job_index: 0,
        standalone_pod: true,
        without_index: false,
    };
    let job = ctx.store.row_for_name(name);
    if !ctx.store.jobs[job.ix()].pods.is_empty() {
        return Err(already_exists(ObjectKind::Pod, &pod.name));
    }
    let template = apiserver::add_template(ctx, job, pod.template);
    apiserver::keep_bare_pod(ctx, job, object, owner_missing);
    apiserver::create_pod(
        ctx,
        NewPod { job, index: 0, template, domain: DomainId::NONE, failures: (0, 0), tracked: false, held },
    );
    Ok(())
}

/// Returns a pod with the priority that the admission plugin Priority sets, by the classes that exist now.
fn with_priority(ctx: &EngineContext<'_>, object: &Value) -> Result<Value, AdmissionRejection> {
    let (priority_classes, _) = apiserver::known_classes(ctx, &object["spec"]);
    let around = ObjectContext { priority_classes: &priority_classes, ..ObjectContext::default() };
    let mut stored = object.clone();
    let name = object["metadata"]["name"].as_str().unwrap_or("");
    admit_priority(&mut stored["spec"], name, &around)?;
    Ok(stored)
}

/// Kinds whose objects are stored as documents, because something in the model depends on them.
fn document_kind(kind: &str) -> Result<ObjectKind, ScriptRequestError> {
    Ok(match kind {
        "Service" => ObjectKind::Service,
        "PersistentVolumeClaim" => ObjectKind::PersistentVolumeClaim,
        "PersistentVolume" => ObjectKind::PersistentVolume,
        "StorageClass" => ObjectKind::StorageClass,
        "PriorityClass" => ObjectKind::PriorityClass,
        "PodDisruptionBudget" => ObjectKind::PodDisruptionBudget,
        "Namespace" => ObjectKind::Namespace,
        "PodGroup" => ObjectKind::PodGroup,
        _ => {
            let kind = kind.to_owned();
            return Err(ScriptRequestError::UnsupportedKind { kind });
        }
    })
}

fn object_namespace(kind: ObjectKind, object: &Value) -> &str {
    match kind {
        kind if !kind.is_namespaced() => "",
        _ => object["metadata"]["namespace"].as_str().unwrap_or("default"),
    }
}
