//! Kueue's webhook for new JobSets. It gives a JobSet without a queue the LocalQueue named `default` in its namespace
//! (`pkg/controller/jobframework/defaults.go`), and refuses invalid labels and annotations.

use crate::kube::{self, WrittenManifest};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use sim_api::spec::ScenarioSpec;
use sim_api::spec::keys::KUEUE_QUEUE;
use sim_api::spec::kueue::{LocalQueue, StopPolicy};
use sim_kueue::workload::webhook::refusal;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the LocalQueue (`DefaultLocalQueueName`).
const DEFAULT_LOCAL_QUEUE: &str = "default";

/// Applies the webhook to the JobSets, if the scenario has objects of Kueue. `written` has their documents, for the
/// positions of errors.
pub fn admit(scenario: &mut ScenarioSpec, written: &BTreeMap<String, WrittenManifest>) -> Result<(), Diagnostics> {
    if scenario.kueue.is_none() {
        return Ok(());
    }
    add_default_queues(scenario);
    let refused = scenario.jobsets.iter().filter_map(|s| Some((s, refusal(&s.jobset)?)));
    let refused: Vec<Diagnostic> = refused.flat_map(|(s, why)| kube::refused(written, &s.source, why)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Diagnostics(refused)) }
}

/// Adds the label of the default LocalQueue to the JobSets that have no queue. A stopped LocalQueue does not count.
fn add_default_queues(scenario: &mut ScenarioSpec) {
    let Some(objects) = &scenario.kueue else { return };
    let is_default = |queue: &LocalQueue| queue.name == DEFAULT_LOCAL_QUEUE && queue.stop_policy == StopPolicy::None;
    let queues: Vec<&LocalQueue> = objects.local_queues.iter().filter(|queue| is_default(queue)).collect();
    for jobset in scenario.jobsets.iter_mut().map(|submitted| &mut submitted.jobset) {
        let has_queue = jobset.kueue_queue().is_some_and(|queue| !queue.is_empty());
        if has_queue || !queues.iter().any(|queue| queue.namespace == jobset.namespace) {
            continue;
        }
        jobset.labels.insert(KUEUE_QUEUE.to_owned(), DEFAULT_LOCAL_QUEUE.to_owned());
        if let Some(object) = &mut jobset.object {
            Arc::make_mut(object)["metadata"]["labels"][KUEUE_QUEUE] = DEFAULT_LOCAL_QUEUE.into();
        }
    }
}
