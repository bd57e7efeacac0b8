//! Ages that advance with use: the same lifetimes as in calendar time, measured by another clock.

use super::*;
use sim_api::spec::SchedulerTies;
use sim_base::SimTime;
use sim_engine::record::{Body, EndReason, RecordNames, RecordSink, RunOutcome, SimulationRecord};
use std::collections::BTreeMap;

/// Records the scripted actions that occurred, with their times.
#[derive(Default)]
struct Came(Vec<(SimTime, u32)>);

impl RecordSink for Came {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        if let Body::Fault { index, .. } = record.body {
            self.0.push((record.at, index));
        }
    }
}

fn play(scenario: &ScenarioSpec, seed: u64) -> (ScenarioSpec, Came, RunOutcome) {
    let (drawn, mut came) = (draw_faults(scenario, seed, 0), Came::default());
    let mut simulation = support::simulation(&drawn);
    simulation.set_paranoid(true);
    let outcome = simulation.run(seed, 0, &mut came);
    (drawn, came, outcome)
}

/// Returns the actions that occurred, one line each: the time in hours, the action, and its node or pod.
fn action_lines(scenario: &ScenarioSpec) -> Vec<String> {
    let (drawn, came, _) = play(scenario, 1);
    let line = |(at, index): &(SimTime, u32)| {
        use FaultAction::*;
        let (word, name) = match &drawn.faults[*index as usize].action {
            CrashNode(n) => ("crash", n.name.as_deref()),
            PartitionNode(n) => ("partition", n.name.as_deref()),
            ReturnNode(n) => ("return", n.name.as_deref()),
            NewNode(n) => ("new", n.name.as_deref()),
            DeleteNode(n) => ("delete", n.name.as_deref()),
            DrainNode(n) => ("drain", n.name.as_deref()),
            CordonNode(n) => ("cordon", n.name.as_deref()),
            UncordonNode(n) => ("uncordon", n.name.as_deref()),
            ContainerExit { pod, .. } => ("exit", Some(pod.as_str())),
            other => panic!("{other:?}"),
        };
        let hours = at.seconds() / 3600.0;
        format!("{hours:.1}h {word} {}", name.unwrap_or_default())
    };
    came.0.iter().map(line).collect()
}

/// Every lifetime has the same length, so failures occur exactly at that age.
const EVERY: &str = "distribution: {empirical: [1]}";

#[test]
fn lifetimes_are_equal_by_use_and_by_calendar_under_every_policy() {
    let one = "- {cause: host, mtbf: 5h, backAfter: 0s, lemons: {share: 0.3, factor: 3, healed: 0.5}";
    let (calendar, used) = (format!("{one}}}\n"), format!("{one}, ages: Running}}\n"));
    let named = |f: &ScriptedFault| match &f.action {
        FaultAction::CrashNode(n) => n.name.clone(),
        _ => None,
    };
    let mut by_calendar: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    for fault in &draw_faults(&scenario(10, "100h", &calendar), 3, 5).faults {
        if let Some(node) = named(fault) {
            by_calendar.entry(node).or_default().push(at(fault));
        }
    }
    let ages = |scenario: &ScenarioSpec| {
        let mut by_age: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        for fault in &draw_faults(scenario, 3, 5).faults {
            if let (Some(node), FaultTime::AtUsageAge { age, .. }) = (named(fault), fault.at) {
                by_age.entry(node).or_default().push(age);
            }
        }
        by_age
    };
    assert_eq!(by_calendar.len(), 10);
    let used = scenario(10, "100h", &used);
    assert_eq!(ages(&used), by_calendar);
    let mut other_policy = used.clone();
    other_policy.jobsets[0].jobset.spec.failure_policy = None;
    assert_eq!(ages(&other_policy), by_calendar);
}

/// Renewal theorem: a node that is in use for a share u of the time fails at u times its rate.
#[test]
fn a_node_fails_at_its_rate_times_the_share_of_time_in_which_it_is_used() {
    let count = |ages: &str, hours_on: u64| {
        let mut script = "faults:\n".to_owned();
        for period in 0..50 {
            let (from, to) = (40 * period + hours_on, 40 * (period + 1));
            script += &format!(
                "- {{at: {from}h, suspendJobSet: {{name: train}}}}\n- {{at: {to}h, resumeJobSet: {{name: train}}}}\n"
            );
        }
        if hours_on == 40 {
            script.clear();
        }
        let process = format!("- {{cause: host, mtbf: 50h, backAfter: 0s{ages}}}\n");
        let rest = format!("{script}faultProcesses:\n{process}");
        let text = text(8, "2000h", &rest).replace("{at: 2000h}", "{at: 2000h, when: Time}");
        let scenario = support::parse(&text, JOBSET).unwrap_or_else(|e| panic!("{e}"));
        let drawn = draw_faults(&scenario, 7, 0);
        let mut came = Came::default();
        support::simulation(&drawn).run(7, 0, &mut came);
        let crash = |(_, i): &&(SimTime, u32)| matches!(drawn.faults[*i as usize].action, FaultAction::CrashNode(_));
        came.0.iter().filter(crash).count() as f64
    };
    let all: f64 = 8.0 * 2000.0 / 50.0;
    for (ages, hours_on, share) in
        [("", 20, 1.0), (", ages: Running", 40, 1.0), (", ages: Running", 20, 0.5), (", ages: Running", 8, 0.2)]
    {
        let (actual, expected): (f64, f64) = (count(ages, hours_on), all * share);
        let error = 3.0 * expected.sqrt();
        assert!((actual - expected).abs() < error, "{ages} {hours_on}: {actual} failures, expected {expected}");
    }
}

#[test]
fn ages_survive_restarts_of_the_job_and_stay_with_the_node() {
    // The whole JobSet restarts at 5 h. The pod's age of ten hours includes the time before the restart.
    let restarted = scenario(
        8,
        "19h",
        &format!(
            "- {{cause: bug, on: Pod, mtbf: 10h, {EVERY}, ages: Running}}\n\
            faults: [{{at: 5h, containerExit: {{pod: train-w-0-1}}}}]\n"
        ),
    );
    let first = action_lines(&restarted);
    assert_eq!(first[0], "5.0h exit train-w-0-1");
    assert!(first[1].starts_with("10.0h exit train-w-"), "{first:?}");
    // Eight pods move at 4 h from eight of the sixteen nodes to the others, and back when those fail.
    let cordoned: String = (0..8)
        .map(|n| format!("- {{at: 4h, drainNode: {{node: n-00{n}}}}}\n- {{at: 5h, uncordonNode: {{node: n-00{n}}}}}\n"))
        .collect();
    let mut moved = scenario(
        16,
        "23h",
        &format!("- {{cause: host, mtbf: 10h, {EVERY}, deletedAfter: 1m, ages: Running}}\nfaults:\n{cordoned}"),
    );
    // Which nodes are free decides which pods move.
    moved.control_plane.ties = SchedulerTies::InOrder;
    moved.jobsets[0].jobset.spec.failure_policy.as_mut().unwrap().max_restarts = 1_000_000;
    let crashes: Vec<String> = action_lines(&moved).into_iter().filter(|line| line.contains("crash")).collect();
    let on = |hour: &str| -> Vec<&String> { crashes.iter().filter(|l| l.starts_with(hour)).collect() };
    assert!(!on("14.").is_empty(), "no failure ten hours after the move: {crashes:?}");
    assert!(!on("20.").is_empty(), "no failure after the remaining six hours: {crashes:?}");
    assert!(crashes.iter().all(|l| ["14.", "20."].iter().any(|hour| l.starts_with(hour))), "{crashes:?}");
}

#[test]
fn bound_pods_age_before_running_if_configured() {
    let first = |ages: &str| {
        let processes =
            format!("- {{cause: host, mtbf: 10h, {EVERY}, ages: {ages}}}\ncontainers: [{{startAfter: 3h}}]\n");
        action_lines(&scenario(8, "14h", &processes))[0].clone()
    };
    assert_eq!(first("Assigned").split(' ').next(), Some("10.0h"));
    assert_eq!(first("Running").split(' ').next(), Some("13.0h"));
    assert_eq!(first("Always").split(' ').next(), Some("10.0h"));
}

#[test]
fn a_node_that_several_faults_hold_is_back_when_the_last_of_its_repairs_is_over() {
    let of_first = |processes: &str, stop: &str| -> Vec<String> {
        let all = action_lines(&scenario(8, stop, processes)).into_iter();
        all.filter_map(|line| line.strip_suffix(" n-000").map(str::to_owned)).collect()
    };
    // A partitioned node keeps running and aging.
    let lines = of_first(
        &format!(
            "- {{cause: net, mtbf: 8h, {EVERY}, does: Partition, backAfter: 10h}}\n\
            - {{cause: host, mtbf: 8.5h, {EVERY}, backAfter: 5h, ages: Assigned}}\n"
        ),
        "19h",
    );
    assert_eq!(lines, ["8.0h partition", "8.5h crash", "18.0h return"]);
    // A node does not age during maintenance, and the notice precedes the maintenance.
    let lines = of_first(
        &format!("- {{cause: m, mtbf: 10h, {EVERY}, does: Drain, notice: 1h, backAfter: 2h, ages: Assigned}}\n"),
        "24h",
    );
    assert_eq!(lines[..3], ["10.0h cordon", "11.0h drain", "13.0h uncordon"]);
    let reclaimed =
        format!("- {{cause: s, mtbf: 10h, {EVERY}, does: Reclaim, notice: 30s, backAfter: 2h, ages: Running}}\n");
    let lines = of_first(&reclaimed, "13h");
    assert_eq!(lines, ["10.0h drain", "10.0h crash", "10.0h delete", "10.0h uncordon", "12.0h new"]);
}

#[test]
fn a_run_continues_to_its_time_limit_unless_pods_wait_for_nodes_that_never_return() {
    let ends = |processes: &str| {
        let text = text(8, "100h", &format!("faultProcesses:\n{processes}"))
            .replace("{at: 100h}", "{at: 100h, when: Settled}");
        let scenario = support::parse(&text, JOBSET).unwrap_or_else(|e| panic!("{e}"));
        let (_, came, outcome) = play(&scenario, 1);
        (came.0.len(), outcome.end_reason, outcome.end.seconds() / 3600.0)
    };
    let (faults, reason, end) = ends(&format!("- {{cause: host, mtbf: 30h, {EVERY}, backAfter: 1h, ages: Running}}\n"));
    assert!(faults >= 16, "{faults}");
    // The JobSet runs on until the time limit, up to which faults were drawn.
    assert_eq!((reason, end), (EndReason::TimeLimit, 100.0));
    // Once a node is lost permanently, the pods do not fit any more, and unused nodes do not fail.
    let (faults, reason, end) =
        ends(&format!("- {{cause: host, mtbf: 30h, {EVERY}, deletedAfter: 1h, ages: Running}}\n"));
    assert!((8..=16).contains(&faults), "{faults}");
    assert!(reason == EndReason::Stuck && end < 40.0, "{reason:?} at {end}");
    let (_, reason, _) = ends(&format!("- {{cause: host, mtbf: 30h, {EVERY}, backAfter: 100h, ages: Running}}\n"));
    assert_eq!(reason, EndReason::TimeLimit);
}

#[test]
fn features_that_need_fault_times_are_rejected_with_usage_aging() {
    let refused = |process: &str, rest: &str| {
        let text = text(4, "10h", &format!("faultProcesses: [{{cause: a, {process}, ages: Running}}]\n{rest}"));
        match support::parse(&text, JOBSET) {
            Ok(_) => panic!("{process} was accepted"),
            Err(e) => e.to_string(),
        }
    };
    let pipeline = "nodeRepair: {stages: [{name: manual, takes: 2h}]}\n";
    let spares = "nodeSpares: {label: example.com/rack=all}\n";
    let trains = "training: {work: 1h, step: 6s, checkpoint: {every: 15m, blocking: 10s}}\n";
    for (process, rest, part) in [
        ("mtbf: 1h, from: 2h", "", "ages: Running is not supported with from"),
        ("mtbf: 1h, until: 2h", "", "ages: Running is not supported with until"),
        ("trace: faults.csv", "", "ages"),
        ("mtbf: 1h", pipeline, "ages: Running is not supported with nodeRepair"),
        ("mtbf: 1h, backAfter: 1h", spares, "ages: Running is not supported with nodeSpares"),
        ("mtbf: 1h, does: Slow, factor: 2", trains, "ages: Running is not supported with does: Slow"),
    ] {
        let message = refused(process, rest);
        assert!(message.contains(part), "{process}: {message}");
    }
}
