//! Tests of `sim_policy::placement::explain`.

use sim_policy::placement::explain::*;
#[test]
fn reasons_are_counted_and_sorted_as_the_scheduler_does() {
    let cpu = |free| UnschedulableReasons::Insufficient { resource: "cpu".to_owned(), free };
    let reasons = [cpu(true), UnschedulableReasons::Selector, cpu(false)];
    let why = "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu.";
    assert_eq!(explain(&reasons), why);
    let preemption = "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.";
    assert_eq!(
        failed_scheduling(&reasons),
        format!("{why} no new claims to deallocate, preemption: 0/3 nodes are available: {preemption}")
    );
    let claims = [UnschedulableReasons::NoClaim("data".to_owned()), UnschedulableReasons::Taint];
    assert_eq!(
        failed_scheduling(&claims),
        "0/2 nodes are available: persistentvolumeclaim \"data\" not found. not found"
    );
    let reasons = vec![UnschedulableReasons::ClaimGoes("data".to_owned()); 2];
    assert_eq!(
        failed_scheduling(&reasons),
        "0/2 nodes are available: persistentvolumeclaim \"data\" is being deleted. no new claims to deallocate, \
         preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
}
