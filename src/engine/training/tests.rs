//! Tests of the closed form against a walk through the same stretch, one part after the other.

use super::stretch::{Plan, Spent};
use crate::base::Duration;
use crate::spec::Progress;

/// What a stretch does, instant by instant: how long each part is, and whether the job steps in it.
fn walk(plan: &Plan, until: u64) -> (Spent, Option<u64>) {
    let Progress::Checkpoints { every, blocking } = plan.progress else {
        panic!("with checkpoints");
    };
    let mut spent = Spent::default();
    let (mut now, mut done) = (0u64, 0u64);
    let mut commits: Vec<(u64, u64)> = Vec::new();
    let pass = |now: &mut u64, takes: u64, into: &mut u64| {
        let seen = (*now + takes).min(until).saturating_sub((*now).min(until));
        *into += seen;
        *now += takes;
    };
    for (k, takes) in plan.before.into_iter().enumerate() {
        pass(&mut now, takes, &mut spent.before[k]);
    }
    let mut busy_until = 0;
    let end = loop {
        let left = plan.work.map_or(u64::MAX, |work| work - done);
        if left == 0 {
            let complete = commits.last().map_or(now, |c| c.0.max(now));
            let rest = complete - now;
            pass(&mut now, rest, &mut spent.saving);
            break Some(now);
        }
        let piece = left.min(every.0);
        pass(&mut now, piece, &mut spent.stepping);
        done += piece;
        let wait = busy_until.max(now) - now;
        pass(&mut now, wait + blocking.0, &mut spent.saving);
        busy_until = now + plan.commit_delay.0;
        commits.push((busy_until, done));
        if now > until.saturating_add(1_000) {
            break None;
        }
    };
    let mut complete = commits.iter().filter(|(at, _)| *at <= until);
    spent.commits = complete.clone().count() as u64;
    spent.kept = complete.next_back().map_or(0, |c| c.1);
    (spent, end)
}

#[test]
fn the_closed_form_of_a_stretch_is_the_walk_through_it() {
    for every in [1, 3, 10] {
        for blocking in [0, 1, 4] {
            for commit in [0, 2, 9, 25] {
                for work in [None, Some(0), Some(1), Some(9), Some(10), Some(31)] {
                    let plan = Plan {
                        before: [2, 0, 3],
                        work,
                        progress: Progress::Checkpoints {
                            every: Duration(every),
                            blocking: Duration(blocking),
                        },
                        commit_delay: Duration(commit),
                    };
                    let case = format!("every {every}, {blocking}, {commit}, {work:?}");
                    if work.is_some() {
                        assert_eq!(plan.takes(), walk(&plan, 10_000).1, "{case}");
                    }
                    for until in 0..plan.takes().unwrap_or(200) + 1 {
                        assert_eq!(plan.at(until), walk(&plan, until).0, "{case}, at {until}");
                    }
                }
            }
        }
    }
}

#[test]
fn without_checkpoints_an_interruption_takes_everything_or_nothing() {
    let plan = |progress, work| Plan {
        before: [0; 3],
        work,
        progress,
        commit_delay: Duration::ZERO,
    };
    let kept = |progress, work, at| plan(progress, work).at(at).kept;
    assert_eq!(kept(Progress::Kept, Some(10), 7), 7);
    assert_eq!(kept(Progress::Kept, None, 7), 7);
    assert_eq!(kept(Progress::FromScratch, Some(10), 9), 0);
    assert_eq!(kept(Progress::FromScratch, Some(10), 10), 10);
    assert_eq!(plan(Progress::FromScratch, Some(10)).takes(), Some(10));
    assert_eq!(plan(Progress::Kept, None).takes(), None);
}

#[test]
fn a_stretch_that_would_outlast_all_time_has_no_end() {
    let plan = Plan {
        before: [u64::MAX; 3],
        work: Some(u64::MAX),
        progress: Progress::Checkpoints {
            every: Duration(1),
            blocking: Duration(u64::MAX),
        },
        commit_delay: Duration(u64::MAX),
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
