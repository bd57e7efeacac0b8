//! Performance tests of Kueue: small generator files whose times follow from rate limits, run times and priorities.

use crate::program::{program, scratch};
use sim_analysis::kueue_load::{LoadOutcome, run_load_test};
use sim_inputs::{SourceText, parse_kueue_load};

/// Time from the end of the last Workload to the end of the test: the status of the ClusterQueue follows after 1 s, and
/// the runner looks every 5 s. The rest is for requests.
const END_S: f64 = 6.5;

struct GeneratorFile<'a> {
    nominal: u32,
    policy: &'static str,
    interval_ms: u32,
    count: u32,
    /// Class, run time in ms, priority and CPUs.
    workloads: Vec<(&'static str, u32, i32, u32)>,
    clients: &'a str,
}

impl GeneratorFile<'_> {
    fn text(&self) -> String {
        let template = |(class, runtime_ms, priority, cpus): &(&str, u32, i32, u32)| {
            format!("{{className: {class}, runtimeMs: {runtime_ms}, priority: {priority}, request: {cpus}}}")
        };
        let templates: Vec<String> = self.workloads.iter().map(template).collect();
        format!(
            "cohorts:\n- className: cohort\n  count: 1\n  queuesSets:\n  - className: cq\n    count: 1\n    \
             nominalQuota: {}\n    withinClusterQueue: {}\n    workloadsSets:\n    - count: {}\n      \
             creationIntervalMs: {}\n      workloads: [{}]\n{}",
            self.nominal,
            self.policy,
            self.count,
            self.interval_ms,
            templates.join(", "),
            self.clients,
        )
    }

    fn run(&self) -> LoadOutcome {
        let source = SourceText { file: "generator.yaml".to_owned(), text: self.text() };
        let test = parse_kueue_load(&source, &[]).unwrap_or_else(|e| panic!("{e}"));
        run_load_test(&test)
    }
}

const ONE_CLASS: GeneratorFile<'static> =
    GeneratorFile { nominal: 100, policy: "Never", interval_ms: 1000, count: 10, workloads: Vec::new(), clients: "" };

fn assert_close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((actual - expected).abs() <= tolerance, "{what}: {actual} instead of {expected} ± {tolerance}");
}

#[test]
fn workloads_that_fit_at_once_are_admitted_after_one_request_and_end_after_their_run_time() {
    let outcome = GeneratorFile { workloads: vec![("small", 5000, 0, 1)], ..ONE_CLASS }.run();
    let class = &outcome.workload_classes["small"];
    assert_eq!((class.count, class.evictions, outcome.cycles), (10, 0, 10));
    // 0.2 ms for the cycle, 20.2 ms for the request, 2 ms for the watch, in whole milliseconds.
    assert_close(class.mean_time_to_observed_admission_s, 0.022, 1e-9, "observed admission");
    // Then the run time, and 22.2 ms until the runner sees the end.
    assert_close(class.mean_time_to_finish_s, 5.044, 1e-9, "end");
    // Ten pauses of 1 s, each followed by a request of 6.0 ms.
    let last_end = 10.0 * 1.006 + 0.002 + class.mean_time_to_finish_s;
    assert!((last_end..last_end + END_S).contains(&outcome.wall_s), "{}", outcome.wall_s);
}

#[test]
fn the_rate_limit_of_each_client_bounds_the_wall_time() {
    let table = [
        ("no limit is reached", "", 0.0),
        // 20 Workloads are created by one client, of which the first request does not wait, and ended by another one.
        ("runner", "runner: {requestsPerSecond: 1, burst: 1}\n", 19.0),
        // Kueue admits 20 Workloads, each with one request, of which the first three do not wait. With a smaller burst,
        // the first status of the ClusterQueue follows after the last creation, and the runner sees no Workload.
        ("manager", "manager: {requestsPerSecond: 1, burst: 3}\n", 17.0),
        ("eight more tokens at the start", "manager: {requestsPerSecond: 1, burst: 11}\n", 9.0),
    ];
    for (name, clients, last_token_s) in table {
        let workloads = vec![("small", 0, 0, 1)];
        let file = GeneratorFile { interval_ms: 0, count: 20, workloads, clients, ..ONE_CLASS };
        let wall_s = file.run().wall_s;
        assert!((last_token_s..last_token_s + END_S).contains(&wall_s), "{name}: {wall_s}");
    }
}

#[test]
fn classes_are_admitted_in_the_order_of_their_priorities() {
    let workloads = vec![("low", 10_000, 50, 1), ("mid", 10_000, 100, 1), ("high", 10_000, 200, 1)];
    let file = GeneratorFile { nominal: 1, interval_ms: 0, count: 3, workloads, ..ONE_CLASS };
    let outcome = file.run();
    // All are created before Kueue observes the first one. One Workload runs at a time for 10 s, and 1 s later the next
    // one is tried.
    let table = [("low", [6, 7, 8]), ("mid", [3, 4, 5]), ("high", [0, 1, 2])];
    for (class, places) in table {
        let row = &outcome.workload_classes[class];
        let mean = 11.0 * f64::from(places.iter().sum::<u32>()) / 3.0;
        assert_eq!((row.count, row.evictions), (3, 0), "{class}");
        assert_close(row.mean_time_to_observed_admission_s, mean, 0.5, class);
        assert_close(row.mean_time_to_finish_s, mean + 10.0, 0.5, class);
    }
    // The status that shows an end is written 1 s after it, when the next Workload is tried, and again when Kueue
    // observes it: the quota seems to be free for the time of one request.
    assert_close(outcome.queue_classes["cq"].usage_percent, 100.0, 1.0, "usage");
}

#[test]
fn before_2026_02_25_waiting_workloads_are_tried_as_soon_as_quota_is_released() {
    // Five Workloads run one after the other for 10 s. Since then, each pause lasts 1 s.
    let cases = [("2026-02-24", 0.0), ("2026-02-25", 1.0)];
    for (day, pause_s) in cases {
        let clients = format!("manager: {{mainBranchOn: {day}}}\n");
        let workloads = vec![("one", 10_000, 0, 1)];
        let file = GeneratorFile { nominal: 1, interval_ms: 0, count: 5, workloads, clients: &clients, ..ONE_CLASS };
        let mean = file.run().workload_classes["one"].mean_time_to_finish_s;
        assert_close(mean, 3.0 * 10.0 + 2.0 * pause_s, 0.4, day);
    }
}

#[test]
fn with_preemption_the_highest_class_never_waits_for_a_lower_one() {
    let workloads = vec![("low", 10_000, 50, 1), ("high", 10_000, 200, 1)];
    let file =
        GeneratorFile { nominal: 1, policy: "LowerPriority", interval_ms: 300, count: 3, workloads, ..ONE_CLASS };
    let outcome = file.run();
    let (low, high) = (&outcome.workload_classes["low"], &outcome.workload_classes["high"]);
    assert_eq!((low.evictions, high.evictions), (1, 0));
    // Created 0.6 s, 1.2 s and 1.8 s after the start; they run for 11 s each, one after the other.
    assert_close(high.mean_time_to_observed_admission_s, 11.0 - 0.6, 0.3, "high");
    let last = low.mean_time_to_finish_s.max(high.mean_time_to_finish_s);
    assert_eq!(last, low.mean_time_to_finish_s, "the low ones end last");
}

#[test]
fn workloads_created_before_the_informers_have_synced_wait_for_them() {
    let file = GeneratorFile { interval_ms: 0, count: 1, workloads: vec![("small", 0, 0, 1)], ..ONE_CLASS };
    let class = &file.run().workload_classes["small"];
    // The runner observes the Workload 0.1 s after the start, Kueue 0.2 s after it; then as above.
    assert_close(class.mean_time_to_observed_admission_s, 0.122, 1e-9, "observed admission");
}

#[test]
fn a_node_is_created_with_five_requests_before_the_queues() {
    let run = |nodes: u32| {
        let clients = format!(
            "topology:\n  name: default\n  levels:\n  - {{name: rack, count: 1, nodeLabel: rack}}\n  - {{name: node, \
             count: {nodes}, nodeLabel: kubernetes.io/hostname, capacity: {{cpu: 96}}}}\n",
        );
        let workloads = vec![("small", 10_000, 0, 1)];
        let file = GeneratorFile { interval_ms: 0, count: 1, workloads, clients: &clients, ..ONE_CLASS };
        file.run().wall_s
    };
    // Each request takes 2.8 ms on 2.3 GHz cores and 1.89 times as long in Kueue's CI.
    assert_close(run(200) - run(100), 100.0 * 5.0 * 0.0028 * 1.89, 1e-6, "100 more nodes");
}

#[test]
fn queues_with_equal_heads_take_turns() {
    let queues = |class: &str, nominal: u32, count: u32| {
        format!(
            "  - {{className: {class}, count: 1, nominalQuota: {nominal}, borrowingLimit: 1, workloadsSets: [{{count: \
             {count}, creationIntervalMs: 0, workloads: [{{className: {class}, runtimeMs: 1000, request: 1}}]}}]}}\n"
        )
    };
    // Two queues borrow the only CPU of a third one.
    let sets =
        [("first", 0, 100), ("second", 0, 100), ("lender", 1, 0)].map(|(class, n, count)| queues(class, n, count));
    let text = format!("cohorts:\n- className: cohort\n  count: 1\n  queuesSets:\n{}", sets.concat());
    let source = SourceText { file: "generator.yaml".to_owned(), text };
    let outcome = run_load_test(&parse_kueue_load(&source, &[]).unwrap_or_else(|e| panic!("{e}")));
    let mean = |class: &str| outcome.workload_classes[class].mean_time_to_finish_s;
    let (first, second) = (mean("first"), mean("second"));
    // 200 run times of 1 s, each followed by a pause of 1 s. If one queue were always first, the means would differ by
    // 200 s.
    assert_close((first + second) / 2.0, 100.5 * 2.0, 6.0, "both");
    assert!((first - second).abs() < 60.0, "{first} {second}");
}

#[test]
fn a_generator_file_on_the_command_line_has_durations_in_the_common_notation_and_rejects_options_without_effect() {
    let workloads = vec![("hours", 4_000_000, 0, 1)];
    let file = GeneratorFile { nominal: 1, count: 2, workloads, ..ONE_CLASS };
    let directory = scratch("kueue-load");
    let path = directory.join("generator.yaml");
    std::fs::write(&path, file.text()).expect("a file");
    let path = path.display().to_string();
    let output = program(&["run", &path]).output().expect("a program");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // The two Workloads run for 1 h 7 min each, one after the other.
    assert!(text.contains("wall time 2 h 13 min,"), "{text}");
    let row = text.lines().find(|line| line.starts_with("hours")).unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains(" 2000 s  ") && row.ends_with(" 1 h 40 min"), "{row}");
    let json = program(&["run", &path, "--format", "json"]).output().expect("a program");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let mean = json["workload_classes"]["hours"]["mean_time_to_finish_s"].as_f64().unwrap_or(0.0);
    assert_close(mean, (4_000.0 + 8_001.0) / 2.0, 2.0, "mean time until the end");
    for option in [&["--seed", "2"][..], &["--seeds", "3"], &["--paranoid"], &["--out", "x"]] {
        let refused = program(&[&["run", &path][..], option].concat()).output().expect("a program");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{option:?}: {message}");
        assert!(message.contains(&format!("{} has no effect", option[0])), "{message}");
    }
    // A file with cohorts and no kind is a generator file, whatever else is wrong with it.
    std::fs::write(&path, "cohorts: 3\n").expect("a file");
    let wrong = program(&["run", &path]).output().expect("a program");
    let message = String::from_utf8_lossy(&wrong.stderr);
    assert!(message.starts_with("error: cohorts must be a list, found the integer 3\n"), "{message}");
    assert_eq!(wrong.status.code(), Some(2), "{message}");
    std::fs::write(&path, file.text()).expect("a file");
    let set = program(&["run", &path, "--set", "manager.requestsPerSecond=-1"]).output().expect("a program");
    let message = String::from_utf8_lossy(&set.stderr);
    assert!(message.contains("manager.requestsPerSecond"), "{message}");
    assert_eq!(set.status.code(), Some(2), "{message}");
    let set = program(&["run", &path, "--set", "manager.mainBranchOn=2026-2-24"]).output().expect("a program");
    let message = String::from_utf8_lossy(&set.stderr);
    assert!(message.contains("\"2026-2-24\" is not a day such as 2026-02-24"), "{message}");
    assert_eq!(set.status.code(), Some(2), "{message}");
    drop(std::fs::remove_dir_all(&directory));
}
