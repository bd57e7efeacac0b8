//! Traps of names: collisions that admission does not detect, and names that are invalid as label values.

use super::lint_subject::LintSubject;
use super::trap::{JobSetHits, TrapCheck, TrapHit, hit};

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("name-collision", TrapCheck::Together(collision)),
    ("jobset-twice", TrapCheck::Together(duplicates)),
    ("replicated-job-without-name", TrapCheck::JobSet(without_name)),
    ("replicated-job-name-dash", TrapCheck::JobSet(name_dash)),
];

fn collision(all: &[LintSubject]) -> JobSetHits {
    let mut hits = Vec::new();
    let mut seen: Vec<(String, usize)> = Vec::new();
    for (i, s) in all.iter().enumerate() {
        for rj in s.rjs().iter().filter(|rj| rj.spec.replicas > 0) {
            let key = format!("{}/{}-{}", s.jobset.namespace, s.jobset.name, rj.name());
            let first = seen.iter().find(|(k, j)| *k == key && all[*j].jobset.name != s.jobset.name);
            if let Some((_, j)) = first {
                let detail = format!(
                    "{}-{}-0 is a Job of JobSet {:?} and of JobSet {:?}",
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

fn duplicates(all: &[LintSubject]) -> JobSetHits {
    let mut hits = Vec::new();
    for (i, s) in all.iter().enumerate() {
        let generated = s.node.at_path(&["metadata", "name"]).is_none();
        let same = |o: &&LintSubject| o.jobset.name == s.jobset.name && o.jobset.namespace == s.jobset.namespace;
        if let Some(first) = all[..i].iter().find(same).filter(|_| !generated) {
            let place = format!("{}:{}", first.source.file, first.node.at.line);
            let detail = format!("{:?} is also defined at {place}", s.jobset.name);
            hits.push((i, hit(s.metadata_at("name"), detail)));
        }
    }
    hits
}

fn without_name(s: &LintSubject) -> Vec<TrapHit> {
    let nameless = s.rjs().into_iter().filter(|rj| rj.name().is_empty());
    let one = |rj: super::lint_subject::ReplicatedJobText| hit(rj.at("name"), format!("replicatedJob {}", rj.index));
    nameless.map(one).collect()
}

fn name_dash(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if rj.name().starts_with('-') || rj.name().ends_with('-') {
            hits.push(hit(rj.at("name"), format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}
