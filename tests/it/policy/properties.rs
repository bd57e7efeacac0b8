//! Properties of passes over random JobSets: they settle, never create a Job that exists, and never exceed a limit.

use super::notation::{World, job_names, seconds};
use proptest::prelude::*;
use sim_api::spec::*;
use sim_base::Duration;
use sim_policy::*;

const ACTIONS: [FailurePolicyAction; 5] = [
    FailurePolicyAction::FailJobSet,
    FailurePolicyAction::RestartJobSet,
    FailurePolicyAction::RestartJobSetAndIgnoreMaxRestarts,
    FailurePolicyAction::RestartJob,
    FailurePolicyAction::RestartJobAndIgnoreMaxRestarts,
];

/// An event that affects a Job or the JobSet between two passes.
#[derive(Clone, Debug)]
enum Happening {
    Ready(usize),
    Fails(usize),
    Succeeds(usize),
    Vanishes(usize),
    Suspend(bool),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        any::<usize>().prop_map(Happening::Ready),
        any::<usize>().prop_map(Happening::Fails),
        any::<usize>().prop_map(Happening::Succeeds),
        any::<usize>().prop_map(Happening::Vanishes),
        any::<bool>().prop_map(Happening::Suspend),
    ]
}

fn failure_policy() -> impl Strategy<Value = Option<FailurePolicy>> {
    let rule = (0..ACTIONS.len(), any::<bool>()).prop_map(|(action, only_first)| {
        let target = only_first.then(|| "r0".to_string());
        FailurePolicyRule {
            name: "rule".to_string(),
            action: ACTIONS[action],
            on_job_failure_reasons: Vec::new(),
            on_job_failure_message_patterns: Vec::new(),
            target_replicated_jobs: target.into_iter().collect(),
        }
    });
    let policy = (0..4i32, any::<bool>(), proptest::collection::vec(rule, 0..3));
    proptest::option::of(policy.prop_map(|(max_restarts, blocking, rules)| FailurePolicy {
        max_restarts,
        restart_strategy: if blocking { RestartStrategy::BlockingRecreate } else { RestartStrategy::Recreate },
        rules,
    }))
}

fn spec() -> impl Strategy<Value = JobSetSpec> {
    let replicas = proptest::collection::vec((0..4u32, any::<bool>()), 1..4);
    (replicas, failure_policy(), any::<bool>(), any::<bool>()).prop_map(|(replicas, failure_policy, in_order, any)| {
        let mut spec = JobSetSpec { failure_policy, success_policy: Some(Default::default()), ..JobSetSpec::default() };
        if in_order {
            spec.startup_order = StartupPolicyOrder::InOrder;
        }
        if any {
            spec.success_policy.get_or_insert_default().operator = ConditionOperator::Any;
        }
        for (at, (replicas, depends)) in replicas.into_iter().enumerate() {
            let on_previous = (depends && !in_order && at > 0)
                .then(|| DependsOn { name: format!("r{}", at - 1), status: DependsOnStatus::Ready });
            spec.replicated_jobs.push(ReplicatedJob {
                name: format!("r{at}"),
                replicas,
                depends_on: on_previous.into_iter().collect(),
                ..ReplicatedJob::default()
            });
        }
        spec
    })
}

fn world(spec: JobSetSpec) -> World {
    let jobset = JobSet { spec, ..JobSet::default() };
    World {
        job_name: job_names(&jobset),
        jobset,
        suspended: false,
        deleting: false,
        status: JobSetStatus::default(),
        jobs: Vec::new(),
        gates: FeatureGates {
            in_place_restart: false,
            restart_job: true,
            elastic_jobset: false,
            ..FeatureGates::default()
        },
        now: seconds(1.0),
        service_exists: true,
        in_place: None,
    }
}

/// Runs one pass whose commands take effect at once. Returns whether the pass decided anything.
fn pass(world: &mut World, plan: &mut ActionPlan) -> Result<bool, TestCaseError> {
    reconcile(&world.view(), plan);
    prop_assert_eq!(&plan.error, &None);
    for c in &plan.create {
        let taken = world.jobs.iter().any(|j| (j.rj, j.index) == (c.rj, c.index));
        prop_assert!(!taken, "created {}/{} although it exists", c.rj, c.index);
    }
    if !plan.status_dirty {
        prop_assert_eq!(&plan.status, &world.status, "the plan changes the status without a write");
        prop_assert!(plan.events.is_empty(), "the plan emits events without a write");
    }
    let decided = plan.status_dirty
        || !plan.delete.is_empty()
        || !plan.create.is_empty()
        || !plan.suspend.is_empty()
        || !plan.resume.is_empty();
    let before = world.status.clone();
    for &at in plan.suspend.iter().chain(&plan.resume) {
        let job = &mut world.jobs[at as usize];
        job.suspended = plan.suspend.contains(&at);
        job.ready = 0;
    }
    for &at in plan.delete.iter().rev() {
        world.jobs.remove(at as usize);
    }
    for c in &plan.create {
        world.jobs.push(created(c, &before));
    }
    world.jobs.sort_by_key(|j| (j.rj, j.index));
    world.status = plan.status.clone();
    world.now += Duration::from_secs(1);
    Ok(decided)
}

fn created(c: &CreateJob, status: &JobSetStatus) -> JobView {
    let rj = status.replicated_jobs.get(c.rj as usize);
    let own = rj.and_then(|s| s.job_restarts.get(c.index as usize));
    JobView {
        rj: c.rj,
        index: c.index,
        restart_attempt: Some(status.restarts),
        job_restart_attempt: Some(own.copied().unwrap_or(0)),
        unusable_label: None,
        parallelism: None,
        completions: None,
        deleting: false,
        suspended: c.suspended,
        active: 1,
        ready: 0,
        succeeded: 0,
        finished: None,
    }
}

fn happen(world: &mut World, what: &Happening) {
    let finish = |world: &mut World, at: usize, failed: bool| {
        let now = world.now;
        if let Some(job) = pick(world, at) {
            job.finished = Some(Box::new(FinishedView {
                failed,
                reason: "BackoffLimitExceeded".to_string(),
                message: String::new(),
                at: now,
            }));
            (job.active, job.ready) = (0, 0);
        }
    };
    match *what {
        Happening::Ready(at) => pick(world, at).into_iter().for_each(|j| j.ready = 1),
        Happening::Fails(at) => finish(world, at, true),
        Happening::Succeeds(at) => finish(world, at, false),
        Happening::Vanishes(at) if !world.jobs.is_empty() => {
            world.jobs.remove(at % world.jobs.len());
        }
        Happening::Vanishes(_) => {}
        Happening::Suspend(to) => world.suspended = to,
    }
}

fn pick(world: &mut World, at: usize) -> Option<&mut JobView> {
    let n = world.jobs.len().max(1);
    world.jobs.get_mut(at % n).filter(|j| j.finished.is_none())
}

fn limits(world: &World) -> Result<(), TestCaseError> {
    let status = &world.status;
    let of_jobs = status.replicated_jobs.iter();
    let of_jobs: u32 = of_jobs.flat_map(|s| &s.job_restarts_count_towards_max).sum();
    let policy = world.jobset.spec.failure_policy.as_ref();
    let max = policy.map_or(0, |p| p.max_restarts.max(0) as u32);
    prop_assert!(status.restarts_count_towards_max + of_jobs <= max);
    prop_assert!(status.restarts_count_towards_max <= status.restarts);
    let finished = status.conditions.iter().filter(|c| c.status && matches!(c.kind.as_str(), "Completed" | "Failed"));
    prop_assert!(finished.count() <= 1, "both Completed and Failed");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_settle_and_respect_every_limit(
        spec in spec(),
        script in proptest::collection::vec(happening(), 0..25),
    ) {
        let mut world = world(spec);
        let mut plan = ActionPlan::default();
        for what in &script {
            happen(&mut world, what);
            let was_finished = world.status.terminal_state;
            let restarts = world.status.restarts;
            // Failures, deletions, creations and conditions take a bounded number of passes.
            let mut passes = 0;
            while pass(&mut world, &mut plan)? {
                passes += 1;
                prop_assert!(passes < 20, "the passes do not settle after {what:?}");
                limits(&world)?;
            }
            prop_assert!(world.status.restarts >= restarts);
            prop_assert!(was_finished.is_none() || world.status.terminal_state == was_finished);
        }
    }
}

#[test]
fn a_pass_over_ten_thousand_settled_jobs_decides_nothing_and_allocates_no_lists() {
    let mut world = world(JobSetSpec {
        replicated_jobs: vec![ReplicatedJob { name: "w".to_string(), replicas: 10_000, ..ReplicatedJob::default() }],
        ..JobSetSpec::default()
    });
    world.jobs = (0..10_000)
        .map(|index| {
            let slot = CreateJob { rj: 0, index, suspended: false };
            JobView { ready: 1, ..created(&slot, &world.status) }
        })
        .collect();
    world.status.replicated_jobs.push(RjStatus { ready: 10_000, active: 10_000, ..RjStatus::default() });
    let mut plan = ActionPlan::default();
    reconcile(&world.view(), &mut plan);
    assert!(!plan.status_dirty && plan.rules.is_empty(), "{:?}", plan.rules);
    let lists = [plan.delete.capacity(), plan.create.capacity(), plan.resume.capacity()];
    assert_eq!(lists, [0, 0, 0]);
}
