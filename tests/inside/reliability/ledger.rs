//! Unit tests of `sim_reliability::ledger`.

use super::*;
use sim_base::Duration;

#[test]
fn the_ledger_closes_when_accelerators_come_and_go() {
    let mut ledger = Ledger::default();
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
