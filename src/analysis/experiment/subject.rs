//! What replications are played of, whatever its level of detail: a scenario with pods, the same collapsed, or a Fleet.

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

/// What replications are played of.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Every pod, by the engine.
    Pods {
        /// What is played.
        scenario: Box<Scenario>,
        /// Fields of the inputs that the API knows and the model ignores.
        not_modelled: Vec<String>,
    },
    /// The gang of its one JobSet, by what the engine was measured to do.
    Collapsed(Collapsed),
    /// One job on a fleet of alike nodes.
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
    /// As reports name it.
    pub fn name(&self) -> &str {
        match self {
            Subject::Pods { scenario, .. } => &scenario.name,
            Subject::Collapsed(collapsed) => &collapsed.scenario().name,
            Subject::Fleet(fleet) => &fleet.name,
        }
    }

    /// What is played, unless it is a Fleet.
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            Subject::Pods { scenario, .. } => Some(scenario),
            Subject::Collapsed(collapsed) => Some(collapsed.scenario()),
            Subject::Fleet(_) => None,
        }
    }

    /// Of all random numbers, unless somebody asks for another.
    pub fn seed(&self) -> u64 {
        match self {
            Subject::Pods { scenario, .. } => scenario.seed,
            Subject::Collapsed(collapsed) => collapsed.scenario().seed,
            Subject::Fleet(fleet) => fleet.seed,
        }
    }

    /// Names of its JobSets; a Fleet has none.
    pub fn jobsets(&self) -> Vec<String> {
        match self {
            Subject::Pods { scenario, .. } => names(scenario),
            Subject::Collapsed(collapsed) => names(collapsed.scenario()),
            Subject::Fleet(_) => Vec::new(),
        }
    }

    /// Ready to play replications one after another. Refuses what cannot exist or be placed.
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

    /// Plays these replications on so many threads (0: one per core), and tells `done` how many are; those that
    /// `limits` stop are left out. Whichever others are played, each is what it is.
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

/// Plays the replications of one subject, in the memory of the one before.
pub enum SubjectPlayer<'s> {
    /// Of a scenario with pods; and its fields that are not modelled.
    Pods(Box<Player>, &'s [String]),
    /// Of a scenario at the collapsed level.
    Collapsed(&'s Collapsed, Box<CollapsedPlayer<'s>>),
    /// Of a Fleet.
    Fleet(FleetSimulation<'s>),
}

impl SubjectPlayer<'_> {
    /// The replication of this seed and number; nothing if `limits` stopped it.
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
