//! Table tests of the kubelet: delays, order of stops and writes, consequences of container exits.

use super::agents::agent_exit_code;
use super::exits::{AfterExit, restart_action_of_agent};
use super::machines::last_heartbeat;
use super::status::serialize_completion;
use super::stop::stop_in_order;
use sim_api::spec::*;
use sim_base::*;
use sim_policy::crash_back_off::crash_back_off;

fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn the_first_crash_restart_is_free_and_the_rest_doubles_to_five_minutes() {
    let seconds: Vec<u64> = (0..8).map(|n| crash_back_off(n).0 / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 10, 20, 40, 80, 160, 300, 300]);
}

#[test]
fn a_lease_is_as_old_as_the_last_beat() {
    let at = |n: u64| SimTime(n * 1_000_000_000);
    for (now, beat) in [(2, 0), (3, 3), (12, 3), (13, 13), (29, 23)] {
        assert_eq!(last_heartbeat(at(now), s(3), s(10)), at(beat), "{now} s");
    }
}

#[test]
fn status_writes_of_a_pod_follow_one_another() {
    for (what, answered, before, expected) in [
        ("alone", 5, 0, 5),
        ("after an earlier one", 5, 4, 5),
        ("a write that would overtake waits", 5, 7, 9),
        ("a write with the same response time also waits", 7, 7, 11),
    ] {
        assert_eq!(serialize_completion(SimTime(3), SimTime(answered), SimTime(before)), SimTime(expected), "{what}");
    }
}

#[test]
fn sidecars_stop_one_after_the_other_when_the_main_containers_have_ended() {
    let floor = s(2);
    for (what, grace, main, sidecars, expected) in [
        ("nothing to stop", s(30), None, vec![], s(0)),
        ("main containers stop together", s(30), Some(s(5)), vec![], s(5)),
        ("never longer than the grace period", s(30), Some(s(90)), vec![], s(30)),
        ("but at least the minimum", s(0), Some(s(90)), vec![], s(2)),
        ("a sidecar that ignores SIGTERM", s(60), None, vec![s(600)], s(60)),
        ("after the main containers", s(60), Some(s(10)), vec![s(20)], s(30)),
        ("the grace period applies to the whole pod", s(60), Some(s(50)), vec![s(20)], s(60)),
        ("with the minimum at the end", s(60), Some(s(60)), vec![s(20)], s(62)),
        ("in turn", s(60), None, vec![s(10), s(20)], s(30)),
        ("each within the remaining grace period", s(60), None, vec![s(50), s(50), s(1)], s(61)),
    ] {
        let at_once = |stop| (s(0), stop);
        let stop = stop_in_order((grace, floor), main.map(at_once), sidecars.into_iter().map(at_once));
        assert_eq!(stop, expected, "{what}");
    }
}

#[test]
fn a_pre_stop_hook_delays_sigterm_within_the_grace_period() {
    for (what, grace, hook, stop, expected) in [
        ("the hook comes first", s(60), s(45), s(5), s(50)),
        ("the process is killed at the end of the grace period", s(60), s(45), s(90), s(60)),
        ("a hook as long as the grace period leaves the minimum", s(30), s(45), s(5), s(32)),
    ] {
        assert_eq!(stop_in_order((grace, s(2)), Some((hook, stop)), std::iter::empty()), expected, "{what}");
    }
}

/// `killContainer` runs the hook before it waits for the turn of its container.
#[test]
fn pre_stop_hooks_of_all_containers_run_together_and_signals_follow_in_order() {
    for (what, grace, main, sidecars, expected) in [
        ("equal hooks", s(60), (s(20), s(1)), vec![(s(20), s(1)), (s(20), s(1))], s(23)),
        ("a longer hook of a sidecar", s(60), (s(5), s(1)), vec![(s(30), s(1))], s(31)),
        ("a shorter one has ended", s(60), (s(30), s(10)), vec![(s(5), s(10))], s(50)),
        ("all within the grace period", s(30), (s(45), s(9)), vec![(s(45), s(9))], s(32)),
    ] {
        assert_eq!(stop_in_order((grace, s(2)), Some(main), sidecars.into_iter()), expected, "{what}");
    }
}

fn agent(policy: Option<RestartPolicy>, rule: Option<ContainerRestartAction>) -> ContainerSpec {
    let rule = rule.map(|action| ContainerRestartRule { action, operator_in: false, values: vec![0] });
    ContainerSpec {
        name: "agent".to_owned(),
        restart_policy: policy,
        restart_policy_rules: rule.into_iter().collect(),
        env: [("JOBSET_NAME", "js"), ("POD_NAME", "p")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        ..ContainerSpec::default()
    }
}

#[test]
fn what_an_agents_own_exit_brings_about() {
    use ContainerRestartAction::*;
    use RestartPolicy::*;
    let sidecar = AgentMode::Sidecar { probe_period_s: Some(1) };
    let main = AgentMode::MainContainer;
    let once = AfterExit::Restart(1);
    for (what, mode, pod, policy, rule, expected) in [
        ("upstream's sidecar", sidecar, Never, Some(Always), Some(RestartAllContainers), AfterExit::RestartAll),
        ("a sidecar without a rule", sidecar, Never, Some(Always), None, once),
        ("upstream's main container", main, Never, Some(Never), Some(Restart), once),
        ("the pod's policy Never", main, Never, None, None, AfterExit::PodEnds),
        ("the pod's policy OnFailure", main, OnFailure, None, None, once),
        ("the container's own policy", main, OnFailure, Some(Never), None, AfterExit::PodEnds),
    ] {
        let container = agent(policy, rule);
        let (init, mains) = match mode {
            AgentMode::Sidecar { .. } => (vec![container], Vec::new()),
            _ => (Vec::new(), vec![container]),
        };
        let spec = PodSpec { restart_policy: pod, init_containers: init, containers: mains, ..PodSpec::default() };
        assert_eq!(restart_action_of_agent(&spec, mode, 1), expected, "{what}");
    }
}

#[test]
fn an_agent_exits_with_the_code_of_its_environment() {
    for (value, expected) in [(None, 1), (Some("42"), 42), (Some("?"), 1)] {
        let mut container = agent(None, None);
        if let Some(value) = value {
            let name = "IN_PLACE_RESTART_EXIT_CODE".to_owned();
            container.env.insert(name, value.to_owned());
        }
        let spec = PodSpec { containers: vec![ContainerSpec::default(), container], ..PodSpec::default() };
        assert_eq!(agent_exit_code(&spec, AgentMode::MainContainer), expected, "{value:?}");
    }
}
