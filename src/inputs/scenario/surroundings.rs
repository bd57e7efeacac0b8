//! Notes about the surroundings of the JobSets that the simulation does not cover: Kueue, and objects that the inputs
//! do not contain.

use crate::acting_keys::{self, FoundKey};
use serde_json::{Value, json};
use sim_api::spec::keys::{KUEUE_QUEUE, TPU_SLICE, TPU_SLICE_TOPOLOGY};
use sim_api::spec::{
    ClaimController, ContainerRule, ContainerSpec, FaultAction, JobSet, NodePool, PodGroupScheduling, PodTerms,
    ProbeTiming, RunningPods, ScenarioSpec, SubmittedJobSet,
};

/// Returns the notes on all JobSets, each with its number of occurrences.
pub fn notes(scenario: &ScenarioSpec) -> Vec<(String, usize)> {
    let of_cluster = existing_workloads(scenario)
        .into_iter()
        .chain(acting_keys::of_namespaces(scenario))
        .chain(acting_keys::of_nodes(scenario));
    let of_cluster = of_cluster.chain(running_pods(scenario)).chain(critical_pods(scenario));
    let mut notes: Vec<(String, usize)> = of_cluster.map(|note| (note, 1)).collect();
    for submitted in &scenario.jobsets {
        let is_admitted = scenario.kueue.as_ref().is_some_and(|kueue| kueue.suspends(&submitted.jobset));
        let queue = queue(scenario, submitted).filter(|_| !is_admitted);
        let queue = queue.into_iter().chain(child_queues(&submitted.jobset));
        let groups = dropped_group(scenario, &submitted.jobset);
        let keys = acting_keys::of_jobset(&submitted.jobset).into_iter();
        let keys = keys.filter(|key| !is_modelled(&submitted.jobset, key)).map(|key| key.describe());
        let probes = failing_probes(scenario, &submitted.jobset);
        let objects = assumed_objects(scenario, &submitted.jobset);
        let systems = operating_systems(scenario, &submitted.jobset);
        for note in systems.into_iter().chain(queue).chain(groups).chain(keys).chain(probes).chain(objects) {
            match notes.iter_mut().find(|(known, _)| *known == note) {
                Some((_, times)) => *times += 1,
                None => notes.push((note, 1)),
            }
        }
    }
    notes
}

/// Returns whether the cluster has the slices that a key requests: exclusive placement by slice needs them.
fn is_modelled(jobset: &JobSet, key: &FoundKey) -> bool {
    let mut jobs = jobset.spec.replicated_jobs.iter();
    key.key == TPU_SLICE_TOPOLOGY
        && jobs.any(|job| job.name == key.replicated_job && jobset.exclusive_key(job) == Some(TPU_SLICE))
}

/// Beginning of the note about Workloads that exist at the start of a run. `admit` starts no jobs.
pub const EXISTING_WORKLOADS: &str = "pods of existing Workloads";

/// The jobs of existing Workloads are known by their Workloads only.
fn existing_workloads(scenario: &ScenarioSpec) -> Option<String> {
    let all = scenario.kueue.iter().flat_map(|kueue| &kueue.workloads);
    let others = all.filter(|w| !w.is_of_any(&scenario.jobsets));
    let note = |count: usize| {
        format!(
            "{EXISTING_WORKLOADS}, {count}: on nodes, they hold what the topology says until their job stops; a job that \
             starts holds quota and topology domains only"
        )
    };
    Some(others.count()).filter(|count| *count > 0).map(note)
}

/// Pods for Windows on nodes whose operating system the inputs do not state.
fn operating_systems(scenario: &ScenarioSpec, jobset: &JobSet) -> Option<String> {
    const OS: &str = "kubernetes.io/os";
    let mut pods = jobset.spec.replicated_jobs.iter().map(|rj| &rj.template.template.spec);
    let has_no_label = |pool: &NodePool| {
        let (listed, nodes) = (pool.nodes.len() as u64, pool.nodes.iter());
        !pool.labels.contains_key(OS)
            && (listed < pool.nodes() || !nodes.clone().all(|node| node.labels.contains_key(OS)))
    };
    let is_assumed = pods.any(|pod| pod.is_windows) && scenario.topology.pools.iter().any(has_no_label);
    is_assumed
        .then(|| format!("nodes without the label {OS}: they run Linux, and their kubelets refuse pods for windows"))
}

/// Running pods of an imported cluster hold resources of their nodes, and nothing else of them is simulated.
fn running_pods(scenario: &ScenarioSpec) -> Vec<String> {
    let RunningPods { all, with_host_ports, with_terms, of_jobsets } = scenario.topology.running_pods;
    let jobsets = || scenario.jobsets.iter().map(|submitted| &submitted.jobset);
    let jobs = || jobsets().flat_map(|jobset| jobset.spec.replicated_jobs.iter().map(move |rj| (jobset, rj)));
    let terms = || jobs().map(|(_, rj)| rj.template.template.spec.terms);
    let needs_ports = terms().any(|terms| terms.host_ports > 0);
    let selects =
        |t: PodTerms| t.required_affinity + t.required_anti_affinity + t.preferred + t.hard_spread + t.soft_spread > 0;
    let is_exclusive = jobs().any(|(jobset, rj)| jobset.webhook_key(rj).is_some());
    let notes = [
        (with_host_ports, needs_ports, "host ports of", "a pod that needs the same port may be placed on their node"),
        (with_terms, true, "affinity terms of", "they neither repel nor attract pods"),
        (all, terms().any(selects), "labels of", "terms and spread constraints of pods do not count them"),
        (of_jobsets, is_exclusive, "labels of JobSets of", "exclusive leaders may be placed in their domains"),
    ];
    let notes = notes.into_iter().filter(|(pods, is_relevant, ..)| *pods > 0 && *is_relevant);
    notes.map(|(pods, _, what, effect)| format!("{what} running pods in the list of nodes, {pods}: {effect}")).collect()
}

/// For a critical pod that does not fit on the node of its `nodeName`, the kubelet evicts pods of lower priority.
fn critical_pods(scenario: &ScenarioSpec) -> Option<String> {
    // SystemCriticalPriority, twice the highest priority of users (pkg/apis/scheduling/types.go).
    const LOWEST_CRITICAL: i32 = 2_000_000_000;
    const CRITICAL: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
    let jobsets = scenario.jobsets.iter().filter_map(|submitted| submitted.jobset.object.as_ref());
    let jobs = jobsets.flat_map(|object| object["spec"]["replicatedJobs"].as_array().into_iter().flatten());
    let templates = jobs.map(|job| &job["template"]["spec"]["template"]["spec"]);
    let pods = scenario.objects.iter().filter(|object| object["kind"] == "Pod").map(|pod| &pod["spec"]);
    let is_critical = |pod: &Value| {
        let class = pod["priorityClassName"].as_str().unwrap_or("");
        pod["nodeName"].is_string()
            && (CRITICAL.contains(&class) || pod["priority"].as_i64() >= Some(i64::from(LOWEST_CRITICAL)))
    };
    templates.chain(pods).any(is_critical).then(|| {
        "eviction of pods by the kubelet for critical pods with nodeName: such a pod is refused if it does not fit"
            .to_owned()
    })
}

/// Resumes the first `count` JobSets if they wait in a queue, as if Kueue, whose objects are missing, admitted them at
/// once. A scenario whose actions send requests or name the JobSet decides itself when the JobSet starts.
pub fn assume_admission(scenario: &mut ScenarioSpec, count: usize) {
    let faults = &scenario.faults;
    for submitted in scenario.jobsets.iter_mut().take(count).filter(|s| s.jobset.kueue_queue().is_some()) {
        let decides = |action: &FaultAction| match action {
            FaultAction::ResumeJobSet(name) | FaultAction::SuspendJobSet(name) => *name == submitted.jobset.name,
            FaultAction::Request(_) => true,
            _ => false,
        };
        if submitted.jobset.spec.suspend && !faults.iter().any(|fault| decides(&fault.action)) {
            submitted.jobset.resume();
        }
    }
}

/// Without its objects, Kueue is not simulated.
fn queue(scenario: &ScenarioSpec, submitted: &SubmittedJobSet) -> Option<String> {
    let queue = submitted.jobset.kueue_queue()?;
    if scenario.kueue.as_ref().is_some_and(|kueue| !kueue.has_integration(&submitted.jobset)) {
        return None;
    }
    let (name, suspended) = (&submitted.jobset.name, submitted.jobset.spec.suspend);
    let mut faults = scenario.faults.iter();
    let resumed = faults.any(|f| matches!(&f.action, FaultAction::ResumeJobSet(n) if n == name));
    let here = match (suspended, resumed) {
        (true, true) => "starts when an action resumes it",
        (true, false) => "stays suspended until an action resumes it",
        (false, _) => "starts immediately",
    };
    Some(format!("Kueue's quota and admission (queue {queue}): JobSet {name} {here}"))
}

/// With a queue on a child template only, Kueue would queue the Jobs or pods one by one.
fn child_queues(jobset: &JobSet) -> impl Iterator<Item = String> {
    let templates = jobset.object.iter().filter(|_| jobset.kueue_queue().is_none());
    let templates = templates.flat_map(|object| object["spec"]["replicatedJobs"].as_array().into_iter().flatten());
    let levels = templates.flat_map(|rj| {
        let job = &rj["template"];
        [("Job", job, rj), ("pod", &job["spec"]["template"], rj)]
    });
    levels.filter_map(|(level, template, rj)| {
        let queue = template["metadata"]["labels"][KUEUE_QUEUE].as_str()?;
        let rj = rj["name"].as_str().unwrap_or("");
        Some(format!(
            "Kueue's quota and admission (queue {queue} on the {level} template of replicatedJob {rj}, not on JobSet \
             {}): the {level}s start immediately",
            jobset.name
        ))
    })
}

/// Without the feature gates, the API server serves no PodGroup and drops the field of the pods.
fn dropped_group(scenario: &ScenarioSpec, jobset: &JobSet) -> Option<String> {
    let is_off = scenario.control_plane.feature_gates.pod_groups == PodGroupScheduling::Off;
    let mut pods = jobset.spec.replicated_jobs.iter().map(|rj| &rj.template.template.spec);
    let uses = is_off && pods.any(|pod| pod.scheduling_group.is_some());
    uses.then(|| {
        format!("schedulingGroup of JobSet {}: dropped, as the feature gates of pod groups are off", jobset.name)
    })
}

/// Startup probes that fail before a rule lets them succeed. The kubelet would kill their containers.
fn failing_probes(scenario: &ScenarioSpec, jobset: &JobSet) -> Vec<String> {
    let mut notes = Vec::new();
    for rj in &jobset.spec.replicated_jobs {
        let spec = &rj.template.template.spec;
        let is_of = |rule: &&ContainerRule| {
            let is_named = |name: &Option<String>, own: &str| name.as_deref().is_none_or(|name| name == own);
            is_named(&rule.jobset, &jobset.name) && is_named(&rule.replicated_job, &rj.name)
        };
        for rule in scenario.containers.iter().filter(is_of).filter(|rule| rule.start_after.is_none()) {
            let Some(ready_after) = rule.ready_after else { continue };
            let named = spec.init_containers.iter().filter(|init| rule.container.as_ref() == Some(&init.name));
            let named: Vec<&ContainerSpec> = named.collect();
            let concerned = if named.is_empty() { spec.containers.iter().collect() } else { named };
            for container in concerned {
                let limit = container.startup_probe.map(ProbeTiming::failure_time);
                if let Some(limit) = limit.filter(|limit| *limit < ready_after) {
                    let note = format!(
                        "failure of the startupProbe of container {} in replicatedJob {} after {limit}: the kubelet \
                         kills the container, which needs {ready_after} (readyAfter); the simulation waits",
                        container.name, rj.name
                    );
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
            }
        }
    }
    notes
}

/// Volumes that kube-scheduler does not let two pods of a node write (`isVolumeConflict`).
const DISKS_OF_ONE_NODE: [&str; 4] = ["gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi"];

/// Objects that the pods need and that the inputs do not contain, and rules about their volumes.
fn assumed_objects(scenario: &ScenarioSpec, jobset: &JobSet) -> Vec<String> {
    let templates = jobset.object.iter().flat_map(|o| o["spec"]["replicatedJobs"].as_array().into_iter().flatten());
    let has_classes = scenario.objects.iter().any(|o| o["kind"] == "PriorityClass");
    let (mut notes, mut disks) = (Vec::new(), Vec::new());
    for (rj, own) in templates.zip(&jobset.spec.replicated_jobs) {
        let pod = &rj["template"]["spec"]["template"]["spec"];
        let pods = u64::from(own.replicas) * u64::from(own.template.pods());
        let mut add = |kind: &str, name: &Value, assumed: &str| {
            if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
                notes.push(format!("{kind} {name}: assumed to exist{assumed}"));
            }
        };
        let (account, class) = (&pod["serviceAccountName"], &pod["priorityClassName"]);
        if scenario.service_accounts.is_empty() && account != "default" {
            add("ServiceAccount", account, "");
        }
        if !has_classes && !class.as_str().is_some_and(|name| name.starts_with("system-")) {
            add("PriorityClass", class, ", with the value of priority");
        }
        for volume in pod["volumes"].as_array().into_iter().flatten() {
            for kind in DISKS_OF_ONE_NODE.iter().filter(|kind| volume[**kind].is_object()) {
                disks.push(format!("conflicts of pods on one node that mount the same {kind} (VolumeRestrictions)"));
            }
            if volume["ephemeral"].is_object() {
                let text = "assumed to exist, and to be bound at once";
                disks.push(format!("the claims of ephemeral volumes of replicatedJob {}: {text}", own.name));
            }
            let claim = &volume["persistentVolumeClaim"]["claimName"];
            let is_claim = |o: &Value| o["kind"] == "PersistentVolumeClaim" && o["metadata"]["name"] == *claim;
            let is_simulated = scenario.claim_controller == ClaimController::Simulated;
            let known = scenario.objects.iter().find(|object| is_claim(object));
            let is_of_one_node = known.is_some_and(|known| known["spec"]["accessModes"] == json!(["ReadWriteOnce"]));
            if is_of_one_node && pods > 1 {
                disks.push(format!(
                    "attachment of the ReadWriteOnce PersistentVolumeClaim {} to one node (Multi-Attach error): all {pods} \
                     pods of replicatedJob {} start, also on several nodes",
                    claim.as_str().unwrap_or(""),
                    own.name
                ));
            }
            if is_simulated || known.is_some() {
                continue;
            }
            add("PersistentVolumeClaim", claim, " and to be mountable on every node, whatever its access mode");
        }
    }
    notes.append(&mut disks);
    notes
}
