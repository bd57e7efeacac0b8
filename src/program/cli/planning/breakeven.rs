//! `plan breakeven`: the value of an unknown at which one choice overtakes another.

use super::Lab;
use crate::cli::Failure;
use crate::cli::args::BreakEvenArgs;
use crate::cli::inputs::quoted;
use crate::cli::inputs::subject::Sets;
use crate::cli::inputs::variants::{VariantArg, named};
use sim_analysis::planning::Sample;
use sim_analysis::planning::breakeven::{Effort, Point, break_even};
use sim_report::planning::breakeven::BreakEvenReport;
use std::ops::Range;

/// The name of the format.
const SCHEMA: &str = "jobset-sim/plan-breakeven/v1";
/// Replications of the first look at a value.
const FIRST_LOOK: u64 = 20;
/// The most of a value with pods, and of a Fleet, unless it is said.
const PODS: u64 = 160;
const FLEET: u64 = 1_280;

pub fn cli(args: &BreakEvenArgs) -> Result<(), Failure> {
    let mut lab = Lab::new(&args.play, &args.tell)?;
    let metric = lab.metric(args.metric.as_deref());
    let most = args.seeds.unwrap_or(lab.by_level(PODS, FLEET));
    let effort = Effort {
        first_look: FIRST_LOOK.min(most),
        most,
    };
    // Wrong paths are refused before anything is played.
    for value in [args.over.low, args.over.high] {
        for is_b in [false, true] {
            let point = Point { value, is_b };
            let loaded = sets(&lab, args, &point).and_then(|sets| lab.given.load(&sets));
            loaded.map_err(|why| named(name(args, is_b), why))?;
        }
    }
    let found = {
        let mut play = |point: &Point, which: Range<u64>| -> Result<Sample, Failure> {
            let value = args.over.written(point.value);
            let what = format!("{} at {}={value}", name(args, point.is_b), args.over.path);
            let sets = sets(&lab, args, point)?;
            lab.sample(&sets, which, (&metric, &what))
        };
        break_even((&args.over, &metric), effort, &mut play)?
    };
    if found.points.is_empty() {
        lab.interrupted("no value was played with both")?;
        return Err(Failure::Invalid(format!(
            "--metric: no replication of both choices has a number for {metric}, at any value of {}; name another",
            args.over.path
        )));
    }
    let interrupted = found.interrupted;
    let names = (name(args, false), name(args, true));
    let of = lab.provenance(SCHEMA);
    let report = BreakEvenReport::new(of, names, (&args.over, &metric), found);
    lab.tell(
        &report,
        &args.tell,
        ("plan breakeven", most, &options(args, &metric)),
    )?;
    match interrupted {
        true => lab.interrupted("what is known so far is reported"),
        false => Ok(()),
    }
}

fn name(args: &BreakEvenArgs, is_b: bool) -> &str {
    match (is_b, &args.a) {
        (true, _) => &args.b.name,
        (false, Some(a)) => &a.name,
        (false, None) => "as it is",
    }
}

/// The unknown first: a choice may be about it, too.
fn sets(lab: &Lab<'_>, args: &BreakEvenArgs, point: &Point) -> Result<Sets, Failure> {
    let unknown = (args.over.path.clone(), args.over.written(point.value));
    let own = |v: &VariantArg| v.sets.clone();
    let choice = match point.is_b {
        true => own(&args.b),
        false => args.a.as_ref().map(own).unwrap_or_default(),
    };
    lab.with_companions(&[unknown].into_iter().chain(choice).collect())
}

fn options(args: &BreakEvenArgs, metric: &str) -> String {
    let mut text = String::new();
    if let Some(a) = &args.a {
        text.push_str(&format!(" --a {}", quoted(&a.text)));
    }
    let (b, over) = (quoted(&args.b.text), quoted(&args.over.text));
    text.push_str(&format!(
        " --b {b} --over {over} --metric {}",
        quoted(metric)
    ));
    text
}
