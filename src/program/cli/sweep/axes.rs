//! Parsers for axes and shards.

use crate::cli::args::fields_of;
use sim_analysis::sweep::SweepShard;
use sim_api::spec::{SweepAxis, SweepTarget};

/// An axis given on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisArg {
    /// Argument text as given on the command line.
    pub text: String,
    pub axis: SweepAxis,
}

/// Parses an axis with values, written as `PATH=VALUE,VALUE`.
pub fn parse_grid(text: &str) -> Result<AxisArg, String> {
    let bad = || "expected PATH=VALUE,VALUE, e.g. parameters.spares=0,2,4,8".to_owned();
    let (path, values) = text.split_once('=').ok_or_else(bad)?;
    let (path, values) = (path.trim(), values.trim());
    if path.is_empty() {
        return Err(bad());
    }
    if values.is_empty() {
        return Err(format!("{path} has no value; {}", bad()));
    }
    let values = fields_of(values).into_iter().map(str::trim);
    let values: Vec<String> = values.map(str::to_owned).collect();
    if values.iter().any(String::is_empty) {
        return Err(format!("{path} has an empty value; use '' for an empty string"));
    }
    let over = SweepTarget::Values(values);
    Ok(arg(text, path, over))
}

/// Parses an axis with a range, written as `PATH=LOW..HIGH` or `PATH=LOW..HIGH:log`.
pub fn parse_range(text: &str) -> Result<AxisArg, String> {
    let bad = || "expected PATH=LOW..HIGH or PATH=LOW..HIGH:log, e.g. parameters.interval=5m..2h:log".to_owned();
    let (path, range) = text.split_once('=').ok_or_else(bad)?;
    let (range, log) = match range.rsplit_once(':') {
        Some((range, "log")) => (range, true),
        Some((_, scale)) => return Err(format!("unknown scale {scale:?}; {}", bad())),
        None => (range, false),
    };
    let (low, high) = range.split_once("..").ok_or_else(bad)?;
    let (low, high) = (low.trim().to_owned(), high.trim().to_owned());
    sim_analysis::sweep::range::SweepRange::parse(&low, &high, log).map_err(|e| e.to_string())?;
    let over = SweepTarget::Range { low, high, log };
    match path.trim() {
        "" => Err(bad()),
        path => Ok(arg(text, path, over)),
    }
}

fn arg(text: &str, path: &str, over: SweepTarget) -> AxisArg {
    let path = path.to_owned();
    AxisArg {
        text: text.to_owned(),
        axis: SweepAxis { is_uncertain: sim_inputs::is_uncertain(None, &path), path, target: over },
    }
}

/// Value of `--shard`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ShardArg {
    This(SweepShard),
    /// Index from the engine that started the process, with the number of shards if given.
    Auto(Option<u64>),
}

pub fn parse_shard(text: &str) -> Result<ShardArg, String> {
    match text.strip_prefix("auto") {
        Some("") => Ok(ShardArg::Auto(None)),
        Some(of) => {
            let of = of.strip_prefix('/').and_then(|n| n.parse().ok());
            let of = of.ok_or_else(|| format!("{text:?} is not a shard; expected auto or auto/N"))?;
            SweepShard::new(0, of).map_err(|e| e.to_string())?;
            Ok(ShardArg::Auto(Some(of)))
        }
        None => {
            let shard = SweepShard::parse(text).map_err(|e| e.to_string())?;
            Ok(ShardArg::This(shard))
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/sweep/axes.rs"]
mod tests;
