//! Unit tests of `sim_engine::store::exit_codes`.

use super::*;

#[test]
fn every_state_fits_into_one_byte() {
    use ContainersState::*;
    assert_eq!(size_of::<StoredContainersState>(), 1);
    let last = usize::from(LAST_CONTAINER) - 1;
    let exited = [ExitedContainers::All, ExitedContainers::One(0), ExitedContainers::One(last)].map(Exited);
    for state in [NoStatus, Succeeding, Removed].into_iter().chain(exited) {
        assert_eq!(StoredContainersState::from(state).get(), state);
    }
    let beyond = StoredContainersState::from(Exited(ExitedContainers::One(last + 1)));
    assert_eq!(beyond.get(), Exited(ExitedContainers::One(last)));
}
