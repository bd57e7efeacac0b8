//! Unit tests of `sim_reliability::training::hosts`.

use super::*;

#[test]
fn the_loss_depends_on_the_slices_of_the_lost_hosts() {
    // Two slices of three hosts each; the number of a node is its index.
    let slice = |node: u32| JobId(node / 3);
    for (name, dead, now, expected) in [
        ("the same nodes", vec![], vec![0, 1, 2, 3, 4, 5], LossSpec::Process),
        ("a machine failed and returned", vec![1], vec![0, 1, 2, 3, 4, 5], LossSpec::Host),
        ("a pod on another node", vec![], vec![6, 1, 2, 3, 4, 5], LossSpec::Host),
        ("one host of each slice", vec![1, 4], vec![0, 1, 2, 3, 4, 5], LossSpec::Host),
        ("two hosts of one slice", vec![1], vec![6, 1, 2, 3, 4, 5], LossSpec::Slice),
        ("two hosts of one slice and one of the other", vec![0, 1, 5], vec![0, 1, 2, 3, 4, 5], LossSpec::All),
        ("a node that is not a host", vec![7], vec![0, 1, 2, 3, 4, 5], LossSpec::Process),
    ] {
        let mut hosts = TrainingHosts::default();
        assert_eq!(hosts.move_to((0..6).map(|node| (NodeId(node), slice(node)))), LossSpec::Process);
        dead.into_iter().for_each(|node| hosts.lose(NodeId(node)));
        assert_eq!(hosts.move_to(now.into_iter().map(|node| (NodeId(node), slice(node)))), expected, "{name}");
    }
}
