//! Silent faults, of which no component is notified: hanging processes, slow machines and corrupt results.

use super::event::NodesEvent;
use super::run::Replication;
use super::trainer::FaultyProcess;
use sim_api::spec::SilentFaults;
use sim_base::{Duration, NodeId};
use sim_reliability::training::{ERROR_EXIT_CODE, UNIT_FACTOR};

impl Replication<'_, '_> {
    /// A silent fault concerns all processes on a machine.
    pub fn apply_to_machine(&mut self, node: NodeId, fault: SilentFaults) {
        match fault {
            SilentFaults::Hang { detected_after, exit_code } => {
                self.pods_on(node).into_iter().for_each(|pod| self.hang(pod, detected_after, exit_code));
            }
            SilentFaults::Slow { factor } => {
                self.slowdowns.insert(node, (factor * UNIT_FACTOR as f64) as u64);
                (0..self.jobsets.len()).for_each(|jobset| self.update_pace(jobset));
            }
            SilentFaults::Degrade { links, factor } => self.degrade_links(links, node, 1.0 / factor),
            SilentFaults::Corrupt { found_after } => {
                self.pods_on(node).into_iter().for_each(|pod| self.corrupt(pod, found_after));
            }
        }
    }

    /// A silent fault concerns the process of a pod.
    pub fn apply_to_process(&mut self, pod: usize, fault: SilentFaults) {
        match fault {
            SilentFaults::Hang { detected_after, exit_code } => self.hang(pod, detected_after, exit_code),
            SilentFaults::Corrupt { found_after } => self.corrupt(pod, found_after),
            SilentFaults::Slow { .. } | SilentFaults::Degrade { .. } => unreachable!("a fault of machines: {fault:?}"),
        }
    }

    /// The training job makes steps at the pace of its slowest machine.
    pub fn update_pace(&mut self, jobset: usize) {
        let Some(group) = self.jobsets[jobset].trainer.group() else { return };
        let members = self.members_of(jobset, group);
        let of = |node: &NodeId| {
            let crowds = members.iter().any(|job| self.jobs[*job].crowd.nodes.has(*node));
            let job_of = |pod: &usize| self.model.job_of_pod[*pod] as usize;
            crowds || self.on_node[node.ix()].iter().any(|pod| members.contains(&job_of(pod)))
        };
        let slow = self.slowdowns.iter().filter(|(_, factor)| **factor > UNIT_FACTOR);
        let slowest = slow.filter(|(node, _)| of(node)).map(|(_, factor)| *factor).max();
        if self.jobsets[jobset].trainer.slow_down(self.now, slowest.unwrap_or(UNIT_FACTOR)) {
            self.update_step_time(jobset);
            self.schedule_end_of_work(jobset);
        }
    }

    /// Returns whether the containers of a pod run.
    pub fn runs(&self, pod: usize) -> bool {
        let (row, job) = (&self.pods[pod], self.model.job_of_pod[pod] as usize);
        let bound_at = if row.is_apart {
            let is_up = row.exists && row.node.is_some() && !row.is_lost && !row.is_deleting && !row.is_restarting;
            Some(row.bound_at).filter(|_| is_up)
        } else {
            Some(self.jobs[job].crowd.bound_at).filter(|_| !self.jobs[job].crowd.nodes.is_empty())
        };
        let jobset = self.model.jobs[job].jobset;
        !self.is_at_barrier(jobset) && bound_at.is_some_and(|at| at + self.run_delays(jobset).running <= self.now)
    }

    fn hang(&mut self, pod: usize, detected_after: Option<Duration>, exit_code: i32) {
        if !self.runs(pod) || self.pods[pod].hang.is_some() {
            return;
        }
        self.set_apart(pod);
        self.pods[pod].hang = Some(self.cause);
        let job = self.model.job_of_pod[pod] as usize;
        let jobset = self.model.jobs[job].jobset;
        if self.takes_part(job) {
            self.jobsets[jobset].trainer.hang(self.now);
            self.schedule_end_of_work(jobset);
        }
        if let Some(after) = detected_after {
            let epoch = self.pods[pod].epoch;
            self.schedule_after(after, NodesEvent::HangDetected { pod, epoch, exit_code });
        }
    }

    /// A detector ends the hanging process.
    pub fn hang_detected(&mut self, pod: usize, exit_code: i32) {
        if let Some(cause) = self.pods[pod].hang {
            self.cause = cause;
            self.exit_pod(pod, exit_code);
        }
    }

    /// The process of a pod computes wrong results from now on. A job is corrupt once at most.
    fn corrupt(&mut self, pod: usize, found_after: Duration) {
        let jobset = self.jobset_of(pod);
        let may_become_corrupt = self.jobsets[jobset].trainer.may_become_corrupt();
        if !self.runs(pod) || !may_become_corrupt || !self.takes_part(self.model.job_of_pod[pod] as usize) {
            return;
        }
        self.set_apart(pod);
        let process = FaultyProcess { pod, epoch: self.pods[pod].epoch, cause: self.cause };
        if let Some(nth) = self.jobsets[jobset].trainer.corrupt(self.now, process) {
            self.schedule_after(found_after, NodesEvent::CorruptionDetected { jobset, nth });
        }
    }

    /// All work since the corruption is lost. The faulty process exits, or the first one of the job if it has ended.
    pub fn corruption_detected(&mut self, jobset: usize) {
        let Some(wrong) = self.jobsets[jobset].trainer.take_corruption() else { return };
        self.cause = wrong.process.cause;
        self.interrupt(jobset);
        let undone = self.jobsets[jobset].trainer.undo_corruption(&wrong);
        self.accounts.mark_lost(self.now, jobset, undone);
        let guilty = Some(wrong.process.pod).filter(|pod| self.pods[*pod].has(wrong.process) && self.runs(*pod));
        let mut pods = self.jobs_of(jobset).flat_map(|job| self.model.jobs[job].pods.clone());
        if let Some(pod) = guilty.or_else(|| pods.find(|pod| self.runs(*pod))) {
            self.exit_pod(pod, ERROR_EXIT_CODE);
        }
    }
}
