//! The subject of replications at any level of detail: a scenario with pods, its reduced model, or a Fleet.

use super::collapsed::Collapsed;
use super::fleets::compared;
use super::parallel::{NoRuns, each};
use super::player::Player;
use super::replication::{Replication, replication};
use super::stop::Limits;
use crate::fleet::FleetSimulation;
use crate::reduced::CollapsedPlayer;
use sim_api::spec::{Fleet, Scenario};
use sim_engine::CannotRun;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The subject of replications.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A scenario at pod level, simulated by the engine.
    Pods {
        /// The simulated scenario.
        scenario: Box<Scenario>,
        /// Fields of the inputs that the API accepts but the model ignores.
        not_modelled: Vec<String>,
    },
    /// The reduced model of a scenario, measured with the engine.
    Collapsed(Collapsed),
    /// One job on a fleet of equal nodes.
    Fleet(Box<Fleet>),
}

fn names(scenario: &Scenario) -> Vec<String> {
    let all = scenario.jobsets.iter();
    all.map(|j| j.jobset.name.clone()).collect()
}

impl From<Scenario> for Subject {
    fn from(scenario: Scenario) -> Subject {
        Subject::Pods {
            scenario: Box::new(scenario),
            not_modelled: Vec::new(),
        }
    }
}

impl Subject {
    /// Returns the name used in reports.
    pub fn name(&self) -> &str {
        match self {
            Subject::Pods { scenario, .. } => &scenario.name,
            Subject::Collapsed(collapsed) => &collapsed.scenario().name,
            Subject::Fleet(fleet) => &fleet.name,
        }
    }

    /// Returns the scenario; `None` for a Fleet.
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            Subject::Pods { scenario, .. } => Some(scenario),
            Subject::Collapsed(collapsed) => Some(collapsed.scenario()),
            Subject::Fleet(_) => None,
        }
    }

    /// Returns the default seed of all random numbers.
    pub fn seed(&self) -> u64 {
        match self {
            Subject::Pods { scenario, .. } => scenario.seed,
            Subject::Collapsed(collapsed) => collapsed.scenario().seed,
            Subject::Fleet(fleet) => fleet.seed,
        }
    }

    /// Returns the names of its JobSets; empty for a Fleet.
    pub fn jobsets(&self) -> Vec<String> {
        match self {
            Subject::Pods { scenario, .. } => names(scenario),
            Subject::Collapsed(collapsed) => names(collapsed.scenario()),
            Subject::Fleet(_) => Vec::new(),
        }
    }

    /// Creates a runner of replications. Fails if the scenario cannot be run.
    pub fn player(&self) -> Result<SubjectPlayer<'_>, CannotRun> {
        Ok(match self {
            Subject::Pods {
                scenario,
                not_modelled,
            } => SubjectPlayer::Pods(Box::new(Player::new(scenario)?), not_modelled),
            Subject::Collapsed(collapsed) => {
                SubjectPlayer::Collapsed(collapsed, Box::new(collapsed.player()))
            }
            Subject::Fleet(fleet) => SubjectPlayer::Fleet(FleetSimulation::new(fleet)),
        })
    }

    /// Runs replications on a number of threads (0: one per core); `done` receives the number of completed ones.
    /// Those stopped by `limits` are omitted. Each result is independent of the others.
    pub fn replicate(
        &self,
        (seed, which): (u64, Range<u64>),
        (threads, limits): (usize, &Limits),
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Replication>, NoRuns> {
        let (from, n) = (which.start, which.end.saturating_sub(which.start));
        let finished = AtomicU64::new(0);
        each(
            || self.player(),
            (n, threads),
            &limits.flag,
            |player, i| {
                let played = player.play((seed, from + i), limits)?;
                done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                Some(played)
            },
        )
    }
}

/// Runs replications of one subject, reusing memory.
pub enum SubjectPlayer<'s> {
    /// A scenario with pods, and its fields that are not modelled.
    Pods(Box<Player>, &'s [String]),
    /// The reduced model of a scenario.
    Collapsed(&'s Collapsed, Box<CollapsedPlayer<'s>>),
    /// A Fleet.
    Fleet(FleetSimulation<'s>),
}

impl SubjectPlayer<'_> {
    /// Runs the replication `i` with this seed; `None` if `limits` stopped it.
    pub fn play(&mut self, (seed, i): (u64, u64), limits: &Limits) -> Option<Replication> {
        match self {
            SubjectPlayer::Pods(player, not_modelled) => {
                replication(player, (seed, i), not_modelled, limits)
            }
            SubjectPlayer::Collapsed(collapsed, player) => {
                let played = player.run_until((seed, i), &|faults| limits.reached(faults))?;
                Some(collapsed.replication(&played, i))
            }
            SubjectPlayer::Fleet(fleet) => {
                let played = fleet.run_until((seed, i), &|events| limits.reached(events))?;
                Some(compared(&played, i))
            }
        }
    }
}
