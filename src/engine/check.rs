//! Whole-state invariants: everything the engine keeps incrementally, derived again from scratch (`--paranoid`,
//! tests).

use super::jobs::Counters;
use super::model::Model;
use super::pods::{NO_ATTEMPT, Phase, flag};
use super::world::World;
use crate::base::*;

/// Panics with what does not agree.
pub fn whole_state(m: &Model, w: &World) {
    counters(m, w);
    resources(m, w);
    jobsets(m, w);
    let in_ledger: u64 = w.ledger.counts().iter().sum();
    let installed: u64 = m.cluster.accelerators.iter().map(|a| u64::from(*a)).sum();
    assert_eq!(
        in_ledger, installed,
        "ledger: accelerators in categories against installed ones"
    );
}

fn counters(m: &Model, w: &World) {
    let mut derived = vec![Counters::default(); m.jobs.len()];
    for p in 0..w.pods.len() {
        let pod = PodId(p as u32);
        if !w.pods.exists(pod) {
            continue;
        }
        let c = &mut derived[w.pods.job[p].ix()];
        let terminal = w.pods.phase[p].is_terminal();
        let deleting = w.pods.has(pod, flag::DELETING);
        c.objects += 1;
        if w.pods.is_active(pod) {
            c.active += 1;
            c.ready += u32::from(w.pods.has(pod, flag::READY));
            c.container_restarts += w.pods.restart_sum[p];
        }
        c.terminating += u32::from(deleting && !terminal);
        if w.pods.has(pod, flag::FINALIZER) {
            c.with_finalizer += 1;
            c.ended_with_finalizer += u32::from(deleting || terminal);
        }
        let bound = w.pods.has(pod, flag::BOUND);
        assert!(
            !w.pods.has(pod, flag::READY) || bound,
            "pod {p} is ready without a node"
        );
    }
    for (j, c) in derived.iter().enumerate() {
        assert_eq!(
            w.jobs[j].live,
            *c,
            "counters of {} at {}",
            m.names.job(JobId(j as u32)),
            w.now
        );
        assert!(
            w.jobs[j].exists || w.jobs[j].left_behind || c.objects == 0,
            "pods of a Job that does not exist: {j}"
        );
    }
}

fn resources(m: &Model, w: &World) {
    let columns = m.cluster.resources.len();
    let mut free = m.cluster.allocatable.clone();
    for p in 0..w.pods.len() {
        let pod = PodId(p as u32);
        if w.pods.exists(pod) && w.pods.has(pod, flag::HOLDS) {
            let template = m.jobs[w.pods.job[p].ix()].template;
            for (c, milli) in &m.templates[template.ix()].requests {
                free[w.pods.node[p].ix() * columns + *c as usize] -= milli;
            }
        }
    }
    assert!(
        free == w.nodes.free,
        "the scheduler's books of free resources do not agree"
    );
    assert!(free.iter().all(|f| *f >= 0), "a node is over-committed");
}

fn jobsets(m: &Model, w: &World) {
    for (i, js) in w.jobsets.iter().enumerate() {
        let (mut ready, mut done, mut attempts) = (0, 0i64, 0);
        for job in m.jobs_of(JobSetId(i as u32)) {
            ready += w.jobs[job.ix()].live.ready;
            done += w.jobs[job.ix()].done;
            let mut successes = 0;
            let model = &m.jobs[job.ix()];
            let extras = w.jobs[job.ix()].extra_pods.iter().copied();
            for pod in (model.first_pod..model.first_pod + model.slots)
                .map(PodId)
                .chain(extras)
            {
                let phase = w.pods.phase[pod.ix()];
                successes += u32::from(phase != Phase::Absent && w.pods.has(pod, flag::SUCCESS));
                let carries = phase != Phase::Absent
                    && phase != Phase::Failed
                    && w.pods.attempt[pod.ix()] != NO_ATTEMPT;
                attempts += u32::from(carries);
            }
            let exists = w.jobs[job.ix()].exists;
            assert!(
                !exists || successes <= w.jobs[job.ix()].successes,
                "successes of {} at {}",
                m.names.job(job),
                w.now
            );
        }
        assert_eq!(
            (js.ready_pods, js.pods_done),
            (ready, done),
            "ready pods of JobSet {i} at {}",
            w.now
        );
        assert_eq!(
            js.in_place_view().attempts,
            attempts,
            "attempts of JobSet {i}"
        );
    }
}
