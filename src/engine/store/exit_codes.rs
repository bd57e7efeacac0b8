//! The end of a pod's containers: which of them exited with the pod's exit code, as its status shows it.

use super::ObjectStore;
use sim_base::PodId;

/// The containers that exited with the exit code of the pod; the others exited with 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ExitedContainers {
    All,
    /// Position among the main containers, followed by the init containers.
    One(usize),
}

impl ExitedContainers {
    pub fn includes(self, container: usize) -> bool {
        match self {
            ExitedContainers::All => true,
            ExitedContainers::One(only) => only == container,
        }
    }
}

/// State of a pod's containers according to the last status that its kubelet wrote.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ContainersState {
    /// No container has a terminated state: none has ended, or pod garbage collection failed the pod.
    NoStatus,
    /// The pod was ready until all containers exited with 0, and its phase is not yet updated.
    Succeeding,
    /// RestartAllContainers has removed the containers.
    Removed,
    Exited(ExitedContainers),
}

/// A `ContainersState` in one byte.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StoredContainersState(u8);

const ALL: u8 = 0;
/// Largest number of a single container. Numbers start at 1, and the remaining values are states.
const LAST_CONTAINER: u8 = REMOVED - 1;
const REMOVED: u8 = u8::MAX - 2;
const SUCCEEDING: u8 = u8::MAX - 1;
const NO_STATUS: u8 = u8::MAX;

impl StoredContainersState {
    pub const NO_STATUS: StoredContainersState = StoredContainersState(NO_STATUS);
    pub const ALL_EXITED: StoredContainersState = StoredContainersState(ALL);

    pub fn get(self) -> ContainersState {
        match self.0 {
            NO_STATUS => ContainersState::NoStatus,
            SUCCEEDING => ContainersState::Succeeding,
            REMOVED => ContainersState::Removed,
            ALL => ContainersState::Exited(ExitedContainers::All),
            number => ContainersState::Exited(ExitedContainers::One(usize::from(number) - 1)),
        }
    }

    /// Returns the exited containers; all of them if the state is another one.
    pub fn exited(self) -> ExitedContainers {
        match self.get() {
            ContainersState::Exited(exited) => exited,
            _ => ExitedContainers::All,
        }
    }
}

impl From<ContainersState> for StoredContainersState {
    fn from(state: ContainersState) -> StoredContainersState {
        StoredContainersState(match state {
            ContainersState::NoStatus => NO_STATUS,
            ContainersState::Succeeding => SUCCEEDING,
            ContainersState::Removed => REMOVED,
            ContainersState::Exited(ExitedContainers::All) => ALL,
            ContainersState::Exited(ExitedContainers::One(at)) => (at + 1).min(LAST_CONTAINER.into()) as u8,
        })
    }
}

/// Name and exit code of each container, regular ones first; only one init container can have failed. Empty before
/// the pod has ended, and if no kubelet reported the codes.
pub fn exit_codes(store: &ObjectStore, pod: PodId) -> Vec<(&str, i32)> {
    let ContainersState::Exited(exited) = store.pods.containers[pod.ix()].get() else {
        return Vec::new();
    };
    if !store.pods.is_terminal(pod) {
        return Vec::new();
    }
    let code = i32::from(store.pods.exit_code[pod.ix()]);
    let containers = store.pod_spec(pod).containers.iter().enumerate();
    let code_of = |at| if exited.includes(at) { code } else { 0 };
    let mut codes: Vec<(&str, i32)> = containers.map(|(at, c)| (c.name.as_str(), code_of(at))).collect();
    if let Some(failed) = failed_init(store, pod).and_then(|at| store.pod_spec(pod).init_containers.get(at)) {
        codes.push((&failed.name, code));
    }
    codes
}

/// Position of the init container that has failed.
pub fn failed_init(store: &ObjectStore, pod: PodId) -> Option<usize> {
    match store.pods.containers[pod.ix()].get() {
        ContainersState::Exited(ExitedContainers::One(at)) => at.checked_sub(store.pod_spec(pod).containers.len()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/engine/store/exit_codes.rs"]
mod tests;
