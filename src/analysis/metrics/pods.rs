//! Rows of `pods.csv`: one per pod object that ever existed, with the time of each transition.

use sim_base::{JobId, NodeId, PodId, SimTime};
use sim_engine::record::{Body, DeletionActor, RecordNames, RecordSink, SimulationRecord};

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PodMetrics {
    pub pod: PodId,
    pub incarnation: u32,
    pub job: JobId,
    pub index: u32,
    pub restart_attempt: u32,
    pub node: NodeId,
    pub created: SimTime,
    pub bound: SimTime,
    pub running: SimTime,
    /// First time the pod became ready; `SimTime::NEVER` if it never did.
    pub ready: SimTime,
    /// Last time the pod became unready; `SimTime::NEVER` if it never did.
    pub not_ready: SimTime,
    /// Time of the last exit of a container; `SimTime::NEVER` if none exited.
    pub exited: SimTime,
    pub exit_code: Option<i32>,
    pub finished: SimTime,
    pub succeeded: bool,
    pub deleting: SimTime,
    pub deleted_by: Option<DeletionActor>,
    pub gone: SimTime,
    pub in_place_attempt: Option<u32>,
    pub container_restarts: u32,
}

/// Collects one row per pod object, in order of creation.
#[derive(Default)]
pub struct PodFold {
    rows: Vec<PodMetrics>,
    /// By pod id: the row of its newest object plus one; 0 if it was never created.
    newest: Vec<u32>,
}

impl PodFold {
    pub fn rows(&self) -> &[PodMetrics] {
        &self.rows
    }

    fn create(&mut self, row: PodMetrics) {
        self.rows.push(row);
        *sim_base::row_or_default(&mut self.newest, row.pod.ix()) = self.rows.len() as u32;
    }

    fn row(&mut self, pod: PodId) -> Option<&mut PodMetrics> {
        let newest = *self.newest.get(pod.ix())?;
        self.rows.get_mut((newest as usize).wrapping_sub(1))
    }

    fn update(&mut self, at: SimTime, body: &Body) -> Option<()> {
        match *body {
            Body::PodBound { pod, node, .. } => {
                let row = self.row(pod)?;
                (row.bound, row.node) = (at, node);
            }
            Body::PodRunning { pod, .. } => {
                let row = self.row(pod)?;
                row.running = row.running.min(at);
            }
            Body::PodReady { pod, .. } => {
                let row = self.row(pod)?;
                row.ready = row.ready.min(at);
            }
            Body::PodNotReady { pod, .. } => self.row(pod)?.not_ready = at,
            Body::ContainerExited { pod, exit_code, .. } => {
                let row = self.row(pod)?;
                (row.exited, row.exit_code) = (at, Some(exit_code));
            }
            Body::ContainersRestarting { pod, restarts, .. } => {
                self.row(pod)?.container_restarts = restarts;
            }
            Body::AttemptWritten { pod, attempt, .. } => {
                self.row(pod)?.in_place_attempt = Some(attempt);
            }
            Body::PodFinished { pod, succeeded, exit_code, .. } => {
                let row = self.row(pod)?;
                (row.finished, row.succeeded, row.exit_code) = (at, succeeded, exit_code.or(row.exit_code));
            }
            Body::PodDeleting { pod, by, .. } => {
                let row = self.row(pod)?;
                row.deleting = row.deleting.min(at);
                row.deleted_by.get_or_insert(by);
            }
            Body::PodGone { pod, .. } => self.row(pod)?.gone = at,
            _ => {}
        }
        Some(())
    }
}

impl RecordSink for PodFold {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if let Body::PodCreated { pod, incarnation, job, index, attempt } = record.body {
            self.create(PodMetrics {
                pod,
                incarnation,
                job,
                index,
                restart_attempt: attempt,
                node: NodeId::NONE,
                created: record.at,
                bound: SimTime::NEVER,
                running: SimTime::NEVER,
                ready: SimTime::NEVER,
                not_ready: SimTime::NEVER,
                exited: SimTime::NEVER,
                exit_code: None,
                finished: SimTime::NEVER,
                succeeded: false,
                deleting: SimTime::NEVER,
                deleted_by: None,
                gone: SimTime::NEVER,
                in_place_attempt: None,
                container_restarts: 0,
            });
        } else {
            // Records of a pod without a row are ignored.
            let _ = self.update(record.at, &record.body);
        }
    }
}
