//! Worked examples and measurements of collective operations.

use proptest::prelude::*;
use sim_api::spec::*;
use sim_base::{Duration, NodeId};
use sim_policy::fabric::{
    FabricLimit, FabricLoad, FabricMap, IslandLinks, StepTime, TorusAxis, Transfer, job_islands, shared_seconds,
    step_time,
};
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeSet;

const GB: f64 = 1e9;

fn transfer(collective: Collective, bytes: f64) -> Transfer {
    Transfer { collective, bytes }
}

fn torus(shape: &[u32], wrapped: bool, link: f64) -> IslandLinks {
    let axes = shape.iter().map(|chips| TorusAxis { chips: *chips, wrapped }).collect();
    IslandLinks::Torus { axes, link_bytes_per_s: link, hop_s: 1e-6, call_s: 0.0 }
}

fn nvlink(accelerators: u32, bytes_per_s: f64) -> IslandLinks {
    IslandLinks::Switch { accelerators, bytes_per_s, latency_s: 0.0, call_s: 0.0, nvls: None }
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
    let rate = LinkRate { gbits_per_s: 8.0 * node_gbytes, ..LinkRate::default() };
    let (name, label) = ("block".to_owned(), "block".to_owned());
    let level = DcnLevel { name, label, rate, oversubscription, algorithm: None };
    let topology = TopologySpec { pools: vec![pool], dcn_levels: vec![level], ..TopologySpec::default() };
    let builder = ClusterBuilder::build(&topology, &["chip".to_owned()]);
    TestCluster { map: FabricMap::build(&topology, &builder), topology, nodes: builder.len() as u32 }
}

pub fn switch(gbytes: f64) -> Interconnect {
    Interconnect::Switch(LinkRate { gbits_per_s: 8.0 * gbytes, ..LinkRate::default() })
}

pub fn v5p(shape: &[u32]) -> Interconnect {
    let rate = LinkRate { gbits_per_s: 800.0, ..LinkRate::default() };
    Interconnect::Torus { shape: shape.to_vec(), wrap: vec![true; 3], rate }
}

/// One axis over `span`, with one collective in each step.
pub fn one_axis(span: AxisSpan, transfer: Transfer, order: RankOrder) -> Communication {
    let axis = ParallelAxis { name: "data".to_owned(), span, size: None };
    Communication { axes: vec![axis], traffic: vec![StepTraffic { order, ..traffic(transfer) }] }
}

/// Traffic over the first axis.
pub fn traffic(transfer: Transfer) -> StepTraffic {
    let Transfer { collective, bytes } = transfer;
    StepTraffic { axis: 0, collective, bytes, calls: 1, overlap: 0.0, order: RankOrder::Ring, algorithm: None }
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
/// seconds in three digits. In E2 and E5 the book counts the parts that a member keeps, 1/32 and 1/128 of the buffer,
/// or those of its group.
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
    let nvl72 = nvlink(72, 900.0 * GB);
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
            0.0667 * 31.0 / 32.0,
        ),
        (
            "E3: an AllGather over the axis of four of a v5e 8x4",
            torus(&[8, 4], false, 45.0 * GB).group(1, 4).seconds(transfer(AllGather, 33.554e6)),
            559e-6,
        ),
        (
            "E4: an AllGather of 537 MB in a node with eight H100",
            nvlink(8, 450.0 * GB).seconds(transfer(AllGather, 537e6)),
            1.04e-3,
        ),
        ("E5: an AllGather of 10 GB in a SuperPOD of 1,024 GPUs", superpod.in_order(&all_gather), 0.0248),
        ("E6: 64 slices of 4x4x4 exchange 140 GB", between(&[4, 4, 4], 64, 16), 0.689),
        ("E6: 16 slices of 4x8x8 exchange 140 GB", between(&[4, 8, 8], 16, 64), 0.164),
        ("E6: 8 slices of 8x8x8 exchange 140 GB", between(&[8, 8, 8], 8, 128), 0.0766),
        ("E7: with blocks of 7:1, the nodes limit an ordered ring", meta.in_order(&ring), 0.700),
        ("E7: and a hierarchy", meta.in_order(&hierarchy), 0.700),
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
        assert_eq!(time.demand.uplinks(&blocks.map), if edges > 0.0 { 2 } else { 0 }, "{what}");
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
        let traffic = StepTraffic { axis, ..traffic(transfer(Collective::AllGather, bytes)) };
        let communication = Communication { axes: axes.clone(), traffic: vec![traffic] };
        slices.in_order(&communication)
    };
    assert_near("data: shards of 16 hosts", of(0, 16.0 * GB), 0.5 * GB / (25.0 * GB), 1e-9);
    assert_near("fsdp: the two other axes", of(1, 4.0 * GB), 15.0 / 16.0 * 4.0 / 400.0, 1e-9);
    assert_near("tensor: one ring of four chips", of(2, 2.0 * GB), 3.0 / 4.0 * 2.0 / 200.0, 1e-9);
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
        call_s: 0.0,
    };
    let gathered = mixed.seconds(transfer(Collective::AllGather, 15.0 * GB));
    assert_near("8x16 of v5e", gathered, 0.1 * 127.0 / 128.0, 1e-9);
    assert_eq!(torus(&[1, 1], true, GB).seconds(transfer(Collective::AllReduce, GB)), 0.0);
}

/// A ring of n chips carries an AllToAll in a quarter of the time in which it carries a buffer as large as the gathered
/// one.
#[test]
fn an_all_to_all_on_a_ring_takes_a_quarter_of_an_all_gather() {
    let ring = torus(&[16], true, 50.0 * GB);
    let seconds = |collective| ring.seconds(transfer(collective, 16.0 * GB));
    let gathered = seconds(Collective::AllGather) * 16.0 / 15.0;
    assert_near("ring", seconds(Collective::AllToAll), gathered / 4.0, 1e-12);
    let line = torus(&[16], false, 50.0 * GB).seconds(transfer(Collective::AllToAll, 16.0 * GB));
    assert_near("line", line, 2.0 * seconds(Collective::AllToAll), 1e-12);
    let all_to_all = nvlink(8, 450.0 * GB).seconds(transfer(Collective::AllToAll, 8.0 * GB));
    assert_near("switch", all_to_all, 7.0 / 64.0 * 8.0 / 450.0, 1e-12);
}

/// A ring through all accelerators carries R − 1 of R parts over each link, R being the accelerators; shards of the
/// hosts carry n-1 of n parts, n being the islands. A row has the algorithm, the order and the expected seconds.
#[test]
fn the_algorithm_determines_the_bytes_of_a_collective_over_all_accelerators() {
    use Collective::{AllGather, AllReduce, ReduceScatter};
    use CollectiveAlgorithm::{Hierarchical, Nvls, Ring, Tree};
    let two = cluster([1, 2, 1, 8], switch(450.0), 200.0, 1.0);
    let four = cluster([2, 2, 1, 8], switch(450.0), 200.0, 1.0);
    let p = 8.0 / 200.0;
    let rows = [
        (&two, AllGather, None, 15.0 / 16.0 * p),
        (&two, ReduceScatter, None, 15.0 / 16.0 * p),
        (&two, AllGather, Some(Tree), 15.0 / 16.0 * p),
        (&two, AllGather, Some(Hierarchical), 0.5 * p),
        (&two, AllReduce, Some(Ring), 2.0 * 15.0 / 16.0 * p),
        (&two, AllReduce, Some(Tree), p),
        (&two, AllReduce, Some(Nvls), p),
        (&two, AllReduce, None, p),
        (&four, AllReduce, Some(Hierarchical), 2.0 * 0.75 * p),
        // An inner vertex of one tree with two children, which is a leaf of the other one.
        (&four, AllReduce, Some(Tree), 2.0 * p),
        (&four, AllReduce, None, 2.0 * 31.0 / 32.0 * p),
        (&four, AllGather, None, 31.0 / 32.0 * p),
    ];
    for (cluster, collective, algorithm, expected) in rows {
        let mut all = one_axis(AxisSpan::All, transfer(collective, 8.0 * GB), RankOrder::Ring);
        all.traffic[0].algorithm = algorithm;
        assert_near(&format!("{collective:?} {algorithm:?}"), cluster.in_order(&all), expected, 1e-9);
    }
}

/// NVLink SHARP: each accelerator sends 1 + 1/n of the buffer instead of 2 (n-1)/n, at a share of the rate. Measured on
/// H200 and B200 (stas00/ml-engineering, chapter on the network): the gain over a ring by accelerators; NCCL selects
/// the ring for 4 on H200 and for 4 and 5 on B200.
#[test]
fn a_switch_that_reduces_gains_as_much_as_measured() {
    let reduce = transfer(Collective::AllReduce, 8.0 * GB);
    let rows = [
        (0.85, [(4, 1.0), (5, 1.14), (6, 1.19), (7, 1.26), (8, 1.29)]),
        (0.74, [(4, 1.0), (5, 1.0), (6, 1.15), (7, 1.19), (8, 1.23)]),
    ];
    for (nvls, gains) in rows {
        for (accelerators, gain) in gains {
            let ring = nvlink(accelerators, 300.0 * GB);
            let mut sharp = ring.clone();
            if let IslandLinks::Switch { nvls: efficiency, .. } = &mut sharp {
                *efficiency = Some(nvls);
            }
            let value = ring.seconds(reduce) / sharp.seconds(reduce);
            assert_near(&format!("{nvls}: {accelerators} accelerators"), value, gain, 0.09);
        }
    }
}

/// Each call has the latency of a call and of its hops or steps.
#[test]
fn many_calls_have_the_latency_of_each() {
    let rate =
        LinkRate { gbits_per_s: 800.0, latency: Duration(1_000), call_latency: Duration(5_000), ..LinkRate::default() };
    let torus = Interconnect::Torus { shape: vec![4, 4, 4], wrap: vec![true; 3], rate };
    let cluster = cluster([1, 1, 16, 4], torus, 25.0, 1.0);
    for (bytes, calls, expected) in
        [(1.0, 1, 11e-6), (1.0, 1_000, 11e-3), (640.0 * GB, 1, 1.05), (640.0 * GB, 1_000, 1.055)]
    {
        let mut all = one_axis(AxisSpan::Island, transfer(Collective::AllGather, bytes), RankOrder::Ring);
        all.traffic[0].calls = calls;
        assert_near(&format!("{bytes} bytes in {calls} calls"), cluster.in_order(&all), expected, 1e-3);
    }
}

/// A part of a torus has the last axes as a whole: only an axis that is cut has no wraparound.
#[test]
fn a_part_of_a_torus_loses_the_wraparound_of_the_axis_that_is_cut() {
    let slice = cluster([1, 1, 64, 4], v5p(&[4, 8, 8]), 25.0, 1.0);
    let all = one_axis(AxisSpan::Island, transfer(Collective::AllGather, 25.6 * GB), RankOrder::Ring);
    // Nodes, chips of the largest block, and the links of a chip at its end. Without one host, no ring is closed.
    let rows = [(64, 256.0, 6.0), (63, 192.0, 3.0), (32, 128.0, 5.0), (16, 64.0, 4.0), (8, 32.0, 3.0), (2, 8.0, 2.0)];
    for (nodes, chips, links) in rows {
        let seconds = slice.seconds(&all, 0..nodes).seconds;
        assert_near(&format!("{nodes} nodes"), seconds, 25.6 * (chips - 1.0) / chips / (100.0 * links), 1e-9);
    }
}

/// Jobs on a link have max–min fair rates. A row has the bytes and the rate of a job, those of the others, and its
/// seconds on a link of 10 bytes per second.
#[test]
fn jobs_on_a_link_have_fair_rates_by_what_is_on_the_wire() {
    type Demand = (f64, f64);
    let rows: [(&str, Demand, &[Demand], f64); 8] = [
        ("an empty link", (10.0, 10.0), &[], 1.0),
        ("two equal jobs have half each", (10.0, 10.0), &[(10.0, 10.0)], 2.0),
        ("three equal jobs", (10.0, 10.0), &[(10.0, 10.0), (10.0, 10.0)], 3.0),
        ("the other sends almost nothing", (10.0, 10.0), &[(1e-6, 10.0)], 1.0),
        ("the other ends halfway", (10.0, 10.0), &[(5.0, 10.0)], 1.5),
        ("both demands fit", (10.0, 4.0), &[(100.0, 6.0)], 2.5),
        ("the other needs less than its share", (8.0, 10.0), &[(100.0, 2.0)], 1.0),
        ("the job needs less than its share", (2.0, 2.0), &[(100.0, 10.0), (100.0, 10.0)], 1.0),
    ];
    for (what, own, others, expected) in rows {
        assert_near(what, shared_seconds(own, others.to_vec(), 10.0), expected, 1e-6);
    }
}

/// A job on 8 + 8 of 16 + 16 nodes, and eight others of one node per block. Each other job sends a share of the bytes.
#[test]
fn neighbors_slow_a_job_by_what_they_send_and_not_by_their_number() {
    let job: Vec<u32> = (0..8).chain(16..24).collect();
    let time = |oversubscription: f64, bytes: f64, step_s: f64| {
        let blocks = cluster([2, 16, 1, 8], switch(450.0), 400.0, oversubscription);
        let of = |bytes| one_axis(AxisSpan::Islands, transfer(Collective::AllToAll, bytes), RankOrder::Ring);
        let mut load = FabricLoad::default();
        for other in 0..8 {
            let islands = job_islands(&blocks.map, [8 + other, 24 + other].into_iter().map(NodeId));
            let alone = step_time(&blocks.map, &FabricLoad::default(), &islands, &of(bytes), step_s);
            load.demands.insert(other as usize, alone.demand);
        }
        let islands = job_islands(&blocks.map, job.iter().copied().map(NodeId));
        step_time(&blocks.map, &load, &islands, &of(8.0 * GB), 1.0).exposed_s
    };
    let (ports, uplink) = (15.0 / 256.0 * 8.0 / 400.0, 2.0 / 6_400.0);
    // A job sends a quarter of its buffer to the other block: eight pairs with 1 GB each send as much as the job.
    let equal = 1.0 * GB;
    let rows = [
        ("non-blocking, 1 kB", time(1.0, 1e3, 1.0), ports),
        ("non-blocking, as much as the ports carry", time(1.0, 100.0 * GB, 1.0), ports),
        ("oversubscribed, 1 kB", time(4.0, 1e3, 1.0), 4.0 * uplink),
        ("oversubscribed, an equal amount", time(4.0, equal, 1.0), 8.0 * uplink),
        ("oversubscribed, an equal amount in every tenth step", time(4.0, equal, 10.0), 4.4 * uplink),
    ];
    for (what, seconds, expected) in rows {
        assert_near(what, seconds, expected, 0.03);
    }
}

const COLLECTIVES: [Collective; 3] = [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce];

proptest! {
    /// Every node has to receive all parts but its own, whatever the order and the algorithm; on a ring of all
    /// accelerators, all parts but that of one accelerator. A non-blocking network does not slow a hierarchy.
    #[test]
    fn no_collective_is_faster_than_the_ports_of_a_node(
        (blocks, islands, nodes, accelerators) in (1u32..4, 1u32..5, 1u32..4, 1u32..9),
        (oversubscription, collective, order, algorithm) in (1.0f64..8.0, 0usize..3, 0usize..2, 0usize..5),
    ) {
        let cluster = cluster([blocks, islands, nodes, accelerators], switch(4_000.0), 10.0, oversubscription);
        let n = f64::from(blocks * islands);
        let ranks = n * f64::from(nodes * accelerators);
        let (collective, order) = (COLLECTIVES[collective], RankOrder::ALL[order]);
        let algorithm = CollectiveAlgorithm::ALL.get(algorithm).copied();
        let passes = if collective == Collective::AllReduce { 2.0 } else { 1.0 };
        let port = 10.0 * f64::from(nodes);
        for span in [AxisSpan::Islands, AxisSpan::All] {
            let mut all = one_axis(span, transfer(collective, GB), order);
            all.traffic[0].algorithm = algorithm;
            let bound = if span == AxisSpan::All && algorithm == Some(CollectiveAlgorithm::Ring) && n > 1.0 {
                passes * (ranks - 1.0) / ranks / port
            } else {
                passes * (n - 1.0) / n / port
            };
            let seconds = cluster.in_order(&all);
            prop_assert!(seconds >= bound * (1.0 - 1e-9), "{span:?} {algorithm:?}: {seconds} < {bound}");
        }
        let hierarchy = one_axis(AxisSpan::Islands, transfer(collective, GB), RankOrder::Hierarchical);
        let bound = passes * (n - 1.0) / n / port;
        let free = self::cluster([blocks, islands, nodes, accelerators], switch(4_000.0), 10.0, 1.0);
        prop_assert!((free.in_order(&hierarchy) - bound).abs() <= bound * 1e-9);
    }

    /// A job on some nodes: each block has to receive (or, in a ReduceScatter, to send) all parts but its own through
    /// its uplink. An island is one part, or one part per accelerator.
    #[test]
    fn no_collective_is_faster_than_the_uplink_of_a_group_of_any_size(
        placed in prop::collection::vec(any::<bool>(), 18), oversubscription in 1.0f64..16.0,
        (collective, order, algorithm) in (0usize..3, 0usize..2, 0usize..5),
    ) {
        let cluster = cluster([3, 3, 2, 4], switch(4_000.0), 10.0, oversubscription);
        let nodes: Vec<u32> = (0..18).filter(|node| placed[*node as usize]).collect();
        let island_of = |node: &u32| node / 2;
        let islands: BTreeSet<u32> = nodes.iter().map(island_of).collect();
        let uplink = 10.0 * 6.0 / oversubscription;
        let (collective, order) = (COLLECTIVES[collective], RankOrder::ALL[order]);
        for span in [AxisSpan::Islands, AxisSpan::All] {
            let mut all = one_axis(span, transfer(collective, GB), order);
            all.traffic[0].algorithm = CollectiveAlgorithm::ALL.get(algorithm).copied();
            let seconds = cluster.seconds(&all, nodes.iter().copied()).seconds;
            for block in 0..3 {
                let own = match span {
                    AxisSpan::All => nodes.iter().filter(|node| *node / 6 == block).count() as f64 / nodes.len() as f64,
                    _ => islands.iter().filter(|island| *island / 3 == block).count() as f64 / islands.len() as f64,
                };
                let bound = if own > 0.0 { (1.0 - own) / uplink } else { 0.0 };
                prop_assert!(seconds >= bound * (1.0 - 1e-9), "{span:?} {order:?}: {seconds} < {bound}");
            }
        }
    }

    /// A chip has two links of a ring and at least one of a line; the next chip of an axis is behind one of them.
    #[test]
    fn no_collective_is_faster_than_the_links_of_a_chip(
        shape in prop::collection::vec(2u32..9, 1..4), wrapped in any::<bool>(), collective in 0usize..3,
    ) {
        let links = torus(&shape, wrapped, GB);
        let chips: f64 = shape.iter().map(|chips| f64::from(*chips)).product();
        let rate = shape.len() as f64 * if wrapped { 2.0 } else { 1.0 };
        let collective = COLLECTIVES[collective];
        let passes = if collective == Collective::AllReduce { 2.0 } else { 1.0 };
        let bound = passes * (chips - 1.0) / chips * 80.0 / rate;
        prop_assert!(links.seconds(transfer(collective, 80.0 * GB)) >= bound * (1.0 - 1e-9));
        let next = links.seconds(transfer(Collective::SendReceive, 80.0 * GB));
        prop_assert!((80.0..80.001).contains(&next), "{next}");
    }

    /// Sharing never makes a job faster, never slower than if it came last, and leaves it alone if the demands fit.
    #[test]
    fn a_shared_link_carries_no_more_than_its_rate(
        own in (0.1f64..100.0, 0.1f64..10.0), others in prop::collection::vec((0.1f64..100.0, 0.1f64..10.0), 0..6),
    ) {
        let alone = own.0 / own.1;
        let sum: f64 = own.1 + others.iter().map(|(_, rate)| rate).sum::<f64>();
        prop_assert!((shared_seconds(own, others.clone(), sum) / alone - 1.0).abs() < 1e-9);
        let seconds = shared_seconds(own, others.clone(), 10.0);
        let last = alone + others.iter().map(|(bytes, rate)| bytes / rate).sum::<f64>();
        prop_assert!(seconds >= alone * (1.0 - 1e-9) && seconds <= last * (1.0 + 1e-9), "{seconds} of {alone}..{last}");
    }
}
