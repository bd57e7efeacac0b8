//! The links of a torus between the hosts of its chips.

use super::island::TorusAxis;
use sim_base::NodeId;
use std::collections::BTreeMap;

/// Returns the number of chip links between each pair of hosts of an island, with the smaller id first. A host has a
/// block of chips that halves the axes in turn, such as 2x2x1 of 4x4x4; hosts are in the order of their blocks, the
/// last axis first. If the chips cannot be divided in this way, they belong to the hosts in the order of the chips.
pub fn host_links(axes: &[TorusAxis], hosts: &[NodeId]) -> BTreeMap<(NodeId, NodeId), u32> {
    let shape: Vec<usize> = axes.iter().map(|axis| axis.chips as usize).collect();
    let chips: usize = shape.iter().product();
    let block = block_shape(&shape, chips / hosts.len().max(1)).filter(|block| {
        let per_host: usize = block.iter().product();
        per_host * hosts.len() == chips
    });
    let host = |chip: &[usize]| match &block {
        Some(block) => {
            let place = shape.iter().zip(block).zip(chip);
            hosts[place.fold(0, |index, ((axis, block), at)| index * (axis / block) + at / block)]
        }
        None => {
            let index = shape.iter().zip(chip).fold(0, |index, (axis, at)| index * axis + at);
            hosts[index * hosts.len() / chips]
        }
    };
    let mut links = BTreeMap::new();
    let mut chip = vec![0; shape.len()];
    for _ in 0..chips {
        let own = host(&chip);
        for (at, axis) in axes.iter().enumerate().filter(|(_, axis)| axis.chips > 1) {
            let is_last = chip[at] + 1 == shape[at];
            if is_last && !axis.wrapped {
                continue;
            }
            let mut next = chip.clone();
            next[at] = (chip[at] + 1) % shape[at];
            let other = host(&next);
            if other != own {
                *links.entry((own.min(other), own.max(other))).or_insert(0) += 1;
            }
        }
        advance(&mut chip, &shape);
    }
    links
}

/// Returns the shape of the block of `chips` chips that halves the axes in turn; `None` if there is none.
fn block_shape(shape: &[usize], chips: usize) -> Option<Vec<usize>> {
    let (mut block, mut left) = (vec![1; shape.len()], chips);
    while left > 1 {
        let before = left;
        for (own, axis) in block.iter_mut().zip(shape) {
            if left % 2 == 0 && (axis / *own) % 2 == 0 {
                *own *= 2;
                left /= 2;
            }
        }
        if left == before {
            return None;
        }
    }
    (chips > 0).then_some(block)
}

/// Moves to the next chip, the last axis first.
fn advance(chip: &mut [usize], shape: &[usize]) {
    for (at, axis) in chip.iter_mut().zip(shape).rev() {
        *at = (*at + 1) % axis;
        if *at > 0 {
            return;
        }
    }
}
