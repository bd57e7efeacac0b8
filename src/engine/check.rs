//! Whole-state invariants: recomputes from scratch everything that the store maintains incrementally (`--paranoid`,
//! tests).

use super::ControlPlaneComponents;
use super::ctx::EngineContext;
use crate::store::{JobCounters, NO_ATTEMPT, ObjectStore, PodPhase, flag};
use sim_base::{JobId, JobSetId, PodId};

/// Panics with the first disagreement between stored and recomputed state.
pub fn check_state(ctx: &EngineContext<'_>, parts: &ControlPlaneComponents) {
    check_counters(ctx);
    check_free_resources(ctx.store, parts);
    check_tallies(ctx.store);
    parts.accounting.check(ctx);
    parts.jobset_manager.check();
}

fn check_counters(ctx: &EngineContext<'_>) {
    let s = &**ctx.store;
    let mut derived = vec![(JobCounters::default(), 0usize); s.jobs.len()];
    for pod in existing_pods(s) {
        let i = pod.ix();
        let (c, objects) = &mut derived[s.pods.job[i].ix()];
        *objects += 1;
        let (terminal, deleting) = (s.pods.is_terminal(pod), s.pods.has(pod, flag::DELETING));
        if s.pods.is_active(pod) {
            c.active += 1;
            c.ready += u32::from(s.pods.has(pod, flag::READY));
            c.container_restarts += s.pods.restart_sum[i];
        }
        c.terminating += u32::from(deleting && !terminal);
        if s.pods.has(pod, flag::FINALIZER) {
            c.with_finalizer += 1;
            c.ended_with_finalizer += u32::from(deleting || terminal);
        }
        let bound = s.pods.has(pod, flag::BOUND);
        let ready = s.pods.has(pod, flag::READY);
        assert!(!ready || bound, "pod {i} is ready without a node");
    }
    for (j, (c, objects)) in derived.iter().enumerate() {
        let (job, name) = (&s.jobs[j], s.names.job(JobId(j as u32)));
        assert_eq!(job.live, *c, "counters of {name} at {}", ctx.now);
        assert_eq!(job.pods.len(), *objects, "pods of {name} at {}", ctx.now);
        let listed = job.pods.iter().all(|p| s.pods.job[p.ix()] == JobId(j as u32));
        assert!(listed, "a pod of another Job is in the list of {name}");
    }
}

fn existing_pods(s: &ObjectStore) -> impl Iterator<Item = PodId> + '_ {
    let rows = (0..s.pods.len() as u32).map(PodId);
    rows.filter(|p| s.pods.exists(*p))
}

fn check_free_resources(s: &ObjectStore, parts: &ControlPlaneComponents) {
    let cluster = &s.nodes.cluster;
    let columns = cluster.resources.len();
    let mut free = cluster.allocatable.clone();
    for pod in existing_pods(s) {
        let node = parts.scheduler.held_node(pod);
        if node.is_some() {
            for (c, milli) in &s.facts(pod).requests {
                free[node.ix() * columns + *c as usize] -= milli;
            }
        }
    }
    let own = parts.scheduler.free();
    assert!(free == own, "the scheduler's books of free resources agree");
}

fn check_tallies(s: &ObjectStore) {
    for (i, js) in s.jobsets.iter().enumerate() {
        let carries = |p: &PodId| {
            s.jobset_of(*p) == JobSetId(i as u32)
                && s.pods.phase[p.ix()] != PodPhase::Failed
                && s.pods.attempt[p.ix()] != NO_ATTEMPT
        };
        let attempts = existing_pods(s).filter(carries).count();
        let counted = js.in_place_view().attempts as usize;
        assert_eq!(counted, attempts, "attempts of JobSet {i}");
    }
}
