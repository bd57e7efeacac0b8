//! One answer: plays the inputs, walks the path of what is asked about, and tries the levers that concern it.

use super::Load;
use super::blocked::{self, Blocked};
use super::facts::Facts;
use super::levers::Setting;
use super::tries::Target;
use crate::experiment::{Played, play};
use crate::format;
use crate::metrics::restarts::critical;
use crate::metrics::restarts::path::{Part, Path, PathStep};
use crate::metrics::restarts::restart;
use crate::metrics::restarts::waits::What;
use crate::metrics::{CriticalSpan, Ending, Folds, Restart, RunView, Witness};
use sim_base::*;
use sim_engine::Simulation;
use sim_engine::faults;
use sim_engine::record::{About, Waited};
use sim_inputs::LoadedScenario;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// From 1, as `run` numbers them; without it the one that never ended, or the longest.
    pub restart: Option<usize>,
    /// A pod by its name without the random suffix.
    pub pod: Option<String>,
    pub seed: Option<u64>,
    /// Failures of the command line, which are no fields that could be set.
    pub extra_faults: usize,
    /// 0: as many as there are cores.
    pub threads: usize,
    /// Without what-ifs.
    pub path_only: bool,
    /// The inputs are manifests: their metadata can be set, and no cluster.
    pub of_manifests: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum NoAnswer {
    /// Wrong inputs, or a question about what does not exist.
    Invalid(String),
}

/// What the answer is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// `restart`, `start`, `pod`, or `none` where nothing could begin.
    pub kind: &'static str,
    /// The heading.
    pub title: String,
    /// What began it, in words; empty where nothing went wrong.
    pub cause: String,
    pub jobset: String,
    /// Of a restart, from 1, and how many there are.
    pub number: Option<(usize, usize)>,
    pub start: Time,
    pub end: Time,
    /// Whether it came to its end.
    pub ended: bool,
}

impl Subject {
    pub fn total(&self) -> Duration {
        self.end.since(self.start)
    }
}

/// A what-if that saves time, or ends what never ended.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    pub setting: Setting,
    pub takes: Duration,
    pub saves: Duration,
    /// Of a combination: what its parts save each for itself, added up.
    pub parts_save: Option<Duration>,
}

/// What was waited for longest.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// As `run` names it.
    pub name: String,
    pub time: Duration,
    /// Place in `what_if` of what acts on it best.
    pub lever: Option<usize>,
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    pub scenario: String,
    pub seed: u64,
    pub digest: String,
    pub subject: Subject,
    pub spans: Vec<CriticalSpan>,
    /// What it waited for longest, in words, and what of `what_if` acts on that best.
    pub binding: Option<Binding>,
    /// Sorted by what they save, the most first.
    pub what_if: Vec<WhatIf>,
    /// Tried, and it took as long or longer.
    pub no_help: Vec<(Setting, Option<Duration>)>,
    /// Not expressible here, with the reason.
    pub not_tried: Vec<(Setting, String)>,
    pub blocked: Option<Blocked>,
    /// Whether the pods of some JobSet never found nodes.
    pub unplaced: bool,
}

pub fn explain(load: &Load<'_>, asked: &Asked) -> Result<Why, NoAnswer> {
    let loaded = load(&[]).map_err(NoAnswer::Invalid)?;
    let seed = asked.seed.unwrap_or(loaded.scenario.seed);
    let scenario = faults::drawn(&loaded.scenario, seed, 0);
    let mut simulation = match Simulation::new(&scenario) {
        Ok(simulation) => simulation,
        Err(why) => return unplaceable(load, asked, &loaded, seed, &why.to_string()),
    };
    let folds = Folds::new(&scenario, false);
    let (played, witness) = play(&mut simulation, (seed, 0), folds, Witness::default());
    let case = Case {
        asked,
        loaded: &loaded,
        played: &played,
        seed,
    };
    let found = case.find(&mut simulation, witness)?;
    case.answer(load, found)
}

/// What no cluster of the inputs could take.
fn unplaceable(
    load: &Load<'_>,
    asked: &Asked,
    loaded: &LoadedScenario,
    seed: u64,
    why: &str,
) -> Result<Why, NoAnswer> {
    let jobset = JobSetId(0);
    let name = loaded.scenario.jobsets.first();
    let name = name.map_or(String::new(), |s| s.jobset.name.clone());
    let path = Path::default();
    let facts = Facts {
        scenario: &loaded.scenario,
        jobset,
        path: &path,
        fired: &[],
        in_file: loaded
            .scenario
            .faults
            .len()
            .saturating_sub(asked.extra_faults),
        silent: None,
        blocked: true,
        failed: false,
        unplaced: true,
        of_manifests: asked.of_manifests,
    };
    let mut answer = Why {
        scenario: loaded.scenario.name.clone(),
        seed,
        digest: String::new(),
        subject: Subject {
            kind: "none",
            title: format!("JobSet {name} cannot be placed"),
            cause: String::new(),
            jobset: name.clone(),
            number: None,
            start: Time::ZERO,
            end: Time::ZERO,
            ended: false,
        },
        spans: Vec::new(),
        binding: None,
        what_if: Vec::new(),
        no_help: Vec::new(),
        not_tried: Vec::new(),
        blocked: Some(Blocked::new(
            format!("JobSet {name}"),
            why.trim().to_owned(),
        )),
        unplaced: true,
    };
    if !asked.path_only {
        answer.try_out(load, &facts, (Target::Start { jobset }, asked))?;
    }
    Ok(answer)
}

/// What was found to explain.
struct Found<'p> {
    subject: Subject,
    path: Path,
    restart: Option<&'p Restart>,
    target: Target,
    blocked: Option<Blocked>,
    witness: Witness,
}

struct Case<'c> {
    asked: &'c Asked,
    loaded: &'c LoadedScenario,
    played: &'c Played,
    seed: u64,
}

impl<'c> Case<'c> {
    fn run(&self) -> RunView<'c> {
        self.played.view(self.seed, &[])
    }

    fn find(&self, simulation: &mut Simulation, witness: Witness) -> Result<Found<'c>, NoAnswer> {
        let restarts = &self.played.folded.restarts;
        if let Some(name) = &self.asked.pod {
            return self.pod(simulation, name);
        }
        let failed = |r: &RunView<'_>| {
            let mut all = r.outcome.jobsets.iter();
            all.position(|o| o.terminal_state == "Failed")
        };
        let number = match self.asked.restart {
            Some(n) if n == 0 || n > restarts.len() => {
                let there = format::count(restarts.len() as u64, "restart");
                return Err(NoAnswer::Invalid(format!(
                    "--restart {n}: the run has {there}; they are numbered from 1"
                )));
            }
            Some(n) => Some(n - 1),
            None => restart::longest(restarts),
        };
        let jobset_failed = failed(&self.run());
        match number {
            Some(at) => Ok(self.restart(at, witness)),
            None => {
                let jobset = JobSetId(
                    jobset_failed
                        .or_else(|| self.not_ready(&witness))
                        .unwrap_or(0) as u32,
                );
                Ok(self.start(simulation, jobset))
            }
        }
    }

    /// The first JobSet that was never ready, else the one that took longest.
    fn not_ready(&self, witness: &Witness) -> Option<usize> {
        let all = (0..self.played.outcome.jobsets.len()).collect::<Vec<_>>();
        let takes = |i: usize| witness.start(JobSetId(i as u32)).takes();
        let never = all.iter().copied().find(|i| takes(*i).is_none());
        never.or_else(|| all.into_iter().rev().max_by_key(|i| takes(*i)))
    }

    fn restart(&self, at: usize, witness: Witness) -> Found<'c> {
        let run = self.run();
        let restart = &self.played.folded.restarts[at];
        let of = &self.played.folded.restarts;
        let before = of[..at].iter().filter(|r| r.jobset == restart.jobset);
        let nth = before.count();
        let blocked = blocked::jobset(&run, restart.jobset).filter(|_| {
            let last = of.iter().rposition(|r| r.jobset == restart.jobset);
            last == Some(at)
        });
        let failed = self.failed(restart.jobset) && blocked.is_some();
        Found {
            subject: Subject {
                kind: "restart",
                title: format::restart_title(&run, restart, at + 1),
                cause: format::cause(&run, &restart.cause),
                jobset: run.names.jobset(restart.jobset).to_owned(),
                number: Some((at + 1, of.len())),
                start: restart.start,
                end: restart.end,
                ended: restart.ending == Ending::Ready,
            },
            path: restart.path.clone(),
            target: match failed && restart.ending != Ending::Ready {
                true => Target::Survival {
                    jobset: restart.jobset,
                },
                false => Target::Restart {
                    jobset: restart.jobset,
                    nth,
                },
            },
            restart: Some(restart),
            blocked,
            witness,
        }
    }

    fn failed(&self, jobset: JobSetId) -> bool {
        let outcome = self.played.outcome.jobsets.get(jobset.ix());
        outcome.is_some_and(|o| o.terminal_state == "Failed")
    }

    fn again(&self, simulation: &mut Simulation, pod: Option<&str>) -> Witness {
        let mut witness = Witness::with_tickets(pod);
        simulation.run(self.seed, 0, &mut witness);
        witness
    }

    fn start(&self, simulation: &mut Simulation, jobset: JobSetId) -> Found<'c> {
        let run = self.run();
        let witness = self.again(simulation, None);
        let way = witness.start(jobset);
        let name = run.names.jobset(jobset);
        let end = way.ready.unwrap_or(run.outcome.end);
        let start = way.created.unwrap_or(Time::ZERO);
        let path = witness.path(&way, end, About::JobSet(jobset));
        let takes = format::seconds(end.since(start));
        let title = match way.ready {
            Some(_) => format!(
                "Start of JobSet {name}: {takes} from its creation until every pod was ready; no restart"
            ),
            None => format!(
                "Start of JobSet {name}: {takes} from its creation to the end of the run, NEVER READY"
            ),
        };
        Found {
            subject: Subject {
                kind: "start",
                title,
                cause: String::new(),
                jobset: name.to_owned(),
                number: None,
                start,
                end,
                ended: way.ready.is_some(),
            },
            path: path.unwrap_or_default(),
            restart: None,
            target: match self.failed(jobset) {
                true => Target::Survival { jobset },
                false => Target::Start { jobset },
            },
            blocked: blocked::jobset(&run, jobset),
            witness,
        }
    }

    fn pod(&self, simulation: &mut Simulation, name: &str) -> Result<Found<'c>, NoAnswer> {
        let run = self.run();
        let meant = sim_inputs::pods_meant(&self.loaded.scenario.jobsets, name);
        let name = match meant.as_slice() {
            [one] => one.clone(),
            _ => name.to_owned(),
        };
        let witness = self.again(simulation, Some(&name));
        let pod = witness.asked.clone().unwrap_or_default();
        let (Some(id), Some(job)) = (pod.pod, pod.job) else {
            let known = sim_inputs::pod_names(&self.loaded.scenario.jobsets);
            return Err(NoAnswer::Invalid(format!(
                "--pod {name}: no pod of that name was ever created\n  legal: {known}"
            )));
        };
        let jobset = run.names.jobset_of(job).unwrap_or(JobSetId(0));
        let end = pod.way.ready.unwrap_or(run.outcome.end);
        let start = pod.way.created.unwrap_or(Time::ZERO);
        let takes = format::seconds(end.since(start));
        let title = match pod.way.ready {
            Some(_) => format!("Pod {name}: {takes} from its creation until it was ready"),
            None => {
                format!("Pod {name}: {takes} from its creation to the end of the run, NEVER READY")
            }
        };
        let pending = pod.unschedulable.filter(|_| pod.way.ready.is_none());
        let pending = pending.map(|id| run.names.text(id).to_owned());
        let condition = pending.or_else(|| {
            let why = blocked::jobset(&run, jobset)?.condition;
            Some(why).filter(|_| pod.way.ready.is_none())
        });
        Ok(Found {
            subject: Subject {
                kind: "pod",
                title,
                cause: String::new(),
                jobset: run.names.jobset(jobset).to_owned(),
                number: None,
                start,
                end,
                ended: pod.way.ready.is_some(),
            },
            path: witness
                .path(&pod.way, end, About::Pod(id))
                .unwrap_or_default(),
            restart: None,
            target: Target::Start { jobset },
            blocked: condition.map(|c| Blocked::new(format!("pod {name}"), c)),
            witness,
        })
    }

    fn answer(&self, load: &Load<'_>, found: Found<'_>) -> Result<Why, NoAnswer> {
        let run = self.run();
        let Found {
            subject,
            path,
            restart,
            target,
            blocked,
            witness,
        } = found;
        let silent = silent_nodes(&run, &witness, &path, restart);
        let facts = Facts {
            scenario: &self.loaded.scenario,
            jobset: target.jobset(),
            path: &path,
            fired: &witness.fired,
            in_file: self
                .loaded
                .scenario
                .faults
                .len()
                .saturating_sub(self.asked.extra_faults),
            silent: silent.as_ref().map(|(names, since)| (&names[..], *since)),
            blocked: blocked.is_some(),
            failed: self.failed(target.jobset()),
            unplaced: false,
            of_manifests: self.asked.of_manifests,
        };
        let is_pod = subject.kind == "pod";
        let mut answer = Why {
            scenario: self.loaded.scenario.name.clone(),
            seed: self.seed,
            digest: run.digest(),
            spans: critical::spans(&run, &witness, &path, restart),
            subject,
            binding: None,
            what_if: Vec::new(),
            no_help: Vec::new(),
            not_tried: Vec::new(),
            blocked,
            unplaced: run.never_placed().is_some(),
        };
        // Of a pod that came up there is nothing to try: what is asked of is its JobSet.
        if !self.asked.path_only && (!is_pod || answer.blocked.is_some()) {
            answer.try_out(load, &facts, (target, self.asked))?;
        }
        let pods = restart.map_or(1, |r| r.pods);
        answer.bind(&run, &facts, pods);
        Ok(answer)
    }
}

/// The nodes that somebody on the path waits for in vain, the one it began with first, and since when.
fn silent_nodes(
    run: &RunView<'_>,
    witness: &Witness,
    path: &Path,
    restart: Option<&Restart>,
) -> Option<(Vec<String>, Time)> {
    let waits = |s: &PathStep| {
        let silent = What::of(s) == What::Mechanism(Waited::SilentNode);
        silent || s.part == Part::Open || s.waited == Waited::PodGc
    };
    let restart = restart.filter(|_| path.steps.iter().any(waits))?;
    let first = restart.cause.node;
    let mut nodes = witness.silent_within(restart.start, restart.end);
    nodes.retain(|node| *node != first);
    if first.is_some() {
        nodes.insert(0, first);
    }
    let names: Vec<String> = nodes
        .iter()
        .map(|node| run.names.node(*node).to_owned())
        .collect();
    (!names.is_empty()).then(|| (names, path.steps[0].from))
}
