//! Times in which one node is slow: while they overlap, the slowest counts.

use super::outages::reference;
use crate::base::Duration;
use crate::spec::{FaultAction, FaultTime, ScriptedFault, Silent, SilentOn};
use std::sync::Arc;

/// One fault of a node and its repair.
#[derive(Clone, Debug)]
pub struct Slowness {
    pub start: Duration,
    /// None: until the end of the run.
    pub end: Option<Duration>,
    pub factor: f64,
    pub cause: Arc<str>,
}

/// Each change of the factor until `stop`.
pub fn script(name: &str, all: &[Slowness], stop: Duration) -> Vec<ScriptedFault> {
    let ends = all.iter().filter_map(|s| Some((s.end?, &s.cause)));
    let mut instants: Vec<(Duration, &Arc<str>)> = all
        .iter()
        .map(|s| (s.start, &s.cause))
        .chain(ends)
        .collect();
    instants.sort();
    instants.dedup_by_key(|(at, _)| *at);
    let mut now = 1.0;
    let mut script = Vec::new();
    for (at, cause) in instants.into_iter().take_while(|(at, _)| *at <= stop) {
        let on = |s: &&Slowness| s.start <= at && s.end.is_none_or(|end| end > at);
        let factor = all.iter().filter(on).map(|s| s.factor).fold(1.0, f64::max);
        if factor != now {
            now = factor;
            script.push(ScriptedFault {
                at: FaultTime::At(at),
                action: FaultAction::Silent {
                    on: SilentOn::Node(reference(name)),
                    what: Silent::Slow { factor },
                },
                drawn_as: Some(cause.clone()),
            });
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_counts_until_it_is_repaired() {
        let slow = |start, end: Option<u64>, factor| Slowness {
            start: Duration::from_secs(start),
            end: end.map(Duration::from_secs),
            factor,
            cause: "c".into(),
        };
        let told = |all: &[Slowness]| -> Vec<(u64, f64)> {
            let one = |f: ScriptedFault| match (f.at, f.action) {
                (
                    FaultTime::At(at),
                    FaultAction::Silent {
                        what: Silent::Slow { factor },
                        ..
                    },
                ) => (at.0 / 1_000_000_000, factor),
                other => panic!("{other:?}"),
            };
            let script = script("n", all, Duration::from_secs(100));
            script.into_iter().map(one).collect()
        };
        assert_eq!(told(&[slow(1, Some(5), 2.0)]), [(1, 2.0), (5, 1.0)]);
        let nested = [slow(1, Some(9), 1.5), slow(3, Some(6), 3.0)];
        assert_eq!(told(&nested), [(1, 1.5), (3, 3.0), (6, 1.5), (9, 1.0)]);
        let hidden = [slow(1, Some(9), 3.0), slow(3, Some(6), 1.5)];
        assert_eq!(told(&hidden), [(1, 3.0), (9, 1.0)]);
        assert_eq!(told(&[slow(1, None, 2.0)]), [(1, 2.0)]);
        assert_eq!(told(&[slow(1, Some(200), 2.0)]), [(1, 2.0)]);
    }
}
