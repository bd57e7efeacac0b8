//! Tests of `sim_policy::job::per_index`.

use sim_api::spec::{JobSpec, PodFailurePolicyAction};
use sim_policy::job::per_index::*;
use sim_policy::job::pod_failure::RuleVerdict;
#[test]
fn an_index_fails_at_its_own_limit_or_at_once() {
    let spec = |limit| JobSpec { backoff_limit_per_index: limit, ..JobSpec::default() };
    let verdict = |counts, action| RuleVerdict { counts, action };
    use PodFailurePolicyAction::*;
    for (limit, verdict, before, fails, sentence) in [
        (Some(0), verdict(true, None), 0, true, "no failure is allowed"),
        (Some(2), verdict(true, None), 1, false, "one of two retries remains"),
        (Some(2), verdict(true, Some(Count)), 2, true, "the third failure"),
        (Some(2), verdict(true, Some(FailIndex)), 0, true, "FailIndex does not depend on the count"),
        (Some(0), verdict(false, Some(Ignore)), 0, false, "an ignored failure"),
        (None, verdict(true, Some(FailIndex)), 9, false, "no limit per index"),
    ] {
        assert_eq!(index_fails(&spec(limit), &verdict, before), fails, "{sentence}");
    }
}
