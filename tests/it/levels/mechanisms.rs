//! Mechanisms of level `pods` that level `nodes` lacked: each has a scenario in which it decides the result.

use crate::support;

use super::{
    Case, DRAIN, EXIT, HOST, IN_PLACE, NEVER, REPAIR, SLICE, assert_equal, assert_same_means, checked, pool, refused,
};

const SLOW_STOP: &str = "containers: [{replicatedJob: w, stopAfter: 5m}]";

fn with_grace(job: &str) -> String {
    job.replace("restartPolicy: Never,", "restartPolicy: Never, terminationGracePeriodSeconds: 900,")
}

/// Job `b` with this number of pods, after the first replicatedJob.
fn second(pods: u32) -> String {
    format!(
        "  - name: b\n    replicas: 1\n    template: {{spec: {{parallelism: {pods}, completions: {pods}, {NEVER}}}}}\n"
    )
}

#[test]
fn a_deleted_node_loses_checkpoints_in_the_memory_of_its_host() {
    let partition = "- {cause: network, does: Partition, mtbf: 3d, backAfter: 30m, deletedAfter: 10m}\n";
    let checkpoint = "{every: 4h, tiers: [{every: 1m, survives: Process, restore: 10s}]}";
    let case = Case { checkpoint, ..Case::new("BlockingRecreate", (1, 4), 4, &[partition]) };
    assert_equal("tiers", &case.scenario(), 6);
}

/// A rule about the second container of a pod decides whether its restart counts, and the restarts of all containers
/// count towards the limit of the Job.
#[test]
fn all_containers_of_a_pod_end_and_restart() {
    let two = "containers: [{name: side, image: x}, {name: w, image: x";
    let rule = "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: w, operator: In, values: \
                [1]}}]}, ";
    let limit = "maxRestarts: 3, rules: [{name: own, action: RestartJobSetAndIgnoreMaxRestarts, onJobFailureReasons: \
                 [PodFailurePolicy]}]";
    let job = NEVER.replace("containers: [{name: w, image: x", two);
    let case =
        Case { job: format!("{rule}{job}"), limit: limit.to_owned(), ..Case::new("Recreate", (1, 8), 12, &[EXIT]) };
    assert_equal("a rule about the second container", &case.scenario(), 6);
    let job = job.replace("Never", "OnFailure").replace("backoffLimit: 0", "backoffLimit: 6");
    let case = Case { job, ..Case::new("Recreate", (1, 8), 12, &[EXIT]) };
    assert_equal("restarts of two containers", &case.scenario(), 6);
}

#[test]
fn a_drained_pod_ends_when_its_containers_have_stopped() {
    let job = with_grace(NEVER);
    for jobs in [(4, 1), (1, 4)] {
        let case = Case { job: job.clone(), rest: SLOW_STOP, ..Case::new("BlockingRecreate", jobs, 6, &[DRAIN, EXIT]) };
        assert_equal(&format!("{jobs:?}"), &case.scenario(), 6);
    }
    let job = IN_PLACE.replace("terminationGracePeriodSeconds: 0", "terminationGracePeriodSeconds: 900");
    let often = DRAIN.replace("20d", "8d");
    let case = Case { job, rest: SLOW_STOP, ..Case::new("InPlaceRestart", (1, 4), 6, &[&often]) };
    assert_equal("in place", &case.scenario(), 12);
    // The machine is gone before the containers have stopped.
    let spot = "- {cause: spot, does: Reclaim, notice: 2m, mtbf: 8d, backAfter: 1h}\n";
    let case = Case { job: with_grace(NEVER), rest: SLOW_STOP, ..Case::new("Recreate", (4, 1), 6, &[spot]) };
    assert_equal("reclaimed machines", &case.scenario(), 6);
}

#[test]
fn a_process_that_hangs_keeps_hanging_when_another_pod_is_replaced() {
    let hang = "- {cause: hang, does: Hang, mtbf: 8d, detectedAfter: 3h}\n";
    let often = EXIT.replace("20d", "2d");
    let job = NEVER.replace("backoffLimit: 0", "backoffLimit: 1000");
    let case = Case { job, ..Case::new("Recreate", (1, 4), 4, &[hang, &often]) };
    let all = checked(&case.scenario(), 7, 6);
    let mean = |side: usize| all.iter().map(|one| one.goodput()[side]).sum::<f64>() / all.len() as f64;
    assert!((mean(0) - mean(1)).abs() < 0.005, "{} {}", mean(0), mean(1));
}

#[test]
fn pods_that_run_and_are_not_ready_fail_too() {
    let probe = "startupProbe: {periodSeconds: 5, failureThreshold: 1000, tcpSocket: {port: 80}}, resources";
    let often = EXIT.replace("20d", "1d");
    let case = Case {
        job: NEVER.replace("resources", probe),
        rest: "containers: [{replicatedJob: w, readyAfter: 20m}]",
        ..Case::new("BlockingRecreate", (1, 4), 4, &[&often])
    };
    assert_same_means("ready late", &case.scenario(), 12);
}

/// Delays are measured for the failure of a Job of each kind, and end with the readiness of all pods.
#[test]
fn each_kind_of_job_has_its_own_delays() {
    let case = Case { completions: Some(4), ..Case::new("Recreate", (1, 2), 2, &[&EXIT.replace("20d", "3d")]) };
    assert_equal("more completions than pods", &case.scenario(), 6);
    let exits = EXIT.replace("20d", "6d");
    let more = second(3);
    let limit = "maxRestarts: 100000, rules: [{name: one, action: RestartJob}]".to_owned();
    let rest = "containers: [{replicatedJob: b, startAfter: 10m}]";
    let case = Case { limit, more: &more, rest, ..Case::new("Recreate", (1, 1), 4, &[&exits]) };
    assert_equal("one kind starts late", &case.scenario(), 12);
    let rest = "containers: [{replicatedJob: b, stopAfter: 5m}]";
    let job = with_grace(NEVER);
    let more = with_grace(&second(4));
    let case = Case { job, more: &more, rest, ..Case::new("BlockingRecreate", (1, 1), 5, &[&exits]) };
    assert_equal("one kind stops late", &case.scenario(), 12);
}

/// A machine on demand costs money while its Node exists, and an idle spare that has to be started costs nothing.
#[test]
fn machines_on_demand_cost_money_while_they_exist() {
    let spares = pool("nodesPerIsland: 8", "billing: demand")
        .replace("accelerator:", "billing: onDemand, accelerator:")
        + &pool("nodesPerIsland: 2", "role: spare").replace("accelerator:", "billing: onDemand, accelerator:");
    let cold = "nodeSpares: {label: role=spare, takeOver: 5m, handBack: true}";
    for (name, rest, faults) in [("deleted nodes", "", &[HOST, EXIT]), ("cold spares", cold, &[REPAIR, EXIT])] {
        let case = Case { pools: spares.clone(), rest, ..Case::new("Recreate", (1, 8), 0, faults) };
        for one in checked(&case.scenario(), 7, 4) {
            let (pods, nodes) = (one.pods.cost, one.nodes.cost);
            assert!((pods - nodes).abs() < 1e-3 * pods, "{name}: {pods} and {nodes}");
        }
    }
}

/// An interruption has the cause of the loss that the node monitor noticed, not that of a later fault elsewhere.
#[test]
fn a_noticed_loss_keeps_its_cause() {
    let partition = "- {cause: network, does: Partition, mtbf: 2d, backAfter: 10m}\n";
    let noise = "- {cause: noise, does: Slow, factor: 1.01, mtbf: 16m, backAfter: 1s}\n";
    let case = Case::new("Recreate", (1, 4), 5, &[partition, noise]);
    for one in checked(&case.scenario(), 7, 4) {
        let of = |replication: &sim_analysis::experiment::ReplicationResult| {
            replication.jobsets[0].taken.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(of(&one.pods), of(&one.nodes));
    }
}

/// Both levels stop evictions while no node of the cluster is ready, and resume them at the rate of the zone.
#[test]
fn losses_of_all_nodes_stop_evictions() {
    let all = "- {cause: network, does: Partition, on: {label: a.com/room}, mtbf: 8h, backAfter: 20m}\n";
    let one = "- {cause: link, does: Partition, mtbf: 2d, backAfter: 1h}\n";
    let pools = pool("count: 8, nodesPerIsland: 1", "a.com/room: x");
    let case = Case { pools, ..Case::new("Recreate", (1, 8), 8, &[all, one]) };
    assert_equal("losses of all nodes", &case.scenario(), 6);
}

#[test]
fn pods_leave_lost_nodes_after_their_own_toleration() {
    let tolerant = NEVER.replace(
        "restartPolicy: Never,",
        "restartPolicy: Never, tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, \
         tolerationSeconds: 30}],",
    );
    let host = "- {cause: host, mtbf: 10d, backAfter: 173s}\n";
    for job in [tolerant, NEVER.to_owned()] {
        let case = Case { job, ..Case::new("Recreate", (1, 4), 4, &[host]) };
        assert_equal("tolerations", &case.scenario(), 6);
    }
}

#[test]
fn a_pod_that_joins_in_place_takes_its_start_time() {
    let often = DRAIN.replace("20d", "8d");
    let rest = "containers: [{replicatedJob: w, startAfter: 2m}]";
    let case = Case { job: IN_PLACE.to_owned(), rest, ..Case::new("InPlaceRestart", (1, 4), 5, &[&often]) };
    assert_equal("drains", &case.scenario(), 6);
}

/// Scripted faults have the effects of random ones, on named nodes and on the nodes of pods.
#[test]
fn scripted_faults_concern_the_same_nodes_and_pods() {
    let faults = "faults: [{at: 1d, crashNode: {ofPod: train-w-0-1, alias: lost}}, {at: 2d, newNode: {alias: lost}}, \
                  {at: 3d, drainNode: {ofPod: train-w-0-2, alias: maintained}}, {at: 4d, uncordonNode: {alias: maintained}}, \
                  {afterReady: 5d, containerExit: {pod: train-w-0-3, exitCode: 1}}, {at: 6d, partitionNode: {ofPod: \
                  train-w-0-4, alias: away}}, {at: 146h, returnNode: {alias: away}}, {at: 7d, deleteNode: {ofPod: \
                  train-w-0-5, alias: gone}}, {at: 8d, newNode: {alias: gone}}, {at: 9d, cordonNode: {ofPod: train-w-0-6}}]";
    for strategy in ["Recreate", "BlockingRecreate"] {
        let case = Case { rest: faults, ..Case::new(strategy, (1, 8), 12, &[EXIT]) };
        assert_equal(strategy, &case.scenario(), 4);
    }
    let case = Case { job: IN_PLACE.to_owned(), rest: faults, ..Case::new("InPlaceRestart", (1, 8), 12, &[EXIT]) };
    assert_equal("in place", &case.scenario(), 4);
    let exits = "faults: [{at: 1d, containerExit: {pod: train-w-0-0, exitCode: 3}}]";
    let rare = EXIT.replace("20d", "20000d");
    let case = Case { rest: exits, limit: "maxRestarts: 0".to_owned(), ..Case::new("Recreate", (1, 2), 2, &[&rare]) };
    for one in checked(&case.scenario(), 7, 2) {
        let ends = [&one.pods, &one.nodes].map(|replication| replication.jobsets[0].terminal_state);
        assert_eq!(ends, ["Failed"; 2]);
    }
}

/// An action on a pod that does not run has no effect, which both levels say.
#[test]
fn a_scripted_fault_without_a_target_is_named() {
    let faults = "faults: [{at: 1s, containerExit: {pod: train-w-0-0, exitCode: 1}}]";
    let case = Case { rest: faults, ..Case::new("Recreate", (1, 2), 2, &[EXIT]) };
    for one in checked(&case.scenario(), 7, 1) {
        for replication in [&one.pods, &one.nodes] {
            let says =
                |text: &String| text.contains("fault 0") && text.contains("no container of train-w-0-0 was running");
            assert!(replication.warnings.iter().any(says), "{:?}", replication.warnings);
        }
    }
}

/// Without storage objects, claims are bound at once to volumes that all nodes can use.
#[test]
fn claims_that_exist_restrict_no_node() {
    let volumes = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], containers";
    let job = NEVER.replace("containers", volumes);
    let case = Case { job, ..Case::new("Recreate", (1, 8), 12, &[HOST, EXIT]) };
    assert_equal("claims", &case.scenario(), 4);
}

/// Jobs that communicate make steps at the speed of the links of their nodes, which faults degrade.
#[test]
fn communication_takes_the_time_of_the_links() {
    let links =
        "islandKind: NvLink, interconnect: {kind: Switch, gbitsPerSecond: 7200, efficiency: 0.8, latency: 50us}";
    let pools = pool(&format!("count: 4, nodesPerIsland: 5, {links}"), "su: a, example.com/slice: \"s{pool}\"")
        + "  dcnLevels: [{name: su, label: su, gbitsPerSecond: 1600, latency: 14us}]\n";
    let degrades = "- {cause: switch, on: Island, does: Degrade, bandwidth: 0.5, mtbf: 4d, backAfter: 6h}\n";
    let slow = "- {cause: slow, does: Slow, factor: 1.5, mtbf: 20d, backAfter: 8h}\n";
    let training = ", parallelism: [{axis: data, over: Islands}, {axis: tensor, over: Island}], communication: [{axis: data, \
                    collective: AllReduce, bytes: 140G}, {axis: tensor, collective: AllReduce, bytes: 250G}]";
    let case = Case {
        pools,
        annotations: ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}",
        training,
        ..Case::new("BlockingRecreate", (3, 4), 0, &[degrades, slow, EXIT, HOST])
    };
    let scenario = case.scenario();
    assert_equal("links", &scenario, 4);
    for one in checked(&scenario, 7, 2) {
        let steps = [&one.pods, &one.nodes].map(|replication| {
            let training = replication.jobsets[0].training.as_ref().expect("a training job");
            (training.step_times.len(), training.mean_step.as_ref().expect("a mean step").step_s)
        });
        assert!(steps[0].0 > 3, "the step time changes: {steps:?}");
        assert!((steps[0].1 - steps[1].1).abs() < 0.001 * steps[0].1, "{steps:?}");
    }
    let shared = Case { annotations: "", ..case };
    assert!(refused(&shared.scenario()).contains("without exclusive placement"));
}

const SINGLE: &str = "maxRestarts: 100000, rules: [{name: one, action: RestartJob}]";

/// An elastic job of six slices of two hosts, each of which has an island of its own.
fn elastic<'a>(strategy: &'static str, training: &'a str, faults: &[&str]) -> Case<'a> {
    Case {
        pools: pool("count: 6, nodesPerIsland: 2", "example.com/slice: \"s-{pool}\""),
        annotations: ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}",
        limit: SINGLE.to_owned(),
        training,
        ..Case::new(strategy, (6, 2), 0, faults)
    }
}

/// A job continues without the slices that fail, and slices that return take part again as the policy says.
#[test]
fn slices_that_return_take_part_again() {
    let slice = SLICE.replace("8h", "3h");
    for regrow in ["NextCheckpoint", "AtOnce", "Never"] {
        let training = format!(", elastic: {{minSlices: 3, regrow: {regrow}}}");
        assert_equal(regrow, &elastic("Recreate", &training, &[&slice]).scenario(), 6);
        assert_equal(regrow, &elastic("BlockingRecreate", &training, &[EXIT]).scenario(), 6);
    }
    let paces = ", elastic: {minSlices: 1, factor: 0.4, lastCall: 10m}";
    assert_equal("last call and factor", &elastic("Recreate", paces, &[&slice]).scenario(), 6);
    let all = Case { limit: "maxRestarts: 100000".to_owned(), ..elastic("Recreate", paces, &[&slice]) };
    assert_equal("restarts of all Jobs", &all.scenario(), 6);
}

/// Faults on slices that do not take part have no effect on the others.
#[test]
fn silent_faults_concern_the_slices_that_take_part() {
    let hang = "- {cause: hang, does: Hang, mtbf: 10d, detectedAfter: 3h}\n";
    let slow = "- {cause: slow, does: Slow, factor: 1.5, mtbf: 10d, backAfter: 6h}\n";
    let wrong = "- {cause: wrong, does: Corrupt, mtbf: 10d, foundAfter: 3h}\n";
    for regrow in ["AtOnce", "Never"] {
        let training = format!(", elastic: {{minSlices: 2, regrow: {regrow}}}");
        let case = elastic("Recreate", &training, &[hang, slow, wrong, SLICE]);
        assert_equal(regrow, &case.scenario(), 6);
    }
}

/// A partition does not end processes: the job initializes again in a shorter time, and a checkpoint in the memory of
/// a host is lost only with the host.
#[test]
fn processes_of_slices_continue_after_an_interruption() {
    let partition = "- {cause: network, does: Partition, mtbf: 8d, backAfter: {uniform: [20s, 4m]}}\n";
    let checkpoint = "{every: 1h, tiers: [{every: 1m, survives: Process, restore: 10s}]}";
    let training = |last_call| format!(", elastic: {{minSlices: 2, lastCall: {last_call}, reinitialization: 10s}}");
    let (usual, none) = (training("30s"), training("0s"));
    // An exit may hit a slice that takes part at one level only.
    assert_same_means(
        "partitions",
        &elastic("Recreate", &usual, &[partition, EXIT]).scenario(),
        support::cases(12, 24),
    );
    assert_equal("tiers", &Case { checkpoint, ..elastic("Recreate", &usual, &[SLICE]) }.scenario(), 6);
    // The job continues before the machine is lost: the checkpoint in its memory is lost one interruption later.
    let case = Case { checkpoint, ..elastic("Recreate", &none, &[SLICE, EXIT]) };
    assert_same_means("no last call", &case.scenario(), support::cases(6, 24));
}

/// The work of an elastic job is complete while slices are missing: their Jobs get the nodes of others, and complete
/// when their pods have run.
#[test]
fn a_slice_that_is_late_finds_nothing_to_do() {
    let training = ", work: 30h, elastic: {minSlices: 1}";
    let often = SLICE.replace("10d", "1d");
    let scenario = elastic("Recreate", training, &[&often]).scenario();
    assert_equal("work ends", &scenario, 12);
    for one in checked(&scenario, 7, 12) {
        let (pods, nodes) = (one.pods.jobsets[0].completed_s, one.nodes.jobsets[0].completed_s);
        let differ = pods.zip(nodes).is_none_or(|(pods, nodes)| (pods - nodes).abs() > 3.0);
        assert!(!differ, "{pods:?} and {nodes:?}");
    }
}

/// All Jobs that are not slices take part in each segment, wherever they are in the JobSet.
#[test]
fn other_jobs_of_an_elastic_jobset_take_part() {
    let exits = EXIT.replace("20d", "8d");
    let training = ", elastic: {replicatedJob: w, minSlices: 1}";
    let more = second(1);
    let case = Case { limit: SINGLE.to_owned(), training, more: &more, ..Case::new("Recreate", (3, 1), 4, &[&exits]) };
    assert_equal("after the slices", &case.scenario(), 6);
    let training = ", elastic: {replicatedJob: b, minSlices: 1}";
    let more = second(1).replace("replicas: 1", "replicas: 3");
    let case = Case { limit: SINGLE.to_owned(), training, more: &more, ..Case::new("Recreate", (1, 1), 4, &[&exits]) };
    assert_equal("before the slices", &case.scenario(), 6);
}

/// Which Job is placed first decides whether a broken slice is used: the mean over many orders is that of level `pods`.
#[test]
fn jobs_are_placed_in_any_order() {
    let slice = "example.com/slice: \"s{pool}\"";
    let case = Case {
        pools: pool("count: 5, nodesPerIsland: 2", slice),
        annotations: ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}",
        rest: "faults: [{afterReady: 60s, drainNode: {ofPod: train-w-3-0}}]",
        ..Case::new("Recreate", (4, 2), 0, &[&EXIT.replace("20d", "20000d")])
    };
    let all = checked(&case.scenario(), 7, support::cases(200, 800));
    // The job continues if the Job that fails has the third slice, and the slice after it is free by then.
    let share = |side: usize| all.iter().filter(|one| one.goodput()[side] > 0.5).count() as f64 / all.len() as f64;
    let [pods, nodes] = [share(0), share(1)];
    assert!((pods - nodes).abs() < 0.1, "{pods} and {nodes}");
}

/// Pods of a deleted Node end although its machine crashes or reports again.
#[test]
fn a_deleted_node_loses_its_pods() {
    for then in ["returnNode: {alias: gone}", "crashNode: {alias: gone}"] {
        let faults =
            format!("faults: [{{at: 1d, deleteNode: {{ofPod: train-w-0-1, alias: gone}}}}, {{at: 86405s, {then}}}]");
        let rare = EXIT.replace("20d", "20000d");
        let case = Case { rest: &faults, ..Case::new("Recreate", (1, 4), 6, &[&rare]) };
        for one in checked(&case.scenario(), 7, 2) {
            let restarts = [&one.pods, &one.nodes].map(|replication| replication.jobsets[0].restarts);
            assert_eq!(restarts, [1; 2], "{then}");
        }
    }
}
