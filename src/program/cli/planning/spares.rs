//! `plan spares`: the least number that meets a target, with what each candidate costs.

use super::{Lab, rows};
use crate::cli::Failure;
use crate::cli::args::SparesArgs;
use crate::cli::inputs::quoted;
use crate::cli::inputs::subject::{Loaded, Sets};
use sim_analysis::planning::several::several;
use sim_analysis::planning::{Answer, Plan, Sample, least};
use sim_report::planning::several::SeveralReport;
use sim_report::planning::spares::SparesReport;
use std::ops::Range;

/// The name of the format.
const SCHEMA: &str = "jobset-sim/plan-spares/v1";
/// The same of several numbers at once.
const SCHEMA_SEVERAL: &str = "jobset-sim/plan-spares-levels/v1";
/// The first look at a candidate: p10 and p90 have an interval from 36 values on.
const FIRST_LOOK: u64 = 40;
/// The most replications of a candidate with pods, and of a Fleet, unless it is said.
const PODS: u64 = 320;
const FLEET: u64 = 2_560;

pub fn cli(args: &SparesArgs) -> Result<(), Failure> {
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let plans = plans(&lab, args)?;
    match plans.as_slice() {
        [plan] => one(&mut lab, args, plan),
        plans => several_levels(&mut lab, args, plans),
    }
}

fn plans(lab: &Lab<'_>, args: &SparesArgs) -> Result<Vec<Plan>, Failure> {
    let most = args.seeds.unwrap_or(lab.by_level(PODS, FLEET));
    let mut plans = Vec::new();
    for (i, searched) in args.paths.iter().enumerate() {
        let (min, max) = searched.bounds.unwrap_or((args.min, args.max));
        if min > max {
            let text = format!("--min {min} is above --max {max}: there is nothing to try");
            return Err(Failure::Invalid(text));
        }
        if args.paths[..i]
            .iter()
            .any(|other| other.path == searched.path)
        {
            let text = format!("--path {} is there twice", searched.path);
            return Err(Failure::Invalid(text));
        }
        plans.push(Plan {
            min,
            max,
            first_look: FIRST_LOOK.min(most),
            most,
        });
    }
    Ok(plans)
}

fn one(lab: &mut Lab<'_>, args: &SparesArgs, plan: &Plan) -> Result<(), Failure> {
    let found = {
        let mut play = |value: &u64, which: Range<u64>| candidate(lab, args, &[*value], which);
        least(plan, &args.target, &mut play)?
    };
    if found.candidates.is_empty() {
        return lab.interrupted("no replication is finished");
    }
    let currency = currency(&lab.loaded, args.price_per_node_hour);
    let of = lab.provenance(SCHEMA);
    let path = &args.paths[0].path;
    let report = SparesReport::new(of, path, &args.target, &found, &currency);
    let command = ("plan spares", plan.most, &*options(args));
    lab.tell(&report, &args.tell, command)?;
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

fn several_levels(lab: &mut Lab<'_>, args: &SparesArgs, plans: &[Plan]) -> Result<(), Failure> {
    let found = {
        let mut play = |values: &[u64], which: Range<u64>| candidate(lab, args, values, which);
        several(plans, &args.target, &mut play)?
    };
    if found.played == 0 {
        return lab.interrupted("no replication is finished");
    }
    let currency = currency(&lab.loaded, args.price_per_node_hour);
    let of = lab.provenance(SCHEMA_SEVERAL);
    let paths: Vec<String> = args.paths.iter().map(|p| p.path.clone()).collect();
    let report = SeveralReport::new(of, paths, &args.target, &found, &currency);
    let command = ("plan spares", plans[0].most, &*options(args));
    lab.tell(&report, &args.tell, command)?;
    if found.interrupted {
        return lab.interrupted("what is known so far is reported");
    }
    match found.least.is_empty() {
        true => Err(Failure::NotFound(report.conclusion[0].clone())),
        false => Ok(()),
    }
}

fn candidate(
    lab: &mut Lab<'_>,
    args: &SparesArgs,
    values: &[u64],
    which: Range<u64>,
) -> Result<Sample, Failure> {
    let paths = args.paths.iter().map(|p| p.path.clone());
    let sets: Sets = paths.zip(values.iter().map(u64::to_string)).collect();
    let what: Vec<String> = sets.iter().map(|(p, v)| format!("{p}={v}")).collect();
    let what = what.join(", ");
    let played = lab.replicate(&sets, which, &what);
    let (played, jobsets) = played.map_err(|why| with_min(why, &what))?;
    let metric = (args.target.metric.as_str(), "--target");
    rows(&played, &jobsets, metric, args.price_per_node_hour)
}

/// A number of all nodes does not begin at 0.
fn with_min(why: Failure, what: &str) -> Failure {
    let text = |m: &str| {
        format!(
            "{m}\nwith {what}; --path says what is searched, e.g. 'topology.pools[0].count', --min and --max what is \
             tried"
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
    let mut text = format!(" --target {}", quoted(&args.target.text));
    for searched in &args.paths {
        text.push_str(&format!(" --path {}", quoted(&searched.text)));
    }
    text.push_str(&format!(" --min {} --max {}", args.min, args.max));
    if let Some(price) = args.price_per_node_hour {
        text.push_str(&format!(" --price-per-node-hour {price}"));
    }
    text
}
