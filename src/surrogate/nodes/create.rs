//! The creation of Jobs and pods, in the startup order of their JobSet, and the placement of pods.

use super::event::NodesEvent;
use super::places::{PodRole, SearchedPod};
use super::profile::{JobDelays, PlacementDelays};
use super::run::Replication;
use sim_base::{Duration, NodeId};
use sim_engine::record::LedgerCategory;

impl Replication<'_, '_> {
    /// A new Job exists, and the scheduler places its pods, unless Jobs before it in the startup order are not ready.
    pub fn create_job(&mut self, job: usize) {
        let of = &self.model.jobs[job];
        self.jobs[job].is_deferred = !self.has_predecessors(job);
        if self.jobs[job].is_deferred {
            return;
        }
        self.jobsets[of.jobset].absent -= 1;
        let status = &self.jobsets[of.jobset].status;
        let restarts = status.replicated_jobs.get(of.rj as usize);
        let restarts = restarts.and_then(|rj| rj.job_restarts.get(of.index as usize)).copied().unwrap_or(0);
        let attempt = status.restarts;
        let row = &mut self.jobs[job];
        (row.exists, row.is_awaited) = (true, false);
        (row.attempt, row.restarts) = (attempt, restarts);
        row.unplaced = of.pods.len() as u32;
        self.accounts.set_category(self.now, job, LedgerCategory::Starting);
        if !self.model.takes_nodes_alone {
            of.pods.clone().for_each(|pod| self.add_apart(pod));
        }
        let rest = self.placement(job).rest;
        self.place_pods(job, rest);
    }

    /// The Job controller replaces the failed pods of a Job, unless another failure has changed the time.
    pub fn replace_pods(&mut self, job: usize) {
        let row = &self.jobs[job];
        let is_over = row.is_deleting || row.failure.is_some() || row.slice.is_done;
        if !row.exists || is_over || row.replaces_at != self.now {
            return;
        }
        let mut pods = row.apart.clone();
        pods.sort_unstable();
        for pod in pods {
            let row = &self.pods[pod];
            if row.exists && !(row.is_deleting && self.fails_while_terminating(job)) {
                continue;
            }
            if row.exists {
                self.leave_replaced(pod);
            }
            self.jobs[job].unplaced += 1;
            let row = &mut self.pods[pod];
            (row.exists, row.node, row.epoch) = (true, NodeId::NONE, row.epoch + 1);
        }
        self.place_pods(job, Duration::ZERO);
    }

    /// The pod terminates on a lost machine, and its Job has a replacement for it.
    fn leave_replaced(&mut self, pod: usize) {
        let (job, is_leader) = (self.model.job_of_pod[pod] as usize, self.is_leader(pod));
        let row = &mut self.pods[pod];
        let node = row.node;
        row.end();
        self.on_node[node.ix()].retain(|other| *other != pod);
        self.replaced_on[node.ix()].push((job, is_leader));
        self.jobs[job].lost -= 1;
        self.jobs[job].replaced += 1;
    }

    /// Pods that have a replacement end, because their machine returned or garbage collection removes them.
    pub fn end_replaced(&mut self, node: NodeId) {
        for (job, is_leader) in std::mem::take(&mut self.replaced_on[node.ix()]) {
            self.jobs[job].replaced -= 1;
            self.accounts.release(self.now, job, node);
            self.places.move_pod(job, is_leader, node, false);
            self.update_billing(node, false);
            self.has_free_nodes = true;
            self.check_failed(job);
            self.check_gone(job);
            let jobset = self.model.jobs[job].jobset;
            if self.jobsets[jobset].waits_to_complete {
                self.complete(jobset);
            }
        }
    }

    /// Returns whether the pods of all Jobs that come before a Job in the startup order run.
    fn has_predecessors(&self, job: usize) -> bool {
        let of = &self.model.jobs[job];
        self.model.jobsets[of.jobset].predecessors[of.rj as usize].iter().all(|before| self.has_all_pods(*before))
    }

    /// Returns whether all pods of a Job run.
    pub fn has_all_pods(&self, job: usize) -> bool {
        let row = &self.jobs[job];
        let lacks_none = row.unplaced + row.lost == 0 && row.apart.iter().all(|pod| self.pods[*pod].exists);
        row.slice.is_done || row.exists && !row.is_deleting && row.failure.is_none() && lacks_none
    }

    /// Schedules the Jobs that waited for the pods of others: they follow as long after these as measured.
    fn place_deferred(&mut self, jobset: usize) {
        for job in self.jobs_of(jobset) {
            if !self.jobs[job].is_deferred || !self.has_predecessors(job) {
                continue;
            }
            let of = &self.model.jobs[job];
            let before = &self.model.jobsets[of.jobset].predecessors[of.rj as usize];
            let measured = |job: usize| {
                let placement = self.placement(job);
                placement.first + placement.rest
            };
            let last = before.iter().map(|job| measured(*job)).max().unwrap_or(Duration::ZERO);
            let bound = before.iter().map(|job| self.jobs[*job].bound_at).max().unwrap_or(self.now);
            let after = Duration(self.placement(job).first.0.saturating_sub(last.0));
            self.jobs[job].is_deferred = false;
            let (epoch, at) = (self.jobs[job].epoch, self.now.max(bound + after));
            self.schedule(at, NodesEvent::JobPlaced { job, epoch });
        }
    }

    /// Measured delays of the placement of a Job in the current start or restart.
    pub fn placement(&self, job: usize) -> PlacementDelays {
        let jobset = self.model.jobs[job].jobset;
        let profile = &self.model.jobsets[jobset].profile;
        if self.jobsets[jobset].has_started {
            let JobDelays { first, rest, ready, .. } = self.job_delays(job);
            PlacementDelays { first, rest, ready }
        } else {
            let start = &profile.starts[self.jobsets[jobset].delays % profile.starts.len()];
            start.placed[self.position_of(job)]
        }
    }

    /// Places the pods of a Job that have no node. The last of them is bound after `rest`.
    fn place_pods(&mut self, job: usize, rest: Duration) {
        let lost = self.jobs[job].lost;
        let placed = if self.waits_as_one(job) { self.place_crowd(job) } else { self.place_single_pods(job) };
        let starts = placed > self.jobs[job].lost - lost;
        let jobset = self.model.jobs[job].jobset;
        // After the start, the barrier of the agents decides when the JobSet is ready.
        let has_barrier = self.is_in_place(jobset) && self.jobsets[jobset].has_started;
        if starts && has_barrier {
            self.join_in_place(jobset);
        }
        if placed > 0 {
            let epoch = self.jobs[job].epoch;
            let after = rest + self.ready_delay(job);
            self.jobs[job].slice.await_pods(self.now, after);
            self.schedule_after(after, NodesEvent::PodsRun { job, epoch });
        }
        if self.jobs[job].unplaced > 0 {
            if self.jobs[job].waits_since.is_none() {
                self.waits += 1;
                self.jobs[job].waits_since = Some(self.waits);
                self.waiting.insert((self.waits, job));
            }
            return;
        }
        self.stop_waiting(job);
        if placed > 0 {
            self.jobs[job].bound_at = self.now + rest;
            self.place_deferred(jobset);
            if !has_barrier {
                self.check_complete(jobset);
            }
        }
    }

    /// The pods of a Job are ready, and wait for others of their JobSet.
    pub fn pods_run(&mut self, job: usize) {
        let row = &self.jobs[job];
        let waits = row.exists && !row.is_deleting && row.failure.is_none() && !row.slice.is_over();
        if waits && !self.takes_part(job) {
            self.accounts.set_category(self.now, job, LedgerCategory::Waiting);
        }
        self.jobs[job].slice.has_run = true;
        self.note_change(self.model.jobs[job].jobset);
    }

    /// No pod of the Job waits for a node any more.
    pub fn stop_waiting(&mut self, job: usize) {
        if let Some(since) = self.jobs[job].waits_since.take() {
            self.waiting.remove(&(since, job));
        }
    }

    /// Names the next searches of pods of a Job.
    pub fn next_search(&mut self, job: usize, is_leader: bool, number: u32) -> SearchedPod {
        let row = &mut self.jobs[job];
        let search = row.searches + 1;
        row.searches += number;
        SearchedPod { job, is_leader, attempt: row.attempt, search }
    }

    /// Places the pods that have states of their own. Returns the number of placed pods.
    fn place_single_pods(&mut self, job: usize) -> u32 {
        let exclusive = self.model.template_of(job).exclusive;
        let mut placed = 0;
        let mut waiting: Vec<usize> = self.jobs[job].apart.clone();
        waiting.retain(|pod| self.pods[*pod].exists && !self.pods[*pod].node.is_some());
        waiting.sort_unstable();
        for pod in waiting {
            let is_leader = self.is_leader(pod);
            let role = match exclusive {
                Some(key) if !is_leader => {
                    // The webhook refuses followers until their leader has a node (EXC-10); EXC-8 writes its domain.
                    if !self.pods[pod].domain.is_some() {
                        let leader = self.leader_node(job);
                        if !leader.is_some() {
                            break;
                        }
                        self.pods[pod].domain = self.model.domains[key as usize].of[leader.ix()];
                    }
                    PodRole::Follower(self.pods[pod].domain)
                }
                _ => PodRole::First,
            };
            let wanted = self.next_search(job, is_leader, 1);
            let Some(node) = self.places.find(wanted, role, self.draws) else { continue };
            self.bind(pod, job, node);
            placed += 1;
        }
        placed
    }

    /// The node of the first pod of a Job.
    fn leader_node(&self, job: usize) -> NodeId {
        let (first, crowd) = (self.model.jobs[job].pods.start, &self.jobs[job].crowd);
        if self.pods[first].is_apart { self.pods[first].node } else { crowd.leader }
    }

    fn bind(&mut self, pod: usize, job: usize, node: NodeId) {
        let is_leader = self.is_leader(pod);
        self.places.move_pod(job, is_leader, node, true);
        self.accounts.bind(self.now, job, node);
        self.on_node[node.ix()].push(pod);
        let is_up = self.health.rows[node.ix()].is_connected;
        let row = &mut self.pods[pod];
        (row.node, row.bound_at, row.is_lost, row.starts_late) = (node, self.now, !is_up, !is_up);
        let job = &mut self.jobs[job];
        job.unplaced -= 1;
        // The scheduler does not know yet that the machine has failed: the pod does not start.
        job.lost += u32::from(!is_up);
    }

    /// Schedules the readiness of a JobSet whose pods all have nodes.
    pub fn check_complete(&mut self, jobset: usize) {
        if self.is_elastic(jobset) {
            return self.note_change(jobset);
        }
        if !self.is_complete(jobset) {
            return;
        }
        let bound = self.jobs_of(jobset).map(|job| self.jobs[job].bound_at).max().unwrap_or(self.now);
        let at = self.now.max(bound + self.run_delays(jobset).ready);
        let row = &mut self.jobsets[jobset];
        row.epoch += 1;
        let epoch = row.epoch;
        self.schedule(at, NodesEvent::Ready { jobset, epoch });
    }

    /// Nodes may have become free: tries the Jobs that wait, in the order of their waits.
    pub fn place_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        for (_, job) in self.waiting.clone() {
            self.place_pods(job, Duration::ZERO);
        }
    }
}
