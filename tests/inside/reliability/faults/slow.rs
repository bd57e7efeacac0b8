//! Unit tests of `sim_reliability::faults::slow`.

use super::*;

#[test]
fn slowest_factor_applies_until_repaired() {
    let slow = |start, end: Option<u64>, factor| SlowNodes {
        start: Duration::from_secs(start),
        end: end.map(Duration::from_secs),
        factor,
        cause: 0,
        part: SlowPart::Machine,
    };
    let factors = |all: &[SlowNodes]| -> Vec<(u64, f64)> {
        let one = |f: InjectedFault| match f.operation {
            FaultOperation::Silent(SilentFaults::Slow { factor }) => (f.at.0 / 1_000_000_000, factor),
            other => panic!("{other:?}"),
        };
        let script = speed_changes((NodeId(0), SlowPart::Machine), all, Duration::from_secs(100), |_| "c");
        script.into_iter().map(one).collect()
    };
    assert_eq!(factors(&[slow(1, Some(5), 2.0)]), [(1, 2.0), (5, 1.0)]);
    let nested = [slow(1, Some(9), 1.5), slow(3, Some(6), 3.0)];
    assert_eq!(factors(&nested), [(1, 1.5), (3, 3.0), (6, 1.5), (9, 1.0)]);
    let hidden = [slow(1, Some(9), 3.0), slow(3, Some(6), 1.5)];
    assert_eq!(factors(&hidden), [(1, 3.0), (9, 1.0)]);
    assert_eq!(factors(&[slow(1, None, 2.0)]), [(1, 2.0)]);
    assert_eq!(factors(&[slow(1, Some(200), 2.0)]), [(1, 2.0)]);
}
