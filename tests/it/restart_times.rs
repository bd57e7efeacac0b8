//! The published restart times of 5,000 pods result from queues and rates; no parameter is fitted to them.
//!
//! Bands: 2 min 10 s for Recreate and 10 s in place at the rates of upstream's 5,000-node tests (kubernetes.md 6.4,
//! 10: 132 s as the sum over the token buckets, 135.5 s until the last pod is created on a real control plane); 658
//! s at stock rates (10); 66 s at the rates of the kOps tests (6.4).

use crate::support;
use sim_base::SimTime;
use sim_engine::record::*;

/// Measures the time from the end of the failing pod (or its container) until all pods are ready again.
#[derive(Default)]
struct Stopwatch {
    in_place: bool,
    fault: bool,
    failed: Option<SimTime>,
    ready: Option<SimTime>,
}

impl RecordSink for Stopwatch {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        match record.body {
            Body::Fault { .. } => self.fault = true,
            Body::ContainerExited { .. } if self.in_place && self.fault => {
                self.failed.get_or_insert(record.at);
            }
            Body::PodFinished { .. } if self.fault => {
                self.failed.get_or_insert(record.at);
            }
            Body::AllReady { ready: true, .. } if self.failed.is_some() => {
                self.ready.get_or_insert(record.at);
            }
            _ => {}
        }
    }
}

/// Returns the duration of the restart of a shipped scenario in seconds.
pub fn restart_s(scenario: &sim_api::spec::ScenarioSpec) -> f64 {
    let mut watch = Stopwatch { in_place: scenario.name.ends_with("in-place"), ..Stopwatch::default() };
    let outcome = support::simulation(scenario).run(scenario.seed, 0, &mut watch);
    let (Some(failed), Some(ready)) = (watch.failed, watch.ready) else {
        panic!("{}: no complete restart: {:?}", scenario.name, outcome.blocked);
    };
    ready.since(failed).seconds()
}

fn assert_restart_time(name: &str, sets: &[(&str, &str)], low_s: f64, high_s: f64) -> f64 {
    let took_s = restart_s(&support::scenario(name, sets));
    println!("{name} {sets:?}: {took_s:.1} s");
    assert!((low_s..=high_s).contains(&took_s), "{name} {sets:?}: {took_s:.1} s is not in {low_s} to {high_s} s");
    took_s
}

#[test]
fn recreating_5000_pods_takes_about_130_seconds_with_either_strategy() {
    let recreate_s = assert_restart_time("restart-5000-recreate", &[], 120.0, 150.0);
    assert_restart_time("restart-5000-blocking-recreate", &[], recreate_s * 0.97, recreate_s * 1.03);
}

#[test]
fn restarting_5000_pods_in_place_takes_about_10_seconds() {
    assert_restart_time("restart-5000-in-place", &[], 7.0, 14.0);
}

#[test]
fn stock_rates_take_about_eleven_minutes_and_the_rates_of_kops_about_one() {
    let preset = "controlPlane.preset";
    assert_restart_time("restart-5000-recreate", &[(preset, "stock")], 560.0, 720.0);
    assert_restart_time("restart-5000-recreate", &[(preset, "kops")], 55.0, 85.0);
}
