//! The original documents of JobSets, for the positions of errors, and the size limits of the input.
//!
//! This module must never interpret fields. Sizes are computed from the typed JobSets.

use crate::server;
use crate::text::diagnostic::{Diagnostic, DiagnosticReport, SourceText, shortened};
use crate::{schema::definitions::jobset::GROUP, text::locate::locate, text::node::YamlNode};
use sim_api::admission::AdmissionRejection;
use sim_api::spec::JobSet;
use sim_base::suggest;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum size of an object in bytes. Source: k8s.io/apiserver pkg/server/config.go, MaxRequestBodyBytes.
const OBJECT_MAX: usize = 3 << 20;
/// Maximum number of Jobs in total; a run with more would take minutes.
const JOBS_MAX: u64 = 65_536;
/// Maximum number of JobSets. Admission takes about 0.33 ms for each.
pub(super) const JOBSETS_MAX: usize = 4_096;

/// The document of a JobSet, with its text and overrides.
#[derive(Clone, Debug)]
pub struct WrittenManifest {
    source: Arc<SourceText>,
    overrides: Arc<SourceText>,
    node: Arc<YamlNode>,
}

impl WrittenManifest {
    pub(super) fn new(source: Arc<SourceText>, overrides: Arc<SourceText>, node: YamlNode) -> WrittenManifest {
        let node = Arc::new(node);
        WrittenManifest { source, overrides, node }
    }
}

/// Returns an error about the JobSet that was read at `place`, positioned at `field` or its nearest ancestor in the
/// text.
pub fn error(written: &BTreeMap<String, WrittenManifest>, place: &str, field: &str, message: String) -> Diagnostic {
    let Some(written) = written.get(place) else {
        return Diagnostic::of_file(place, message);
    };
    let mut report = DiagnosticReport::new(&written.source, &written.overrides);
    let at = locate(&written.node, field).map_or(written.node.at, |result| {
        if result.is_complete && result.node.items().is_empty() && result.node.entries().is_empty() {
            result.node.at
        } else {
            result.key
        }
    });
    report.error(at, message).clone()
}

/// Returns the errors of a webhook about the JobSet that was read at `place`, at their positions in the text.
pub fn refused(
    written: &BTreeMap<String, WrittenManifest>, place: &str, rejection: AdmissionRejection,
) -> Vec<Diagnostic> {
    let Some(written) = written.get(place) else {
        return vec![Diagnostic::of_file(place, rejection.message)];
    };
    let mut report = DiagnosticReport::new(&written.source, &written.overrides);
    server::field_errors(&written.node, &rejection.errors, &mut report);
    if report.found.is_empty() {
        report.error(written.node.at, "the API server would refuse this JobSet");
    }
    report.found[0].server = Some(shortened(rejection.message));
    report.found
}

/// Returns whether the kind is probably a misspelling of `JobSet`.
pub fn is_typo(kind: &str, version: &str) -> bool {
    kind != "JobSet" && (version.starts_with(GROUP) || suggest::nearest(kind, ["JobSet"]).is_some())
}

/// Returns the position of an object that is not a JobSet, without a message. The message is added by `no_jobset`.
pub fn place_of_kind(source: &SourceText, node: &YamlNode) -> Diagnostic {
    let at = node.get("kind").map_or(node.at, |kind| kind.at);
    Diagnostic::at(source, at, "")
}

/// Returns the error for input without a JobSet: positioned at the first object of another kind, listing the objects
/// found.
pub fn no_jobset(what_for: &str, place: Option<Diagnostic>, result: &[String]) -> Diagnostic {
    let mut error = place.unwrap_or_default();
    error.message = format!("no JobSet to {what_for}");
    let first: Vec<&str> = result.iter().take(5).map(String::as_str).collect();
    let more = if result.len() > first.len() { ", ..." } else { "" };
    if !first.is_empty() {
        error.suggest(format!("found only {}{more}", first.join(", ")));
    }
    error.legal("a JobSet, or an object that contains one, such as a TrainJob; no Job, PyTorchJob or other workload");
    error
}

/// Reports a misspelled kind at its position.
pub(super) fn no_kind_of_ours(node: &YamlNode, report: &mut DiagnosticReport) {
    let kind = node.get("kind");
    let name = kind.and_then(YamlNode::as_str).unwrap_or("");
    let at = kind.map_or(node.at, |kind| kind.at);
    let error = report.error(at, format!("unknown kind {name:?}"));
    error.suggest("did you mean \"JobSet\"?");
    error.legal("JobSet");
}

/// Reports objects that exceed the API server's request size limit. Returns whether the object is too large.
pub fn too_large(node: &YamlNode, report: &mut DiagnosticReport) -> bool {
    let size = node.json_size();
    if size > OBJECT_MAX {
        let kind = node.get("kind").and_then(YamlNode::as_str).unwrap_or("object");
        let message = format!("this {kind} is too large: {size} bytes as JSON");
        let error = report.error(node.at, message);
        error.legal(format!("at most {OBJECT_MAX} bytes, the limit of the API server"));
        error.server = Some(format!("Request entity too large: limit is {OBJECT_MAX}"));
    }
    size > OBJECT_MAX
}

/// Reports the first JobSet beyond the limit.
pub(super) fn too_many_jobsets(node: &YamlNode, report: &mut DiagnosticReport) {
    let error = report.error(node.at, "too many JobSets");
    error.legal(format!("at most {JOBSETS_MAX} in a run"));
}

/// Returns the error for JobSets that exceed the limits on JobSets, pods or Jobs, positioned at the largest
/// replicatedJob.
pub(super) fn too_many<'j>(
    jobsets: impl Iterator<Item = (&'j JobSet, &'j str)> + Clone, written: &BTreeMap<String, WrittenManifest>,
) -> Option<Diagnostic> {
    let jobs_of = |jobset: &JobSet| -> u64 {
        let rjs = jobset.spec.replicated_jobs.iter();
        rjs.map(|rj| u64::from(rj.replicas)).sum()
    };
    let all = |of: &dyn Fn(&JobSet) -> u64| {
        let each = jobsets.clone().map(|(jobset, _)| of(jobset));
        each.fold(0, u64::saturating_add)
    };
    if let Some((_, place)) = jobsets.clone().nth(JOBSETS_MAX) {
        let message = format!("too many JobSets: the maximum is {JOBSETS_MAX} in a run");
        return Some(error(written, place, "metadata", message));
    }
    let (pods, jobs) = (all(&pods_of), all(&jobs_of));
    let (message, size): (String, &dyn Fn(&JobSet) -> u64) = if pods > PODS_MAX {
        let message = format!("{pods} pods in total; the maximum is {PODS_MAX}");
        (message, &pods_of)
    } else if jobs > JOBS_MAX {
        let message = format!("{jobs} Jobs in total; the maximum is {JOBS_MAX}");
        (message, &jobs_of)
    } else {
        return None;
    };
    let (largest, place) = jobsets.clone().max_by_key(|(jobset, _)| size(jobset))?;
    let rjs = largest.spec.replicated_jobs.iter().enumerate();
    let weight = |rj: &sim_api::spec::ReplicatedJob| u64::from(rj.replicas) * u64::from(rj.template.pods()).max(1);
    let (k, _) = rjs.max_by_key(|(_, rj)| weight(rj))?;
    let field = format!("spec.replicatedJobs[{k}].replicas");
    Some(error(written, place, &field, message))
}

/// Maximum number of pods in total. A pod on a node of its own takes 720 bytes (measured with a million pods); a run
/// with more pods may not fit into memory.
pub(super) const PODS_MAX: u64 = 1_000_000;

/// Returns the number of pods that exist at once when all Jobs of the JobSet run.
pub fn pods_of(jobset: &JobSet) -> u64 {
    let jobs = &jobset.spec.replicated_jobs;
    jobs.iter().map(|rj| u64::from(rj.replicas) * u64::from(rj.template.pods()).max(1)).fold(0, u64::saturating_add)
}
