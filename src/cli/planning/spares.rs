//! `search spares`: the least number that meets a target, with what each candidate costs.

use super::{Lab, rows};
use crate::cli::Failure;
use crate::cli::args::SparesArgs;
use crate::cli::inputs::quoted;
use crate::cli::subject::Loaded;
use crate::report::planning::spares::SparesReport;
use crate::search::{Answer, Plan, Sample, least};
use std::ops::Range;

/// The name of the format.
const SCHEMA: &str = "jobset-sim/search-spares/v1";
/// The first look at a candidate: p10 and p90 have an interval from 36 values on.
const FIRST_LOOK: u64 = 40;
/// The most replications of a candidate with pods, and of a Fleet, unless it is said.
const PODS: u64 = 320;
const FLEET: u64 = 2_560;

pub fn cli(args: &SparesArgs) -> Result<(), Failure> {
    if args.min > args.max {
        let text = format!(
            "--min {} is above --max {}: there is nothing to try",
            args.min, args.max
        );
        return Err(Failure::Invalid(text));
    }
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let most = args.seeds.unwrap_or(lab.by_level(PODS, FLEET));
    let plan = Plan {
        min: args.min,
        max: args.max,
        first_look: FIRST_LOOK.min(most),
        most,
    };
    let found = {
        let mut play = |value: &u64, which: Range<u64>| candidate(&mut lab, args, *value, which);
        least(&plan, &args.target, &mut play)?
    };
    if found.candidates.is_empty() {
        return lab.interrupted("no replication is finished");
    }
    let currency = currency(&lab.loaded, args.price_per_node_hour);
    let of = lab.provenance(SCHEMA);
    let report = SparesReport::new(of, &args.path, &args.target, &found, &currency);
    lab.tell(&report, &args.tell, ("search spares", most, &options(args)))?;
    if found.interrupted {
        return lab.interrupted("what is known so far is reported");
    }
    match found.answer {
        Answer::Least { .. } | Answer::Between { .. } => Ok(()),
        Answer::Nothing | Answer::Open { .. } => {
            Err(Failure::NotFound(report.conclusion[0].clone()))
        }
    }
}

fn candidate(
    lab: &mut Lab<'_>,
    args: &SparesArgs,
    value: u64,
    which: Range<u64>,
) -> Result<Sample, Failure> {
    let sets = vec![(args.path.clone(), value.to_string())];
    let what = format!("{}={value}", args.path);
    let played = lab
        .replicate(&sets, which, &what)
        .map_err(|why| with_min(why, args, value));
    let (played, jobsets) = played?;
    let metric = (args.target.metric.as_str(), "--target");
    rows(&played, &jobsets, metric, args.price_per_node_hour)
}

/// A number of all nodes does not begin at 0.
fn with_min(why: Failure, args: &SparesArgs, value: u64) -> Failure {
    let text = |m: &str| {
        format!(
            "{m}\nwith {}={value}; --min and --max say what is tried",
            args.path
        )
    };
    match why {
        Failure::CannotBePlaced(m) => Failure::CannotBePlaced(text(&m)),
        Failure::Invalid(m) => Failure::Invalid(text(&m)),
        other => other,
    }
}

fn currency(loaded: &Loaded, price: Option<f64>) -> String {
    match loaded {
        Loaded::Pods(loaded) => loaded.scenario.topology.currency.clone(),
        Loaded::Fleet(_) if price.is_none() => "node-hours".to_owned(),
        Loaded::Fleet(_) => "USD".to_owned(),
    }
}

fn options(args: &SparesArgs) -> String {
    let mut text = format!(
        " --target {} --path {} --min {} --max {}",
        quoted(&args.target.text),
        quoted(&args.path),
        args.min,
        args.max
    );
    if let Some(price) = args.price_per_node_hour {
        text.push_str(&format!(" --price-per-node-hour {price}"));
    }
    text
}
