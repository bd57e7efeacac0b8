//! Traps of names: collisions that admission does not detect, and names that are invalid as label values.

use super::subject::Subject;
use super::trap::{Check, Hit, HitsOf, Severity, Trap, hit};

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "name-collision",
        severity: Severity::Error,
        rules: &["NAM-2", "C-18"],
        title: "Jobs of two JobSets have the same name",
        consequence: "A Job is named <jobset>-<replicatedJob>-<index>, so a-b with c and a with b-c meet. The JobSet that comes second fails to create its Jobs for ever (already exists).",
        fix: "Rename one of the JobSets or replicatedJobs.",
        check: Check::Together(collision),
    },
    Trap {
        name: "jobset-twice",
        severity: Severity::Error,
        rules: &["UPD-1"],
        title: "a JobSet is defined twice",
        consequence: "Applied in order, the second definition is an update of the first, and is refused wherever it differs in what cannot be changed.",
        fix: "Give it another name, or remove one.",
        check: Check::Together(twice),
    },
    Trap {
        name: "replicated-job-without-name",
        severity: Severity::Error,
        rules: &["API-2", "REC-6", "VAL-27"],
        title: "a replicatedJob has no name",
        consequence: "It is accepted as an empty name. Its Jobs are named <jobset>--<index> and run, but its status stays at 0: whatever waits for it waits for ever.",
        fix: "Give it a name.",
        check: Check::JobSet(without_name),
    },
    Trap {
        name: "replicated-job-name-dash",
        severity: Severity::Error,
        rules: &["VAL-7", "LAB-1", "C-16"],
        title: "a replicatedJob's name begins or ends with a dash",
        consequence: "Only the whole Job name is checked. The name alone is no legal label value, and every Job is refused for ever (JobCreationFailed).",
        fix: "Begin and end the name with a letter or digit.",
        check: Check::JobSet(name_dash),
    },
];

fn collision(all: &[Subject]) -> HitsOf {
    let mut hits = Vec::new();
    let mut seen: Vec<(String, usize)> = Vec::new();
    for (i, s) in all.iter().enumerate() {
        for rj in s.rjs().iter().filter(|rj| rj.spec.replicas > 0) {
            let key = format!("{}/{}-{}", s.jobset.namespace, s.jobset.name, rj.name());
            let first = seen
                .iter()
                .find(|(k, j)| *k == key && all[*j].jobset.name != s.jobset.name);
            if let Some((_, j)) = first {
                let detail = format!(
                    "{}-{}-0 belongs to JobSet {:?} and to {:?}",
                    s.jobset.name,
                    rj.name(),
                    all[*j].jobset.name,
                    s.jobset.name
                );
                hits.push((i, hit(rj.at("name"), detail)));
            }
            seen.push((key, i));
        }
    }
    hits
}

fn twice(all: &[Subject]) -> HitsOf {
    let mut hits = Vec::new();
    for (i, s) in all.iter().enumerate() {
        let generated = s.node.at_path(&["metadata", "name"]).is_none();
        let same = |o: &&Subject| {
            o.jobset.name == s.jobset.name && o.jobset.namespace == s.jobset.namespace
        };
        if let Some(first) = all[..i].iter().find(same).filter(|_| !generated) {
            let place = format!("{}:{}", first.source.file, first.node.at.line);
            let detail = format!("{:?} is also defined at {place}", s.jobset.name);
            hits.push((i, hit(s.metadata_at("name"), detail)));
        }
    }
    hits
}

fn without_name(s: &Subject) -> Vec<Hit> {
    let nameless = s.rjs().into_iter().filter(|rj| rj.name().is_empty());
    let one = |rj: super::subject::Rj| hit(rj.at("name"), format!("replicatedJob {}", rj.index));
    nameless.map(one).collect()
}

fn name_dash(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.name().starts_with('-') || rj.name().ends_with('-') {
            hits.push(hit(rj.at("name"), format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}
