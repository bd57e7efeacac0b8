//! Reasons why a pod is blocked at the end of a run.

use super::Diagnosis;
use crate::store::flag;
use sim_api::spec::PodReplacementPolicy;
use sim_base::{JobId, PodId};

impl Diagnosis<'_, '_> {
    /// Name of a pod without its suffix.
    pub(super) fn pod_name(&self, pod: PodId) -> String {
        let store = &self.ctx.store;
        format!("{}-{}", store.names.job(store.pods.job[pod.ix()]), store.pods.index[pod.ix()])
    }

    pub(super) fn pod_wait_reason(&self, job: JobId, pod: PodId) -> Option<String> {
        let (store, name) = (&self.ctx.store, self.pod_name(pod));
        let node = store.pods.node[pod.ix()];
        let bound = store.pods.has(pod, flag::BOUND);
        let silent = bound && !self.components.kubelet.is_responsive(node);
        // A repair after the end of the run would have brought the node back.
        let of_node = |why: String| if self.repairs_pending { self.with_run_end(why) } else { why };
        if silent && store.pods.has(pod, flag::DELETING) {
            return Some(of_node(self.termination_wait_reason(job, pod, &name)));
        }
        let held = store.pods.has(pod, flag::DELETING) && store.pods.has(pod, flag::HELD);
        if held && store.pods.has(pod, flag::CONFIRMED) {
            return Some(format!("pod {name} is being deleted, but no modelled controller removes its finalizers"));
        }
        let tracked = store.pods.is_terminal(pod) && store.pods.has(pod, flag::FINALIZER);
        let finished = store.jobs[job.ix()].status.is_finished();
        if tracked && finished && store.pods.has(pod, flag::DELETING) {
            return Some(format!(
                "pod {name} keeps the finalizer by which its Job counts it; the status of the Job was set from outside, \
                 so it counts no more pods"
            ));
        }
        if store.pods.has(pod, flag::GATED) && !store.pods.has(pod, flag::DELETING) {
            if let Some(why) = self.topology_gate_reason(job, pod) {
                return Some(format!("pod {name} keeps Kueue's scheduling gate kueue.x-k8s.io/topology: {why}"));
            }
            let is_gated = |pod: &PodId| store.pods.has(*pod, flag::GATED) && !store.pods.has(*pod, flag::DELETING);
            let jobs = store.jobs_of(store.jobs[job.ix()].jobset);
            let others = jobs.flat_map(|job| store.jobs[job.ix()].pods.iter()).filter(is_gated).count() - 1;
            let (who, an_action) = match others {
                0 => (format!("pod {name} has"), "a scenario can remove them"),
                1 => (format!("pod {name} and another one have"), "a scenario can remove them with one action per pod"),
                n => (format!("pod {name} and {n} others have"), "a scenario can remove them with one action per pod"),
            };
            return Some(format!(
                "{who} scheduling gates that nothing removes; {an_action}: faults: [{{at: 10m, patch: {{kind: Pod, name: \
                 {name}, merge: {{spec: {{schedulingGates: null}}}}}}}}]"
            ));
        }
        let missing = self.components.scheduler.missing_profile(store, pod).filter(|_| !bound);
        if let Some(scheduler) = missing {
            return Some(format!(
                "pod {name} is Pending, because no profile of kube-scheduler has its schedulerName {scheduler:?}; a \
                 KubeSchedulerConfiguration defines profiles"
            ));
        }
        if let Some(why) = self.components.scheduler.group_hold_reason(self.ctx, pod) {
            return Some(format!("pod {name} is Pending: {why}"));
        }
        if let Some(why) = self.unschedulable_reason(job, pod) {
            let may_come = self.may_gain_capacity(store.jobs[job.ix()].jobset);
            return Some(if may_come { self.with_run_end(why) } else { why });
        }
        let is_ending = store.pods.is_terminal(pod) || store.pods.has(pod, flag::DELETING);
        if let Some(image) = self.components.kubelet.unpulled_image(self.ctx, pod).filter(|_| !silent && !is_ending) {
            return Some(self.with_run_end(format!(
                "pod {name} cannot start: its image {image} cannot be pulled (ErrImagePull, ImagePullBackOff)"
            )));
        }
        (silent && !store.pods.is_terminal(pod)).then(|| {
            let node = store.names.node(node);
            of_node(format!("pod {name} is on node {node}, which does not answer"))
        })
    }

    /// Returns why Kueue assigns no domain to a pod of an admitted Workload, if its pod set is placed by topology.
    fn topology_gate_reason(&self, job: JobId, pod: PodId) -> Option<String> {
        let row = &self.ctx.store.jobs[job.ix()];
        let stored = &self.ctx.store.jobsets[row.jobset.ix()];
        let (workload, replicated_job) =
            (stored.workload.as_ref()?, stored.spec.spec.replicated_jobs.get(row.rj as usize)?);
        let (_, assignment) = workload.placed_pod_sets().find(|(placed, _)| placed.name == replicated_job.name)?;
        let selector = self.ctx.store.follower_selector(pod);
        if let Some((key, value)) = selector.filter(|(key, _)| assignment.levels.contains(key)) {
            return Some(format!(
                "exclusive placement has set its node selector to {key}={value}, and the API server refuses another \
                 value from the topology assignment of its Workload"
            ));
        }
        let pod_set = workload.pod_sets.iter().find(|pod_set| pod_set.name == replicated_job.name)?;
        let size = pod_set.topology.as_ref().and_then(|topology| topology.slices.first()).map_or(1, |slice| slice.size);
        let count = pod_set.count;
        Some(match count.checked_rem(size).unwrap_or(0) {
            0 => "no domain of its Workload's topology assignment is left for it".to_owned(),
            rest => format!(
                "the slice size {size} does not divide its {count} pods, and Kueue places whole slices only; {rest} pods \
                 stay gated"
            ),
        })
    }

    pub(super) fn unschedulable_reason(&self, job: JobId, pod: PodId) -> Option<String> {
        let (store, scheduler) = (&self.ctx.store, &self.components.scheduler);
        scheduler.is_unschedulable(pod).then(|| {
            let (name, index) = (store.names.job(job), store.pods.index[pod.ix()]);
            let why = store.names.text(scheduler.last_message(pod));
            format!("pod {name}-{index} cannot be scheduled: {why}")
        })
    }

    /// The reason on an unresponsive node. kubernetes.md 1.4: a Job that replaces only failed pods (podFailurePolicy,
    /// podReplacementPolicy Failed) keeps its finalizer on a pod until the end of the pod is reported.
    fn termination_wait_reason(&self, job: JobId, pod: PodId, name: &str) -> String {
        let (store, names) = (&self.ctx.store, &self.ctx.store.names);
        let (node, job_name) = (names.node(store.pods.node[pod.ix()]), names.job(job));
        let policy = store.job_spec(job).pod_replacement_policy();
        let must_end = policy == PodReplacementPolicy::Failed && store.pods.has(pod, flag::FINALIZER);
        let until = "until the Node object is deleted, tainted out-of-service";
        if must_end && store.pods.has(pod, flag::CONFIRMED) {
            return format!(
                "pod {name} was removed by force from node {node}, which does not answer, but the Job controller's \
                 finalizer keeps it: {job_name} replaces only pods that have failed (podFailurePolicy or \
                 podReplacementPolicy), and nobody says so {until}, or the node answers"
            );
        }
        let by_force = if must_end {
            "or answers: it replaces only pods that have failed, so removal by force does not help"
        } else {
            "or the pod is removed by force"
        };
        format!(
            "pod {name} is terminating on node {node}, which does not answer; {job_name} cannot end {until}, {by_force}"
        )
    }
}
