//! Worked examples and measurements of collective operations.

use sim_api::spec::*;
use sim_base::{Duration, NodeId};
use sim_policy::fabric::{
    FabricLimit, FabricLoad, FabricMap, IslandLinks, StepTime, TorusAxis, Transfer, job_islands, step_time,
};
use sim_policy::topology::ClusterBuilder;

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

/// A cluster of `blocks` blocks of `islands` islands each, with one level of the network: the blocks.
pub struct TestCluster {
    topology: TopologySpec,
    pub map: FabricMap,
    nodes: u32,
}

/// One pool whose nodes have `accelerators` each. Rates in GB/s.
pub fn cluster(
    [blocks, islands, nodes_per_island, accelerators]: [u32; 4], interconnect: Interconnect, node_gbytes: f64,
    oversubscription: f64,
) -> TestCluster {
    let pool = NodePool {
        name: "n-{node}".to_owned(),
        count: blocks,
        islands,
        nodes_per_island,
        interconnect: Some(interconnect),
        labels: [("block".to_owned(), "b-{pool}".to_owned())].into(),
        allocatable: [("chip".to_owned(), i64::from(accelerators) * 1_000)].into(),
        accelerator: "chip".to_owned(),
        ..NodePool::default()
    };
    let rate = LinkRate { gbits_per_s: 8.0 * node_gbytes, latency: Duration::ZERO, efficiency: 1.0 };
    let level = DcnLevel { name: "block".to_owned(), label: "block".to_owned(), rate, oversubscription };
    let topology = TopologySpec { pools: vec![pool], dcn_levels: vec![level], ..TopologySpec::default() };
    let builder = ClusterBuilder::build(&topology, &["chip".to_owned()]);
    TestCluster { map: FabricMap::build(&topology, &builder), topology, nodes: builder.len() as u32 }
}

pub fn switch(gbytes: f64) -> Interconnect {
    Interconnect::Switch(LinkRate { gbits_per_s: 8.0 * gbytes, latency: Duration::ZERO, efficiency: 1.0 })
}

pub fn v5p(shape: &[u32]) -> Interconnect {
    let rate = LinkRate { gbits_per_s: 800.0, latency: Duration::ZERO, efficiency: 1.0 };
    Interconnect::Torus { shape: shape.to_vec(), wrap: vec![true; 3], rate }
}

/// One axis over `span`, with one collective in each step.
fn one_axis(span: AxisSpan, transfer: Transfer, order: RankOrder) -> Communication {
    let axis = ParallelAxis { name: "data".to_owned(), span, size: None };
    let Transfer { collective, bytes } = transfer;
    Communication { axes: vec![axis], traffic: vec![StepTraffic { axis: 0, collective, bytes, overlap: 0.0, order }] }
}

impl TestCluster {
    /// Time of the communication of a job on all nodes, in this order.
    fn seconds(&self, communication: &Communication, nodes: impl Iterator<Item = u32>) -> StepTime {
        let islands = job_islands(&self.map, nodes.map(NodeId));
        step_time(&self.map, &FabricLoad::default(), &islands, communication, 0.0)
    }

    fn in_order(&self, communication: &Communication) -> f64 {
        self.seconds(communication, 0..self.nodes).seconds
    }

    /// Nodes in a random order: a permutation by a linear congruential generator.
    fn shuffled(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.nodes).collect();
        let mut state = 1u64;
        for at in (1..nodes.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            nodes.swap(at, (state >> 33) as usize % (at + 1));
        }
        nodes
    }
}

/// The examples E1 to E9, computed by hand or in the scaling book. A row is a sentence, the seconds, and the expected
/// seconds in three digits.
#[test]
fn collectives_take_as_long_as_in_the_worked_examples() {
    use Collective::{AllGather, AllReduce};
    use RankOrder::{Hierarchical, Ring};
    let all_reduce = |bytes| transfer(AllReduce, bytes);
    let gradients = all_reduce(140.0 * GB);
    let superpod = cluster([4, 32, 1, 8], switch(450.0), 400.0, 1.0);
    let all_gather = one_axis(AxisSpan::All, transfer(AllGather, 10.0 * GB), Hierarchical);
    let between = |shape: &[u32], slices, hosts| {
        let v5p = cluster([1, slices, hosts, 4], v5p(shape), 25.0, 1.0);
        v5p.in_order(&one_axis(AxisSpan::Islands, gradients, Ring))
    };
    let meta = cluster([8, 384, 1, 8], switch(450.0), 400.0, 7.0);
    let (ring, levels) = (one_axis(AxisSpan::Islands, gradients, Ring), gradients);
    let hierarchy = one_axis(AxisSpan::Islands, levels, Hierarchical);
    let random = meta.seconds(&ring, meta.shuffled().into_iter());
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
            "E3: an AllGather over the axis of four of a v5e 8x4",
            torus(&[8, 4], false, 45.0 * GB).group(1, 4).seconds(transfer(AllGather, 33.554e6)),
            559e-6,
        ),
        (
            "E4: an AllGather of 537 MB in a node with eight H100",
            IslandLinks::Switch { accelerators: 8, bytes_per_s: 450.0 * GB, latency_s: 0.0 }
                .seconds(transfer(AllGather, 537e6)),
            1.04e-3,
        ),
        ("E5: an AllGather of 10 GB in a SuperPOD of 1,024 GPUs", superpod.in_order(&all_gather), 0.0242),
        ("E6: 64 slices of 4x4x4 exchange 140 GB", between(&[4, 4, 4], 64, 16), 0.689),
        ("E6: 16 slices of 4x8x8 exchange 140 GB", between(&[4, 8, 8], 16, 64), 0.164),
        ("E6: 8 slices of 8x8x8 exchange 140 GB", between(&[8, 8, 8], 8, 128), 0.0766),
        ("E7: with blocks of 7:1, the nodes limit an ordered ring", meta.in_order(&ring), 0.700),
        ("E7: and a hierarchy", meta.in_order(&hierarchy), 0.698),
        ("E9: one of nine switch trays is lost", slower, 1.125),
    ];
    for (what, seconds, expected) in rows {
        assert_near(what, seconds, expected, 0.005);
    }
    let uplink = meta.topology.dcn_levels[0].uplink_bytes_per_s(384);
    assert_near("E7: rate of the uplinks", uplink, 21.9e12, 0.004);
    assert_near("E7: the exchange between the blocks", 2.0 * 7.0 / 8.0 * 140e9 / uplink, 0.0112, 0.005);
    assert_near("E8: a ring in random order", random.seconds, 4.29, 0.03);
    assert_eq!(random.limit(&ring), Some(FabricLimit::Uplinks { level: 0 }));
}

/// What a placement changes. A row is a sentence, the nodes of a job in the order of its ranks, and the number of
/// edges of the ring that leave the busiest block.
#[test]
fn a_ring_is_as_slow_as_the_edges_that_leave_its_busiest_block() {
    let blocks = cluster([2, 4, 1, 1], switch(1.0), 1.0, 100.0);
    let bytes = 8.0 * GB;
    let ring = one_axis(AxisSpan::Islands, transfer(Collective::AllGather, bytes), RankOrder::Ring);
    let rows: [(&str, &[u32], f64); 4] = [
        ("one block", &[0, 1, 2, 3], 0.0),
        ("two blocks, one after the other", &[0, 1, 4, 5], 1.0),
        ("two blocks, alternating", &[0, 4, 1, 5], 2.0),
        ("three ranks in one block, one in the other", &[0, 1, 2, 4], 1.0),
    ];
    for (what, nodes, edges) in rows {
        let time = blocks.seconds(&ring, nodes.iter().copied());
        let port = 0.75 * bytes / GB;
        let uplink = edges * 0.75 * bytes / (4.0 * GB / 100.0);
        assert_near(what, time.seconds, port.max(uplink), 1e-9);
        assert_eq!(time.uplinks.len(), if edges > 0.0 { 2 } else { 0 }, "{what}");
    }
}

/// Two axes within the islands, one between them: each takes the accelerators that the others leave.
#[test]
fn axes_share_an_island_and_the_last_one_varies_fastest() {
    let slices = cluster([1, 2, 16, 4], v5p(&[4, 4, 4]), 25.0, 1.0);
    let axis = |name: &str, span, size| ParallelAxis { name: name.to_owned(), span, size };
    let axes = vec![
        axis("data", AxisSpan::Islands, None),
        axis("fsdp", AxisSpan::Island, None),
        axis("tensor", AxisSpan::Island, Some(4)),
    ];
    let of = |axis, bytes| {
        let traffic =
            StepTraffic { axis, collective: Collective::AllGather, bytes, overlap: 0.0, order: RankOrder::Ring };
        let communication = Communication { axes: axes.clone(), traffic: vec![traffic] };
        slices.in_order(&communication)
    };
    assert_near("data: shards of 16 hosts", of(0, 16.0 * GB), 0.5 * GB / (25.0 * GB), 1e-9);
    assert_near("fsdp: the two other axes", of(1, 4.0 * GB), 4.0 / 400.0, 1e-9);
    assert_near("tensor: one ring of four chips", of(2, 2.0 * GB), 2.0 / 200.0, 1e-9);
}

/// Communication is hidden behind computation up to its length.
#[test]
fn a_step_takes_the_longer_of_computation_and_hidden_communication_plus_the_exposed_part() {
    let slices = cluster([1, 2, 1, 1], switch(1.0), 1.0, 1.0);
    let rows = [(0.0, 10.0, 11.0), (1.0, 10.0, 10.0), (0.5, 10.0, 10.5), (1.0, 0.25, 1.0), (0.5, 0.25, 1.0)];
    for (overlap, compute_s, expected) in rows {
        let mut all = one_axis(AxisSpan::Islands, transfer(Collective::AllReduce, GB), RankOrder::Ring);
        all.traffic[0].overlap = overlap;
        let islands = job_islands(&slices.map, (0..2).map(NodeId));
        let time = step_time(&slices.map, &FabricLoad::default(), &islands, &all, compute_s);
        assert_near(&format!("{overlap} of 1 s hidden by {compute_s} s"), time.seconds, expected, 1e-9);
    }
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

/// Measured on 8 × B200 with EFA (github.com/stas00/ml-engineering, chapter on the network): leaving a node costs a
/// factor of 2.0 to 2.2 from 512 MiB on, and 3.6 to 7.2 from 256 KiB to 32 MiB. One node: 50 µs and 80 % of NVLink;
/// four nodes: 410 µs, four steps of the network, and 74 % of 50 GB/s per GPU.
#[test]
fn leaving_the_node_costs_as_much_as_measured_on_b200() {
    let rate = |gbytes: f64, micros: u64, efficiency| LinkRate {
        gbits_per_s: 8.0 * gbytes,
        latency: Duration(micros * 1_000),
        efficiency,
    };
    let mut four = cluster([1, 4, 1, 8], Interconnect::Switch(rate(900.0, 50, 0.8)), 400.0, 1.0);
    four.topology.dcn_levels[0].rate = rate(400.0, 0, 0.74);
    four.topology.dcn_levels[0].rate.latency = Duration(102_500);
    let builder = ClusterBuilder::build(&four.topology, &["chip".to_owned()]);
    four.map = FabricMap::build(&four.topology, &builder);
    let factor = |bytes: f64| {
        let all = one_axis(AxisSpan::All, transfer(Collective::AllReduce, bytes), RankOrder::Ring);
        four.in_order(&all) / four.seconds(&all, 0..1).seconds
    };
    let mib = f64::from(1 << 20);
    for (bytes, least, most) in
        [(512.0, 2.0, 2.4), (1024.0, 2.0, 2.2), (16384.0, 2.0, 2.2), (32.0, 3.6, 7.2), (8.0, 3.6, 7.2)]
    {
        let factor = factor(bytes * mib);
        assert!(factor >= least && factor <= most, "{bytes} MiB: {factor}");
    }
}
