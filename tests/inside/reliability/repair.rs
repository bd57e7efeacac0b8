//! Unit tests of `sim_reliability::repair`.

use super::*;
use sim_api::spec::RetirementSpec;

#[test]
fn crews_take_waiting_nodes_in_the_order_of_arrival() {
    let mut crews = RepairCrews::default();
    assert_eq!([1, 2, 3, 4].map(|node| crews.take(node, Some(2))), [true, true, false, false]);
    assert_eq!([(); 4].map(|()| crews.release()), [Some(3), Some(4), None, None]);
    assert!(crews.take(5, Some(1)), "all crews are free again");
}

#[test]
fn a_node_is_retired_by_failures_in_total_or_within_a_period() {
    for (rule, retired) in [
        (RetirementSpec::Never, [false, false, false]),
        (RetirementSpec::Life(3), [false, false, true]),
        (RetirementSpec::Window(2, Duration(10)), [false, false, true]),
        (RetirementSpec::Window(2, Duration(100)), [false, true, true]),
    ] {
        let mut history = BlameHistory::default();
        let result = [0, 50, 60].map(|at| {
            history.add(at, rule);
            history.retires(at, rule)
        });
        assert_eq!(result, retired, "{rule:?}");
    }
}
