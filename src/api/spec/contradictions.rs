//! Inputs that contradict each other and are simulated nevertheless, and fields without an effect, in sentences for
//! warnings.

use super::cluster::AcceleratorPrice;
use super::fault_process::{ArrivalProcess, RandomAction};
use super::job::PodFailurePolicyAction;
use super::jobset::{ConditionOperator, FailurePolicyAction, JobSet, ReplicatedJob};
use super::keys::KUEUE_MAX_EXECUTION_TIME;
use super::pod::RestartPolicy;
use super::scenario::{FaultAction, ScenarioSpec, StopWhen};
use super::training::{
    CheckpointSchedule, TrainingJob, checkpoint_contradictions, step_contradictions, trace_contradiction,
    work_contradiction,
};
use sim_base::Duration;
use sim_base::random::Distribution;

impl ScenarioSpec {
    /// Returns inputs that contradict each other and are simulated nevertheless, in sentences for warnings.
    pub fn contradictions(&self) -> Vec<String> {
        let work = self.training.iter().filter_map(|job| {
            let checkpoints = match &job.checkpoint_schedule {
                CheckpointSchedule::Checkpoints(kinds) => {
                    kinds.iter().map(|kind| (kind.every, kind.blocking)).collect()
                }
                CheckpointSchedule::Always | CheckpointSchedule::Never => Vec::new(),
            };
            work_contradiction(self.stop.at, job.work, &checkpoints, false)
        });
        let mut all: Vec<String> = work.chain(self.checkpoint_contradictions()).collect();
        all.extend(self.training.iter().flat_map(|job| step_contradictions(job, self.stop.at)));
        all.extend(self.process_contradictions());
        all.extend(self.training.iter().filter_map(|job| self.early_end(job)));
        all.extend(self.training.iter().filter_map(|job| self.useless_elasticity(job)));
        all.extend((0..self.jobsets.len()).flat_map(|jobset| self.short_limits(jobset)));
        all.extend(self.shadowed_container_rules());
        all.extend(self.useless_fields());
        all.extend(self.jobsets.iter().flat_map(|js| shadowed_failure_rules(&js.jobset)));
        let runs = self.containers.iter().filter(|rule| rule.exit_code == 0 && rule.container.is_none());
        let longest = runs.filter_map(|rule| rule.run_for).max();
        if let Some(run_for) =
            longest.filter(|run| self.stop.when == StopWhen::AllJobSetsFinished && self.stop.at <= *run)
        {
            all.push(format!("stop.at {} comes before the containers can complete: runFor is {run_for}", self.stop.at));
        }
        all
    }

    /// Returns the fields of pools and container rules that have no effect beside the other inputs.
    fn useless_fields(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (i, pool) in self.topology.pools.iter().enumerate() {
            let has_price = pool.price != AcceleratorPrice::default();
            if has_price && pool.totals(&pool.accelerator).0 == 0 {
                all.push(format!(
                    "the price of topology.pools[{i}] has no effect: costs are those of accelerators, and the pool has none"
                ));
            }
        }
        let in_place = self.jobsets.iter().any(|submitted| submitted.jobset.restarts_in_place());
        let single = self.jobsets.iter().any(|submitted| submitted.jobset.restarts_jobs());
        for (i, rule) in self.containers.iter().enumerate().filter(|(_, rule)| rule.from_command.is_none()) {
            let of_in_place = [
                ("podFails", rule.pod_fails),
                ("atBarrierFor", rule.at_barrier_for.is_some()),
                ("inPlaceAttempt", rule.in_place_attempt.is_some()),
            ];
            for (field, _) in of_in_place.into_iter().filter(|(_, given)| *given && !in_place) {
                all.push(format!("containers[{i}].{field} has no effect: no JobSet restarts in place"));
            }
            let jobs = self.jobsets.iter().flat_map(|submitted| {
                let jobset = &submitted.jobset;
                jobset.spec.replicated_jobs.iter().filter(|rj| rule.may_apply_to(jobset, rj))
            });
            let grace = jobs.map(|rj| rj.template.template.spec.termination_grace_period_s).max();
            let grace = grace.map(|seconds| Duration::from_secs(u64::from(seconds)));
            if let Some((stop, grace)) = rule.stop_after.zip(grace).filter(|(stop, grace)| stop > grace) {
                all.push(format!(
                    "containers[{i}].stopAfter {stop} is longer than the grace period of its pods: they stop after {grace}"
                ));
            }
            if rule.job_restart.is_some_and(|nth| nth > 0) && !single {
                all.push(format!("containers[{i}] never applies: no rule restarts single Jobs (jobRestart)"));
            }
        }
        all
    }

    /// Returns the fields of fault processes that have no effect beside the other inputs.
    fn useless_process_fields(&self) -> Vec<String> {
        let mut all = Vec::new();
        for process in self.fault_processes.iter().filter(|process| process.as_new) {
            if process.repair_time.is_none() && self.node_repair.is_none() {
                all.push(format!(
                    "asNew of the fault process with cause {:?} has no effect: nothing brings its nodes back (backAfter)",
                    process.cause
                ));
            }
        }
        for process in &self.fault_processes {
            if let (Some(Distribution::Fixed(back)), Some(deleted)) = (&process.repair_time, process.deleted_after)
                && *back <= deleted
            {
                all.push(format!(
                    "deletedAfter {deleted} of the fault process with cause {:?} has no effect: its nodes are back after {back}",
                    process.cause
                ));
            }
        }
        all
    }

    /// Returns the contradictions of fault processes, also of those whose faults are drawn.
    pub fn process_contradictions(&self) -> Vec<String> {
        let own = self.fault_processes.iter().filter_map(|process| match &process.arrivals {
            _ if process.from > self.stop.at => Some(format!(
                "stop.at {} comes before the fault process with cause {:?} begins: from is {}",
                self.stop.at, process.cause, process.from
            )),
            ArrivalProcess::Trace(faults) => {
                trace_contradiction(self.stop.at, &process.cause, faults.iter().map(|fault| fault.at))
            }
            ArrivalProcess::Renewal(_) => None,
        });
        self.drawn_contradictions.iter().cloned().chain(own).chain(self.useless_process_fields()).collect()
    }

    /// Returns the contradiction of a training job with containers that exit with 0, and so complete the JobSet, before
    /// the work can be done. The containers start before the job does.
    fn early_end(&self, job: &TrainingJob) -> Option<String> {
        let (work, jobset) = (job.work?, &self.jobsets.get(job.jobset)?.jobset);
        let end = completion_of(jobset, |rj| self.completion_time(jobset, rj))?;
        (end <= work).then(|| {
            format!(
                "the containers of JobSet {} exit with code 0 after {end} (runFor), before the work can be done: \
                 training.work is {work}",
                jobset.name
            )
        })
    }

    /// Returns the contradictions of time limits of a JobSet that end every attempt before its work can be done.
    fn short_limits(&self, at: usize) -> Vec<String> {
        let jobset = &self.jobsets[at].jobset;
        let training = self.training.iter().find(|job| job.jobset == at);
        let seconds = |value: i64| Duration::from_secs(u64::try_from(value).unwrap_or(0));
        let mut all = Vec::new();
        for rj in &jobset.spec.replicated_jobs {
            let Some(limit) = rj.template.active_deadline_seconds else { continue };
            let name = format!("activeDeadlineSeconds {limit} of replicatedJob {} of JobSet {}", rj.name, jobset.name);
            if let Some(run) = self.shortest_completion(jobset, rj).filter(|run| seconds(limit) <= *run) {
                all.push(format!("{name} comes before its containers can complete: runFor is {run}"));
            }
            // Without a checkpoint, each attempt begins again.
            let begins_again = training.filter(|job| job.checkpoint_schedule == CheckpointSchedule::Never);
            if let Some(work) = begins_again.and_then(|job| job.work).filter(|work| seconds(limit) <= *work) {
                all.push(format!(
                    "{name} comes before the work can be done: training.work is {work}, without checkpoints"
                ));
            }
        }
        let limit = jobset.labels.get(KUEUE_MAX_EXECUTION_TIME).and_then(|limit| limit.parse::<i64>().ok());
        if let Some(limit) = limit.filter(|_| self.kueue.as_ref().is_some_and(|kueue| kueue.manages(jobset))) {
            let name = format!("the label {KUEUE_MAX_EXECUTION_TIME}: {limit} of JobSet {}", jobset.name);
            let run = completion_of(jobset, |rj| self.shortest_completion(jobset, rj));
            if let Some(run) = run.filter(|run| seconds(limit) <= *run) {
                all.push(format!("{name} comes before its containers can complete: runFor is {run}"));
            }
            if let Some(work) = training.and_then(|job| job.work).filter(|work| seconds(limit) <= *work) {
                all.push(format!("{name} comes before the work can be done: training.work is {work}"));
            }
        }
        all
    }

    /// Returns the shortest time from the start of its containers to the completion of a replicatedJob in any attempt.
    /// `None` if some pods run indefinitely or until the end of a training job.
    fn shortest_completion(&self, jobset: &JobSet, rj: &ReplicatedJob) -> Option<Duration> {
        let mut shortest = Duration(u64::MAX);
        for rule in self.containers.iter().filter(|rule| rule.may_apply_to(jobset, rj)) {
            if rule.exit_code == 0 {
                shortest = shortest.min(rule.run_for?);
            }
            if rule.is_for_all_pods() {
                return (shortest < Duration(u64::MAX)).then_some(shortest);
            }
        }
        None
    }

    /// Returns the contradiction of an elastic job whose JobSet restarts all slices whenever one fails.
    fn useless_elasticity(&self, job: &TrainingJob) -> Option<String> {
        let (elastic, jobset) = (job.elastic.as_ref()?, &self.jobsets.get(job.jobset)?.jobset);
        let slices = jobset.spec.replicated_jobs.get(elastic.slice_job as usize)?;
        let mut rules = jobset.spec.failure_policy.iter().flat_map(|policy| &policy.rules);
        let restarts_job = rules.any(|rule| {
            use FailurePolicyAction::{RestartJob, RestartJobAndIgnoreMaxRestarts};
            matches!(rule.action, RestartJob | RestartJobAndIgnoreMaxRestarts)
        });
        let mut pod_rules = slices.template.pod_failure_policy.iter().flatten();
        let ignores = pod_rules.any(|rule| rule.action == PodFailurePolicyAction::Ignore);
        let pod = &slices.template.template.spec;
        let restarts_containers = pod.restart_policy != RestartPolicy::Never
            || pod.containers.iter().any(|c| c.restart_policy.is_some() || !c.restart_policy_rules.is_empty());
        let continues = restarts_job || ignores || restarts_containers || slices.template.backoff_limit() > 0;
        if elastic.min_slices >= slices.replicas {
            return Some(format!(
                "training.elastic.minSlices {} is the number of slices of JobSet {}, so that the training never continues \
                 with fewer",
                elastic.min_slices, jobset.name
            ));
        }
        // A Job whose node is lost fails only when the node returns or is deleted.
        (!continues && !self.loses_nodes()).then(|| {
            format!(
                "training.elastic.minSlices {} has no effect: the failure of a slice restarts all Jobs of JobSet {} (no \
                 rule with action RestartJob, no pod replacement within a Job, no fault that makes nodes unreachable)",
                elastic.min_slices, jobset.name
            )
        })
    }

    /// Returns whether faults make nodes unreachable for a time.
    fn loses_nodes(&self) -> bool {
        use FaultAction::{CrashNode, DeleteNode, PartitionNode};
        let is_loss = |action: &RandomAction| {
            matches!(action, RandomAction::Crash | RandomAction::Partition | RandomAction::Reclaim)
        };
        let scripted = self.faults.iter().any(|f| matches!(f.action, CrashNode(_) | PartitionNode(_) | DeleteNode(_)));
        scripted || self.fault_processes.iter().any(|process| is_loss(&process.action))
    }

    /// Returns the time from the start of its containers to the completion of a replicatedJob. `None` if container
    /// rules do not make all of its pods succeed.
    fn completion_time(&self, jobset: &JobSet, rj: &ReplicatedJob) -> Option<Duration> {
        let mut longest = Duration::ZERO;
        for rule in self.containers.iter().filter(|rule| rule.may_apply_to(jobset, rj)) {
            if rule.is_for_all_pods() && rule.exit_code != 0 {
                return None;
            }
            // Pods that fail or run in some attempts only run again.
            if rule.exit_code == 0 {
                longest = longest.max(rule.run_for?);
            }
            if rule.is_for_all_pods() {
                return Some(longest);
            }
        }
        None
    }

    /// Returns the contradictions of container rules that never apply, because an earlier one always does.
    fn shadowed_container_rules(&self) -> Vec<String> {
        let is_init = |name: &str| {
            let mut specs = self.jobsets.iter().flat_map(|js| &js.jobset.spec.replicated_jobs);
            specs.any(|rj| rj.template.template.spec.init_containers.iter().any(|c| c.name == name))
        };
        let written = self.containers.iter().enumerate().filter(|(_, rule)| rule.from_command.is_none());
        let shadowed = written.filter_map(|(i, rule)| {
            let earlier = self.containers[..i].iter().position(|earlier| earlier.covers(rule, is_init))?;
            Some(format!(
                "containers[{i}] never applies: containers[{earlier}] applies to all of its pods and is first"
            ))
        });
        shadowed.collect()
    }

    /// Returns the contradictions of checkpoint intervals.
    pub fn checkpoint_contradictions(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for job in &self.training {
            let CheckpointSchedule::Checkpoints(checkpoints) = &job.checkpoint_schedule else {
                continue;
            };
            // The durable checkpoint is the last one.
            let durable = checkpoints.len().saturating_sub(1);
            for (i, checkpoint) in checkpoints.iter().enumerate() {
                let path = match i {
                    i if i == durable => "training.checkpoint".to_owned(),
                    i => format!("training.checkpoint.tiers[{i}]"),
                };
                let times = (checkpoint.every, checkpoint.blocking);
                all.extend(checkpoint_contradictions(&path, times, job.work, self.stop.at));
                let commit = Duration::from_seconds_f64(checkpoint.commit_delay.mean_s());
                if commit > checkpoint.every {
                    let effect = match durable {
                        0 => "the job is blocked until the previous checkpoint is complete",
                        _ => "checkpoints of this kind are written less often",
                    };
                    let every = checkpoint.every;
                    all.push(format!("{path}.commitDelay {commit} is longer than {path}.every {every}: {effect}"));
                }
            }
        }
        all
    }
}

/// Returns the time to the completion of a JobSet by its success policy from those of its replicatedJobs; `None` if it
/// does not complete.
fn completion_of(jobset: &JobSet, of_job: impl Fn(&ReplicatedJob) -> Option<Duration>) -> Option<Duration> {
    let policy = jobset.spec.success_policy.as_ref();
    let targets = policy.map_or(&[][..], |policy| &policy.target_replicated_jobs);
    let targeted = jobset.spec.replicated_jobs.iter();
    let targeted = targeted.filter(|rj| targets.is_empty() || targets.contains(&rj.name));
    let targeted: Vec<Option<Duration>> = targeted.map(of_job).collect();
    match policy.map_or(ConditionOperator::All, |policy| policy.operator) {
        ConditionOperator::All => targeted.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max(),
        ConditionOperator::Any => targeted.into_iter().flatten().min(),
    }
}

/// Returns the contradictions of rules of the failure policy that never apply, because an earlier one always does.
fn shadowed_failure_rules(jobset: &JobSet) -> Vec<String> {
    let rules = jobset.spec.failure_policy.as_ref().map_or(&[][..], |policy| &policy.rules);
    let shadowed = rules.iter().enumerate().filter_map(|(i, rule)| {
        let earlier = rules[..i].iter().find(|earlier| earlier.covers(rule))?;
        Some(format!(
            "rule {:?} of the failurePolicy of JobSet {} never applies: rule {:?} matches all of its failures and is \
             first",
            rule.name, jobset.name, earlier.name
        ))
    });
    shadowed.collect()
}
