//! Compares one recording with one run: what they agree and disagree about.
//!
//! Must never run anything: it gets an `Observed` run, hand-made in tests.

use super::decisions::history::History;
use super::milestones::{self, IN_PLACE, RECREATE};
use super::recording::{Kind, Recording};
use super::result::*;
use super::run_steps::RunSteps;
use super::scenario::NotSimulated;
use super::{decisions, nodes, requests};
use sim_analysis::metrics;
use sim_analysis::metrics::RestartFold;
use sim_analysis::metrics::pods::PodFold;
use sim_api::spec::Scenario;
use sim_engine::record::*;
use std::collections::BTreeMap;

/// Everything that the comparison needs of a run.
pub struct Observed {
    pub outcome: RunOutcome,
    pub names: Names,
    pub sink: Observer,
    /// The first restart, as `run` reports it; only of kind `times`.
    pub restart: Option<metrics::Restart>,
}

/// The sink of a run that is compared with a recording.
pub struct Observer {
    pub restarts: RestartFold,
    pub history: History,
    pub steps: RunSteps,
    pub pods: PodFold,
    kind: Kind,
}

impl Observer {
    pub fn new(recording: &Recording, scenario: &Scenario) -> Observer {
        Observer {
            restarts: RestartFold::new(scenario).without_paths(),
            history: History::default(),
            steps: RunSteps::default(),
            pods: PodFold::default(),
            kind: recording.kind,
        }
    }
}

impl Sink for Observer {
    fn record(&mut self, record: &Record, names: &Names) {
        match self.kind {
            Kind::Times => self.restarts.record(record, names),
            _ => {
                self.history.record(record, names);
                self.steps.record(record, names);
                self.pods.record(record, names);
            }
        }
    }

    fn wants_events(&self) -> bool {
        self.kind.has_decisions()
    }

    fn event(&mut self, event: &StoredEvent) {
        self.history.event(event);
    }
}

/// Why there is no run to compare with.
pub enum NoRun {
    /// The model has no word for something in the script.
    NotSimulated(NotSimulated),
    /// The real control plane accepted the JobSet, the program did not: a difference like any other.
    Refused(String),
    /// The real control plane refused the JobSet: only the answers are compared.
    Rejected { recorded: String, simulated: String },
}

fn is_in_place(recording: &Recording) -> bool {
    let strategy = recording.milestones.as_ref().map(|m| m.strategy.as_str());
    strategy == Some("InPlaceRestart")
}

/// Compares, whatever became of the run.
pub fn compare(file: &str, recording: &Recording, run: Result<&Observed, NoRun>) -> FileResult {
    let mut result = FileResult::new(file, recording.kind);
    result.about = recording.about.clone();
    match run {
        Err(NoRun::NotSimulated(NotSimulated(reasons))) => {
            result.not_simulated = reasons;
            // An error that nobody measured must not look like none.
            if recording.kind == Kind::Times {
                result.restart = restart(recording, |_| None);
            }
        }
        Err(NoRun::Refused(reason)) if recording.kind == Kind::Times => {
            result.about = format!("{}; refused: {reason}", result.about);
            result.restart = restart(recording, |_| None);
        }
        Err(NoRun::Refused(reason)) => {
            result.differences = Some(vec![Difference::new("jobSet", "accepted", reason)]);
        }
        Err(NoRun::Rejected {
            recorded,
            simulated,
        }) => {
            let differs = recorded != simulated;
            let difference = Difference::new("jobSet", recorded, simulated);
            result.differences = Some(differs.then_some(difference).into_iter().collect());
        }
        Ok(run) if recording.kind == Kind::Times => times(recording, run, &mut result),
        Ok(run) => {
            let Observed {
                outcome,
                names,
                sink,
                ..
            } = run;
            let compared = decisions::Run {
                outcome,
                history: &sink.history,
                steps: &sink.steps,
                pods: sink.pods.rows(),
                names,
            };
            let mut found = decisions::compare(recording, &compared);
            if recording.kind == Kind::Nodes {
                let (late, steps) = nodes::compare(recording, &sink.steps, names);
                found.extend(late);
                result.milestones = steps;
            }
            result.differences = Some(found);
        }
    }
    result
}

fn times(recording: &Recording, run: &Observed, result: &mut FileResult) {
    let Some(recorded) = &recording.milestones else {
        return;
    };
    let restart_of_run = run.restart.as_ref();
    let simulated = restart_of_run.map_or(BTreeMap::new(), |restart| {
        milestones::seconds(restart, is_in_place(recording), recorded.origin.as_deref())
    });
    let known: &[&str] = if is_in_place(recording) {
        &IN_PLACE
    } else {
        &RECREATE
    };
    let others = recorded.milestones_s.keys().map(String::as_str);
    let others = others.filter(|name| !known.contains(name));
    for name in known.iter().copied().chain(others) {
        let milestone = Milestone {
            name: name.to_owned(),
            recorded_s: recorded.milestones_s.get(name).copied(),
            simulated_s: simulated.get(name).copied(),
        };
        if milestone.recorded_s.is_some() || milestone.simulated_s.is_some() {
            result.milestones.push(milestone);
        }
    }
    result.restart = restart(recording, |name| simulated.get(name).copied());
    if let Some(recorded) = &recording.requests {
        result.requests = requests::compare(recorded, &run.outcome.requests);
    }
}

/// The restart's total, or the last milestone that counts.
fn restart(recording: &Recording, simulated: impl Fn(&str) -> Option<f64>) -> Option<Restart> {
    let recorded = recording.milestones.as_ref()?;
    let milestone = match &recording.scored_up_to {
        Some(name) => name.as_str(),
        None => milestones::total(is_in_place(recording)),
    };
    let recorded_s = *recorded.milestones_s.get(milestone)?;
    (recorded_s > 0.0).then(|| Restart {
        milestone: milestone.to_owned(),
        recorded_s,
        simulated_s: simulated(milestone),
        scored: recording.scored != Some(false),
    })
}

#[cfg(test)]
mod tests {
    use super::super::read::tests::example;
    use super::*;
    use serde_json::{Value, json};
    use sim_analysis::metrics::Milestone;
    use sim_analysis::metrics::restarts::restart::Cause;
    use sim_base::*;

    fn times_recording(edit: impl FnOnce(&mut Value)) -> Recording {
        example(|j| {
            j["kind"] = "times".into();
            j["milestones"] = json!({"strategy": "Recreate",
                "milestones_s": {"lastPodCreated": 2.0, "lastPodReady": 4.0, "firstJobGone": 1.0}});
            edit(j);
        })
    }

    fn observed(recording: &Recording) -> Observed {
        let scenario = super::super::scenario::tests::plain(recording, Default::default());
        let s = |tenths: u64| Time(tenths * 100_000_000);
        let mut restart = metrics::Restart::new(JobSetId(0), s(10), Cause::UNKNOWN);
        restart.first(Milestone::PodFailed, s(10));
        restart.first(Milestone::FirstPodCreated, s(32));
        restart.last(Milestone::LastPodCreated, s(32));
        restart.last(Milestone::LastReady, s(50));
        Observed {
            outcome: RunOutcome {
                end: Time::ZERO,
                end_reason: EndReason::Settled,
                digest: 0,
                records: 0,
                events: 0,
                jobsets: Vec::new(),
                training: Vec::new(),
                ledger: Ledger::default(),
                resources: Vec::new(),
                requests: Vec::new(),
                stuck: Vec::new(),
                warnings: Vec::new(),
            },
            names: Names::default(),
            sink: Observer::new(recording, &scenario.unwrap()),
            restart: Some(restart),
        }
    }

    #[test]
    fn the_restart_is_the_last_milestone_that_counts() {
        for (up_to, expected) in [
            (None, ("lastPodReady", 4.0, Some(4.0))),
            (Some("lastPodCreated"), ("lastPodCreated", 2.0, Some(2.2))),
            (Some("firstJobGone"), ("firstJobGone", 1.0, None)),
        ] {
            let r = times_recording(|j| j["scoredUpTo"] = json!(up_to));
            let result = compare("f", &r, Ok(&observed(&r)));
            let restart = result.restart.unwrap();
            let seen = (
                restart.milestone.as_str(),
                restart.recorded_s,
                restart.simulated_s,
            );
            assert_eq!(seen, expected);
            assert!(restart.scored && result.differences.is_none());
        }
    }

    #[test]
    fn milestones_are_listed_in_their_order_with_gaps() {
        let r = times_recording(|j| j["scored"] = false.into());
        let result = compare("f", &r, Ok(&observed(&r)));
        let names: Vec<&str> = result.milestones.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "firstJobGone",
                "firstPodCreated",
                "lastPodCreated",
                "lastPodReady"
            ]
        );
        assert_eq!(result.milestones[0].simulated_s, None);
        assert!(!result.restart.unwrap().scored);
    }

    #[test]
    fn a_refused_jobset_is_a_difference_and_an_unknown_action_is_not() {
        let r = example(|_| {});
        let refused = compare("f", &r, Err(NoRun::Refused("no".into())));
        assert_eq!(refused.differences.unwrap()[0].path, "jobSet");
        let skipped = || NoRun::NotSimulated(NotSimulated(vec!["action patch".into()]));
        let result = compare("f", &r, Err(skipped()));
        assert_eq!(result.verdict(), Some(Verdict::NotSimulated));
        assert_eq!(result.not_simulated, ["action patch"]);
        let r = times_recording(|_| {});
        for no_run in [NoRun::Refused("no".into()), skipped()] {
            let result = compare("f", &r, Err(no_run));
            assert_eq!(result.restart.unwrap().error(), -1.0);
        }
    }
}
