//! The identity of a sweep: the program version, the inputs, and all options that affect results.

use super::points::SweepPoints;
use super::points_error::SweepPointsError;
use super::shard::SweepShard;
use serde::{Deserialize, Serialize};
use sim_api::spec::{SweepAxis, SweepSpec, SweepTarget};
use sim_base::fnv::fnv1a;
use std::collections::BTreeMap;

const SCHEMA: &str = "jobset-sim/sweep-experiment/v1";

/// Identity of an experiment. Experiments with equal identities have equal replications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SweepIdentity {
    pub schema: String,
    /// Version of the program that started the sweep.
    pub version: String,
    pub scenario: String,
    /// Level of detail: pods, nodes or fleet.
    pub level: String,
    pub seed: u64,
    /// Replications per point; with `until`, the maximum.
    pub replications: u64,
    pub until: Option<String>,
    pub axes: Vec<AxisText>,
    pub latin_hypercube: Option<u64>,
    /// Digest of the text of each input file, by name.
    pub inputs: BTreeMap<String, String>,
    /// Command line that repeats the sweep.
    pub command: String,
}

/// An axis as text, as in files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisText {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
}

/// Identity of a directory that contains one shard of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardIdentity {
    pub shard: ShardText,
    pub experiment: SweepIdentity,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardText {
    pub index: u64,
    pub of: u64,
}

impl From<SweepShard> for ShardText {
    fn from(SweepShard { index, of }: SweepShard) -> ShardText {
        ShardText { index, of }
    }
}

impl SweepIdentity {
    /// Creates the identity of a sweep at a level of detail. The second argument contains the seed, the number of
    /// replications and the precision goal, the last one the names and texts of the inputs and the command.
    pub fn new(
        (scenario, level): (&str, &str), (seed, replications, until): (u64, u64, Option<&str>), sweep: &SweepSpec,
        (inputs, command): (&[(String, String)], &str),
    ) -> SweepIdentity {
        let digest = |(name, text): &(String, String)| (name.clone(), hex(text.as_bytes()));
        SweepIdentity {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.to_owned(),
            level: level.to_owned(),
            seed,
            replications,
            until: until.map(str::to_owned),
            axes: sweep.axes.iter().map(AxisText::from_axis).collect(),
            latin_hypercube: sweep.hypercube,
            inputs: inputs.iter().map(digest).collect(),
            command: command.to_owned(),
        }
    }

    /// Returns the digest of the identity as 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        hex(&serde_json::to_vec(self).unwrap_or_default())
    }

    pub fn points(&self) -> Result<SweepPoints, SweepPointsError> {
        let axes = self.axes.iter().map(AxisText::axis).collect::<Option<_>>();
        let axes = axes.ok_or(SweepPointsError::IncompleteAxis)?;
        let hypercube = self.latin_hypercube;
        SweepPoints::expand(&SweepSpec { axes, hypercube }, self.seed)
    }

    /// Describes all differences from another experiment; empty if there are none.
    pub fn differences(&self, other: &SweepIdentity) -> Vec<String> {
        let mut all = Vec::new();
        let mut differ = |what: &str, a: String, b: String| {
            if a != b {
                all.push(format!("{what} ({a} and {b})"));
            }
        };
        differ("program version", self.version.clone(), other.version.clone());
        differ("scenario", self.scenario.clone(), other.scenario.clone());
        differ("level", self.level.clone(), other.level.clone());
        differ("seed", self.seed.to_string(), other.seed.to_string());
        let n = |i: &SweepIdentity| i.replications.to_string();
        differ("replications", n(self), n(other));
        let until = |i: &SweepIdentity| i.until.clone().unwrap_or_else(|| "none".to_owned());
        differ("--until", until(self), until(other));
        let axes = |i: &SweepIdentity| {
            let axes: Vec<String> = i.axes.iter().map(AxisText::command_line_text).collect();
            axes.join("; ")
        };
        differ("axes", axes(self), axes(other));
        let cube = |i: &SweepIdentity| i.latin_hypercube.map_or("none".to_owned(), |n| n.to_string());
        differ("Latin hypercube", cube(self), cube(other));
        let names = self.inputs.keys().chain(other.inputs.keys());
        let mut names: Vec<&String> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            if self.inputs.get(name) != other.inputs.get(name) {
                all.push(format!("input {name}"));
            }
        }
        if all.is_empty() && self != other {
            all.push(format!("options ({} and {})", self.command, other.command));
        }
        all
    }
}

impl AxisText {
    fn from_axis(axis: &SweepAxis) -> AxisText {
        let path = axis.path.clone();
        let (values, from, to, scale) = match &axis.target {
            SweepTarget::Values(values) => (Some(values.clone()), None, None, None),
            SweepTarget::Range { low, high, log } => {
                let scale = log.then(|| "Log".to_owned());
                (None, Some(low.clone()), Some(high.clone()), scale)
            }
        };
        AxisText { path, values, from, to, scale, uncertain: axis.is_uncertain }
    }

    fn axis(&self) -> Option<SweepAxis> {
        let over = match (&self.values, &self.from, &self.to) {
            (Some(values), None, None) => SweepTarget::Values(values.clone()),
            (None, Some(low), Some(high)) => {
                SweepTarget::Range { low: low.clone(), high: high.clone(), log: self.scale.as_deref() == Some("Log") }
            }
            _ => return None,
        };
        let path = self.path.clone();
        Some(SweepAxis { path, target: over, is_uncertain: self.uncertain })
    }

    /// Returns the axis in the syntax of the command line.
    pub fn command_line_text(&self) -> String {
        let path = &self.path;
        match (&self.values, &self.from, &self.to) {
            (Some(values), ..) => format!("{path}={}", values.join(",")),
            (None, Some(from), Some(to)) => {
                let log = if self.scale.is_some() { ":log" } else { "" };
                format!("{path}={from}..{to}{log}")
            }
            _ => path.clone(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("{:016x}", fnv1a(bytes.iter().copied()))
}
