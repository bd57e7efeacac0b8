//! Unit tests of `sim_reliability::faults::spares`.

use super::*;

#[test]
fn drained_node_returning_as_spare_is_not_uncordoned() {
    let fault = |at: u64, cell: u32, does: FaultOperation, cause: u32| InjectedFault {
        at: Duration::from_secs(at),
        target: FaultScope::Cell(CellId(cell)),
        operation: does,
        cause,
    };
    let all = [
        fault(1, 0, FaultOperation::Drain, 0),
        fault(2, 0, FaultOperation::Uncordon, 0),
        fault(2, 1, FaultOperation::Uncordon, 0),
        fault(2, 0, FaultOperation::Cordon, SPARE),
        fault(3, 0, FaultOperation::Uncordon, SPARE),
        fault(4, 1, FaultOperation::Cordon, SPARE),
    ];
    let kept = without_uncordoned_spares(&all);
    assert_eq!(kept, [all[0], all[2], all[3], all[4], all[5]]);
}
