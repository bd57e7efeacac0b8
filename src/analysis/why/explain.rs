//! One explanation: simulates the inputs, follows the critical path of the subject, and tries the levers that
//! concern it.

use super::ScenarioLoader;
use super::blocked::{self, BlockedJobSet, PastAdmission};
use super::change_trial::{ChangeTrial, TrialGoal};
use super::facts::{JobSetEnding, REPAIR_AFTER, RunFacts, SMALL, is_of_kueue};
use super::idle_domains::IdleDomains;
use super::levers::LeverSetting;
use super::lost_nodes::{self, LostNodes};
use super::no_answer::NoAnswer;
use super::trials::{self, TrialTarget};
use crate::experiment::{SimulatedReplication, simulate_replication};
use crate::metrics::pods::PodMetrics;
use crate::metrics::restarts::path::{CriticalPath, PathPart, PathStep};
use crate::metrics::restarts::restart::CauseKind;
use crate::metrics::restarts::waits::WaitKind;
use crate::metrics::{CriticalSpan, MetricFolds, RestartBlocker, RestartMetrics, RestartOutcome, RunView};
use crate::{format, metrics::restarts::critical_spans, metrics::restarts::restart};
use serde::Serialize;
use sim_api::spec::{FaultAction, SilentFaults, StopSpec, StopWhen};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{PendingPods, TicketSubject, TicketWait};
use sim_engine::{CannotRun, PrepareError, SimulationInput};
use sim_inputs::LoadedScenario;
use sim_reliability::faults;

#[derive(Clone, Debug, Default)]
pub struct WhyRequest {
    /// Number of the restart, from 1 as in the output of `run`. `None` selects the last restart of the first JobSet
    /// that failed or is blocked, otherwise the first unfinished restart, otherwise the longest.
    pub restart: Option<usize>,
    /// Name of a pod without its random suffix.
    pub pod: Option<String>,
    /// Name of a JobSet whose start or admission is explained.
    pub jobset: Option<String>,
    /// Instant at which the run ends, instead of the stop condition of the inputs.
    pub at: Option<Duration>,
    pub seed: Option<u64>,
    /// Number of threads; 0 means one per core.
    pub threads: usize,
    /// Whether to omit the what-ifs.
    pub path_only: bool,
    /// Whether the inputs are manifests. Overrides can then set their metadata, but no fields of a cluster.
    pub of_manifests: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WhySubject {
    /// Kind of the subject: `restart`, `start`, `admission` or `pod`; `none` if nothing could be placed.
    pub kind: &'static str,
    /// Heading of the explanation.
    pub title: String,
    /// Description of the fault that caused it; empty without a fault.
    pub cause: String,
    /// Time of the cause, which can precede the start.
    pub caused_at: SimTime,
    pub jobset: String,
    /// For a restart, its number from 1 and the number of restarts.
    pub number: Option<(usize, usize)>,
    /// Whether the number counts only the restarts of its JobSet.
    pub is_numbered_by_jobset: bool,
    pub start: SimTime,
    pub end: SimTime,
    /// Whether it was completed.
    pub ended: bool,
}

impl WhySubject {
    pub fn total(&self) -> Duration {
        self.end.since(self.start)
    }
}

/// A change that shortens the subject, or lets it be completed.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    pub setting: LeverSetting,
    pub takes: Duration,
    pub saves: Duration,
    /// Whether the restart does not occur with the change, so that it takes no time.
    pub is_removed: bool,
    /// For a combination of changes, the sum of the savings of its parts.
    pub parts_save: Option<Duration>,
    /// If the placement is a draw: the draws in which the change helps.
    pub draws: Option<DrawShare>,
}

/// Numbers of draws of the placement in which the duration is shorter by at least half of the saving, or in which the
/// subject ends at all if it does not otherwise.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DrawShare {
    pub with_change: u64,
    pub unchanged: u64,
    pub draws: u64,
}

/// The longest wait on the critical path.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingConstraint {
    /// Description of the wait, as in the output of `run`.
    pub name: String,
    pub time: Duration,
    /// Index in `what_if` of the change that shortens this wait most.
    pub lever: Option<usize>,
    /// If there is no such change: the lever that acts on this wait, but only moves the time to other waits.
    pub without_effect: Option<String>,
}

/// An explanation with its what-ifs.
#[derive(Clone, Debug)]
pub struct WhyExplanation {
    pub scenario: String,
    pub seed: u64,
    pub digest: String,
    pub subject: WhySubject,
    pub spans: Vec<CriticalSpan>,
    /// The longest wait, and the change that shortens it most.
    pub binding: Option<BindingConstraint>,
    /// Changes that help, in descending order of the saved time.
    pub what_if: Vec<WhatIf>,
    /// Changes that do not help, with the duration that they lead to; `None` if it is never completed.
    pub no_help: Vec<(LeverSetting, Option<Duration>)>,
    /// Changes that could not be simulated, with the reason.
    pub not_tried: Vec<(LeverSetting, String)>,
    pub blocked: Option<BlockedJobSet>,
    /// Other JobSets that failed or are blocked, and that of a restart before the failure, with the condition.
    pub others_lost: Vec<String>,
    /// The longest wait for quota that has ended, if it is a large part of the subject.
    pub admission: Option<PastAdmission>,
    /// Whole domains that stay free while pods wait for a node.
    pub idle_domains: Option<IdleDomains>,
    /// Whether the pods of some JobSet were never all placed.
    pub unplaced: bool,
    /// Pods of the subject that have no node, with the reasons.
    pub placement: Vec<PendingPods>,
}

/// Reason of a Workload that Kueue deactivated because of its maximum execution time, in the sentence of the outcome.
const DEACTIVATED_BY_LIMIT: &str = "MaximumExecutionTimeExceeded";
/// Minimum time without a node that is a wait for one: a scheduling cycle takes less.
const LATE: Duration = Duration::from_secs(5);

pub fn explain(load: &ScenarioLoader<'_>, request: &WhyRequest) -> Result<WhyExplanation, NoAnswer> {
    let loaded = load(&[]).map_err(|reason| NoAnswer::InvalidInput { reason })?;
    let seed = request.seed.unwrap_or(loaded.scenario.seed);
    let mut scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    if let Some(at) = request.at {
        scenario.stop = StopSpec { at, when: StopWhen::Time };
    }
    let mut simulation = match SimulationInput::new(&scenario) {
        Ok(simulation) => simulation,
        Err(why) => return unplaceable(load, request, &loaded, seed, &why),
    };
    simulation.set_explains_placement(true);
    let folds = MetricFolds::new(&scenario, true);
    let (replication, witness) = simulate_replication(&mut simulation, (seed, 0), folds, RestartBlocker::default());
    let case = WhyCase { asked: request, loaded: &loaded, replication: &replication, seed };
    let matching = case.find(&mut simulation, witness)?;
    let target = matching.target.clone();
    let jobset = target.jobset();
    let mut answer = case.answer(load, matching)?;
    let run = case.run();
    let mut written = loaded.scenario.clone();
    written.stop = scenario.stop;
    let wait = run.admission_of(jobset).and_then(|own| own.waits.last()).map(|wait| wait.from);
    let end = run.outcome.end;
    let goal = TrialGoal::ReadySince(wait.unwrap_or(end));
    let stop = loaded.scenario.stop;
    let trial = ChangeTrial { scenario: &written, load, simulation: &simulation, stop, seed, jobset, goal };
    if !request.path_only && ["restart", "start"].contains(&answer.subject.kind) {
        let within = (answer.subject.start, answer.subject.end);
        answer.admission = blocked::past_admission(&run, &trial, &target, within)
            .or_else(|| blocked::past_limit((&run, &simulation), &target, &answer.spans));
    }
    if let Some(blocked) = &mut answer.blocked {
        blocked.admission = blocked::pending_admission(&trial, &simulation, end);
    }
    Ok(answer)
}

/// Explains inputs that no cluster of the scenario can place.
fn unplaceable(
    load: &ScenarioLoader<'_>, request: &WhyRequest, loaded: &LoadedScenario, seed: u64, why: &CannotRun,
) -> Result<WhyExplanation, NoAnswer> {
    let jobset = JobSetId(0);
    let name = loaded.scenario.jobsets.first();
    let name = name.map_or(String::new(), |s| s.jobset.name.clone());
    let path = CriticalPath::default();
    let facts = RunFacts {
        scenario: &loaded.scenario,
        jobset,
        path: &path,
        fired: &[],
        silent: &[],
        cordoned: None,
        idle: None,
        random_cause: None,
        undetected: &[],
        by_deadline: false,
        exceeds_limit: false,
        lacks_nodes: false,
        endings: &[],
        blocked: true,
        failed: false,
        suspended: None,
        unplaced: true,
        only_nodes: false,
        of_manifests: request.of_manifests,
    };
    let mut answer = WhyExplanation {
        scenario: loaded.scenario.name.clone(),
        seed,
        digest: String::new(),
        subject: WhySubject {
            kind: "none",
            title: format!("JobSet {name} cannot be placed"),
            cause: String::new(),
            caused_at: SimTime::ZERO,
            jobset: name.clone(),
            number: None,
            is_numbered_by_jobset: false,
            start: SimTime::ZERO,
            end: SimTime::ZERO,
            ended: false,
        },
        spans: Vec::new(),
        binding: None,
        what_if: Vec::new(),
        no_help: Vec::new(),
        not_tried: Vec::new(),
        blocked: Some(BlockedJobSet::new(format!("JobSet {name}"), format!("{why:#}"))),
        others_lost: Vec::new(),
        admission: None,
        idle_domains: None,
        unplaced: true,
        placement: why.0.iter().filter_map(never_fitting_pods).collect(),
    };
    if !request.path_only {
        answer.try_out(load, &facts, (&TrialTarget::Start { jobset }, request))?;
    }
    Ok(answer)
}

fn never_fitting_pods(why: &PrepareError) -> Option<PendingPods> {
    let PrepareError::NeverFits { pod, explanation, .. } = why else { return None };
    let (pods, explanation) = (vec![pod.clone()], (**explanation).clone());
    Some(PendingPods { jobset: JobSetId(0), replicated_job: 0, pods, explanation })
}

/// The subject with the data for its explanation.
struct CandidateImprovement<'p> {
    subject: WhySubject,
    path: CriticalPath,
    restart: Option<&'p RestartMetrics>,
    /// The unfinished restart of a JobSet that waits for admission.
    waiting_restart: Option<&'p RestartMetrics>,
    target: TrialTarget,
    blocked: Option<BlockedJobSet>,
    witness: RestartBlocker,
}

struct WhyCase<'c> {
    asked: &'c WhyRequest,
    loaded: &'c LoadedScenario,
    replication: &'c SimulatedReplication,
    seed: u64,
}

impl<'c> WhyCase<'c> {
    fn run(&self) -> RunView<'c> {
        self.replication.view(self.seed, &[])
    }

    fn find(
        &self, simulation: &mut SimulationInput, witness: RestartBlocker,
    ) -> Result<CandidateImprovement<'c>, NoAnswer> {
        let all = &self.replication.folded.restarts;
        if let Some(name) = &self.asked.pod {
            return self.pod(simulation, name);
        }
        let request = self.named_jobset()?;
        let is_asked = |restart: &RestartMetrics| request.is_none_or(|jobset| restart.jobset == jobset);
        let restarts: Vec<usize> = (0..all.len()).filter(|at| is_asked(&all[*at])).collect();
        let lost = self.lost();
        let number = match self.asked.restart {
            Some(n) if n == 0 || n > restarts.len() => {
                return Err(NoAnswer::NoSuchRestart { number: n, restarts: restarts.len() as u64 });
            }
            Some(n) => Some(restarts[n - 1]),
            None => match lost.first() {
                Some(jobset) => all.iter().rposition(|restart| restart.jobset == *jobset),
                None => restart::longest(all),
            },
        };
        let pending = blocked::without_quota(simulation, request);
        if let Some(jobset) = pending.or(request).filter(|_| self.asked.restart.is_none()) {
            return Ok(self.start(simulation, jobset));
        }
        match number {
            Some(at) => Ok(self.restart(at, witness)),
            None => {
                let never_ready = || self.not_ready(&witness).map(|row| JobSetId(row as u32));
                let jobset = lost.first().copied().or_else(never_ready).unwrap_or(JobSetId(0));
                Ok(self.start(simulation, jobset))
            }
        }
    }

    fn endings(&self) -> Vec<JobSetEnding> {
        JobSetEnding::of_run(&self.replication.outcome, self.run().names)
    }

    /// Returns the JobSets that failed, followed by those that are blocked.
    fn lost(&self) -> Vec<JobSetId> {
        let endings = self.endings();
        let with = |is_failed: bool| {
            let is_asked = move |ending: &JobSetEnding| {
                ending.is_lost() && is_failed == matches!(ending, JobSetEnding::Failed { .. })
            };
            let rows = endings.iter().enumerate().filter(move |(_, ending)| is_asked(ending));
            rows.map(|(row, _)| JobSetId(row as u32)).collect::<Vec<_>>()
        };
        [with(true), with(false)].concat()
    }

    /// Describes the JobSets that failed or are blocked, without the explained one if its condition is explained.
    fn others_lost(&self, explained: JobSetId, is_explained: bool) -> Vec<String> {
        let run = self.run();
        let describe = |jobset: JobSetId| {
            let blocked = blocked::jobset(&run, jobset)?;
            let option = format!("see --jobset {}", run.names.jobset(jobset));
            let option = if jobset == explained { "see `why` without --restart and --pod".to_owned() } else { option };
            Some(format!("{}: {}; {option}", blocked.object, blocked.condition.trim_end_matches('.')))
        };
        self.lost().into_iter().filter(|jobset| *jobset != explained || !is_explained).filter_map(describe).collect()
    }

    /// Returns whether Kueue deactivated the Workload of a JobSet because of its maximum execution time.
    fn exceeds_limit(&self, jobset: JobSetId) -> bool {
        let run = self.run();
        let reason = run.outcome.pending_reason(run.names.jobset(jobset));
        reason.is_some_and(|reason| reason.contains(DEACTIVATED_BY_LIMIT))
    }

    /// Returns whether a pod of a JobSet waits for a node during a significant part of a time, and not only for its
    /// turn in the queue of the scheduler.
    fn lacks_nodes(&self, witness: &RestartBlocker, jobset: JobSetId, (from, to): (SimTime, SimTime)) -> bool {
        let run = self.run();
        let Some((pods, _)) = run.folded.tables.as_ref().filter(|_| witness.unschedulable.contains(&jobset)) else {
            return false;
        };
        let least = to.since(from).0 / SMALL;
        let waits = |pod: &PodMetrics| {
            let is_own = run.names.jobset_of(pod.job) == Some(jobset);
            let (begins, ends) = (pod.created.max(from), pod.bound.min(pod.gone).min(to));
            is_own && begins < ends && ends.since(begins).0 > least && ends.since(begins) > LATE
        };
        pods.rows().iter().any(waits)
    }

    /// Returns the causes of the hangs that nothing detects, up to a time.
    fn undetected(&self, fired: &[(u32, SimTime)], until: SimTime) -> Vec<&'c str> {
        let is_undetected = |action: &FaultAction| {
            let FaultAction::Silent { fault, .. } = action else { return false };
            matches!(fault, SilentFaults::Hang { detected_after: None, .. })
        };
        let cause = |(index, at): &(u32, SimTime)| {
            let fault = self.replication.scenario.faults.get(*index as usize)?;
            fault.random_cause.as_deref().filter(|_| *at <= until && is_undetected(&fault.action))
        };
        let mut causes: Vec<&str> = fired.iter().filter_map(cause).collect();
        causes.sort_unstable();
        causes.dedup();
        causes
    }

    /// Returns the JobSet that was asked for.
    fn named_jobset(&self) -> Result<Option<JobSetId>, NoAnswer> {
        let Some(name) = &self.asked.jobset else { return Ok(None) };
        let jobsets = &self.loaded.scenario.jobsets;
        let at = jobsets.iter().position(|submitted| submitted.jobset.name == *name);
        let known = || jobsets.iter().map(|s| s.jobset.name.as_str()).collect::<Vec<_>>().join(", ");
        let at = at.ok_or_else(|| NoAnswer::NoSuchJobSet { name: name.clone(), known: known() })?;
        Ok(Some(JobSetId(at as u32)))
    }

    /// Returns the first JobSet that was never ready, otherwise the one with the longest start.
    fn not_ready(&self, witness: &RestartBlocker) -> Option<usize> {
        let all = (0..self.replication.outcome.jobsets.len()).collect::<Vec<_>>();
        let takes = |i: usize| witness.start(JobSetId(i as u32)).duration();
        let never = all.iter().copied().find(|i| takes(*i).is_none());
        never.or_else(|| all.into_iter().rev().max_by_key(|i| takes(*i)))
    }

    fn restart(&self, at: usize, witness: RestartBlocker) -> CandidateImprovement<'c> {
        let run = self.run();
        let restart = &self.replication.folded.restarts[at];
        let of = &self.replication.folded.restarts;
        let before = of[..at].iter().filter(|r| r.jobset == restart.jobset);
        let nth = before.count();
        let (number, total) = match self.asked.jobset {
            Some(_) => (nth + 1, run.restarts_of(restart.jobset).count()),
            None => (at + 1, of.len()),
        };
        let blocked = blocked::jobset(&run, restart.jobset).filter(|_| {
            let last = of.iter().rposition(|r| r.jobset == restart.jobset);
            last == Some(at)
        });
        let failed = self.failed(restart.jobset) && blocked.is_some();
        CandidateImprovement {
            subject: WhySubject {
                kind: "restart",
                title: format::restart_title(&run, restart, number),
                cause: format::cause(&run, &restart.cause),
                caused_at: restart.caused_at,
                jobset: run.names.jobset(restart.jobset).to_owned(),
                number: Some((number, total)),
                is_numbered_by_jobset: self.asked.jobset.is_some(),
                start: restart.start,
                end: restart.end,
                ended: restart.ending == RestartOutcome::Ready,
            },
            path: restart.path.clone(),
            target: if failed && restart.ending != RestartOutcome::Ready {
                TrialTarget::Survival { jobset: restart.jobset }
            } else {
                self.explained_restart(at, &witness)
            },
            restart: Some(restart),
            waiting_restart: None,
            blocked,
            witness,
        }
    }

    fn explained_restart(&self, at: usize, witness: &RestartBlocker) -> TrialTarget {
        trials::explained_restart(&self.run(), &self.replication.folded.restarts, at, &witness.fired)
    }

    /// Returns the cause of a random fault; `None` for a scripted one.
    fn random_cause(&self, index: u32) -> Option<&'c str> {
        self.replication.scenario.faults.get(index as usize)?.random_cause.as_deref()
    }

    fn failed(&self, jobset: JobSetId) -> bool {
        let outcome = self.replication.outcome.jobsets.get(jobset.ix());
        outcome.is_some_and(|o| o.terminal_state == "Failed")
    }

    fn rerun(&self, simulation: &mut SimulationInput, pod: Option<&str>) -> RestartBlocker {
        let mut witness = RestartBlocker::with_tickets(pod);
        simulation.run(self.seed, 0, &mut witness);
        witness
    }

    fn start(&self, simulation: &mut SimulationInput, jobset: JobSetId) -> CandidateImprovement<'c> {
        let run = self.run();
        let witness = self.rerun(simulation, None);
        let way = witness.start(jobset);
        let name = run.names.jobset(jobset);
        let end = way.ready.unwrap_or(run.outcome.end);
        let start = way.created.unwrap_or(SimTime::ZERO);
        let path = witness.path(&way, end, TicketSubject::JobSet(jobset));
        let takes = format::seconds(end.since(start));
        let wait = run.admission_of(jobset).and_then(|own| own.waits.last()).filter(|wait| wait.until.is_none());
        let waiting = wait.filter(|_| blocked::without_quota(simulation, Some(jobset)).is_some());
        if let Some(wait) = waiting {
            return self.waiting(jobset, wait.from, witness);
        }
        let title = match way.ready {
            Some(_) => {
                let restarts = match run.restarts_of(jobset).count() {
                    0 => "it has no restart".to_owned(),
                    n => format!("it has {}, see --restart", format::count(n as u64, "restart")),
                };
                format!("Start of JobSet {name}: {takes} from its creation until every pod was ready ({restarts})")
            }
            None if way.created.is_none() => format!("Start of JobSet {name}: it was never created"),
            None => format!("Start of JobSet {name}: {takes} from its creation to the end of the run (never ready)"),
        };
        CandidateImprovement {
            subject: WhySubject {
                kind: "start",
                title,
                cause: String::new(),
                caused_at: start,
                jobset: name.to_owned(),
                number: None,
                is_numbered_by_jobset: false,
                start,
                end,
                ended: way.ready.is_some(),
            },
            path: path.unwrap_or_default(),
            restart: None,
            waiting_restart: None,
            target: if self.failed(jobset) && way.ready.is_none() {
                TrialTarget::Survival { jobset }
            } else {
                TrialTarget::Start { jobset }
            },
            blocked: match way.created {
                Some(_) => blocked::jobset(&run, jobset),
                None => blocked::refused(&run, jobset),
            },
            witness,
        }
    }

    /// Returns the wait of a JobSet for quota up to the end of the run.
    fn waiting(&self, jobset: JobSetId, from: SimTime, witness: RestartBlocker) -> CandidateImprovement<'c> {
        let run = self.run();
        let (name, end) = (run.names.jobset(jobset), run.outcome.end);
        let takes = format::seconds(end.since(from));
        let condition = "its Workload waits for quota".to_owned();
        let all = &self.replication.folded.restarts;
        let last = all.iter().rposition(|restart| restart.jobset == jobset);
        let open = last.filter(|at| all[*at].ending == RestartOutcome::Unfinished);
        CandidateImprovement {
            subject: WhySubject {
                kind: "admission",
                title: format!("Admission of JobSet {name}: waiting for {takes}, since {from}"),
                cause: String::new(),
                caused_at: from,
                jobset: name.to_owned(),
                number: None,
                is_numbered_by_jobset: false,
                start: from,
                end,
                ended: false,
            },
            path: CriticalPath::default(),
            restart: None,
            waiting_restart: open.map(|at| &all[at]),
            target: match open {
                Some(at) => self.explained_restart(at, &witness),
                // A JobSet that was ready before has nothing left to measure but its end.
                None if witness.start(jobset).ready.is_some() => TrialTarget::Survival { jobset },
                None => TrialTarget::Start { jobset },
            },
            blocked: blocked::jobset(&run, jobset)
                .or_else(|| Some(BlockedJobSet::new(format!("JobSet {name}"), condition))),
            witness,
        }
    }

    fn pod(&self, simulation: &mut SimulationInput, name: &str) -> Result<CandidateImprovement<'c>, NoAnswer> {
        let run = self.run();
        let meant = sim_inputs::pods_meant(&self.loaded.scenario.jobsets, name);
        let name = match meant.as_slice() {
            [one] => one.clone(),
            _ => name.to_owned(),
        };
        let witness = self.rerun(simulation, Some(&name));
        let pod = witness.asked.clone().unwrap_or_default();
        let (Some(id), Some(job)) = (pod.pod, pod.job) else {
            let known = sim_inputs::pod_names(&self.loaded.scenario.jobsets);
            return Err(NoAnswer::NoSuchPod { pod: name, known });
        };
        let jobset = run.names.jobset_of(job).unwrap_or(JobSetId(0));
        let end = pod.way.ready.unwrap_or(run.outcome.end);
        let start = pod.way.created.unwrap_or(SimTime::ZERO);
        let takes = format::seconds(end.since(start));
        let title = match pod.way.ready {
            Some(_) => format!("Pod {name}: {takes} from its creation until it was ready"),
            None => {
                format!("Pod {name}: {takes} from its creation to the end of the run (never ready)")
            }
        };
        let pending = pod.unschedulable.filter(|_| pod.way.ready.is_none());
        let pending = pending.map(|id| run.names.text(id).to_owned());
        let condition = pending.or_else(|| {
            let why = blocked::jobset(&run, jobset)?.condition;
            Some(why).filter(|_| pod.way.ready.is_none())
        });
        Ok(CandidateImprovement {
            subject: WhySubject {
                kind: "pod",
                title,
                cause: String::new(),
                caused_at: start,
                jobset: run.names.jobset(jobset).to_owned(),
                number: None,
                is_numbered_by_jobset: false,
                start,
                end,
                ended: pod.way.ready.is_some(),
            },
            path: witness.path(&pod.way, end, TicketSubject::Pod(id)).unwrap_or_default(),
            restart: None,
            waiting_restart: None,
            target: TrialTarget::Start { jobset },
            blocked: condition.map(|c| BlockedJobSet::new(format!("pod {name}"), c)),
            witness,
        })
    }

    fn answer(&self, load: &ScenarioLoader<'_>, result: CandidateImprovement<'_>) -> Result<WhyExplanation, NoAnswer> {
        let run = self.run();
        let CandidateImprovement { subject, path, restart, waiting_restart, target, blocked, witness } = result;
        let is_admission = subject.kind == "admission";
        let concerned = restart.or(waiting_restart);
        let waited = waiting_restart.map_or(&path, |restart| &restart.path);
        let lost = LostNodes::find(
            &run,
            waited,
            (subject.start, subject.end),
            concerned.map(|restart| (restart.cause.node, restart.start)),
        );
        let mut silent = silent_nodes(&run, &witness, (waited, concerned), blocked.is_some());
        if is_admission || waited.steps.iter().any(|step| is_of_kueue(WaitKind::from_step(step))) {
            lost.add_lost_to(&mut silent);
        }
        let cordoned = lost.cordoned();
        let idle_domains = IdleDomains::find(&run, &path, &witness);
        let undetected = self.undetected(&witness.fired, if blocked.is_some() { run.outcome.end } else { subject.end });
        let endings = self.endings();
        let facts = RunFacts {
            scenario: &self.loaded.scenario,
            jobset: target.jobset(),
            path: waited,
            fired: &witness.fired,
            silent: &silent,
            cordoned: cordoned.as_ref().map(|(names, since)| (&names[..], *since)),
            idle: idle_domains.as_ref(),
            random_cause: restart.and_then(|restart| match restart.cause.kind {
                CauseKind::Fault { index } => self.random_cause(index),
                _ => None,
            }),
            undetected: &undetected,
            by_deadline: concerned.is_some_and(|restart| matches!(restart.cause.kind, CauseKind::Deadline)),
            exceeds_limit: is_admission && self.exceeds_limit(target.jobset()),
            lacks_nodes: self.lacks_nodes(&witness, target.jobset(), (subject.start, subject.end))
                || lost_nodes::lacked_by_pods(&run, target.jobset(), subject.end),
            endings: &endings,
            blocked: blocked.is_some(),
            failed: self.failed(target.jobset()),
            suspended: run.who_resumes(target.jobset()).and_then(|_| {
                let outcome = run.outcome.jobsets.get(target.jobset().ix())?;
                outcome.suspended_since()
            }),
            unplaced: false,
            only_nodes: is_admission,
            of_manifests: self.asked.of_manifests,
        };
        let is_pod = subject.kind == "pod";
        let mut answer = WhyExplanation {
            scenario: self.loaded.scenario.name.clone(),
            seed: self.seed,
            digest: run.digest(),
            spans: critical_spans::spans(&run, &witness, &path, restart),
            subject,
            binding: None,
            what_if: Vec::new(),
            no_help: Vec::new(),
            not_tried: Vec::new(),
            others_lost: self.others_lost(target.jobset(), blocked.is_some()),
            blocked,
            admission: None,
            idle_domains: idle_domains.clone(),
            unplaced: run.never_placed().is_some(),
            placement: Vec::new(),
        };
        if answer.blocked.is_some() {
            let is_asked = |p: &&PendingPods| match &witness.asked {
                Some(pod) => p.pods.contains(&pod.name),
                None => p.jobset == target.jobset(),
            };
            answer.placement = run.outcome.pending.iter().filter(is_asked).cloned().collect();
        }
        // For a pod that became ready, what-ifs would measure its JobSet instead.
        let is_tried = !self.asked.path_only && self.asked.at.is_none() && (!is_pod || answer.blocked.is_some());
        // The smallest changes of the queues are tried elsewhere.
        let lacks_nodes = !facts.silent.is_empty() || facts.cordoned.is_some() || facts.lacks_nodes;
        if is_tried && (!is_admission || lacks_nodes || facts.exceeds_limit || !facts.undetected.is_empty()) {
            answer.try_out(load, &facts, (&target, self.asked))?;
        }
        let pods = restart.map_or(1, |r| r.pods);
        answer.bind(&run, &RunFacts { path: &path, ..facts }, pods);
        Ok(answer)
    }
}

/// Returns the names of the unresponsive nodes that the path waits for, and since when it waits for each. The node on
/// which the path begins is first. A JobSet that is blocked may wait for any of them.
fn silent_nodes(
    run: &RunView<'_>, witness: &RestartBlocker, (path, restart): (&CriticalPath, Option<&RestartMetrics>),
    blocked: bool,
) -> Vec<(String, SimTime)> {
    let waits = |s: &PathStep| {
        let silent = WaitKind::from_step(s) == WaitKind::Mechanism(TicketWait::SilentNode);
        silent || s.part == PathPart::Open || s.waited == TicketWait::PodGc
    };
    let waits_for_nodes = blocked || path.steps.iter().any(waits);
    let waits_for_capacity = path.steps.iter().any(|s| s.waited == TicketWait::Unschedulable);
    let Some(restart) = restart.filter(|_| waits_for_nodes || waits_for_capacity) else { return Vec::new() };
    let first = restart.cause.node;
    let start = path.steps.first().map_or(restart.start, |step| step.from);
    let mut nodes = witness.silent_within(restart.start, restart.end);
    // Of other lost nodes it is unknown whether the pods that wait for capacity would fit there.
    nodes.retain(|(node, _)| waits_for_nodes || *node == first);
    // A process can fail on a node that is healthy.
    let is_silent = nodes.iter().any(|(node, _)| *node == first);
    if first.is_some() && (is_silent || witness.is_removed_within(first, (restart.start, restart.end))) {
        nodes.retain(|(node, _)| *node != first);
        nodes.insert(0, (first, start));
    }
    // The control plane notices losses late: those it knows of by the time of a repair may be as old as the path.
    let since = |noticed: SimTime| if noticed <= start + REPAIR_AFTER { start } else { noticed };
    nodes.into_iter().map(|(node, noticed)| (run.names.node(node).to_owned(), since(noticed))).collect()
}
