//! The settings of the levers on JobSets, containers and scripted actions: one function per lever, which returns its
//! overrides.

use super::OverrideSetter;
use super::facts::{RunFacts, is_of_kueue};
use crate::metrics::admission::WaitCause;
use crate::metrics::restarts::waits::WaitKind;
use crate::metrics::view::resumption_time;
use serde_json::json;
use sim_api::spec::keys::{KUEUE_MAX_EXECUTION_TIME, KUEUE_QUEUE, LOST_NODE_TAINTS};
use sim_api::spec::kueue::AdmissionCheck;
use sim_api::spec::timing::KubeletTiming;
use sim_api::spec::{
    ContainerRule, DependsOnStatus, EXCLUSIVE_TOPOLOGY, FailurePolicyAction, FaultAction, FaultTime, JobSet,
    ObjectKind, PodReplacementPolicy, ReplicatedJob, RequestVerb, RestartStrategy, ScenarioSpec, ScriptedFault,
    StartupPolicyOrder, TaintEffect, TaintSpec, TolerationSpec, UserRequest,
};
use sim_base::{Duration, SimTime, time};
use sim_engine::record::{LedgerResource, TicketWait};
use sim_inputs::{jobset_path, strategy};
use std::collections::BTreeMap;

pub(super) type EditSettings = Vec<Vec<OverrideSetter>>;

pub(super) fn set(path: impl Into<String>, value: impl Into<String>) -> OverrideSetter {
    (path.into(), value.into())
}

pub(super) fn single(path: impl Into<String>, value: impl Into<String>) -> EditSettings {
    vec![vec![set(path, value)]]
}

/// Returns one override for each replicatedJob for which `value` returns a value.
fn each_job(facts: &RunFacts, field: &str, value: impl Fn(&ReplicatedJob) -> Option<String>) -> Vec<OverrideSetter> {
    let jobs = facts.jobset().map_or(&[][..], |j| &j.spec.replicated_jobs);
    let at = |i: usize| format!("spec.replicatedJobs[{i}].template.spec.{field}");
    let one = |(i, rj): (usize, &ReplicatedJob)| Some(set(at(i), value(rj)?));
    jobs.iter().enumerate().filter_map(one).collect()
}

pub(super) fn non_empty(all: impl IntoIterator<Item = Vec<OverrideSetter>>) -> EditSettings {
    all.into_iter().filter(|sets| !sets.is_empty()).collect()
}

/// An action of the scenario's script.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct FaultEdit {
    /// Index in the list of the file.
    entry: u32,
    at: FaultTime,
}

impl FaultEdit {
    /// Returns `None` for a fault without an entry in the file.
    pub fn new(scenario: &ScenarioSpec, index: usize) -> Option<FaultEdit> {
        let fault = scenario.faults.get(index)?;
        Some(FaultEdit { entry: fault.entry?, at: fault.at })
    }

    /// Returns an override that moves the action to an earlier time.
    fn moved_earlier(&self, seconds: u64) -> OverrideSetter {
        let by = seconds * time::NANOS_PER_SECOND;
        let (name, was) = match self.at {
            FaultTime::At(at) => ("at", at),
            FaultTime::AfterReady(after) => ("afterReady", after),
            FaultTime::AtUsageAge { .. } | FaultTime::AfterFault { .. } => {
                unreachable!("only random faults have such times")
            }
        };
        let value = Duration(was.0.saturating_sub(by)).to_string();
        set(format!("faults.{}.{name}", self.entry), value)
    }
}

/// Returns whether an action can end a wait of the JobSet: it does not break, block or stop anything, and does not
/// remove the queue of the JobSet.
fn can_end_wait(facts: &RunFacts, index: usize) -> bool {
    use FaultAction::*;
    let Some(fault) = facts.scenario.faults.get(index) else { return true };
    let is_own = |name: &str| facts.jobset().is_some_and(|jobset| jobset.name == name);
    match &fault.action {
        CrashNode(_)
        | PartitionNode(_)
        | CordonNode(_)
        | TaintNode(..)
        | DrainNode(_)
        | ContainerExit { .. }
        | EvictPod { .. }
        | StopManager(_)
        | FailImagePulls(_)
        | Silent { .. } => false,
        SuspendJobSet(name) | DeleteJobSet(name) => !is_own(name),
        Request(UserRequest { verb: RequestVerb::Show { .. }, .. }) => false,
        _ => removed_queue(facts, index).is_none(),
    }
}

/// Returns the queue that an action removes from the JobSet.
fn removed_queue<'f>(facts: &RunFacts<'f>, index: usize) -> Option<&'f str> {
    let jobset = facts.jobset()?;
    let FaultAction::Request(request) = &facts.scenario.faults.get(index)?.action else { return None };
    let RequestVerb::Patch { body, status: false } = &request.verb else { return None };
    let is_own = request.object.kind == ObjectKind::JobSet && request.object.name == jobset.name;
    let label = body["metadata"]["labels"].get(KUEUE_QUEUE).filter(|_| is_own)?;
    if label.is_null() { jobset.kueue_queue() } else { None }
}

/// Restores the queue of a JobSet that lost it, one minute afterwards.
pub fn restored_queue(facts: &RunFacts) -> EditSettings {
    let removals = facts.fired.iter().rev();
    let mut lost = removals.filter_map(|(index, at)| Some((removed_queue(facts, *index as usize)?, *at)));
    let (Some((queue, at)), Some(jobset)) = (lost.next().filter(|_| facts.blocked), facts.jobset()) else {
        return Vec::new();
    };
    let at = at.0.div_ceil(time::NANOS_PER_SECOND) + 60;
    let merge = json!({"metadata": {"labels": {KUEUE_QUEUE: queue}}});
    let value = format!("{{at: {at}s, patch: {{kind: JobSet, name: {}, merge: {merge}}}}}", jobset.name);
    single(facts.new_fault(0), value)
}

/// Moves the action that ended a wait, and those at the same time, to a half and to a tenth of the wait.
pub fn move_actions_earlier(facts: &RunFacts) -> EditSettings {
    let mut all = Vec::new();
    for step in &facts.path.steps {
        let idle = [
            WaitKind::Mechanism(TicketWait::Script),
            WaitKind::Mechanism(TicketWait::Unschedulable),
            WaitKind::Mechanism(TicketWait::SilentNode),
        ];
        let kind = WaitKind::from_step(step);
        let waits = idle.contains(&kind)
            || matches!(kind, WaitKind::Admission(_))
            || is_of_kueue(kind)
            || step.waited == TicketWait::PodGc;
        let mut fired = facts.fired.iter().rev();
        let within = |(i, t): &&(u32, SimTime)| step.from < *t && *t <= step.to && can_end_wait(facts, *i as usize);
        let Some((_, at)) = fired.find(within).filter(|_| waits) else {
            continue;
        };
        // Actions at the same time belong together. An entry with a label is one action on each of its nodes.
        let known = |(i, t): &(u32, SimTime)| FaultEdit::new(facts.scenario, *i as usize).filter(|_| t == at);
        let mut together: Vec<FaultEdit> = facts.fired.iter().filter_map(known).collect();
        together.sort_by_key(|edit| edit.entry);
        together.dedup();
        let wait = at.since(step.from).0;
        for part in [2, 10].into_iter().filter(|_| !together.is_empty()) {
            let seconds = (wait - wait / part) / time::NANOS_PER_SECOND;
            if seconds == 0 {
                continue;
            }
            all.push(together.iter().map(|fault| fault.moved_earlier(seconds)).collect());
        }
    }
    all
}

pub fn replacement(facts: &RunFacts) -> EditSettings {
    let silent = facts.waits_for(TicketWait::SilentNode) || !facts.silent.is_empty();
    if !silent {
        return Vec::new();
    }
    let other = |rj: &ReplicatedJob| match (rj.template.pod_replacement_policy(), &rj.template.pod_failure_policy) {
        (PodReplacementPolicy::TerminatingOrFailed, _) => Some("Failed".to_owned()),
        (PodReplacementPolicy::Failed, _) => Some("TerminatingOrFailed".to_owned()),
    };
    // With a podFailurePolicy, the API server only accepts podReplacementPolicy Failed.
    let without =
        each_job(facts, "podFailurePolicy", |rj| rj.template.pod_failure_policy.is_some().then(|| "null".to_owned()));
    non_empty([[without, each_job(facts, "podReplacementPolicy", other)].concat()])
}

/// Sets tolerationSeconds to 30, instead of the value in the spec or the default of 300 that admission adds.
pub fn toleration(facts: &RunFacts) -> EditSettings {
    let loses_node = |(index, _): &(u32, SimTime)| {
        let fault = facts.scenario.faults.get(*index as usize);
        fault.is_some_and(|fault| matches!(fault.action, FaultAction::CrashNode(_) | FaultAction::PartitionNode(_)))
    };
    let is_of_script = !scripted_taints(facts).is_empty() && !facts.fired.iter().any(loses_node);
    if !facts.waits_for(TicketWait::Toleration) || is_of_script {
        return Vec::new();
    }
    let jobs = facts.jobset().map_or(&[][..], |j| &j.spec.replicated_jobs);
    let mut sets = Vec::new();
    for (i, rj) in jobs.iter().enumerate() {
        let known = &rj.template.template.spec.tolerations;
        let mut next = known.len();
        for key in LOST_NODE_TAINTS {
            let at = |n: usize| format!("spec.replicatedJobs[{i}].template.spec.template.spec.tolerations[{n}]");
            match known.iter().position(|t| t.key.as_deref() == Some(key)) {
                Some(n) => sets.push(set(format!("{}.tolerationSeconds", at(n)), "30")),
                None => {
                    let value = format!("{{key: {key}, operator: Exists, effect: NoExecute, tolerationSeconds: 30}}");
                    sets.push(set(at(next), value));
                    next += 1;
                }
            }
        }
    }
    non_empty([sets])
}

/// Sets tolerationSeconds of the other tolerations to a half of its value, and to 5 s.
pub fn own_toleration(facts: &RunFacts) -> EditSettings {
    if !facts.waits_for(TicketWait::Toleration) {
        return Vec::new();
    }
    let setting = |to: fn(i64) -> i64| {
        let jobs = facts.jobset().map_or(&[][..], |j| &j.spec.replicated_jobs);
        let of_job = |(i, rj): (usize, &ReplicatedJob)| {
            let known = rj.template.template.spec.tolerations.iter().enumerate();
            let others = known.filter(|(_, t)| t.key.as_deref().is_none_or(|key| !LOST_NODE_TAINTS.contains(&key)));
            let shorter = |(n, toleration): (usize, &TolerationSpec)| {
                let now = toleration.toleration_seconds?;
                let at = format!("spec.replicatedJobs[{i}].template.spec.template.spec.tolerations[{n}]");
                (to(now) < now).then(|| set(format!("{at}.tolerationSeconds"), to(now).to_string()))
            };
            others.filter_map(shorter).collect::<Vec<_>>()
        };
        jobs.iter().enumerate().flat_map(of_job).collect::<Vec<_>>()
    };
    let (half, five) = (setting(|s| s / 2), setting(|s| s.min(5)));
    let all = if half == five { vec![half] } else { vec![half, five] };
    non_empty(all)
}

/// Returns the taints with effect NoExecute that the script has added up to the end of the path.
fn scripted_taints<'f>(facts: &RunFacts<'f>) -> Vec<&'f TaintSpec> {
    let end = facts.path.steps.last().map_or(SimTime::ZERO, |step| step.to);
    let fired = facts.fired.iter().filter(|(_, at)| *at <= end);
    let taints = fired.filter_map(|(index, _)| match &facts.scenario.faults.get(*index as usize)?.action {
        FaultAction::TaintNode(_, taint) if taint.effect == TaintEffect::NoExecute => Some(taint),
        _ => None,
    });
    taints.collect()
}

/// Sets `maxFailedIndexes` to 0, so that a Job fails as soon as an index has.
pub fn max_failed_indexes(facts: &RunFacts) -> EditSettings {
    if !facts.waits(|wait| wait == WaitKind::FailedIndexes) {
        return Vec::new();
    }
    let zero = |rj: &ReplicatedJob| {
        let job = &rj.template;
        (job.backoff_limit_per_index.is_some() && job.max_failed_indexes != Some(0)).then(|| "0".to_owned())
    };
    non_empty([each_job(facts, "maxFailedIndexes", zero)])
}

/// Allows one more failure of each index.
pub fn failures_per_index(facts: &RunFacts) -> EditSettings {
    if !facts.waits(|wait| wait == WaitKind::FailedIndexes) {
        return Vec::new();
    }
    let more = |rj: &ReplicatedJob| Some(rj.template.backoff_limit_per_index?.saturating_add(1).to_string());
    non_empty([each_job(facts, "backoffLimitPerIndex", more)])
}

/// Sets the grace period to a half of its value, and to 5 s. It also applies to sidecars.
pub fn grace(facts: &RunFacts) -> EditSettings {
    if !facts.waits_for(TicketWait::Grace) {
        return Vec::new();
    }
    let to = |f: fn(u32) -> u32| {
        each_job(facts, "template.spec.terminationGracePeriodSeconds", move |rj| {
            let now = rj.template.template.spec.termination_grace_period_s;
            let new = f(now).max(1);
            (new < now).then(|| new.to_string())
        })
    };
    let (half, five) = (to(|s| s / 2), to(|s| s.min(5)));
    let all = if half == five { vec![half] } else { vec![half, five] };
    non_empty(all)
}

/// Makes containers that take longer than 1 s to stop take 1 s.
pub fn stop_time(facts: &RunFacts) -> EditSettings {
    const SECOND: Duration = Duration::from_secs(1);
    if !facts.waits_for(TicketWait::Grace) {
        return Vec::new();
    }
    let written = facts.scenario.containers.iter().enumerate();
    let slow = written.filter(|(_, rule)| rule.from_command.is_none() && rule.stop_after > Some(SECOND));
    let mut sets: Vec<OverrideSetter> = slow.map(|(i, _)| set(format!("containers.{i}.stopAfter"), "1s")).collect();
    match &facts.scenario.timing.kubelet {
        KubeletTiming::Real(kubelet) if kubelet.container_stop.median() > SECOND => {
            sets.push(set("timing.containerStop", "1s"))
        }
        KubeletTiming::Scripted { stop, .. } if *stop > SECOND => sets.push(set("timing.kubelet.scripted.stop", "1s")),
        _ => {}
    }
    non_empty([sets])
}

/// Halves `startAfter` of the rules that delay the start of containers.
pub fn start_time(facts: &RunFacts) -> EditSettings {
    halved_rules(facts, TicketWait::ContainerStart, "startAfter", |rule| rule.start_after)
}

/// Halves `readyAfter` of the rules that delay the readiness of containers.
pub fn ready_time(facts: &RunFacts) -> EditSettings {
    halved_rules(facts, TicketWait::Readiness, "readyAfter", |rule| rule.ready_after)
}

/// Halves a time of each rule of `containers` that sets it, if something waits for it.
fn halved_rules(
    facts: &RunFacts, wait: TicketWait, field: &str, time: impl Fn(&ContainerRule) -> Option<Duration>,
) -> EditSettings {
    if !facts.waits_for(wait) {
        return Vec::new();
    }
    let rules = facts.scenario.containers.iter().enumerate();
    let late = rules.filter_map(|(i, rule)| {
        let after = time(rule).filter(|after| *after > Duration::ZERO)?;
        Some(vec![set(format!("containers.{i}.{field}"), Duration(after.0 / 2).to_string())])
    });
    late.collect()
}

/// Lets nodes use the images that they have. Starts of containers include the check of the image; a pull that fails is
/// a wait of its own.
pub fn image_pull(facts: &RunFacts) -> EditSettings {
    let waits = [TicketWait::ContainerStart, TicketWait::ContainerRestart, TicketWait::ImagePull];
    if !waits.iter().any(|waited| facts.waits_for(*waited)) {
        return Vec::new();
    }
    let mut sets = Vec::new();
    let jobs = facts.jobset().map_or(&[][..], |j| &j.spec.replicated_jobs);
    for (i, rj) in jobs.iter().enumerate() {
        let pod = &rj.template.template.spec;
        for (field, list) in [("containers", &pod.containers), ("initContainers", &pod.init_containers)] {
            for (k, _) in list.iter().enumerate().filter(|(_, c)| c.pulls_always()) {
                let at = format!("spec.replicatedJobs[{i}].template.spec.template.spec.{field}[{k}].imagePullPolicy");
                sets.push(set(at, "IfNotPresent"));
            }
        }
    }
    non_empty([sets])
}

/// Halves the number of Jobs with twice as many pods each, and doubles it with half as many pods each. For a JobSet
/// that cannot be placed, also tries smaller Jobs.
pub fn jobs(facts: &RunFacts) -> EditSettings {
    let parts: &[u32] = if facts.unplaced { &[2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 18, 24, 32, 64] } else { &[2] };
    let smaller = parts.iter().map(|part| divided(facts, (*part, 1)));
    non_empty(std::iter::once(divided(facts, (1, 2))).chain(smaller))
}

/// Multiplies the number of Jobs by `more` and divides their pods by it; the reverse for `larger`. Renames pods in
/// the script, so that actions affect the same pods.
fn divided(facts: &RunFacts, (more, larger): (u32, u32)) -> Vec<OverrideSetter> {
    let Some(jobset) = facts.jobset() else {
        return Vec::new();
    };
    let mut sets = Vec::new();
    for (i, rj) in jobset.spec.replicated_jobs.iter().enumerate() {
        let (jobs, pods) = (rj.replicas, rj.template.pods());
        let fits = rj.template.completions() == Some(rj.template.parallelism());
        let (of_jobs, of_pods) = (jobs / larger * more, pods / more * larger);
        let complete = jobs.is_multiple_of(larger) && pods.is_multiple_of(more);
        if !fits || !complete || of_jobs == 0 || of_pods == 0 {
            continue;
        }
        let at = format!("spec.replicatedJobs[{i}]");
        sets.push(set(format!("{at}.replicas"), of_jobs.to_string()));
        for field in ["parallelism", "completions"] {
            sets.push(set(format!("{at}.template.spec.{field}"), of_pods.to_string()));
        }
        let prefix = format!("{}-{}-", jobset.name, rj.name);
        let renamed = |fault: &ScriptedFault| {
            let k = fault.entry?;
            let (field, pod) = pod_of(&fault.action)?;
            let (job, index) = pod.strip_prefix(&prefix)?.split_once('-')?;
            let nth = job.parse::<u32>().ok()? * pods + index.parse::<u32>().ok()?;
            let pod = format!("{prefix}{}-{}", nth / of_pods, nth % of_pods);
            Some(set(format!("faults.{k}.{field}"), pod))
        };
        sets.extend(facts.scenario.faults.iter().filter_map(renamed));
    }
    sets
}

fn pod_of(action: &FaultAction) -> Option<(&'static str, &str)> {
    use FaultAction::*;
    match action {
        ContainerExit { pod, .. } => Some(("containerExit.pod", pod)),
        DeletePod { pod, .. } => Some(("deletePod.pod", pod)),
        EvictPod { pod } => Some(("evictPod.pod", pod)),
        CrashNode(n) => Some(("crashNode.ofPod", n.of_pod.as_deref()?)),
        PartitionNode(n) => Some(("partitionNode.ofPod", n.of_pod.as_deref()?)),
        DrainNode(n) => Some(("drainNode.ofPod", n.of_pod.as_deref()?)),
        CordonNode(n) => Some(("cordonNode.ofPod", n.of_pod.as_deref()?)),
        TaintNode(n, _) => Some(("taintNode.ofPod", n.of_pod.as_deref()?)),
        DeleteNode(n) => Some(("deleteNode.ofPod", n.of_pod.as_deref()?)),
        _ => None,
    }
}

/// Returns one setting for each other restart strategy, with all fields that it requires.
pub fn strategies(facts: &RunFacts) -> EditSettings {
    let Some(jobset) = facts.jobset() else {
        return Vec::new();
    };
    if jobset.spec.failure_policy.is_none() || facts.failed || facts.unplaced {
        return Vec::new();
    }
    let others = RestartStrategy::ALL.into_iter().filter(|s| *s != jobset.spec.strategy());
    let sets = others.filter_map(|s| {
        let request = [set("strategy", s.as_str())];
        let explained = facts.scenario.jobsets.get(facts.jobset.ix())?;
        let changes = strategy::with_companions(&request, std::slice::from_ref(explained)).ok()?;
        Some(changes.into_iter().map(|c| (c.path, c.value)).collect())
    });
    sets.collect()
}

pub fn any_order(facts: &RunFacts) -> EditSettings {
    let in_order = |j: &JobSet| j.spec.startup_order == StartupPolicyOrder::InOrder;
    if facts.jobset().is_some_and(in_order) {
        single("spec.startupPolicy.startupPolicyOrder", "AnyOrder")
    } else {
        Vec::new()
    }
}

/// Removes or relaxes `dependsOn`. If it waits for the completion of a Job that runs indefinitely, also sets a run
/// time.
pub fn predecessor(facts: &RunFacts) -> EditSettings {
    let waits = facts.waits_for(TicketWait::Running) || facts.waits_for(TicketWait::ContainerStart);
    if !waits && !facts.blocked {
        return Vec::new();
    }
    let jobs = facts.jobset().map_or(&[][..], |j| &j.spec.replicated_jobs);
    let mut all = Vec::new();
    for (i, rj) in jobs.iter().enumerate() {
        let Some(on) = rj.depends_on.first() else {
            continue;
        };
        if on.status == DependsOnStatus::Complete {
            all.push(vec![set(format!("spec.replicatedJobs[{i}].dependsOn[0].status"), "Ready")]);
            let ends = facts
                .scenario
                .containers
                .iter()
                .any(|r| r.exits() && r.replicated_job.as_deref().is_none_or(|n| n == on.name));
            if !ends {
                let rules = facts.scenario.containers.iter().filter(|r| r.from_command.is_none()).count();
                let own = facts.jobset().filter(|_| facts.scenario.jobsets.len() > 1);
                let own = own.map_or(String::new(), |jobset| format!("jobSet: {}, ", jobset.name));
                all.push(vec![set(
                    format!("containers.{rules}"),
                    format!("{{{own}replicatedJob: {}, runFor: 1m}}", on.name),
                )]);
            }
        }
        all.push(vec![set(format!("spec.replicatedJobs[{i}].dependsOn"), "[]")]);
    }
    all
}

/// Removes the annotation for exclusive placement.
pub fn not_exclusive(facts: &RunFacts) -> EditSettings {
    let concerned = facts.unplaced || facts.waits_in(&[LedgerResource::SchedulerCycle]);
    let Some(jobset) = facts.jobset().filter(|_| concerned) else {
        return Vec::new();
    };
    let mut others = jobset.annotations.clone();
    // In a scenario, `metadata` is that of the scenario.
    let field = "metadata.annotations";
    let path = if facts.of_manifests { field.to_owned() } else { jobset_path(&jobset.name, field) };
    match others.remove(EXCLUSIVE_TOPOLOGY) {
        Some(_) => single(path, json!(others).to_string()),
        None => Vec::new(),
    }
}

/// Gives the pods a higher PriorityClass of the inputs, the lowest first, if they wait for nodes: they then preempt
/// pods of other JobSets, or are not preempted themselves.
pub fn priority_class(facts: &RunFacts) -> EditSettings {
    let has_others = facts.scenario.jobsets.len() > 1;
    let objects = facts.scenario.objects.iter().filter(|_| has_others && facts.waits_for_nodes());
    let classes = objects.filter(|object| object["kind"] == "PriorityClass");
    let named = classes.filter_map(|class| Some((class["value"].as_i64()?, class["metadata"]["name"].as_str()?)));
    let mut named: Vec<(i64, &str)> = named.collect();
    named.sort_unstable();
    let raised = |(value, name): (i64, &str)| {
        let is_lower = |rj: &ReplicatedJob| i64::from(rj.template.template.spec.priority) < value;
        each_job(facts, "template.spec.priorityClassName", |rj| is_lower(rj).then(|| name.to_owned()))
    };
    non_empty(named.into_iter().map(raised)).into_iter().take(PRIORITY_CLASSES_MAX).collect()
}

/// Number of PriorityClasses that are tried; each is a run.
const PRIORITY_CLASSES_MAX: usize = 3;

/// Raises maxRestarts by 1; [`larger`] gives larger values.
pub fn max_restarts(facts: &RunFacts) -> EditSettings {
    let policy = facts.jobset().and_then(|j| j.spec.failure_policy.as_ref());
    let Some(policy) = policy.filter(|_| facts.failed) else {
        return Vec::new();
    };
    single(MAX_RESTARTS, policy.max_restarts.saturating_add(1).to_string())
}

const MAX_RESTARTS: &str = "spec.failurePolicy.maxRestarts";

/// Raises activeDeadlineSeconds by a step, see [`larger`], and removes it.
pub fn job_deadline(facts: &RunFacts) -> EditSettings {
    if !facts.failed && !facts.by_deadline && !facts.waits_for(TicketWait::ActiveDeadline) {
        return Vec::new();
    }
    let value =
        |to: fn(i64) -> String| each_job(facts, ACTIVE_DEADLINE, move |rj| rj.template.active_deadline_seconds.map(to));
    non_empty([value(|now| (now + time_step(now)).to_string()), value(|_| "null".to_owned())])
}

/// Raises the maximum execution time in Kueue by a step, see [`larger`], if the JobSet exceeded it.
pub fn max_execution_time(facts: &RunFacts) -> EditSettings {
    let Some(jobset) = facts.jobset().filter(|_| facts.exceeds_limit) else { return Vec::new() };
    let now = jobset.labels.get(KUEUE_MAX_EXECUTION_TIME).and_then(|value| value.parse::<i64>().ok());
    let Some(now) = now else { return Vec::new() };
    let mut labels = jobset.labels.clone();
    labels.insert(KUEUE_MAX_EXECUTION_TIME.to_owned(), (now + time_step(now)).to_string());
    let field = "metadata.labels";
    let path = if facts.of_manifests { field.to_owned() } else { jobset_path(&jobset.name, field) };
    single(path, json!(labels).to_string())
}

const ACTIVE_DEADLINE: &str = "activeDeadlineSeconds";

/// Step in which time limits are raised, in seconds: one minute, or a tenth of the limit if that is longer.
fn time_step(limit: i64) -> i64 {
    (limit / 10).max(60)
}

/// The step of the limit that was raised to this value by one step.
fn step_before(raised: i64) -> i64 {
    (raised / 11).max(60)
}

/// Returns a setting of maxRestarts, of a policy with it or of the nodes of a pool, with a value that is larger by a
/// number, or a setting of a time limit that is larger by this number of steps; `None` for other settings.
pub(super) fn larger(sets: &[OverrideSetter], by: u32) -> Option<Vec<OverrideSetter>> {
    let later = |value: &str| {
        let raised = value.parse::<i64>().ok()?;
        Some(raised.saturating_add(step_before(raised).saturating_mul(by.into())).to_string())
    };
    if !sets.is_empty() && sets.iter().all(|(path, _)| path.ends_with(ACTIVE_DEADLINE)) {
        return sets.iter().map(|(path, value)| Some(set(path.clone(), later(value)?))).collect();
    }
    let [(path, value)] = sets else { return None };
    if path.ends_with("metadata.labels") {
        let mut labels = serde_json::from_str::<BTreeMap<String, String>>(value).ok()?;
        let limit = labels.get_mut(KUEUE_MAX_EXECUTION_TIME)?;
        *limit = later(limit)?;
        return Some(vec![set(path.clone(), json!(labels).to_string())]);
    }
    let more = |value: &str| Some(value.parse::<i32>().ok()?.saturating_add(i32::try_from(by).ok()?));
    let value = match value.strip_prefix("{maxRestarts: ").and_then(|rest| rest.strip_suffix('}')) {
        Some(value) => format!("{{maxRestarts: {}}}", more(value)?),
        None if path.ends_with(MAX_RESTARTS) || path.starts_with("topology.pools[") => more(value)?.to_string(),
        None => return None,
    };
    Some(vec![set(path.clone(), value)])
}

pub fn resumed(facts: &RunFacts) -> EditSettings {
    let suspended = |j: &JobSet| j.spec.suspend;
    if facts.blocked && facts.jobset().is_some_and(suspended) { single("spec.suspend", "false") } else { Vec::new() }
}

/// Resumes the JobSet after its last suspension.
pub fn resumption_action(facts: &RunFacts) -> EditSettings {
    let (Some(since), Some(jobset)) = (facts.suspended.filter(|_| !facts.of_manifests), facts.jobset()) else {
        return Vec::new();
    };
    let value = format!("{{at: {}, resumeJobSet: {{name: {}}}}}", resumption_time(since), jobset.name);
    single(facts.new_fault(0), value)
}

/// Ends scripted failures of image pulls after a minute.
pub fn image_pulls(facts: &RunFacts) -> EditSettings {
    let end = Duration::from_secs(60);
    let faults = facts.scenario.faults.iter().filter_map(|fault| Some((fault.entry?, fault)));
    let failing = faults.filter(|(_, fault)| match &fault.action {
        FaultAction::FailImagePulls(failure) => failure.lasts.is_none_or(|lasts| lasts > end),
        _ => false,
    });
    let concerned = facts.blocked || facts.waits_for(TicketWait::ImagePull);
    failing.filter(|_| concerned).map(|(i, _)| vec![set(format!("faults.{i}.failImagePulls.for"), "1m")]).collect()
}

/// Makes the controllers of AdmissionChecks that are not simulated report after 30 s.
pub fn admission_checks(facts: &RunFacts) -> EditSettings {
    let Some(kueue) = facts.scenario.kueue.as_ref().filter(|_| facts.blocked && !facts.of_manifests) else {
        return Vec::new();
    };
    let (reporting, silent): (Vec<&AdmissionCheck>, Vec<&AdmissionCheck>) =
        kueue.admission_checks.iter().partition(|check| check.outcome.is_some());
    let report = |(i, check): (usize, &&AdmissionCheck)| {
        let value = format!("{{name: {}, after: 30s}}", check.name);
        set(format!("admissionChecks.{}", reporting.len() + i), value)
    };
    non_empty([silent.iter().enumerate().map(report).collect()])
}

/// Sets the times until the controllers of AdmissionChecks report to a half and to a tenth.
pub fn check_times(facts: &RunFacts) -> EditSettings {
    let waits = facts.waits(|wait| {
        [WaitKind::Admission(Some(WaitCause::AdmissionChecks)), WaitKind::Mechanism(TicketWait::AdmissionCheck)]
            .contains(&wait)
    });
    let Some(kueue) = facts.scenario.kueue.as_ref().filter(|_| waits && !facts.of_manifests) else {
        return Vec::new();
    };
    let setting = |part: u64| {
        let reports = kueue.admission_checks.iter().filter_map(|check| {
            let outcome = check.outcome.as_ref()?;
            let mut report = json!({
                "name": check.name,
                "after": Duration(outcome.after.median().0 / part).to_string(),
                "retries": outcome.retries,
                "state": if outcome.is_ready { "Ready" } else { "Rejected" },
            });
            if !outcome.message.is_empty() {
                report["message"] = json!(outcome.message);
            }
            Some(report)
        });
        vec![set("admissionChecks", json!(reports.collect::<Vec<_>>()).to_string())]
    };
    vec![setting(2), setting(10)]
}

/// Adds a failurePolicy, because without one the first failed Job fails the JobSet (REC-10).
pub fn failure_policy(facts: &RunFacts) -> EditSettings {
    let none = |j: &JobSet| j.spec.failure_policy.is_none();
    if facts.failed && facts.jobset().is_some_and(none) {
        single("spec.failurePolicy", "{maxRestarts: 1}")
    } else {
        Vec::new()
    }
}

pub fn rule_action(facts: &RunFacts) -> EditSettings {
    let policy = facts.jobset().and_then(|j| j.spec.failure_policy.as_ref());
    let Some(policy) = policy.filter(|_| facts.failed) else {
        return Vec::new();
    };
    let rules = policy.rules.iter().enumerate();
    let fails = rules.filter(|(_, r)| r.action == FailurePolicyAction::FailJobSet);
    let instead = |(i, _)| vec![set(format!("spec.failurePolicy.rules[{i}].action"), "RestartJobSet")];
    fails.map(instead).collect()
}
