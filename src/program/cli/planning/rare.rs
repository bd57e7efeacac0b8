//! `plan rare`: chances that are too small to be counted, of a Fleet or a scenario at the collapsed level.

use super::{Lab, no_runs};
use crate::cli::Failure;
use crate::cli::args::RareArgs;
use sim_analysis::experiment::{Subject, without_limit};
use sim_analysis::fleet::Excess;
use sim_analysis::planning::rare::{Question, SCHEMA, of_collapsed, of_fleet};
use sim_base::{Duration, time};
use sim_report::planning::rare::RareReport;

pub fn cli(args: &RareArgs) -> Result<(), Failure> {
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let mut subject = lab.subject.clone();
    let (limit, horizon) = boundless(&mut subject, args.horizon)?;
    let (excess, at) = match (args.loss_budget, args.restarts.or(limit)) {
        (Some(lost), _) => (Excess::LostTime, lost.0),
        (None, Some(restarts)) => (Excess::Restarts, u64::from(restarts) + 1),
        (None, None) => {
            let text = "no event is given and the inputs have no maxRestarts: use --restarts N or --loss-budget 5d";
            return Err(Failure::Invalid(text.to_owned()));
        }
    };
    if at == 0 {
        return Err(Failure::Invalid(
            "--loss-budget: every run loses 0s or more".to_owned(),
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
    let found = match &subject {
        Subject::Fleet(fleet) => of_fleet((fleet, lab.seed), &question, on, &told),
        Subject::Collapsed(collapsed) => of_collapsed((collapsed, lab.seed), &question, on, &told),
        Subject::Pods { .. } => return Err(refused()),
    };
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
    let report = RareReport::new(of, (word, limit, horizon.seconds()), rare);
    lab.tell(
        &report,
        &args.tell,
        ("plan rare", args.seeds, &options(args)),
    )?;
    match batches < args.seeds {
        true => lab.interrupted(&format!("{batches} of {} batches are reported", args.seeds)),
        false => Ok(()),
    }
}

/// Lifts the limit of restarts; what it was, and until when a run lasts at most.
fn boundless(
    subject: &mut Subject,
    horizon: Option<f64>,
) -> Result<(Option<u32>, Duration), Failure> {
    let until = horizon.map(|days| Duration::from_seconds_f64(days * 86_400.0));
    match subject {
        // Its work may end it.
        Subject::Fleet(fleet) if until.is_none() && fleet.training.work < time::LONGEST => {
            Ok((fleet.job.max_restarts.take(), fleet.stop_at))
        }
        Subject::Pods { .. } => Err(refused()),
        _ => without_limit(subject, 0, until).map_err(Failure::Invalid),
    }
}

fn refused() -> Failure {
    let text = "plan rare simulates hundreds of thousands of runs: it needs a Fleet, or a scenario with --level collapsed (docs/collapsed.md)";
    Failure::Invalid(text.to_owned())
}

fn options(args: &RareArgs) -> String {
    let mut text = format!(" --runs {}", args.runs);
    if let Some(n) = args.restarts {
        text.push_str(&format!(" --restarts {n}"));
    }
    if let Some(lost) = args.loss_budget {
        text.push_str(&format!(" --loss-budget {lost}"));
    }
    if let Some(days) = args.horizon {
        text.push_str(&format!(" --horizon {days}"));
    }
    text
}
