//! `rare`: chances that are too small to be counted, of a Fleet.

use super::{Lab, no_runs};
use crate::base::{Duration, time};
use crate::cli::Failure;
use crate::cli::args::RareArgs;
use crate::experiment::Subject;
use crate::fleet::Excess;
use crate::report::planning::rare::RareReport;
use crate::search::rare::{Question, SCHEMA, of_fleet};

pub fn cli(args: &RareArgs) -> Result<(), Failure> {
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let Subject::Fleet(fleet) = &lab.subject else {
        let text = "rare plays Fleets, whose runs can branch; for a scenario with pods, put what its restarts take into a Fleet (docs/fleet.md)";
        return Err(Failure::Invalid(text.to_owned()));
    };
    let mut fleet = fleet.clone();
    let limit = fleet.job.max_restarts.take();
    if let Some(days) = args.until_day {
        fleet.stop_at = Duration::from_seconds_f64(days * 86_400.0);
    }
    if fleet.stop_at == time::LONGEST && !has_end(&fleet) {
        return Err(Failure::Invalid(
            "the file does not say when it stops: --until-day does".to_owned(),
        ));
    }
    let (excess, at) = match (args.lost, args.restarts.or(limit)) {
        (Some(lost), _) => (Excess::LostTime, lost.0),
        (None, Some(restarts)) => (Excess::Restarts, u64::from(restarts) + 1),
        (None, None) => {
            let text = "what is rare? --restarts N (a limit that runs out; the file has no maxRestarts) or --lost 5d";
            return Err(Failure::Invalid(text.to_owned()));
        }
    };
    if at == 0 {
        return Err(Failure::Invalid(
            "--lost: every run loses 0s or more".to_owned(),
        ));
    }
    let question = Question {
        excess,
        limit: at,
        runs: args.runs,
        batches: args.seeds,
    };
    let batches = args.seeds;
    let told = lab.upwards(move |done| format!("{done}/{batches} batches"));
    let on = (lab.play.threads(), &lab.limits);
    let found = of_fleet((&fleet, lab.seed), &question, on, &told);
    lab.progress("");
    let Some(rare) = found.map_err(no_runs)? else {
        return lab.interrupted("fewer than two batches are finished");
    };
    let (word, limit) = match excess {
        Excess::Restarts => ("restarts", at as f64),
        Excess::LostTime => ("lost_s", at as f64 / 1e9),
    };
    let batches = rare.batches as u64;
    lab.note(rare.estimates.iter().map(|p| p.to_bits()));
    let mut of = lab.provenance(SCHEMA);
    of.replications_played = rare.played;
    let report = RareReport::new(of, (word, limit, fleet.stop_at.seconds()), rare);
    lab.tell(&report, &args.tell, ("rare", args.seeds, &options(args)))?;
    match batches < args.seeds {
        true => lab.interrupted(&format!("{batches} of {} batches are reported", args.seeds)),
        false => Ok(()),
    }
}

/// Its work may end it.
fn has_end(fleet: &crate::spec::Fleet) -> bool {
    fleet.training.work < time::LONGEST
}

fn options(args: &RareArgs) -> String {
    let mut text = format!(" --runs {}", args.runs);
    if let Some(n) = args.restarts {
        text.push_str(&format!(" --restarts {n}"));
    }
    if let Some(lost) = args.lost {
        text.push_str(&format!(" --lost {lost}"));
    }
    if let Some(days) = args.until_day {
        text.push_str(&format!(" --until-day {days}"));
    }
    text
}
