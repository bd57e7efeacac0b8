//! Failure and repair times of an entity, by calendar or by age.

use super::entities::FaultEntity;
use super::lifetimes::HardwareLifetimes;
use sim_api::spec::{ArrivalProcess, RandomAction, RandomFaults, TracedFault};
use sim_base::Duration;
use sim_base::random::{DrawSequence, StreamPurpose, UniformDraw};

/// Alternating failure and repair times up to `stop`; `None` means never repaired. With usage-based aging, failures
/// are at ages, which repairs do not advance.
pub fn failure_times(
    (process, entity): (&RandomFaults, &FaultEntity), stop: Duration, draws: &DrawSequence,
) -> Vec<(Duration, Option<Duration>)> {
    let life = match &process.arrivals {
        ArrivalProcess::Renewal(life) => life,
        ArrivalProcess::Trace(rows) => {
            return traced_failure_times((process, entity), rows, stop, draws);
        }
    };
    let stop = process.until.map_or(stop, |until| until.min(stop));
    let mut lives = HardwareLifetimes::new(process, entity, draws);
    let mut all = Vec::new();
    let mut now = process.from;
    loop {
        now = Duration(now.0.saturating_add(lives.draw_next(life, draws)));
        if now > stop {
            break;
        }
        let returns = lives.draw_event(StreamPurpose::FaultReturn, process.comes_back, draws);
        let Some(back) = process.repair_time.as_ref().filter(|_| returns) else {
            all.push((now, None));
            // A Job recreates its pod, and a machine that hung or computed wrong results continues; a lost node does
            // not.
            match process.action {
                RandomAction::Exit(_) | RandomAction::Hang { .. } | RandomAction::Corrupt { .. } => {
                    continue;
                }
                _ => break,
            }
        };
        let healed = process.lemons.map_or(0.0, |lemons| lemons.healed);
        if lives.draw_event(StreamPurpose::FaultLemon, healed, draws) {
            lives.cure_lemon();
        }
        let repair = draws.sample_once(lives.draw_name(StreamPurpose::FaultRepair), back).0;
        let end = Duration(now.0.saturating_add(process.notice.0).saturating_add(repair));
        all.push((now, Some(end)));
        if process.is_calendar_based() {
            now = end;
        }
    }
    all
}

/// Failure and repair times from a trace.
fn traced_failure_times(
    (process, entity): (&RandomFaults, &FaultEntity), rows: &[TracedFault], stop: Duration, draws: &DrawSequence,
) -> Vec<(Duration, Option<Duration>)> {
    let mine = rows.iter().filter(|row| *row.entity == *entity.name && row.at <= stop);
    let one = |(occurrence, row): (u32, &TracedFault)| {
        let draw = UniformDraw { purpose: StreamPurpose::FaultRepair, entity: entity.key, occurrence, substream: 0 };
        let back = process.repair_time.as_ref().map(|back| draws.sample_once(draw, back));
        // The repair begins at the end of the notice; a recorded outage begins with the fault.
        let lasts = row.outage.or(back.map(|back| process.notice + back));
        (row.at, lasts.map(|lasts| Duration(row.at.0.saturating_add(lasts.0))))
    };
    (0..).zip(mine).map(one).collect()
}
