//! Tests of the accounting functions without a cluster.

use super::readiness::required_ready_pods;
use sim_api::spec::JobSpec;

#[test]
fn a_job_wants_what_is_left_of_its_completions_and_at_most_its_parallelism() {
    let spec = |parallelism, completions| JobSpec { parallelism, completions, ..JobSpec::default() };
    for (name, spec, successes, wanted) in [
        ("all of them", spec(Some(4), Some(4)), 0, 4),
        ("one has succeeded", spec(Some(4), Some(4)), 1, 3),
        ("the next one takes its place", spec(Some(2), Some(5)), 2, 2),
        ("only one is left", spec(Some(2), Some(5)), 4, 1),
        ("an unfinished work queue", spec(Some(3), None), 0, 3),
        ("a work queue with one completion", spec(Some(3), None), 1, 0),
        ("the API's default", spec(None, None), 0, 1),
    ] {
        assert_eq!(required_ready_pods(&spec, successes), wanted, "{name}");
    }
}
