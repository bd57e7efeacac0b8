//! Containers that the kubelet restarts in their pods after an exit.

use super::event::NodesEvent;
use super::run::Replication;
use sim_api::spec::RestartPolicy;
use sim_base::Duration;
use sim_base::random::{StreamPurpose, UniformDraw};
use sim_policy::job::SYNC_JOB_BATCH_PERIOD;

impl Replication<'_, '_> {
    /// Returns whether the kubelet restarts containers of a Job's pods that exit with an error (kubernetes.md 1.6).
    pub fn restarts_containers(&self, job: usize) -> bool {
        self.spec_of(job).template.template.spec.restart_policy == RestartPolicy::OnFailure
    }

    /// The containers of a pod exit, and the kubelet restarts them after their back-off.
    pub fn restart_container(&mut self, pod: usize) {
        let (job, now) = (self.model.job_of_pod[pod] as usize, self.now);
        let of = &self.model.jobs[job];
        self.lose_pods_of(job);
        let noticed_at = now + self.restart_delays(of.jobset).noticed;
        self.jobs[job].slice.note_exit(self.pods[pod].node, noticed_at);
        let measured = &self.model.jobsets[of.jobset].profile.containers;
        let chosen = self.choose_delays(of.jobset, measured.len());
        let row = &mut self.pods[pod];
        (row.hang, row.is_restarting, row.epoch) = (None, true, row.epoch + 1);
        row.crash.ended_at = now;
        let (mut crash, epoch) = (row.crash, row.epoch);
        let mut name = UniformDraw {
            purpose: StreamPurpose::WorkerJitter,
            entity: of.key.part((pod - of.pods.start) as u64),
            occurrence: epoch,
            substream: 0,
        };
        let back_off = crash.restart(now, |(from, sleep), look| {
            name.substream = look as u32;
            from + sleep + Duration(self.draws.below(name, (sleep.0 / 2 / 1_000) as u32 + 1) as u64 * 1_000)
        });
        self.pods[pod].crash = crash;
        self.schedule_after(measured[chosen] + back_off, NodesEvent::ContainerRestarted { pod, epoch });
    }

    /// The containers run again, and their restarts are counted.
    pub fn container_restarted(&mut self, pod: usize) {
        let job = self.model.job_of_pod[pod] as usize;
        let containers = self.spec_of(job).template.template.spec.containers.len() as u32;
        let row = &mut self.pods[pod];
        (row.is_restarting, row.restarts) = (false, row.restarts + containers);
        self.jobs[job].slice.has_new_processes = true;
        let row = &self.pods[pod];
        if row.is_lost || row.is_deleting || self.jobs[job].is_deleting || self.jobs[job].failure.is_some() {
            return;
        }
        self.check_complete(self.model.jobs[job].jobset);
        let epoch = self.jobs[job].epoch;
        self.schedule_after(SYNC_JOB_BATCH_PERIOD, NodesEvent::RestartsCounted { job, epoch });
    }

    /// The Job controller counts the restarts of containers, and the Job fails if there are too many.
    pub fn count_restarts(&mut self, job: usize) {
        let row = &self.jobs[job];
        if !row.exists || row.is_deleting || row.failure.is_some() {
            return;
        }
        let plan = sim_policy::job::sync(&self.sync_view(job, None));
        if let Some(failure) = plan.fail {
            self.interrupt_job(job);
            self.fail_job(job, failure, Duration::ZERO);
        }
    }
}
