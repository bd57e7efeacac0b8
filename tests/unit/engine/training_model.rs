//! Tests of the closed form against a step-by-step simulation of the same segment, one nanosecond of work at a time.

use sim_engine::training_model::pace::{ONE, Pace, Reason};
use sim_engine::training_model::stretch::{Kind, Plan, Saving, Spent};
/// A clock whose elapsed time is only recorded up to a given time.
struct Clock {
    now: u64,
    until: u64,
}

impl Clock {
    fn pass(&mut self, takes: u64, into: &mut u64) {
        let left = self.until.saturating_sub(self.now);
        *into += takes.min(left);
        self.now += takes;
    }
}

/// Simulates a segment per nanosecond of work. Each of the first `slow` nanoseconds takes three nanoseconds.
fn walk(plan: &Plan, kinds: &[Kind], slow: u64, until: u64) -> (Spent, Option<u64>) {
    let mut spent = Spent::default();
    let mut clock = Clock { now: 0, until };
    for (k, takes) in plan.before.into_iter().enumerate() {
        clock.pass(takes, &mut spent.before[k]);
    }
    // For each kind of checkpoint: the work at its start, and its completion time.
    let mut written: Vec<Vec<(u64, u64)>> = vec![Vec::new(); kinds.len()];
    let mut took = vec![0];
    let end = loop {
        let done = took.len() as u64 - 1;
        let over = plan.work == Some(done);
        if over && done == 0 {
            break Some(clock.now);
        }
        let mut busy = clock.now;
        for (k, kind) in kinds.iter().enumerate() {
            let last = written[k].last().copied().unwrap_or_default();
            let multiples = (1..).map(|n| n * kind.every);
            let alone = kinds.len() == 1;
            let every = { multiples }.find(|every| alone || *every >= kind.commit);
            let due = done > 0 && every.is_some_and(|every| done.is_multiple_of(every));
            let durable = k + 1 == kinds.len();
            if (over && durable) || (!over && due) {
                // The last checkpoint is waited for if the work since then is shorter than its commit.
                let short = kind.commit.saturating_sub(done - last.0);
                let wait = if last.0 > 0 { short } else { 0 };
                busy += wait + kind.blocking;
                written[k].push((done, u64::MAX));
            }
        }
        clock.pass(busy - clock.now, &mut spent.saving);
        for (k, kind) in kinds.iter().enumerate() {
            let last = written[k].last_mut();
            if let Some(last) = last.filter(|last| last.1 == u64::MAX) {
                last.1 = clock.now + kind.commit;
            }
        }
        if over {
            let rest = kinds.last().map_or(0, |kind| kind.commit);
            clock.pass(rest, &mut spent.saving);
            break Some(clock.now);
        }
        if clock.now > until {
            break None;
        }
        let before = spent.stepping;
        let takes = if done < slow { 3 } else { 1 };
        clock.pass(takes, &mut spent.stepping);
        took.push(spent.stepping);
        if spent.stepping == before + takes {
            spent.done = done + 1;
            if done < slow {
                spent.excess[0] += 2;
            }
        }
    };
    for written in written {
        let mut complete = written.iter().filter(|(_, complete)| *complete <= until);
        spent.commits += complete.clone().count() as u64;
        spent
            .saved
            .push(complete.next_back().map_or(0, |(done, _)| *done));
    }
    let kept = spent.saved.iter().copied().max().unwrap_or(0);
    spent.kept = kept + 2 * kept.min(slow);
    spent.excess_kept[0] = 2 * kept.min(slow);
    (spent, end)
}

fn warm_up(slow: u64) -> Pace {
    let mut pace = Pace::default();
    if slow > 0 {
        pace.changes(0, Reason::WarmUp, 3 * ONE);
        pace.changes(slow, Reason::WarmUp, ONE);
    }
    pace
}

fn compare(kinds: &[Kind], work: Option<u64>, slow: u64) {
    let plan = Plan {
        before: [2, 0, 3],
        work,
        pace: warm_up(slow),
        saving: Saving::Checkpoints(kinds.to_vec()),
        ..Plan::default()
    };
    let case = format!("{kinds:?}, {work:?}, slow {slow}");
    if work.is_some() {
        assert_eq!(plan.takes(), walk(&plan, kinds, slow, 10_000).1, "{case}");
    }
    for until in 0..plan.takes().unwrap_or(200) + 1 {
        let walked = walk(&plan, kinds, slow, until).0;
        assert_eq!(plan.at(until), walked, "{case}, at {until}");
    }
}

#[test]
fn the_closed_form_of_a_stretch_is_the_walk_through_it() {
    for every in [1, 3, 10] {
        for blocking in [0, 1, 4] {
            for commit in [0, 2, 9, 25] {
                for work in [None, Some(0), Some(1), Some(9), Some(10), Some(31)] {
                    for slow in [0, 4, 12] {
                        let kind = Kind {
                            every,
                            blocking,
                            commit,
                        };
                        compare(&[kind], work, slow);
                        let others = [(1, 0, 0), (2, 1, 3), (5, 2, 1)];
                        for (every, blocking, commit) in others {
                            let tier = Kind {
                                every,
                                blocking,
                                commit,
                            };
                            compare(&[tier, kind], work, slow);
                        }
                    }
                }
            }
        }
    }
}

fn plan(saving: Saving, work: Option<u64>) -> Plan {
    Plan {
        work,
        saving,
        ..Plan::default()
    }
}

#[test]
fn without_checkpoints_an_interruption_takes_everything_or_nothing() {
    let kept = |saving, work, at| plan(saving, work).at(at).saved[0];
    assert_eq!(kept(Saving::Always, Some(10), 7), 7);
    assert_eq!(kept(Saving::Always, None, 7), 7);
    assert_eq!(kept(Saving::Never, Some(10), 9), 0);
    assert_eq!(kept(Saving::Never, Some(10), 10), 10);
    assert_eq!(plan(Saving::Never, Some(10)).takes(), Some(10));
    assert_eq!(plan(Saving::Always, None).takes(), None);
}

#[test]
fn a_stretch_that_would_outlast_all_time_has_no_end() {
    let kind = Kind {
        every: 1,
        blocking: u64::MAX,
        commit: u64::MAX,
    };
    let before = [u64::MAX; 3];
    let plan = Plan {
        before,
        ..plan(Saving::Checkpoints(vec![kind]), Some(u64::MAX))
    };
    assert_eq!(plan.takes(), None);
    assert_eq!(plan.at(u64::MAX).before[0], u64::MAX);
    let plan = Plan {
        before: [0; 3],
        ..plan
    };
    let spent = plan.at(u64::MAX);
    assert_eq!(spent.stepping + spent.saving, u64::MAX);
}

#[test]
fn steps_that_vary_by_chance_take_the_quantile_of_their_sum() {
    // 10,000 steps of 6 s with a standard deviation of 1.5 s: 60,000 s with a standard deviation of 150 s.
    let step = 6_000_000_000u64;
    for z in [-3.0, -1.0, 0.0, 1.0, 2.5] {
        let mut pace = Pace::default();
        pace.by_chance(z, 6.0, 1.5);
        let takes = pace.takes(10_000 * u128::from(step)) as f64 / 1e9;
        assert!(
            (takes - (60_000.0 + 150.0 * z)).abs() < 1e-6,
            "{z}: {takes}"
        );
        // The inverse: after that time, that amount of work is done.
        let plan = Plan {
            pace,
            ..plan(Saving::Always, None)
        };
        let done = plan.at((takes * 1e9) as u64).done as f64 / step as f64;
        assert!((done - 10_000.0).abs() < 1e-3, "{z}: {done}");
        for at in [0, 1, 5, 1_000_000, 7_000_000_000] {
            assert_eq!(plan.at(at).stepping, at, "{z}");
        }
    }
}
