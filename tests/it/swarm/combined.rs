//! Cases that combine objects of Kueue, profiles of kube-scheduler, priorities, host ports, gangs, user actions and
//! faults. Each runs with all checks of `run --paranoid` and of the checker, and its quota is never exceeded. It also
//! satisfies relations to other inputs (`relations`).
//!
//! `SWARM_SEEDS=5000 cargo test --release --test it swarm::combined` tries 5,000 cases. `.ci/run` tries 200.

use super::generate::{self, Case};
use super::relations::{self, Played};
use super::{Seen, catch_panic, check_end_states, kinds, number, run_seeds, shrink};
use crate::checker::{Checker, TOO_MANY};
use crate::support;
use sim_analysis::experiment::{NotVerified, ReplicationLimits, simulate_replication, verify};
use sim_analysis::metrics::MetricFolds;
use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::{ClusterQueue, Cohort, ResourceGroup, ResourceQuota};
use sim_base::quantity;
use sim_engine::SimulationInput;
use sim_engine::record::*;
use std::collections::{BTreeMap, BTreeSet};

const SEEDS: u64 = 200;
const SEEDS_OF_A_QUICK_RUN: u64 = 4;
/// Events after which a run is stopped. A container that exits at once repeats this number within its time limit.
pub const EVENTS_MAX: u64 = 20_000;

#[test]
fn combined_cases_keep_all_invariants_and_relations() {
    let seeds = support::cases(SEEDS_OF_A_QUICK_RUN, SEEDS);
    let seen = run_seeds("combined_cases", seeds, run_seed);
    for marker in PREEMPTIONS {
        println!("{marker}: {} of the seeds", seen.get(marker).copied().unwrap_or(0));
    }
    if ["SWARM_SEED", "SWARM_SEEDS"].iter().all(|name| number(name).is_none()) && seeds == SEEDS {
        for marker in MUST_HAPPEN {
            assert!(seen.contains_key(marker), "no seed has {marker}");
        }
        for marker in PREEMPTIONS {
            let found = seen.get(marker).copied().unwrap_or(0);
            assert!(found * 50 >= seeds, "{found} of {seeds} seeds have {marker}");
        }
    }
}

/// A pod that failed without a node stayed in the scheduling queue (1659, 1843), a node that the scheduler did not know
/// yet was taken for an error (1827), and faults were compared by numbers that depend on the time limit (585, 893). The
/// last record before the limit of events depends on events without records (990). `admit` tried a JobSet together with
/// Workloads that were in the queues before it (1602), ignored that a prebuilt Workload was out of sync (2128), and was
/// compared with a run of pods that it does not know (2734). A Job without pods blocked a JobSet, and no reason was
/// reported (4019). An action at an earlier time limit was taken for one after it (4165), and random times of
/// AdmissionChecks depended on the number of checks (4194).
#[test]
fn cases_that_once_failed_pass() {
    let seeds = [585, 893, 990, 1602, 1659, 1827, 1843, 2128, 2734, 4019, 4165, 4194];
    for seed in seeds.into_iter().step_by(support::cases(6, 4) as usize) {
        run_seed(seed, false).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
    }
}

/// Kinds of records, relations and answers of `admit` that the seeds must reach.
const MUST_HAPPEN: [&str; 10] = [
    "WorkloadCondition Admitted true", "WorkloadCondition Evicted true", "WorkloadQuota", "WorkloadPreempted",
    "PodGroupCondition", "PodDeleting by Preemption", "PodDeleting by Eviction", "admit starts", "admit waits",
    "TrainingStarted",
];

/// Records that at least every tenth seed must reach.
const PREEMPTIONS: [&str; 2] = ["PodDeleting by Preemption", "WorkloadPreempted"];

fn run_seed(seed: u64, verbose: bool) -> Seen {
    let case = generate::draw_combined(seed);
    let run = |case: &Case, verbose: bool| match catch_panic(|| check(case, verbose)) {
        Err(problem) if problem.contains(TOO_MANY) => Ok(BTreeSet::new()),
        result => result,
    };
    if verbose {
        println!("{}", case.text());
    }
    let result = run(&case, false);
    if let (true, Err(problem)) = (verbose, &result) {
        let small = shrink::shrink(&case, problem, |case| run(case, false).err());
        println!("---\n{}", small.text());
        let _ = run(&small, true);
    }
    result
}

/// The checker with a limit of events.
struct Limited {
    checker: Checker,
    events_max: u64,
}

impl RecordSink for Limited {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.checker.record(record, names);
    }

    fn events_until_stop_check(&self, events: u64) -> u64 {
        self.events_max.saturating_sub(events).max(1)
    }

    fn should_stop(&mut self, events: u64) -> bool {
        events >= self.events_max
    }
}

/// Returns the scenario with the random faults of the case, which is run although some pods may never be placed.
pub fn drawn_scenario(case: &Case) -> Result<Option<ScenarioSpec>, String> {
    let scenario = match case.scenario() {
        // The script may create a JobSet that uses a feature gate that the script disables.
        Err(e) if e.contains("InPlaceRestart cannot be switched off") => return Ok(None),
        scenario => scenario.map_err(|e| format!("refused: {e}"))?,
    };
    let mut scenario = sim_reliability::faults::draw_faults(&scenario, case.seed, 0);
    scenario.admit_unplaceable = true;
    Ok(Some(scenario))
}

fn check(case: &Case, verbose: bool) -> Seen {
    let Some(scenario) = drawn_scenario(case)? else { return Ok(BTreeSet::new()) };
    let mut simulation = SimulationInput::new(&scenario).map_err(|e| e.to_string())?;
    let sink = Limited { checker: Checker::new(&scenario), events_max: EVENTS_MAX };
    let (run, sink) = simulate_replication(&mut simulation, (case.seed, 0), MetricFolds::new(&scenario, true), sink);
    if verbose {
        super::print_end(&sink.checker, &run.names);
        println!("{:?} {} {:?}", run.outcome.end_reason, run.outcome.end, run.outcome.blocked);
        println!("{:#?}", run.outcome.warnings);
    }
    let limits = ReplicationLimits { events_max: EVENTS_MAX, ..ReplicationLimits::unlimited() };
    let is_stopped = run.outcome.end_reason == EndReason::Stopped;
    match verify(&mut simulation, &run.view(case.seed, &[]), &limits) {
        Err(NotVerified::Differs(why)) => return Err(why),
        Err(NotVerified::Stopped) if !is_stopped => return Err("only the second run is stopped".to_owned()),
        _ => {}
    }
    if is_stopped {
        makes_progress(&scenario, case.seed, run.outcome.end)?;
    } else {
        check_end_states(case, &scenario, &run.outcome, &sink.checker)?;
        check_waits(&scenario, &simulation, &run.outcome)?;
    }
    check_quota(&scenario, &sink.checker.records, &run.names)?;
    let mut seen = kinds(&sink.checker.records);
    seen.extend(sink.checker.records.iter().filter_map(|record| match record.body {
        Body::WorkloadCondition { kind, status, .. } => Some(format!("WorkloadCondition {kind:?} {status}")),
        _ => None,
    }));
    seen.extend(relations::check(
        case,
        &Played { outcome: run.outcome, names: run.names, records: sink.checker.records },
    )?);
    Ok(seen)
}

/// Requires that virtual time advances between half of the events and all of them.
fn makes_progress(scenario: &ScenarioSpec, seed: u64, end: sim_base::SimTime) -> Result<(), String> {
    let mut simulation = SimulationInput::new(scenario).map_err(|e| e.to_string())?;
    let sink = &mut Limited { checker: Checker::new(scenario), events_max: EVENTS_MAX / 2 };
    let half = simulation.run(seed, 0, sink);
    if half.end < end { Ok(()) } else { Err(format!("virtual time does not advance after {end}")) }
}

/// Requires a sentence about each JobSet that Kueue keeps suspended at the end of a run without pending events.
fn check_waits(scenario: &ScenarioSpec, simulation: &SimulationInput, outcome: &RunOutcome) -> Result<(), String> {
    let has_ended = matches!(outcome.end_reason, EndReason::Settled | EndReason::Stuck);
    for (at, workload) in simulation.workloads().iter().enumerate().filter(|_| has_ended) {
        let (Some(workload), Some(own)) = (workload, scenario.jobsets.get(at)) else { continue };
        let state = &outcome.jobsets[at];
        let waits = !workload.has_reservation() && !workload.is_finished();
        let name = format!("JobSet {} ", own.jobset.name);
        let is_named = || outcome.blocked.iter().any(|sentence| sentence.starts_with(&name));
        if waits && !state.deleted && state.terminal_state.is_empty() && !is_named() {
            return Err(format!("{name}waits for Kueue and is not reported as blocked"));
        }
    }
    Ok(())
}

/// Requires that no ClusterQueue uses more than its nominal quota and its borrowing limit, and that no cohort uses more
/// than its quota. Existing Workloads hold what their status says, so they may exceed it from the start.
fn check_quota(scenario: &ScenarioSpec, records: &[SimulationRecord], names: &RecordNames) -> Result<(), String> {
    let Some(kueue) = scenario.kueue.as_ref().filter(|kueue| kueue.workloads.is_empty()) else { return Ok(()) };
    let mut held: BTreeMap<(String, [&str; 3]), i128> = BTreeMap::new();
    for record in records {
        let Body::WorkloadQuota { jobset, queue, flavor, resource, amount } = record.body else { continue };
        let milli = quantity::parse(names.text(amount)).ok().and_then(|q| q.scaled(3)).unwrap_or(0);
        let key @ [queue, flavor, resource] = [queue, flavor, resource].map(|text| names.text(text));
        held.insert((format!("{jobset:?}"), key), milli);
        let used = |queues: &[&str]| -> i128 {
            let own = |k: &[&str; 3]| queues.contains(&k[0]) && k[1..] == [flavor, resource];
            held.iter().filter(|((_, key), _)| own(key)).map(|(_, milli)| milli).sum()
        };
        let Some(of_queue) = kueue.cluster_queues.iter().find(|other| other.name == queue) else { continue };
        let own_root = of_queue.cohort.as_deref().map(|name| root(&kueue.cohorts, name));
        let is_near =
            |cohort: Option<&str>| own_root.is_some() && cohort.map(|name| root(&kueue.cohorts, name)) == own_root;
        let is_member = |other: &&ClusterQueue| other.name == queue || is_near(other.cohort.as_deref());
        let members: Vec<&ClusterQueue> = kueue.cluster_queues.iter().filter(is_member).collect();
        let of_cohorts = kueue.cohorts.iter().filter(|cohort| is_near(Some(&cohort.name)));
        let nominal = |groups: &[ResourceGroup]| quota(groups, flavor, resource).map_or(0, |q| i128::from(q.nominal));
        let own = quota(&of_queue.resource_groups, flavor, resource);
        let borrowing = own.and_then(|quota| Some(i128::from(quota.nominal) + i128::from(quota.borrowing_limit?)));
        let total = members.iter().map(|member| nominal(&member.resource_groups)).sum::<i128>()
            + of_cohorts.map(|cohort| nominal(&cohort.resource_groups)).sum::<i128>();
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        for (queues, most) in [(&[queue][..], borrowing), (&names[..], Some(total))] {
            let used = used(queues);
            if milli > 0 && most.is_some_and(|most| used > most) {
                let at = record.at;
                return Err(format!("{queues:?} use {used} of {most:?} thousandths of {resource} in {flavor} at {at}"));
            }
        }
    }
    Ok(())
}

fn quota<'a>(groups: &'a [ResourceGroup], flavor: &str, resource: &str) -> Option<&'a ResourceQuota> {
    let mut flavors = groups.iter().flat_map(|group| &group.flavors);
    flavors.find(|own| own.name == flavor)?.resources.iter().find(|quota| quota.name == resource)
}

/// Returns the root of the tree of a cohort.
fn root<'a>(cohorts: &'a [Cohort], name: &'a str) -> &'a str {
    let parent = cohorts.iter().find(|cohort| cohort.name == name).and_then(|cohort| cohort.parent.as_deref());
    parent.map_or(name, |parent| root(cohorts, parent))
}
