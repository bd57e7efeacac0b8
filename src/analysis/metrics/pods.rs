//! Rows of `pods.csv`: one per pod object that ever existed, with the time of each transition.

use sim_base::*;
use sim_engine::record::{Body, Deleter, Names, Record, Sink};

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PodRow {
    pub pod: PodId,
    pub incarnation: u32,
    pub job: JobId,
    pub index: u32,
    pub restart_attempt: u32,
    pub node: NodeId,
    pub created: Time,
    pub bound: Time,
    pub running: Time,
    /// First time the pod became ready; `Time::NEVER` if it never did.
    pub ready: Time,
    /// Last time the pod became unready; `Time::NEVER` if it never did.
    pub not_ready: Time,
    /// Time of the last exit of a container; `Time::NEVER` if none exited.
    pub exited: Time,
    pub exit_code: i32,
    pub finished: Time,
    pub succeeded: bool,
    pub deleting: Time,
    pub deleted_by: Option<Deleter>,
    pub gone: Time,
    pub in_place_attempt: Option<u32>,
    pub container_restarts: u32,
}

/// Collects one row per pod object, in order of creation.
#[derive(Default)]
pub struct PodFold {
    rows: Vec<PodRow>,
    /// By pod id: the row of its newest object plus one; 0 if it was never created.
    newest: Vec<u32>,
}

impl PodFold {
    pub fn rows(&self) -> &[PodRow] {
        &self.rows
    }

    fn create(&mut self, row: PodRow) {
        self.rows.push(row);
        *sim_base::row(&mut self.newest, row.pod.ix()) = self.rows.len() as u32;
    }

    fn row(&mut self, pod: PodId) -> Option<&mut PodRow> {
        let newest = *self.newest.get(pod.ix())?;
        self.rows.get_mut((newest as usize).wrapping_sub(1))
    }

    fn update(&mut self, at: Time, body: &Body) -> Option<()> {
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
                (row.exited, row.exit_code) = (at, exit_code);
            }
            Body::ContainersRestarting { pod, restarts, .. } => {
                self.row(pod)?.container_restarts = restarts;
            }
            Body::AttemptWritten { pod, attempt, .. } => {
                self.row(pod)?.in_place_attempt = Some(attempt);
            }
            Body::PodFinished {
                pod,
                succeeded,
                exit_code,
                ..
            } => {
                let row = self.row(pod)?;
                (row.finished, row.succeeded, row.exit_code) = (at, succeeded, exit_code);
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

impl Sink for PodFold {
    fn record(&mut self, record: &Record, _: &Names) {
        if let Body::PodCreated {
            pod,
            incarnation,
            job,
            index,
            attempt,
        } = record.body
        {
            self.create(PodRow {
                pod,
                incarnation,
                job,
                index,
                restart_attempt: attempt,
                node: NodeId::NONE,
                created: record.at,
                bound: Time::NEVER,
                running: Time::NEVER,
                ready: Time::NEVER,
                not_ready: Time::NEVER,
                exited: Time::NEVER,
                exit_code: 0,
                finished: Time::NEVER,
                succeeded: false,
                deleting: Time::NEVER,
                deleted_by: None,
                gone: Time::NEVER,
                in_place_attempt: None,
                container_restarts: 0,
            });
        } else {
            // Records of a pod without a row are ignored.
            let _ = self.update(record.at, &record.body);
        }
    }
}
