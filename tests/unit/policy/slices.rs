//! Tests of `sim_policy::slices`.

use sim_policy::slices::{SliceCube, SlicePlan, plan_slice};

/// Cubes as letters: `o` is in the slice or another one, `x` is lost, `f` is free, `p` is in no slice and has pods, `l`
/// is lost and has pods; upper case is in another block.
fn cubes(states: &str) -> Vec<SliceCube> {
    let cube = |state: char| {
        let kind = state.to_ascii_lowercase();
        SliceCube {
            block: u32::from(state.is_uppercase()),
            is_usable: !['x', 'l'].contains(&kind),
            is_in_slice: !['f', 'p'].contains(&kind),
            has_pods: ['p', 'l'].contains(&kind),
        }
    };
    states.chars().map(cube).collect()
}

#[test]
fn a_lost_cube_is_replaced_by_the_first_free_cube_of_its_block() {
    let cases = [
        ("all cubes are usable", "ooff", SlicePlan::Keep),
        ("no cube is free", "oxoo", SlicePlan::Wait),
        ("a pod uses the lost cube", "olf", SlicePlan::Wait),
        ("a pod uses the cube that is in no slice", "oxp", SlicePlan::Wait),
        ("the free cube is in another block", "oxF", SlicePlan::Wait),
        ("one of two lost cubes can be replaced", "xxf", SlicePlan::Wait),
        ("the first free cube takes the place of the lost one", "xoff", SlicePlan::Form(vec![2, 1])),
        ("both are replaced", "xxoff", SlicePlan::Form(vec![3, 4])),
    ];
    for (case, states, expected) in cases {
        assert_eq!(plan_slice(&[0, 1], &cubes(states)), expected, "{case}");
    }
}
