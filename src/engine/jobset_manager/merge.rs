//! SUS-5: what a resumed Job takes over from the template of its replicatedJob.
//!
//! Must never take anything away (C-31).

use sim_api::spec::PodTemplate;

/// The Job's pod template after the merge; `None`: it has everything already.
pub(super) fn merged(own: &PodTemplate, new: &PodTemplate) -> Option<PodTemplate> {
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
