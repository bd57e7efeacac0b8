//! Unit tests of the API server in performance tests of Kueue.

use super::*;

#[test]
fn requests_beyond_those_handled_at_a_time_wait_in_the_order_of_their_arrival() {
    let mut server = ApiServer::new(2);
    let ms = |ms: u64| SimTime(ms * 1_000_000);
    let mut answered = |now: u64| server.handle(ms(now), Duration::from_millis(6));
    let cases = [
        ("the first request does not wait", 0, 6),
        ("the second one is handled beside it", 1, 7),
        ("the third one waits for the first", 2, 12),
        ("the fourth one waits for the second", 2, 13),
        ("a request to an idle server does not wait", 20, 26),
    ];
    for (name, now, expected) in cases {
        assert_eq!(answered(now), ms(expected), "{name}");
    }
}
