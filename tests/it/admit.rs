//! `admit`: verdicts on JobSets in a cluster with Workloads, and the smallest changes that admit them.

mod random;

use sim_analysis::admission::{AdmissionReport, JobSetVerdict, WaitEstimate, WaitRequest, admission_report};
use sim_api::spec::TopologySpec;
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_inputs::{SourceText, read_sources, read_topology, scenario_from_manifests};

const DUMP: &str = include_str!("admit/dump.yaml");
const RACKS: &str = include_str!("admit/racks.yaml");
const RACK_NODES: &str = "apiVersion: jobset-sim/v1alpha1
kind: Topology
metadata: {name: racks}
pools:
  - {name: node, count: 2, nodesPerIsland: 2, labels: {pool: gpu, rack: 'r{pool}'},
     accelerator: example.com/gpu, allocatable: {cpu: 8, example.com/gpu: 4}}
";

fn source(file: &str, text: &str) -> SourceText {
    SourceText { file: file.to_owned(), text: text.to_owned() }
}

/// A JobSet in the cluster of the dump: Jobs of four pods with four chips each.
fn jobset(replicas: u32, labels: &str, pod: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: mine\n  namespace: research\n  labels: \
         {{{labels}}}\nspec:\n  replicatedJobs:\n  - name: workers\n    replicas: {replicas}\n    template: {{spec: \
         {{parallelism: 4, completions: 4, backoffLimit: 0, template: {{spec: {{restartPolicy: Never{pod}, containers: \
         [{{name: main, image: \"x:1\", resources: {{limits: {{google.com/tpu: 4, cpu: 1}}}}}}]}}}}}}}}\n"
    )
}

fn report(dump: &str, jobset: &str, topology: Option<TopologySpec>) -> AdmissionReport {
    report_with(dump, jobset, topology, None)
}

fn report_with(
    dump: &str, jobset: &str, topology: Option<TopologySpec>, wait: Option<&WaitRequest>,
) -> AdmissionReport {
    let sources = [source("dump.yaml", dump), source("jobset.yaml", jobset)];
    let manifests = read_sources(&sources, &[]).unwrap_or_else(|e| panic!("{e}"));
    let has_cluster = topology.is_some();
    let loaded = scenario_from_manifests(vec![manifests], topology, &[]).unwrap_or_else(|e| panic!("{e}"));
    admission_report(&loaded.scenario, has_cluster, wait).unwrap_or_else(|e| panic!("{e}"))
}

fn verdict(dump: &str, jobset: &str) -> JobSetVerdict {
    report(dump, jobset, None).job_sets.remove(0)
}

fn changes(verdict: &JobSetVerdict) -> Vec<String> {
    verdict.smallest_changes.iter().map(|remedy| remedy.sentence()).collect()
}

const IN_A: &str = "kueue.x-k8s.io/queue-name: a";
const RAISE: &str = "raise nominalQuota of google.com/tpu in flavor v5e-reserved of ClusterQueue team-a by";

#[test]
fn objects_of_a_cluster_are_read_unmodified_and_hold_their_quota() {
    let one = verdict(DUMP, &jobset(1, IN_A, ""));
    assert_eq!((one.verdict, one.cause, one.cluster_queue.as_str()), ("Admitted", None, "team-a"), "{one:?}");
    assert_eq!(one.pod_sets[0].flavors["google.com/tpu"], "v5e-reserved");
    assert!(one.borrowed.is_empty(), "{one:?}");
    let two = verdict(DUMP, &jobset(2, IN_A, ""));
    let borrowed: Vec<&str> = two.borrowed.iter().map(|b| b.amount.as_str()).collect();
    assert_eq!((two.verdict, borrowed), ("Admitted", vec!["16"]), "{two:?}");
}

#[test]
fn a_jobset_beyond_the_quota_gets_kueues_message_and_the_smallest_changes() {
    let three = verdict(DUMP, &jobset(3, IN_A, ""));
    assert_eq!((three.verdict, three.cause, three.reason.as_str()), ("Pending", Some("quota"), "WaitingForQuota"));
    let missing = "insufficient unused quota for google.com/tpu in flavor v5e-reserved, 16 more needed";
    assert!(three.message.contains(missing), "{}", three.message);
    let expected = [
        "lower replicas of replicatedJob workers from 3 to 2".to_owned(),
        "lower parallelism and completions of replicatedJob workers from 4 to 2".to_owned(),
        format!("{RAISE} 16"),
        "wait for the end of Workload research/jobset-base-1a2b3".to_owned(),
    ];
    assert_eq!(changes(&three), expected);
    let four = verdict(DUMP, &jobset(4, IN_A, ""));
    assert_eq!((four.cause, four.reason.as_str()), (Some("quota"), "ExceedsMaxQuota"));
    assert!(changes(&four).contains(&format!("{RAISE} 32")), "{:?}", changes(&four));
}

#[test]
fn a_higher_priority_class_preempts_and_is_proposed() {
    let dump = DUMP.replace("lendingLimit: \"16\"", "lendingLimit: \"0\"");
    let class = "set the label kueue.x-k8s.io/priority-class: urgent (priority 1000); preempts Workload \
                 research/jobset-base-1a2b3";
    let three = changes(&verdict(&dump, &jobset(3, IN_A, "")));
    assert!(!three.contains(&class.to_owned()), "no preemption helps beyond the capacity: {three:?}");
    let two = changes(&verdict(&dump, &jobset(2, IN_A, "")));
    assert!(two.contains(&class.to_owned()), "{two:?}");
    let urgent = verdict(&dump, &jobset(2, &format!("{IN_A}, kueue.x-k8s.io/priority-class: urgent"), ""));
    let preempted: Vec<(&str, &str)> = urgent.preempted.iter().map(|w| (w.name.as_str(), w.reason.as_str())).collect();
    assert_eq!((urgent.verdict, preempted), ("Admitted", vec![("jobset-base-1a2b3", "InClusterQueue")]));
}

#[test]
fn queues_and_flavors_that_do_not_admit_the_jobset_are_named() {
    let missing = verdict(DUMP, &jobset(1, "kueue.x-k8s.io/queue-name: nowhere", ""));
    assert_eq!((missing.cause, missing.message.as_str()), (Some("queue"), "LocalQueue nowhere doesn't exist"));
    assert_eq!(changes(&missing), ["set the label kueue.x-k8s.io/queue-name: a"]);
    let stopped = DUMP
        .replace("spec: {clusterQueue: team-a, stopPolicy: None}", "spec: {clusterQueue: team-a, stopPolicy: Hold}");
    let held = verdict(&stopped, &jobset(1, IN_A, ""));
    assert_eq!((held.cause, held.message.as_str()), (Some("queue"), "LocalQueue a is inactive"));
    assert!(changes(&held).contains(&"set stopPolicy: None of LocalQueue research/a".to_owned()), "{held:?}");
    let spot = verdict(DUMP, &jobset(1, IN_A, ", nodeSelector: {cloud.google.com/gke-nodepool: spot}"));
    assert_eq!(spot.cause, Some("flavor"), "{spot:?}");
    let toleration = "add a toleration of cloud.google.com/gke-spot=true:NoSchedule to replicatedJob workers";
    assert!(changes(&spot).contains(&toleration.to_owned()), "{:?}", changes(&spot));
}

#[test]
fn a_topology_that_is_too_fragmented_needs_a_free_node_or_a_larger_domain() {
    let topology = read_topology(&source("racks", RACK_NODES)).unwrap_or_else(|e| panic!("{e}"));
    let mine = |pods: u32| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: mine, labels: \
             {{kueue.x-k8s.io/queue-name: lq}}}}\nspec:\n  replicatedJobs:\n  - name: w\n    template: {{spec: \
             {{parallelism: {pods}, completions: {pods}, template: {{metadata: {{annotations: \
             {{kueue.x-k8s.io/podset-required-topology: rack}}}}, spec: {{restartPolicy: Never, containers: \
             [{{name: c, image: \"x:1\", resources: {{limits: {{example.com/gpu: 4}}}}}}]}}}}}}}}\n"
        )
    };
    let fits = report(RACKS, &mine(1), Some(topology.clone())).job_sets.remove(0);
    assert_eq!((fits.verdict, fits.pod_sets[0].domains.len()), ("Admitted", 1), "{fits:?}");
    let verdict = report(RACKS, &mine(2), Some(topology)).job_sets.remove(0);
    assert_eq!((verdict.cause, verdict.reason.as_str()), (Some("topology"), "WaitingForQuota"), "{verdict:?}");
    assert!(verdict.message.contains("allows to fit only 1 out of 2 pod(s)"), "{}", verdict.message);
    let expected = [
        "lower parallelism and completions of replicatedJob w from 2 to 1",
        "prefer rack instead of requiring rack in replicatedJob w",
        "free 1 more node in rack=r0",
        "wait for the end of Workload default/jobset-old-12345",
    ];
    assert_eq!(changes(&verdict), expected);
}

#[test]
fn an_increase_of_the_quota_covers_the_workloads_that_are_ahead() {
    let container = "{name: c, image: i, resources: {requests: {google.com/tpu: 4}}}";
    let pending = format!(
        "- apiVersion: kueue.x-k8s.io/v1beta2\n  kind: Workload\n  metadata: {{name: ahead, namespace: research, \
         uid: ahead, creationTimestamp: \"2026-08-22T08:05:00Z\"}}\n  spec:\n    queueName: a\n    priority: 5\n    \
         podSets: [{{name: w, count: 9, template: {{spec: {{containers: [{container}]}}}}}}]\n"
    );
    let dump = format!("{DUMP}{pending}");
    let verdict = verdict(&dump, &jobset(3, IN_A, ""));
    assert_eq!(verdict.ahead.iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), ["ahead"], "{verdict:?}");
    // 36 of the Workload ahead and 48 of the JobSet, of which 32 are available.
    assert!(changes(&verdict).contains(&format!("{RAISE} 52")), "{:?}", changes(&verdict));
}

#[test]
fn under_admission_fair_sharing_workloads_of_local_queues_with_less_past_usage_are_ahead() {
    let scope = "    admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}\n    flavorFungibility:";
    let shared = DUMP.replace("    flavorFungibility:", scope);
    let pending = "- apiVersion: kueue.x-k8s.io/v1beta2\n  kind: Workload\n  metadata: {name: pending, namespace: \
                   research, uid: pending, creationTimestamp: \"2026-08-22T08:05:00Z\"}\n  spec: {queueName: a, \
                   priority: 5, podSets: [{name: w, count: 9, template: {spec: {containers: [{name: c, image: i, \
                   resources: {requests: {google.com/tpu: 4}}}]}}}]}\n";
    let dump = |consumed_a: u32, consumed_c: u32| {
        let status = |consumed: u32| {
            format!(
                "{{fairSharing: {{weightedShare: 0, admissionFairSharingStatus: {{lastUpdate: \
                 \"2026-08-22T08:10:00Z\", consumedResources: {{google.com/tpu: \"{consumed}\"}}}}}}}}"
            )
        };
        let of_a = shared.replace("{admittedWorkloads: 1, pendingWorkloads: 1}", &status(consumed_a));
        format!(
            "{of_a}{pending}- apiVersion: kueue.x-k8s.io/v1beta2\n  kind: LocalQueue\n  metadata: {{name: c, \
             namespace: research}}\n  spec: {{clusterQueue: team-a}}\n  status: {}\n- apiVersion: \
             config.kueue.x-k8s.io/v1beta2\n  kind: Configuration\n  admissionFairSharing: {{usageHalfLifeTime: \
             168h}}\n",
            status(consumed_c)
        )
    };
    for (consumed_a, consumed_c, expected) in [(100, 0, &[][..]), (0, 100, &["pending"])] {
        let found = verdict(&dump(consumed_a, consumed_c), &jobset(3, "kueue.x-k8s.io/queue-name: c", ""));
        let ahead: Vec<&str> = found.ahead.iter().map(|w| w.name.as_str()).collect();
        assert_eq!((found.verdict, &ahead[..]), ("Pending", expected), "{consumed_a} {consumed_c}: {found:?}");
    }
}

#[test]
fn jobsets_are_submitted_one_after_the_other() {
    let second = jobset(1, IN_A, "").replace("name: mine", "name: second");
    let both = report(DUMP, &format!("{}---\n{second}", jobset(2, IN_A, "")), None);
    let verdicts: Vec<(&str, Option<&str>)> = both.job_sets.iter().map(|v| (v.verdict, v.cause)).collect();
    assert_eq!(verdicts, [("Admitted", None), ("Pending", Some("quota"))]);
    assert!(!both.admitted);
}

/// The pods of each JobSet, as number and CPUs, on six nodes with two CPUs, and the number of draws in which they fit
/// (`None` for all). Small pods are spread over the nodes.
#[test]
fn pods_are_placed_before_the_next_jobset_is_submitted() {
    let queue = DUMP_OF_CPUS;
    let jobset = |(name, (pods, cpu)): (usize, &(u32, u32))| {
        format!(
            "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j{name}, labels: \
             {{kueue.x-k8s.io/queue-name: l}}}}\nspec:\n  replicatedJobs:\n  - name: w\n    template: {{spec: \
             {{parallelism: {pods}, completions: {pods}, backoffLimit: 0, template: {{spec: {{restartPolicy: Never, \
             containers: [{{name: main, image: \"x:1\", resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}}}}}\n"
        )
    };
    let nodes = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: t}\npools:\n  - {name: 'n-{node}', \
                 nodesPerIsland: 6, allocatable: {cpu: 2, memory: 8Gi}}\n";
    for (pods, expected) in [
        (&[(3, 2), (6, 1)][..], &[None, None][..]),
        (&[(6, 1), (3, 2)], &[None, Some(0)]),
        (&[(3, 2), (2, 1), (4, 1)], &[None, None, None]),
        // The pods that find no node do not free those of the others.
        (&[(7, 2), (1, 1)], &[Some(0), Some(0)]),
        (&[(6, 1), (3, 2), (6, 1)], &[None, Some(0), None]),
    ] {
        let jobsets: String = pods.iter().enumerate().map(jobset).collect();
        let topology = read_topology(&source("t.yaml", nodes)).unwrap_or_else(|e| panic!("{e}"));
        let report = report(queue, jobsets.trim_start_matches("---\n"), Some(topology));
        let fitting = report.job_sets.iter().map(|verdict| {
            assert_eq!(verdict.verdict, "Admitted", "{pods:?}: {verdict:?}");
            let nodes = verdict.nodes.as_ref().unwrap();
            let own = format!("JobSet {} ", verdict.name);
            assert!(nodes.blocked.iter().all(|sentence| sentence.starts_with(&own)), "{pods:?}: {nodes:?}");
            (!nodes.fits).then_some(nodes.fitting_draws)
        });
        assert_eq!(fitting.collect::<Vec<_>>(), expected, "{pods:?}");
    }
}

const DUMP_OF_CPUS: &str = "apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 40}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: l, namespace: default}
spec: {clusterQueue: cq}
";

/// Estimates the wait of a JobSet that fits as soon as the Workload `base` has ended, which has quota for 601 s.
fn wait(run_time: Distribution, replications: u64) -> WaitEstimate {
    let request = WaitRequest { run_time, replications, seed: 1, horizon: Duration::from_secs(30 * 86_400) };
    let report = report_with(DUMP, &jobset(3, IN_A, ""), None, Some(&request));
    report.job_sets[0].wait.clone().expect("an estimate")
}

#[test]
fn the_wait_is_the_rest_of_the_run_time_of_the_workload_that_holds_the_quota() {
    let fixed = wait(Distribution::Fixed(Duration::from_secs(4 * 3600)), 10);
    let (rest, retry) = (4.0 * 3600.0 - 601.0, 1.0);
    assert_eq!((fixed.p10, fixed.p50, fixed.p90), (Some(rest + retry), Some(rest + retry), Some(rest + retry)));
    assert_eq!((fixed.admitted, fixed.replications), (1.0, 10));
    // An exponential run time has no memory: the median of the rest is that of the whole.
    let mean_s = 4.0 * 3600.0;
    let drawn = wait(Distribution::Exponential { mean_s }, 400);
    let [Some(low), Some(high)] = drawn.p50_ci95 else { panic!("{drawn:?}") };
    let median = mean_s * std::f64::consts::LN_2 + retry;
    assert!((low..=high).contains(&median), "{drawn:?}");
    assert_eq!(drawn, wait(Distribution::Exponential { mean_s }, 400));
}

const STRICT: &str = include_str!("admit/strict.yaml");

#[test]
fn a_strict_queue_whose_head_tries_its_flavors_in_turn_settles_with_the_answer_of_a_best_effort_queue() {
    let (queues, jobset) = STRICT.split_once("---\napiVersion: jobset").expect("queues and a JobSet");
    let jobset = format!("apiVersion: jobset{jobset}");
    let strict = verdict(queues, &jobset);
    let best_effort = verdict(&queues.replace("StrictFIFO", "BestEffortFIFO"), &jobset);
    assert_eq!((strict.verdict, strict.cause), ("Pending", Some("quota")), "{strict:?}");
    assert_eq!((&strict.message, changes(&strict)), (&best_effort.message, changes(&best_effort)));
    assert_eq!(changes(&strict)[0], "lower replicas of replicatedJob workers from 3 to 2");
}

/// A pending Workload that fits by borrowing has been tried, and is admitted, before a later JobSet exists. In a common
/// cycle, the JobSet would be first because it does not borrow.
#[test]
fn workloads_in_the_queues_are_tried_before_a_new_jobset() {
    let (queues, jobset) = STRICT.split_once("---\napiVersion: jobset").expect("queues and a JobSet");
    let jobset = format!("apiVersion: jobset{jobset}").replace("replicas: 3", "replicas: 1");
    let queues = queues.replace("  namespaceSelector", "  cohortName: lab\n  namespaceSelector");
    assert_eq!(verdict(&queues, &jobset).verdict, "Admitted");
    let waiting = "apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: borrower}
spec:
  cohortName: lab
  namespaceSelector: {}
  resourceGroups:
  - {coveredResources: [e.com/a], flavors: [{name: f2, resources: [{name: e.com/a, nominalQuota: 0}]}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: b}, spec: {clusterQueue: borrower}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: waiting, namespace: default, uid: u, creationTimestamp: 2026-08-22T00:00:00Z}
spec:
  queueName: b
  podSets:
  - {name: w, count: 2, template: {spec: {containers: [{name: m, image: x, resources: {requests: {e.com/a: 4}}}]}}}
";
    let later = verdict(&format!("{queues}---\n{waiting}"), &jobset);
    assert_eq!((later.verdict, later.reason.as_str()), ("Pending", "WaitingForQuota"), "{later:?}");
    assert_eq!(later.admitted_first.iter().map(|w| w.name.as_str()).collect::<Vec<_>>(), ["waiting"]);
    assert!(changes(&later).contains(&"wait for the end of Workload default/waiting".to_owned()), "{later:?}");
}

/// Kueue ends a prebuilt Workload that differs from its JobSet, so that others get its quota.
#[test]
fn a_prebuilt_workload_that_differs_from_its_jobset_ends() {
    let (queues, jobset) = STRICT.split_once("---\napiVersion: jobset").expect("queues and a JobSet");
    let jobset = format!("apiVersion: jobset{jobset}").replace("replicas: 3", "replicas: 1");
    let label = "name: old, labels: {kueue.x-k8s.io/prebuilt-workload-name: pre, ";
    let named = jobset.replace("name: new, labels: {", label);
    let prebuilt = "apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: pre, namespace: default, uid: u, creationTimestamp: 2026-08-22T00:00:00Z}
spec:
  queueName: q
  podSets:
  - {name: w, count: 2, template: {spec: {containers: [{name: m, image: x, resources: {requests: {e.com/a: 4}}}]}}}
status:
  admission:
    clusterQueue: c
    podSetAssignments: [{name: w, count: 2, flavors: {e.com/a: f2}, resourceUsage: {e.com/a: 8}}]
  conditions:
  - {type: QuotaReserved, status: 'True', reason: QuotaReserved, message: m, lastTransitionTime: 2026-08-22T00:01:00Z}
  - {type: Admitted, status: 'True', reason: Admitted, message: m, lastTransitionTime: 2026-08-22T00:01:00Z}
";
    let dump = format!("{queues}---\n{prebuilt}");
    assert_eq!(verdict(&dump, &jobset).verdict, "Pending");
    let both = report(&dump, &format!("{named}---\n{jobset}"), None).job_sets;
    let verdicts: Vec<&str> = both.iter().map(|verdict| verdict.verdict).collect();
    assert_eq!(verdicts, ["Pending", "Admitted"], "{both:?}");
    assert!(both[0].message.contains("the prebuilt Workload pre is out of sync with it"), "{both:?}");
}

/// Ten racks of 18 nodes with four GPUs, and two queues whose pods are placed by topology.
fn in_racks(jobsets: &[String]) -> AdmissionReport {
    let nodes = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: racks}\npools:\n  - {name: \
                 'gb-{pool}-{node:03}', count: 10, nodesPerIsland: 18, labels: {pool: gpu, rack: 'r{pool}'}, \
                 accelerator: example.com/gpu, allocatable: {cpu: 8, example.com/gpu: 4}}\n";
    let topology = read_topology(&source("racks", nodes)).unwrap_or_else(|e| panic!("{e}"));
    let queues = RACKS.split("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload").next().unwrap_or_default();
    let queues = queues.replace("nominalQuota: 100", "nominalQuota: 720");
    report(&queues, &jobsets.join("---\n"), Some(topology))
}

fn rack_job(name: &str, (replicas, pods): (u32, u32), annotations: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}, labels: \
         {{kueue.x-k8s.io/queue-name: lq}}}}\nspec:\n  replicatedJobs:\n  - name: w\n    replicas: {replicas}\n    \
         template: {{spec: {{parallelism: {pods}, completions: {pods}, template: {{metadata: {{annotations: \
         {{{annotations}}}}}, spec: {{restartPolicy: Never, containers: [{{name: c, image: \"x:1\", resources: \
         {{limits: {{example.com/gpu: 4}}}}}}]}}}}}}}}\n"
    )
}

const SLICES: &str = "kueue.x-k8s.io/podset-slice-required-topology: rack, kueue.x-k8s.io/podset-slice-size: \"16\"";

#[test]
fn nodes_are_to_become_free_in_one_rack_and_never_more_than_it_has() {
    let mine = rack_job("mine", (6, 16), SLICES);
    let report = in_racks(&[rack_job("other", (5, 16), SLICES), mine.clone()]);
    let expected = [
        "lower replicas of replicatedJob w from 6 to 5",
        "lower parallelism and completions of replicatedJob w from 16 to 8",
        "free 14 more nodes in rack=r0",
    ];
    assert_eq!(changes(&report.job_sets[1])[..3], expected, "{report:?}");
    assert_eq!(report.job_sets[1].smallest_changes[2].sizes[0].size, 14.0);
    assert!(in_racks(&[rack_job("other", (4, 16), SLICES), mine]).admitted);
    let together = "kueue.x-k8s.io/podset-required-topology: rack";
    let all = changes(&in_racks(&[rack_job("mine", (6, 18), together)]).job_sets[0]);
    let slices = "replace podset-required-topology by podset-slice-required-topology: rack with podset-slice-size: 18 \
                  in replicatedJob w";
    assert!(all.contains(&slices.to_owned()) && !all.iter().any(|change| change.contains("more nodes")), "{all:?}");
}

#[test]
fn a_jobset_that_another_one_preempts_afterwards_is_not_admitted() {
    let dump = DUMP.replace("lendingLimit: \"16\"", "lendingLimit: \"0\"");
    let urgent = jobset(1, &format!("{IN_A}, kueue.x-k8s.io/priority-class: urgent"), "");
    let urgent = urgent.replace("name: mine", "name: urgent");
    let both = report(&dump, &format!("{}---\n{}", jobset(1, IN_A, ""), urgent), None);
    let verdicts: Vec<(&str, Option<&str>)> = both.job_sets.iter().map(|v| (v.verdict, v.cause)).collect();
    let preempts_first = both.job_sets[1].preempted.iter().any(|w| w.name == "mine");
    assert_eq!(preempts_first, verdicts[0] == ("Preempted", Some("quota")), "{both:?}");
    assert_eq!(both.admitted, !preempts_first);
}

/// Five racks of four nodes in a cluster without topology-aware scheduling. In two racks a node is missing.
#[test]
fn where_a_leader_chooses_its_domain_the_share_of_placements_that_fit_is_given() {
    let pool = |name: &str, count: u32, nodes: u32| {
        format!(
            "  - {{name: '{name}-{{node}}', count: {count}, nodesPerIsland: {nodes}, labels: {{rack: '{name}{{pool}}'}}, \
             allocatable: {{cpu: 8, example.com/gpu: 4}}}}\n"
        )
    };
    let nodes = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {{name: racks}}\npools:\n{}{}",
        pool("whole", 3, 4),
        pool("broken", 2, 3)
    );
    let topology = read_topology(&source("racks", &nodes)).unwrap_or_else(|e| panic!("{e}"));
    let queues = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: \
                  kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  namespaceSelector: {}\n  \
                  resourceGroups:\n  - coveredResources: [example.com/gpu]\n    flavors: [{name: f, resources: [{name: \
                  example.com/gpu, nominalQuota: 100}]}]\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: \
                  LocalQueue\nmetadata: {name: lq}\nspec: {clusterQueue: cq}\n";
    let exclusive = "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}, labels:";
    let mine = rack_job("mine", (3, 4), "").replace("labels:", exclusive);
    let own = report(queues, &mine, Some(topology)).job_sets.remove(0);
    let nodes = own.nodes.clone().expect("nodes were examined");
    assert_eq!((own.verdict, own.cause, nodes.draws), ("Admitted", Some("node"), 100), "{own:?}");
    // All three leaders choose whole racks: 1 of 10 placements.
    assert!((3..=20).contains(&nodes.fitting_draws), "{nodes:?}");
    let cordon = "cordon the other 3 nodes of rack=broken0, and cordon the other 3 nodes of rack=broken1";
    assert!(changes(&own).contains(&cordon.to_owned()), "{:?}", changes(&own));
}

/// Two racks of nodes with one GPU, and pods in slices. Kueue places whole slices, so a part of a slice stays gated.
#[test]
fn every_pod_gets_a_domain_with_a_printed_number_of_jobs_or_pods_and_numbers_that_leave_a_part_of_a_slice_fail() {
    let slices = |level: &str, size: u32| {
        let prefix = "kueue.x-k8s.io/podset-slice";
        format!("{prefix}-required-topology: {level}, {prefix}-size: \"{size}\"")
    };
    let layers = "kueue.x-k8s.io/podset-slice-required-topology-constraints: '[{\"topology\": \"rack\", \"size\": 4}, \
                  {\"topology\": \"kubernetes.io/hostname\", \"size\": 2}]'"
        .to_owned();
    let verdict = |nodes: u32, gpus: u32, jobs: (u32, u32), annotations: &str| {
        let topology = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {{name: racks}}\npools:\n  - {{name: \
             'n-{{pool}}-{{node}}', count: 2, nodesPerIsland: {nodes}, labels: {{pool: gpu, rack: 'r{{pool}}'}}, accelerator: \
             example.com/gpu, allocatable: {{cpu: 8, example.com/gpu: {gpus}}}}}\n"
        );
        let topology = read_topology(&source("racks", &topology)).unwrap_or_else(|e| panic!("{e}"));
        let queues = RACKS.split("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload").next().unwrap_or_default();
        let queues = queues.replace("nominalQuota: 100", "nominalQuota: 10000");
        let mine = rack_job("mine", jobs, annotations).replace("example.com/gpu: 4", "example.com/gpu: 1");
        report(&queues, &mine, Some(topology)).job_sets.remove(0)
    };
    let pods = |from: u32, to: u32| format!("lower parallelism and completions of replicatedJob w from {from} to {to}");
    let replicas = |from: u32, to: u32| format!("lower replicas of replicatedJob w from {from} to {to}");
    let pending = ("Pending", Some("topology"));
    let gated = ("Admitted", Some("topology"));
    for (nodes, gpus, jobs, annotations, expected, change) in [
        (4, 1, (1, 12), slices("rack", 4), pending, Some(pods(12, 8))),
        (4, 1, (1, 11), slices("rack", 4), gated, Some(pods(11, 8))),
        (4, 1, (1, 8), slices("rack", 4), ("Admitted", None), None),
        (3, 1, (1, 12), slices("rack", 4), pending, None),
        (4, 1, (6, 2), slices("rack", 4), pending, Some(replicas(6, 4))),
        (4, 1, (3, 2), slices("rack", 4), gated, Some(replicas(3, 2))),
        (6, 1, (5, 3), slices("rack", 6), gated, Some(replicas(5, 4))),
        (6, 1, (6, 3), slices("rack", 6), pending, Some(replicas(6, 4))),
        (2, 2, (1, 7), layers.clone(), gated, Some(pods(7, 4))),
        // More than 64 numbers: bisection among whole slices.
        (100, 1, (1, 240), slices("rack", 3), pending, Some(pods(240, 198))),
    ] {
        let own = verdict(nodes, gpus, jobs, &annotations);
        let context = format!("{nodes} nodes, {jobs:?}, {annotations}: {own:?}");
        assert_eq!((own.verdict, own.cause), expected, "{context}");
        let lower = changes(&own).into_iter().find(|change| change.starts_with("lower"));
        assert_eq!(lower, change, "{context}");
        let blocked = own.nodes.iter().flat_map(|nodes| &nodes.blocked).any(|text| text.ends_with("gated"));
        assert_eq!(blocked, expected == gated, "{context}");
    }
}

/// A number that a webhook refuses is no change: the coordinator is the pod of an index.
#[test]
fn numbers_that_a_webhook_refuses_are_not_proposed_and_more_completions_than_pods_are_kept() {
    let mine = |coordinator: &str, completions: u32| {
        jobset(3, IN_A, "")
            .replace("spec:\n  replicatedJobs", &format!("spec:\n{coordinator}  replicatedJobs"))
            .replace("completions: 4", &format!("completions: {completions}"))
    };
    let lower =
        |jobset: &str| changes(&verdict(DUMP, jobset)).into_iter().find(|change| change.starts_with("lower replicas"));
    let of_job = |index: u32| format!("  coordinator: {{replicatedJob: workers, jobIndex: {index}, podIndex: 0}}\n");
    for (coordinator, expected) in [
        (String::new(), Some("lower replicas of replicatedJob workers from 3 to 2".to_owned())),
        (of_job(1), Some("lower replicas of replicatedJob workers from 3 to 2".to_owned())),
        (of_job(2), None),
    ] {
        assert_eq!(lower(&mine(&coordinator, 4)), expected, "{coordinator}");
    }
}

/// Without Kueue, the pods are placed as those of an admitted JobSet are, and the same changes are tried.
#[test]
fn a_jobset_without_a_queue_gets_the_share_of_placements_and_the_changes_of_its_nodes() {
    let topology = |whole: u32, broken: u32| {
        let pool = |name: &str, count: u32, nodes: u32| {
            format!(
                "  - {{name: '{name}-{{node}}', count: {count}, nodesPerIsland: {nodes}, labels: {{rack: '{name}{{pool}}'}}, \
                 allocatable: {{cpu: 8, example.com/gpu: 4}}}}\n"
            )
        };
        let head = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: racks}\npools:\n";
        let text = [head.to_owned(), pool("whole", whole, 4), pool("broken", broken, 3)].concat();
        read_topology(&source("racks", &text)).unwrap_or_else(|e| panic!("{e}"))
    };
    let label = "labels: {kueue.x-k8s.io/queue-name: lq}";
    let exclusive = "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";
    for (whole, jobs, annotation, expected, some) in [
        (2, (2, 4), exclusive, "cordon the other 3 nodes of rack=broken0", true),
        (
            1,
            (2, 4),
            exclusive,
            "lower replicas of replicatedJob w from 2 to 1, and cordon the other 3 nodes of rack=broken0",
            false,
        ),
        (2, (1, 12), "labels: {}", "lower parallelism and completions of replicatedJob w from 12 to 11", false),
    ] {
        let flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n";
        let own = report(flavor, &rack_job("mine", jobs, "").replace(label, annotation), Some(topology(whole, 1)));
        assert!(!own.admitted);
        let own = &own.job_sets[0];
        assert_eq!((own.verdict, own.cause), ("Unmanaged", Some("node")), "{own:?}");
        let nodes = own.nodes.as_ref().expect("nodes were examined");
        assert_eq!(0 < nodes.fitting_draws && nodes.fitting_draws < nodes.draws, some, "{nodes:?}");
        assert!(changes(own).contains(&expected.to_owned()), "{:?}", changes(own));
    }
}

/// Two racks of two free nodes. Pods without a topology assignment take the resources of their nodes from later
/// assignments, whether Kueue manages their JobSet or not.
#[test]
fn pods_that_the_scheduler_places_take_nodes_from_later_topology_assignments() {
    let queues = RACKS.split("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload").next().unwrap_or_default();
    let group = "resourceGroups: [{coveredResources: [example.com/gpu], flavors: [{name: plain, resources: [{name: \
                 example.com/gpu, nominalQuota: 100}]}]}]";
    let object = |kind: &str, name: &str, spec: &str| {
        format!("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
    };
    let dump = [
        queues.to_owned(),
        object("ResourceFlavor", "plain", "nodeLabels: {pool: gpu}"),
        object("ClusterQueue", "plain", &format!("namespaceSelector: {{}}, {group}")),
        object("LocalQueue", "plain", "clusterQueue: plain"),
    ];
    let (required, preferred) =
        ("kueue.x-k8s.io/podset-required-topology: rack", "kueue.x-k8s.io/podset-preferred-topology: rack");
    let label = "labels: {kueue.x-k8s.io/queue-name: lq}";
    for of_first in ["labels: {}", "labels: {kueue.x-k8s.io/queue-name: plain}"] {
        let both = |first: u32, pods: u32, annotations: &str| {
            let topology = read_topology(&source("racks", RACK_NODES)).unwrap_or_else(|e| panic!("{e}"));
            let plain = rack_job("plain", (1, first), "").replace(label, of_first);
            let mine = rack_job("mine", (1, pods), annotations);
            let mut report = report(&dump.concat(), &format!("{plain}---\n{mine}"), Some(topology));
            assert!(report.job_sets[0].starts(), "{report:?}");
            report.job_sets.remove(1)
        };
        let full = both(1, 4, preferred);
        assert_eq!((full.verdict, full.cause), ("Pending", Some("topology")), "{full:?}");
        assert!(full.message.contains("allows to fit only 3 out of 4 pod(s)"), "{}", full.message);
        assert_eq!(changes(&full)[0], "lower parallelism and completions of replicatedJob w from 4 to 3");
        let beside = both(1, 2, required);
        assert_eq!((beside.verdict, beside.nodes), ("Admitted", None));
        // In one of three placements, the two pods share a rack.
        let drawn = both(2, 2, required);
        let nodes = drawn.nodes.clone().expect("the placement has draws");
        assert_eq!((drawn.verdict, drawn.cause, nodes.draws), ("Pending", Some("topology"), 100), "{drawn:?}");
        assert!((15..=55).contains(&nodes.fitting_draws), "{nodes:?}");
        assert_eq!(changes(&drawn)[0], "lower parallelism and completions of replicatedJob w from 2 to 1");
    }
}

/// Kueue assigns racks of three nodes, not nodes. Of two Jobs with two pods each, the second one gets both racks.
#[test]
fn assigned_domains_of_several_nodes_are_checked_against_exclusive_placement() {
    let nodes = "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {name: racks}\npools:\n  - {name: \
                 'n-{pool}-{node}', count: 2, nodesPerIsland: 3, labels: {pool: gpu, block: b0, rack: 'r{pool}'}, \
                 accelerator: example.com/gpu, allocatable: {cpu: 8, example.com/gpu: 4}}\n";
    let queues = RACKS.split("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload").next().unwrap_or_default();
    let queues = queues
        .replace("{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}", "{nodeLabel: block}, {nodeLabel: rack}");
    let exclusive = "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}, labels:";
    let slices = "podset-slice-required-topology: rack with podset-slice-size: 2 in replicatedJob w";
    for (annotations, change) in [
        ("", format!("set {slices}")),
        ("kueue.x-k8s.io/podset-preferred-topology: rack", format!("replace podset-preferred-topology by {slices}")),
    ] {
        let topology = read_topology(&source("racks", nodes)).unwrap_or_else(|e| panic!("{e}"));
        let mine = rack_job("mine", (2, 2), annotations).replace("labels:", exclusive);
        let own = report(&queues, &mine, Some(topology)).job_sets.remove(0);
        assert_eq!((own.verdict, own.cause), ("Admitted", Some("node")), "{own:?}");
        let blocked = own.nodes.clone().expect("nodes were examined").blocked;
        let sentence = "Kueue assigns the pods of Job mine-w-1 to several domains of rack, such as r0 and r1";
        assert!(blocked.iter().any(|reason| reason.starts_with(sentence)), "{blocked:?}");
        assert!(changes(&own).contains(&change), "{:?}", changes(&own));
    }
}
