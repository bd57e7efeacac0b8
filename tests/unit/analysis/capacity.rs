//! Tests of free nodes over time.

use sim_analysis::capacity::{CountedGroups, fragmentation};
use sim_analysis::metrics::nodes::NodeMetrics;
use sim_analysis::metrics::pods::PodMetrics;
use sim_base::{JobId, NodeId, PodId, SimTime};
use sim_engine::record::NodeReady;

/// No end of a pod, or of a Node.
const NEVER: u64 = u64::MAX;

fn pod((node, bound, finished, gone): (u32, u64, u64, u64)) -> PodMetrics {
    let [created, running, ready, not_ready, exited, deleting] = [SimTime::NEVER; 6];
    PodMetrics {
        pod: PodId(0),
        incarnation: 0,
        job: JobId(0),
        index: 0,
        restart_attempt: 0,
        node: NodeId(node),
        created,
        bound: SimTime(bound),
        running,
        ready,
        not_ready,
        exited,
        exit_code: Some(0),
        finished: SimTime(finished),
        succeeded: false,
        deleting,
        deleted_by: None,
        gone: SimTime(gone),
        in_place_attempt: None,
        container_restarts: 0,
    }
}

#[test]
fn a_node_is_free_while_it_is_ready_and_no_unfinished_pod_is_bound_to_it() {
    let ready = |at: u64, ready: NodeReady| (SimTime(at), ready);
    let down = vec![ready(2, NodeReady::Unknown), ready(3, NodeReady::False), ready(6, NodeReady::True)];
    // Pods as (node, bound, finished, gone); transitions and deletion of node 0; times with free, whole, largest and
    // stranded nodes of two groups of two nodes.
    type PodTimes = (u32, u64, u64, u64);
    type NodeTimes<'t> = (&'t [(SimTime, NodeReady)], u64);
    type Row = (u64, [usize; 4]);
    let cases: &[(&str, &[PodTimes], NodeTimes<'_>, &[Row])] = &[
        ("no pods", &[], (&[], NEVER), &[(0, [4, 2, 2, 0])]),
        (
            "a pod holds its node until it is removed",
            &[(0, 1, NEVER, 5)],
            (&[], NEVER),
            &[(0, [4, 2, 2, 0]), (1, [3, 1, 2, 1]), (5, [4, 2, 2, 0])],
        ),
        (
            "a finished pod holds nothing",
            &[(0, 1, 4, 9)],
            (&[], NEVER),
            &[(0, [4, 2, 2, 0]), (1, [3, 1, 2, 1]), (4, [4, 2, 2, 0])],
        ),
        (
            "the second pod of a node keeps it",
            &[(0, 1, NEVER, 5), (0, 3, NEVER, 9)],
            (&[], NEVER),
            &[(0, [4, 2, 2, 0]), (1, [3, 1, 2, 1]), (9, [4, 2, 2, 0])],
        ),
        (
            "a node that changes its pod in an instant is not free in between",
            &[(0, 0, NEVER, 5), (0, 5, NEVER, NEVER)],
            (&[], NEVER),
            &[(0, [3, 1, 2, 1])],
        ),
        (
            "one pod in each group strands both",
            &[(1, 1, NEVER, NEVER), (2, 2, NEVER, NEVER), (3, 3, NEVER, NEVER)],
            (&[], NEVER),
            &[(0, [4, 2, 2, 0]), (1, [3, 1, 2, 1]), (2, [2, 0, 1, 2]), (3, [1, 0, 1, 1])],
        ),
        (
            "a node that is not ready is not free",
            &[(0, 1, NEVER, 4)],
            (&down, NEVER),
            &[(0, [4, 2, 2, 0]), (1, [3, 1, 2, 1]), (6, [4, 2, 2, 0])],
        ),
        ("a deleted node is not free", &[], (&[], 7), &[(0, [4, 2, 2, 0]), (7, [3, 1, 2, 1])]),
    ];
    let nodes = [[0, 1], [2, 3]].map(|group| group.map(NodeId).to_vec()).to_vec();
    let groups = [CountedGroups { name: "island".to_owned(), nodes }];
    for (name, pods, (transitions, gone), expected) in cases {
        let pods: Vec<PodMetrics> = pods.iter().copied().map(pod).collect();
        let node = NodeMetrics { transitions: transitions.to_vec(), gone: SimTime(*gone), ..NodeMetrics::default() };
        let rows = fragmentation(&groups, &pods, &[node]);
        let values = rows.iter().map(|row| {
            let free = row.free;
            (row.at.0, [free.nodes, free.whole_groups, free.largest, free.stranded])
        });
        assert_eq!(values.collect::<Vec<Row>>(), *expected, "{name}");
    }
}
