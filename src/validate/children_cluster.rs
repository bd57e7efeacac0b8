//! A cluster at rest: what exists some seconds after JobSets were created where no container ever starts.
//!
//! Must never need a clock: without kubelets the controllers soon have nothing left to do, and the order of what they
//! do before does not show.

use super::children_schedule::{Unscheduled, nodes, schedule};
use crate::admission::{GENERATED_SUFFIX, Gates};
use crate::objects::{self, JobSlot, Surroundings};
use crate::spec::JOBSET_CONTROLLER;
use serde_json::{Value, json};

const JOB_CONTROLLER: &str = "kubernetes.io/job-controller";
/// More rounds than any chain of dependencies has links.
const ROUNDS_MAX: u32 = 64;

#[derive(Debug, Default)]
pub struct Cluster {
    pub gates: Gates,
    pub jobs: Vec<Value>,
    pub services: Vec<Value>,
    pub claims: Vec<Value>,
    pub pods: Vec<Value>,
    pub priority_classes: Vec<Value>,
    pub runtime_classes: Vec<String>,
    nodes: Vec<Value>,
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

fn known(objects: &[Value], wanted: &str) -> bool {
    objects.iter().any(|o| name(o) == wanted)
}

fn suspended(object: &Value) -> bool {
    object["spec"]["suspend"] == true
}

/// What a replicatedJob's Jobs amount to, as dependsOn and InOrder count them.
#[derive(Copy, Clone, Debug, Default)]
struct Count {
    ready: i64,
    succeeded: i64,
    failed: i64,
}

impl Cluster {
    pub fn new(gates: Gates) -> Cluster {
        Cluster {
            gates,
            nodes: nodes(),
            ..Cluster::default()
        }
    }

    /// Lets every controller work until none finds anything to do.
    pub fn settle(&mut self, jobsets: &[Value]) {
        for _ in 0..ROUNDS_MAX {
            let before = (self.jobs.len(), self.pods.len());
            for jobset in jobsets {
                self.reconcile(jobset);
            }
            self.run_jobs();
            if before == (self.jobs.len(), self.pods.len()) {
                break;
            }
        }
        for jobset in jobsets {
            self.finish(jobset);
        }
        self.write_statuses();
    }

    /// One pass of the JobSet controller; an error ends it.
    fn reconcile(&mut self, jobset: &Value) {
        let manager = jobset["spec"]["managedBy"].as_str();
        if manager.is_some_and(|name| name != JOBSET_CONTROLLER) || self.ended(jobset) {
            return;
        }
        if let Some(service) = objects::service(jobset)
            && !known(&self.services, name(&service))
        {
            match objects::admit_service(&service) {
                Ok(stored) => self.services.push(stored),
                Err(_) => return,
            }
        }
        for claim in objects::claims(jobset) {
            if known(&self.claims, name(&claim)) {
                continue;
            }
            match objects::admit_claim(&claim) {
                Ok(stored) => self.claims.push(stored),
                Err(_) => return,
            }
        }
        self.create_jobs(jobset);
    }

    fn create_jobs(&mut self, jobset: &Value) {
        let rjs = items(&jobset["spec"]["replicatedJobs"]);
        let in_order = jobset["spec"]["startupPolicy"]["startupPolicyOrder"] == "InOrder"
            && !suspended(jobset);
        for (k, rj) in rjs.iter().enumerate() {
            let replicas = rj["replicas"].as_i64().unwrap_or(0);
            let counts: Vec<Count> = rjs.iter().map(|rj| self.count(jobset, rj)).collect();
            let reached = |dependency: &Value| {
                let at = rjs[..=k]
                    .iter()
                    .position(|rj| rj["name"] == dependency["name"]);
                at.is_none_or(|at| {
                    let (count, wanted) = (counts[at], rjs[at]["replicas"].as_i64().unwrap_or(0));
                    let met = match dependency["status"].as_str() {
                        Some("Complete") => count.succeeded,
                        _ => count.ready + count.failed + count.succeeded,
                    };
                    met == wanted
                })
            };
            if !items(&rj["dependsOn"]).iter().all(reached) {
                continue;
            }
            let count = counts[k];
            if in_order && count.ready + count.failed + count.succeeded == replicas {
                continue;
            }
            if !self.create_replicas(jobset, k, replicas) || in_order {
                return;
            }
        }
    }

    /// All Jobs of one replicatedJob; whether none was refused.
    fn create_replicas(&mut self, jobset: &Value, replicated_job: usize, replicas: i64) -> bool {
        let mut all = true;
        for index in 0..u32::try_from(replicas).unwrap_or(0) {
            let slot = JobSlot {
                jobset,
                replicated_job,
                index,
                restarts: 0,
                job_restarts: self.gates.restart_job.then_some(0),
            };
            let job = objects::job(&slot);
            match self.jobs.iter().find(|j| name(j) == name(&job)) {
                Some(other) => {
                    all &= other["metadata"]["ownerReferences"][0]["name"]
                        == jobset["metadata"]["name"]
                }
                None => match objects::admit_unprivileged_job(&job) {
                    Ok(stored) => self.jobs.push(stored),
                    Err(_) => all = false,
                },
            }
        }
        all
    }

    fn count(&self, jobset: &Value, rj: &Value) -> Count {
        let mut count = Count::default();
        let replicas = rj["replicas"].as_u64().unwrap_or(0);
        for index in 0..replicas {
            let wanted = format!(
                "{}-{}-{index}",
                name(jobset),
                rj["name"].as_str().unwrap_or("")
            );
            let Some(job) = self.jobs.iter().find(|j| name(j) == wanted) else {
                continue;
            };
            match fate(job) {
                Fate::Complete => count.succeeded += 1,
                Fate::Failed => count.failed += 1,
                Fate::Active => count.ready += i64::from(wanted_pods(job) == 0),
            }
        }
        count
    }

    /// Whether Jobs ended and with them the JobSet.
    fn ended(&self, jobset: &Value) -> bool {
        let spec = &jobset["spec"];
        let rjs = items(&spec["replicatedJobs"]);
        let counts: Vec<(Count, i64, &Value)> = rjs
            .iter()
            .map(|rj| {
                (
                    self.count(jobset, rj),
                    rj["replicas"].as_i64().unwrap_or(0),
                    &rj["name"],
                )
            })
            .collect();
        if counts.iter().any(|(c, ..)| c.failed > 0) {
            return spec["failurePolicy"].is_null();
        }
        let policy = &spec["successPolicy"];
        let targets = items(&policy["targetReplicatedJobs"]);
        let targeted = counts
            .iter()
            .filter(|(.., name)| targets.is_empty() || targets.contains(name));
        let (done, all) = targeted.fold((0, 0), |(d, a), (c, n, _)| (d + c.succeeded, a + n));
        let wanted = if policy["operator"] == "Any" { 1 } else { all };
        counts.iter().any(|(c, ..)| c.succeeded > 0) && done >= wanted
    }

    /// A JobSet that ended loses its active Jobs.
    fn finish(&mut self, jobset: &Value) {
        if !self.ended(jobset) {
            return;
        }
        let owned = |job: &Value| {
            job["metadata"]["ownerReferences"][0]["name"] == jobset["metadata"]["name"]
        };
        let gone: Vec<String> = self
            .jobs
            .iter()
            .filter(|job| owned(job) && fate(job) == Fate::Active)
            .map(|job| name(job).to_owned())
            .collect();
        self.jobs.retain(|job| !gone.iter().any(|g| g == name(job)));
        self.pods.retain(|pod| {
            !gone
                .iter()
                .any(|g| pod["metadata"]["ownerReferences"][0]["name"] == *g.as_str())
        });
    }

    /// The Job controller and the scheduler.
    fn run_jobs(&mut self) {
        let missing: Vec<(usize, Option<u32>, usize)> = (0..self.jobs.len())
            .flat_map(|k| {
                let indexed = self.jobs[k]["spec"]["completionMode"] == "Indexed";
                let count = self.pods_to_create(k);
                (0..count).map(move |i| (k, indexed.then_some(i), i as usize))
            })
            .collect();
        // Leaders first: a follower is admitted when its leader has a node.
        let (first, others): (Vec<_>, Vec<_>) = missing.into_iter().partition(|(.., i)| *i == 0);
        for (k, index, nth) in first.into_iter().chain(others) {
            self.create_pod(k, index, nth);
        }
    }

    fn pods_to_create(&self, job: usize) -> u32 {
        let job = &self.jobs[job];
        let managed = job["spec"]["managedBy"]
            .as_str()
            .is_none_or(|by| by == JOB_CONTROLLER);
        let runs = managed && !suspended(job) && fate(job) == Fate::Active;
        if runs { wanted_pods(job) } else { 0 }
    }

    fn create_pod(&mut self, job: usize, index: Option<u32>, nth: usize) {
        let job = &self.jobs[job];
        let pod = objects::pod(job, index);
        let twin = |p: &&Value| {
            p["metadata"]["generateName"] == pod["metadata"]["generateName"]
                && p["metadata"]["ownerReferences"] == pod["metadata"]["ownerReferences"]
        };
        let there = self.pods.iter().filter(twin).count();
        if there > if index.is_some() { 0 } else { nth } {
            return;
        }
        let around = Surroundings {
            priority_classes: &self.priority_classes,
            runtime_classes: &self.runtime_classes,
            pods: &self.pods,
            nodes: &self.nodes,
        };
        let Ok(mut stored) = objects::admit_pod(&pod, GENERATED_SUFFIX, &around) else {
            return;
        };
        let mut conditions = Vec::new();
        if stored["spec"]["nodeName"]
            .as_str()
            .is_none_or(str::is_empty)
        {
            match schedule(&stored, &self.nodes, &self.pods) {
                Ok(node) => {
                    stored["spec"]["nodeName"] = json!(node);
                    conditions.push(json!({"type": "PodScheduled", "status": "True"}));
                }
                Err(Unscheduled::NotOurs) => {}
                Err(why) => {
                    let reason = format!("{why:?}");
                    conditions
                        .push(json!({"type": "PodScheduled", "status": "False", "reason": reason}));
                }
            }
        }
        stored["status"] = json!({"phase": "Pending", "conditions": conditions});
        self.pods.push(stored);
    }

    fn write_statuses(&mut self) {
        for job in &mut self.jobs {
            let managed = job["spec"]["managedBy"]
                .as_str()
                .is_none_or(|by| by == JOB_CONTROLLER);
            let mine =
                |p: &&Value| p["metadata"]["ownerReferences"][0]["name"] == job["metadata"]["name"];
            let active = self.pods.iter().filter(mine).count();
            job["status"] = if managed {
                status(job, active)
            } else {
                json!({})
            };
        }
    }
}

/// How a Job ends that never runs a container.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fate {
    Active,
    Complete,
    Failed,
}

fn fate(job: &Value) -> Fate {
    let spec = &job["spec"];
    let ours = spec["managedBy"]
        .as_str()
        .is_none_or(|by| by == JOB_CONTROLLER);
    match () {
        () if suspended(job) || !ours => Fate::Active,
        () if spec["completions"] == 0 => Fate::Complete,
        () if spec["activeDeadlineSeconds"] == 0 => Fate::Failed,
        () => Fate::Active,
    }
}

/// Pods of a Job that run at the same time.
fn wanted_pods(job: &Value) -> u32 {
    let size = |name: &str| {
        job["spec"][name]
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
    };
    let parallelism = size("parallelism").unwrap_or(0);
    size("completions").map_or(parallelism, |completions| parallelism.min(completions))
}

fn status(job: &Value, active: usize) -> Value {
    let mut status = json!({"terminating": 0, "uncountedTerminatedPods": {}, "ready": 0});
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "reason": reason, "message": message});
    let conditions = match fate(job) {
        _ if suspended(job) => vec![condition("Suspended", "JobSuspended", "Job suspended")],
        Fate::Complete => ["SuccessCriteriaMet", "Complete"]
            .map(|kind| {
                condition(
                    kind,
                    "CompletionsReached",
                    "Reached expected number of succeeded pods",
                )
            })
            .to_vec(),
        Fate::Failed => ["FailureTarget", "Failed"]
            .map(|kind| {
                condition(
                    kind,
                    "DeadlineExceeded",
                    "Job was active longer than specified deadline",
                )
            })
            .to_vec(),
        Fate::Active => Vec::new(),
    };
    if !conditions.is_empty() {
        status["conditions"] = json!(conditions);
    }
    if active > 0 {
        status["active"] = json!(active);
    }
    if !job["spec"]["backoffLimitPerIndex"].is_null() {
        status["failedIndexes"] = json!("");
    }
    status
}
