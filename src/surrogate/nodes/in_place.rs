//! In-place restarts: the agents of all pods write the next attempt, and the workers start when all have written it.
//!
//! A pod keeps its node. A pod that is lost is replaced by the Job controller; until then, the others hang or wait at
//! the barrier (T-10).

use super::event::NodesEvent;
use super::outcome::CountedRestart;
use super::profile::InPlaceDelays;
use super::run::Replication;
use sim_base::Duration;

impl Replication<'_, '_> {
    /// Whether the pods of a JobSet restart in place.
    pub fn is_in_place(&self, jobset: usize) -> bool {
        !self.model.jobsets[jobset].profile.in_place.is_empty()
    }

    /// Whether the workers of a JobSet wait at the barrier for the agents of other pods.
    pub fn is_at_barrier(&self, jobset: usize) -> bool {
        self.jobsets[jobset].barrier_from.is_some_and(|from| from <= self.now)
    }

    /// A container exits, and all containers of the JobSet restart in place (T-8).
    pub fn restart_in_place(&mut self, jobset: usize) {
        self.lose_pods(jobset);
        let delays = self.choose_in_place(jobset);
        self.begin_attempt(jobset, delays.noticed);
        self.await_agents(jobset, delays.ready);
    }

    /// The agent of a new pod starts: it writes the next attempt, and all others restart in place (T-10). Those that
    /// wait for it already have restarted.
    pub fn join_in_place(&mut self, jobset: usize) {
        let delays = self.choose_in_place(jobset);
        self.begin_attempt(jobset, delays.replaced);
        self.await_agents(jobset, delays.replaced);
    }

    fn choose_in_place(&mut self, jobset: usize) -> InPlaceDelays {
        let all = &self.model.jobsets[jobset].profile.in_place;
        all[self.choose_delays(jobset, all.len())]
    }

    /// The next attempt begins, unless it has begun already (T-9). The manager notices it after `noticed` (IPR-4).
    fn begin_attempt(&mut self, jobset: usize, noticed: Duration) {
        if self.jobsets[jobset].barrier_from.is_some() {
            return;
        }
        let (cause, at) = (self.cause_of(jobset), self.now + noticed);
        let policy = &self.model.jobsets[jobset].spec.spec.failure_policy;
        let limit = policy.as_ref().map_or(0, |policy| i64::from(policy.max_restarts));
        let row = &mut self.jobsets[jobset];
        row.barrier_from = Some(at);
        if i64::from(row.attempts) + 1 > limit {
            return self.schedule(at, NodesEvent::LimitExceeded { jobset });
        }
        row.attempts += 1;
        if let Some(open) = &mut row.interruption {
            (open.has_losses, open.is_ordered) = (true, true);
        }
        row.counted.push(CountedRestart { at, times: 1, uncounted: 0, cause, is_pod_failure_policy: false });
        for job in self.jobs_of(jobset) {
            for pod in &self.jobs[job].apart {
                let row = &mut self.pods[*pod];
                row.has_new_attempt = false;
                // Processes that hang or compute wrong results are gone; a lost machine and a deleted pod restart none.
                if !row.is_lost && !row.is_deleting {
                    (row.hang, row.epoch) = (None, row.epoch + 1);
                }
            }
        }
    }

    /// Schedules the readiness of a JobSet if all its pods restart.
    fn await_agents(&mut self, jobset: usize, ready: Duration) {
        if self.is_complete(jobset) {
            let row = &mut self.jobsets[jobset];
            row.epoch += 1;
            let epoch = row.epoch;
            self.schedule_after(ready, NodesEvent::Ready { jobset, epoch });
        } else {
            self.lift_barrier(jobset);
        }
    }

    /// Lifts the barrier if all agents have written the attempt, those of lost pods before their loss (IPR-6): the
    /// workers start and wait for those of the lost pods.
    pub fn lift_barrier(&mut self, jobset: usize) {
        let has_written = |pod: &usize| {
            let row = &self.pods[*pod];
            row.exists && (!row.is_lost || row.has_new_attempt)
        };
        let (mut lost, mut have_written) = (0, true);
        for row in self.jobs_of(jobset).map(|job| &self.jobs[job]) {
            lost += row.lost;
            let has_all = row.exists && row.unplaced + row.replaced == 0;
            have_written &= has_all && row.apart.iter().all(has_written);
        }
        if lost > 0 && have_written {
            self.jobsets[jobset].barrier_from = None;
        }
    }
}
