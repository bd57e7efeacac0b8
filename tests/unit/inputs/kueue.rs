//! Objects of Kueue as written and as printed by kubectl.

use sim_api::spec::kueue::{
    FairSharingStrategy, FairWeight, FungibilityPolicy, KueueObjects, PreemptionPolicy, QueueingStrategy, StopPolicy,
};
use sim_base::Duration;
use sim_inputs::SourceText;
use sim_inputs::kueue::{KueueManifests, read_kueue};

fn read(text: &str) -> KueueManifests {
    read_kueue(&[SourceText { file: "kueue.yaml".to_owned(), text: text.to_owned() }])
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(text: &str) -> String {
    let result = read_kueue(&[SourceText { file: "kueue.yaml".to_owned(), text: text.to_owned() }]);
    result.expect_err("errors").0.iter().map(|error| format!("{error}\n")).collect()
}

/// The output of `kubectl get clusterqueues,cohorts,localqueues,resourceflavors,topologies -A -o yaml`.
const LIST: &str = r#"
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata:
    name: research
    uid: 5e0c
    generation: 2
    finalizers: [kueue.x-k8s.io/resource-in-use]
    managedFields: []
  spec:
    cohortName: lab
    queueingStrategy: StrictFIFO
    namespaceSelector: {}
    stopPolicy: Hold
    fairSharing: {weight: 500m}
    flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}
    preemption:
      reclaimWithinCohort: Any
      withinClusterQueue: LowerPriority
      borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}
    admissionChecksStrategy: {admissionChecks: [{name: provision}]}
    resourceGroups:
    - coveredResources: [cpu, google.com/tpu]
      flavors:
      - name: tpu
        resources:
        - {name: cpu, nominalQuota: 1500m, lendingLimit: "1"}
        - {name: google.com/tpu, nominalQuota: 64, borrowingLimit: 8}
  status: {admittedWorkloads: 1, flavorsUsage: []}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Cohort
  metadata: {name: lab}
  spec: {parentName: root}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
  metadata: {name: queue, namespace: team}
  spec: {clusterQueue: research, stopPolicy: None}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ResourceFlavor
  metadata: {name: tpu}
  spec:
    nodeLabels: {pool: tpu}
    topologyName: racks
    nodeTaints: [{key: tpu, value: "true", effect: NoSchedule}]
    tolerations: [{key: tpu, operator: Exists}]
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Topology
  metadata: {name: racks}
  spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: AdmissionCheck
  metadata: {name: provision}
  spec:
    controllerName: kueue.x-k8s.io/provisioning-request
    parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: prov}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ProvisioningRequestConfig
  metadata: {name: prov}
  spec: {provisioningClassName: check-capacity.autoscaling.x-k8s.io}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: WorkloadPriorityClass
  metadata: {name: high}
  value: 1000
"#;

#[test]
fn the_output_of_kubectl_is_read() {
    let KueueManifests { objects, unmodelled, unmodelled_objects, other_objects } = read(LIST);
    let queue = &objects.cluster_queues[0];
    assert_eq!(queue.cohort.as_deref(), Some("lab"));
    assert_eq!(queue.queueing_strategy, QueueingStrategy::StrictFifo);
    assert!(queue.namespace_selector.is_some());
    assert_eq!(queue.stop_policy, StopPolicy::Hold);
    assert_eq!(queue.fair_weight, FairWeight(500_000_000));
    assert_eq!(queue.flavor_fungibility.when_can_borrow, FungibilityPolicy::TryNextFlavor);
    assert_eq!(queue.flavor_fungibility.when_can_preempt, FungibilityPolicy::MayStopSearch);
    assert_eq!(queue.preemption.reclaim_within_cohort, PreemptionPolicy::Any);
    assert_eq!(queue.preemption.borrow_within_cohort.max_priority_threshold, Some(100));
    let quotas = &queue.resource_groups[0].flavors[0].resources;
    assert_eq!((quotas[0].nominal, quotas[0].lending_limit, quotas[0].borrowing_limit), (1500, Some(1000), None));
    assert_eq!((quotas[1].nominal, quotas[1].borrowing_limit), (64_000, Some(8000)));
    assert_eq!(queue.admission_checks[0].name, "provision");
    assert_eq!(objects.cohorts[0].parent.as_deref(), Some("root"));
    assert_eq!(
        (objects.local_queues[0].namespace.as_str(), objects.local_queues[0].cluster_queue.as_str()),
        ("team", "research")
    );
    assert_eq!(objects.flavors[0].topology.as_deref(), Some("racks"));
    assert_eq!((objects.flavors[0].node_taints.len(), objects.flavors[0].tolerations.len()), (1, 1));
    assert_eq!(objects.topologies[0].levels, ["rack", "kubernetes.io/hostname"]);
    assert_eq!(objects.admission_checks[0].controller_name, "kueue.x-k8s.io/provisioning-request");
    assert_eq!(objects.priority_classes[0].value, 1000);
    assert_eq!(unmodelled, [("AdmissionCheck.spec.parameters".to_owned(), 1)]);
    assert_eq!(unmodelled_objects, ["ProvisioningRequestConfig/prov"]);
    assert!(other_objects.is_empty());
}

#[test]
fn v1beta1_is_converted() {
    let old = LIST.replace("v1beta2", "v1beta1").replace("cohortName:", "cohort:");
    let old = old.replace("whenCanPreempt: MayStopSearch", "whenCanPreempt: Preempt");
    let old =
        old.replace("admissionChecksStrategy: {admissionChecks: [{name: provision}]}", "admissionChecks: [provision]");
    assert_eq!(read(&old).objects, read(LIST).objects);
    let text = errors(&LIST.replace("cohortName:", "cohort:"));
    assert!(text.contains("unknown field \"cohort\" in spec"), "{text}");
    assert!(text.contains("cohortName"), "{text}");
}

#[test]
fn defaults_are_those_of_the_api() {
    let queue = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}}";
    let queue = &read(queue).objects.cluster_queues[0];
    assert_eq!(queue.namespace_selector, None);
    assert_eq!(queue.queueing_strategy, QueueingStrategy::BestEffortFifo);
    assert_eq!(queue.flavor_fungibility.when_can_borrow, FungibilityPolicy::MayStopSearch);
    assert_eq!(queue.flavor_fungibility.when_can_preempt, FungibilityPolicy::TryNextFlavor);
    assert_eq!(queue.preemption.within_cluster_queue, PreemptionPolicy::Never);
    assert_eq!(queue.fair_weight, FairWeight(1_000_000_000));
}

#[test]
fn the_configuration_has_the_defaults_of_its_version() {
    let configuration = |version: &str, fields: &str| {
        let text = format!("apiVersion: config.kueue.x-k8s.io/{version}\nkind: Configuration\n{fields}");
        read(&text).objects.configuration
    };
    let new = configuration(
        "v1beta2",
        "manageJobsWithoutQueueName: true\nintegrations: {frameworks: [jobset.x-k8s.io/jobset]}",
    );
    assert!(new.manage_jobs_without_queue_name);
    let wait = new.wait_for_pods_ready.expect("always in force");
    assert_eq!((wait.timeout, wait.recovery_timeout), (Duration::from_secs(1800), Some(Duration::from_secs(1800))));
    assert!(!wait.block_admission);
    assert_eq!(configuration("v1beta1", "").wait_for_pods_ready, None);
    let old = configuration("v1beta1", "waitForPodsReady: {enable: true}\nfairSharing: {enable: true}");
    let wait = old.wait_for_pods_ready.expect("in force");
    assert_eq!(wait.timeout, Duration::from_secs(300));
    assert!(wait.block_admission);
    assert_eq!(old.fair_sharing.expect("in force").len(), 2);
    let fields = "waitForPodsReady: {timeout: 15s, recoveryTimeout: 10s, requeuingStrategy: \
                  {backoffBaseSeconds: 3, backoffLimitCount: 2}}\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\n\
                  resources: {transformations: [{input: gpu, outputs: {credits: 10}}]}";
    let new = configuration("v1beta2", fields);
    let wait = new.wait_for_pods_ready.expect("in force");
    assert_eq!(wait.requeuing.backoff_base, Duration::from_secs(3));
    assert_eq!(wait.requeuing.backoff_limit_count, Some(2));
    assert_eq!(new.fair_sharing, Some(vec![FairSharingStrategy::LessThanInitialShare]));
    assert_eq!(new.resources.transformations[0].outputs["credits"], 10_000_000_000);
    let never = configuration("v1beta2", "waitForPodsReady: {recoveryTimeout: 0s}").wait_for_pods_ready;
    assert_eq!(never.expect("in force").recovery_timeout, None);
}

#[test]
fn the_configuration_is_found_in_the_config_map_of_the_manager() {
    let map = |fields: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: kueue-manager-config}}\ndata:\n  \
             controller_manager_config.yaml: |\n    apiVersion: config.kueue.x-k8s.io/v1beta2\n    \
             kind: Configuration\n    {fields}\n"
        )
    };
    let KueueManifests { objects, unmodelled, .. } =
        read(&map("manageJobsWithoutQueueName: true\n    multiKueue: {gcInterval: 1m}"));
    assert!(objects.configuration.manage_jobs_without_queue_name);
    assert_eq!(unmodelled, [("Configuration.multiKueue".to_owned(), 1)]);
    let text = errors(&map("manageJobsWithoutQueueNames: true"));
    assert!(text.contains("kueue.yaml, controller_manager_config.yaml:3:1"), "{text}");
    assert!(text.contains("manageJobsWithoutQueueName"), "{text}");
}

#[test]
fn refused_objects_are_errors() {
    let cases = [
        ("cohortName: lab", "cohortName: \"\"", "borrowingLimit: must be nil when cohort is empty"),
        ("lendingLimit: \"1\"", "lendingLimit: \"2\"", "lendingLimit: must be less than or equal to the nominalQuota"),
        (
            "[cpu, google.com/tpu]",
            "[google.com/tpu, cpu]",
            "Invalid value: \"cpu\": must match the name in coveredResources",
        ),
        ("[cpu, google.com/tpu]", "[cpu]", "flavors must have the same number of resources as the coveredResources"),
        (
            "reclaimWithinCohort: Any",
            "reclaimWithinCohort: Never",
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
        ),
        (
            "{name: provision}", "{name: provision, onFlavors: [gpu]}",
            "Unsupported value: \"gpu\": supported values: \"tpu\"",
        ),
        ("{weight: 500m}", "{weight: 1n}", "When not 0, weight must be > 10e-9"),
        ("nodeLabels: {pool: tpu}", "nodeLabels: {}", "at least one nodeLabel is required when topology is set"),
        (
            "{nodeLabel: rack}", "{nodeLabel: kubernetes.io/hostname}, {nodeLabel: rack}",
            "can only be used at the lowest level of topology",
        ),
        ("StrictFIFO", "StrictFifo", "spec.queueingStrategy is \"StrictFifo\""),
        ("kind: Cohort\n", "kind: Cohorte\n", "kind Cohorte does not exist in kueue.x-k8s.io/v1beta2"),
        ("clusterQueue: research", "clusterqueue: research", "unknown field \"clusterqueue\" in spec"),
        ("kind: Topology\n", "kind: ResourceFlavor\n", "unknown field \"levels\" in spec"),
        ("metadata: {name: lab}", "metadata: {}", "metadata.name of the Cohort is required"),
    ];
    for (from, to, expected) in cases {
        assert!(LIST.contains(from), "{from}");
        let text = errors(&LIST.replacen(from, to, 1));
        assert!(text.contains(expected), "{to}: {text}");
    }
    let twice = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: a}}\n";
    assert!(errors(&format!("{twice}---\n{twice}")).contains("Cohort \"a\" is defined twice"));
    assert_eq!(read("{apiVersion: v1, kind: Pod, metadata: {name: p}}").objects, KueueObjects::default());
}
