//! Measures the restart profile of a JobSet: short simulations at level `pods`, in which a container exits after the
//! start.

use super::profile::{InPlaceDelays, JobDelays, JobSetProfile, PlacementDelays, RestartDelays, RunDelays, StartDelays};
use super::refuse::{exit_codes, takes_nodes};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use sim_api::spec::{
    CheckpointSchedule, FailurePolicy, FailurePolicyAction, FailurePolicyRule, FaultAction, FaultTime, RestartPolicy,
    RestartStrategy, ScenarioSpec, ScriptedFault, StopSpec, StopWhen, TrainingJob,
};
use sim_base::random::Distribution;
use sim_base::{Duration, JobId, NodeId, PodId, SimTime};
use sim_engine::record::{
    Body, EndReason, JobConditionType, JobSetConditionType, RecordNames, RecordSink, SimulationRecord,
};
use sim_engine::{CannotRun, SimulationInput};
use sim_reliability::training::ERROR_EXIT_CODE;
use std::collections::BTreeMap;
use std::fmt;

/// Number of measured restarts: enough for the spread of a delay, which changes goodput by less than 0.1 points if it
/// is off by ten seconds.
const RESTARTS: u64 = 8;
/// Number of measured restarts of small JobSets: the order in which their Jobs follow each other decides which nodes
/// they get, and eight restarts have few of the orders.
const RESTARTS_MAX: u64 = 64;
/// Number of pods in all measured restarts together, which limits the number of restarts.
const MEASURED_PODS: u64 = 4096;
/// Time between the readiness of all pods and the exit: polls and back-offs of the start are over.
const BEFORE_EXIT: Duration = Duration::from_secs(300);
/// Time limit of a measurement in virtual time.
const LIMIT: Duration = Duration::from_secs(24 * 3600);
/// Work of the training job after the measured restart, whose completion is measured.
const LAST_WORK: Duration = Duration::from_secs(60);
/// Size of the smallest pool in measurements; each larger one is half as large again.
const SMALLEST_POOL: u32 = 8;
/// Number of the first measured replication. The numbers count down, so that they never equal those of replications.
const FIRST: u64 = u64::MAX;

/// Why a profile could not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMeasured {
    /// The scenario cannot be run.
    CannotRun(CannotRun),
    /// The JobSet with this name did not start or did not restart within a day without other faults.
    NeverReady(String),
    /// The caller stopped the measurement.
    Stopped,
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMeasured::CannotRun(why) => why.fmt(f),
            NotMeasured::NeverReady(jobset) => write!(
                f,
                "JobSet {jobset} does not become ready within {LIMIT} without faults, so that its restart cannot be \
                 measured"
            ),
            NotMeasured::Stopped => f.write_str("stopped before the restarts were measured"),
        }
    }
}

impl std::error::Error for NotMeasured {}

/// Returns true if the measurement is to stop.
pub type StopMeasurement<'a> = &'a (dyn Fn() -> bool + Sync);

/// Measures the profile of the JobSet at this position.
pub fn measure(
    scenario: &ScenarioSpec, jobset: usize, stops: StopMeasurement<'_>,
) -> Result<JobSetProfile, NotMeasured> {
    let bare = scenario_of(scenario, jobset);
    let jobs: Vec<(String, u32)> = job_names(&bare);
    let exit_code = exit_code(scenario);
    let rjs = positions(&bare);
    let restarts = measured_restarts(&bare);
    let all = turns(&rjs, restarts as usize);
    let simulate = |scenario: &ScenarioSpec, end: MeasuredEnd, failing: &[usize]| {
        let run = |nth| run((scenario, end), (&jobs, &rjs, failing), nth, stops);
        (0..restarts).into_par_iter().map(run).collect::<Result<Vec<MeasuredRestart>, NotMeasured>>()
    };
    let runs_of =
        |scenario: &ScenarioSpec, failing: &[usize]| simulate(scenario, MeasuredEnd::Exit(exit_code), failing);
    let runs = runs_of(&bare, &all)?;
    let is_in_place = bare.jobsets[0].jobset.restarts_in_place();
    // Pods of Jobs that no restart deletes while they run are deleted on purpose.
    let lacks_terminations = runs.iter().all(|run| run.jobs.iter().all(|job| job.terminated.is_empty()));
    let replaced = if takes_nodes(scenario) && (is_in_place || lacks_terminations) {
        simulate(&bare, MeasuredEnd::Deletion, &all)?
    } else {
        Vec::new()
    };
    let restarting = with_restarted_containers(scenario, jobset, &bare).filter(|_| !is_in_place);
    let profile = JobSetProfile {
        starts: runs.iter().filter_map(StartDelays::from_measured).collect(),
        restarts: if is_in_place {
            // The Jobs remain; no delay of theirs is used.
            vec![RestartDelays { jobs: vec![JobDelays::default(); jobs.len()], ..RestartDelays::default() }]
        } else {
            with_deletions(runs.iter().filter_map(RestartDelays::from_measured).collect())
        },
        in_place: if is_in_place {
            let pairs = runs.iter().enumerate().map(|(nth, run)| (run, replaced.get(nth)));
            pairs.filter_map(|(run, replaced)| InPlaceDelays::from_measured(run, replaced)).collect()
        } else {
            Vec::new()
        },
        containers: match &restarting {
            Some((scenario, failing)) => {
                let again = |run: &MeasuredRestart| Some(run.ready_again?.since(run.exited?));
                runs_of(scenario, failing)?.iter().filter_map(again).collect()
            }
            None => Vec::new(),
        },
        single_jobs: match &with_single_restarts(scenario, jobset, &bare) {
            Some(scenario) => runs_of(scenario, &all)?.iter().filter_map(RestartDelays::from_measured_job).collect(),
            None => Vec::new(),
        },
        terminations: terminations(&[&runs[..], &replaced].concat(), &rjs),
        endings: runs.iter().filter_map(|run| Some(run.completed?.since(run.done?))).collect(),
    };
    let lacks_in_place = is_in_place && profile.in_place.is_empty();
    let lacks_containers = restarting.is_some() && profile.containers.is_empty();
    let lacks_others = (profile.single_jobs.is_empty() && scenario.jobsets[jobset].jobset.restarts_jobs())
        || profile.starts.is_empty()
        || profile.restarts.is_empty()
        || profile.endings.is_empty();
    if lacks_in_place || lacks_containers || lacks_others {
        return Err(NotMeasured::NeverReady(bare.jobsets[0].jobset.name.clone()));
    }
    Ok(profile)
}

/// Number of measured restarts.
fn measured_restarts(bare: &ScenarioSpec) -> u64 {
    let pods = bare.jobsets[0].jobset.spec.pods().max(1);
    (MEASURED_PODS / pods).clamp(RESTARTS, RESTARTS_MAX)
}

/// Position of the replicatedJob of each Job.
fn positions(scenario: &ScenarioSpec) -> Vec<u32> {
    let rjs = (0..).zip(&scenario.jobsets[0].jobset.spec.replicated_jobs);
    rjs.flat_map(|(at, rj)| std::iter::repeat_n(at, rj.replicas as usize)).collect()
}

/// The positions of the Jobs that fail in this many restarts: the replicatedJobs take turns, and the Jobs of each.
fn turns(rjs: &[u32], restarts: usize) -> Vec<usize> {
    let kinds = rjs.last().map_or(1, |last| *last as usize + 1);
    let rounds = restarts.div_ceil(kinds);
    let turn = |nth: usize| {
        let (rj, round) = ((nth % kinds) as u32, nth / kinds);
        let own: Vec<usize> = (0..rjs.len()).filter(|at| rjs[*at] == rj).collect();
        own.get(round * own.len() / rounds).copied()
    };
    (0..restarts).filter_map(turn).collect()
}

/// The restarts, of which some began with the failure of a Job without other pods: their Job controller needs as long
/// for the deletion of others as in the other restarts.
fn with_deletions(mut restarts: Vec<RestartDelays>) -> Vec<RestartDelays> {
    let longest = restarts.iter().map(|restart| restart.siblings_deleted).max().unwrap_or_default();
    restarts.iter_mut().filter(|r| r.siblings_deleted == Duration::ZERO).for_each(|r| r.siblings_deleted = longest);
    restarts
}

/// Mean time per Job from the deletion of a running pod until it has ended; of the Jobs of its replicatedJob, or of all
/// Jobs, if none of its own pods was deleted while it ran.
fn terminations(runs: &[MeasuredRestart], rjs: &[u32]) -> Vec<Duration> {
    let mean = |is_meant: &dyn Fn(usize) -> bool| {
        let jobs = runs.iter().flat_map(|run| run.jobs.iter().enumerate());
        let all: Vec<u64> =
            jobs.filter(|(at, _)| is_meant(*at)).flat_map(|(_, job)| &job.terminated).map(|d| d.0).collect();
        (!all.is_empty()).then(|| Duration(all.iter().sum::<u64>() / all.len() as u64))
    };
    let of = |own: usize| {
        let of_rj = || mean(&|at| rjs[at] == rjs[own]);
        mean(&|at| at == own).or_else(of_rj).or_else(|| mean(&|_| true)).unwrap_or_default()
    };
    (0..rjs.len()).map(of).collect()
}

/// Returns a text that is equal for JobSets of two scenarios exactly if the same simulations measure them: a sweep
/// measures for each point what a run of it measures. Rates of faults, prices and a few spares do not count.
pub fn profile_key(scenario: &ScenarioSpec, jobset: usize) -> String {
    let mut bare = scenario_of(scenario, jobset);
    for pool in &mut bare.topology.pools {
        (pool.price, pool.billing) = Default::default();
    }
    bare.topology.name.clear();
    let restarting = with_restarted_containers(scenario, jobset, &bare).map(|(_, failing)| failing);
    let restarts_jobs = scenario.jobsets[jobset].jobset.restarts_jobs();
    let replaces = bare.jobsets[0].jobset.restarts_in_place() && takes_nodes(scenario);
    format!("{} {restarting:?} {restarts_jobs} {replaces} {bare:?}", exit_code(scenario))
}

/// Exit code of the containers that fail in a measurement: rules of a container may depend on it.
fn exit_code(scenario: &ScenarioSpec) -> i32 {
    exit_codes(scenario).next().unwrap_or(ERROR_EXIT_CODE)
}

/// The parameters of the measurement, with the reason of each value.
pub fn measurement_parameters() -> Vec<MeasurementParameter> {
    let parameter = |id, value: String, why| MeasurementParameter { id, value, why };
    vec![
        parameter(
            "nodes.measuredRestarts",
            format!("{RESTARTS} to {RESTARTS_MAX}"),
            "measured starts and restarts per JobSet; a replication chooses one of them for each of its restarts",
        ),
        parameter(
            "nodes.timeBeforeExit",
            BEFORE_EXIT.to_string(),
            "time from the start to the measured restart: polls and back-offs of the start are over",
        ),
        parameter(
            "nodes.smallestPool",
            SMALLEST_POOL.to_string(),
            "copies, islands or nodes of the smallest pool in measurements; each larger one is half as large again, so \
             that points of a sweep over spares share their measurements",
        ),
        parameter("nodes.limit", LIMIT.to_string(), "a JobSet that needs longer for a start or restart is refused"),
    ]
}

/// A parameter of the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementParameter {
    /// Identifier of the parameter.
    pub id: &'static str,
    /// Value as text.
    pub value: String,
    /// Reason for the value.
    pub why: &'static str,
}

/// The names of the Jobs, each with its number of pods.
fn job_names(scenario: &ScenarioSpec) -> Vec<(String, u32)> {
    let jobset = &scenario.jobsets[0].jobset;
    let of = jobset.spec.replicated_jobs.iter().flat_map(|rj| {
        let pods = rj.template.pods();
        (0..rj.replicas).map(move |index| (format!("{}-{}-{index}", jobset.name, rj.name), pods))
    });
    of.collect()
}

/// The scenario with this JobSet alone and without faults, in which every failure of a Job restarts the JobSet.
fn scenario_of(scenario: &ScenarioSpec, jobset: usize) -> ScenarioSpec {
    let mut bare = scenario.clone();
    (bare.name, bare.description) = (String::new(), String::new());
    bare.fault_processes.clear();
    bare.process_entries.clear();
    bare.faults.clear();
    (bare.node_spares, bare.node_repair) = (None, None);
    bare.jobsets = vec![scenario.jobsets[jobset].clone()];
    let submitted = &mut bare.jobsets[0];
    submitted.submit_at = Duration::ZERO;
    let spec = &mut submitted.jobset.spec;
    let restart_strategy = spec.strategy();
    spec.failure_policy = Some(FailurePolicy { max_restarts: i32::MAX, restart_strategy, rules: Vec::new() });
    spec.ttl_seconds_after_finished = None;
    let is_in_place = restart_strategy == RestartStrategy::InPlaceRestart;
    for rj in spec.replicated_jobs.iter_mut().filter(|_| !is_in_place) {
        rj.template.backoff_limit = Some(0);
        rj.template.pod_failure_policy = None;
        rj.template.template.spec.restart_policy = RestartPolicy::Never;
    }
    submitted.jobset.object = None;
    for pool in bare.topology.pools.iter_mut().filter(|pool| pool.nodes.is_empty()) {
        let size = match (pool.count, pool.islands) {
            (2.., _) => &mut pool.count,
            (_, 2..) => &mut pool.islands,
            _ => &mut pool.nodes_per_island,
        };
        *size = measured_size(*size);
    }
    bare.stop = StopSpec { at: LIMIT, when: StopWhen::AllJobSetsFinished };
    // The duration of steps and checkpoints has no influence on the readiness of pods.
    bare.training = vec![TrainingJob {
        jobset: 0,
        work: Some(BEFORE_EXIT + LAST_WORK),
        step: None,
        step_sd_s: 0.0,
        warm_up: None,
        checkpoint_schedule: CheckpointSchedule::Always,
        save_at_notice: false,
        initialization: Distribution::ZERO,
        compile: Distribution::ZERO,
        rendezvous_timeout: None,
        elastic: None,
        communication: None,
    }];
    bare
}

/// The scenario with containers that the kubelet restarts without limit, and the positions of the Jobs whose containers
/// it restarts; `None` if it restarts none.
fn with_restarted_containers(
    scenario: &ScenarioSpec, jobset: usize, bare: &ScenarioSpec,
) -> Option<(ScenarioSpec, Vec<usize>)> {
    let mut restarting = bare.clone();
    let templates = &scenario.jobsets[jobset].jobset.spec.replicated_jobs;
    let rjs = restarting.jobsets[0].jobset.spec.replicated_jobs.iter_mut();
    let (mut failing, mut position) = (Vec::new(), 0);
    for (rj, template) in rjs.zip(templates) {
        let end = position + rj.replicas as usize;
        if template.template.template.spec.restart_policy == RestartPolicy::OnFailure {
            rj.template.backoff_limit = Some(i32::MAX);
            rj.template.template.spec.restart_policy = RestartPolicy::OnFailure;
            failing.extend(position..end);
        }
        position = end;
    }
    (!failing.is_empty()).then_some((restarting, failing))
}

/// The scenario in which every failed Job is restarted alone; `None` if the failure policy restarts no single Jobs.
fn with_single_restarts(scenario: &ScenarioSpec, jobset: usize, bare: &ScenarioSpec) -> Option<ScenarioSpec> {
    if !scenario.jobsets[jobset].jobset.restarts_jobs() {
        return None;
    }
    let mut single = bare.clone();
    let policy = single.jobsets[0].jobset.spec.failure_policy.as_mut()?;
    policy.rules.push(FailurePolicyRule {
        name: "single".to_owned(),
        action: FailurePolicyAction::RestartJob,
        on_job_failure_reasons: Vec::new(),
        on_job_failure_message_patterns: Vec::new(),
        target_replicated_jobs: Vec::new(),
    });
    Some(single)
}

/// Size of a pool in measurements, so that pools that differ by some spares share them: delays depend on the number of
/// nodes only a little.
fn measured_size(size: u32) -> u32 {
    let larger = |size: &u32| Some(size + size / 2);
    std::iter::successors(Some(SMALLEST_POOL), larger).find(|measured| *measured >= size).unwrap_or(size)
}

/// How a pod ends in a measurement.
#[derive(Copy, Clone, Debug)]
enum MeasuredEnd {
    /// Its containers exit with this code.
    Exit(i32),
    /// It is deleted, and its Job replaces it.
    Deletion,
}

/// Simulates one start, one restart after the end of a pod, and the completion. The pod that exits differs between
/// runs. The Jobs at the positions `failing` take turns.
fn run(
    (bare, end): (&ScenarioSpec, MeasuredEnd), (jobs, rjs, failing): (&[(String, u32)], &[u32], &[usize]), nth: u64,
    stops: StopMeasurement<'_>,
) -> Result<MeasuredRestart, NotMeasured> {
    if stops() {
        return Err(NotMeasured::Stopped);
    }
    let mut scenario = bare.clone();
    let share = nth as usize * failing.len() / measured_restarts(bare) as usize;
    let turn = share.min(failing.len().saturating_sub(1));
    let failed_job = failing[turn];
    let (job, pods) = &jobs[failed_job];
    let last_pod = format!("{job}-{}", pods - 1);
    scenario.faults.push(ScriptedFault {
        at: FaultTime::AfterReady(BEFORE_EXIT),
        action: match end {
            MeasuredEnd::Exit(exit_code) => FaultAction::ContainerExit { pod: last_pod, exit_code },
            MeasuredEnd::Deletion => FaultAction::DeletePod { pod: last_pod, force: false },
        },
        random_cause: None,
        entry: None,
    });
    let mut simulation = SimulationInput::new(&scenario).map_err(NotMeasured::CannotRun)?;
    let mut sink = RestartSink::new(jobs, failed_job, stops);
    sink.seen.failed_rj = rjs[failed_job];
    let outcome = simulation.run(scenario.seed, FIRST - nth, &mut sink);
    match outcome.end_reason {
        EndReason::Stopped => Err(NotMeasured::Stopped),
        _ => Ok(sink.seen),
    }
}

/// Times of a measured run.
#[derive(Clone, Debug, Default)]
pub struct MeasuredRestart {
    pub submitted: Option<SimTime>,
    /// All pods are ready for the first time.
    pub ready: Option<SimTime>,
    pub exited: Option<SimTime>,
    /// Position of the Job whose container exits.
    pub failed_job: usize,
    /// Position of its replicatedJob.
    pub failed_rj: u32,
    pub failed: Option<SimTime>,
    pub counted: Option<SimTime>,
    /// The manager notices an in-place restart.
    pub noticed: Option<SimTime>,
    /// The pod that replaces another one is bound.
    pub replaced: Option<SimTime>,
    pub ready_again: Option<SimTime>,
    /// The containers of the last pod run, for the first time and after the restart.
    pub runs: Option<SimTime>,
    pub runs_again: Option<SimTime>,
    pub done: Option<SimTime>,
    pub completed: Option<SimTime>,
    pub jobs: Vec<MeasuredJob>,
}

/// Times of one Job of a measured run.
#[derive(Clone, Debug, Default)]
pub struct MeasuredJob {
    pub first_start: Option<SimTime>,
    pub last_start: Option<SimTime>,
    /// Ends of its first and of its last pod before its condition Failed.
    pub first_ended: Option<SimTime>,
    pub ended_before_failure: Option<SimTime>,
    /// End of its last pod of the first attempt.
    pub ended: Option<SimTime>,
    pub gone: Option<SimTime>,
    /// Bindings of pods of the second attempt.
    pub first_bound: Option<SimTime>,
    pub last_bound: Option<SimTime>,
    /// Readiness of its last pod, for the first time and after the restart.
    pub ready: Option<SimTime>,
    pub ready_again: Option<SimTime>,
    /// Times from the deletion of running pods until their ends.
    pub terminated: Vec<Duration>,
}

impl MeasuredJob {
    pub fn delays_since(&self, counted: SimTime) -> Option<JobDelays> {
        let first = self.first_bound?;
        Some(JobDelays {
            released: self.ended?.since(counted),
            gone: self.gone?.since(counted),
            first: first.since(counted),
            rest: self.last_bound?.since(first),
            ready: self.ready_again?.since(self.last_bound?),
        })
    }
}

impl InPlaceDelays {
    /// Reads the delays of a measured in-place restart, and of the replacement of a pod if one was simulated.
    pub fn from_measured(run: &MeasuredRestart, replaced: Option<&MeasuredRestart>) -> Option<InPlaceDelays> {
        let exited = run.exited?;
        let replaced = match replaced {
            Some(run) => run.ready_again?.since(run.replaced?),
            None => Duration::ZERO,
        };
        Some(InPlaceDelays { noticed: run.noticed?.since(exited), ready: run.ready_again?.since(exited), replaced })
    }
}

impl RestartDelays {
    /// Reads the delays of a measured restart.
    pub fn from_measured(run: &MeasuredRestart) -> Option<RestartDelays> {
        let counted = run.counted?;
        let jobs: Option<Vec<JobDelays>> = run.jobs.iter().map(|job| job.delays_since(counted)).collect();
        RestartDelays::with_jobs(run, jobs?)
    }

    /// Reads the delays of a measured restart of a single Job, which each Job may have.
    pub fn from_measured_job(run: &MeasuredRestart) -> Option<RestartDelays> {
        let delays = run.jobs.get(run.failed_job)?.delays_since(run.counted?)?;
        RestartDelays::with_jobs(run, vec![delays; run.jobs.len()])
    }

    fn with_jobs(run: &MeasuredRestart, jobs: Vec<JobDelays>) -> Option<RestartDelays> {
        let (exited, counted, ready) = (run.exited?, run.counted?, run.ready_again?);
        let noticed = run.jobs.get(run.failed_job)?.first_ended?;
        let siblings = run.jobs.get(run.failed_job)?.ended_before_failure?.max(noticed);
        let failed = run.failed?;
        let terminated = &run.jobs[run.failed_job].terminated;
        let longest = terminated.iter().copied().max().unwrap_or_default();
        let bound = run.jobs.iter().filter_map(|job| job.last_bound).max()?;
        Some(RestartDelays {
            failed_rj: run.failed_rj,
            failed_job: run.failed_job,
            noticed: noticed.since(exited),
            siblings_deleted: Duration(siblings.since(noticed).0.saturating_sub(longest.0)),
            failed: failed.since(siblings),
            counted: counted.since(failed),
            jobs,
            pods: RunDelays::between(bound, run.runs_again, ready),
        })
    }
}

impl RunDelays {
    fn between(bound: SimTime, runs: Option<SimTime>, ready: SimTime) -> RunDelays {
        RunDelays { running: runs.map_or(ready, |at| at.min(ready)).since(bound), ready: ready.since(bound) }
    }
}

impl StartDelays {
    /// Reads the delays of the start of a measured run.
    pub fn from_measured(run: &MeasuredRestart) -> Option<StartDelays> {
        let (submitted, ready) = (run.submitted?, run.ready?);
        let placed = |job: &MeasuredJob| {
            let (first, last) = (job.first_start?, job.last_start?);
            let ready = job.ready?.since(last);
            Some(PlacementDelays { first: first.since(submitted), rest: last.since(first), ready })
        };
        let jobs: Option<Vec<PlacementDelays>> = run.jobs.iter().map(placed).collect();
        let bound = run.jobs.iter().filter_map(|job| job.last_start).max()?;
        Some(StartDelays { placed: jobs?, pods: RunDelays::between(bound, run.runs, ready) })
    }
}

/// Collects the times of a run.
struct RestartSink<'a> {
    seen: MeasuredRestart,
    positions: BTreeMap<&'a str, usize>,
    /// Position of each Job of the run.
    of_job: BTreeMap<JobId, usize>,
    of_pod: BTreeMap<PodId, usize>,
    nodes: BTreeMap<PodId, NodeId>,
    /// Deletions of pods that have not ended.
    deleted: BTreeMap<PodId, SimTime>,
    stops: StopMeasurement<'a>,
}

impl<'a> RestartSink<'a> {
    fn new(jobs: &'a [(String, u32)], failed_job: usize, stops: StopMeasurement<'a>) -> RestartSink<'a> {
        let positions = jobs.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at));
        RestartSink {
            seen: MeasuredRestart {
                failed_job,
                jobs: vec![MeasuredJob::default(); jobs.len()],
                ..MeasuredRestart::default()
            },
            positions: positions.collect(),
            of_job: BTreeMap::new(),
            of_pod: BTreeMap::new(),
            nodes: BTreeMap::new(),
            deleted: BTreeMap::new(),
            stops,
        }
    }

    /// A pod was bound.
    fn bound(&mut self, now: SimTime, pod: PodId, node: NodeId) {
        self.nodes.insert(pod, node);
        if self.seen.ready.is_some() {
            self.seen.replaced.get_or_insert(now);
        }
        if self.seen.ready_again.is_some() {
            return;
        }
        let Some(at) = self.of_pod.get(&pod) else { return };
        let job = &mut self.seen.jobs[*at];
        let (first, last) = match self.seen.counted {
            None => (&mut job.first_start, &mut job.last_start),
            Some(_) => (&mut job.first_bound, &mut job.last_bound),
        };
        first.get_or_insert(now);
        *last = Some(now);
    }

    fn pod_ready(&mut self, now: SimTime, pod: PodId) {
        let Some(at) = self.of_pod.get(&pod).filter(|_| self.seen.ready_again.is_none()) else { return };
        let job = &mut self.seen.jobs[*at];
        let last = if self.seen.counted.is_none() { &mut job.ready } else { &mut job.ready_again };
        *last = Some(now);
    }

    /// A pod ended or was removed: its node is free.
    fn ended(&mut self, now: SimTime, pod: PodId) {
        if self.nodes.remove(&pod).is_none() || self.seen.ready_again.is_some() {
            return;
        }
        let Some(at) = self.of_pod.get(&pod) else { return };
        let job = &mut self.seen.jobs[*at];
        if let Some(deleted) = self.deleted.remove(&pod) {
            job.terminated.push(now.since(deleted));
        }
        if self.seen.failed.is_none() {
            job.first_ended.get_or_insert(now);
            job.ended_before_failure = Some(now);
        }
        job.ended = Some(now);
    }
}

impl RecordSink for RestartSink<'_> {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let now = record.at;
        let seen = &mut self.seen;
        match record.body {
            Body::JobSetCreated { .. } => seen.submitted = Some(now),
            Body::JobCreated { job, .. } => {
                if let Some(at) = self.positions.get(names.job(job)) {
                    self.of_job.insert(job, *at);
                }
            }
            Body::PodCreated { pod, job, .. } => {
                if let Some(at) = self.of_job.get(&job) {
                    self.of_pod.insert(pod, *at);
                }
            }
            Body::PodBound { pod, node, .. } => self.bound(now, pod, node),
            Body::PodRunning { .. } => {
                let last = if seen.ready.is_none() { &mut seen.runs } else { &mut seen.runs_again };
                if seen.ready_again.is_none() {
                    *last = Some(now);
                }
            }
            Body::PodReady { pod, .. } => self.pod_ready(now, pod),
            Body::PodDeleting { pod, .. } => drop(self.deleted.insert(pod, now)),
            Body::PodFinished { pod, .. } | Body::PodGone { pod, .. } => self.ended(now, pod),
            Body::ContainerExited { .. } => drop(seen.exited.get_or_insert(now)),
            Body::JobCondition { kind: JobConditionType::Failed, .. } => drop(seen.failed.get_or_insert(now)),
            Body::RestartCounted { .. } | Body::JobRestartCounted { .. } => drop(seen.counted.get_or_insert(now)),
            Body::PreviousAttempt { .. } => drop(seen.noticed.get_or_insert(now)),
            Body::JobGone { job } => {
                if let Some(at) = self.of_job.get(&job).filter(|_| seen.ready_again.is_none()) {
                    seen.jobs[*at].gone = Some(now);
                }
            }
            Body::TrainingStarted { .. } => {
                let first_or_second = if seen.ready.is_none() { &mut seen.ready } else { &mut seen.ready_again };
                first_or_second.get_or_insert(now);
            }
            Body::TrainingDone { .. } => seen.done = Some(now),
            Body::JobSetCondition { kind: JobSetConditionType::Completed, status: true, .. } => {
                seen.completed = Some(now);
            }
            _ => {}
        }
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        256
    }

    fn should_stop(&mut self, _: u64) -> bool {
        (self.stops)()
    }
}
