//! SUS-5: merges fields of the replicatedJob's template into a resumed Job.
//!
//! Must never remove a field (C-31).

use sim_api::spec::PodTemplate;

/// Returns the Job's pod template after the merge; `None` if nothing changes.
pub(super) fn merge_templates(own: &PodTemplate, new: &PodTemplate) -> Option<PodTemplate> {
    let mut all = own.clone();
    all.labels.extend(new.labels.clone());
    all.annotations.extend(new.annotations.clone());
    let spec = &mut all.spec;
    spec.node_selector.extend(new.spec.node_selector.clone());
    for toleration in &new.spec.tolerations {
        if !spec.tolerations.contains(toleration) {
            spec.tolerations.push(toleration.clone());
        }
    }
    spec.scheduling_gates = spec.scheduling_gates.max(new.spec.scheduling_gates);
    (all != *own).then_some(all)
}
