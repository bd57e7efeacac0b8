//! Kueue's webhooks for new JobSets, applied to those of a scenario: default queue and priority class, and refusals of
//! invalid labels and annotations.

use crate::kube::{self, WrittenManifest};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use sim_api::spec::ScenarioSpec;
use sim_kueue::workload::webhook::{refusal, set_defaults};
use std::collections::BTreeMap;

/// Applies the webhook to the JobSets, if the scenario has objects of Kueue. `written` has their documents, for the
/// positions of errors.
pub fn admit(scenario: &mut ScenarioSpec, written: &BTreeMap<String, WrittenManifest>) -> Result<(), Diagnostics> {
    let Some(objects) = &scenario.kueue else { return Ok(()) };
    for submitted in &mut scenario.jobsets {
        set_defaults(&mut submitted.jobset, objects);
    }
    let refused = scenario.jobsets.iter().filter_map(|s| Some((s, refusal(&s.jobset, objects)?)));
    let refused: Vec<Diagnostic> = refused.flat_map(|(s, why)| kube::refused(written, &s.source, why)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Diagnostics(refused)) }
}
