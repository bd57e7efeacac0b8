//! Checks of manifests before they are run: errors that the API server rejects, and problems that it accepts ("traps").
//!
//! This crate must not modify the manifests and must not depend on the output format of findings.

mod cluster;
pub mod docs;
mod failure_policy;
mod finding;
mod in_place;
mod job_template;
mod kueue;
pub mod lint_subject;
mod names;
mod network;
mod placement;
mod rejected;
mod startup;
mod surroundings;
pub mod trap;
pub mod trap_table;
mod update;
mod updates;
mod volumes;

pub use cluster::LintCluster;
pub use finding::{FindingKind, LintFinding, LintReport};
pub use lint_subject::NodeTarget;
pub use trap::{LintTrap, TrapCheck, TrapSeverity};
pub use update::UpdateMethod;

use lint_subject::LintSubject;
use rejected::RejectionVerdict;
use sim_api::admission::AdmissionRejection;
use sim_api::spec::{JobSet, TopologySpec};
use sim_inputs::kube::inspect::{InspectedManifest, InspectedObject};
use sim_inputs::schema::definitions::kueue::has_kind;
use sim_inputs::text::diagnostic::SourceText;

/// Manifests to check, and the cluster properties and old manifests to check them against.
pub struct LintInputs<'a> {
    pub files: &'a [InspectedManifest],
    /// The texts of `files`, which are simulated on the topology.
    pub sources: &'a [SourceText],
    pub topology: Option<&'a TopologySpec>,
    /// Old manifests that the new ones replace, and the method of the update.
    pub update: Option<(&'a [InspectedManifest], UpdateMethod)>,
    pub target: NodeTarget,
}

/// Checks all manifests and returns the findings, sorted by file and line.
pub fn lint(inputs: &LintInputs) -> LintReport {
    let objects: Vec<&InspectedObject> = inputs.files.iter().flat_map(|f| &f.objects).collect();
    let is_of_kueue = |o: &&InspectedObject| {
        let version = lint_subject::text(&o.node, "apiVersion").unwrap_or_default();
        has_kind(version, &o.kind)
    };
    let has_kueue = objects.iter().any(is_of_kueue);
    let mut report = LintReport::default();
    let mut subjects = Vec::new();
    for file in inputs.files {
        for object in &file.objects {
            let refused = inputs.update.and_then(|(files, _)| update::refused_object(files, object, &file.source));
            if let Some(refused) = refused {
                report.findings.extend(rejected::findings(file, &refused, &RejectionVerdict::Unreadable));
                continue;
            }
            let old = inputs.update.and_then(|(files, how)| Some((update::stored(files, object)?, how)));
            let verdict = match &old {
                Some((old, how)) => update::verdict(object, old, *how, inputs.target, has_kueue),
                None => rejected::create(object, inputs.target, has_kueue),
            };
            report.examined += usize::from(object.jobset.is_some());
            report.findings.extend(rejected::findings(file, object, &verdict));
            let (RejectionVerdict::Accepted { refused, .. }, Some(jobset)) = (&verdict, &object.jobset) else {
                continue;
            };
            let subject = subject(jobset, object, &file.source, &objects, inputs.target, refused);
            if let (Some((old, _)), RejectionVerdict::Accepted { stored, creation, .. }) = (&old, &verdict) {
                report.findings.extend(update::traps(old, &subject, stored, creation.as_ref()));
            }
            subjects.push(subject);
        }
    }
    let cluster = inputs.topology.map(|t| LintCluster::new(t, &subjects, &accepted_sources(inputs, &report)));
    alone(&subjects, cluster.as_ref(), &mut report);
    together(&subjects, cluster.as_ref(), &mut report);
    report.not_simulated = cluster.and_then(|cluster| cluster.not_simulated);
    report.finish();
    report
}

fn subject<'a>(
    jobset: &'a JobSet, object: &'a InspectedObject, source: &'a SourceText, objects: &'a [&'a InspectedObject],
    target: NodeTarget, refused: &[Option<AdmissionRejection>],
) -> LintSubject<'a> {
    LintSubject { jobset, node: &object.node, source, objects, target, refused: refused.to_vec() }
}

/// Runs the checks that look at one JobSet at a time.
fn alone(subjects: &[LintSubject], cluster: Option<&LintCluster>, report: &mut LintReport) {
    for subject in subjects {
        for trap in trap_table::all() {
            let hits = match (trap.check, cluster) {
                (TrapCheck::JobSet(check), _) => check(subject),
                (TrapCheck::Cluster(check), Some(cluster)) => check(subject, cluster),
                _ => continue,
            };
            for hit in hits {
                report.findings.push(LintFinding::new(trap, subject, &hit));
            }
        }
    }
}

fn together(subjects: &[LintSubject], cluster: Option<&LintCluster>, report: &mut LintReport) {
    for trap in trap_table::all() {
        let hits = match (trap.check, cluster) {
            (TrapCheck::Together(check), _) => check(subjects),
            (TrapCheck::ClusterTogether(check), Some(cluster)) => check(subjects, cluster),
            _ => continue,
        };
        for (which, hit) in hits {
            let finding = LintFinding::new(trap, &subjects[which], &hit);
            report.findings.push(finding);
        }
    }
}

/// Returns the texts without rejected objects.
fn accepted_sources(inputs: &LintInputs, report: &LintReport) -> Vec<SourceText> {
    let rejected = |source: &&SourceText| {
        let mut findings = report.findings.iter().filter(|f| f.kind == FindingKind::Rejected);
        // The text of an embedded JobSet is named after its file.
        findings.any(|f| f.diagnostic.file.split('#').next() == Some(source.file.as_str()))
    };
    inputs.sources.iter().filter(|source| !rejected(source)).cloned().collect()
}
