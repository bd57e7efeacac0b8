//! Kueue's checks of the labels and annotations of new and changed jobs (`pkg/controller/jobframework/validation.go`
//! and `pkg/util/webhook/validation_admissiongatedby.go`).

use super::jobset::priority_class_label;
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::field::{FieldError, FieldPath, go_quote};
use sim_api::admission::meta_check;
use sim_api::admission::names::dns1123_subdomain;
use sim_api::spec::JobSet;
use sim_api::spec::keys::{
    ADMISSION_GATED_BY, KUEUE_ELASTIC_JOB, KUEUE_MAX_EXECUTION_TIME, KUEUE_PREBUILT_WORKLOAD, KUEUE_PRIORITY_CLASS,
    KUEUE_QUEUE,
};

const IMMUTABLE: &str = "field is immutable";
/// Kind of a JobSet as Go prints it.
const JOBSET_KIND: &str = "\"jobset.x-k8s.io/v1alpha2, Kind=JobSet\"";

fn label_path(key: &str) -> FieldPath {
    FieldPath::new("metadata").child("labels").key(key)
}

fn annotation_path(key: &str) -> FieldPath {
    FieldPath::new("metadata").child("annotations").key(key)
}

fn label<'j>(jobset: &'j JobSet, key: &str) -> &'j str {
    jobset.labels.get(key).map_or("", String::as_str)
}

fn annotation<'j>(jobset: &'j JobSet, key: &str) -> &'j str {
    jobset.annotations.get(key).map_or("", String::as_str)
}

/// Returns the errors of a new job (`ValidateJobOnCreate`).
pub fn on_create(jobset: &JobSet) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    if let Some(queue) = jobset.labels.get(KUEUE_QUEUE) {
        check_object_name(&label_path(KUEUE_QUEUE), queue, &mut errors);
    }
    check_prebuilt(jobset, &mut errors);
    check_max_execution_time(jobset, &mut errors);
    if is_elastic(jobset) {
        let detail = format!("elastic job is not supported for {JOBSET_KIND}");
        errors.forbidden(&annotation_path(KUEUE_ELASTIC_JOB), &detail);
    }
    check_gates(annotation(jobset, ADMISSION_GATED_BY), &mut errors);
    errors.errors
}

/// Returns the errors of a change of a job, without those of its new content (`ValidateJobOnUpdate`).
pub fn on_update(old: &JobSet, new: &JobSet, has_default_queue: bool) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    let is_suspended = new.spec.suspend;
    update_queue(old, new, has_default_queue, &mut errors);
    if is_suspended || is_elastic(old) {
        check_prebuilt(new, &mut errors);
    } else {
        let name = |jobset: &JobSet| jobset.prebuilt_workload().unwrap_or_default().to_owned();
        check_immutable(&prebuilt_path(new), &name(old), &name(new), &mut errors);
    }
    if !is_suspended || !old.spec.suspend {
        let value = |jobset| label(jobset, KUEUE_MAX_EXECUTION_TIME);
        check_immutable(&label_path(KUEUE_MAX_EXECUTION_TIME), value(old), value(new), &mut errors);
    }
    update_priority_class(old, new, &mut errors);
    if is_elastic(old) != is_elastic(new) {
        let value = is_elastic(new).to_string();
        errors.invalid_raw(&annotation_path(KUEUE_ELASTIC_JOB), &value, IMMUTABLE);
    }
    update_gates(annotation(old, ADMISSION_GATED_BY), annotation(new, ADMISSION_GATED_BY), &mut errors);
    errors.errors
}

fn check_immutable(path: &FieldPath, old: &str, new: &str, errors: &mut ErrorList) {
    if old != new {
        errors.invalid_text(path, new, IMMUTABLE);
    }
}

/// Checks the name of an object of Kueue (`ValidateLabelAsCRDName`).
fn check_object_name(path: &FieldPath, name: &str, errors: &mut ErrorList) {
    let problems = dns1123_subdomain(name);
    if !problems.is_empty() {
        errors.invalid_text(path, name, &problems.join(","));
    }
}

/// Returns the place of the name of the prebuilt Workload (`GetPrebuiltWorkloadPath`).
fn prebuilt_path(jobset: &JobSet) -> FieldPath {
    let is_annotated = !annotation(jobset, KUEUE_PREBUILT_WORKLOAD).is_empty();
    if is_annotated { annotation_path(KUEUE_PREBUILT_WORKLOAD) } else { label_path(KUEUE_PREBUILT_WORKLOAD) }
}

/// Checks the name of the prebuilt Workload (`validateCreateForPrebuiltWorkload`). JobSets may have one.
fn check_prebuilt(jobset: &JobSet, errors: &mut ErrorList) {
    let annotated = Some(annotation(jobset, KUEUE_PREBUILT_WORKLOAD)).filter(|name| !name.is_empty());
    if let Some(name) = annotated.or(jobset.labels.get(KUEUE_PREBUILT_WORKLOAD).map(String::as_str)) {
        check_object_name(&prebuilt_path(jobset), name, errors);
    }
}

/// Checks that the execution time is a number above 0 (`validateCreateForMaxExecTime`).
fn check_max_execution_time(jobset: &JobSet, errors: &mut ErrorList) {
    let Some(value) = jobset.labels.get(KUEUE_MAX_EXECUTION_TIME) else { return };
    let path = label_path(KUEUE_MAX_EXECUTION_TIME);
    match value.parse::<i64>() {
        Ok(seconds) if seconds > 0 => {}
        Ok(seconds) => errors.invalid_raw(&path, &seconds.to_string(), "should be greater than 0"),
        Err(_) => {
            let problem = parse_problem(value);
            errors.invalid_text(&path, value, &format!("strconv.Atoi: parsing {}: {problem}", go_quote(value)));
        }
    }
}

/// Returns why Go's `strconv` does not read a text as a decimal integer.
pub fn parse_problem(text: &str) -> &'static str {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { "value out of range" } else { "invalid syntax" }
}

/// Returns whether the size of the job may change while it runs (`workloadslicing.Enabled`).
fn is_elastic(jobset: &JobSet) -> bool {
    annotation(jobset, KUEUE_ELASTIC_JOB) == "true"
}

/// Returns the names of gates (`csv.Parse`).
fn gate_names(value: &str) -> Vec<&str> {
    if value.trim().is_empty() { Vec::new() } else { value.split(',').map(str::trim).collect() }
}

/// Checks the names of gates (`validateAdmissionGatedByAnnotationFormat`).
pub fn check_gates(value: &str, errors: &mut ErrorList) {
    let path = annotation_path(ADMISSION_GATED_BY);
    let gates = gate_names(value);
    for (at, gate) in gates.iter().enumerate() {
        if gate.is_empty() {
            errors.invalid_text(&path, value, "cannot contain empty gate names");
        } else if gates[..at].contains(gate) {
            errors.invalid_text(&path, value, &format!("duplicate gate name: {gate}"));
        } else {
            // The rule of `managedBy`: a domain-prefixed path of at most 63 bytes.
            meta_check::managed_by(gate, &path, errors);
        }
    }
}

/// Gates can only be removed (`ValidateAdmissionGatedByAnnotationOnUpdate`).
fn update_gates(old: &str, new: &str, errors: &mut ErrorList) {
    let path = annotation_path(ADMISSION_GATED_BY);
    if old.is_empty() && !new.is_empty() {
        errors.forbidden(&path, "cannot add admission gate after creation");
    }
    let known = gate_names(old);
    if !old.is_empty() && !new.is_empty() && gate_names(new).iter().any(|gate| !known.contains(gate)) {
        errors.forbidden(&path, "can only remove gates, not add new ones");
    }
    check_gates(new, errors);
}

/// The queue changes only while the job is suspended (`validateUpdateForQueueName`).
fn update_queue(old: &JobSet, new: &JobSet, has_default_queue: bool, errors: &mut ErrorList) {
    let path = label_path(KUEUE_QUEUE);
    let (before, after) = (label(old, KUEUE_QUEUE), label(new, KUEUE_QUEUE));
    if !new.spec.suspend {
        check_immutable(&path, before, after, errors);
    }
    if after.is_empty() && !before.is_empty() && has_default_queue {
        errors.invalid_text(&path, "", "queue-name must not be empty in namespace with default queue");
    }
}

/// A class is added only while the job is suspended and is never removed
/// (`ValidateUpdateForWorkloadPriorityClassName`).
fn update_priority_class(old: &JobSet, new: &JobSet, errors: &mut ErrorList) {
    let path = label_path(KUEUE_PRIORITY_CLASS);
    match (priority_class_label(old), priority_class_label(new)) {
        (None, Some(class)) if !new.spec.suspend => {
            errors.invalid_text(&path, class, "WorkloadPriorityClass cannot be added to a non-suspended workload");
        }
        (Some(_), None) => errors.invalid_text(&path, "", "WorkloadPriorityClass cannot be removed from a workload"),
        _ => {}
    }
}
