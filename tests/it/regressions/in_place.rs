//! In-place restarts without a barrier.

use super::{POD, count, play, scenario};
use crate::support;
use sim_analysis::metrics::{RestartFold, RestartOutcome, RestartScope};
use sim_engine::record::*;

/// Four pods, each with an agent as a sidecar without a startup probe: the worker starts as soon as the agent runs
/// (AG-5).
fn jobset() -> String {
    let agent = "{name: agent, image: \"a:1\", restartPolicy: Always, env: [{name: JOBSET_NAME, value: a}, \
                 {name: POD_NAME, value: p}], restartPolicyRules: [{action: RestartAllContainers, \
                 exitCodes: {operator: NotIn, values: [0]}}]}";
    let pod = POD.replace(
        "name: w,",
        "name: w, restartPolicy: Never, restartPolicyRules: [{action: RestartAllContainers, exitCodes: \
         {operator: NotIn, values: [0]}}],",
    );
    let jobs = super::workers(
        1,
        4,
        "backoffLimit: 2147483647\n          podReplacementPolicy: Failed",
        &format!("initContainers: [{agent}]\n              containers: [{pod}]"),
    );
    format!("spec:\n  failurePolicy: {{maxRestarts: 3, restartStrategy: InPlaceRestart}}\n  replicatedJobs:\n{jobs}")
}

const FAILURE: &str = "controlPlane: {featureGates: {InPlaceRestart: true}}\n\
                       faults: [{afterReady: 60s, containerExit: {pod: a-w-0-1, exitCode: 1}}]\nstop: {at: 10m}";

#[test]
fn a_restart_in_place_without_a_startup_probe_is_one_restart() {
    let scenario = scenario(4, "0s", FAILURE, &jobset());
    let mut simulation = support::simulation(&scenario);
    let mut fold = RestartFold::new(&scenario);
    let outcome = simulation.run(1, 0, &mut fold);
    let restarts = fold.finish(&outcome, simulation.names());
    let (_, records) = play(4, FAILURE, &jobset());
    // The failed pod is ready again before the others have exited.
    let ready = |b: &Body| matches!(b, Body::AllReady { ready: true, .. });
    assert_eq!(count(&records, ready), 3, "AllReady must be recorded at the start, in between, and at the end");
    let last = records.iter().rfind(|r| ready(&r.body)).map(|r| r.at);
    let result: Vec<_> = restarts.iter().map(|r| (r.shape, r.ending, Some(r.end))).collect();
    assert_eq!(result, [(RestartScope::InPlaceRestart, RestartOutcome::Ready, last)]);
}
