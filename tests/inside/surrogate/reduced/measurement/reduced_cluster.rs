//! Unit tests of `sim_surrogate::reduced::measurement::reduced_cluster`.

use super::*;
use sim_api::spec::NodePool;
use sim_policy::topology::ClusterBuilder;

fn topology(pools: &[(u32, u32, &str)]) -> TopologySpec {
    let pool = |(count, nodes, name): &(u32, u32, &str)| NodePool {
        name: (*name).to_owned(),
        count: *count,
        islands: 1,
        nodes_per_island: *nodes,
        ..NodePool::default()
    };
    TopologySpec { pools: pools.iter().map(pool).collect(), ..TopologySpec::default() }
}

#[test]
fn nodes_are_left_out_from_the_end_in_whole_islands_and_keep_their_names() {
    let own = [(4, 4, "a-{node}"), (6, 4, "s-{node}")];
    for (keep, left) in [(24, Some(24)), (21, Some(24)), (16, Some(16)), (40, None)] {
        let fewer = first_nodes(&topology(&own), keep);
        assert_eq!(fewer.as_ref().map(TopologySpec::nodes), left, "{keep}");
        let names = |t: &TopologySpec| ClusterBuilder::build(t, &[]).names;
        if let Some(fewer) = fewer {
            let all = names(&topology(&own));
            assert_eq!(names(&fewer), all[..fewer.nodes() as usize], "{keep}");
        }
    }
    let single = [(1, 8, "a-{node}"), (1, 5, "s")];
    for (keep, left) in [(10, Some(10)), (9, None)] {
        let fewer = first_nodes(&topology(&single), keep);
        assert_eq!(fewer.as_ref().map(TopologySpec::nodes), left, "{keep}: one alone has another name");
    }
}
