//! Object names in `events.ndjson`, stored in escaped form, and the fields of a record as members of its line.
//!
//! Names are added as they appear during the run. The fields come from `Body::fields`, so this module does not
//! depend on record kinds.

use super::json::{JsonMembers, escape, number};
use sim_base::{JobId, row_or_default};
use sim_engine::record::names::{JobName, suffix};
use sim_engine::record::{Body, FieldRole, FieldValue, RecordNames, TicketSubject};

/// Object names by id, for example `pod/default/train-workers-0-3-x2m4q`.
#[derive(Default)]
pub struct EventObjects {
    jobsets: Vec<Vec<u8>>,
    jobs: Vec<Vec<u8>>,
    nodes: Vec<Vec<u8>>,
    /// Name of the most recent pod with each id.
    pods: Vec<Vec<u8>>,
}

/// Prefix of Job names, which is removed when a pod name is derived.
const JOB: &str = "job/";

fn escaped(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    escape(&mut out, text);
    out
}

impl EventObjects {
    /// Adds the names that appeared since the last record.
    pub fn add_new_names(&mut self, names: &RecordNames) {
        for j in names.jobsets.iter().skip(self.jobsets.len()) {
            let name = escaped(&format!("jobset/{}/{}", j.namespace, j.name));
            self.jobsets.push(name);
        }
        for (i, JobName { name, .. }) in names.jobs.iter().enumerate().skip(self.jobs.len()) {
            let namespace = names.namespace_of(JobId(i as u32));
            self.jobs.push(escaped(&format!("{JOB}{namespace}/{name}")));
        }
        for node in names.nodes.iter().skip(self.nodes.len()) {
            self.nodes.push(escaped(&format!("node/{node}")));
        }
    }

    pub fn set_pod_name(&mut self, names: &RecordNames, body: &Body) {
        let Body::PodCreated { pod, incarnation, job, index, .. } = *body else {
            return;
        };
        let name = row_or_default(&mut self.pods, pod.ix());
        name.clear();
        name.extend_from_slice(b"pod/");
        if let Some(job) = self.jobs.get(job.ix()) {
            name.extend_from_slice(&job[JOB.len()..]);
        }
        if !names.is_standalone_pod(job) {
            name.push(b'-');
            if let Some(index) = names.index_in_name(job, index) {
                number(name, u64::from(index));
                name.push(b'-');
            }
            name.extend_from_slice(suffix(pod, incarnation).as_bytes());
        }
    }

    /// Returns the escaped name of an object, or an empty slice for `TicketSubject::Nothing`.
    pub fn escaped_name(&self, about: TicketSubject) -> &[u8] {
        let result = match about {
            TicketSubject::JobSet(id) => self.jobsets.get(id.ix()),
            TicketSubject::Job(id) => self.jobs.get(id.ix()),
            TicketSubject::Pod(id) => self.pods.get(id.ix()),
            TicketSubject::Node(id) => self.nodes.get(id.ix()),
            TicketSubject::Nothing => None,
        };
        result.map_or(b"", Vec::as_slice)
    }

    /// Writes the fields of a record that follow the seven common keys.
    pub fn members(&self, m: &mut JsonMembers<'_>, body: &Body, names: &RecordNames) {
        body.fields(&mut |role, value| match role {
            FieldRole::Member(key) => self.member(m, key, value, names),
            FieldRole::ObjectAndKind(key) => {
                m.escaped(key, object_kind(value.subject()).as_bytes());
            }
            FieldRole::ObjectAndMember(key) if value.subject() != TicketSubject::Nothing => {
                self.member(m, key, value, names);
            }
            _ => {}
        });
    }

    fn member(&self, m: &mut JsonMembers<'_>, key: &str, value: FieldValue, names: &RecordNames) {
        match value {
            FieldValue::Number(n) => m.u32(key, n),
            FieldValue::Nanoseconds(ns) => m.u64(key, ns),
            FieldValue::Signed(n) => m.i32(key, n),
            FieldValue::Absent => return,
            FieldValue::Flag(flag) => m.bool(key, flag),
            FieldValue::Word(_, word) => m.escaped(key, word.as_bytes()),
            FieldValue::Text(text) => m.str(key, names.text(text)),
            FieldValue::JobSet(_) | FieldValue::Job(_) | FieldValue::Pod(_) | FieldValue::Node(_) => {
                m.escaped(key, self.escaped_name(value.subject()))
            }
        };
    }
}

fn object_kind(about: TicketSubject) -> &'static str {
    match about {
        TicketSubject::Nothing => "",
        TicketSubject::JobSet(_) => "JobSet",
        TicketSubject::Job(_) => "Job",
        TicketSubject::Pod(_) => "Pod",
        TicketSubject::Node(_) => "Node",
    }
}
