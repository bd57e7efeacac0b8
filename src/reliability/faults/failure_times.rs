//! Failure and repair times of an entity, by calendar or by age, drawn one after another.

use super::entities::FaultEntity;
use super::lifetimes::HardwareLifetimes;
use sim_api::spec::{ArrivalProcess, RandomAction, RandomFaults, TracedFault};
use sim_base::Duration;
use sim_base::random::{Distribution, DrawSequence, StreamPurpose, UniformDraw};

/// The failures of one entity in one process, in order of time.
pub struct FailureTimes<'a> {
    process: &'a RandomFaults,
    entity: &'a FaultEntity,
    /// No failure is later.
    stop: Duration,
    source: FailureSource<'a>,
}

enum FailureSource<'a> {
    Renewal {
        life: &'a Distribution,
        lives: HardwareLifetimes,
        /// Time since which the entity ages.
        now: Duration,
        /// The entity has no further lifetime.
        over: bool,
    },
    Trace {
        rows: std::slice::Iter<'a, TracedFault>,
        occurrence: u32,
    },
}

impl<'a> FailureTimes<'a> {
    pub fn new(
        (process, entity): (&'a RandomFaults, &'a FaultEntity), stop: Duration, draws: &DrawSequence,
    ) -> FailureTimes<'a> {
        let until = process.until.map_or(stop, |until| until.min(stop));
        let (stop, source) = match &process.arrivals {
            ArrivalProcess::Renewal(life) => {
                let lives = HardwareLifetimes::new(process, entity, draws);
                (until, FailureSource::Renewal { life, lives, now: process.from, over: false })
            }
            ArrivalProcess::Trace(rows) => (stop, FailureSource::Trace { rows: rows.iter(), occurrence: 0 }),
        };
        FailureTimes { process, entity, stop, source }
    }

    /// The time of the next failure, and of the end of its repair; `None` means never repaired. With usage-based aging,
    /// failures are at ages, which repairs do not advance.
    pub fn next(&mut self, draws: &DrawSequence) -> Option<(Duration, Option<Duration>)> {
        let process = self.process;
        match &mut self.source {
            FailureSource::Trace { rows, occurrence } => {
                let row = rows.find(|row| *row.entity == *self.entity.name && row.at <= self.stop)?;
                let end = traced_end((process, self.entity), row, *occurrence, draws);
                *occurrence += 1;
                Some((row.at, end))
            }
            FailureSource::Renewal { over: true, .. } => None,
            FailureSource::Renewal { life, lives, now, over } => {
                let failed = Duration(now.0.saturating_add(lives.draw_next(life, draws)));
                *now = failed;
                if failed > self.stop {
                    *over = true;
                    return None;
                }
                let returns = lives.draw_event(StreamPurpose::FaultReturn, process.comes_back, draws);
                let Some(back) = process.repair_time.as_ref().filter(|_| returns) else {
                    // A Job recreates its pod, and a machine that hung or computed wrong results continues; a lost
                    // node does not.
                    let continues = matches!(
                        process.action,
                        RandomAction::Exit(_) | RandomAction::Hang { .. } | RandomAction::Corrupt { .. }
                    );
                    *over = !continues;
                    return Some((failed, None));
                };
                let healed = process.lemons.map_or(0.0, |lemons| lemons.healed);
                if lives.draw_event(StreamPurpose::FaultLemon, healed, draws) {
                    lives.cure_lemon();
                }
                let repair = draws.sample_once(lives.draw_name(StreamPurpose::FaultRepair), back).0;
                let end = Duration(failed.0.saturating_add(process.notice.0).saturating_add(repair));
                if process.is_calendar_based() {
                    *now = end;
                }
                Some((failed, Some(end)))
            }
        }
    }
}

/// The end of the repair of a fault in a trace.
fn traced_end(
    (process, entity): (&RandomFaults, &FaultEntity), row: &TracedFault, occurrence: u32, draws: &DrawSequence,
) -> Option<Duration> {
    let draw = UniformDraw { purpose: StreamPurpose::FaultRepair, entity: entity.key, occurrence, substream: 0 };
    let back = process.repair_time.as_ref().map(|back| draws.sample_once(draw, back));
    // The repair begins at the end of the notice; a recorded outage begins with the fault.
    let lasts = row.outage.or(back.map(|back| process.notice + back));
    lasts.map(|lasts| Duration(row.at.0.saturating_add(lasts.0)))
}
