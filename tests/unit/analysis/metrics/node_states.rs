//! Tests of `sim_analysis::metrics::node_states`.

use sim_analysis::metrics::node_states::*;
use sim_base::*;
use sim_engine::record::{Body, DeletionActor, NO_CAUSE, NodeReady, RecordNames, RecordSink, SimulationRecord};
#[test]
fn a_node_is_what_the_most_troubled_of_its_pods_is() {
    let (a, b, job, node) = (PodId(0), PodId(1), JobId(0), NodeId(1));
    let incarnation = 0;
    let created = |pod| Body::PodCreated { pod, incarnation, job, index: 0, attempt: 0 };
    let bound = |pod| Body::PodBound { pod, incarnation, node };
    let ready = |pod| Body::PodReady { pod, incarnation };
    let by = DeletionActor::User;
    let all = [
        (1, created(a)),
        (2, bound(a)),
        (3, ready(a)),
        (4, created(b)),
        (5, bound(b)),
        (6, ready(b)),
        (7, Body::PodDeleting { pod: a, incarnation, by }),
        (8, Body::PodGone { pod: a, incarnation }),
        (9, Body::NodeState { node, ready: NodeReady::Unknown }),
        (10, Body::NodeState { node, ready: NodeReady::True }),
        (11, Body::PodGone { pod: b, incarnation }),
        (20, created(a)),
        (21, bound(a)),
    ];
    let mut states = NodeStates::new((SimTime(4), SimTime(20)), 2);
    for (at, body) in all {
        let record = SimulationRecord { seq: 0, cause: NO_CAUSE, ticket: NO_CAUSE, at: SimTime(at), body };
        states.record(&record, &RecordNames::default());
    }
    let seen: Vec<&str> = (4..=12).map(|t| states.at(1, SimTime(t)).as_str()).collect();
    let (starting, ready, ending) = ("starting", "ready", "terminating");
    let broken = "node not ready";
    let expected = [ready, starting, ready, ending, ready, broken, ready, "free", "free"];
    assert_eq!(seen, expected);
    assert_eq!(states.at(0, SimTime(9)), NodeState::Free);
    assert_eq!(states.at(1, SimTime(30)), NodeState::Free, "states after the end are not kept");
}
