//! Traps of names: collisions that admission does not detect, and names that are invalid as label values.

use super::lint_subject::LintSubject;
use super::trap::{JobSetHits, LintTrap, TrapCheck, TrapHit, TrapSeverity, hit};

pub const TRAPS: &[LintTrap] = &[
    LintTrap {
        name: "name-collision",
        severity: TrapSeverity::Error,
        rules: &["NAM-2", "C-18"],
        title: "Jobs of two JobSets have the same name",
        consequence: "A Job is named <jobset>-<replicatedJob>-<index>, so JobSet a-b with replicatedJob c and JobSet a with replicatedJob b-c produce the same Job names. The JobSet that is created second can never create its Jobs, because they already exist.",
        fix: "Rename one of the JobSets or replicatedJobs.",
        check: TrapCheck::Together(collision),
    },
    LintTrap {
        name: "jobset-twice",
        severity: TrapSeverity::Error,
        rules: &["UPD-1"],
        title: "a JobSet is defined twice",
        consequence: "When the manifests are applied in order, the second definition is an update of the first. The API server rejects it if it changes an immutable field.",
        fix: "Rename or remove one of the two definitions.",
        check: TrapCheck::Together(duplicates),
    },
    LintTrap {
        name: "replicated-job-without-name",
        severity: TrapSeverity::Error,
        rules: &["API-2", "REC-6", "VAL-27"],
        title: "a replicatedJob has no name",
        consequence: "The API server accepts the empty name. The Jobs are named <jobset>--<index> and run, but the status of the replicatedJob stays at 0. A replicatedJob that depends on it waits forever.",
        fix: "Set a name.",
        check: TrapCheck::JobSet(without_name),
    },
    LintTrap {
        name: "replicated-job-name-dash",
        severity: TrapSeverity::Error,
        rules: &["VAL-7", "LAB-1", "C-16"],
        title: "a replicatedJob's name begins or ends with a dash",
        consequence: "Admission validates only the full Job name. The name of the replicatedJob is also a label value, which must not begin or end with a dash, so the API server rejects every Job (JobCreationFailed).",
        fix: "Begin and end the name with a letter or digit.",
        check: TrapCheck::JobSet(name_dash),
    },
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
