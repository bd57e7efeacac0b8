//! Simulates the levers that concern a case, alone and in combination, and sorts the results.

use super::explain::{BindingConstraint, DrawShare, WhatIf, WhyExplanation, WhyRequest};
use super::facts::{JobSetEnding, RunFacts, is_of_kueue};
use super::levers::{self, LeverSetting};
use super::no_answer::{NoAnswer, TrialError};
use super::trials::{self, MeasuredTrial, TrialTarget, TriedChange};
use super::{OverrideSetter, ScenarioLoader};
use crate::admission::placement;
use crate::{metrics::RunView, metrics::restarts::bottleneck, metrics::restarts::critical_spans::counts};
use crate::{metrics::restarts::path::CriticalPath, metrics::restarts::waits::WaitKind};
use sim_base::Duration;
use sim_engine::record::TicketWait;

/// Number of levers that are tried in combination.
const COMBINED: usize = 3;
/// Minimum saving, as a fraction (one in `ACTS`) of the longest wait, for a lever to count as acting on that wait.
const ACTS: u64 = 10;

/// Maximum numbers of further restarts and nodes in the search for the smallest value, beyond the first one.
const RESTARTS_MAX: u32 = 1000;
const NODES_MAX: u32 = 63;

/// Number of draws of the placement in which a change is tried.
const DRAWS: u64 = 10;

type TrialOutcome = (LeverSetting, Result<MeasuredTrial, TrialError>);

fn simulate(
    load: &ScenarioLoader<'_>, settings: &[LeverSetting], (target, request): (&TrialTarget, &WhyRequest),
) -> Result<Vec<TrialOutcome>, NoAnswer> {
    let tried = trials::simulate_all(load, settings, (target, request.seed), request.threads)?;
    let one = |t: TriedChange<'_>| (t.setting.clone(), t.result);
    Ok(tried.into_iter().map(one).collect())
}

impl WhyExplanation {
    /// Simulates every setting that concerns the case, and combinations of the best ones.
    pub(super) fn try_out(
        &mut self, load: &ScenarioLoader<'_>, facts: &RunFacts<'_>, (target, request): (&TrialTarget, &WhyRequest),
    ) -> Result<(), NoAnswer> {
        let mut replication = simulate(load, &levers::settings(facts), (target, request))?;
        for (setting, result) in &mut replication {
            with_fewer_nodes(load, (setting, result), (target, request))?;
        }
        self.find_smallest(load, &mut replication, (target, request))?;
        self.discard_harmful(load, facts, &mut replication, (target, request))?;
        let resolving = self.unblock(load, facts, &mut replication, (target, request))?;
        for (setting, result) in replication {
            self.take(setting, result, None);
        }
        // A change that resolves the blocking condition helps, even if it does not shorten the subject.
        self.no_help.retain(|(setting, _)| resolving.iter().all(|(known, _)| known.lever != setting.lever));
        self.forget_other_ways();
        let best = self.best();
        let pairs: Vec<(LeverSetting, Duration)> = combinations(&best);
        let together: Vec<LeverSetting> = pairs.iter().map(|(s, _)| s.clone()).collect();
        let mut together = simulate(load, &together, (target, request))?;
        self.discard_harmful(load, facts, &mut together, (target, request))?;
        for ((setting, result), (_, parts)) in together.into_iter().zip(pairs) {
            // A combination is only reported if it saves noticeably more than each of its parts.
            let parts_of = self.what_if.iter().filter(|w| setting.contains(&w.setting));
            let most = parts_of.map(|w| w.saves).max().unwrap_or(Duration::ZERO);
            let before = self.subject.total();
            if let Some(takes) = result.as_ref().ok().and_then(|trial| trial.takes())
                && counts(Duration(before.0.saturating_sub(takes.0).saturating_sub(most.0)), before)
            {
                self.take(setting, result, Some(parts));
            }
        }
        let is_blocked = self.blocked.is_some() || facts.waits_for(TicketWait::Unschedulable);
        if is_blocked && !facts.unplaced && placement::is_drawn(facts.scenario) {
            self.repeat_in_draws(load, &resolving, (target, request))?;
        }
        self.forget_larger_spares(load);
        self.what_if.sort_by(|a, b| (b.saves, a.takes).cmp(&(a.saves, b.takes)));
        // If the subject never ends, the table begins with the change that is recommended.
        let change = self.blocked.as_ref().and_then(|blocked| blocked.change.as_ref()).map(|(setting, _)| setting);
        if let Some(change) = change.filter(|_| !self.subject.ended) {
            self.what_if.sort_by_key(|w| (w.setting != *change, !w.setting.ends_blocker()));
        }
        Ok(())
    }

    /// Replaces the results of changes with which a JobSet fails or is blocked that otherwise is not, or the explained
    /// one is lost no later. These are no savings. Only changes with a significant saving are simulated to the end.
    fn discard_harmful(
        &self, load: &ScenarioLoader<'_>, facts: &RunFacts<'_>, trials: &mut [TrialOutcome],
        (target, request): (&TrialTarget, &WhyRequest),
    ) -> Result<(), NoAnswer> {
        if facts.endings.is_empty() {
            return Ok(());
        }
        let before = self.subject.total();
        let saves = |(_, result): &TrialOutcome| {
            let takes = result.as_ref().ok().and_then(|trial| trial.takes())?;
            (!self.subject.ended || counts(Duration(before.0.saturating_sub(takes.0)), before)).then_some(())
        };
        let helpful: Vec<usize> = (0..trials.len()).filter(|at| saves(&trials[*at]).is_some()).collect();
        let settings: Vec<&[OverrideSetter]> = helpful.iter().map(|at| trials[*at].0.sets.as_slice()).collect();
        let endings = trials::simulate_endings(load, &settings, request.seed, request.threads)?;
        let own = target.jobset().ix();
        let is_harmful = |(row, ending): (usize, &JobSetEnding)| {
            let is_blocked = row == own && self.blocked.is_some();
            let was_lost = is_blocked || facts.endings.get(row).is_none_or(|known| known.is_lost());
            match (ending, was_lost) {
                (ending, false) => ending.is_lost(),
                // It would be lost by something later in any case.
                (JobSetEnding::Failed { at }, true) => row == own && self.subject.ended && *at <= self.subject.end,
                (_, true) => false,
            }
        };
        for (at, endings) in helpful.into_iter().zip(endings) {
            if endings.iter().enumerate().any(is_harmful) {
                trials[at].1 = Ok(MeasuredTrial::NeverEnded);
            }
        }
        Ok(())
    }

    /// Repeats the changes that help in other draws of the placement. Changes that help in no more draws than the
    /// unchanged inputs only change the draw.
    fn repeat_in_draws(
        &mut self, load: &ScenarioLoader<'_>, resolving: &[(LeverSetting, Duration)],
        (target, request): (&TrialTarget, &WhyRequest),
    ) -> Result<(), NoAnswer> {
        let unchanged: &[OverrideSetter] = &[];
        let (kept, repeated): (Vec<WhatIf>, Vec<WhatIf>) =
            std::mem::take(&mut self.what_if).into_iter().partition(|w| w.setting.is_of_placement());
        self.what_if = kept;
        if repeated.is_empty() {
            return Ok(());
        }
        let changed = repeated.iter().map(|w| w.setting.sets.as_slice());
        let settings: Vec<&[OverrideSetter]> = std::iter::once(unchanged).chain(changed).collect();
        let sampling = (DRAWS, request.threads);
        let mut results = trials::simulate_draws(load, &settings, (target, request.seed), sampling)?.into_iter();
        let base = results.next().unwrap_or_default();
        let (before, ended) = (self.subject.total(), self.subject.ended);
        for (w, own) in repeated.into_iter().zip(results) {
            let most = Duration(before.0 - w.saves.0 / 2);
            let helps = |trial: &&MeasuredTrial| trial.takes().is_some_and(|takes| !ended || takes <= most);
            let count = |trials: &[MeasuredTrial]| trials.iter().filter(helps).count() as u64;
            let share = DrawShare { with_change: count(&own), unchanged: count(&base), draws: DRAWS };
            if share.with_change > share.unchanged {
                self.what_if.push(WhatIf { draws: Some(share), ..w });
            } else if w.parts_save.is_none() {
                self.no_help.push((w.setting, Some(w.takes)));
            }
        }
        if !ended && let Some(blocked) = &mut self.blocked {
            let smallest =
                |(setting, _): &&(LeverSetting, Duration)| self.what_if.iter().any(|w| w.setting == *setting);
            blocked.change = resolving.iter().find(smallest).cloned();
        }
        Ok(())
    }

    /// Replaces settings whose value is too small by the smallest value with which the JobSet does not fail or the
    /// subject is completed, found by doubling and bisection.
    fn find_smallest(
        &self, load: &ScenarioLoader<'_>, replication: &mut [TrialOutcome],
        (target, request): (&TrialTarget, &WhyRequest),
    ) -> Result<(), NoAnswer> {
        if self.subject.ended && self.blocked.is_none() {
            return self.find_fewest_nodes(load, replication, (target, request));
        }
        let survival = TrialTarget::Survival { jobset: target.jobset() };
        let goal = if self.subject.ended { &survival } else { target };
        let ends = |(_, result): &TrialOutcome| result.as_ref().is_ok_and(|trial| trial.takes().is_some());
        let has_spares = replication.iter().any(|trial| trial.0.adds_nodes() && ends(trial));
        for (setting, result) in replication.iter_mut() {
            let resolves = |by: u32| -> Result<bool, NoAnswer> {
                let Some(larger) = setting.larger(by) else { return Ok(false) };
                Ok(simulate(load, &[larger], (goal, request))?.iter().any(ends))
            };
            let most = if setting.adds_nodes() { NODES_MAX } else { RESTARTS_MAX };
            // The largest value comes first: most subjects that it does not help have another cause.
            let is_searched = setting.larger(0).is_some() && !(setting.adds_nodes() && has_spares);
            if !is_searched || resolves(0)? || !resolves(most)? {
                continue;
            }
            let (mut fails, mut helps) = (0, 1);
            while helps < most && !resolves(helps)? {
                (fails, helps) = (helps, (helps * 2).min(most));
            }
            while helps - fails > 1 {
                let middle = fails + (helps - fails) / 2;
                if resolves(middle)? { helps = middle } else { fails = middle }
            }
            if let Some(larger) = setting.larger(helps) {
                for (_, again) in simulate(load, std::slice::from_ref(&larger), (target, request))? {
                    *result = again;
                }
                *setting = larger;
            }
        }
        Ok(())
    }

    /// Raises the number of nodes in each domain to the smallest one that saves at least half as much as a larger
    /// extension of a pool, if one node saves less.
    fn find_fewest_nodes(
        &self, load: &ScenarioLoader<'_>, replication: &mut [TrialOutcome],
        (target, request): (&TrialTarget, &WhyRequest),
    ) -> Result<(), NoAnswer> {
        let before = self.subject.total();
        let saves = |(_, result): &TrialOutcome| {
            let takes = result.as_ref().ok().and_then(|trial| trial.takes());
            takes.map_or(0, |takes| before.0.saturating_sub(takes.0))
        };
        let nodes = |setting: &LeverSetting| Some(load(&setting.sets).ok()?.scenario.topology.nodes());
        let extensions = || replication.iter().filter(|trial| trial.0.adds_nodes());
        let Some(most) = extensions().map(saves).max().filter(|most| counts(Duration(*most), before)) else {
            return Ok(());
        };
        let is_enough = |trial: &TrialOutcome| saves(trial) >= most / 2;
        let Some(largest) = extensions().filter(|trial| is_enough(trial)).filter_map(|t| nodes(&t.0)).min() else {
            return Ok(());
        };
        for (setting, result) in replication.iter_mut().filter(|trial| trial.0.adds_nodes()) {
            let is_smaller = |more: &LeverSetting| nodes(more).is_some_and(|nodes| nodes < largest);
            if setting.larger(0).is_none() || saves(&(setting.clone(), result.clone())) >= most / 2 {
                continue;
            }
            for by in 1..NODES_MAX {
                let Some(more) = setting.larger(by).filter(is_smaller) else { break };
                let trials = simulate(load, std::slice::from_ref(&more), (target, request))?;
                if let Some((more, again)) = trials.into_iter().find(is_enough) {
                    (*setting, *result) = (more, again);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns the settings that resolve the blocking condition, and notes the smallest one: of those that end the
    /// condition itself, otherwise of all, the one with the shortest duration. If the subject itself was completed, the
    /// settings are simulated again to the end of the run.
    fn unblock(
        &mut self, load: &ScenarioLoader<'_>, facts: &RunFacts<'_>, replication: &mut [TrialOutcome],
        (target, request): (&TrialTarget, &WhyRequest),
    ) -> Result<Vec<(LeverSetting, Duration)>, NoAnswer> {
        if self.blocked.is_none() {
            return Ok(Vec::new());
        }
        let again;
        let to_the_end = if !self.subject.ended {
            &*replication
        } else {
            let settings: Vec<LeverSetting> = replication.iter().map(|(s, _)| s.clone()).collect();
            let jobset = target.jobset();
            again = simulate(load, &settings, (&TrialTarget::Survival { jobset }, request))?;
            &again
        };
        let ends = |(setting, result): &TrialOutcome| Some((setting.clone(), result.as_ref().ok()?.takes()?));
        let mut resolving: Vec<(LeverSetting, Duration)> = to_the_end.iter().filter_map(ends).collect();
        let mut is_unfinished = false;
        if facts.failed || facts.exceeds_limit {
            // A JobSet that repeats its failure up to the time limit has only more attempts.
            let sets: Vec<&[OverrideSetter]> = resolving.iter().map(|(setting, _)| setting.sets.as_slice()).collect();
            let endings = trials::simulate_endings(load, &sets, request.seed, request.threads)?;
            let own = target.jobset().ix();
            let mut complete = endings.iter().map(|endings| endings.get(own) == Some(&JobSetEnding::Completed));
            is_unfinished = !complete.clone().any(|is_complete| is_complete);
            // A longer time limit that does not suffice for the work only postpones the failure.
            resolving.retain(|(setting, _)| {
                let is_complete = complete.next().unwrap_or(false);
                is_complete || is_unfinished && !setting.is_time_limit()
            });
            for (setting, result) in replication.iter_mut().filter(|_| !self.subject.ended) {
                if resolving.iter().all(|(known, _)| known != setting) && result.is_ok() {
                    *result = Ok(MeasuredTrial::NeverEnded);
                }
            }
        }
        // A stable sort leaves equal durations in ascending order of intervention.
        resolving.sort_by_key(|(setting, takes)| (!setting.ends_blocker(), *takes));
        if let Some(blocked) = &mut self.blocked {
            blocked.change = resolving.first().cloned();
            blocked.is_unfinished = is_unfinished && blocked.change.is_some();
        }
        Ok(resolving)
    }

    /// Sets the longest wait of the path, and the best change that acts on it.
    pub(super) fn bind(&mut self, run: &RunView<'_>, facts: &RunFacts<'_>, pods: u32) {
        let Some(gate) = bottleneck::longest(run, facts.path, facts.jobset, pods) else {
            return;
        };
        let on_gate = facts.path.steps.iter().filter(|s| WaitKind::from_step(s) == gate.what);
        let path = CriticalPath { steps: on_gate.copied().collect() };
        let nothing = CriticalPath::default();
        let with = |path| levers::settings(&RunFacts { path, ..*facts });
        let (own, always) = (with(&path), with(&nothing));
        // Every restart with a lost node is tested with its repair, whatever the path is.
        let waits_for_node =
            matches!(gate.what, WaitKind::Mechanism(TicketWait::SilentNode | TicketWait::Unschedulable))
                || facts.lacks_nodes && is_of_kueue(gate.what);
        // Values differ: of the smallest that suffices, and of the time at which a lost node is repaired.
        let contains = |all: &[LeverSetting], s: &LeverSetting| all.iter().any(|known| known.lever == s.lever);
        let acts = |s: &LeverSetting| contains(&own, s) && (waits_for_node || !contains(&always, s));
        let enough = |saves: Duration| !self.subject.ended || saves.0 >= gate.time.0 / ACTS;
        let mut what_if = self.what_if.iter();
        let lever = what_if.position(|w| acts(&w.setting) && enough(w.saves));
        let tested = self.what_if.iter().map(|w| &w.setting).chain(self.no_help.iter().map(|(setting, _)| setting));
        let mut weak = tested.filter(|setting| lever.is_none() && acts(setting));
        let without_effect = weak.next().map(|setting| setting.lever.clone());
        let lacks_nodes = gate.what == WaitKind::Mechanism(TicketWait::PodsReadyTimeout) && facts.lacks_nodes;
        let name = if lacks_nodes { format!("{}; no node fits some pods", gate.name) } else { gate.name };
        self.binding = Some(BindingConstraint { name, time: gate.time, lever, without_effect });
    }

    fn take(&mut self, setting: LeverSetting, result: Result<MeasuredTrial, TrialError>, parts: Option<Duration>) {
        let (before, ended) = (self.subject.total(), self.subject.ended);
        let takes = result.as_ref().ok().and_then(|trial| trial.takes());
        match result {
            Ok(trial) if takes.is_some_and(|takes| takes < before || !ended) => {
                let takes = takes.unwrap_or_default();
                self.what_if.push(WhatIf {
                    setting,
                    takes,
                    saves: Duration(before.0.saturating_sub(takes.0)),
                    is_removed: trial == MeasuredTrial::Removed,
                    parts_save: parts,
                    draws: None,
                });
            }
            // A combination that does not help is not reported.
            _ if parts.is_some() => {}
            Ok(_) => self.no_help.push((setting, takes)),
            Err(why) => self.not_tried.push((setting, first_line(&why.to_string()))),
        }
    }

    /// Removes settings that could not be simulated if another setting of the same lever could be.
    fn forget_other_ways(&mut self) {
        let trials: Vec<String> = self
            .what_if
            .iter()
            .map(|w| w.setting.lever.clone())
            .chain(self.no_help.iter().map(|(s, _)| s.lever.clone()))
            .collect();
        self.not_tried.retain(|(s, _)| !trials.contains(&s.lever));
    }

    /// Removes settings that add more nodes than another one, and save no more time and help in no more draws.
    fn forget_larger_spares(&mut self, load: &ScenarioLoader<'_>) {
        let nodes = |setting: &LeverSetting| Some(load(&setting.sets).ok()?.scenario.topology.nodes());
        let size = |w: &WhatIf| nodes(&w.setting).filter(|_| w.setting.adds_nodes());
        let draws = |w: &WhatIf| w.draws.map_or(0, |share| share.with_change);
        let sizes: Vec<Option<u64>> = self.what_if.iter().map(size).collect();
        let is_smaller_and_as_good = |other: usize, at: usize| {
            let (smaller, larger) = (&self.what_if[other], &self.what_if[at]);
            sizes[other].is_some_and(|nodes| sizes[at].is_some_and(|most| nodes < most))
                && smaller.takes <= larger.takes
                && draws(smaller) >= draws(larger)
        };
        let all = 0..self.what_if.len();
        let kept: Vec<bool> =
            all.clone().map(|at| !all.clone().any(|other| is_smaller_and_as_good(other, at))).collect();
        let mut kept = kept.into_iter();
        self.what_if.retain(|_| kept.next().unwrap_or(true));
    }

    /// Returns the best setting of each of the best levers, with its saving; of alternatives only the best one.
    fn best(&self) -> Vec<(LeverSetting, Duration)> {
        let mut best: Vec<(LeverSetting, Duration)> = Vec::new();
        let mut all: Vec<&WhatIf> = self.what_if.iter().collect();
        all.sort_by_key(|w| std::cmp::Reverse(w.saves));
        for w in all {
            if best.iter().all(|(s, _)| s.families != w.setting.families) {
                best.push((w.setting.clone(), w.saves));
            }
        }
        best.truncate(COMBINED);
        best
    }
}

/// Removes nodes one by one from a setting of several nodes if the subject then takes no longer.
fn with_fewer_nodes(
    load: &ScenarioLoader<'_>, (setting, result): (&mut LeverSetting, &mut Result<MeasuredTrial, TrialError>),
    (target, request): (&TrialTarget, &WhyRequest),
) -> Result<(), NoAnswer> {
    if !setting.is_of_each_node() {
        return Ok(());
    }
    for at in (0..setting.sets.len()).rev() {
        if setting.sets.len() == 1 {
            break;
        }
        let Some(takes) = result.as_ref().ok().and_then(|trial| trial.takes()) else { break };
        let fewer = setting.without_node(at);
        for (fewer, again) in simulate(load, std::slice::from_ref(&fewer), (target, request))? {
            let now = again.as_ref().ok().and_then(|trial| trial.takes());
            if now.is_some_and(|now| now <= takes) {
                (*setting, *result) = (fewer, again);
            }
        }
    }
    Ok(())
}

/// Returns all combinations of two settings, and the combination of all, with the sums of the individual savings.
fn combinations(best: &[(LeverSetting, Duration)]) -> Vec<(LeverSetting, Duration)> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for a in 0..best.len() {
        let others = (a + 1..best.len()).filter(|b| best[a].0.is_compatible(&best[*b].0));
        sets.extend(others.map(|b| vec![a, b]));
    }
    let pairs = best.len() * best.len().saturating_sub(1) / 2;
    if best.len() > 2 && sets.len() == pairs {
        sets.push((0..best.len()).collect());
    }
    let one = |which: &Vec<usize>| {
        let parts: Vec<&LeverSetting> = which.iter().map(|i| &best[*i].0).collect();
        let sum = which.iter().map(|i| best[*i].1.0).sum();
        (levers::together(&parts), Duration(sum))
    };
    sets.iter().map(one).collect()
}

/// Returns the first line of an error without its prefix.
fn first_line(why: &str) -> String {
    let line = why.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    line.trim().trim_start_matches("error: ").to_owned()
}
