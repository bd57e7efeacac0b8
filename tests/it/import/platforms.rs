//! The labels of each platform: islands with their interconnect, and levels.

use super::import;
use serde_json::{Map, Value, json};
use sim_api::spec::{Interconnect, IslandKind};

/// Returns a list of four nodes, two in each domain, with labels that differ by domain (`{}`) or are constant.
fn list(resource: &str, chips: u32, labels: &[(&str, &str)]) -> String {
    let node = |i: u32| {
        let label =
            |(key, value): &(&str, &str)| ((*key).to_owned(), json!(value.replace("{}", &format!("d{}x", i / 2))));
        let labels: Map<String, Value> = labels.iter().map(label).collect();
        json!({"kind": "Node", "metadata": {"name": format!("host-{}f", i * 7 % 5), "labels": labels},
            "status": {"allocatable": {resource: chips, "pods": 110}}})
    };
    json!({"kind": "List", "items": (0..4).map(node).collect::<Vec<_>>()}).to_string()
}

const GPU: &str = "nvidia.com/gpu";
const TPU: &str = "google.com/tpu";
const TYPE: &str = "node.kubernetes.io/instance-type";

/// Each row: the accelerator, the labels, the island kind with its number of nodes, and the labels of the levels.
type PlatformCase<'c> = (&'c str, u32, &'c [(&'c str, &'c str)], (IslandKind, u32), &'c [&'c str]);

const CASES: &[PlatformCase<'_>] = &[
    // GKE: a static slice, single-host slices, cubes of dynamic slicing, sub-slices, A3 and A4X machines.
    (
        TPU,
        4,
        &[("cloud.google.com/gke-nodepool", "{}"), ("cloud.google.com/gke-tpu-topology", "2x2x2")],
        (IslandKind::Ici, 2),
        &[],
    ),
    (
        TPU,
        4,
        &[("cloud.google.com/gke-nodepool", "{}"), ("cloud.google.com/gke-tpu-topology", "2x2")],
        (IslandKind::Ici, 1),
        &[],
    ),
    (
        TPU,
        4,
        &[
            ("cloud.google.com/gke-nodepool", "{}"),
            ("cloud.google.com/gke-tpu-topology", "4x4x4"),
            ("cloud.google.com/gke-tpu-partition-4x4x4-id", "{}"),
            ("cloud.google.com/gce-topology-block", "b"),
            ("cloud.google.com/gke-tpu-slice", "s"),
        ],
        (IslandKind::Ici, 2),
        &["level block", "level slice"],
    ),
    (
        TPU,
        4,
        &[
            ("cloud.google.com/gke-nodepool", "p"),
            ("cloud.google.com/gke-tpu-topology", "4x4"),
            ("cloud.google.com/gke-tpu-slice-2x4-id", "{}"),
        ],
        (IslandKind::Ici, 4),
        &["level slice-2x4"],
    ),
    (
        GPU,
        8,
        &[
            (TYPE, "a3-ultragpu-8g"),
            ("cloud.google.com/gce-topology-block", "b"),
            ("cloud.google.com/gce-topology-subblock", "{}"),
        ],
        (IslandKind::NvLink, 1),
        &["level block", "level subblock"],
    ),
    (
        GPU,
        4,
        &[
            (TYPE, "a4x-highgpu-4g"),
            ("cloud.google.com/gce-topology-block", "b"),
            ("cloud.google.com/gce-topology-subblock", "{}"),
        ],
        (IslandKind::NvLink, 2),
        &["level block"],
    ),
    // EKS: capacity blocks are UltraServers on P6e machines only.
    (
        GPU,
        4,
        &[(TYPE, "p6e-gb200.36xlarge"), ("topology.k8s.aws/capacity-block-id", "{}")],
        (IslandKind::NvLink, 2),
        &[],
    ),
    (
        GPU,
        8,
        &[
            (TYPE, "p5.48xlarge"),
            ("topology.k8s.aws/capacity-block-id", "{}"),
            ("topology.k8s.aws/network-node-layer-1", "a"),
            ("topology.k8s.aws/network-node-layer-3", "{}"),
        ],
        (IslandKind::NvLink, 1),
        &["level capacity-block", "level layer-1", "level layer-3"],
    ),
    (GPU, 4, &[("topology.k8s.aws/ultraserver-id", "{}")], (IslandKind::NvLink, 2), &[]),
    // AKS and on-premises NVL72.
    (GPU, 4, &[("nvidia.com/gpu.clique", "{}.0")], (IslandKind::NvLink, 2), &[]),
    (
        GPU,
        4,
        &[("ds.coreweave.com/nvlink.domain", "{}"), ("ib.coreweave.cloud/leafgroup", "l")],
        (IslandKind::NvLink, 2),
        &["level leafgroup"],
    ),
    (
        GPU,
        4,
        &[("topology.nebius.com/tier-0", "{}"), ("topology.nebius.com/tier-1", "t")],
        (IslandKind::NvLink, 2),
        &["level tier-1"],
    ),
    (
        GPU,
        8,
        &[("oci.oraclecloud.com/host.network_block_id", "b"), ("oci.oraclecloud.com/host.rack_id", "{}")],
        (IslandKind::None, 1),
        &["level network-block", "level rack"],
    ),
    (
        GPU,
        4,
        &[("accelerator.topograph.run/domain", "{}"), ("fabric.topograph.run/tier-0", "t")],
        (IslandKind::NvLink, 2),
        &["level tier-0"],
    ),
    (
        GPU,
        4,
        &[("network.topology.nvidia.com/accelerator", "{}"), ("network.topology.nvidia.com/leaf", "l")],
        (IslandKind::NvLink, 2),
        &["level leaf"],
    ),
];

#[test]
fn islands_and_levels_of_every_platform_are_recognized() {
    for (resource, chips, labels, (kind, nodes), levels) in CASES {
        let imported = import(&list(resource, *chips, labels));
        let pools = &imported.topology.pools;
        let islands: Vec<(IslandKind, u32)> = pools.iter().map(|p| (p.island_kind, p.nodes_per_island)).collect();
        assert_eq!(islands, [(*kind, *nodes)], "{labels:?}");
        assert_eq!(imported.topology.nodes(), 4, "{labels:?}");
        let stated: Vec<&str> = imported.domains.iter().filter_map(|d| d.split(':').next()).collect();
        let islands = if *kind == IslandKind::None { &[][..] } else { &["islands"] };
        assert_eq!(stated, [islands, levels].concat(), "{labels:?}");
    }
}

#[test]
fn a_statement_names_the_label_its_origin_and_the_nodes() {
    let imported = import(&list(GPU, 4, &[("nvidia.com/gpu.clique", "{}.0")]));
    let expected =
        "islands: nvidia.com/gpu.clique (NVIDIA GPU operator), 2 values on all nodes; each is one NVLink domain";
    assert_eq!(imported.domains, [expected]);
}

/// Returns nodes of one island, with labels.
fn island(resource: &str, chips: u32, nodes: u32, labels: &[(&str, &str)]) -> String {
    let labels: Map<String, Value> = labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    let node = |i: u32| {
        json!({"kind": "Node", "metadata": {"name": format!("host-{i}"), "labels": labels},
            "status": {"allocatable": {resource: chips, "pods": 110}}})
    };
    json!({"kind": "List", "items": (0..nodes).map(node).collect::<Vec<_>>()}).to_string()
}

/// The shape and the wraparound of a torus, with the rate of a link; or the rate of a switch.
type LinkSummary = Option<(Vec<u32>, Vec<bool>, f64)>;

#[test]
fn links_are_those_of_a_shipped_topology_with_equal_machines() {
    let slice = |kind, shape| {
        [
            ("cloud.google.com/gke-nodepool", "p"),
            ("cloud.google.com/gke-tpu-topology", shape),
            ("cloud.google.com/gke-tpu-accelerator", kind),
        ]
    };
    let clique = |product| [("nvidia.com/gpu.clique", "c.1"), ("nvidia.com/gpu.product", product)];
    let torus = |shape: &[u32], wrap: &[bool]| Some((shape.to_vec(), wrap.to_vec(), 800.0));
    let switch = |rate| Some((Vec::new(), Vec::new(), rate));
    let cases: Vec<(String, u32, LinkSummary)> = vec![
        (island(TPU, 4, 16, &slice("tpu7x", "4x4x4")), 16, torus(&[4, 4, 4], &[true; 3])),
        (island(TPU, 4, 4, &slice("tpu-v5p-slice", "2x2x4")), 4, torus(&[2, 2, 4], &[false; 3])),
        (island(TPU, 4, 32, &slice("tpu-v6e-slice", "8x16")), 32, torus(&[8, 16], &[false, true])),
        // A slice with fewer nodes than its shape, and an accelerator without a shipped topology.
        (island(TPU, 4, 15, &slice("tpu7x", "4x4x4")), 15, None),
        (island(TPU, 4, 4, &slice("tpu-v4-podslice", "2x2x4")), 4, None),
        (island(GPU, 4, 18, &clique("NVIDIA-GB200")), 18, switch(7200.0)),
        (island(GPU, 4, 18, &clique("NVIDIA-X999")), 18, None),
        (island(GPU, 8, 4, &[("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")]), 1, switch(3600.0)),
        (island(GPU, 8, 4, &[(TYPE, "p6-b200.48xlarge")]), 1, switch(7200.0)),
    ];
    for (text, nodes, expected) in cases {
        let imported = import(&text);
        let [pool] = &imported.topology.pools[..] else { panic!("{text}") };
        assert_eq!(pool.nodes_per_island, nodes, "{text}");
        let links = pool.interconnect.as_ref().map(|links| match links {
            Interconnect::Torus { shape, wrap, rate } => (shape.clone(), wrap.clone(), rate.gbits_per_s),
            Interconnect::Switch(rate) => (Vec::new(), Vec::new(), rate.gbits_per_s),
        });
        assert_eq!(links, expected, "{text}");
        let report = imported.links.join("; ");
        assert!(report.starts_with(if expected.is_some() { "links: " } else { "links unknown: " }), "{report}");
    }
}

/// Labels that differ within a pool are kept on each node, also a host name that differs from the name.
#[test]
fn labels_that_differ_from_node_to_node_are_kept() {
    let labels = [("kubernetes.io/hostname", "ip-{}.internal"), ("example.com/cage", "{}")];
    let imported = import(&list(GPU, 8, &labels));
    let pool = &imported.topology.pools[0];
    assert!(pool.nodes.iter().all(|node| node.labels.len() == 2), "{:?}", pool.nodes);
    assert_eq!(pool.nodes[0].labels["kubernetes.io/hostname"], "ip-d0x.internal");
}

/// Spot machines and reserved machines of one kind have prices of their own.
#[test]
fn machines_of_one_kind_that_are_billed_differently_are_in_pools_of_their_own() {
    let mut nodes: Value = serde_json::from_str(&list(TPU, 4, &[("cloud.google.com/gke-nodepool", "{}")])).unwrap();
    for node in &mut nodes["items"].as_array_mut().unwrap()[2..] {
        node["metadata"]["labels"]["cloud.google.com/gke-spot"] = json!("true");
    }
    let imported = import(&nodes.to_string());
    let billing: Vec<String> = imported.topology.pools.iter().map(|pool| format!("{:?}", pool.billing)).collect();
    assert_eq!(billing, ["Reserved", "OnDemand"]);
}

/// No label states which GPUs of several nodes links connect: a zone is no island, whatever the names of the nodes.
#[test]
fn gpu_nodes_without_a_label_of_islands_are_single_units() {
    for names in ["vm-{}", "ip-10-0-{}-7"] {
        let node = |i: usize| {
            let labels = json!({"topology.kubernetes.io/zone": format!("z{}", i / 4)});
            json!({"kind": "Node", "metadata": {"name": names.replace("{}", &i.to_string()), "labels": labels},
                "status": {"allocatable": {GPU: 8, "pods": 110}}})
        };
        let list = json!({"kind": "List", "items": (0..8).map(node).collect::<Vec<_>>()}).to_string();
        let pools = import(&list).topology.pools;
        assert!(pools.iter().all(|pool| pool.nodes_per_island == 1), "{names}: {pools:?}");
        assert_eq!(pools.iter().map(|pool| pool.count * pool.islands).sum::<u32>(), 8, "{names}");
    }
}
