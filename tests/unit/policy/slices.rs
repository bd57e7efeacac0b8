//! Tests of `sim_policy::slices`.

use sim_policy::slices::{SliceCube, SlicePlan, plan_slice};

/// Cubes as letters: `o` is usable, `p` too and has pods, `x` is lost, `l` too and has pods; upper case is in another
/// block.
fn cubes(states: &str) -> impl Iterator<Item = SliceCube> {
    states.chars().map(|state| SliceCube {
        block: u32::from(state.is_uppercase()),
        is_usable: !['x', 'l'].contains(&state.to_ascii_lowercase()),
        has_pods: ['p', 'l'].contains(&state.to_ascii_lowercase()),
    })
}

#[test]
fn a_lost_cube_is_replaced_by_the_first_free_cube_of_its_block() {
    let cases = [
        ("all cubes are usable", "pp o", SlicePlan::Keep),
        ("no cube is free", "ox ", SlicePlan::Wait),
        ("a pod uses the lost cube", "ol o", SlicePlan::Wait),
        ("a pod uses the other cube of the slice", "px o", SlicePlan::Wait),
        ("a pod uses the cube that is in no slice", "ox p", SlicePlan::Wait),
        ("the free cube is lost too", "ox x", SlicePlan::Wait),
        ("the free cube is in another block", "ox O", SlicePlan::Wait),
        ("one of two lost cubes can be replaced", "xx o", SlicePlan::Wait),
        ("the first free cube takes the place of the lost one", "xo oo", SlicePlan::Form(vec![2, 1])),
        ("both are replaced", "xx poo", SlicePlan::Form(vec![3, 4])),
    ];
    for (case, states, expected) in cases {
        let (own, others) = states.split_once(' ').expect("cubes of the slice and others");
        let own: Vec<(usize, SliceCube)> = cubes(own).enumerate().collect();
        let others = cubes(others).enumerate().map(|(number, cube)| (number + 2, cube));
        assert_eq!(plan_slice(&own, others), expected, "{case}");
    }
}
