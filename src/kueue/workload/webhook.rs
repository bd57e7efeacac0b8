//! Kueue's webhooks for JobSets (`pkg/controller/jobs/jobset/jobset_webhook.go`): defaults, and the checks of new and
//! changed JobSets. Those of labels and annotations of the JobSet are in `job_validation`.

use super::job_validation;
use super::jobset::{pods, priority_class_label};
use super::topology::annotations::{
    GROUP, PREFERRED, REQUIRED, SLICE_CONSTRAINTS, SLICE_REQUIRED, SLICE_SIZE, UNCONSTRAINED,
};
use super::topology::{self, TopologyRequestError, WrittenLayer};
use crate::tas::LevelRequest;
use sim_api::admission::AdmissionRejection;
use sim_api::admission::errors::join_errors;
use sim_api::admission::field::{FieldError, FieldErrorKind, FieldPath, go_quote};
use sim_api::admission::names::label_key;
use sim_api::spec::keys::{KUEUE_PRIORITY_CLASS, KUEUE_QUEUE};
use sim_api::spec::kueue::{DEFAULT_LOCAL_QUEUE, DEFAULT_PRIORITY_CLASS, KueueObjects};
use sim_api::spec::{JobSet, ReplicatedJob};

/// Completes a new JobSet like the webhook (`pkg/controller/jobframework/defaults.go`): the LocalQueue and the
/// WorkloadPriorityClass named `default`.
pub fn set_defaults(jobset: &mut JobSet, objects: &KueueObjects) {
    if !objects.has_integration(jobset) {
        return;
    }
    let has_default_queue =
        objects.has_default_queue(&jobset.namespace) && objects.manages_namespace(&jobset.namespace);
    if jobset.kueue_queue().is_none() && has_default_queue {
        jobset.set_label(KUEUE_QUEUE, DEFAULT_LOCAL_QUEUE);
    }
    let has_default_class = objects.priority_classes.iter().any(|class| class.name == DEFAULT_PRIORITY_CLASS);
    if priority_class_label(jobset).is_none() && has_default_class {
        jobset.set_label(KUEUE_PRIORITY_CLASS, DEFAULT_PRIORITY_CLASS);
    }
}

/// Returns the refusal of a new JobSet, or `None` if Kueue accepts it. The webhook checks JobSets without a queue too.
pub fn refusal(jobset: &JobSet, objects: &KueueObjects) -> Option<AdmissionRejection> {
    if objects.has_integration(jobset) { denial(Vec::new(), jobset) } else { None }
}

/// Returns the refusal of a change of a JobSet, or `None` if Kueue accepts it.
pub fn update_refusal(old: &JobSet, new: &JobSet, objects: &KueueObjects) -> Option<AdmissionRejection> {
    if !objects.has_integration(old) {
        return None;
    }
    denial(job_validation::on_update(old, new, objects.has_default_queue(&old.namespace)), new)
}

/// Returns the refusal for errors of a change and those that a new object with the same content has.
fn denial(errors: Vec<FieldError>, jobset: &JobSet) -> Option<AdmissionRejection> {
    let jobs = &jobset.spec.replicated_jobs;
    let mut errors = ErrorsOfJobSet(errors);
    errors.0.extend(job_validation::on_create(jobset));
    let reason = match jobs.iter().enumerate().find_map(|(index, job)| unreadable(index, job)) {
        Some(error) => {
            let reason = error.detail.clone();
            errors.0 = vec![error];
            reason
        }
        None => {
            jobs.iter().enumerate().for_each(|(index, job)| errors.check_template(index, job));
            errors.check_groups(jobs);
            if errors.0.is_empty() {
                return None;
            }
            join_errors(&errors.0)
        }
    };
    let message = format!("admission webhook \"vjobset.kb.io\" denied the request: {reason}");
    Some(AdmissionRejection { errors: errors.0, ..AdmissionRejection::new(403, "Forbidden", message) })
}

/// Returns the message about an annotation that cannot be parsed. The webhook reports it without the path.
fn unreadable(index: usize, job: &ReplicatedJob) -> Option<FieldError> {
    let at = |key: &str, message: String| {
        Some(FieldError::internal(message).with_actual_path(annotations_path(index).key(key).as_str()))
    };
    let parse = |function: &str, key: &str, value: &str, problem: &str| {
        at(key, format!("strconv.{function}: parsing {}: {problem}", go_quote(value)))
    };
    match topology::read(&job.template.template.annotations).err()? {
        TopologyRequestError::Unconstrained { value } => parse("ParseBool", UNCONSTRAINED, &value, "invalid syntax"),
        // A number below 1 is parsed and then too small.
        TopologyRequestError::SliceSize { value } if value.parse::<i32>().is_ok() => None,
        TopologyRequestError::SliceSize { value } => {
            parse("ParseInt", SLICE_SIZE, &value, job_validation::parse_problem(&value))
        }
        TopologyRequestError::Constraints(error) => at(SLICE_CONSTRAINTS, error.to_string()),
        TopologyRequestError::LayerSize => None,
    }
}

fn annotations_path(index: usize) -> FieldPath {
    let job = FieldPath::new("spec").child("replicatedJobs").index(index);
    job.child("template").child("spec").child("template").child("metadata").child("annotations")
}

#[derive(Default)]
struct ErrorsOfJobSet(Vec<FieldError>);

impl ErrorsOfJobSet {
    fn forbid(&mut self, path: &FieldPath, detail: String) {
        self.0.push(FieldError::new(path.as_str(), FieldErrorKind::Forbidden, detail));
    }

    fn invalid(&mut self, path: &FieldPath, value: String, detail: impl Into<String>) {
        self.0.push(FieldError::invalid(path.as_str(), value, detail));
    }

    /// Checks the annotations of one pod template.
    fn check_template(&mut self, index: usize, job: &ReplicatedJob) {
        let annotations = &job.template.template.annotations;
        let path = annotations_path(index);
        let has = |key: &str| annotations.contains_key(key);
        if [REQUIRED, PREFERRED, UNCONSTRAINED].into_iter().filter(|key| has(key)).count() > 1 {
            let detail = format!(
                "must not contain more than one topology annotation: [{REQUIRED:?}, {PREFERRED:?}, {UNCONSTRAINED:?}]"
            );
            self.0.push(FieldError::new(path.as_str(), FieldErrorKind::Invalid, detail));
        }
        for key in [REQUIRED, PREFERRED, SLICE_REQUIRED] {
            let value = annotations.get(key).map_or("", String::as_str);
            let problems = if has(key) { label_key(value) } else { Vec::new() };
            problems.into_iter().for_each(|problem| self.invalid(&path.key(key), go_quote(value), problem));
        }
        if let Some(group) = annotations.get(GROUP) {
            // Go's ParseUint accepts no sign.
            if !group.starts_with('+') && group.parse::<u64>().is_ok() {
                self.invalid(&path.key(GROUP), go_quote(group), "must not be a number");
            }
            for key in [SLICE_SIZE, SLICE_REQUIRED].into_iter().filter(|key| has(key)) {
                self.forbid(&path.key(GROUP), format!("may not be set when '{key}' is specified"));
            }
            if !has(PREFERRED) && !has(REQUIRED) {
                let detail = format!("may not be set when neither '{PREFERRED}' nor '{REQUIRED}' is specified");
                self.forbid(&path.key(GROUP), detail);
            }
        }
        let size_text = annotations.get(SLICE_SIZE).map_or("", String::as_str);
        let size = size_text.parse::<i32>().ok();
        if size.is_some_and(|size| size < 1) {
            self.invalid(&path.key(SLICE_SIZE), go_quote(size_text), "must be greater than or equal to 1");
        }
        if has(SLICE_REQUIRED) && !has(SLICE_SIZE) {
            let detail = format!("must be set when '{SLICE_REQUIRED}' is specified");
            self.0.push(FieldError::new(path.key(SLICE_SIZE).as_str(), FieldErrorKind::Required, detail));
        }
        if has(SLICE_SIZE) && !has(SLICE_REQUIRED) {
            let detail = format!("may not be set when '{SLICE_REQUIRED}' is not specified");
            self.forbid(&path.key(SLICE_SIZE), detail);
        }
        self.check_layers(&path, job);
        self.check_upper_bounds(&path, job, size_text);
    }

    /// Checks the layers of slices.
    fn check_layers(&mut self, path: &FieldPath, job: &ReplicatedJob) {
        let annotations = &job.template.template.annotations;
        let layers_path = path.key(SLICE_CONSTRAINTS);
        if !annotations.contains_key(SLICE_CONSTRAINTS) {
            return;
        }
        for key in [SLICE_REQUIRED, SLICE_SIZE].into_iter().filter(|key| annotations.contains_key(*key)) {
            self.forbid(&layers_path, format!("may not be set when '{key}' is specified"));
        }
        if annotations.contains_key(GROUP) {
            self.forbid(&path.key(GROUP), format!("may not be set when '{SLICE_CONSTRAINTS}' is specified"));
        }
        let layers = written_layers(job);
        for (index, layer) in layers.iter().enumerate() {
            let at = layers_path.index(index);
            for problem in label_key(&layer.topology) {
                self.invalid(&at.child("topology"), go_quote(&layer.topology), problem);
            }
            if layer.size < 1 {
                self.invalid(&at.child("size"), layer.size.to_string(), "must be greater than or equal to 1");
            }
        }
        for (index, layer) in layers.iter().enumerate() {
            if let Some(first) = layers[..index].iter().position(|other| other.topology == layer.topology) {
                let at = layers_path.index(index).child("topology");
                let value = go_quote(&format!("{} (also at index {first})", layer.topology));
                let error = FieldError::new(at.as_str(), FieldErrorKind::Duplicate, "");
                self.0.push(FieldError { value: Some(value), ..error });
            }
        }
        for (index, pair) in layers.windows(2).enumerate() {
            if pair[1].size > 0 && pair[0].size % pair[1].size != 0 {
                let detail = format!("must evenly divide the parent layer size {}", pair[0].size);
                self.invalid(&layers_path.index(index + 1).child("size"), pair[1].size.to_string(), detail);
            }
        }
    }

    /// Checks that a slice has no more pods than the replicatedJob.
    fn check_upper_bounds(&mut self, path: &FieldPath, job: &ReplicatedJob, size_text: &str) {
        let count = pods(job);
        let detail = || format!("must not be greater than pod set count {count}");
        if size_text.parse::<i32>().is_ok_and(|size| i64::from(size) > i64::from(count)) {
            self.invalid(&path.key(SLICE_SIZE), go_quote(size_text), detail());
        }
        let layers = written_layers(job);
        if let Some(layer) = layers.first().filter(|layer| i64::from(layer.size) > i64::from(count)) {
            self.invalid(&path.key(SLICE_CONSTRAINTS), layer.size.to_string(), detail());
        }
    }

    /// Checks the groups of pod sets that are placed together.
    fn check_groups(&mut self, jobs: &[ReplicatedJob]) {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        let levels: Vec<Option<LevelRequest>> = jobs.iter().map(level_request).collect();
        for (index, job) in jobs.iter().enumerate() {
            let Some(name) = topology::read(&job.template.template.annotations).ok().and_then(|r| r.group) else {
                continue;
            };
            match groups.iter_mut().find(|(group, _)| *group == name) {
                Some((_, members)) => members.push(index),
                None => groups.push((name, vec![index])),
            }
        }
        for (group, members) in groups {
            let [first, second] = members.as_slice() else {
                for index in &members {
                    let count = members.len();
                    let detail = format!("can only define groups of exactly 2 pod sets, got: {count} pod set(s)");
                    self.invalid(&annotations_path(*index).key(GROUP), go_quote(&group), detail);
                }
                continue;
            };
            let counts = [pods(&jobs[*first]), pods(&jobs[*second])];
            if counts.iter().all(|count| *count != 1) {
                let detail = format!(
                    "can only define groups where at least one pod set has only 1 replica, got: {} replica(s) and {} \
                     replica(s) in the group",
                    counts[0], counts[1]
                );
                for index in [first, second] {
                    self.invalid(&annotations_path(*index).key(GROUP), go_quote(&group), detail.clone());
                }
            }
            if levels[*first] != levels[*second] {
                for (own, other) in [(first, second), (second, first)] {
                    let other = annotations_path(*other);
                    let detail = format!(
                        "must specify '{REQUIRED}' or '{PREFERRED}' topology consistent with '{}' in group '{group}'",
                        other.as_str()
                    );
                    let path = annotations_path(*own);
                    self.0.push(FieldError::new(path.as_str(), FieldErrorKind::Invalid, detail));
                }
            }
        }
    }
}

/// Returns the readable layers of slices of a replicatedJob.
fn written_layers(job: &ReplicatedJob) -> Vec<WrittenLayer> {
    let text = job.template.template.annotations.get(SLICE_CONSTRAINTS);
    text.and_then(|text| topology::layers(text).ok()).unwrap_or_default()
}

fn level_request(job: &ReplicatedJob) -> Option<LevelRequest> {
    topology::read(&job.template.template.annotations).ok()?.level
}

#[cfg(test)]
#[path = "../../../tests/inside/kueue/webhook.rs"]
mod tests;
