//! Kueue's webhooks for new JobSets, applied to those of a scenario: default queue and priority class, and refusals of
//! invalid labels and annotations.

use crate::acting_keys;
use crate::kube::{self, WrittenManifest};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use serde_json::Value;
use sim_api::spec::keys::{TPU_SLICE, TPU_SLICE_TOPOLOGY};
use sim_api::spec::{ScenarioSpec, SubmittedJobSet};
use sim_kueue::workload::webhook::{refusal, set_defaults};
use std::collections::BTreeMap;

/// Applies the webhook to the JobSets, if the scenario has objects of Kueue. `written` has their documents, for the
/// positions of errors.
pub fn admit(scenario: &mut ScenarioSpec, written: &BTreeMap<String, WrittenManifest>) -> Result<(), Diagnostics> {
    let Some(objects) = &scenario.kueue else { return Ok(()) };
    for submitted in &mut scenario.jobsets {
        set_defaults(&mut submitted.jobset, objects);
    }
    let sliced = scenario.jobsets.iter().filter(|s| objects.manages(&s.jobset));
    let sliced: Vec<Diagnostic> = sliced.filter_map(|s| dynamic_slicing(s, written)).collect();
    if !sliced.is_empty() {
        return Err(Diagnostics(sliced));
    }
    let refused = scenario.jobsets.iter().filter_map(|s| Some((s, refusal(&s.jobset, objects)?)));
    let refused: Vec<Diagnostic> = refused.flat_map(|(s, why)| kube::refused(written, &s.source, why)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Diagnostics(refused)) }
}

/// Returns the labels of the Namespaces among other objects.
pub fn namespace_labels(objects: &[Value]) -> BTreeMap<String, BTreeMap<String, String>> {
    let namespaces = objects.iter().filter(|object| object["kind"] == "Namespace");
    let labels = |object: &Value| {
        let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
        labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    };
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap_or("").to_owned();
    namespaces.map(|object| (name(object), labels(object))).collect()
}

/// Refuses pods with a slice topology in a JobSet that Kueue manages: a webhook of GKE's slice controller turns the
/// annotation into a request for whole cubes, and refuses other numbers of pods. This is not modelled.
fn dynamic_slicing(submitted: &SubmittedJobSet, written: &BTreeMap<String, WrittenManifest>) -> Option<Diagnostic> {
    let mut keys = acting_keys::of_jobset(&submitted.jobset).into_iter();
    let found = keys.find(|found| found.key == TPU_SLICE_TOPOLOGY)?;
    let message = format!(
        "GKE dynamic slicing is not modelled with Kueue: {} {TPU_SLICE_TOPOLOGY} of replicatedJob {}",
        found.list, found.replicated_job
    );
    let mut error = kube::error(written, &submitted.source, &found.path, message);
    error.suggest(format!(
        "remove the {} and request cubes with kueue.x-k8s.io/podset-slice-required-topology and \
         podset-slice-size, or place the Jobs on `slices` of the topology with exclusive-topology: {TPU_SLICE}",
        found.list
    ));
    Some(error)
}
