//! Tests of the closed form against a step-by-step simulation of the same segment, one nanosecond of work at a time.

use crate::cases::cases;
use sim_reliability::training::pace::{PaceReason, TrainingPace, UNIT_FACTOR};
use sim_reliability::training::segment::{CheckpointSave, SegmentKind, SegmentPlan, SpentTime};
/// A clock whose elapsed time is only recorded up to a given time.
struct Clock {
    now: u64,
    until: u64,
}

impl Clock {
    fn advance(&mut self, takes: u64, into: &mut u64) {
        let left = self.until.saturating_sub(self.now);
        *into += takes.min(left);
        self.now += takes;
    }
}

/// Simulates a segment per nanosecond of work. Each of the first `slow` nanoseconds takes three nanoseconds.
fn simulate_steps(plan: &SegmentPlan, kinds: &[SegmentKind], slow: u64, until: u64) -> (SpentTime, Option<u64>) {
    let mut spent = SpentTime::default();
    let mut clock = Clock { now: 0, until };
    for (k, takes) in plan.startup_phases.into_iter().enumerate() {
        clock.advance(takes, &mut spent.startup_phases[k]);
    }
    // For each kind of checkpoint: the work at its start, and its completion time.
    let mut written: Vec<Vec<(u64, u64)>> = vec![Vec::new(); kinds.len()];
    let mut durations = vec![0];
    let end = loop {
        let done = durations.len() as u64 - 1;
        let over = plan.work == Some(done);
        if over && done == 0 {
            break Some(clock.now);
        }
        let mut busy = clock.now;
        for (k, kind) in kinds.iter().enumerate() {
            let last = written[k].last().copied().unwrap_or_default();
            let multiples = (1..).map(|n| n * kind.interval);
            let alone = kinds.len() == 1;
            let every = { multiples }.find(|every| alone || *every >= kind.commit);
            let due = done > 0 && every.is_some_and(|every| (done + kind.carry_over).is_multiple_of(every));
            let durable = k + 1 == kinds.len();
            if (over && durable) || (!over && due) {
                // The last checkpoint is waited for if the work since then is shorter than its commit.
                let short = kind.commit.saturating_sub(done - last.0);
                let wait = if last.0 > 0 { short } else { 0 };
                busy += wait + kind.blocking;
                written[k].push((done, u64::MAX));
            }
        }
        clock.advance(busy - clock.now, &mut spent.saving);
        for (k, kind) in kinds.iter().enumerate() {
            let last = written[k].last_mut();
            if let Some(last) = last.filter(|last| last.1 == u64::MAX) {
                last.1 = clock.now + kind.commit;
            }
        }
        if over {
            let rest = kinds.last().map_or(0, |kind| kind.commit);
            clock.advance(rest, &mut spent.saving);
            break Some(clock.now);
        }
        if clock.now > until {
            break None;
        }
        let before = spent.stepping;
        let takes = if done < slow { 3 } else { 1 };
        clock.advance(takes, &mut spent.stepping);
        durations.push(spent.stepping);
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
        spent.saved.push(complete.next_back().map_or(0, |(done, _)| *done));
    }
    let kept = spent.saved.iter().copied().max().unwrap_or(0);
    spent.saved_stepping = kept + 2 * kept.min(slow);
    spent.saved_excess[0] = 2 * kept.min(slow);
    (spent, end)
}

fn warm_up(slow: u64) -> TrainingPace {
    let mut pace = TrainingPace::default();
    if slow > 0 {
        pace.set_factor(0, PaceReason::WarmUp, 3 * UNIT_FACTOR);
        pace.set_factor(slow, PaceReason::WarmUp, UNIT_FACTOR);
    }
    pace
}

fn check_closed_form(kinds: &[SegmentKind], work: Option<u64>, slow: u64) {
    let plan = SegmentPlan {
        startup_phases: [2, 0, 3],
        work,
        pace: warm_up(slow),
        saving: CheckpointSave::Checkpoints(kinds.to_vec()),
        ..SegmentPlan::default()
    };
    let case = format!("{kinds:?}, {work:?}, slow {slow}");
    if work.is_some() {
        assert_eq!(plan.duration(), simulate_steps(&plan, kinds, slow, 10_000).1, "{case}");
    }
    for until in 0..plan.duration().unwrap_or(200) + 1 {
        let walked = simulate_steps(&plan, kinds, slow, until).0;
        assert_eq!(plan.state_at(until), walked, "{case}, at {until}");
    }
}

#[test]
fn the_closed_form_of_a_stretch_is_the_walk_through_it() {
    let step = cases(3, 1) as usize;
    for every in [1, 3, 10] {
        for blocking in [0, 1, 4] {
            for commit in [0, 2, 9, 25] {
                for work in [None, Some(0), Some(1), Some(9), Some(10), Some(31)].into_iter().step_by(step) {
                    for slow in [0, 4, 12] {
                        let kind = SegmentKind { interval: every, carry_over: 0, blocking, commit };
                        check_closed_form(&[kind], work, slow);
                        // The checkpoints continue those before the start.
                        let later = SegmentKind { carry_over: 7, ..kind };
                        check_closed_form(&[later], work, slow);
                        let others = [(1, 0, 0), (2, 1, 3), (5, 2, 1)];
                        for (every, blocking, commit) in others {
                            let tier = SegmentKind { interval: every, carry_over: 1, blocking, commit };
                            check_closed_form(&[tier, kind], work, slow);
                            check_closed_form(&[tier, later], work, slow);
                        }
                    }
                }
            }
        }
    }
}

fn plan(saving: CheckpointSave, work: Option<u64>) -> SegmentPlan {
    SegmentPlan { work, saving, ..SegmentPlan::default() }
}

#[test]
fn without_checkpoints_an_interruption_takes_everything_or_nothing() {
    let kept = |saving, work, at| plan(saving, work).state_at(at).saved[0];
    assert_eq!(kept(CheckpointSave::Always, Some(10), 7), 7);
    assert_eq!(kept(CheckpointSave::Always, None, 7), 7);
    assert_eq!(kept(CheckpointSave::Never, Some(10), 9), 0);
    assert_eq!(kept(CheckpointSave::Never, Some(10), 10), 10);
    assert_eq!(plan(CheckpointSave::Never, Some(10)).duration(), Some(10));
    assert_eq!(plan(CheckpointSave::Always, None).duration(), None);
}

#[test]
fn a_stretch_that_would_outlast_all_time_has_no_end() {
    let kind = SegmentKind { interval: 1, carry_over: 0, blocking: u64::MAX, commit: u64::MAX };
    let before = [u64::MAX; 3];
    let plan = SegmentPlan { startup_phases: before, ..plan(CheckpointSave::Checkpoints(vec![kind]), Some(u64::MAX)) };
    assert_eq!(plan.duration(), None);
    assert_eq!(plan.state_at(u64::MAX).startup_phases[0], u64::MAX);
    let plan = SegmentPlan { startup_phases: [0; 3], ..plan };
    let spent = plan.state_at(u64::MAX);
    assert_eq!(spent.stepping + spent.saving, u64::MAX);
}

#[test]
fn steps_that_vary_by_chance_take_the_quantile_of_their_sum() {
    // 10,000 steps of 6 s with a standard deviation of 1.5 s: 60,000 s with a standard deviation of 150 s.
    let step = 6_000_000_000u64;
    for z in [-3.0, -1.0, 0.0, 1.0, 2.5] {
        let mut pace = TrainingPace::default();
        pace.set_deviation(z, 6.0, 1.5);
        let takes = pace.duration(10_000 * u128::from(step)) as f64 / 1e9;
        assert!((takes - (60_000.0 + 150.0 * z)).abs() < 1e-6, "{z}: {takes}");
        // The inverse: after that time, that amount of work is done.
        let plan = SegmentPlan { pace, ..plan(CheckpointSave::Always, None) };
        let done = plan.state_at((takes * 1e9) as u64).done as f64 / step as f64;
        assert!((done - 10_000.0).abs() < 1e-3, "{z}: {done}");
        for at in [0, 1, 5, 1_000_000, 7_000_000_000] {
            assert_eq!(plan.state_at(at).stepping, at, "{z}");
        }
    }
}
