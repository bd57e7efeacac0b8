//! Object names in `events.ndjson`, stored in escaped form, and the fields of a record as members of its line.
//!
//! Names are added as they appear during the run. The fields come from `Body::fields`, so this module does not
//! depend on record kinds.

use super::json::{Members, escape, number};
use sim_base::*;
use sim_engine::record::names::{JobName, suffix};
use sim_engine::record::*;

/// Object names by id, for example `pod/default/train-workers-0-3-x2m4q`.
#[derive(Default)]
pub struct Objects {
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

impl Objects {
    /// Adds the names that appeared since the last record.
    pub fn follow(&mut self, names: &Names) {
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

    pub fn learn(&mut self, names: &Names, body: &Body) {
        let Body::PodCreated {
            pod,
            incarnation,
            job,
            index,
            ..
        } = *body
        else {
            return;
        };
        let name = row(&mut self.pods, pod.ix());
        name.clear();
        name.extend_from_slice(b"pod/");
        if let Some(job) = self.jobs.get(job.ix()) {
            name.extend_from_slice(&job[JOB.len()..]);
        }
        if !names.is_bare(job) {
            name.push(b'-');
            if let Some(index) = names.index_in_name(job, index) {
                number(name, u64::from(index));
                name.push(b'-');
            }
            name.extend_from_slice(suffix(pod, incarnation).as_bytes());
        }
    }

    /// Returns the escaped name of an object, or an empty slice for `About::Nothing`.
    pub fn of(&self, about: About) -> &[u8] {
        let found = match about {
            About::JobSet(id) => self.jobsets.get(id.ix()),
            About::Job(id) => self.jobs.get(id.ix()),
            About::Pod(id) => self.pods.get(id.ix()),
            About::Node(id) => self.nodes.get(id.ix()),
            About::Nothing => None,
        };
        found.map_or(b"", Vec::as_slice)
    }

    /// Writes the fields of a record that follow the seven common keys.
    pub fn members(&self, m: &mut Members<'_>, body: &Body, names: &Names) {
        body.fields(&mut |role, value| match role {
            Role::Member(key) => self.member(m, key, value, names),
            Role::ObjectAndKind(key) => {
                m.raw(key, kind_of(value.about()).as_bytes());
            }
            Role::ObjectAndMember(key) if value.about() != About::Nothing => {
                self.member(m, key, value, names);
            }
            _ => {}
        });
    }

    fn member(&self, m: &mut Members<'_>, key: &str, value: Value, names: &Names) {
        match value {
            Value::Number(n) => m.u(key, n),
            Value::Nanoseconds(ns) => m.u64(key, ns),
            Value::Signed(n) => m.i(key, n),
            Value::Flag(flag) => m.b(key, flag),
            Value::Word(_, word) => m.raw(key, word.as_bytes()),
            Value::Text(text) => m.s(key, names.text(text)),
            Value::JobSet(_) | Value::Job(_) | Value::Pod(_) | Value::Node(_) => {
                m.raw(key, self.of(value.about()))
            }
        };
    }
}

fn kind_of(about: About) -> &'static str {
    match about {
        About::Nothing => "",
        About::JobSet(_) => "JobSet",
        About::Job(_) => "Job",
        About::Pod(_) => "Pod",
        About::Node(_) => "Node",
    }
}
