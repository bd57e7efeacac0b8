//! Selection of the scenario's rule for a container run.

use super::KubeletState;
use crate::{ctx::EngineContext, store::NO_ATTEMPT};
use sim_api::spec::ContainerRule;
use sim_base::PodId;

impl KubeletState {
    /// The first container rule that matches the current run of this pod's main containers. A pod without a JobSet
    /// matches only rules that name no JobSet.
    pub(super) fn rule_for<'a>(&self, ctx: &EngineContext<'a>, pod: PodId) -> Option<&'a ContainerRule> {
        if ctx.scenario.containers.is_empty() {
            return None;
        }
        let mains = &ctx.store.pod_spec(pod).containers;
        self.find_rule(ctx, pod, self.pods[pod.ix()].restarts, |named| {
            named.is_none_or(|name| mains.iter().any(|c| c.name == name))
        })
    }

    /// The first rule for the pod whose container is `applies_to`, at the given run of this container.
    pub(super) fn find_rule<'a>(
        &self, ctx: &EngineContext<'a>, pod: PodId, run: u32, applies_to: impl Fn(Option<&str>) -> bool,
    ) -> Option<&'a ContainerRule> {
        let rules = &ctx.scenario.containers;
        let (s, i, life) = (&**ctx.store, pod.ix(), &self.pods[pod.ix()]);
        let id = s.pods.job[i];
        let (job, names) = (&s.jobs[id.ix()], &s.names.jobs[id.ix()]);
        let jobset = s.names.jobsets.get(job.jobset.ix());
        let jobset = jobset.map(|names| names.name.as_str());
        let rj = jobset.map(|_| names.replicated_job.as_str());
        let index = if s.is_indexed(id) { s.pods.index[i] } else { 0 };
        let attempt = match life.agent_attempt {
            NO_ATTEMPT => 0,
            attempt => attempt,
        };
        let named = |want: &Option<String>, have: Option<&str>| want.is_none() || want.as_deref() == have;
        let is = |want: Option<u32>, have: u32| want.is_none_or(|w| w == have);
        rules.iter().find(|r| {
            applies_to(r.container.as_deref())
                && named(&r.jobset, jobset)
                && named(&r.replicated_job, rj)
                && is(r.job_index, names.job_index)
                && is(r.pod_index, index)
                && is(r.restart_attempt, job.restart_attempt)
                && is(r.job_restart, job.job_restart_attempt)
                && is(r.job_try, u32::from(s.pods.job_try[i]))
                && is(r.in_place_attempt, attempt)
                && is(r.container_run, run)
        })
    }
}
