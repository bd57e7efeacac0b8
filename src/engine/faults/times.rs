//! Failure and repair times of an entity, by calendar or by age.

use super::entities::Entity;
use super::lives::Lives;
use sim_api::spec::{Arrivals, RandomAction, RandomFaults, TracedFault};
use sim_base::Duration;
use sim_base::random::{Draw, Draws, Purpose};

/// Alternating failure and repair times up to `stop`; `None` means never repaired. With usage-based aging, failures
/// are at ages, which repairs do not advance.
pub fn times(
    (process, entity): (&RandomFaults, &Entity),
    stop: Duration,
    draws: &Draws,
) -> Vec<(Duration, Option<Duration>)> {
    let life = match &process.arrivals {
        Arrivals::Renewal(life) => life,
        Arrivals::Trace(rows) => return traced((process, entity), rows, stop, draws),
    };
    let stop = process.until.map_or(stop, |until| until.min(stop));
    let mut lives = Lives::new(process, entity, draws);
    let mut all = Vec::new();
    let mut now = process.from;
    loop {
        now = Duration(now.0.saturating_add(lives.next(life, draws)));
        if now > stop {
            break;
        }
        let returns = lives.chance(Purpose::FaultReturn, process.comes_back, draws);
        let Some(back) = process.back.as_ref().filter(|_| returns) else {
            all.push((now, None));
            // A Job recreates its pod, and a machine that hung or computed wrong results continues; a lost node does
            // not.
            match process.does {
                RandomAction::Exit(_)
                | RandomAction::Hang { .. }
                | RandomAction::Corrupt { .. } => {
                    continue;
                }
                _ => break,
            }
        };
        let healed = process.lemons.map_or(0.0, |lemons| lemons.healed);
        if lives.chance(Purpose::FaultLemon, healed, draws) {
            lives.heal();
        }
        let repair = draws.sample_once(lives.named(Purpose::FaultRepair), back).0;
        let end = Duration(
            now.0
                .saturating_add(process.notice.0)
                .saturating_add(repair),
        );
        all.push((now, Some(end)));
        if process.is_of_calendar() {
            now = end;
        }
    }
    all
}

/// Failure and repair times from a trace.
fn traced(
    (process, entity): (&RandomFaults, &Entity),
    rows: &[TracedFault],
    stop: Duration,
    draws: &Draws,
) -> Vec<(Duration, Option<Duration>)> {
    let mine = rows
        .iter()
        .filter(|row| *row.entity == *entity.name && row.at <= stop);
    let one = |(occurrence, row): (u32, &TracedFault)| {
        let draw = Draw {
            purpose: Purpose::FaultRepair,
            entity: entity.key,
            occurrence,
            lane: 0,
        };
        let back = process
            .back
            .as_ref()
            .map(|back| draws.sample_once(draw, back));
        let lasts = row.lasts.or(back);
        (
            row.at,
            lasts.map(|lasts| Duration(row.at.0.saturating_add(lasts.0))),
        )
    };
    (0..).zip(mine).map(one).collect()
}
