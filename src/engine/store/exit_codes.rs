//! Exit codes of a pod's containers, as its status shows them.

use super::{LAST_CONTAINER, NO_STATUS, ObjectStore};
use sim_base::PodId;

/// Name and exit code of each container, regular ones first; only one init container can have failed. Empty before
/// the pod has ended, and if no kubelet reported the
/// codes.
pub fn exit_codes(store: &ObjectStore, pod: PodId) -> Vec<(&str, i32)> {
    let which = store.pods.exit_container[pod.ix()];
    if !store.pods.is_terminal(pod) || which == NO_STATUS {
        return Vec::new();
    }
    let code = i32::from(store.pods.exit_code[pod.ix()]);
    let containers = store.pod_spec(pod).containers.iter().enumerate();
    let code_of = |at| if exited_with(which, at) { code } else { 0 };
    let mut codes: Vec<(&str, i32)> = containers.map(|(at, c)| (c.name.as_str(), code_of(at))).collect();
    if let Some(failed) = failed_init(store, pod).and_then(|at| store.pod_spec(pod).init_containers.get(at)) {
        codes.push((&failed.name, code));
    }
    codes
}

/// Position of the init container that has failed.
pub fn failed_init(store: &ObjectStore, pod: PodId) -> Option<usize> {
    let which = store.pods.exit_container[pod.ix()];
    let number = Some(usize::from(which)).filter(|_| which <= LAST_CONTAINER)?;
    number.checked_sub(store.pod_spec(pod).containers.len() + 1)
}

/// Returns true if the pod's exit code belongs to this container; the others exited with 0.
fn exited_with(which: u8, container: usize) -> bool {
    which == 0 || usize::from(which) == container + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_is_of_all_containers_or_of_one() {
        let of = |which| [0, 1, 2].map(|container| exited_with(which, container));
        for (which, containers) in [(0, [true, true, true]), (1, [true, false, false]), (3, [false, false, true])] {
            assert_eq!(of(which), containers, "{which}");
        }
    }
}
