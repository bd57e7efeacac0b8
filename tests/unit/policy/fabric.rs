//! Worked examples and measurements of collective operations.

use sim_policy::fabric::*;

const GB: f64 = 1e9;

fn transfer(collective: Collective, bytes: f64) -> Transfer {
    Transfer { collective, bytes }
}

fn torus(shape: &[u32], wrapped: bool, link: f64) -> IslandLinks {
    let axes = shape.iter().map(|chips| TorusAxis { chips: *chips, wrapped }).collect();
    IslandLinks::Torus { axes, link_bytes_per_s: link, hop_s: 1e-6 }
}

fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{what}: {value}, expected {expected}");
}

/// The examples E1 to E9, computed by hand or in the scaling book. A row is a sentence, the seconds, and the expected
/// seconds in three digits.
#[test]
fn collectives_take_as_long_as_in_the_worked_examples() {
    use Collective::{AllGather, AllReduce};
    let all_reduce = |bytes| transfer(AllReduce, bytes);
    let superpod = [(8, 450.0), (32, 400.0), (4, 12_800.0)];
    let superpod = superpod.map(|(children, rate)| NetworkLevel { children, uplink_bytes_per_s: rate * GB });
    let (seconds, slowest) = tree_seconds(&superpod, transfer(AllGather, 10.0 * GB));
    assert_eq!(slowest, 1, "the leaves limit the SuperPOD");
    let dcn = DcnRate { host_bytes_per_s: 25.0 * GB, step_s: 0.0 };
    let between = |shape: &[u32], slices, hosts| {
        multislice_seconds(&torus(shape, true, 100.0 * GB), slices, hosts, dcn, 140.0 * GB).1
    };
    let meta = NodeBlocks { blocks: 8, nodes_per_block: 384, node_bytes_per_s: 400.0 * GB, oversubscription: 7.0 };
    let uplinks = NetworkLevel { children: 8, uplink_bytes_per_s: meta.uplink_bytes_per_s() };
    let nvl72 = IslandLinks::Switch { accelerators: 72, bytes_per_s: 900.0 * GB, latency_s: 0.0 };
    let slower = nvl72.degraded(16.0 / 18.0).seconds(all_reduce(GB)) / nvl72.seconds(all_reduce(GB));
    let rows = [
        (
            "E1: an AllReduce of 10 GB over three wrapped axes",
            torus(&[8, 8, 8], true, 100.0 * GB).seconds(all_reduce(10.0 * GB)),
            0.0333,
        ),
        (
            "E2: without wraparound it takes twice as long",
            torus(&[2, 4, 4], false, 100.0 * GB).seconds(all_reduce(10.0 * GB)),
            0.0667,
        ),
        (
            "E3: an AllGather over one axis of four chips",
            torus(&[4], false, 45.0 * GB).seconds(transfer(AllGather, 33.554e6)),
            559e-6,
        ),
        (
            "E4: an AllGather of 537 MB in a node with eight H100",
            IslandLinks::Switch { accelerators: 8, bytes_per_s: 450.0 * GB, latency_s: 0.0 }
                .seconds(transfer(AllGather, 537e6)),
            1.04e-3,
        ),
        ("E5: an AllGather of 10 GB in a SuperPOD of 1,024 GPUs", seconds, 0.0242),
        ("E6: 64 slices of 4x4x4 exchange 140 GB", between(&[4, 4, 4], 64, 16), 0.689),
        ("E6: 16 slices of 4x8x8 exchange 140 GB", between(&[4, 8, 8], 16, 64), 0.164),
        ("E6: 8 slices of 8x8x8 exchange 140 GB", between(&[8, 8, 8], 8, 128), 0.0766),
        (
            "E7: blocks with 7:1 oversubscription exchange 140 GB",
            level_seconds(uplinks, all_reduce(140.0 * GB)),
            0.0112,
        ),
        ("E7: the nodes are the limit of an ordered ring", meta.ordered_seconds(all_reduce(140.0 * GB)), 0.700),
        ("E8: a ring in random order", meta.random_seconds(all_reduce(140.0 * GB)), 4.29),
        ("E9: one of nine switch trays is lost", slower, 1.125),
    ];
    for (what, seconds, expected) in rows {
        assert_near(what, seconds, expected, 0.005);
    }
    assert_near("E7: rate of the uplinks", meta.uplink_bytes_per_s(), 21.9e12, 0.004);
    assert_near("E8: share of edges that leave a block", meta.crossing_share(), 0.875, 0.001);
}

/// Without wraparound, an axis has half the rate; with hops of a microsecond, small buffers take as long as the hops.
#[test]
fn latency_limits_small_buffers_and_the_rates_of_axes_add_up() {
    let one_byte = transfer(Collective::AllGather, 1.0);
    for (shape, wrapped, hops) in
        [(&[8u32][..], true, 4.0), (&[8], false, 7.0), (&[8, 16], true, 12.0), (&[5, 1], true, 3.0)]
    {
        let seconds = torus(shape, wrapped, 100.0 * GB).seconds(one_byte);
        assert_near(&format!("{shape:?}"), seconds, hops * 1e-6, 1e-9);
    }
    let mixed = IslandLinks::Torus {
        axes: vec![TorusAxis { chips: 8, wrapped: false }, TorusAxis { chips: 16, wrapped: true }],
        link_bytes_per_s: 50.0 * GB,
        hop_s: 0.0,
    };
    assert_near("8x16 of v5e", mixed.seconds(transfer(Collective::AllGather, 15.0 * GB)), 0.1, 1e-9);
    assert_eq!(torus(&[1, 1], true, GB).seconds(transfer(Collective::AllReduce, GB)), 0.0);
}

/// A ring of n chips carries an AllToAll in a quarter of the time of an AllGather.
#[test]
fn an_all_to_all_on_a_ring_takes_a_quarter_of_an_all_gather() {
    let ring = torus(&[16], true, 50.0 * GB);
    let seconds = |collective| ring.seconds(transfer(collective, 16.0 * GB));
    assert_near("ring", seconds(Collective::AllToAll), seconds(Collective::AllGather) / 4.0, 1e-12);
    let line = torus(&[16], false, 50.0 * GB).seconds(transfer(Collective::AllToAll, 16.0 * GB));
    assert_near("line", line, 2.0 * seconds(Collective::AllToAll), 1e-12);
    let switch = IslandLinks::Switch { accelerators: 8, bytes_per_s: 450.0 * GB, latency_s: 0.0 };
    let all_to_all = switch.seconds(transfer(Collective::AllToAll, 8.0 * GB));
    assert_near("switch", all_to_all, 7.0 / 64.0 * 8.0 / 450.0, 1e-12);
}
