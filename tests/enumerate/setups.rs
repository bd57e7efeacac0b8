//! The small JobSets that are enumerated, in the notation of the policy cases.
//!
//! Every JobSet must be so small that its states are enumerated within a second or two.

use super::world::Setup;
use crate::policy::notation;

/// Parses a JobSet in the notation of the policy cases.
pub fn setup(text: &str, gates: &str) -> Setup {
    let case = format!("{{name: x, rules: [], plan: '', gates: [{gates}], js: {{{text}}}}}");
    let case = serde_yaml::from_str(&case).unwrap_or_else(|e| panic!("{text}: {e}"));
    let world = notation::world(&case).unwrap_or_else(|e| panic!("{text}: {e}"));
    let rjs = (0..).zip(&world.jobset.spec.replicated_jobs);
    let slots = rjs.flat_map(|(rj, r)| (0..r.replicas).map(move |index| (rj, index)));
    Setup {
        text: text.to_string(),
        slots: slots.collect(),
        gates: world.gates,
        jobset: world.jobset,
        pods: 0,
        coarse: false,
        stale: false,
        foreign: None,
    }
}

const SHAPES: [&str; 6] = ["a:1", "a:2", "a:1 b:1", "a:0 b:1", "a:2 b:1", "a:3"];

const ORDERS: [&str; 4] = ["", "in_order: true, ", "depends: [b on a Ready], ", "depends: [b on a Complete], "];

const SUCCESSES: [&str; 4] = ["", "success: Any, ", "success: Any a, ", "success: All a, "];

/// Rules by action; `targets: [a]` restricts a rule to the first replicatedJob.
const RULES: [&str; 7] = [
    "",
    "{name: r, action: FailJobSet}",
    "{name: r, action: RestartJobSetAndIgnoreMaxRestarts, targets: [a]}",
    "{name: r, action: RestartJob}",
    "{name: r, action: RestartJobAndIgnoreMaxRestarts, targets: [a]}",
    "{name: r, action: RestartJob, targets: [a]}, {name: s, action: FailJobSet}",
    "{name: r, action: RestartJobSet, targets: [a]}, {name: s, action: RestartJob}",
];

/// Returns every failure policy: none, and maxRestarts 0 to 2 by strategy and rules.
fn failure_policies() -> Vec<String> {
    let mut all = vec![String::new()];
    for strategy in ["Recreate", "BlockingRecreate"] {
        for max in 0..3 {
            for rules in RULES {
                all.push(format!("failure: {{max: {max}, strategy: {strategy}, rules: [{rules}]}}, "));
            }
        }
    }
    all
}

/// Returns whether a quick enumeration includes a combination. It omits those that are covered with fewer restarts
/// or another policy.
fn quick(order: &str, success: &str, failure: &str) -> bool {
    let twice = failure.contains("max: 2");
    let plain = success.is_empty() || order.is_empty();
    !(twice && (failure.contains("Ignore") || !plain)) && (!failure.contains("Blocking") || success.is_empty())
}

/// Returns every meaningful combination with at most `jobs` Jobs.
pub fn recreate(jobs: usize, everything: bool) -> Vec<Setup> {
    let mut all = Vec::new();
    for shape in SHAPES {
        let two = shape.contains('b');
        for order in ORDERS.iter().filter(|o| two || o.is_empty()) {
            for success in SUCCESSES.iter().filter(|s| two || !s.ends_with("a, ")) {
                for failure in failure_policies() {
                    if !everything && !quick(order, success, &failure) {
                        continue;
                    }
                    let text = format!("rjs: {shape}, {order}{success}{failure}");
                    let setup = setup(text.trim_end_matches(", "), "RestartJob");
                    if setup.slots.len() <= jobs {
                        all.push(setup);
                    }
                }
            }
        }
    }
    for setup in &mut all {
        setup.coarse = setup.slots.len() > 1;
    }
    all
}

/// Returns setups of three Jobs, with one rule at a time.
pub fn three_jobs() -> Vec<Setup> {
    let failures = [
        "",
        "failure: {max: 1}, ",
        "failure: {max: 1, strategy: BlockingRecreate, rules: [{name: r, action: RestartJob}]}, ",
    ];
    let mut all = Vec::new();
    for shape in ["a:3", "a:2 b:1"] {
        for order in ORDERS.iter().filter(|o| shape != "a:3" || o.is_empty()) {
            for failure in failures {
                let text = format!("rjs: {shape}, {order}{failure}");
                let mut setup = setup(text.trim_end_matches(", "), "RestartJob");
                setup.coarse = true;
                all.push(setup);
            }
        }
    }
    all
}

/// Returns setups in which the controller's cache lags behind by any number of events.
pub fn stale() -> Vec<Setup> {
    let texts = [
        "rjs: a:1",
        "rjs: a:1, failure: {max: 1}",
        "rjs: a:1, failure: {max: 1, strategy: BlockingRecreate}",
        "rjs: a:1, failure: {max: 1, rules: [{name: r, action: RestartJob}]}",
        "rjs: a:2",
        "rjs: a:1 b:1, in_order: true",
    ];
    let stale = |text: &&str| Setup { stale: true, coarse: true, ..setup(text, "RestartJob") };
    texts.iter().map(stale).collect()
}

/// Returns setups with in-place restart agents: one Job of two pods, and two Jobs of one pod each.
pub fn in_place() -> Vec<Setup> {
    let mut all = Vec::new();
    for (shape, pods) in [("a:1x1", 1), ("a:1x2", 2), ("a:1x1 b:1x1", 1)] {
        for max in 0..2 {
            let failure = format!("failure: {{max: {max}, strategy: InPlaceRestart}}");
            let text = format!("rjs: {shape}, {failure}");
            all.push(Setup { pods, coarse: true, ..setup(&text, "InPlaceRestart, RestartJob") });
        }
    }
    all
}
