//! Level `nodes` against level `pods`: the same faults give the same restarts and goodput wherever no random choice is
//! involved, and the same means otherwise.

mod commands;
mod generate;
mod mechanisms;

use crate::support;
use generate::drawn_scenario;
use sim_analysis::experiment::{
    CheckedLevels, ExperimentSubject, NodesExperiment, NotAtNodes, ReplicationLimits, StopFlag, check_levels,
    level_differences,
};
use sim_api::spec::ScenarioSpec;
use sim_base::random::MixtureDistribution;

const NEVER: &str = "backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: w, image: x, \
    resources: {limits: {a.com/chip: 1}}}]}}";
/// Pod failure policy that fails the Job with the reason PodFailurePolicy when a pod is evicted.
const FAIL_ON_DISRUPTION: &str = "podFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: DisruptionTarget, status: \
    \"True\"}]}]}, ";
const IGNORES: &str = ", rules: [{name: maintenance, action: RestartJobSetAndIgnoreMaxRestarts, onJobFailureReasons: \
    [PodFailurePolicy]}]";
const IN_PLACE: &str = "backoffLimit: 2147483647, podReplacementPolicy: Failed, template: {spec: \
    {terminationGracePeriodSeconds: 0, containers: [{name: agent, image: \
    registry.example.com/jobset-in-place-restart-agent:v0.13.0, restartPolicy: Never, restartPolicyRules: [{action: \
    Restart, exitCodes: {operator: NotIn, values: [0]}}], env: [{name: JOBSET_NAME, valueFrom: {fieldRef: {fieldPath: \
    \"metadata.annotations['jobset.sigs.k8s.io/jobset-name']\"}}}, {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: \
    metadata.name}}}, {name: WORKER_COMMAND, value: python3 train.py}], resources: {limits: {a.com/chip: 1}}}]}}";

const HOST: &str =
    "- {cause: host, mtbf: 10d, backAfter: {logNormal: {median: 1h, sigma: 1}}, asNew: true, deletedAfter: 10m}\n";
const REPAIR: &str = "- {cause: host, mtbf: 10d, backAfter: {logNormal: {median: 1h, sigma: 1}}}\n";
const EXIT: &str = "- {cause: software, on: Pod, mtbf: 20d, exitCode: 1}\n";
const DRAIN: &str = "- {cause: maintenance, mtbf: 20d, does: Drain, backAfter: 2h}\n";
const SLICE: &str = "- {cause: slice, on: {label: example.com/slice}, mtbf: 10d, backAfter: {logNormal: {median: 8h, \
    sigma: 1}}, asNew: true, deletedAfter: 10m}\n";

struct Case<'a> {
    strategy: &'static str,
    jobs: (u32, u32),
    pools: String,
    faults: String,
    job: String,
    /// Restart limit and rules of the failure policy, as YAML.
    limit: String,
    annotations: &'static str,
    /// More of the JobSet's spec, after its first replicatedJob.
    more: &'a str,
    rest: &'a str,
    checkpoint: &'a str,
    /// More of the training job, after its other fields.
    training: &'a str,
    /// Completions of a Job; `None`: one per pod.
    completions: Option<u32>,
}

fn pool(nodes: &str, labels: &str) -> String {
    format!(
        "  - {{name: \"n{}-{{pool:02}}-{{node:03}}\", {nodes}, accelerator: a.com/chip, pricePerNodeHour: 3.6, allocatable: \
         {{cpu: 8, a.com/chip: 1}}, features: [RestartAllContainersOnContainerExits], labels: {{{labels}}}}}\n",
        labels.len()
    )
}

impl<'a> Case<'a> {
    fn new(strategy: &'static str, jobs: (u32, u32), nodes: u32, faults: &[&str]) -> Case<'a> {
        Case {
            strategy,
            jobs,
            pools: pool(&format!("nodesPerIsland: {nodes}"), ""),
            faults: faults.concat(),
            job: NEVER.to_owned(),
            limit: "maxRestarts: 100000".to_owned(),
            annotations: "",
            more: "",
            rest: "",
            checkpoint: "{every: 15m, blocking: 600ms, commitDelay: 1m, restore: 3m}",
            training: "",
            completions: None,
        }
    }

    fn scenario(&self) -> ScenarioSpec {
        let scenario = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: levels}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  currency: USD\n  pools:\n{}jobSets: \
             [{{manifest: jobset.yaml}}]\ntraining: {{step: 6s, checkpoint: {}, initialization: 2m{}}}\ncontrolPlane: {{kubeScheduler: {{ties: InOrder}}}}\nfaultProcesses:\n{}stop: {{at: 20d, when: Time}}\n{}\n",
            self.pools, self.checkpoint, self.training, self.faults, self.rest
        );
        let (jobs, pods) = self.jobs;
        let jobset = format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: train{}}}\nspec:\n  failurePolicy: {{{}, \
             restartStrategy: {}}}\n  replicatedJobs:\n  - name: w\n    replicas: {jobs}\n    template: {{spec: \
             {{parallelism: {pods}, completions: {}, {}}}}}\n{}",
            self.annotations,
            self.limit,
            self.strategy,
            self.completions.unwrap_or(pods),
            self.job,
            self.more
        );
        support::parse(&scenario, &jobset).unwrap_or_else(|e| panic!("{e}"))
    }
}

fn experiment(scenario: &ScenarioSpec) -> NodesExperiment {
    NodesExperiment::new(scenario).unwrap_or_else(|why| panic!("{why}"))
}

/// Returns why level `nodes` refuses a scenario.
fn refused(scenario: &ScenarioSpec) -> String {
    match NodesExperiment::new(scenario) {
        Err(NotAtNodes::Refused(why)) => why.join("\n"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the scenario is not rejected"),
    }
}

fn checked(scenario: &ScenarioSpec, seed: u64, replications: u64) -> Vec<CheckedLevels> {
    let limits = ReplicationLimits::unlimited();
    let all = check_levels(&experiment(scenario), (seed, replications), (2, &limits), &|_| {});
    all.expect("the run succeeds")
}

/// Largest accepted difference of goodput in a replication without a random choice: 0.05 points. Delays of a restart
/// differ by seconds, and each can move the last checkpoint before a failure.
const GOODPUT_TOLERANCE: f64 = 0.000_5;

/// Asserts that both levels have the same restarts and ends in every replication, and nearly the same goodput.
fn assert_equal(name: &str, scenario: &ScenarioSpec, replications: u64) {
    let all = checked(scenario, 7, replications);
    assert_eq!(all.len() as u64, replications);
    let mut restarts = 0;
    for one in &all {
        let (pods, nodes) = (&one.pods.jobsets[0], &one.nodes.jobsets[0]);
        restarts += pods.all_restarts + pods.each.len() as u32;
        let key = |jobset: &sim_analysis::experiment::ReplicatedJobSet| {
            let counted = (jobset.restarts, jobset.restarts_count_towards_max, jobset.restart_budget_used);
            (counted, jobset.terminal_state, jobset.each.len())
        };
        let at = format!("{name}, replication {}", one.pods.replication);
        assert_eq!(key(pods), key(nodes), "{at}: goodput {:?}", one.goodput());
        let [pods, nodes] = one.goodput();
        assert!((pods - nodes).abs() <= 4.0 * GOODPUT_TOLERANCE, "{at}: goodput {pods} and {nodes}");
    }
    assert!(restarts > 5 * replications as u32, "{name}: fewer than 5 restarts per replication");
    let close = |one: &&CheckedLevels| (one.goodput()[0] - one.goodput()[1]).abs() <= GOODPUT_TOLERANCE;
    let close = all.iter().filter(close).count();
    assert!(close * 10 >= all.len() * 9, "{name}: goodput differs in {} of {}", all.len() - close, all.len());
}

/// Asserts that restarts and goodput have the same means at both levels, within four standard errors or a little more
/// than nothing.
fn assert_same_means(name: &str, scenario: &ScenarioSpec, replications: u64) {
    for of in level_differences(&checked(scenario, 7, replications)) {
        let [low, high] = of.difference.ci95;
        let allowed = (high - low) + of.tolerance;
        assert!(of.difference.mean.abs() <= allowed, "{name}: {of:?}");
    }
}

#[test]
fn host_failures_with_free_hosts_restart_equally_at_both_levels() {
    assert_equal("Recreate", &Case::new("Recreate", (1, 8), 12, &[HOST]).scenario(), 12);
    let case = Case::new("BlockingRecreate", (4, 2), 12, &[HOST]);
    assert_equal("BlockingRecreate", &case.scenario(), 12);
}

#[test]
fn waits_for_repair_are_equal_at_both_levels() {
    assert_equal("repair", &Case::new("Recreate", (1, 8), 8, &[REPAIR, EXIT]).scenario(), 12);
}

#[test]
fn spare_nodes_take_over_at_both_levels() {
    let case = Case {
        pools: pool("nodesPerIsland: 2", "example.com/role: spare") + &pool("nodesPerIsland: 8", ""),
        rest: "nodeSpares: {label: example.com/role=spare, takeOver: 5m}",
        ..Case::new("Recreate", (1, 8), 0, &[HOST, EXIT])
    };
    assert_equal("spares", &case.scenario(), 12);
}

/// A node that is partitioned for about as long as the toleration.
#[test]
fn partitioned_nodes_keep_or_lose_their_pods_at_both_levels() {
    let partition = "- {cause: network, mtbf: 10d, does: Partition, backAfter: 5m}\n";
    let case = Case {
        pools: pool("nodesPerIsland: 1", "example.com/role: spare") + &pool("nodesPerIsland: 2", ""),
        rest: "nodeSpares: {label: example.com/role=spare, takeOver: 1m}",
        ..Case::new("BlockingRecreate", (1, 2), 0, &[partition, EXIT])
    };
    for one in checked(&case.scenario(), 7, 20) {
        let [pods, nodes] = one.goodput();
        assert!((pods - nodes).abs() < 0.02, "goodput {pods} and {nodes}");
    }
}

/// Crashed nodes return after 30 s, long before a node that stays away would have failed the JobSet.
#[test]
fn quick_returns_use_up_the_restart_limit_at_both_levels() {
    let reboot = "- {cause: reboot, mtbf: 20000s, backAfter: 30s}\n";
    let case = Case { limit: "maxRestarts: 3".to_owned(), ..Case::new("BlockingRecreate", (1, 2), 2, &[reboot]) };
    for one in checked(&case.scenario(), 7, 10) {
        let states = [&one.pods, &one.nodes].map(|r| r.jobsets[0].terminal_state);
        assert_eq!(states, ["Failed", "Failed"]);
    }
}

/// Scenarios that differ only in rates, limits and a few spares share their measurements. A point of a sweep gives what
/// a run of it gives.
#[test]
fn measurements_are_shared_between_rates_limits_and_spares() {
    let base = Case::new("BlockingRecreate", (4, 2), 12, &[HOST, EXIT]);
    let key = |case: &Case| sim_surrogate::nodes::profile_key(&case.scenario(), 0);
    let faster = Case { faults: HOST.replace("10d", "1d") + EXIT, limit: "maxRestarts: 3".to_owned(), ..base };
    let base = Case::new("BlockingRecreate", (4, 2), 12, &[HOST, EXIT]);
    assert_eq!(key(&base), key(&faster));
    let with_nodes = |nodes: u32| key(&Case::new("BlockingRecreate", (4, 2), nodes, &[HOST, EXIT]));
    assert_eq!(with_nodes(13), with_nodes(18));
    for other in [
        Case::new("Recreate", (4, 2), 12, &[HOST, EXIT]),
        Case::new("BlockingRecreate", (2, 4), 12, &[HOST, EXIT]),
        Case::new("BlockingRecreate", (4, 2), 13, &[HOST, EXIT]),
    ] {
        assert_ne!(key(&base), key(&other));
    }
}

#[test]
fn slices_with_exclusive_placement_are_lost_as_one_at_both_levels() {
    let case = Case {
        pools: pool("count: 6, nodesPerIsland: 4", "example.com/slice: \"s-{pool}\""),
        annotations: ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}",
        ..Case::new("BlockingRecreate", (4, 4), 0, &[SLICE, EXIT])
    };
    assert_equal("slices", &case.scenario(), 8);
}

/// Returns a scenario in which slices fail faster than spares are replaced: slices wait for the same spare, and a
/// restart waits for the replacement after a second fault.
fn slices_with_spares(take_over: &str, seed: u64) -> ScenarioSpec {
    const ALONG: &str = ", takesAlong: {label: example.com/slice}}\n";
    let along = |fault: &str| fault.replace("}\n", ALONG);
    let host =
        "- {cause: host, mtbf: 8d, backAfter: {logNormal: {median: 30m, sigma: 1}}, asNew: true, deletedAfter: 10m}\n";
    let slices = |n: u32, name: &str, more: &str| {
        let labels = format!("example.com/slice: \"{name}-{{pool}}\"{more}");
        let pool = pool(&format!("count: {n}, nodesPerIsland: 4"), &labels);
        pool.replace("name: \"n", &format!("name: \"{name}"))
    };
    let case = Case {
        pools: slices(4, "s", "") + &slices(2, "z", ", example.com/role: spare"),
        annotations: ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}",
        rest: &format!(
            "nodeSpares: {{label: example.com/role=spare, unit: {{label: example.com/slice}}, takeOver: {take_over}}}\n\
             seed: {seed}"
        ),
        ..Case::new("BlockingRecreate", (4, 4), 0, &[&along(host), &along(DRAIN), EXIT])
    };
    case.scenario()
}

#[test]
fn slices_that_wait_for_the_same_spare_wait_as_long_at_both_levels() {
    let replications = support::cases(4, 16);
    for take_over in ["5m", "20m"].into_iter().take(support::cases(1, 2) as usize) {
        let all = checked(&slices_with_spares(take_over, 1), 7, replications);
        let equal = all.iter().filter(|one| one.is_equal()).count() as u64;
        assert!(equal * 4 >= replications * 3, "{take_over}: only {equal} of {replications} replications are equal");
        for one in &all {
            let [pods, nodes] = one.goodput();
            let replication = one.pods.replication;
            assert!((pods - nodes).abs() < 0.01, "{take_over}, {replication}: goodput {pods} and {nodes}");
        }
    }
}

/// Racks of which a few trays are lost: a leader may choose such a rack, and the draw of nodes matters.
#[test]
fn racks_with_a_missing_tray_are_chosen_as_often_at_both_levels() {
    let annotations = ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}";
    let tray =
        "- {cause: tray, mtbf: 30d, backAfter: {logNormal: {median: 4h, sigma: 1}}, asNew: true, deletedAfter: 10m}\n";
    let racks = |racks: u32, trays: u32| Case {
        pools: pool(&format!("count: {racks}, nodesPerIsland: {trays}"), "example.com/slice: \"s-{pool}\""),
        annotations,
        ..Case::new("Recreate", (4, 4), 0, &[tray, EXIT])
    };
    let drawn = |case: Case| {
        let mut scenario = case.scenario();
        scenario.control_plane.ties = sim_api::spec::SchedulerTies::Draw;
        scenario
    };
    let replications = support::cases(10, 16);
    assert_same_means("a spare rack", &drawn(racks(5, 4)), replications);
    assert_same_means("a spare tray per rack", &drawn(racks(4, 5)), replications);
    // Without a choice of domains, which pods wait in their domain is drawn, and an exit of a waiting pod has no
    // effect.
    let no_exits = Case { faults: tray.to_owned(), ..racks(4, 4) };
    assert_equal("no spare", &drawn(no_exits), support::cases(4, 12));
}

/// Several JobSets and replicatedJobs compete for nodes.
#[test]
fn several_jobsets_wait_for_the_same_nodes_at_both_levels() {
    let mut scenario = Case::new("Recreate", (2, 3), 13, &[HOST, EXIT]).scenario();
    let mut other = scenario.jobsets[0].clone();
    other.jobset.name = "other".to_owned();
    scenario.jobsets.push(other);
    let mut training = scenario.training[0].clone();
    training.jobset = 1;
    scenario.training.push(training);
    assert_same_means("two JobSets", &scenario, support::cases(6, 40));
}

/// Random scenarios without a random choice among nodes: outages from seconds to days, policies, spares, exits.
#[test]
fn random_scenarios_have_the_same_restarts_and_goodput() {
    let seeds = match support::number("LEVELS_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            support::number("LEVELS_FROM").unwrap_or(0)
                ..support::number("LEVELS_SEEDS").unwrap_or(support::cases(40, 50))
        }
    };
    let (mut all, mut equal, mut close, mut supported) = (0, 0, 0, 0);
    let mut differing = Vec::new();
    for seed in seeds.clone() {
        let drawn = drawn_scenario(seed);
        if support::number("LEVELS_SEED").is_some() {
            println!("{}\n{}", drawn.scenario, drawn.jobset);
        }
        let scenario = support::parse(&drawn.scenario, &drawn.jobset).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if NodesExperiment::new(&scenario).is_err() {
            continue;
        }
        supported += 1;
        for one in checked(&scenario, scenario.seed, 3) {
            let [pods, nodes] = one.goodput();
            let is_close = (pods - nodes).abs() <= GOODPUT_TOLERANCE;
            all += 1;
            equal += u32::from(one.is_equal());
            close += u32::from(one.is_equal() && is_close);
            if !one.is_equal() || !is_close {
                differing.push(format!("seed {seed}, replication {}: {pods} and {nodes}", one.pods.replication));
            }
        }
    }
    println!("{supported} scenarios, {all} replications: {equal} equal, {close} of them with close goodput");
    // Which pods share a Job with a lost node depends on the order in which they are bound, which is random.
    let differing = differing.join("\n");
    println!("{differing}");
    assert!(supported * 100 >= (seeds.end - seeds.start) * 95, "only {supported} scenarios are accepted");
    assert!(equal * 100 >= all * 97, "{equal} of {all} are equal:\n{differing}");
    assert!(close * 100 >= all * 90, "{close} of {all} are close:\n{differing}");
}

#[test]
fn containers_that_exit_restart_in_place_at_both_levels() {
    let case = Case { job: IN_PLACE.to_owned(), ..Case::new("InPlaceRestart", (2, 4), 8, &[EXIT]) };
    assert_equal("in place", &case.scenario(), 12);
}

/// The Job controller replaces lost pods, and the others hang or wait for them at the barrier.
#[test]
fn lost_pods_restart_all_others_in_place_at_both_levels() {
    let partition = "- {cause: network, mtbf: 10d, does: Partition, backAfter: 5m}\n";
    let case = |jobs, nodes, faults: &[&str]| {
        Case { job: IN_PLACE.to_owned(), ..Case::new("InPlaceRestart", jobs, nodes, faults) }.scenario()
    };
    assert_equal("repair", &case((1, 8), 8, &[REPAIR, EXIT]), 12);
    assert_equal("spares", &case((1, 8), 12, &[HOST, EXIT]), 12);
    assert_equal("drains", &case((1, 8), 10, &[DRAIN, EXIT]), 12);
    assert_equal("partitions", &case((1, 8), 9, &[partition, REPAIR]), 12);
    // The back-off before a replacement grows with the failures of its Job, and which pods are lost is random.
    assert_same_means("two Jobs", &case((2, 4), 8, &[REPAIR, EXIT]), support::cases(6, 24));
}

#[test]
fn maintenance_that_a_rule_ignores_is_not_counted_at_either_level() {
    let case = |limit: String| Case {
        job: format!("{FAIL_ON_DISRUPTION}{NEVER}"),
        limit,
        ..Case::new("Recreate", (1, 8), 10, &[EXIT, DRAIN])
    };
    let limit = "maxRestarts: 100000".to_owned();
    assert_equal("ignored", &case(limit.clone() + IGNORES).scenario(), 8);
    assert_equal("counted", &case(limit).scenario(), 8);
}

#[test]
fn a_limit_of_restarts_that_runs_out_ends_the_jobset_at_both_levels() {
    let recreate = Case::new("Recreate", (1, 8), 10, &[HOST, EXIT]);
    let in_place = Case { job: IN_PLACE.to_owned(), ..Case::new("InPlaceRestart", (2, 4), 8, &[EXIT]) };
    for (case, limit) in [(recreate, 8), (in_place, 6)] {
        let case = Case { limit: format!("maxRestarts: {limit}"), ..case };
        assert_equal("limit", &case.scenario(), 12);
        let failed = checked(&case.scenario(), 7, 6).into_iter();
        let failed = failed.filter(|one| one.nodes.jobsets[0].terminal_state == "Failed");
        assert!(failed.count() >= 4, "the restart limit is reached in most replications");
    }
}

/// Pods that use a port of their node, as those of xpk do.
fn with_port(resources: &str) -> String {
    format!(
        "backoffLimit: 0, template: {{spec: {{restartPolicy: Never, hostNetwork: true, containers: [{{name: w, image: x, \
         ports: [{{containerPort: 8471}}], resources: {{limits: {{{resources}}}}}}}]}}}}"
    )
}

#[test]
fn queue_labels_without_queues_and_ports_of_nodes_change_nothing_at_both_levels() {
    let case = Case {
        job: with_port("a.com/chip: 1"),
        annotations: ", labels: {kueue.x-k8s.io/queue-name: team}",
        ..Case::new("Recreate", (1, 8), 12, &[HOST, EXIT])
    };
    assert_equal("xpk", &case.scenario(), 8);
}

/// Jobs that are created when others are ready do not hold nodes while these wait for theirs.
#[test]
fn jobs_wait_for_those_before_them_in_the_startup_order_at_both_levels() {
    let second = |more: &str, end: &str| {
        format!(
            "  - name: v\n{more}    replicas: 2\n    template: {{spec: {{parallelism: 3, completions: 3, {NEVER}}}}}\n{end}"
        )
    };
    let in_order = second("", "  startupPolicy: {startupPolicyOrder: InOrder}\n");
    let depends = second("    dependsOn: [{name: w, status: Ready}]\n", "");
    for (name, more) in [("InOrder", &in_order), ("dependsOn", &depends)] {
        for strategy in ["Recreate", "BlockingRecreate"] {
            let case = Case { more, ..Case::new(strategy, (1, 2), 8, &[REPAIR, EXIT]) };
            // An exit within the seconds of a restart may hit a pod that is not ready yet at the other level.
            let all = checked(&case.scenario(), 7, 8);
            let differs = |one: &&CheckedLevels| !one.is_equal();
            assert!(all.iter().filter(differs).count() <= 2, "{name}, {strategy}: several replications differ");
            for one in &all {
                let [pods, nodes] = one.goodput();
                assert!((pods - nodes).abs() <= GOODPUT_TOLERANCE, "{name}, {strategy}: goodput {pods} and {nodes}");
            }
        }
    }
}

/// The kubelet restarts containers; the Job fails when there are too many restarts, and a node that is lost takes the
/// count of its pod along.
#[test]
fn containers_that_the_kubelet_restarts_count_towards_the_limit_of_their_job_at_both_levels() {
    let job =
        |limit: u32| NEVER.replace("Never", "OnFailure").replace("backoffLimit: 0", &format!("backoffLimit: {limit}"));
    for limit in [6, 2, 1] {
        let case = Case { job: job(limit), ..Case::new("Recreate", (1, 8), 12, &[EXIT]) };
        assert_equal(&format!("backoffLimit {limit}"), &case.scenario(), 8);
    }
    let case = Case { job: job(2), ..Case::new("Recreate", (1, 8), 12, &[EXIT, HOST]) };
    assert_same_means("lost nodes", &case.scenario(), support::cases(8, 24));
    // A container that exits again soon waits for its back-off.
    let often = "- {cause: software, on: Pod, mtbf: 1h, exitCode: 1}\n";
    let case = Case { job: job(100_000), ..Case::new("Recreate", (1, 2), 2, &[often]) };
    assert_same_means("back-off", &case.scenario(), support::cases(4, 12));
}

#[test]
fn slow_machines_stretch_the_steps_at_both_levels() {
    let slow = "- {cause: slow, does: Slow, factor: 1.5, mtbf: 30d, backAfter: 1d}\n";
    assert_equal("slow", &Case::new("Recreate", (1, 8), 8, &[slow, REPAIR, EXIT]).scenario(), 8);
    let case = Case::new("BlockingRecreate", (1, 8), 12, &[slow, HOST]);
    assert_equal("slow nodes that are left", &case.scenario(), 12);
    let training = |one: &CheckedLevels| one.nodes.jobsets[0].training.as_ref().map(|t| t.time_s.clone());
    let all = checked(&case.scenario(), 7, 2);
    let slow_time = |one| training(one).and_then(|time| time.get("slow").copied()).unwrap_or(0.0);
    assert!(all.iter().any(|one| slow_time(one) > 3_600.0), "{:?}", training(&all[0]));
}

/// Wrong results undo all checkpoints since then. The faulty process exits, or another one if it has ended.
#[test]
fn wrong_results_undo_the_work_since_then_at_both_levels() {
    let wrong = "- {cause: sdc, does: Corrupt, foundAfter: 3h, mtbf: 20d}\n";
    let of_pods = "- {cause: sdc, on: Pod, does: Corrupt, foundAfter: {exponential: {mean: 2h}}, mtbf: 20d}\n";
    assert_equal("nodes", &Case::new("Recreate", (1, 8), 8, &[wrong, REPAIR, EXIT]).scenario(), 8);
    assert_equal("pods", &Case::new("BlockingRecreate", (4, 2), 8, &[of_pods, EXIT]).scenario(), 12);
    let in_place = Case { job: IN_PLACE.to_owned(), ..Case::new("InPlaceRestart", (2, 4), 8, &[of_pods, EXIT]) };
    assert_equal("in place", &in_place.scenario(), 20);
}

/// Pods without a grace period, pods that stop slowly, and pods that wait for the kubelet of an unreachable node hold
/// their nodes as long at both levels. A Job that lacks pods creates them again when nodes come back.
#[test]
fn pods_that_end_at_once_or_late_hold_their_nodes_as_long_at_both_levels() {
    let grace = |seconds: u32| {
        NEVER
            .replace("restartPolicy: Never", &format!("restartPolicy: Never, terminationGracePeriodSeconds: {seconds}"))
    };
    let late = "- {cause: host, mtbf: 9d, backAfter: 4h}\n";
    let case = Case { job: grace(0), ..Case::new("Recreate", (1, 8), 9, &[late, EXIT]) };
    assert_equal("no grace period", &case.scenario(), 20);
    let partition = "- {cause: network, mtbf: 8d, does: Partition, backAfter: 10m}\n";
    for (faults, strategy) in [(partition, "Recreate"), (DRAIN, "Recreate"), (DRAIN, "BlockingRecreate")] {
        let case = Case {
            job: grace(120),
            rest: "timing: {containerStop: 600s}",
            ..Case::new(strategy, (1, 8), 10, &[faults, EXIT])
        };
        assert_same_means(&format!("slow stop, {strategy}, {faults}"), &case.scenario(), support::cases(8, 24));
    }
    let rolling = "- {cause: maintenance, rolling: {}, from: 1h, backAfter: 1h}\n";
    let job = NEVER.replace("backoffLimit: 0", "backoffLimit: 6");
    let case = Case { job, ..Case::new("Recreate", (1, 8), 8, &[rolling, EXIT]) };
    assert_equal("missing pods", &case.scenario(), 20);
}

/// A rule restarts failed Jobs alone, with and without a count towards the limit. The nodes of a Job depend on the
/// order in which Jobs and pods are created, which is random, so that exits free other nodes at the other level.
#[test]
fn single_jobs_restart_alone_at_both_levels() {
    for (action, strategy) in
        [("RestartJob", "Recreate"), ("RestartJobAndIgnoreMaxRestarts", "Recreate"), ("RestartJob", "BlockingRecreate")]
    {
        let limit = format!("maxRestarts: 25, rules: [{{name: one, action: {action}}}]");
        let case = |jobs, nodes, faults: &[&str]| {
            Case { limit: limit.clone(), ..Case::new(strategy, jobs, nodes, faults) }.scenario()
        };
        assert_equal(&format!("{action}, {strategy}, hosts"), &case((8, 1), 12, &[HOST]), 8);
        assert_equal(&format!("{action}, {strategy}, exits"), &case((4, 2), 8, &[EXIT]), 8);
        assert_same_means(&format!("{action}, {strategy}"), &case((4, 2), 12, &[HOST, EXIT]), support::cases(8, 24));
        let slices = Case {
            pools: pool("count: 6, nodesPerIsland: 4", "example.com/slice: \"s-{pool}\""),
            annotations: ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/slice}",
            limit: limit.clone(),
            ..Case::new(strategy, (4, 4), 0, &[SLICE])
        };
        assert_equal(&format!("{action}, {strategy}, slices"), &slices.scenario(), 8);
    }
    let rules =
        "maxRestarts: 100000, rules: [{name: one, action: RestartJob, onJobFailureReasons: [PodFailurePolicy]}]";
    let case = Case {
        job: format!("{FAIL_ON_DISRUPTION}{NEVER}"),
        limit: rules.to_owned(),
        ..Case::new("Recreate", (4, 2), 8, &[EXIT, DRAIN])
    };
    assert_equal("both kinds", &case.scenario(), 8);
}

#[test]
fn unmodelled_features_are_rejected_by_name() {
    let shares = Case { job: with_port("cpu: 1"), ..Case::new("Recreate", (1, 8), 8, &[HOST]) };
    assert!(refused(&shares.scenario()).contains("ports of the node"));
    let replaces = format!("podReplacementPolicy: TerminatingOrFailed, {FAIL_ON_DISRUPTION}{NEVER}");
    let case = Case { job: replaces, ..Case::new("Recreate", (1, 8), 8, &[HOST]) };
    assert!(refused(&case.scenario()).contains("Jobs that the API server refuses"));
    let mut idle = Case::new("Recreate", (1, 8), 8, &[HOST]).scenario();
    idle.training.clear();
    assert!(refused(&idle).contains("without a training job"));
    let fails =
        Case { job: format!("{FAIL_ON_DISRUPTION}{IN_PLACE}"), ..Case::new("InPlaceRestart", (2, 4), 8, &[HOST]) };
    assert!(refused(&fails.scenario()).contains("InPlaceRestart with podFailurePolicy"));
    let worn = "- {cause: gpu, mtbf: 20d, backAfter: 1h, ages: Running}\n";
    let worn = Case::new("Recreate", (1, 8), 8, &[worn]).scenario();
    assert!(refused(&worn).contains("faults \"gpu\": aging with use"));
    let training = ", elastic: {minSlices: 1}";
    let elastic = Case { job: IN_PLACE.to_owned(), training, ..Case::new("InPlaceRestart", (2, 4), 8, &[HOST]) };
    assert!(refused(&elastic.scenario()).contains("elastic jobs (training.elastic) with InPlaceRestart"));
    let more = "  successPolicy: {operator: Any}\n";
    let elastic = Case { training, more, ..Case::new("Recreate", (2, 4), 8, &[HOST]) };
    assert!(refused(&elastic.scenario()).contains("with a successPolicy that does not wait for all Jobs"));
    // The scheduler prefers some nodes to others.
    let labelled = |more: &str| {
        let other = pool("nodesPerIsland: 4", "kind: other").replace("allocatable: {cpu: 8,", more);
        let pools = pool("nodesPerIsland: 8", "") + &other;
        refused(&Case { pools, ..Case::new("Recreate", (1, 8), 0, &[HOST]) }.scenario())
    };
    assert!(labelled("allocatable: {cpu: 64,").contains("different amounts of cpu or memory"));
    assert!(labelled("occupied: {cpu: 6}, allocatable: {cpu: 8,").contains("different amounts of cpu or memory"));
    let taint = |effect: &str| format!("taints: [{{key: old, effect: {effect}}}], allocatable: {{cpu: 8,");
    assert!(labelled(&taint("PreferNoSchedule")).contains("taints PreferNoSchedule"));
    let zones = pool("count: 2, nodesPerIsland: 6", "topology.kubernetes.io/zone: \"z-{pool}\"");
    let case = Case { pools: zones, ..Case::new("Recreate", (1, 8), 0, &[HOST]) };
    assert!(refused(&case.scenario()).contains("nodes in several zones"));
    let later = "containers: [{restartAttempt: 1, startAfter: 10m}]";
    let case = Case { rest: later, ..Case::new("Recreate", (1, 8), 8, &[HOST]) };
    assert!(refused(&case.scenario()).contains("container rules that select restarts or attempts"));
    let tolerates = NEVER.replace(
        "restartPolicy: Never",
        "restartPolicy: Never, tolerations: [{key: old, effect: NoExecute, operator: Exists, tolerationSeconds: 60}]",
    );
    let tainted = pool("nodesPerIsland: 8", "").replace("allocatable: {cpu: 8,", &taint("NoExecute"));
    let case = Case { job: tolerates, pools: tainted, ..Case::new("Recreate", (1, 8), 0, &[HOST]) };
    assert!(refused(&case.scenario()).contains("tolerate for a limited time"));
    for (toleration, words) in [
        ("{operator: Exists}", "taints of cordoned or unreachable nodes"),
        (
            "{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 0}",
            "for less than the 5 s of a monitor period",
        ),
    ] {
        let tolerations = format!("restartPolicy: Never, tolerations: [{toleration}]");
        let job = NEVER.replace("restartPolicy: Never", &tolerations);
        let case = Case { job, ..Case::new("Recreate", (1, 8), 8, &[HOST]) };
        assert!(refused(&case.scenario()).contains(words), "{words}");
    }
    let fatal = EXIT.replace("exitCode: 1", "exitCode: 77");
    let case = Case { job: IN_PLACE.replace("[0]", "[0, 77]"), ..Case::new("InPlaceRestart", (1, 8), 8, &[&fatal]) };
    assert!(refused(&case.scenario()).contains("exits for which no rule restarts the containers"));
    let empty = "  - name: none\n    replicas: 1\n    template: {spec: {parallelism: 0, completions: 0, template: {spec: \
                 {restartPolicy: Never, containers: [{name: c, image: x}]}}}}\n";
    let case = Case { more: empty, ..Case::new("Recreate", (1, 8), 8, &[HOST]) };
    assert!(refused(&case.scenario()).contains("Jobs without pods"));
}

#[test]
fn replications_are_independent_of_other_replications() {
    let subject = ExperimentSubject::Nodes(experiment(&Case::new("Recreate", (1, 8), 12, &[HOST]).scenario()));
    let limits = ReplicationLimits::unlimited();
    let all = subject.replicate((7, 0..20), (2, &limits), &|_| {}).expect("the run succeeds");
    let some = subject.replicate((7, 12..20), (1, &limits), &|_| {}).expect("the run succeeds");
    assert_eq!(all[12..], some);
    assert_ne!(all[0].digest, all[1].digest);
    for replication in &all {
        let sum: f64 = replication.ledger_s.values().sum();
        let installed = 12.0 * replication.end_s;
        assert!((sum - installed).abs() < 1e-3 * installed, "the ledger does not add up: {sum} of {installed}");
        let training = replication.jobsets[0].training.as_ref().expect("the JobSet trains");
        let time: f64 = training.time_s.values().sum();
        assert!((time - replication.end_s).abs() < 1.0, "training time {time} s of {} s", replication.end_s);
    }
}

#[test]
fn measuring_and_replications_that_have_begun_end_when_they_are_stopped() {
    let scenario = Case::new("BlockingRecreate", (2, 2), 5, &[HOST]).scenario();
    let stop = StopFlag::new();
    stop.raise();
    let stopped = NodesExperiment::of_until(&scenario, &[], &stop);
    assert_eq!(stopped.err(), Some(NotAtNodes::Stopped));
    let nodes = experiment(&scenario);
    let mut player = nodes.player();
    let mut run = |stops: &dyn Fn(u64) -> bool| player.run_until(1, MixtureDistribution::single(0), stops);
    let complete = run(&|_| false).expect("the run is not stopped");
    assert!(run(&|faults| faults == 2).is_none());
    let again = run(&|_| false).expect("the run is not stopped");
    assert_eq!(nodes.digest(&complete), nodes.digest(&again));
}
