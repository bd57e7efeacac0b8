//! Requests of a user to the API server: patch, create, delete and show objects, each with the server's answer.
//!
//! Must never touch what the request does not name; controllers react when their caches show the change.

use super::jobs::JobCondition;
use super::lifecycle::UNSCHEDULABLE;
use super::pods::{BAD_ATTEMPT, NO_ATTEMPT, flag};
use super::run::Run;
use crate::admission::{self, Gates};
use crate::base::*;
use crate::record::{Body, Deleter, JobConditionType};
use crate::spec::*;
use serde_json::Value;
use std::sync::Arc;

/// The annotation that in-place agents write (AG-2).
const ATTEMPT: &str = "jobset.sigs.k8s.io/in-place-restart-attempt";

/// What the object of a request is in the tables.
#[derive(Copy, Clone)]
enum Found {
    JobSet(JobSetId),
    Job(JobId),
    Pod(PodId),
    Node(NodeId),
    /// The headless Service of a JobSet.
    Service(JobSetId),
}

impl Run<'_> {
    pub fn user_request(&mut self, index: u32, request: &UserRequest) {
        self.emit(Body::Fault {
            index,
            node: NodeId::NONE,
            pod: PodId::NONE,
        });
        let answer = match self.answer(request) {
            Ok(shown) => shown,
            Err(refusal) => refusal,
        };
        let answer = self.w.texts.intern(&answer);
        self.emit(Body::Answered { index, answer });
    }

    fn answer(&mut self, request: &UserRequest) -> Result<String, String> {
        let name = &request.object;
        if let Verb::Create { jobset } = &request.verb {
            if let Some(position) = jobset {
                return self.create_jobset(JobSetId(*position));
            }
            return Ok(String::new());
        }
        let object = self.find(name).ok_or_else(|| not_found(name))?;
        match &request.verb {
            Verb::Patch { body, status } => self.patch(object, body, *status),
            Verb::Delete {
                propagation,
                grace_s,
            } => {
                self.delete(object, *propagation, *grace_s);
                Ok(())
            }
            Verb::Show { fields } => return Ok(self.shown(object, fields)),
            Verb::Create { .. } => Ok(()),
        }
        .map(|()| String::new())
    }

    fn find(&self, object: &ObjectName) -> Option<Found> {
        let name = object.name.as_str();
        match object.kind {
            ObjectKind::JobSet => self.stored_jobset(name).map(Found::JobSet),
            ObjectKind::Job => {
                let jobs = self.m.names.jobs.iter().enumerate();
                let mut named = jobs.filter(|(_, j)| j.name == name);
                let at = named.find(|(i, _)| self.w.jobs[*i].exists)?.0;
                Some(Found::Job(JobId(at as u32)))
            }
            ObjectKind::Pod => self.pod_by_name(name).map(Found::Pod),
            ObjectKind::Node => {
                let at = self.m.names.nodes.iter().position(|n| n == name)?;
                let there = self.w.nodes.state[at].exists;
                there.then_some(Found::Node(NodeId(at as u32)))
            }
            ObjectKind::Service => self.m.jobsets.iter().enumerate().find_map(|(i, m)| {
                let js = &self.w.jobsets[i];
                let subdomain = &m.spec.spec.network.subdomain;
                let service = if subdomain.is_empty() {
                    &m.spec.name
                } else {
                    subdomain
                };
                (js.service_exists && service == name).then_some(Found::Service(JobSetId(i as u32)))
            }),
            ObjectKind::PersistentVolumeClaim | ObjectKind::Other => None,
        }
    }

    /// The JobSet object of that name, if one is stored now.
    pub fn stored_jobset(&self, name: &str) -> Option<JobSetId> {
        let at = self.m.names.jobsets.iter().enumerate().position(|(i, j)| {
            let js = &self.w.jobsets[i];
            j.name == name && js.submitted && !js.deleted
        })?;
        Some(JobSetId(at as u32))
    }

    pub fn no_such_jobset(&mut self, index: u32, name: &str) {
        let answer = format!("jobsets.jobset.x-k8s.io {name:?} not found");
        let answer = self.w.texts.intern(&answer);
        self.emit(Body::Answered { index, answer });
    }

    fn create_jobset(&mut self, jobset: JobSetId) -> Result<String, String> {
        let name = self.m.names.jobsets[jobset.ix()].name.clone();
        if let Some(old) = self.stored_jobset(&name) {
            let being_deleted = self.w.jobsets[old.ix()].deleting;
            let exists = format!("jobsets.jobset.x-k8s.io {name:?} already exists");
            return Err(if being_deleted {
                format!("object is being deleted: {exists}")
            } else {
                exists
            });
        }
        if let Some(object) = &self.m.jobsets[jobset.ix()].spec.object {
            let request = admission::Create {
                object,
                namespace: &self.m.names.jobsets[jobset.ix()].namespace,
                gates: self.admission_gates(),
                existing_claims: &[],
            };
            admission::create(&request).map_err(|r| r.message)?;
        }
        self.submit(jobset);
        Ok(String::new())
    }

    pub fn admission_gates(&self) -> Gates {
        let gates = self.w.gates;
        Gates {
            in_place_restart: gates.in_place_restart,
            restart_job: gates.restart_job,
            elastic_job_set: gates.elastic_jobset,
        }
    }

    fn patch(&mut self, object: Found, body: &Value, status: bool) -> Result<(), String> {
        match object {
            Found::JobSet(jobset) if status => {
                self.patch_jobset_status(jobset, &body["status"]);
                Ok(())
            }
            Found::JobSet(jobset) => self.patch_jobset(jobset, body),
            Found::Job(job) => {
                self.patch_job(job, body);
                Ok(())
            }
            Found::Pod(pod) => {
                self.patch_pod(pod, body);
                Ok(())
            }
            Found::Node(node) => {
                self.patch_node(node, body);
                Ok(())
            }
            Found::Service(_) => Ok(()),
        }
    }

    /// A merge patch of a JobSet through the update webhook (UPD-1…UPD-7, ELA-1).
    pub fn patch_jobset(&mut self, jobset: JobSetId, body: &Value) -> Result<(), String> {
        let js = &self.w.jobsets[jobset.ix()];
        let Some(stored) = js.spec.object.clone() else {
            return Err("the JobSet was given without its object".to_owned());
        };
        let mut old = (*stored).clone();
        old["status"] = self.jobset_status_json(jobset);
        let mut new = old.clone();
        admission::merge_patch(&mut new, body);
        let mut accepted =
            admission::update(&old, &new, self.admission_gates()).map_err(|r| r.message)?;
        if let Some(fields) = accepted.as_object_mut() {
            fields.remove("status");
        }
        let spec = (self.m.scenario.decode)(&accepted)?;
        let slots = |s: &JobSet| -> Vec<(String, u32)> {
            let rjs = s.spec.replicated_jobs.iter();
            rjs.map(|r| (r.name.clone(), r.replicas)).collect()
        };
        // UPD-1: admission has refused this already; the tables depend on it.
        if slots(&spec) != slots(&self.w.jobsets[jobset.ix()].spec) {
            return Err("spec.replicatedJobs: field is immutable".to_owned());
        }
        let js = &mut self.w.jobsets[jobset.ix()];
        js.suspended = spec.spec.suspend;
        js.spec = Arc::new(spec);
        js.spec_version += 1;
        js.resource_version += 1;
        self.jobset_changed(jobset);
        if self.w.jobsets[jobset.ix()].deleting {
            self.jobset_may_be_gone(jobset);
        }
        Ok(())
    }

    /// Counters written by somebody else (C-37).
    fn patch_jobset_status(&mut self, jobset: JobSetId, status: &Value) {
        let js = &mut self.w.jobsets[jobset.ix()];
        let number = |key: &str| status[key].as_u64().and_then(|n| u32::try_from(n).ok());
        if let Some(n) = number("restarts") {
            js.status.restarts = n;
        }
        if let Some(n) = number("restartsCountTowardsMax") {
            js.status.restarts_count_towards_max = n;
        }
        if let Some(n) = number("currentInPlaceRestartAttempt") {
            js.status.current_in_place_restart_attempt = Some(n);
        }
        if let Some(n) = number("previousInPlaceRestartAttempt") {
            js.status.previous_in_place_restart_attempt = Some(n);
        }
        js.resource_version += 1;
        let (restarts, counted) = (js.status.restarts, js.status.restarts_count_towards_max);
        self.emit(Body::RestartCounted {
            jobset,
            restarts,
            counted,
            failed_job: JobId::NONE,
        });
        self.jobset_changed(jobset);
    }

    fn patch_job(&mut self, job: JobId, body: &Value) {
        if let Some(labels) = body["metadata"]["labels"].as_object() {
            for (key, value) in labels {
                let labels = &mut self.w.jobs[job.ix()].relabelled;
                labels.retain(|(k, _)| k != key);
                labels.push((key.clone(), value.as_str().map(str::to_owned)));
            }
        }
        if let Some(finalizers) = body["metadata"].get("finalizers") {
            let held = finalizers.as_array().is_some_and(|f| !f.is_empty());
            self.w.jobs[job.ix()].held = held;
            if !held && self.w.jobs[job.ix()].collected {
                return self.job_gone(job);
            }
        }
        let spec = &body["spec"];
        if let Some(suspend) = spec["suspend"].as_bool() {
            self.w.jobs[job.ix()].suspended = suspend;
        }
        if spec.get("parallelism").is_some() || spec.get("completions").is_some() {
            let mut changed = self.job_spec(job).clone();
            let number = |key: &str| spec[key].as_u64().and_then(|n| u32::try_from(n).ok());
            changed.parallelism = number("parallelism").or(changed.parallelism);
            changed.completions = number("completions").or(changed.completions);
            self.w.jobs[job.ix()].spec = Some(Arc::new(changed));
            self.recount(job);
        }
        if let Some(conditions) = body["status"]["conditions"].as_array() {
            self.force_job_conditions(job, conditions);
        }
        self.enqueue_job(job, Duration::ZERO);
        self.job_changed(job);
    }

    fn patch_pod(&mut self, pod: PodId, body: &Value) {
        if let Some(value) = body["metadata"]["annotations"].get(ATTEMPT) {
            let text = value.as_str().unwrap_or("");
            let attempt = match text.parse::<u32>() {
                _ if value.is_null() => NO_ATTEMPT,
                Ok(n) if n < BAD_ATTEMPT => n,
                _ => BAD_ATTEMPT,
            };
            let jobset = self.jobset_of(pod);
            let old = std::mem::replace(&mut self.w.pods.attempt[pod.ix()], attempt);
            let some = |n: u32| (n != NO_ATTEMPT).then_some(n);
            self.w.jobsets[jobset.ix()].attempt_changed(some(old), some(attempt));
        }
        if let Some(finalizers) = body["metadata"].get("finalizers") {
            if finalizers.as_array().is_some_and(|f| !f.is_empty()) {
                self.w.pods.set(pod, flag::HELD);
            } else {
                self.w.pods.clear(pod, flag::HELD);
            }
        }
        self.w.pods.resource_version[pod.ix()] += 1;
        self.pod_changed(pod);
        self.remove_if_free(pod);
    }

    fn patch_node(&mut self, node: NodeId, body: &Value) {
        match body["spec"]["unschedulable"].as_bool() {
            Some(true) => self.cordon(node),
            Some(false) => {
                self.w.nodes.state[node.ix()].cordoned = false;
                self.remove_taint(node, UNSCHEDULABLE, None);
            }
            None => {}
        }
    }

    fn shown(&self, object: Found, fields: &[String]) -> String {
        let object = match object {
            Found::JobSet(jobset) => self.jobset_json(jobset),
            Found::Job(job) => self.job_json(job),
            Found::Pod(pod) => self.pod_json(pod),
            Found::Service(jobset) => self.service_json(jobset),
            Found::Node(_) => Value::Null,
        };
        self.fields_of(&object, fields)
    }

    /// Conditions written by somebody else than the Job controller, as upstream's tests do.
    fn force_job_conditions(&mut self, job: JobId, conditions: &[Value]) {
        for condition in conditions {
            let text = |key: &str| condition[key].as_str().unwrap_or("").to_owned();
            let kinds = [
                JobConditionType::FailureTarget,
                JobConditionType::SuccessCriteriaMet,
                JobConditionType::Failed,
                JobConditionType::Complete,
                JobConditionType::Suspended,
            ];
            let Some(kind) = kinds.into_iter().find(|k| k.as_str() == text("type")) else {
                continue;
            };
            let (reason, message) = (text("reason"), text("message"));
            let new = JobCondition {
                kind,
                status: text("status") == "True",
                reason: reason.clone().into(),
                message: message.clone(),
                at: self.w.now,
            };
            let stored = &mut self.w.jobs[job.ix()].status.conditions;
            stored.retain(|c| c.kind != kind);
            let status = new.status;
            stored.push(new);
            let (reason, message) = (self.w.texts.intern(&reason), self.w.texts.intern(&message));
            self.emit(Body::JobCondition {
                job,
                kind,
                status,
                reason,
                message,
            });
        }
    }

    fn delete(&mut self, object: Found, propagation: Propagation, grace_s: Option<u32>) {
        match object {
            Found::JobSet(jobset) => match propagation {
                Propagation::Foreground => self.delete_jobset(jobset),
                _ => self.remove_jobset(jobset, propagation == Propagation::Orphan),
            },
            Found::Job(job) => match propagation {
                Propagation::Foreground => self.job_deleting(job),
                _ => self.remove_job(job, propagation == Propagation::Orphan),
            },
            Found::Pod(pod) => {
                let job = self.w.pods.job[pod.ix()];
                let grace =
                    grace_s.unwrap_or(self.job_spec(job).template.spec.termination_grace_period_s);
                self.mark_deleting(pod, Deleter::User, grace == 0);
            }
            Found::Node(node) => self.delete_node(node),
            Found::Service(jobset) => {
                // SVC-1: the event of the owned Service queues a pass, which makes it again.
                self.w.jobsets[jobset.ix()].service_exists = false;
                self.jobset_changed(jobset);
            }
        }
    }
}

fn not_found(object: &ObjectName) -> String {
    let name = &object.name;
    let resource = match object.kind {
        ObjectKind::JobSet => "jobsets.jobset.x-k8s.io",
        ObjectKind::Job => "jobs.batch",
        ObjectKind::Pod => return "no such pod".to_owned(),
        ObjectKind::Node => "nodes",
        ObjectKind::Service => "services",
        ObjectKind::PersistentVolumeClaim => "persistentvolumeclaims",
        ObjectKind::Other => "objects",
    };
    format!("{resource} {name:?} not found")
}
