//! Unit tests of `sim_engine::ttl_controller`.

use super::*;

#[test]
fn a_job_expires_its_ttl_after_the_whole_second_in_which_it_finished() {
    for (finished, ttl, expires) in [(10.0, 0, 10), (10.9, 0, 10), (10.9, 60, 70)] {
        let finished = SimTime((finished * 1e9) as u64);
        assert_eq!(expiry(finished, ttl), SimTime(expires * 1_000_000_000));
    }
}

#[test]
fn each_object_of_a_name_is_timed_once() {
    let mut controller = TtlController::default();
    let job = JobId(3);
    assert!(controller.start_timer(job, 1));
    assert!(!controller.start_timer(job, 1), "a later status of the same object");
    assert!(controller.start_timer(job, 2), "the next object");
    assert!(controller.start_timer(JobId(0), 1), "another Job");
    controller.reset();
    assert!(controller.start_timer(job, 1), "another run");
}
