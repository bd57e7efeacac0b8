//! Copies of JobSets that fit on a cluster, the quality of their placement, and the loss of failure domains.

use crate::program::{program, scratch};
use crate::support;
use sim_analysis::capacity::{BlastEffect, BlastRow, FitResult, blast_radius, fit};
use sim_api::spec::ScenarioSpec;
use sim_base::Duration;

/// Racks of two nodes with one accelerator each.
fn scenario(racks: u32, jobset: &str) -> ScenarioSpec {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools: [{{name: node, count: {racks}, \
         nodesPerIsland: 2, labels: {{rack: \"r{{pool}}\"}}, accelerator: example.com/gpu, allocatable: {{cpu: 9, \
         example.com/gpu: 1}}}}]\n\
         jobSets: [{{manifest: jobset.yaml}}]\nseed: 1\n"
    );
    support::parse(&scenario, jobset).unwrap_or_else(|e| panic!("{e}"))
}

fn replicated_job(name: &str, replicas: u32, pods: u32, more: &str) -> String {
    format!(
        "  - name: {name}\n    replicas: {replicas}\n{more}    template: {{spec: {{parallelism: {pods}, completions: \
         {pods}, backoffLimit: 0, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: \"x:1\", \
         resources: {{limits: {{example.com/gpu: 1}}}}}}]}}}}}}}}\n"
    )
}

fn jobset(name: &str, annotations: &str, rjs: &str) -> String {
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}{annotations}}}\nspec:\n  \
         failurePolicy: {{maxRestarts: 3}}\n  replicatedJobs:\n{rjs}"
    )
}

const EXCLUSIVE: &str = ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}";

fn copies(scenario: &ScenarioSpec) -> FitResult {
    fit(scenario, 50).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn without_constraints_as_many_copies_fit_as_there_are_nodes_for() {
    for pods in 1..=9 {
        let result = copies(&scenario(4, &jobset("js", "", &replicated_job("w", 1, pods, ""))));
        assert_eq!((result.copies, result.at_limit), (u64::from(8 / pods), false), "{pods} pods");
        let islands = &result.placement.groups[0];
        assert_eq!((islands.level.as_str(), islands.groups, islands.before.nodes), ("island", 4, 8));
        assert_eq!(islands.after.nodes as u32, 8 % pods, "{pods} pods");
        let [pending] = &result.pending[..] else { panic!("{:?}", result.pending) };
        assert!(pending.explanation.message.starts_with("0/8 nodes are available"), "{pending:?}");
        assert!(result.blocked[0].contains("cannot be scheduled: 0/8 nodes are available"), "{:?}", result.blocked);
    }
}

/// A Job that reaches its deadline, or that is not resumed, would leave its nodes to the next copies.
#[test]
fn neither_deadlines_of_jobs_nor_a_suspension_make_room_for_more_copies() {
    let plain = jobset("js", "", &replicated_job("w", 1, 3, ""));
    let queued = jobset("js", ", labels: {kueue.x-k8s.io/queue-name: q}", &replicated_job("w", 1, 3, ""));
    for (change, text) in [
        ("none", plain.clone()),
        ("a deadline", plain.replace("backoffLimit: 0", "backoffLimit: 0, activeDeadlineSeconds: 3600")),
        ("a suspension", plain.replace("spec:\n", "spec:\n  suspend: true\n")),
        ("a queue", queued.replace("spec:\n", "spec:\n  suspend: true\n")),
    ] {
        let result = copies(&scenario(4, &text));
        assert_eq!((result.copies, result.placement.groups[0].after.nodes), (2, 2), "{change}");
    }
}

#[test]
fn with_exclusive_placement_each_job_of_each_copy_takes_a_domain() {
    for (jobs, expected) in [(1, 4), (2, 2), (3, 1), (5, 0)] {
        let result = copies(&scenario(4, &jobset("js", EXCLUSIVE, &replicated_job("w", jobs, 1, ""))));
        assert_eq!(result.copies, expected, "{jobs} Jobs");
        if let (Some(pending), Some(sentence)) = (result.pending.first(), result.blocked.first()) {
            assert!(sentence.contains(&format!("pod {} ", pending.pods[0])), "{sentence}: {:?}", pending.pods);
        }
        let racks = &result.placement.groups[0];
        assert_eq!(racks.key, "rack");
        let used = expected as usize * jobs as usize;
        assert_eq!((racks.after.whole_groups, racks.after.stranded), (4 - used, used), "{jobs} Jobs");
        assert_eq!(racks.spread.groups, used);
    }
}

#[test]
fn the_search_ends_at_its_limit() {
    let result = fit(&scenario(4, &jobset("js", "", &replicated_job("w", 1, 1, ""))), 3).expect("it runs");
    assert_eq!((result.copies, result.at_limit, result.blocked.len()), (3, true, 0));
}

#[test]
fn a_job_that_must_be_complete_frees_its_nodes_for_the_others() {
    let depends = "    dependsOn: [{name: prepare, status: Complete}]\n";
    let rjs = replicated_job("prepare", 1, 4, "") + &replicated_job("w", 1, 4, depends);
    let result = copies(&scenario(4, &jobset("js", "", &rjs)));
    assert_eq!(result.copies, 2, "{:?}", result.blocked);
}

#[test]
fn suspended_jobsets_and_long_names_are_copied() {
    let name = "a-name-that-leaves-nearly-no-room-for-the-pods";
    let text = jobset(name, "", &replicated_job("w", 1, 2, ""))
        .replace("spec:\n  failure", "spec:\n  suspend: true\n  failure");
    assert_eq!(copies(&scenario(3, &text)).copies, 3);
}

fn blast(racks: u32, deleted_after: Duration) -> Vec<BlastRow> {
    let scenario = scenario(racks, &jobset("js", EXCLUSIVE, &replicated_job("w", 2, 2, "")));
    blast_radius(&scenario, deleted_after).expect("it runs").expect("it fits")
}

fn seconds(row: &BlastRow) -> f64 {
    match &row.effect {
        BlastEffect::Restart { seconds } => *seconds,
        other => panic!("{other:?}"),
    }
}

#[test]
fn with_a_spare_rack_the_loss_of_a_rack_is_a_restart_and_that_of_a_node_leaves_too_few_nodes_to_a_leader() {
    let deleted = Duration::from_secs(300);
    let rows = blast(3, deleted);
    let row = |row: &BlastRow| (row.level.clone(), row.domains, row.nodes, row.accelerators, row.stopped_accelerators);
    let expected = [("node", 4, 1, 1, 4), ("node", 2, 1, 1, 0), ("island", 2, 2, 2, 4), ("island", 1, 2, 2, 0)];
    let expected =
        expected.map(|(level, domains, nodes, own, stopped)| (level.to_owned(), domains, nodes, own, stopped));
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    assert_eq!((&rows[1].effect, &rows[3].effect), (&BlastEffect::Nothing, &BlastEffect::Nothing));
    // The leader takes the remaining node of the rack, and its follower finds none there (EXC-19).
    let BlastEffect::Blocked { reason } = &rows[0].effect else { panic!("{:?}", rows[0]) };
    assert!(reason.contains("4 node(s) didn't match Pod's node affinity/selector"), "{reason}");
    // The pods on a lost node end when its Node object is deleted.
    let lasts = seconds(&rows[2]);
    assert!((300.0..360.0).contains(&lasts), "{lasts}");
    let later = blast(3, Duration::from_secs(900));
    assert!(seconds(&later[2]) > lasts + 599.0);
}

#[test]
fn without_a_spare_rack_the_loss_of_a_node_blocks_the_jobset() {
    let rows = blast(2, Duration::from_secs(300));
    for row in &rows {
        let BlastEffect::Blocked { reason } = &row.effect else { panic!("{row:?}") };
        assert!(reason.starts_with("JobSet js is not ready again: pod js-w-"), "{reason}");
        assert_eq!((row.job_sets[0].name.as_str(), row.stopped_accelerators), ("js", 4));
    }
}

/// Runs a command on a shipped topology, and returns its output.
fn shown(words: &[&str]) -> String {
    let output = program(words).output().expect("the program runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn fields_of_the_topology_can_be_set_for_a_placement_and_for_failure_domains() {
    let file = "scenarios/manifests/exclusive-workers.yaml";
    let set = ["--set", "topology.pools[0].count=6"];
    let place = [&["topology", "show", "small-16", "--place", file], &set[..]].concat();
    assert!(shown(&place).contains("3 of 6 used"));
    let blast = [&["topology", "show", "small-16", "--blast", "-f", file], &set[..]].concat();
    assert!(shown(&blast).contains("24"), "{}", shown(&blast));
    let plain = program(&[&["topology", "show", "small-16"], &set[..]].concat()).output().expect("the program runs");
    let text = String::from_utf8_lossy(&plain.stderr);
    assert!(plain.status.code() == Some(2) && text.contains("--place"), "{text}");
}

#[test]
fn every_shipped_topology_is_drawn_with_its_islands() {
    for topology in sim_inputs::topology_names() {
        let svg = shown(&["topology", "show", topology, "--format", "svg"]);
        assert!(svg.starts_with("<svg") && svg.contains(topology) && svg.len() < 300_000, "{topology}: {}", svg.len());
    }
    let svg = shown(&["topology", "show", "tpu7x-5000", "--format", "svg"]);
    for name in ["cube-a-000", "cube-c-103", "torus 4 (ring) x 4 (ring) x 4 (ring)"] {
        assert!(svg.contains(name), "{name}");
    }
}

#[test]
fn each_job_is_placed_in_a_formed_slice_of_its_own() {
    let slices = "topology.slices=[{name: a, shape: 4x4x8, cubes: [cube-a-000, cube-a-002]}, \
                  {name: b, shape: 4x4x8, cubes: [cube-b-000, cube-b-001]}]";
    let annotation = EXCLUSIVE.replace("rack", "cloud.google.com/gke-tpu-slice");
    let pods = replicated_job("w", 2, 32, "").replace("example.com/gpu: 1", "google.com/tpu: 4");
    let dir = scratch("slices");
    let file = dir.join("jobset.yaml");
    std::fs::write(&file, jobset("js", &annotation, &pods)).expect("a writable directory");
    let file = file.to_str().expect("UTF-8");
    let text = shown(&["topology", "show", "tpu7x-5000", "--place", file, "--set", slices]);
    assert!(text.contains("cloud.google.com/gke-tpu-slice: 2 of 2 used"), "{text}");
    let run = shown(&["run", "-f", file, "-t", "tpu7x-5000", "--set", slices, "--format", "json"]);
    assert!(
        run.contains("topology.slices: a slice that lost a cube is not formed again without sliceFormation"),
        "{run}"
    );
    let refused = program(&["run", "-f", file, "-t", "tpu7x-5000"]).output().expect("the program runs");
    let text = String::from_utf8_lossy(&refused.stderr).replace("\n  ", " ");
    assert!(refused.status.code() == Some(4) && text.contains("`slices` of the topology"), "{text}");
    std::fs::remove_dir_all(dir).expect("the directory exists");
}

/// Times and values of one kind of groups in `fragmentation.csv`: free, whole, largest, stranded.
fn fragmentation_rows(csv: &str, groups: &str) -> Vec<(f64, [usize; 4])> {
    let rows = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<&str>>());
    let number = |cell: &str| cell.parse::<usize>().expect("a number");
    let values = |row: &Vec<&str>| [2, 3, 4, 5].map(|at| number(row[at]));
    rows.filter(|row| row[1] == groups).map(|row| (row[0].parse().expect("a time"), values(&row))).collect()
}

#[test]
fn a_run_directory_has_the_free_nodes_over_time() {
    let dir = scratch("fragmentation");
    let target = dir.join("run");
    let manifest = "scenarios/manifests/exclusive-workers.yaml";
    let words = ["run", "-f", manifest, "-t", "small-16", "--out", target.to_str().expect("UTF-8")];
    let ends = ["--set", "containers=[{replicatedJob: workers, runFor: 1h}]"];
    shown(&[&words[..], &ends].concat());
    let csv = std::fs::read_to_string(target.join("fragmentation.csv")).expect("the file");
    let rows = fragmentation_rows(&csv, "island");
    let (first, last) = (rows[0], rows[rows.len() - 1]);
    assert_eq!((first, last.1), ((0.0, [16, 4, 4, 0]), [16, 4, 4, 0]), "{csv}");
    // While all pods run, three of the four islands are used as a whole, as in `topology show --place`.
    assert!(rows.iter().any(|(_, values)| *values == [4, 1, 4, 0]), "{csv}");
    // Each row differs from the previous one, and the values agree: 4 nodes per island.
    assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1), "{csv}");
    assert!(rows.iter().all(|(_, [free, whole, largest, stranded])| {
        *free == 4 * whole + stranded && *largest <= 4 && (*whole == 0 || *largest == 4)
    }));
    assert_eq!(fragmentation_rows(&csv, "zone").len() + rows.len() + 1, csv.lines().count(), "{csv}");
    std::fs::remove_dir_all(dir).expect("the directory exists");
}
