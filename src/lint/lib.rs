//! Checks of manifests before they are run: errors that the API server rejects, and problems that it accepts
//! ("traps").
//!
//! This crate must not modify the manifests and must not depend on the output format of findings.

pub mod docs;
mod failure_policy;
mod finding;
mod fits;
mod in_place;
mod job_template;
mod names;
mod network;
mod placement;
mod rejected;
mod startup;
pub mod subject;
mod surroundings;
pub mod table;
pub mod trap;
mod update;
mod updates;
mod volumes;

pub use finding::{Finding, Kind, Report};
pub use subject::Target;
pub use trap::{Check, Severity, Trap};
pub use update::Method;

use rejected::Verdict;
use sim_api::admission::Rejection;
use sim_api::spec::{JobSet, Topology};
use sim_inputs::kube::inspect::{Inspected, Object};
use sim_inputs::text::diagnostic::Source;
use sim_policy::topology::Cluster;
use std::collections::BTreeSet;
use subject::Subject;

/// Manifests to check, and the cluster properties and old manifests to check them against.
pub struct Inputs<'a> {
    pub files: &'a [Inspected],
    pub topology: Option<&'a Topology>,
    /// Old manifests that the new ones replace, and the method of the update.
    pub update: Option<(&'a [Inspected], Method)>,
    pub target: Target,
}

/// Checks all manifests and returns the findings, sorted by file and line.
pub fn lint(inputs: &Inputs) -> Report {
    let objects: Vec<&Object> = inputs.files.iter().flat_map(|f| &f.objects).collect();
    let mut report = Report::default();
    let mut subjects = Vec::new();
    for file in inputs.files {
        for object in &file.objects {
            let old = inputs
                .update
                .and_then(|(files, how)| Some((update::stored(files, object)?, how)));
            let verdict = match &old {
                Some((old, how)) => update::verdict(object, old, *how, inputs.target),
                None => rejected::create(object, inputs.target),
            };
            report.examined += usize::from(object.jobset.is_some());
            report
                .findings
                .extend(rejected::findings(file, object, &verdict));
            let (Verdict::Accepted { refused, .. }, Some(jobset)) = (&verdict, &object.jobset)
            else {
                continue;
            };
            let subject = subject(
                jobset,
                object,
                &file.source,
                &objects,
                inputs.target,
                refused,
            );
            if let (
                Some((old, _)),
                Verdict::Accepted {
                    stored, creation, ..
                },
            ) = (&old, &verdict)
            {
                report
                    .findings
                    .extend(update::traps(old, &subject, stored, creation.as_ref()));
            }
            subjects.push(subject);
        }
    }
    let cluster = inputs.topology.map(|t| cluster(t, &subjects));
    alone(&subjects, cluster.as_ref(), &mut report);
    together(&subjects, cluster.as_ref(), &mut report);
    report.finish();
    report
}

fn subject<'a>(
    jobset: &'a JobSet,
    object: &'a Object,
    source: &'a Source,
    objects: &'a [&'a Object],
    target: Target,
    refused: &[Option<Rejection>],
) -> Subject<'a> {
    Subject {
        jobset,
        node: &object.node,
        source,
        objects,
        target,
        refused: refused.to_vec(),
    }
}

/// Runs the checks that look at one JobSet at a time.
fn alone(subjects: &[Subject], cluster: Option<&Cluster>, report: &mut Report) {
    for subject in subjects {
        for trap in table::all() {
            let hits = match (trap.check, cluster) {
                (Check::JobSet(check), _) => check(subject),
                (Check::Cluster(check), Some(cluster)) => check(subject, cluster),
                _ => continue,
            };
            for hit in hits {
                report.findings.push(Finding::of(trap, subject, &hit));
            }
        }
    }
}

fn together(subjects: &[Subject], cluster: Option<&Cluster>, report: &mut Report) {
    for trap in table::all() {
        let hits = match (trap.check, cluster) {
            (Check::Together(check), _) => check(subjects),
            (Check::ClusterTogether(check), Some(cluster)) => check(subjects, cluster),
            _ => continue,
        };
        for (which, hit) in hits {
            let finding = Finding::of(trap, &subjects[which], &hit);
            report.findings.push(finding);
        }
    }
}

/// Builds the cluster with one column for each resource that a pod requests.
fn cluster(topology: &Topology, subjects: &[Subject]) -> Cluster {
    let mut names = BTreeSet::new();
    for subject in subjects {
        for rj in &subject.jobset.spec.replicated_jobs {
            names.extend(rj.template.template.spec.requests().into_keys());
        }
    }
    names.remove("pods");
    let resources: Vec<String> = std::iter::once("pods".to_owned()).chain(names).collect();
    Cluster::build(topology, &resources)
}
