//! Which cubes form a TPU slice after some of its cubes were lost (dynamic slicing).
//!
//! Optical switches connect any cubes of one block, so a slice of a given shape needs a number of cubes and no
//! particular ones (docs.cloud.google.com/tpu/docs/v5p).

/// A cube of TPU chips.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SliceCube {
    /// The block, that is, the superpod.
    pub block: u32,
    /// All of its Nodes exist, are Ready and schedulable.
    pub is_usable: bool,
    /// Pods are bound to its nodes.
    pub has_pods: bool,
}

/// What the owner of a slice does with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlicePlan {
    /// All cubes are usable.
    Keep,
    /// Pods still use the slice, or the block has too few free cubes.
    Wait,
    /// The slice is formed again with these cubes, in the order of their places in the slice.
    Form(Vec<usize>),
}

/// Returns the plan for a slice with the cubes `own`, each with its number. When its pods are gone, each unusable cube
/// is replaced by the first free cube of its block among `others`. These are in no slice and examined only then.
pub fn plan_slice(own: &[(usize, SliceCube)], others: impl Iterator<Item = (usize, SliceCube)>) -> SlicePlan {
    if own.iter().all(|(_, cube)| cube.is_usable) {
        return SlicePlan::Keep;
    }
    if own.iter().any(|(_, cube)| cube.has_pods) {
        return SlicePlan::Wait;
    }
    let mut free = others.filter(|(_, cube)| {
        let is_near = own.iter().any(|(_, own)| own.block == cube.block);
        is_near && cube.is_usable && !cube.has_pods
    });
    let place = |(number, cube): &(usize, SliceCube)| {
        if cube.is_usable { Some(*number) } else { free.next().map(|(number, _)| number) }
    };
    own.iter().map(place).collect::<Option<Vec<usize>>>().map_or(SlicePlan::Wait, SlicePlan::Form)
}
