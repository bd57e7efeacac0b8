//! The transitions of a pod object at the API server, each with all books it touches: the Job's counters, the
//! scheduler's resources, exclusive domains, the ledger, and who is told.

use super::event::Event;
use super::pods::{NO_ATTEMPT, Phase, flag};
use super::run::Run;
use crate::base::*;
use crate::record::{Body, Deleter, LedgerCategory};

impl Run<'_> {
    /// A pod object appears (POST answered). Picks an extra place while an older object of the index exists.
    pub fn create_pod(&mut self, job: JobId, index: u32) -> PodId {
        let primary = PodId(self.m.jobs[job.ix()].first_pod + index);
        // Without indexes, the nth pod of the Job.
        let counted = match self.indexed(job) {
            true => primary,
            false => PodId(self.m.jobs[job.ix()].first_pod),
        };
        let pods = &mut self.w.pods;
        let job_try = pods.next_try[counted.ix()];
        pods.next_try[counted.ix()] += 1;
        let pod = if pods.exists(primary) {
            pods.extra()
        } else {
            primary
        };
        if pod != primary {
            self.w.jobs[job.ix()].extra_pods.push(pod);
        }
        let pods = &mut self.w.pods;
        let i = pod.ix();
        pods.latest[primary.ix()] = pod;
        pods.phase[i] = Phase::Pending;
        pods.flags[i] = flag::FINALIZER;
        pods.job[i] = job;
        pods.index[i] = index;
        pods.node[i] = NodeId::NONE;
        pods.incarnation[i] += 1;
        pods.epoch[i] += 1;
        pods.resource_version[i] = 0;
        pods.attempt[i] = NO_ATTEMPT;
        pods.agent_attempt[i] = NO_ATTEMPT;
        pods.restarts[i] = 0;
        pods.job_try[i] = job_try;
        pods.exit_code[i] = 0;
        pods.exit_container[i] = 0;
        pods.restart_sum[i] = 0;
        pods.crash_level[i] = 0;
        (pods.index_failures[i], pods.ignored_failures[i]) = (0, 0);
        pods.unschedulable[i] = 0;
        pods.category[i] = LedgerCategory::Idle;
        pods.ended_at[i] = Time::NEVER;
        pods.evict_at[i] = Time::NEVER;
        let incarnation = pods.incarnation[i];
        let j = &mut self.w.jobs[job.ix()];
        j.live.objects += 1;
        j.live.active += 1;
        j.live.with_finalizer += 1;
        let attempt = j.restart_attempt;
        let jobset = self.m.jobs[job.ix()].jobset;
        self.w.jobsets[jobset.ix()].restarts_changed(None, Some(0));
        self.emit(Body::PodCreated {
            pod,
            incarnation,
            job,
            index,
            attempt,
        });
        pod
    }

    /// The binding is stored.
    pub fn bind_pod(&mut self, pod: PodId, node: NodeId) {
        let i = pod.ix();
        self.w.pods.set(pod, flag::BOUND);
        self.w.pods.resource_version[i] += 1;
        self.w.nodes.pods[node.ix()].push(pod);
        let incarnation = self.w.pods.incarnation[i];
        self.emit(Body::PodBound {
            pod,
            incarnation,
            node,
        });
        self.set_category(pod, LedgerCategory::Starting);
        self.pod_changed(pod);
        if self.w.pods.index[i] == 0 {
            self.leader_bound(pod, node);
        }
    }

    /// Ready condition of the pod, as stored.
    pub fn set_ready(&mut self, pod: PodId, ready: bool) {
        let i = pod.ix();
        if self.w.pods.has(pod, flag::READY) == ready {
            return;
        }
        self.w.pods.flags[i] ^= flag::READY;
        self.w.pods.ended_at[i] = if ready { Time::NEVER } else { self.w.now };
        self.w.pods.resource_version[i] += 1;
        let incarnation = self.w.pods.incarnation[i];
        let active = self.w.pods.is_active(pod);
        if active {
            let live = &mut self.w.jobs[self.w.pods.job[i].ix()].live;
            live.ready = if ready {
                live.ready + 1
            } else {
                live.ready - 1
            };
        }
        self.emit(if ready {
            Body::PodReady { pod, incarnation }
        } else {
            Body::PodNotReady { pod, incarnation }
        });
        if active {
            self.count_ready(pod, ready);
        }
        self.pod_changed(pod);
    }

    /// Phase Failed or Succeeded is stored.
    pub fn finish_pod(&mut self, pod: PodId, succeeded: bool) {
        let i = pod.ix();
        if self.w.pods.phase[i].is_terminal() {
            return;
        }
        let job = self.w.pods.job[i];
        let jobset = self.m.jobs[job.ix()].jobset;
        if succeeded && self.w.pods.has(pod, flag::FINALIZER) {
            // Before it stops being ready: the JobSet is as ready as before. One whose finalizer is off was deleted
            // by a suspension, and its end is nobody's success (D-13).
            self.w.pods.set(pod, flag::SUCCESS);
            self.pod_succeeded(job);
        }
        self.leave_active(pod);
        let deleting = self.w.pods.has(pod, flag::DELETING);
        let with_finalizer = self.w.pods.has(pod, flag::FINALIZER);
        let live = &mut self.w.jobs[job.ix()].live;
        if deleting {
            live.terminating -= 1;
        } else if with_finalizer {
            live.ended_with_finalizer += 1;
        }
        self.w.pods.phase[i] = if succeeded {
            Phase::Succeeded
        } else {
            Phase::Failed
        };
        self.w.pods.ended_at[i] = self.w.pods.ended_at[i].min(self.w.now);
        self.w
            .pods
            .clear(pod, flag::READY | flag::UP | flag::EXITED | flag::STOPPING);
        self.w.pods.epoch[i] += 1;
        self.w.pods.resource_version[i] += 1;
        if !succeeded && self.w.pods.attempt[i] != NO_ATTEMPT {
            // IPR-3: Failed pods are not asked for their attempt.
            let attempt = self.w.pods.attempt[i];
            self.w.jobsets[jobset.ix()].attempt_changed(Some(attempt), None);
        }
        let (incarnation, exit_code) = (
            self.w.pods.incarnation[i],
            i32::from(self.w.pods.exit_code[i]),
        );
        self.emit(Body::PodFinished {
            pod,
            incarnation,
            succeeded,
            exit_code,
        });
        self.release_node(pod);
        self.leader_left(pod);
        if succeeded {
            self.check_all_ready(jobset);
        }
        self.pod_changed(pod);
    }

    /// deletionTimestamp is stored. `grace`: zero removes the object as soon as its finalizers are gone.
    pub fn mark_deleting(&mut self, pod: PodId, by: Deleter, grace_zero: bool) {
        let i = pod.ix();
        let job = self.w.pods.job[i];
        let unbound_or_ended =
            !self.w.pods.has(pod, flag::BOUND) || self.w.pods.phase[i].is_terminal();
        let first = !self.w.pods.has(pod, flag::DELETING);
        if first {
            self.leave_active(pod);
            let terminal = self.w.pods.phase[i].is_terminal();
            let with_finalizer = self.w.pods.has(pod, flag::FINALIZER);
            self.w.pods.set(pod, flag::DELETING);
            self.w.pods.ended_at[i] = self.w.pods.ended_at[i].min(self.w.now);
            let live = &mut self.w.jobs[job.ix()].live;
            if !terminal {
                live.terminating += 1;
                if with_finalizer {
                    live.ended_with_finalizer += 1;
                }
            }
            self.w.pods.resource_version[i] += 1;
            let incarnation = self.w.pods.incarnation[i];
            self.emit(Body::PodDeleting {
                pod,
                incarnation,
                by,
            });
            self.leader_left(pod);
        }
        if self.w.pods.has(pod, flag::UP | flag::READY) {
            self.set_category(pod, LedgerCategory::Terminating);
        }
        if grace_zero || unbound_or_ended {
            self.w.pods.set(pod, flag::CONFIRMED);
        }
        self.pod_changed(pod);
        self.begin_stop(pod);
        self.remove_if_free(pod);
        if first && self.w.jobs[job.ix()].status.is_finished() {
            // No sync looks at a finished Job: its pods lose the finalizer through the queue of orphans.
            self.drop_finalizer(pod);
        }
        if first && self.w.pods.exists(pod) && !self.w.pods.has(pod, flag::BOUND) {
            self.terminating_unscheduled(pod);
        }
    }

    /// The Job controller's PATCH took the tracking finalizer off.
    pub fn drop_finalizer(&mut self, pod: PodId) {
        if !self.w.pods.has(pod, flag::FINALIZER) {
            return;
        }
        let i = pod.ix();
        self.w.pods.clear(pod, flag::FINALIZER);
        self.w.pods.resource_version[i] += 1;
        let ended = self.w.pods.phase[i].is_terminal() || self.w.pods.has(pod, flag::DELETING);
        let live = &mut self.w.jobs[self.w.pods.job[i].ix()].live;
        live.with_finalizer -= 1;
        if ended {
            live.ended_with_finalizer -= 1;
        }
        self.pod_changed(pod);
        self.remove_if_free(pod);
    }

    /// The object leaves etcd once it is deleting, confirmed and without finalizers.
    pub fn remove_if_free(&mut self, pod: PodId) {
        let i = pod.ix();
        if !self.w.pods.exists(pod) || self.w.pods.has(pod, flag::FINALIZER | flag::HELD) {
            return;
        }
        if !(self.w.pods.has(pod, flag::DELETING) && self.w.pods.has(pod, flag::CONFIRMED)) {
            return;
        }
        let job = self.w.pods.job[i];
        let jobset = self.m.jobs[job.ix()].jobset;
        if !self.w.pods.phase[i].is_terminal() {
            self.w.jobs[job.ix()].live.terminating -= 1;
            let attempt = self.w.pods.attempt[i];
            if attempt != NO_ATTEMPT {
                self.w.jobsets[jobset.ix()].attempt_changed(Some(attempt), None);
            }
        } else if self.w.pods.phase[i] == Phase::Succeeded {
            let attempt = self.w.pods.attempt[i];
            if attempt != NO_ATTEMPT {
                self.w.jobsets[jobset.ix()].attempt_changed(Some(attempt), None);
            }
        }
        let restarts = u32::from(self.w.pods.restarts[i]);
        self.w.jobsets[jobset.ix()].restarts_changed(Some(restarts), None);
        self.w.jobs[job.ix()].live.objects -= 1;
        let incarnation = self.w.pods.incarnation[i];
        self.emit(Body::PodGone { pod, incarnation });
        self.release_node(pod);
        if self.w.pods.has(pod, flag::BOUND) {
            let node = self.w.pods.node[i];
            self.w.nodes.pods[node.ix()].retain(|p| *p != pod);
        }
        self.w.pods.phase[i] = Phase::Absent;
        self.w.pods.epoch[i] += 1;
        self.pod_vanished(pod, job);
    }

    /// Frees the place and tells those who wait for the pod to be gone.
    fn pod_vanished(&mut self, pod: PodId, job: JobId) {
        let primary = PodId(self.m.jobs[job.ix()].first_pod + self.w.pods.index[pod.ix()]);
        if pod != primary {
            self.w.jobs[job.ix()].extra_pods.retain(|p| *p != pod);
            self.w.pods.spare.push(pod);
        }
        if self.w.pods.latest[primary.ix()] == pod && pod != primary {
            self.w.pods.latest[primary.ix()] = primary;
        }
        self.pod_changed_of(job);
        self.forget_left_behind(job);
        let incarnation = self.w.jobs[job.ix()].incarnation;
        if self.w.jobs[job.ix()].deleting {
            let lag = self.watch_lag();
            self.after(
                lag,
                Event::CollectorSees {
                    job,
                    incarnation,
                    deleted: false,
                },
            );
        }
        self.scheduler_deleted(pod);
    }

    /// The pod stops being active: counters of ready and active follow.
    fn leave_active(&mut self, pod: PodId) {
        if !self.w.pods.is_active(pod) {
            return;
        }
        let ready = self.w.pods.has(pod, flag::READY);
        let restarts = self.w.pods.restart_sum[pod.ix()];
        let live = &mut self.w.jobs[self.w.pods.job[pod.ix()].ix()].live;
        live.active -= 1;
        live.container_restarts -= restarts;
        if ready {
            live.ready -= 1;
            self.count_ready(pod, false);
        }
    }

    /// Ready pods of the JobSet, and the moment when all are.
    fn count_ready(&mut self, pod: PodId, ready: bool) {
        let job = self.w.pods.job[pod.ix()];
        let jobset = self.m.jobs[job.ix()].jobset;
        let js = &mut self.w.jobsets[jobset.ix()];
        if ready {
            js.ready_pods += 1;
            self.set_category(pod, LedgerCategory::Waiting);
        } else {
            js.ready_pods -= 1;
            if !self.w.pods.has(pod, flag::DELETING) {
                self.set_category(pod, LedgerCategory::Starting);
            }
        }
        self.check_all_ready(jobset);
    }

    /// Which category the pod's accelerators are in; ready ones count as `Waiting` or, with the whole JobSet ready,
    /// `Productive`.
    pub fn set_category(&mut self, pod: PodId, to: LedgerCategory) {
        let i = pod.ix();
        let from = self.w.pods.category[i];
        if from == to {
            return;
        }
        self.w.pods.category[i] = to;
        let job = self.w.pods.job[i];
        let accelerators = u64::from(self.m.jobs[job.ix()].accelerators);
        let node = self.w.pods.node[i];
        if accelerators == 0 || !node.is_some() {
            return;
        }
        if self.node_is_unhealthy(node) {
            return;
        }
        let rate = accelerators * self.m.cluster.price_micros_per_hour[node.ix()];
        let jobset = self.m.jobs[job.ix()].jobset;
        let js = &mut self.w.jobsets[jobset.ix()];
        let shown = |c: LedgerCategory| match c {
            LedgerCategory::Waiting if js.all_ready => LedgerCategory::Productive,
            c => c,
        };
        let (shown_from, shown_to) = (shown(from), shown(to));
        if from == LedgerCategory::Waiting {
            js.ready_accelerators -= accelerators;
            js.ready_rate -= rate;
        }
        if to == LedgerCategory::Waiting {
            js.ready_accelerators += accelerators;
            js.ready_rate += rate;
        }
        self.w
            .ledger
            .transfer(self.w.now, accelerators, rate, shown_from, shown_to);
    }

    /// Tells the Job controller, and with the gate the JobSet manager, that a pod changed.
    pub fn pod_changed(&mut self, pod: PodId) {
        let job = self.w.pods.job[pod.ix()];
        self.pod_changed_of(job);
    }

    fn pod_changed_of(&mut self, job: JobId) {
        self.enqueue_job_batched(job);
        let jobset = self.m.jobs[job.ix()].jobset;
        if self.m.jobsets[jobset.ix()].in_place {
            self.pod_news(jobset);
        }
    }

    /// From a write to the cache of whoever watches.
    pub fn watch_lag(&mut self) -> Duration {
        self.w.api.watch_lag()
    }
}
