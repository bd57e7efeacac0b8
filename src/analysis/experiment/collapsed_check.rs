//! Both levels on the same faults: what must be equal, and how near the rest is.

use super::collapsed::Collapsed;
use super::parallel::{NoRuns, each};
use super::player::Player;
use super::replication::{Replication, replication};
use super::stop::Limits;
use crate::reduced::UNEVEN;
use serde::Serialize;
use sim_base::stats::Estimate;

/// One replication at both levels.
#[derive(Clone, Debug)]
pub struct Checked {
    /// With every pod.
    pub pods: Replication,
    /// Collapsed.
    pub collapsed: Replication,
    /// Faults near the edge between two outcomes.
    pub close_calls: u32,
    /// By how much goodput may differ.
    pub bound: f64,
}

/// What one level tells of the one JobSet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub counts: u32,
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
}

impl Counted {
    /// Of a replication.
    pub fn of(replication: &Replication) -> Counted {
        let jobset = &replication.jobsets[0];
        Counted {
            restarts: jobset.restarts,
            counts: jobset.restarts_count_towards_max,
            terminal_state: jobset.terminal_state,
        }
    }
}

fn goodput(replication: &Replication) -> Option<f64> {
    replication.jobsets[0].training.as_ref()?.goodput
}

impl Checked {
    /// Both levels counted the same.
    pub fn is_equal(&self) -> bool {
        Counted::of(&self.pods) == Counted::of(&self.collapsed)
    }

    /// Goodput with every pod, and collapsed.
    pub fn goodput(&self) -> (f64, f64) {
        (
            goodput(&self.pods).unwrap_or(0.0),
            goodput(&self.collapsed).unwrap_or(0.0),
        )
    }

    /// Goodput differs by no more than the bound.
    pub fn is_within_bound(&self) -> bool {
        let (pods, collapsed) = self.goodput();
        (pods - collapsed).abs() <= self.bound
    }

    /// What it says of the collapsed level.
    pub fn agreement(&self) -> Agreement {
        match (self.is_equal() && self.is_within_bound(), self.close_calls) {
            (true, _) => Agreement::Equal,
            (false, 0) => Agreement::Different,
            (false, _) => Agreement::Close,
        }
    }
}

/// How both levels of a replication compare.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The same was counted, and goodput is within its bound.
    Equal,
    /// They differ, and a fault was so near an edge that they may.
    Close,
    /// They differ where they must not.
    Different,
}

impl Agreement {
    /// As tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Equal => "equal",
            Agreement::Close => "close",
            Agreement::Different => "DIFFERENT",
        }
    }
}

impl Serialize for Agreement {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// Collapsed less with every pod, on average: faults near an edge may go either way, and have to even out.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// Of `status.restarts`.
    pub restarts: Estimate,
    /// Of goodput.
    pub goodput: Estimate,
    /// Which of them does not even out: by more than a stated share of all restarts, by more than the bounds.
    pub uneven: Vec<&'static str>,
}

impl Differences {
    /// Of replications, each with every pod and collapsed, and by how much goodput may differ; none of none.
    pub fn of(
        restarts: &[[f64; 2]],
        goodput: &[[f64; 2]],
        bounds: Vec<f64>,
    ) -> Option<Differences> {
        let more = |of: &[[f64; 2]]| Estimate::of(of.iter().map(|[a, b]| b - a).collect());
        let all = Estimate::of(restarts.iter().map(|[pods, _]| *pods).collect())?;
        let bound = Estimate::of(bounds)?.mean;
        let (restarts, goodput) = (more(restarts)?, more(goodput)?);
        let uneven = [
            ("restarts", is_beyond(&restarts, all.mean * UNEVEN)),
            ("goodput", is_beyond(&goodput, bound)),
        ];
        let uneven = uneven.into_iter().filter(|(_, is)| *is);
        Some(Differences {
            uneven: uneven.map(|(what, _)| what).collect(),
            restarts,
            goodput,
        })
    }
}

/// Whether the whole interval is farther from nothing than that.
fn is_beyond(difference: &Estimate, allowed: f64) -> bool {
    let [low, high] = difference.ci95;
    difference.n > 1 && (low > allowed || high < -allowed)
}

/// Plays so many replications at both levels; `done` is told how many are.
pub fn check_collapsed(
    collapsed: &Collapsed,
    (seed, n): (u64, u64),
    (threads, limits): (usize, &Limits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Checked>, NoRuns> {
    let finished = std::sync::atomic::AtomicU64::new(0);
    each(
        || {
            Ok((
                Player::new(collapsed.scenario())?,
                collapsed.player().with_bound(),
            ))
        },
        (n, threads),
        &limits.flag,
        |(pods, gang), i| {
            let pods = replication(pods, (seed, i), &[], limits)?;
            let outcome = gang.run_until((seed, i), &|faults| limits.reached(faults))?;
            done(finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
            Some(Checked {
                pods,
                close_calls: outcome.close_calls,
                bound: outcome.bound.unwrap_or(0.0),
                collapsed: collapsed.replication(&outcome, i),
            })
        },
    )
}
