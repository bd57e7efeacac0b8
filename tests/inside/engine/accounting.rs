//! Tests of the accounting functions without a cluster.

use super::ledger::LedgerBooks;
use super::readiness::required_ready_pods;
use crate::record::LedgerCategory;
use sim_api::spec::JobSpec;
use sim_base::*;

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

#[test]
fn the_ledger_closes_when_accelerators_come_and_go() {
    let mut ledger = LedgerBooks::default();
    let second = |n: u64| SimTime::ZERO + Duration::from_secs(n);
    ledger.change_installed(second(0), 8, 5, false, true);
    ledger.transfer(second(2), JobSetId::NONE, (8, 40), LedgerCategory::Idle, LedgerCategory::Starting);
    ledger.transfer(second(5), JobSetId::NONE, (8, 40), LedgerCategory::Starting, LedgerCategory::Idle);
    ledger.change_installed(second(6), 4, 5, true, true);
    ledger.change_installed(second(9), 8, 5, false, false);
    let closed = ledger.close(second(10), "USD");
    let seconds = closed.accelerator_ns.map(|ns| ns / 1_000_000_000);
    let plain = &seconds[..LedgerCategory::BASE_COUNT];
    assert_eq!(plain, [8 * 2 + 8 * 4, 8 * 3, 0, 0, 0, 4 * 4]);
}
